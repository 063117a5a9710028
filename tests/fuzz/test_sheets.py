"""Filled-in sheets that somebody, or something, has changed: what they say now is told, or nothing is."""

import csv
import io
import random

import pytest

from cboc import CbocError, Choice, Float, Ledger, Policy, Site, Study
from cboc.site import worksheet
from cboc.site.trial import Status

from .damage import is_a_sentence, splices

SPACE = {"pH": (2.0, 9.0), "T": Float(20.0, 80.0, unit="°C"), "solvent": Choice(("water", "ethanol"))}
OUTCOMES = ("0.531", "-12.5", "1e-3", "7", "0.25", "", "100.125", "0.0625")
HOSTILE = (
    "nan", "inf", "-inf", "1e999", "1,234", "1.234.567", "0x10", "1_000", "٣", "=1+1", "'0.5", "0.5 mg", "--1", "+",
    "True", " ", "\t", "0.5\n0.6", '"', "'", "NULL", "#N/A", "#DIV/0!", "9" * 400, "x" * 200_000, "\x00", "\u202e5",
    "−3", "0,5", "1 000", ".5", "5.", "1e", "5e-324", "complete", "failed", "abandoned", "done", "pending", "-0",
    "12:30",
)  # fmt: skip


def begun():
    """A site with a plate of eight wells, as after `cboc ask --count 8`, and its sheet as somebody filled it in."""
    study = Study(SPACE, ("x", "y"), 9, name="sheets")
    site = Site(study, "x", Ledger(study), direction="maximise", policy=Policy(initial=8, seed=1))
    site.ask(8, wells=worksheet.well_names(96)[:8])
    header, *lines = csv.reader(io.StringIO(worksheet.write(site.to_run, site.space)))
    y, status, cost = (header.index(name) for name in ("y", "status", "cost"))
    for line, outcome in zip(lines, OUTCOMES, strict=True):
        line[y], line[cost] = outcome, "12.5"
        if not outcome:
            line[status] = "failed"
    lines[0][header.index("sem")] = "0.02"
    return site, text_of([header, *lines])


def text_of(rows, delimiter=","):
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return file.getvalue()


@pytest.fixture(scope="module")
def sheet():
    return begun()


@pytest.fixture
def telling(sheet, tmp_path):
    """A function that hands in a sheet with these bytes, and returns what the site was told by each trial."""
    site, _ = sheet

    def tell(content):
        (tmp_path / "sheet.csv").write_bytes(content)
        twin = site.twin()
        worksheet.enter_all(twin, worksheet.read(tmp_path / "sheet.csv", twin.space))
        return {trial.number: trial for trial in twin.trials if trial.status is not Status.PENDING}

    return tell


def number(text):
    """A number as a plain reader takes it: with a decimal point, or a comma where nothing else can be meant."""
    return float(text.strip().replace("\N{MINUS SIGN}", "-").replace(",", "."))


def says(content, told):
    """Whether a plain reader of the same bytes finds the same outcomes for the same trials, and no other."""
    text = content.decode("utf-8-sig")
    for delimiter in ",;\t":
        header, *lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
        names = [name.strip() for name in header]
        if {"trial", "y"} <= set(names):
            break
    else:
        return False
    found = {}
    for line in lines:
        cells = dict(zip(names, (cell.strip() for cell in line), strict=False))
        if any(cells.get(name) for name in ("y", "sem", "status", "cost")):
            found[int(cells["trial"])] = cells
    if found.keys() != told.keys():
        return False
    for which, cells in found.items():
        trial = told[which]
        if (trial.y is None) == bool(cells["y"]) or (cells["y"] and trial.y != number(cells["y"])):
            return False
        if cells.get("sem", "") and trial.sem != number(cells["sem"]):
            return False
        if "cost" in cells and (trial.cost is None) == bool(cells["cost"]):
            return False
    return True


def tried(variants, telling, tally, what):
    """Hand in all of them, and count how many were refused, and what the others have told."""
    told, refusals = [], []
    for content in variants:
        try:
            found = telling(content)
        except CbocError as error:
            refusals.append(str(error))
        else:
            told.append((content, found))
    for sentence in refusals:
        assert is_a_sentence(sentence), sentence
    for content, found in told:
        assert says(content, found), content.decode()
    before = outcomes(telling(begun()[1].encode()))
    same = sum(outcomes(found) == before for _, found in told)
    tally(what, refused=len(refusals), told_as_before=same, told_as_the_sheet_says_now=len(told) - same)
    return told


def outcomes(told):
    return {which: (trial.y, trial.sem, trial.status, trial.cost) for which, trial in told.items()}


def test_the_sheet_is_told_as_it_is(sheet, telling):
    _, text = sheet
    told = telling(text.encode())
    assert says(text.encode(), told) and len(told) == 8 and [told[5].status, told[0].sem] == [Status.FAILED, 0.02]


def test_a_sheet_with_flipped_bits(sheet, telling, tally):
    data = sheet[1].encode()
    every = [data[:k] + bytes([data[k] ^ (1 << bit)]) + data[k + 1 :] for k in range(len(data)) for bit in range(8)]
    told = tried(every[::3], telling, tally, "flipped bits in a sheet")
    header = set(sheet[1].partition("\n")[0].split(","))
    for content, _ in told:  # no column is left out because a letter of its name is another
        assert {name.strip(' "') for name in content.decode().partition("\n")[0].split(",")} == header


def test_a_sheet_with_pieces_elsewhere(sheet, telling, tally):
    tried(splices(sheet[1].encode(), 400, longest=80), telling, tally, "spliced sheets")


def test_a_sheet_with_other_cells(sheet, telling, tally):
    header, *lines = csv.reader(io.StringIO(sheet[1]))
    variants = []
    for k, name in enumerate(header):
        for value in HOSTILE:
            rows = [list(line) for line in lines]
            rows[2][k] = value
            variants.append(text_of([header, *rows]).encode(errors="replace"))
            if name in ("trial", "y", "sem", "status"):
                variants.append(text_of([[*header[:k], value, *header[k + 1 :]], *lines]).encode(errors="replace"))
    tried(variants, telling, tally, "sheets with a hostile cell")


def test_a_sheet_that_a_spreadsheet_has_saved(sheet, telling, tally):
    """Other separators, ends of lines and quotes; columns moved, doubled and left out; lines sorted and missing."""
    header, *lines = csv.reader(io.StringIO(sheet[1]))
    draw, variants = random.Random(4), []
    for _ in range(300):
        rows = [list(line) for line in [header, *lines]]
        columns = list(range(len(header)))
        draw.shuffle(columns)
        if draw.random() < 0.3:
            columns.remove(draw.choice(columns))
        if draw.random() < 0.2:
            columns.append(draw.choice(columns))
        rows = [[row[k] for k in columns] for row in rows]
        first, rest = rows[0], rows[1:]
        draw.shuffle(rest)
        rest = rest[: draw.randrange(1, 9)] + draw.sample(rest, draw.randrange(2))
        text = text_of([first, *rest], draw.choice(",;\t"))
        if draw.random() < 0.5:
            text = text.replace("\n", "\r\n")
        if draw.random() < 0.3:
            text = text.replace(".", ",")
        variants.append(text.encode(draw.choice(("utf-8", "utf-8-sig", "utf-8", "utf-16"))))
    tried(variants, telling, tally, "sheets as spreadsheets save them")


def test_noise_is_no_sheet(telling, tally):
    draw = random.Random(5)
    tried([draw.randbytes(k) for k in range(1, 400)], telling, tally, "files of noise as sheets")
