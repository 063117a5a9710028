"""Damaged tables: each is read as a reader would, or refused in one sentence. Nothing is lost without a word.

The oracle is a reader of its own, as simple as can be: it splits lines at the separator, and knows numbers by float().
"""

import csv
import io
import random
import re
from collections import Counter

import openpyxl
import pytest

from cboc.data.earlier.answers import Answers
from cboc.data.earlier.preview import look_into
from cboc.data.headers import plain
from cboc.errors import CbocError
from cboc.space.choice import Choice
from cboc.space.parameters import Float, Int
from cboc.space.space import Space

SPACE = Space({"temperature": Float(20, 90, unit="°C"), "cycles": Int(1, 12), "solvent": Choice(["water", "dmso"])})
ROWS = [
    (n, 20.25 + 5.5 * n, 1 + n % 9, ("water", "dmso")[n % 2], 0.125 + n, (0.5, "")[n % 2], said, f"note {n}")
    for n, said in enumerate(["ok", "", "ok", "", "ok", "", "ok", "failed", "ok", "", "ok", ""])
]
NAMES = {",": "commas", ";": "semicolons", "\t": "tabs"}
HEADER = ("run", "temperature (°C)", "cycles", "solvent", "y", "sem", "status", "remark")
FLIPS, QUOTES, CELLS, BOOKS = 500, 500, 500, 60
HOSTILE = [
    "", " ", "-", "n.d.", "<LOD", "failed", "NaN", "inf", "1e999", "1e-999", "0x10", "1_0", "٣", "½", "²",
    "1,234", "1.234", "0,5", "1.234,5", "12:30", "2024-01-02", "5 %", "=1+1", "+5", "-5", "'5", "@SUM(A1)",
    "=cmd|' /C calc'!A0", "Total", "Mean", "sem", "y", "temperature (°C)", "a;b", "a,b", 'a"b', "a\tb",
    "two\nlines", "0.5,1\n2,3,4,5,6,7,8,9", "\x1b[31m", "\u202e5", "\ufeff5", "\u200b5", "\xa05", "5\u2009000",
    "🧪", "x" * 500, "9" * 400, "<script>alert(1)</script>", "None", "null", "TRUE", "#DIV/0!", "65 °C", "65 K",
    "Water", " dmso ", "waterr", "0", "1e3", ".5", "5.", "1'234", "−5",
]  # fmt: skip


def written(rows, delimiter, header=HEADER, decimal="."):
    file = io.StringIO()
    lines = [[str(cell).replace(".", decimal) if isinstance(cell, float) else cell for cell in row] for row in rows]
    for line in lines:
        line[4:6] = ["", ""] if line[6] == "failed" else line[4:6]
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows([header, *lines])
    return file.getvalue()


def look(content):
    """The preview of a table, or the sentence that refuses it."""
    try:
        return look_into(content, "old.csv", SPACE, "y", "", Answers())
    except CbocError as refusal:
        sentence = str(refusal)
    assert "\n" not in sentence and sentence.startswith("old.csv")
    return None


def number(text):
    """What a simple reader takes a cell for: of two separators the last one is the decimal sign."""
    written = "".join(text.split()).removeprefix("'").removesuffix("°C").replace("\u2212", "-")
    for zero_wide in ("\ufeff", "\u200b", "'"):
        written = written.replace(zero_wide, "")
    decimal = max(".,", key=written.rfind)
    try:
        return float(
            "".join("." if sign == decimal else sign for sign in written if sign not in ".," or sign == decimal)
        )
    except ValueError:
        return None


def check_rows(seen, cells_of):
    """Whether every row that was taken has what the oracle finds in its cells."""
    names = [column.use for column in seen.columns]
    if any(question.name in ("decimal", "percent") for question in seen.questions):
        return
    for each in seen.taken:
        cells = dict(zip(names, cells_of(each.place), strict=False))
        design = SPACE.from_unit(each.row.x)
        for name in ("temperature", "cycles"):
            assert design[name] == pytest.approx(number(cells[name]), rel=1e-9), each
        assert plain(cells["solvent"]) == design["solvent"]
        if each.row.y is None:
            assert plain(cells["y"]) == "failed" or plain(cells["status"]) in ("failed", "fail"), each
        else:
            assert each.row.y == number(cells["y"]), (each, cells)
        if cells.get("sem", "").strip() not in ("", "-") and each.row.sem == each.row.sem:
            assert each.row.sem == number(cells["sem"])


def check_nothing_is_lost(seen, numbers):
    """Whether every line below the names is taken, left out with a reason, or in a question."""
    named = {int(each.place.split()[1]) for each in seen.taken}
    for left in seen.left_out:
        first, *last = map(int, re.findall(r"\d+", left.place))
        named |= set(range(first, (last or [first])[0] + 1))
    asked = " ".join(question.text for question in seen.questions)
    assert set(numbers) <= named | {int(each) for each in re.findall(r"line (\d+)", asked)} or "more" in asked


@pytest.mark.parametrize(("delimiter", "decimal"), [(",", "."), (";", ","), ("\t", ".")])
def test_bytes_that_are_flipped(tally, delimiter, decimal):
    rng, counts = random.Random(11), Counter()
    good = written(ROWS, delimiter, decimal=decimal).encode()
    assert len(look(good).taken) == len(ROWS) and look(good).is_settled
    for _ in range(FLIPS // 3):
        content = bytearray(good)
        for _ in range(rng.choice([1, 1, 2, 5])):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        seen = look(bytes(content))
        if seen is None:
            counts["refused"] += 1
            continue
        counts["asked" if seen.questions else "read"] += 1
        text = content.decode("cp1252" if any("1252" in each for each in seen.remarks) else "utf-8")
        if '"' in text or not seen.taken or "\r" in text or "sep=" in text:
            continue
        lines = text.split("\n")
        used = next(mark for mark in (*delimiter, ",", ";", "\t", "|") if seen.remarks == () or mark in lines[0])
        check_rows(seen, lambda place, lines=lines, used=used: lines[int(place.split()[1]) - 1].split(used))
        if not any("names of the columns are in" in each for each in seen.remarks):
            check_nothing_is_lost(
                seen, [n for n, line in enumerate(lines, 1) if n > 1 and line.strip(f" {used}\x0b\x0c")]
            )
    tally(f"old tables with flipped bits, {NAMES[delimiter]}", **counts)
    assert min(counts["refused"], counts["asked"], counts["read"]) > 5


@pytest.mark.parametrize(("delimiter", "decimal"), [(",", "."), (";", ",")])
def test_quotes_that_are_left_open_swallow_no_line(tally, delimiter, decimal):
    rng, counts = random.Random(15), Counter()
    good = written(ROWS, delimiter, decimal=decimal)
    for _ in range(QUOTES // 2):
        text = good
        for _ in range(rng.choice([1, 2, 2, 3, 4])):
            place = rng.randrange(len(text)) if rng.random() < 0.3 else rng.choice(
                [n + rng.choice([0, 1]) for n, sign in enumerate(text) if sign in f"{delimiter}\n"]
            )  # fmt: skip
            text = f'{text[:place]}"{text[place:]}'
        seen = look(text.encode())
        counts["refused" if seen is None else "asked" if seen.questions else "read"] += 1
        if seen is not None and seen.taken:
            untouched = [n for n, line in enumerate(text.split("\n"), 1) if n > 1 and line and line in good.split("\n")]
            check_nothing_is_lost(seen, untouched)
    tally(f"old tables with open quotes, {NAMES[delimiter]}", **counts)
    assert min(counts["refused"], counts["read"]) > 5


@pytest.mark.parametrize(("delimiter", "decimal"), [(",", "."), (";", ",")])
def test_cells_with_hostile_text(tally, delimiter, decimal):
    rng, counts = random.Random(12), Counter()
    for _ in range(CELLS // 2):
        rows = [list(row) for row in ROWS]
        touched = {}
        for _ in range(rng.choice([1, 1, 2])):
            row, column = rng.randrange(len(rows)), rng.randrange(1, len(HEADER))
            rows[row][column] = rng.choice(HOSTILE)
            touched[row] = column
        text = written(rows, delimiter, decimal=decimal)
        seen = look(text.encode())
        if seen is None:
            counts["refused"] += 1
            continue
        counts["asked" if seen.questions else "read"] += 1
        if not seen.taken:
            continue
        starts, lines, begun = {}, csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), 1
        for cells in lines:
            starts[begun] = cells
            begun = lines.line_num + 1
        check_rows(seen, lambda place, starts=starts: starts[int(place.split()[1])])
        check_nothing_is_lost(seen, [n for n in starts if n > 1])
        taken = {int(each.place.split()[1]) for each in seen.taken}
        untouched = {n for n, row in zip(list(starts)[1:], range(len(rows)), strict=True) if row not in touched}
        if not any(question.name == "decimal" for question in seen.questions) and "another table" not in str(seen):
            assert untouched <= taken, (touched, rows)
    tally(f"old tables with hostile cells, {NAMES[delimiter]}", **counts)
    assert min(counts["asked"], counts["read"]) > 5


def test_books_that_are_damaged(tally):
    rng, counts = random.Random(13), Counter()
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in (HEADER, *ROWS):
        book.active.append(row if row[6] != "failed" else (*row[:4], None, None, *row[6:]))
    book.save(file)
    good = file.getvalue()
    rows = [(row.row.x.tolist(), row.row.y) for row in look(good).taken]
    assert len(rows) == len(ROWS)
    for _ in range(BOOKS):
        content = bytearray(good)
        if rng.random() < 0.2:
            content = content[: rng.randrange(len(content))]
        for _ in range(rng.choice([1, 3, 20])):
            content[rng.randrange(4, len(content))] = rng.randrange(256)
        seen = look(bytes(content))
        counts["refused" if seen is None else "read"] += 1
        assert seen is None or [(row.row.x.tolist(), row.row.y) for row in seen.taken] == rows
    tally("old books with damaged bytes", **counts)
    assert counts["refused"] > 5
