"""A report says what the results say, escapes everything, and names nothing outside of itself."""

import html
import os
import re

import pytest
from typer.testing import CliRunner

from cboc.cli.app import app
from cboc.cli.report import study as study_sections
from cboc.cli.report.casestudy import METHODS
from cboc.cli.report.html import Html, element, verbatim
from cboc.cli.report.page import table
from cboc.cli.rows import best_rows
from cboc.cli.view import View
from cboc.errors import CbocError
from cboc.runs.run import Run

from .conftest import EVIL


def test_everything_is_escaped_once():
    inner = element("b", "a < b & c")
    assert inner == "<b>a &lt; b &amp; c</b>" and isinstance(inner, Html)
    assert element("p", inner, 3, title='"x"', http_equiv="y") == (
        '<p title="&quot;x&quot;" http-equiv="y"><b>a &lt; b &amp; c</b>3</p>'
    )
    assert element("img", alt="<") == '<img alt="&lt;">'


def test_a_style_sheet_cannot_end_its_element():
    assert verbatim("style", "a > b {}") == "<style>a > b {}</style>"
    with pytest.raises(ValueError, match="end tag"):
        verbatim("style", "</style><script>")


def test_a_page_asks_for_nothing_and_is_the_same_twice(study, study_page, results_page):
    for path in (study_page, results_page):
        text = path.read_text(encoding="utf-8")
        assert "<script" not in text and "url(" not in text
        addresses = re.findall(r'(?:src|href)="([^"]{0,20})', text)
        assert addresses and all(address.startswith("data:") for address in addresses)
    before = study_page.read_bytes()
    CliRunner().invoke(app, ["report", str(study)])
    assert study_page.read_bytes() == before


def test_the_best_designs_of_a_study_are_in_its_page(study, study_page):
    text = study_page.read_text(encoding="utf-8")
    for row in best_rows(Run(study)):
        assert f"{row['y']:.4g}" in text and f"{row['x1']:.4g}" in text
    assert "<img src=x" not in text and "&lt;img src=x" in text and "lab &amp; co" in text


def test_the_case_study_says_what_is_known_and_what_is_constructed(results_page):
    text = results_page.read_text(encoding="utf-8")
    for words in ("the optimum is a known corner", ">constructed<", "seeds, labs", "--setup paper --seeds 1"):
        assert words in text
    assert text.count("<figure>") == 1 + 2 * 3 and text.count("<table>") == 2 + 2 + 1


def test_the_constructed_labs_are_in_a_table(results_page):
    text = results_page.read_text(encoding="utf-8")
    paper, labs = text.split("<h2>Six labs")
    assert "k_on" in labs and "k_on" not in paper
    second = ("0.80", "12", "0.8", "1.5", "0.35", "1.80", "7.84", "1.14")  # H, D, k_on, k_off, stock, price, optimum
    assert "<th>lab 2</th>" + "".join(f'<td class="number">{value}</td>' for value in second) in labs
    assert re.search(r"The best design found \([^)]*, seed 0, lab \d\)", labs) and ", site " not in labs


def test_the_case_study_has_one_name_for_a_method_and_says_on_which_surrogate(results_page):
    text = results_page.read_text(encoding="utf-8")
    assert "<th>Individual</th>" in text and "<th>CBOC, our default</th>" in text and ">cboc<" not in text
    assert "<dt>surrogate</dt><dd>this library&#x27;s default, for every method" in text
    assert "Bands are 95 % intervals" in text and "standard error" not in text
    assert METHODS["cboc-l"].endswith("on this library's surrogate")


def test_a_column_of_numbers_may_hold_a_word():
    assert table(["", "rounds"], [["x", "never, 19"]], is_numeric=True).count('class="number"') == 2
    assert 'class="number"' not in table(["", "decision"], [["x", "alone"]])


def test_a_study_tells_its_failures_and_does_not_speak_of_alone_where_nobody_was(study_page, lonely):
    assert _report(lonely) == 0
    text = (lonely / "report.html").read_text(encoding="utf-8")
    assert "failed</th>" in text and ">1 of 6<" in text and ">0 of 6<" in text and "12, of which 1 failed" in text
    assert "<h2>Results</h2>" in text and "alone in grey" not in text
    assert "--seeds 1 --no-alone</code>" in text
    both = study_page.read_text(encoding="utf-8")
    assert "<h2>Together against alone</h2>" in both and "alone in grey" in both and "--no-alone" not in both
    assert "24, of which none failed" in both and "failed together" not in both
    assert "did not use its row" in both and "listened" not in both


def test_the_caption_of_progress_names_what_its_axis_shows(study_page, lonely, monkeypatch):
    caption = r"<figcaption>The mean Gap against experiments: 0 is the best initial outcome, 1 the optimum\."
    assert re.search(caption, study_page.read_text(encoding="utf-8"))
    monkeypatch.setattr(Run, "optima", None)
    _, _, sections = study_sections.content(lonely, lambda _: None)
    assert "<figcaption>The best outcome so far of each site against its experiments.</figcaption>" in "".join(sections)


def test_every_site_of_a_study_says_what_it_has_learned(study, study_page):
    text = html.unescape(study_page.read_text(encoding="utf-8"))
    view = View(Run(study))
    for name in view.sites:
        learned = view.lesson(name)
        assert f">{learned.importance.sentence} {learned.predicted.sentence}</td>" in text
    assert f"The pictures below are of {view.name} in {EVIL}, together, seed 0" in text
    titles = ("Which parameter matters", "Predicted against measured", "Slices", "Contours")
    assert all(f"<h2>{title}, {view.name}</h2>" in text for title in titles)
    assert "i1, i2, ... in order" in text and "Contours: the true function, the best white." in text


def test_turns_count_from_1_as_in_the_pictures(lonely, monkeypatch):
    found = [{"site": "a", "how": "together", "y": 1.0, "seed": 0, "turn": number} for number in (None, 0, 2)]
    monkeypatch.setattr(study_sections, "best_rows", lambda _: found)
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", study_sections._best(Run(lonely)))
    assert cells[3::4] == ["0", "1", "3"]


@pytest.mark.parametrize("place", ["", "a file/report.html"])
def test_a_place_that_cannot_be_written_is_refused_before_the_work(study, tmp_path, monkeypatch, place):
    monkeypatch.setattr(study_sections, "content", lambda *_: pytest.fail("it was begun"))
    (tmp_path / "a file").touch()
    result = CliRunner().invoke(app, ["report", str(study), "--out", str(tmp_path / place)])
    assert result.exit_code == 2 and str(tmp_path) in result.stderr and result.stderr.count("\n") == 1


def test_a_page_is_whole_or_the_older_one(study, study_page, monkeypatch):
    def cut(*_):
        raise CbocError("cut off")

    before, names = study_page.read_bytes(), {path.name for path in study.iterdir()}
    monkeypatch.setattr(study_sections, "content", cut)
    assert _report(study) == 2
    assert study_page.read_bytes() == before and {path.name for path in study.iterdir()} == names


def test_a_link_stays_a_link_and_a_device_a_device(study, tmp_path, monkeypatch):
    monkeypatch.setattr(study_sections, "content", lambda *_: ("title", "lead", []))
    (tmp_path / "link.html").symlink_to(tmp_path / "page.html")
    assert _report(study, "--out", tmp_path / "link.html") == 0
    assert (tmp_path / "link.html").is_symlink() and "lead" in (tmp_path / "page.html").read_text(encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert _report(study, "--out", tmp_path / "pipe") == 0
    assert b"lead" in os.read(reader, 100_000) and (tmp_path / "pipe").is_fifo()
    os.close(reader)


def test_a_directory_that_is_not_there_is_not_made(tmp_path):
    assert _report(tmp_path / "none") == 2 and not (tmp_path / "none").exists()


def _report(*arguments):
    return CliRunner().invoke(app, ["report", *map(str, arguments)]).exit_code


def test_a_directory_of_something_else_is_one_sentence(tmp_path):
    result = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert result.exit_code == 2 and "holds neither a run" in result.stderr and result.stderr.count("\n") == 1
