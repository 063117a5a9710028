"""A report says what the results say, escapes everything, and names nothing outside of itself."""

import re

import pytest
from typer.testing import CliRunner

from cboc.cli.app import app
from cboc.cli.export import best_rows
from cboc.cli.report.html import Html, element, verbatim
from cboc.cli.run import Run


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
    assert text.count("<figure>") == 1 + 2 * 3 and text.count("<table>") == 2 + 2


def test_a_directory_of_something_else_is_one_sentence(tmp_path):
    result = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert result.exit_code == 2 and "holds neither a run" in result.stderr and result.stderr.count("\n") == 1
