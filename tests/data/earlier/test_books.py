"""XLSX as a person sees it: values of formulas, per cent, merged and hidden cells, several sheets."""

import io
import re
import sys
import zipfile
from datetime import datetime

import openpyxl
import pytest

from cboc.data.earlier.preview import preview
from cboc.errors import CbocError
from cboc.space.choice import Choice
from cboc.space.parameters import Float, Int
from cboc.space.space import Space

SPACE = Space({"T": Float(20, 90, unit="°C"), "n": Int(1, 9), "solvent": Choice(["water", "dmso"])})
HEADER = ("T (°C)", "n", "solvent", "yield")


def saved(tmp_path, book):
    path = tmp_path / "old.xlsx"
    book.save(path)
    return path


def book_of(*rows, title="Runs"):
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    return book


def look(tmp_path, book, **said):
    return preview(saved(tmp_path, book), SPACE, **{"outcome": "yield"} | said)


def outcomes(seen):
    return [each.row.y for each in seen.taken]


def left(seen):
    return {each.place: each.reason for each in seen.left_out}


def with_values(path, values):
    """The book as a spreadsheet saves it: with the value of each formula beside it."""
    content = {name: zipfile.ZipFile(path).read(name) for name in zipfile.ZipFile(path).namelist()}
    sheet = content["xl/worksheets/sheet1.xml"].decode()
    for cell, value in values.items():
        before, start, after = sheet.partition(f'r="{cell}"')
        sheet = before + start + re.sub(r"<v ?/>|<v></v>", f"<v>{value}</v>", after, count=1)
    with zipfile.ZipFile(path, "w") as parts:
        for name, data in content.items():
            parts.writestr(name, sheet.encode() if name.endswith("sheet1.xml") else data)
    return path


def test_a_table_below_a_merged_title(tmp_path):
    book = book_of(("Screening of May",), (), HEADER, (50, 3, "Water", 0.5), (60.5, 4.0, "dmso", None))
    book.active.merge_cells("A1:D1")
    seen = look(tmp_path, book, empty="drop")
    assert outcomes(seen) == [0.5] and seen.name == "old.xlsx, sheet 'Runs'"
    assert "The names of the columns are in row 3." in seen.remarks and left(seen) == {"row 5": "it has no outcome."}


def test_cells_that_are_one_with_others_are_named_and_not_filled_in(tmp_path):
    book = book_of(HEADER, (50, 3, "water", 1), (None, 3, "dmso", 2), (60, 3, "dmso", 3))
    book.active.merge_cells("A2:A3")
    seen = look(tmp_path, book)
    assert outcomes(seen) == [1, 3]
    assert left(seen) == {"row 3": "T: it is one cell with others (A2:A3); write its value into each row."}


def test_formulas_count_by_their_values(tmp_path):
    book = book_of(HEADER, (50, 3, "water", "=10*2"), (60, 3, "water", "=5/10"), (55, 3, "water", "=AVERAGE(D2:D3)"),
                   (55, 4, "water", "=AVERAGE(F5:H5)"))  # fmt: skip
    path = with_values(saved(tmp_path, book), {"D2": 20, "D3": 0.5, "D4": 10.25, "D5": 7})
    seen = preview(path, SPACE, "yield")
    assert outcomes(seen) == [20, 0.5, 7] and seen.is_settled
    assert left(seen) == {"row 4": "the outcome: it is computed from other rows, =AVERAGE(D2:D3)."}


def test_a_formula_whose_value_nobody_has_computed_is_named(tmp_path):
    seen = look(tmp_path, book_of(HEADER, (50, 3, "water", "=10*2"), (60, 3, "water", 1)))
    assert outcomes(seen) == [1] and "a formula whose value is not in the file; open it" in left(seen)["row 2"]


def test_per_cent_dates_and_texts_are_what_is_seen(tmp_path):
    book = book_of(HEADER, (50, 3, "water", 0.835), (60, 3, "dmso", 0.07), (datetime(2024, 1, 2), 3, "dmso", 0.5),
                   (True, 3, "dmso", 0.5), ("62,5", 3, "dmso", 0.5), (20, 2.5, "dmso", 0.5))  # fmt: skip
    for row in range(2, 8):
        book.active.cell(row, 4).number_format = "0.0%"
    seen = look(tmp_path, book)
    assert outcomes(seen) == [83.5, 7, 50] and "There are per cent signs in yield: 83 % is 83." in seen.remarks
    assert left(seen) == {
        "row 4": "T: 2024-01-02 00:00:00 is a time, and a number is needed; has a spreadsheet made one of the other?",
        "row 5": "T: 'True' is no number.",
        "row 7": "n: expected a whole number from 1 to 9, but got 2.5; the nearest is 2.",
    }
    assert outcomes(look(tmp_path, book, unit="%")) == [83.5, 7, 50]
    assert outcomes(look(tmp_path, book, unit="g", percent="fraction")) == [0.835, 0.07, 0.5]


def test_of_several_sheets_the_one_with_the_table_is_read_and_the_others_are_named(tmp_path):
    book = book_of(("about",), ("by", "Eve"), title="Cover")
    for title, state, y in (("Runs", "visible", 1), ("Raw", "hidden", 2)):
        sheet = book.create_sheet(title)
        sheet.append(HEADER)
        sheet.append((50, 3, "water", y))
        sheet.sheet_state = state
    book.create_sheet("Empty")
    seen = look(tmp_path, book)
    assert outcomes(seen) == [1] and "Other sheets were not read: 'Cover' and 'Raw' (hidden)." in seen.remarks
    assert outcomes(look(tmp_path, book, sheet="Raw")) == [2]
    with pytest.raises(CbocError, match="old.xlsx has no sheet 'Rums' with anything in it; did you mean 'Runs'"):
        look(tmp_path, book, sheet="Rums")
    book["Raw"].sheet_state = "visible"
    seen = look(tmp_path, book)
    assert [question.name for question in seen.questions] == ["sheet"] and not seen.taken
    assert [choice for choice, _ in seen.questions[0].choices] == ["Cover", "Runs", "Raw"]
    with pytest.raises(CbocError, match="has several sheets; which one is it"):
        seen.dataset("maximise")


def test_hidden_rows_are_read_and_said(tmp_path):
    book = book_of(HEADER, (50, 3, "water", 1), (60, 3, "water", 2))
    book.active.row_dimensions[2].hidden = True
    seen = look(tmp_path, book)
    assert outcomes(seen) == [1, 2] and "1 hidden row is read as others are." in seen.remarks


def test_notes_beside_the_table_are_named(tmp_path):
    book = book_of((*HEADER, None, None), (50, 3, "water", 1, None, "see page 3"), (60, 3, "water", 2, None, None))
    seen = look(tmp_path, book)
    assert outcomes(seen) == [1, 2] and [column.name for column in seen.columns][-1] == "column F"
    assert seen.is_settled and len(seen.columns) == 5


def test_what_is_no_book_is_refused_in_one_sentence(tmp_path):
    good = saved(tmp_path, book_of(HEADER, (50, 3, "water", 1))).read_bytes()
    document = io.BytesIO()
    with zipfile.ZipFile(document, "w") as parts:
        parts.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("xl/worksheets/sheet1.xml", b" " * 20_000_000)
    wide = book_of(HEADER, (50, 3, "water", 1))
    wide.active["XFD1048576"] = "stray"
    for content, said in (
        (good[: len(good) // 2], "old.xlsx cannot be read as XLSX"),
        (good.replace(b"sheet1.xml", b"sheet9.xml"), "old.xlsx cannot be read as XLSX"),
        (document.getvalue(), "old.xlsx is no XLSX file; save it as XLSX"),
        (b"\xd0\xcf\x11\xe0" + b"\0" * 600, "old.xlsx is an XLS file of before 2007, or has a password"),
        (bomb.getvalue(), "old.xlsx holds 20,000,000 bytes when it is unpacked"),
        (saved(tmp_path, wide).read_bytes(), "it reaches to row 1,048,576 and column 16,384; delete what lies beyond"),
        (good + b" " * 10_000_000, "bytes; a book has at most 10,000,000"),
        (merged_to_the_end(good), "has merged cells that fill whole rows or columns"),
    ):
        path = tmp_path / "old.xlsx"
        path.write_bytes(content)
        with pytest.raises(CbocError, match=said) as caught:
            preview(path, SPACE)
        assert "\n" not in str(caught.value)


def merged_to_the_end(content):
    """A book that says that seventeen billion cells are one: to make room for them would stop the machine."""
    parts = zipfile.ZipFile(io.BytesIO(content))
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as written:
        for name in parts.namelist():
            data = parts.read(name)
            merged = b'</sheetData><mergeCells count="1"><mergeCell ref="A1:XFD1048576"/></mergeCells>'
            written.writestr(name, data.replace(b"</sheetData>", merged) if name.endswith("sheet1.xml") else data)
    return other.getvalue()


def test_without_openpyxl_the_extra_to_install_is_named(tmp_path, monkeypatch):
    path = saved(tmp_path, book_of(HEADER, (50, 3, "water", 1)))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(CbocError, match=r"old.xlsx is a book, .* not installed; .*pip install '.\[xlsx\]'. Or save"):
        preview(path, SPACE)
