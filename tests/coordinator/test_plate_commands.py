"""A plate at the bench: asked for, printed as a sheet, filled in partly and out of order; nobody waits."""

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cboc
from cboc import Policy, Study
from cboc.cli import lab
from cboc.cli.app import app
from cboc.coordinator.database import open_database
from cboc.coordinator.schema import upgrade
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.site.trial import Status
from cboc.storage.sitefile import SiteFile

STUDY = Study({"pH": (2.0, 9.0), "salt": (0.0, 1.0)}, ("x", "y"), 30, name="buffers", pace="free")


def call(*command, code=0):
    result = CliRunner().invoke(app, [str(part) for part in command])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def labs(tmp_path, monkeypatch, serving):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CBOC_SITE", "x.db")
    engine = open_database(f"sqlite:///{tmp_path / 'coordinator.db'}")
    upgrade(engine)
    Transactions(engine).create(STUDY)
    with serving(engine) as url:
        for name in STUDY.sites:
            code = Tokens(engine).invite("buffers", name)
            cboc.join(url, code, storage=f"{name}.db", direction="maximise", policy=Policy(initial=2))
        yield url
    engine.dispose()


@pytest.fixture
def begun(labs):
    """Two results at site x."""
    assert labs
    for y in (0.1, 0.4):
        call("ask")
        call("tell", y)


def trials():
    return SiteFile("x.db").trials()


@pytest.mark.usefixtures("begun")
def test_a_plate_is_a_sheet_with_wells_that_may_be_filled_in_partly_and_out_of_order():
    said = call("ask", "--count", 24, "--layout", 24, "--format", "csv", "--output", "plate.csv").stderr
    assert "24 experiments" in said
    rows = list(csv.DictReader(io.StringIO(Path("plate.csv").read_text())))
    assert [row["well"] for row in rows] == [f"{letter}{n}" for letter in "ABCD" for n in range(1, 7)]
    assert [int(row["trial"]) for row in rows] == list(range(2, 26))
    some = [rows[20] | {"y": "0,7", "cost": "12.5"}, rows[3] | {"y": "", "status": "failed"}, rows[0]]
    with Path("plate.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=";")
        writer.writeheader()
        writer.writerows(some)
    assert "Told 2 lines of plate.csv" in call("tell", "plate.csv").stderr
    told = trials()
    assert (told[22].y, told[22].cost, told[5].status) == (0.7, 12.5, Status.FAILED)
    assert sum(trial.status is Status.PENDING for trial in told) == 22


@pytest.mark.usefixtures("begun")
def test_one_of_several_open_experiments_is_named():
    call("ask", "--count", 3)
    refused = call("tell", "0.5", code=2).stderr
    assert "3 experiments are open, trials 2, 3, 4; say which one with --trial" in refused
    call("tell", "0.5", "--trial", 3, "--cost", "2")
    assert (trials()[3].y, trials()[3].cost) == (0.5, 2.0)
    assert "trials 2, 4" in call("status").stdout and "proposals of all sites" in call("status").stdout
    said = call("ask", "--count", 1).stderr
    assert trials()[5].status is Status.PENDING and "2 earlier experiments are still open" not in said


@pytest.mark.usefixtures("begun")
def test_ask_without_a_count_shows_all_that_is_open():
    call("ask", "--count", 3)
    shown = call("ask").stdout
    assert all(f"\n{number} " in shown or f" {number} " in shown for number in (2, 3, 4)) and len(trials()) == 5
    assert [each["trial"] for each in json.loads(call("ask", "--format", "json").stdout)] == [2, 3, 4]


@pytest.mark.usefixtures("begun")
def test_wells_share_a_parameter():
    call("ask", "--count", 6, "--same", "pH", "--format", "csv", "--output", "plate.csv")
    rows = list(csv.DictReader(io.StringIO(Path("plate.csv").read_text())))
    assert len({row["pH"] for row in rows}) == 1 and len({row["salt"] for row in rows}) == 6


def test_a_budget_in_cost_is_given_when_joining(labs):
    assert labs
    url, code = SiteFile("x.db").about["url"], SiteFile("x.db").about["code"]
    assert "most_cost is a number above 0" in call("join", url, code, "--most-cost", 0, code=2).stderr
    call("join", url, code, "--most-cost", 7)
    call("ask")
    call("tell", 0.5, "--cost", 3)
    assert "2 open experiments would cost about 6, by the mean so far; 4 of the limit of 7 are left." in (
        call("ask", "--count", 2).stderr
    )
    call("tell", 0.5, "--cost", 4, "--trial", 1)
    call("tell", 0.5, "--trial", 2)
    assert "7 of 7 spent" in call("ask", code=4).stderr


@pytest.mark.usefixtures("begun")
def test_a_sheet_that_is_told_again_says_what_is_new_and_may_correct():
    call("ask", "--count", 6, "--format", "csv", "--output", "plate.csv")
    header, *rows = Path("plate.csv").read_text().splitlines()

    def tell(*ys, code=0, options=()):
        lines = [row.replace(",,,,", f",{y},,,") for row, y in zip(rows, ys, strict=False)]
        Path("plate.csv").write_text("\n".join([header, *lines]) + "\n")
        return call("tell", "plate.csv", *options, code=code).stderr

    assert "Told 2 lines of plate.csv. " in tell(0.1, 0.2).replace("\n", " ")
    assert "Told 3 lines of plate.csv; 2 more were told before." in tell(0.1, 0.2, 0.3, 0.4, 0.5)
    assert "Nothing new was told: 5 lines of plate.csv were told before." in tell(0.1, 0.2, 0.3, 0.4, 0.5)
    refused = tell(0.1, 0.7, 0.3, code=2)
    assert "was told 0.2 before, and 0.7 now" in refused and "cboc tell SHEET.csv --again" in refused
    said = tell(0.1, 0.7, 0.3, 0.4, 0.5, 0.6, options=["--again"])
    assert "Told 1 line of plate.csv, changed 1; 4 more were told before." in said
    assert [trial.y for trial in trials()[2:]] == [0.1, 0.7, 0.3, 0.4, 0.5, 0.6]
    assert "Changed 1 line of plate.csv." in tell(0.8, options=["--again"])
    assert "leave out --sem, --cost, --ran and --trial." in tell(0.8, options=["--cost", 3], code=2)


def status():
    return {row["what"]: row["is"] for row in json.loads(call("status", "--format", "json").stdout)}


@pytest.mark.usefixtures("begun")
def test_while_experiments_are_open_it_is_said_how_many():
    call("ask", "--count", 12)
    for number in (4, 6):
        call("fail", "--trial", number)
    said = call("tell", "0.3", "--trial", 3).stderr
    assert said.endswith(
        "5 experiments, 2 of them failed, best so far 0.4. 9 are still open: cboc ask shows them, cboc ask --count 8 "
        "asks for more.\n"
    )
    found = status()
    assert found["to be run"] == "9 experiments, trials 2, 5, 7 to 13" and found["failed"] == 2
    assert found["pace"] == "free: nobody waits"
    assert "9 experiments are open, trials 2, 5, 7 to 13; say which one" in call("tell", "1", code=2).stderr
    for number in (2, 5, *range(7, 13)):
        said = call("abandon", "--trial", number).stderr
    assert "1 is still open: cboc ask shows it" in said
    assert call("abandon").stderr.endswith("Next: cboc ask.\n")


def test_what_was_spent_is_said_after_every_result(labs):
    assert labs
    url, code = SiteFile("x.db").about["url"], SiteFile("x.db").about["code"]
    call("join", url, code, "--most-cost", 7)
    call("ask", "--count", 4)
    assert "best so far 0.5, 0 of 7 spent (1 without a cost does not count)" in call("tell", 0.5, "--trial", 0).stderr
    assert "best so far 0.5, 5 of 7 spent (1 without" in call("tell", 0.4, "--trial", 1, "--cost", 5).stderr
    assert status()["cost"] == "5 of 7 spent (1 without a cost does not count)"
    said = call("tell", 0.4, "--trial", 2, "--cost", 3).stderr
    assert "8 of 7 spent" in said and "1 is still open: cboc ask shows it, the budget is spent, so no more" in said


@pytest.mark.usefixtures("begun")
def test_a_plate_that_nobody_answers_says_so(monkeypatch):
    SiteFile("x.db").remember(url="http://127.0.0.1:1")
    monkeypatch.setattr(lab, "LONG", 0.5)
    said = call("ask", "--count", 3).stderr.splitlines()[-1]
    assert said == (
        "3 experiments, 0 of them shared with the others. They are your own proposals: the others could not be reached."
    )


def sent(**body):
    """A message that has left site x."""
    SiteFile("x.db").record("http://nowhere", "PUT", "/v2/turns/9/proposal", json.dumps(body).encode())


@pytest.mark.usefixtures("begun")
def test_the_audit_leaves_out_what_every_design_at_an_edge_holds():
    for y in ("0", "-0.0", "1"):
        call("ask")
        call("tell", y, "--sem", 0, "--cost", 12.5)
    sent(X=[[0.0, 1.0]], bests=[[1, -0.0]])
    said = call("audit").stderr
    assert "5 different outcomes, standard errors and costs are in x.db: none of them has left." in said
    assert " 2 of them are 0 or 1, and were not looked for: every design at an edge of its range holds these.\n" in said
    sent(X=[[0.4, 12.5]])
    assert "2 of them are among the numbers that left: [0.4, 12.5]. 2 of them are 0" in call("audit").stderr


@pytest.mark.usefixtures("begun")
def test_the_audit_looks_for_outcomes_that_were_corrected_or_taken_back():
    call("ask")
    call("tell", "0.25")
    call("tell", "0.375", "--trial", 0, "--again")
    call("undo", "--trial", 0)
    sent(X=[[0.25, 0.625]])
    said = call("audit").stderr
    assert (
        "4 different outcomes, standard errors and costs are in x.db: 1 of them is among" in said and "[0.25]" in said
    )


def test_the_audit_leaves_out_the_steps_of_a_parameter(labs):
    assert labs
    file = SiteFile("x.db")
    agreement = file.about["agreement"]
    agreement["space"]["parameters"]["pH"]["step"] = 3.5
    file.remember(agreement=agreement)
    call("ask")
    call("tell", "0.5")
    sent(X=[[0.5, 0.25]])
    said = call("audit").stderr
    assert "none of them has left. 1 of them is 0, 1 or a step of a parameter, and was not looked for" in said


@pytest.mark.usefixtures("begun")
def test_nobody_waits():
    for _ in range(3):
        call("ask")
        call("tell", "0.2")  # the other site has never asked
    assert [trial.answer.snapshot for trial in trials() if trial.answer] == [0, 1, 2]


@pytest.mark.usefixtures("begun")
def test_a_plate_is_as_large_as_the_budget_and_says_so():
    said = call("ask", "--count", 96).stderr
    assert "30 experiments" in said and "The budget has no more: 96 were asked for." in said
    assert "30 of 30" in call("ask", "--count", 1, code=4).stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--count", 8, "--layout", 7), "a plate has 6, 12, 24, 48, 96, 384 wells; this one has 7"),
        (("--count", 25, "--layout", 24), "25 experiments do not fit on a plate of 24"),
        (("--replicates", 2), "--replicates is for a plate"),
        (("--same", "pH"), "--same is for a plate"),
        (("--count", 4, "--same", "c"), "site 'x': unknown parameter 'c'; known: pH, salt."),
        (
            ("--count", 4, "--same", "pH", "--same", "salt"),
            "in all wells there is at most 1 design",
        ),
        (("--count", 0), "Invalid value for '--count'"),
    ],
)
def test_a_plate_that_there_is_not(labs, options, sentence):
    assert labs
    assert sentence in call("ask", *options, code=2).stderr


@pytest.mark.usefixtures("begun")
def test_a_result_for_a_trial_of_nobodys_plate_is_refused():
    call("ask", "--count", 2, "--format", "csv", "--output", "plate.csv")
    sheet = Path("plate.csv").read_text().replace("\n3,", "\n33,").replace(",,,,", ",0.5,,,")
    Path("plate.csv").write_text(sheet)
    said = call("tell", "plate.csv", code=2).stderr
    assert "site 'x' has no trial 33" in said and "Nothing in the sheet was told." in said
    assert trials()[2].status is Status.PENDING
