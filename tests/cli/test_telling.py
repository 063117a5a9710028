"""Before something is kept that is likely a mistake, it is asked about: on a terminal. A script is warned."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import cboc
from cboc import Policy, Study
from cboc.cli.app import app
from cboc.site.trial import Status
from cboc.storage.sitefile import SiteFile

from ..machine.terminal import at_a_terminal

STUDY = Study({"pH": (2.0, 9.0)}, ("x", "y"), 20, name="buffer study", objectives="yield", units="%")
QUESTION = "89 %? The others are 0.02 to 0.91 %."


def call(*command, code=0):
    result = CliRunner().invoke(app, [str(part) for part in command])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The trials of a site with three outcomes, and two trials to run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CBOC_SITE", "x.db")
    terms = {"storage": "x.db", "study": STUDY, "direction": "max", "policy": Policy(initial=9, seed=1)}
    site = cboc.join(f"folder:{tmp_path / 'shared'}", site="x", **terms)
    for y in (0.02, 0.91, 0.4):
        site.tell(site.ask(), y)
    site.ask(2)
    return lambda: SiteFile("x.db").trials()


def test_on_a_terminal_a_likely_slip_is_asked_about(file):
    code, seen = at_a_terminal("tell", "89", "--trial", "3", answer="n\n")
    assert code == 2 and QUESTION in seen and "Is that right? [y/N]" in seen and "nothing was changed" in seen
    assert file()[3].status is Status.PENDING
    code, seen = at_a_terminal("tell", "89", "--trial", "3", answer="y\n")
    assert code == 0 and QUESTION in seen and file()[3].y == 89.0


def test_what_is_likely_right_is_not_asked_about_and_a_yes_can_be_given_at_once(file):
    code, seen = at_a_terminal("tell", "0.95", "--trial", "3", answer="")
    assert code == 0 and "right?" not in seen and file()[3].y == 0.95
    code, seen = at_a_terminal("tell", "89", "--trial", "4", "--yes", answer="")
    assert code == 0 and "others are" not in seen and file()[4].y == 89.0


def test_a_script_is_warned_and_nothing_that_it_tells_is_lost(file):
    said = call("tell", "89", "--trial", 3).stderr
    assert f"{QUESTION} It is kept. If it is wrong: cboc tell OUTCOME --trial 3 --again." in " ".join(said.split())
    assert file()[3].y == 89.0
    assert "others are" not in call("tell", "890", "--trial", 4, "--yes").stderr and file()[4].y == 890.0


def test_a_correction_is_asked_about_too_and_the_same_again_is_not(file):
    call("tell", "0.6", "--trial", 3)
    said = " ".join(call("tell", "89", "--trial", 2, "--again").stderr.split())
    assert QUESTION in said and file()[2].note == "corrected, it was 0.4"
    assert "others are" not in call("tell", "89", "--trial", 2).stderr and file()[2].y == 89.0


def test_the_doubtful_lines_of_a_sheet_are_one_question(file):
    call("ask", "--format", "csv", "--output", "sheet.csv")
    sheet = Path("sheet.csv")
    header, *lines = sheet.read_text().splitlines()
    sheet.write_text("\n".join([header, *(line.replace(",,,,", ",89,,,") for line in lines)]))
    code, seen = at_a_terminal("tell", "sheet.csv", answer="n\n")
    assert code == 2 and seen.count("right?") == 1 and file()[3].status is Status.PENDING
    assert f"sheet.csv, line 2, trial 3: {QUESTION}" in seen and f"sheet.csv, line 3, trial 4: {QUESTION}" in seen
    said = " ".join(call("tell", "sheet.csv").stderr.split())
    assert "Told 2 lines of sheet.csv." in said and said.count("It is kept.") == 2
    assert "mend the sheet, then cboc tell sheet.csv --again" in said


def test_a_third_failure_in_a_row_and_giving_up_are_asked_about(file):
    for number in (1, 2):
        call("undo", "--trial", number)
        call("fail", "--trial", number)
    code, seen = at_a_terminal("fail", "--trial", "3", answer="n\n")
    assert code == 2 and "Trials 1, 2 and 3 failed, 3 in a row?" in seen and file()[3].status is Status.PENDING
    said = " ".join(call("fail", "--trial", 3).stderr.split())
    assert "3 in a row?" in said and "It is kept. If it is wrong: cboc undo --trial 3." in said
    code, seen = at_a_terminal("abandon", "--trial", "4", answer="n\n")
    assert code == 2 and "Abandon trial 4?" in seen and file()[4].status is Status.PENDING
    assert "Abandon" not in call("abandon", "--trial", 4).stderr and file()[4].status is Status.ABANDONED


def test_what_is_refused_anyway_is_not_asked_about_first(file):
    code, seen = at_a_terminal("tell", "890", "--trial", "1", answer="")
    assert code == 2 and "was told 0.91 before, and 890 now" in seen and "right?" not in seen and file()[1].y == 0.91


@pytest.mark.usefixtures("file")
def test_what_is_neither_a_number_nor_a_sheet_is_said_whatever_is_open():
    Path("sheet.xlsx").write_bytes(b"PK")
    said = " ".join(call("tell", "sheet.xlsx", code=2).stderr.split())
    assert "'sheet.xlsx' is neither. Save the sheet as 'CSV UTF-8', with a name that ends in .csv." in said
    said = " ".join(call("tell", "good", code=2).stderr.split())  # two are open
    assert said.endswith("an outcome is a number, or a sheet that ends in .csv; 'good' is neither.")
