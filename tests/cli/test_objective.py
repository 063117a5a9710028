"""What a study measures: its name and its unit, wherever the command line says an outcome."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cboc.cli.app import app

STUDY = """
[study]
name = "coupling"
horizon = 3
objective = "yield"
unit = "%"
[space]
temperature = {low = 20, high = 90, unit = "°C"}
[[site]]
name = "lab-a"
[[site]]
name = "lab-b"
"""


def call(*command):
    result = CliRunner().invoke(app, [str(part) for part in command])
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def joined(tmp_path, monkeypatch):
    """A site with results from before the study, in the column that has the objective's name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CBOC_SITE", "lab-a.db")
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    (tmp_path / "before.csv").write_text("temperature,yield\n30,41.5\n")
    terms = ("--site", "lab-a", "--study", "study.toml", "--direction", "max", "--data", "before.csv", "--yes")
    call("join", f"folder:{tmp_path / 'shared'}", *terms)


@pytest.mark.usefixtures("joined")
def test_a_name_and_a_unit_stand_wherever_an_outcome_stands():
    assert "Trial 0, initial 1 of 1: measure yield (%)" in call("ask").stdout
    said = call("tell", "62.5", "--sem", "0.5").stderr
    assert "Trial 0: 62.5 ± 0.5 %." in said and "best so far 62.5 %" in said
    status = {row["what"]: row["is"] for row in json.loads(call("status", "--format", "json").stdout)}
    assert (status["outcome"], status["best"]) == ("yield (%), to maximise", "62.5 %")
    (best,) = json.loads(call("best", "--format", "json").stdout)
    assert best["yield (%)"] == 62.5
    told = json.loads(call("history", "--format", "json").stdout)[-1]
    assert told["yield (%)"] == "62.5 ± 0.5"
    assert "temperature (°C),yield (%),sem" in call("export", "--format", "csv").stdout
    assert json.loads(call("ask", "--format", "json").stdout)["measure"] == "yield (%)"
    sheet = call("ask", "--format", "csv").stdout
    assert sheet.startswith("trial,temperature,yield (%),sem,status,cost\n")
    Path("sheet.csv").write_text(sheet.replace(",,,,", ",71.5,,,"), encoding="utf-8")
    assert "Told 1 line of sheet.csv." in call("tell", "sheet.csv").stderr


def test_without_a_name_it_is_an_outcome(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plain = STUDY.replace('objective = "yield"\nunit = "%"\n', "")
    (tmp_path / "study.toml").write_text(plain, encoding="utf-8")
    terms = ("--site", "lab-a", "--study", "study.toml", "--direction", "max")
    call("join", f"folder:{tmp_path / 'shared'}", *terms)
    assert call("ask").stdout.startswith("Trial 0, initial 1 of 2\n")
    assert "Trial 0: 62.5." in call("tell", "62.5").stderr
    status = {row["what"]: row["is"] for row in json.loads(call("status", "--format", "json").stdout)}
    assert status["best"] == 62.5 and "outcome" not in status
