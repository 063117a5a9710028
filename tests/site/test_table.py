"""The table that a lab keeps: every experiment, as numbers and times, in CSV and XLSX."""

import csv
import io
from datetime import UTC, datetime, timedelta, timezone

import openpyxl
import pytest

from cboc import Choice, Dataset, Float, Int, Ledger, Policy, Site, Space, Study
from cboc.data.spreadsheets import as_csv, as_xlsx
from cboc.data.tables import Table
from cboc.errors import CbocError
from cboc.site.table import BEFORE, table_of

SPACE = Space({"temperature": Float(20, 90, unit="°C"), "cycles": Int(1, 12), "solvent": Choice(["water", "ethanol"])})
NOON = datetime(2026, 3, 2, 12, 30, 5, tzinfo=UTC).timestamp()
INDIA = timezone(timedelta(hours=5, minutes=30))


def lab(space=SPACE, **settings):
    study = Study(space, ("lab-a", "lab-b"), 4)
    policy = Policy(initial=2, seed=3)
    return Site(study, "lab-a", Ledger(study), direction="maximise", policy=policy, clock=lambda: NOON, **settings)


@pytest.fixture
def worked():
    """A site with results from before, one that worked, one that failed, and one that is open."""
    before = Dataset([[0.5, 0.5, 1.0, 0.0]], [0.25], [0.01], [[0.0, 0.0, 0.0, 1.0]], direction="maximise")
    site = lab(data=before)
    first, second, _ = site.ask(3, wells=["A1", "A2", "A3"])
    site.tell(first, 0.75, cost=12.5)
    site.fail(second, "=the column clogged")
    site.annotate(site.trials[0], "a new column")
    return site


def test_the_table_has_everything_that_a_lab_wants(worked):
    table = table_of(worked, INDIA)
    assert table.columns == [
        "trial", "well", "temperature (°C)", "cycles", "solvent", "y", "sem", "cost", "status", "decision", "note",
        "remark", "begun (UTC+05:30)", "told (UTC+05:30)",
    ]  # fmt: skip
    rows = [dict(zip(table.columns, cells, strict=True)) for cells in table.cells]
    assert [row["trial"] for row in rows] == [None, None, 0, 1, 2]
    assert [row["status"] for row in rows] == ["complete", "failed", "complete", "failed", "pending"]
    assert [row["y"] for row in rows] == [0.25, None, 0.75, None, None] and rows[0]["decision"] == BEFORE
    assert rows[2]["cost"] == 12.5 and rows[2]["well"] == "A1" and rows[3]["note"] == "=the column clogged"
    assert rows[2]["remark"] == "a new column"
    assert rows[2]["decision"] == worked.trials[0].explain(worked.study.sites)
    told = rows[2]["told (UTC+05:30)"]
    assert told.timestamp() == NOON and (told.hour, told.minute) == (18, 0) and rows[4]["told (UTC+05:30)"] is None


def test_csv_runs_no_formula_and_says_times_in_their_zone(worked):
    rows = list(csv.DictReader(io.StringIO(as_csv(table_of(worked, UTC)))))
    assert rows[3]["note"] == "'=the column clogged" and rows[2]["begun (UTC)"] == "2026-03-02 12:30:05"
    assert as_csv(Table(["a"], [["-1.5"], ["-x"], [-1.5], ["@x"], [True]])).split() == [
        "a", "-1.5", "'-x", "-1.5", "'@x", "True",
    ]  # fmt: skip


def test_xlsx_has_numbers_as_numbers_times_as_times_and_formulas_as_text(worked):
    sheet = openpyxl.load_workbook(io.BytesIO(as_xlsx(table_of(worked, UTC), "lab [a]"))).active
    assert sheet.title == "lab  a" and sheet.freeze_panes == "A2"
    rows = [dict(zip(next(sheet.values), row, strict=True)) for row in list(sheet.values)[1:]]
    assert rows[2]["y"] == 0.75 and isinstance(rows[2]["cycles"], int)
    assert rows[2]["begun (UTC)"] == datetime(2026, 3, 2, 12, 30, 5)
    note = sheet.cell(5, list(rows[0]).index("note") + 1)
    assert (note.value, note.data_type) == ("=the column clogged", "s"), "a text, not a formula"
    assert sheet.cell(4, 3).value == pytest.approx(worked.trials[0].design(SPACE)["temperature"], rel=1e-11)


def test_a_design_has_no_digits_that_only_arithmetic_has_brought_in():
    site = lab(Space({"T": Float(0, 100)}))
    trial = site.ask()
    site.tell(trial, 1.0, ran={"T": 37.00000000000001})
    assert as_csv(table_of(site)).splitlines()[1].startswith("0,,37.0,1.0,")


def test_a_parameter_keeps_its_name_beside_columns_of_the_same_name():
    site = lab(Space({"cost": Float(0, 1), "well": Int(1, 3)}))
    site.tell(site.ask(), 1.0, cost=3.0)
    table = table_of(site, UTC)
    row = dict(zip(table.columns, table.cells[0], strict=True))
    assert row["cost of the trial"] == 3.0 and row["well"] in (1, 2, 3) and row["well of the trial"] is None


def test_without_openpyxl_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(CbocError, match=r"XLSX files need openpyxl, which is not installed; .*'\.\[xlsx\]'"):
        as_xlsx(Table(["a"], [[1]]), "x")


def test_control_characters_and_endless_texts_do_not_break_xlsx():
    sheet = openpyxl.load_workbook(io.BytesIO(as_xlsx(Table(["a"], [["x\x00\x1by"], ["z" * 40_000]]), "t"))).active
    assert sheet.cell(2, 1).value == "x\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}y"
    assert len(sheet.cell(3, 1).value) == 32_767
