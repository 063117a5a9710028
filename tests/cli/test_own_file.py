"""`cboc export`, `plot` and `report` with a site's own file: its own people get all of their data out."""

import csv
import html
import io
import json
import re
import shutil
from pathlib import Path

import openpyxl
import pytest
from typer.testing import CliRunner

import cboc
from cboc.cli.app import app
from cboc.errors import CbocError
from cboc.insight import Learned

FROZEN = Path(__file__).parent.parent / "frozen"
STUDY = '[study]\nname = "by hand"\nhorizon = 6\n[space]\nT = {low = 20, high = 90, unit = "°C"}\np = [1, 9]\n'
STUDY += '[[site]]\nname = "lab-a"\n[[site]]\nname = "lab-b"\n'


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The file of a site with six results, a failure and an open experiment."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    call("join", "stick:", "--site", "lab-a", "--study", "study.toml", "--direction", "max", "--initial", 3)
    site = cboc.join(storage="site.db")
    for number in range(6):
        site.tell(site.ask(), float(number), cost=2.0)
    site.fail(site.ask(), "the pump stopped")
    site.ask()
    return tmp_path / "site.db"


def call(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 2 and result.stdout == "" and result.stderr.count("\n") == 1, result.output
    return result.stderr


@pytest.mark.usefixtures("file")
def test_export_of_a_site_has_every_experiment_and_the_reason_of_a_failure():
    rows = list(csv.DictReader(io.StringIO(call("export"))))
    assert len(rows) == 8 and {"trial", "T (°C)", "p", "y", "cost", "status", "decision"} <= set(rows[0])
    assert rows[6]["status"] == "failed" and rows[6]["note"] == "the pump stopped" and rows[7]["status"] == "pending"
    assert json.loads(call("export", "site.db", "--format", "json"))[3]["y"] == 3.0
    assert call("export", "--file", "site.db", "--format", "table").startswith("trial")


@pytest.mark.usefixtures("file")
def test_export_as_xlsx_by_the_name_of_the_file():
    assert call("export", "--output", "mine.xlsx") == ""
    rows = list(openpyxl.load_workbook("mine.xlsx").active.values)
    assert len(rows) == 9 and rows[1][rows[0].index("y")] == 0.0
    assert "not for a terminal" in refused("export", "--format", "xlsx")
    assert "did you mean 'xlsx'" in refused("export", "--output", "mine.xls")


@pytest.mark.usefixtures("file")
def test_export_writes_nothing_under_a_name_that_says_something_else():
    for name in ("mine.pdf", "mine.ods", "mine.XLSM"):
        assert "is not written here" in refused("export", "--output", name)
    assert "ends in .xlsx, and --format says csv" in refused("export", "--output", "mine.xlsx", "--format", "csv")
    assert not list(Path().glob("mine.*"))
    call("export", "--output", "mine.txt", "--format", "json")
    assert json.loads(Path("mine.txt").read_text())


@pytest.mark.parametrize("command", ["export", "plot", "report", "best"])
def test_a_file_that_is_not_there_is_not_taken_for_a_run(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    assert "there is no lab-z.db; name a site's own file" in refused(command, "lab-z.db")


def test_a_plate_beyond_the_budget_leads_to_what_is_open(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    call("join", "stick:", "--site", "lab-a", "--study", "study.toml", "--direction", "max", "--initial", 0)
    call("ask", "--count", 6)
    result = CliRunner().invoke(app, ["ask", "--count", "6", "--output", "plate.csv"])
    assert result.exit_code == 4 and "6 of them are still open. cboc ask shows what is open." in result.stderr
    assert "cboc best" not in result.stderr


def test_plot_draws_what_one_site_has_data_for(file):
    assert [Path(line).name for line in call("plot").split()] == [
        "progress.png", "calendar.png", "paths.png", "moves.png",
        "importance.png", "predicted.png", "slices.png", "contours.png",
    ]  # fmt: skip
    assert (file.parent / "plots" / "paths.png").read_bytes().startswith(b"\x89PNG")
    assert "it has a row for every site, and this is one" in refused("plot", "--kind", "matrix")
    assert "nobody worked alone" in refused("plot", "--kind", "gain")
    assert "--output is the directory of the pictures" in refused("plot", "--output", "mine.png")
    assert not (file.parent / "mine.png").exists()


def test_report_of_a_site_has_its_best_its_failures_and_all_experiments(file):
    assert call("report").strip() == str(Path("report.html"))
    assert {call("report", option, "mine.html").strip() for option in ("--out", "--output")} == {"mine.html"}
    page = (file.parent / "report.html").read_text()
    assert (
        "the pump stopped" in page and "<h2>What failed</h2>" in page and "The best outcome, to maximise, is 5." in page
    )
    assert page.count("data:image/png") == 8
    words = re.sub('src="data:image/png;base64,[^"]*"', "", page)  # in which any four letters may stand by chance
    assert "http" not in words.replace("http-equiv", "")


@pytest.mark.parametrize("command", ["export", "plot", "report"])
def test_an_old_site_file_is_looked_at_as_well(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    shutil.copy(FROZEN / "alone.db", tmp_path / "lab-a.db")
    assert call(command, "lab-a.db")


def test_a_site_without_trials_has_nothing_to_draw(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    call("join", "stick:", "--site", "lab-a", "--study", "study.toml", "--direction", "max")
    for command in ("plot", "report"):
        assert "site.db holds no trials yet; cboc ask gives the first experiment." in refused(command)
    assert call("export").count("\n") == 1, "its header"
    with pytest.raises(CbocError, match="give one place"):
        raise CbocError(refused("export", "other.db", "--file", "site.db"))


def test_report_of_a_site_says_what_was_learned_and_what_is_expected_next(file):
    call("report")
    page = html.unescape((file.parent / "report.html").read_text())
    site = cboc.join(storage="site.db")
    learned = Learned.of(site)
    (trial,) = site.to_run
    assert f'<th>expected outcome</th><td class="number">{learned.expected(trial.x)}</td>' in page
    assert f"<p>{learned.importance.sentence}</p>" in page and f"<p>{learned.predicted.sentence}</p>" in page
    for share in learned.importance.shares:
        assert f'<th>{share.name}</th><td class="number">{100 * share.alone:.0f} %</td>' in page
    assert all(f"<h2>{title}</h2>" in page for title in ("Next design", "Slices", "Contours"))


def test_report_of_too_few_experiments_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    call("join", "stick:", "--site", "lab-a", "--study", "study.toml", "--direction", "max", "--initial", 4)
    site = cboc.join(storage="site.db")
    site.tell(site.ask(), 1.0)
    site.ask(3)
    call("report")
    page = (tmp_path / "report.html").read_text()
    assert "<h2>What was learned</h2><p>1 outcome is too little to learn from" in page
    assert "<h2>Next designs</h2>" in page and page.count("<tr><th>") > 3 and "expected outcome" not in page
