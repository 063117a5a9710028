"""A sheet is taken as a whole or not at all, and nobody's work is written over."""

import csv
import io
import re

import numpy as np
import pytest

from cboc import CbocError, Dataset, Float, Ledger, Policy, Site, Space, Study
from cboc.site import worksheet
from cboc.site.trial import Status, Trial
from cboc.site.turn import Decision

SPACE = Space({"a": (0.0, 10.0), "b": (0.0, 1.0)})
STUDY = Study(SPACE, ["x"], 3)


@pytest.fixture
def site():
    """With two trials that wait for a result."""
    site = Site(STUDY, "x", Ledger(STUDY), direction="maximise", policy=Policy(initial=5))
    first = site.ask()
    site.fail(first)
    site.ask()
    return site


def sheet(path, *lines):
    path.write_text("\n".join(["trial,a,b,y,sem,status", *lines]) + "\n")
    return path


def test_two_lines_for_one_trial_that_differ_are_refused(tmp_path):
    path = sheet(tmp_path / "s.csv", "0,5,0.5,0.5,,", "0,5,0.5,0.6,,")
    with pytest.raises(CbocError, match="line 3: trial 0 is also in .*line 2, but differs; keep one of them"):
        worksheet.read(path, SPACE)
    sheet(path, "0,5,0.5,0.5,,", "0,5,0.5,0.5,,")
    assert len(worksheet.read(path, SPACE)) == 1


def test_a_text_is_read_as_the_file_with_it_is(tmp_path):
    path = sheet(tmp_path / "s.csv", "0,5,0.5,0.5,,", "1,5,0.5,,,", "2,5,0.5,,,failed")
    read = worksheet.read_text(path.read_text(), SPACE, str(path))
    assert [entry.trial for entry in read] == [0, 2] and read == worksheet.read(path, SPACE)
    with pytest.raises(CbocError, match="^the sheet, line 3, column y: expected a number"):
        worksheet.read_text("trial\ta\tb\ty\r\n0\t5\t0,5\t0,5\r\n1\t5\t0,5\tmuch\r\n", SPACE)


def test_a_sheet_with_a_mistake_tells_nothing(site, tmp_path):
    before = list(site.trials)
    path = sheet(tmp_path / "s.csv", "1,5,0.5,0.5,,", "7,5,0.5,0.6,,")
    with pytest.raises(CbocError, match=r"line 3: .* no trial 7; its last is 1\. Nothing in the sheet was told\.$"):
        worksheet.enter_all(site, worksheet.read(path, SPACE))
    assert site.trials == before
    site.tell(site.trials[0], 1.0)
    sheet(path, "1,5,0.5,0.5,,", "0,5,0.5,2,,")
    with pytest.raises(CbocError, match=r"was told 1 before, and 2 now.*cboc tell 2 --trial 0 --again"):
        worksheet.enter_all(site, worksheet.read(path, SPACE))
    assert site.trials[1].status == Status.PENDING


def test_a_failed_line_keeps_the_design_that_was_changed_by_hand(site, tmp_path):
    worksheet.enter_all(site, worksheet.read(sheet(tmp_path / "s.csv", "1,2.5,0.25,,,failed"), SPACE))
    assert site.trials[1].status == Status.FAILED and site.trials[1].executed == (0.25, 0.25)


@pytest.mark.parametrize("status", ["", "failed", "abandoned"])
def test_a_standard_error_without_an_outcome_is_refused(tmp_path, status):
    with pytest.raises(CbocError, match="line 2, column sem: a standard error is given, but no outcome; fill in y"):
        worksheet.read(sheet(tmp_path / "s.csv", f"1,5,0.5,,0.1,{status}"), SPACE)


@pytest.mark.parametrize("number", ["9" * 5000, "-1", "1.0", ""])
def test_a_trials_number_is_a_number(number, tmp_path):
    with pytest.raises(CbocError, match="column trial: expected the number of a trial"):
        worksheet.read(sheet(tmp_path / "s.csv", f"{number},5,0.5,1,,"), SPACE)


@pytest.mark.parametrize(
    ("line", "is_told"),
    [("1,5,0.5,,,", True), ("1,5,0.5,0.5,,", False), ("1,5,0.5,,0.1,", False), ("1,5,0.5,,,failed", False),
     ("1,5,0.5,much,,", False), ("9,5,0.5,1,,", False)],
)  # fmt: skip
def test_what_somebody_wrote_and_nobody_was_told(site, tmp_path, line, is_told):
    path = sheet(tmp_path / "s.csv", line)
    assert worksheet.is_told(path, site) is is_told
    path.write_text(path.read_text().replace(",", ";"), encoding="latin-1")
    assert worksheet.is_told(path, site) is is_told


def test_what_was_told_may_be_written_over(site, tmp_path):
    path = sheet(tmp_path / "s.csv", "1,5,0.5,0.5,,")
    worksheet.enter_all(site, worksheet.read(path, SPACE))
    assert worksheet.is_told(path, site)
    (tmp_path / "empty").write_text("")
    assert worksheet.is_told(tmp_path / "nothing.csv", site) and worksheet.is_told(tmp_path / "empty", site)


def test_parameters_called_cost_and_well_have_their_names_for_themselves(tmp_path):
    space = Space({"cost": (1.0, 9.0), "well": (0.0, 1.0)})
    study = Study(space, ["x"], 3)
    site = Site(study, "x", Ledger(study), direction="maximise", policy=Policy(initial=5))
    path = tmp_path / "s.csv"
    path.write_text(worksheet.write(site.ask(2, wells=["A1", "A2"]), space))
    header, first, _ = path.read_text().splitlines()
    assert header == "trial,cost,well,y,sem,status" and worksheet.is_told(path, site)
    assert worksheet.read(path, space) == []
    path.write_text(f"{header}\n{first.replace(',,,', ',0.5,,')}\n")
    assert not worksheet.is_told(path, site)
    worksheet.enter_all(site, worksheet.read(path, space))
    assert (site.trials[0].y, site.trials[0].cost) == (0.5, None) and worksheet.is_told(path, site)


@pytest.mark.parametrize("word", ["done", "ok", "finished", "Success"])
def test_a_word_for_success_is_taken_for_complete_and_never_for_abandoned(tmp_path, word):
    with pytest.raises(CbocError, match=f"unknown status '{word.lower()}'; did you mean 'complete'\\?$"):
        worksheet.read(sheet(tmp_path / "s.csv", f"1,5,0.5,1,,{word}"), SPACE)
    (tmp_path / "before.csv").write_text(f"a,b,y,status\n5,0.5,1,{word}\n")
    with pytest.raises(CbocError, match="did you mean 'complete'"):
        Dataset.from_csv(tmp_path / "before.csv", SPACE, direction="maximise")


COSTS = "trial,a,b,y,sem,status,cost"


def costs(path, *lines):
    path.write_text("\n".join([COSTS, *lines]) + "\n")
    return worksheet.read(path, SPACE)


def test_a_cost_may_be_filled_in_later(site, tmp_path):
    path = tmp_path / "s.csv"
    worksheet.enter_all(site, costs(path, "1,5,0.5,0.5,,,"))
    later = costs(path, "1,5,0.5,0.5,,,4")
    assert worksheet.enter_all(site, later) == worksheet.Entered(new=0, changed=1, known=0)
    assert site.trials[1].cost == 4.0 and worksheet.is_told(path, site)
    with pytest.raises(CbocError, match=r"a cost of 4 before, and one of 5 now.*tell 0.5 --cost 5 --trial 1 --again"):
        worksheet.enter_all(site, costs(path, "1,5,0.5,0.5,,,5"))


def test_with_a_correction_the_lines_that_differ_replace_what_was_told(site, tmp_path):
    path = tmp_path / "s.csv"
    site.ask(1)
    worksheet.enter_all(site, costs(path, "0,5,0.5,1,,,2", "1,5,0.5,0.5,,,"))
    kept, other = site.trials[0], costs(path, "0,5,0.5,1,,,2", "1,7.5,0.5,0.7,0.1,,3", "2,5,0.5,0.2,,,")
    before = list(site.trials)
    with pytest.raises(CbocError, match=r"Nothing in the sheet was told\. With cboc tell SHEET.csv --again the lines"):
        worksheet.enter_all(site, other)
    assert site.trials == before
    assert worksheet.enter_all(site, other, is_correction=True) == worksheet.Entered(new=1, changed=1, known=1, other=1)
    assert site.trials[0] == kept
    corrected = site.trials[1]
    assert (corrected.y, corrected.sem, corrected.cost, corrected.executed) == (0.7, 0.1, 3.0, (0.75, 0.5))
    assert corrected.note == "corrected, it was 0.5" and site.trials[2].y == 0.2


def test_a_mistake_that_no_correction_mends_is_named_without_that_hint(site, tmp_path):
    worksheet.enter_all(site, costs(tmp_path / "s.csv", "1,5,0.5,0.5,,,"))
    for line, said in (("7,5,0.5,1,,,", "no trial 7"), ("1,5,0.5,,,failed,", "it cannot fail now")):
        for is_correction in (False, True):
            with pytest.raises(CbocError, match=rf"{said}.* Nothing in the sheet was told\.$"):
                worksheet.enter_all(site, costs(tmp_path / "s.csv", line), is_correction=is_correction)


def wells(tmp_path):
    study = Study(SPACE, ["x"], 30)
    site = Site(study, "x", Ledger(study), direction="maximise")
    path = tmp_path / "plate.csv"
    path.write_text(worksheet.write(site.ask(4, wells=["A1", "A2", "B1", "B2"]), study.space))
    return site, path


def test_a_line_in_the_wrong_well_is_refused(tmp_path):
    site, path = wells(tmp_path)
    header, first, *_ = path.read_text().splitlines()
    path.write_text(f"{header}\n{first.replace('A1', 'H12').replace(',,,,', ',0.5,,,')}\n")
    with pytest.raises(CbocError, match="trial 0 is in well A1, and this line says H12; is it another sheet"):
        worksheet.enter_all(site, worksheet.read(path, site.space))


def test_a_cost_without_an_outcome_is_a_mistake_and_one_of_an_abandoned_trial_counts(tmp_path):
    site, path = wells(tmp_path)
    header, first, *_ = path.read_text().splitlines()
    path.write_text(f"{header}\n{first.removesuffix(',,,,')},,,,5\n")
    with pytest.raises(CbocError, match="a cost is given, but no outcome; fill that in, or say failed or abandoned"):
        worksheet.read(path, site.space)
    path.write_text(f"{header}\n{first.removesuffix(',,,,')},,,abandoned,5\n")
    for _ in range(2):
        worksheet.enter_all(site, worksheet.read(path, site.space))
    assert site.cost == 5.0 and site.trials[0].status == "abandoned"


def test_designs_that_differ_from_what_was_asked_for_are_counted(tmp_path):
    site, path = wells(tmp_path)
    lines = [line.split(",") for line in path.read_text().splitlines()]
    lines[1][2:-4], lines[2][2:-4] = lines[2][2:-4], lines[1][2:-4]  # somebody has sorted a column
    for line in lines[1:3]:
        line[-4] = "0.5"
    path.write_text("\n".join(",".join(line) for line in lines))
    assert worksheet.enter_all(site, worksheet.read(path, site.space)).other == 2


@pytest.mark.parametrize(
    "content",
    [
        b"SQLite format 3\x00 a site's own file",
        b"[study]\nname = 'x'\n",
        "trial,a,b,y\n0,0.5,0.5,1.0\n".encode("utf-16"),
        b"trial,a,b,yield\n0,0.5,0.5,1.0\n",
        b"a note",
    ],
)
def test_what_is_somebodys_work_is_not_overwritten(tmp_path, content):
    site, _ = wells(tmp_path)
    path = tmp_path / "there.csv"
    path.write_bytes(content)
    assert not worksheet.is_told(path, site) and not worksheet.is_told(tmp_path, site)
    path.write_bytes(b"")
    assert worksheet.is_told(path, site) and worksheet.is_told(tmp_path / "new.csv", site)


def test_a_remark_goes_out_with_a_sheet_and_comes_back_with_what_a_person_wrote(tmp_path):
    lab = Site(STUDY, "x", Ledger(STUDY), direction="maximise", policy=Policy(initial=5))
    plate = lab.ask(3)
    lab.annotate(plate[0], 'the lamp\nflickered, "twice"')
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(worksheet.write(lab.to_run, SPACE))
    assert worksheet.is_told(sheet, lab)  # nothing that is not known already
    assert [entry.remark for entry in worksheet.read(sheet, SPACE)] == [lab.trial(0).remark]
    lines = list(csv.reader(io.StringIO(sheet.read_text())))
    lines[1][3], lines[2][-1], lines[3][3], lines[3][-1] = "0.5", "cold", "1", "bubbles"
    with sheet.open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    assert not worksheet.is_told(sheet, lab)
    entered = worksheet.enter_all(lab, worksheet.read(sheet, SPACE))
    assert (entered.new, entered.changed, entered.known, entered.other) == (2, 1, 0, 0)
    assert [trial.remark for trial in lab.trials] == ['the lamp\nflickered, "twice"', "cold", "bubbles"]
    assert [trial.y for trial in lab.trials] == [0.5, None, 1.0]
    again = worksheet.enter_all(lab, worksheet.read(sheet, SPACE))
    assert (again.new, again.changed, again.known) == (0, 0, 2) and worksheet.is_told(sheet, lab)


MIXTURE = Space(
    {"T": Float(20, 90), "t": Float(0.5, 50, log=True), "a": (0.0, 1.0), "b": (0.0, 1.0), "c": (0.0, 1.0)},
    ["a + b + c == 1", "T + 40 * a <= 80"],
)


def mixing(tmp_path, count=12):
    """A site with open experiments, and the lines of its sheet."""
    study = Study(MIXTURE, ["x"], 30)
    site = Site(study, "x", Ledger(study), direction="maximise", policy=Policy(seed=4))
    site.ask(count)
    path = tmp_path / "sheet.csv"
    path.write_text(worksheet.write(site.to_run, MIXTURE))
    return site, path, list(csv.DictReader(io.StringIO(path.read_text())))


def filled(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return worksheet.read(path, MIXTURE)


def test_a_sheet_has_digits_that_can_be_run_and_its_designs_keep_the_constraints():
    designs = MIXTURE.sample(60, np.random.default_rng(3))
    initial = {"turn": None, "decision": Decision.INITIAL}
    trials = [Trial("x", n, Status.PENDING, tuple(x), **initial) for n, x in enumerate(designs.tolist())]
    rows = list(csv.DictReader(io.StringIO(worksheet.write(trials, MIXTURE))))
    assert {row["a"][:2] for row in rows} == {"0."} and min(len(row["a"]) for row in rows) == len("0.123")
    for x, row in zip(designs, rows, strict=True):
        assert max(len(row[name].replace(".", "").strip("0")) for name in MIXTURE.names) <= 7
        design = {name: float(row[name]) for name in MIXTURE.names}
        assert abs(MIXTURE.to_unit(design) - x).max() <= 1e-3


def test_a_sheet_that_comes_back_unchanged_is_run_as_it_was_given_bit_for_bit(tmp_path):
    site, path, rows = mixing(tmp_path)
    asked = [trial.x.tolist() for trial in site.to_run]
    for number, row in enumerate(rows):
        row["y"] = str(number)
        row["T"] = row["T"].rstrip("0").rstrip(".") if "." in row["T"] else row["T"]  # as a spreadsheet writes 61.50
    assert worksheet.enter_all(site, filled(path, rows)) == worksheet.Entered(12, 0, 0, other=0)
    assert [list(trial.executed) for trial in site.trials] == asked
    assert {trial.note for trial in site.trials} == {""} and worksheet.is_told(path, site)


def test_a_line_that_was_changed_is_kept_as_it_is_written(tmp_path):
    site, path, rows = mixing(tmp_path, count=2)
    rows[0] |= {"y": "0.5", "t": "3"}
    assert worksheet.enter_all(site, filled(path, rows)).other == 1
    ran = site.trials[0].design(MIXTURE)
    assert ran == pytest.approx({name: float(rows[0][name]) for name in MIXTURE.names}, abs=1e-12)
    assert ran["t"] == pytest.approx(3.0) and site.trials[0].note == "another design was run"


def test_a_sheet_with_all_digits_from_an_earlier_version_is_as_it_was_asked_for(tmp_path):
    site, path, rows = mixing(tmp_path, count=2)
    asked = [list(trial.proposed) for trial in site.to_run]
    for row, trial in zip(rows, site.to_run, strict=True):
        row |= {name: repr(value) for name, value in trial.design(MIXTURE).items()} | {"y": "1"}
    assert worksheet.enter_all(site, filled(path, rows)).other == 0
    assert [list(trial.executed) for trial in site.trials] == asked


@pytest.mark.parametrize(
    ("name", "unit", "head", "others"),
    [
        ("yield", "%", "yield (%)", ("yield", "y")),
        ("yield", "", "yield", ("y",)),
        ("y", "g, dry", '"y (g, dry)"', ("y",)),
        ("sem", "%", "sem (%)", ("y",)),
        ("cost", "", "y", ()),
        ("a", "", "y", ()),  # a parameter has that name
    ],
)
def test_the_outcome_has_its_name_and_unit_in_a_sheet_and_is_found_by_either(name, unit, head, others):
    study = Study(SPACE, ("x",), 5, rule="identity", objectives=name, units=unit)
    site = Site(study, "x", Ledger(study), direction="maximise", policy=Policy(initial=2))
    site.ask(2)
    header, *lines = worksheet.write(site.to_run, site.space, study.objective).splitlines()
    assert header == f"trial,a,b,{head},sem,status,cost"
    for each in (head, *others):
        sheet = "\n".join([header.replace(f",{head},", f",{each},", 1), lines[0].replace(",,,,", ",0.5,0.1,,")])
        (entry,) = worksheet.read_text(sheet, site.space, objective=study.objective)
        assert (entry.measured.mean, entry.measured.sem) == (0.5, 0.1)
    twice = "\n".join([header.replace(",status", ",y,status"), lines[0]])
    with pytest.raises(CbocError, match=re.escape(f"column '{head.strip(chr(34))}' is there twice")):
        worksheet.read_text(twice, site.space, objective=study.objective)


def test_a_mistake_names_the_column_as_the_sheet_has_it():
    study = Study(SPACE, ("x",), 5, rule="identity", objectives="yield", units="%")
    with pytest.raises(CbocError, match=r"column 'yield \(%\)' is missing; did you mean 'yeild \(%\)'"):
        worksheet.read_text("trial,a,b,yeild (%)\n0,5,0.5,3\n", study.space, objective=study.objective)
    sheet = "trial,a,b,yield (%),sem,status,cost\n0,5,0.5,much,,,\n"
    with pytest.raises(CbocError, match=r"line 2, column yield \(%\): expected a number"):
        worksheet.read_text(sheet, study.space, objective=study.objective)
