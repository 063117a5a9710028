"""Tables as labs have them: what a person would read is taken, and all else is named."""

import math

import numpy as np
import pytest

from cboc.data.earlier.preview import preview
from cboc.errors import CbocError
from cboc.space.choice import Choice
from cboc.space.parameters import Float, Int
from cboc.space.space import Space

SPACE = Space(
    {"temperature": Float(20, 90, unit="°C"), "time": Float(0.5, 50, log=True, unit="h"), "cycles": Int(1, 12),
     "solvent": Choice(["water", "ethanol", "dmso"])},
)  # fmt: skip
SMALL = Space({"a": (0, 10), "b": (0, 1)})


def look(tmp_path, text, space=SMALL, encoding="utf-8", name="old.csv", **said):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return preview(path, space, **said)


def uses(seen):
    return {column.name: column.use or "?" for column in seen.columns}


def asked(seen):
    return {each.name if each.name != "column" else each.header or each.use for each in seen.questions}


def outcomes(seen):
    return [each.row.y for each in seen.taken]


def left(seen):
    return {each.place: each.reason for each in seen.left_out}


def designs(seen):
    return [list(seen.space.from_unit(each.row.x).values()) for each in seen.taken]


def test_a_column_with_the_unit_of_the_one_that_is_looked_for_is_offered_first(tmp_path):
    text = "Note,Druck (bar),Konzentration [mM],y\n1,2,3,4\n"
    space = Space({"conc": Float(0, 10, unit="mM"), "pressure": Float(0, 10, unit="bar")})
    first = {each.use: each.choices[0][0] for each in look(tmp_path, text, space).questions}
    assert first == {"conc": "Konzentration [mM]", "pressure": "Druck (bar)"}


@pytest.mark.parametrize(("count", "is_said"), [(1999, False), (2000, True)])
def test_so_many_rows_that_a_design_takes_minutes_are_remarked_on(tmp_path, count, is_said):
    seen = look(tmp_path, "a,b,y\n" + "".join(f"{i / 1000},0.5,{i}\n" for i in range(count)))
    assert len(seen.taken) == count and any("rows are many" in remark for remark in seen.remarks) == is_said


def test_a_german_spreadsheet_with_a_title_units_below_semicolons_commas_and_a_mean(tmp_path):
    text = """Versuchsreihe Mai;;;;;;
;;;;;;
Nr.;Temperature;Time;Cycles;Solvent;Ausbeute;Bemerkung
;°C;h;;;%;
1;62,5;1,25;3;Water;83,1;gut
2;70;2;3;ethanol;n.d.;Säule verstopft
3;95;2;3;ethanol;12,0;zu heiß
4;70;2;4;DMSO;1.234,5;
Mittelwert;68;2;3;water;50;
"""
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        seen = look(tmp_path, text, SPACE, encoding)
        assert seen.is_settled and outcomes(seen) == [83.1, 1234.5]
        assert designs(seen) == [[62.5, pytest.approx(1.25), 3, "water"], [70, pytest.approx(2), 4, "dmso"]]
        assert uses(seen) == {
            "Nr.": "ignore", "Temperature": "temperature", "Time": "time", "Cycles": "cycles", "Solvent": "solvent",
            "Ausbeute": "y", "Bemerkung": "remark",
        }  # fmt: skip
        assert left(seen) == {
            "line 6": "the outcome: 'n.d.' is no number.",
            "line 7": "temperature: expected a number from 20 to 90 °C, but got 95.0.",
            "line 9": "it says 'Mittelwert': it is about other rows.",
        }
        assert {
            "It is separated by semicolons.", "The names of the columns are in line 3.", "The units are in line 4.",
            "Decimal commas in Temperature, Time and Ausbeute.", "Thousands are set apart in Ausbeute.",
        } <= set(seen.remarks)  # fmt: skip
        assert any("Windows-1252" in remark for remark in seen.remarks) == (encoding == "cp1252")


@pytest.mark.parametrize(
    ("header", "unit"),
    [("temperature (°C)", "°C"), ("temperature [deg C]", "°C"), ("temperature / °C", "°C"), ("Temperature_C", "°C"),
     ("temperature, °C", "°C"), ("TEMPERATURE in celsius", "°C"), (" Temperature ", "°C"), ("V (µl)", "uL"),
     ("V/mL", "ml")],
)  # fmt: skip
def test_a_header_with_the_units_of_the_study_is_taken(tmp_path, header, unit):
    name = "V" if header.startswith("V") else "temperature"
    seen = look(tmp_path, f'"{header}";y\n50;1\n', Space({name: Float(20, 90, unit=unit)}))
    assert uses(seen)[header.strip()] == name and seen.is_settled


@pytest.mark.parametrize(("header", "unit"), [("T [K]", "°C"), ("T / mM", "mm"), ("T (min)", "h"), ("T (bar)", "")])
def test_another_unit_is_asked_about_and_never_converted(tmp_path, header, unit):
    space = Space({"T": Float(20, 90, unit=unit)})
    seen = look(tmp_path, f'"{header}",y\n50,1\n', space)
    assert asked(seen) == {header} and not seen.taken and "Nothing is converted" in seen.questions[0].text
    with pytest.raises(CbocError, match=r"Nothing is converted: .* Say columns=\{'T .*': 'T'\} or columns="):
        seen.dataset("maximise")
    settled = look(tmp_path, f'"{header}",y\n50,1\n350,2\n', space, columns={header: "T"})
    assert designs(settled) == [[50.0]] and "from 20 to 90" in left(settled)["line 3"]


@pytest.mark.parametrize(
    "header", ["SEM", "sem", "stderr", "Std. Err.", "std_error", "SE", "SEM (y)", "y sem", "Standard Error"]
)
def test_a_standard_error_is_taken_by_any_of_its_names(tmp_path, header):
    seen = look(tmp_path, f"a,b,y,{header}\n1,0.5,2,0.1\n2,0.5,3,\n3,0.5,4,n/a\n")
    assert uses(seen)[header] == "sem" and seen.is_settled
    sems = [each.row.sem for each in seen.taken]
    assert sems[0] == 0.1 and math.isnan(sems[1]) and math.isnan(sems[2])


@pytest.mark.parametrize(
    "header", ["SD", "Std. Dev.", "y SD", "stdev", "±", "error", "y err", "95 % CI", "purity SEM", "sem of a"]
)
def test_what_may_be_a_standard_error_and_may_not_is_asked_about(tmp_path, header):
    text = f"a,b,y,{header}\n1,0.5,2,0.1\n2,0.5,3,0.2\n"
    seen = look(tmp_path, text)
    assert asked(seen) == {header} and uses(seen)[header] == "?"
    assert ("not a standard error" in seen.questions[0].text) != ("sem" in header.lower())
    assert [each.row.sem for each in look(tmp_path, text, columns={header: "sem"}).taken] == [0.1, 0.2]
    assert all(math.isnan(each.row.sem) for each in look(tmp_path, text, columns={header: "ignore"}).taken)


def test_a_standard_deviation_beside_the_standard_error_is_named_and_not_asked_about(tmp_path):
    seen = look(tmp_path, "a,b,y,sem,SD\n1,0.5,2,0.1,0.4\n")
    assert seen.is_settled and uses(seen)["SD"] == "ignore" and "SD" in str(seen)
    assert "looks like a standard deviation; its standard error is in 'sem'" in str(seen)


def test_words_of_a_status(tmp_path):
    said = ("2,OK", ",failed", ",aborted", "5,done", "6,failed", ",planned", "7,")
    text = "a,b,y,Status\n" + "".join(f"{n},0.5,{cells}\n" for n, cells in enumerate(said))
    seen = look(tmp_path, text)
    assert outcomes(seen) == [2, None, 5, 7] and seen.is_settled
    assert left(seen) == {
        "line 4": "nobody knows what the status 'aborted' means; write complete or failed.",
        "line 6": "its status is 'failed', and it has the outcome 6; empty one of them.",
        "line 7": "its status is 'planned'.",
    }
    assert seen.summary == "4 rows are taken, 1 of them as a failure; 3 left out."


@pytest.mark.parametrize(
    ("header", "cells"), [("failed", ("no", "yes")), ("Success", ("TRUE", "FALSE")), ("Valid", ("1", "0"))]
)
def test_yes_and_no_are_read_by_what_the_header_asks_once_somebody_has_said_so(tmp_path, header, cells):
    text = f"a,b,y,{header}\n1,0.5,2,{cells[0]}\n2,0.5,,{cells[1]}\n"
    assert asked(look(tmp_path, text)) == {header, "empty"}
    seen = look(tmp_path, text, columns={header: "status"})
    assert outcomes(seen) == [2, None] and seen.is_settled


def test_a_remark_that_says_that_an_experiment_failed_is_asked_about(tmp_path):
    text = "a,b,y,Comment\n1,0.5,2,fine\n2,0.5,0,failed\n"
    assert asked(look(tmp_path, text)) == {"Comment"}
    assert outcomes(look(tmp_path, text, columns={"Comment": "remark"})) == [2, 0]


def test_what_is_no_number_is_named_and_a_failure_is_one_if_it_says_so(tmp_path):
    cells = ["<LOD", ">99", "n.d.", "~5", "5 g", "#DIV/0!", "12:30", "(5)", "5e", "1e999", "0x10", "1_000"]
    text = "a,b,y\n" + "".join(f"{n % 10},0.5,{cell}\n" for n, cell in enumerate(cells))
    text += "1,0.1,failed\n1,0.2,FAILED\n"
    seen = look(tmp_path, text)
    assert outcomes(seen) == [None, None] and seen.is_settled
    assert list(left(seen).values()) == [f"the outcome: {cell!r} is no number." for cell in cells]
    assert "'5 ± 1' is two numbers; write what follows ± into a column" in str(look(tmp_path, "a,b,y\n1,0.5,5 ± 1\n"))


@pytest.mark.parametrize("cell", ["", "-", "–", "n/a", "NaN", "NA", "None", "#N/A"])
def test_an_empty_outcome_is_asked_about(tmp_path, cell):
    text = f"a,b,y\n1,0.5,2\n2,0.5,{cell}\n3,0.5,{cell}\n"
    seen = look(tmp_path, text)
    assert asked(seen) == {"empty"} and "2 rows have no outcome (line 3 and line 4): failed, or not run?" in str(seen)
    assert "--answer empty=drop" in str(seen)
    assert outcomes(look(tmp_path, text, empty="failed")) == [2, None, None]
    dropped = look(tmp_path, text, empty="drop")
    assert outcomes(dropped) == [2]
    assert left(dropped) == {"line 3": "it has no outcome.", "line 4": "it has no outcome."}


def test_numbers_that_nothing_uses_are_asked_about_and_other_columns_are_named(tmp_path):
    text = "Run,a,b,y,purity,pressure,pH,operator,empty,Date\n" + "".join(
        f"{n},{n},0.5,{n},{90 + n * n},{n * n},7,Max,,2024-05-0{n}\n" for n in (1, 2, 3)
    )
    seen = look(tmp_path, text)
    assert asked(seen) == {"others"} and "'purity' and 'pressure'" in seen.questions[0].text
    assert uses(seen) == {
        "Run": "ignore", "a": "a", "b": "b", "y": "y", "purity": "?", "pressure": "?", "pH": "ignore",
        "operator": "ignore", "empty": "ignore", "Date": "time",
    }  # fmt: skip
    assert {column.name: column.reason for column in seen.columns}["pH"].startswith("always 7, and no parameter")
    assert outcomes(look(tmp_path, text, others="ignore")) == [1, 2, 3]
    other = look(tmp_path, text, columns={"purity": "y", "y": "ignore", "pressure": "ignore"})
    assert outcomes(other) == [91, 94, 99] and other.is_settled


def test_of_several_outcomes_and_of_names_that_are_there_twice_one_is_chosen(tmp_path):
    two = "a,b,Result,Yield\n1,0.5,2,3\n"
    assert [name for name, _ in look(tmp_path, two).questions[0].choices] == ["Result", "Yield"]
    assert outcomes(look(tmp_path, two, columns={"Yield": "y"}, others="ignore")) == [3]
    assert outcomes(look(tmp_path, two, outcome="yield", others="ignore")) == [3]
    twice = "a,b,y,a,y\n1,0.5,2,3,4\n"
    assert asked(look(tmp_path, twice)) == {"a", "y"}
    assert [c.name for c in look(tmp_path, twice).columns] == ["a", "b", "y", "a (2)", "y (2)"]
    seen = look(tmp_path, twice, columns={"a (2)": "a", "y": "y"}, others="ignore")
    assert designs(seen) == [[3.0, 0.5]] and outcomes(seen) == [2]


def test_columns_with_other_names_are_asked_for(tmp_path):
    text = "Druck;Zeit;Wert\n1;0,5;2\n2;0,25;3\n"
    seen = look(tmp_path, text)
    assert asked(seen) == {"a", "b", "y"} and not seen.taken
    assert "No column is called 'a' (0 to 10). Which one is it?" in str(seen) and "--column Druck=a" in str(seen)
    few = look(tmp_path, "a;y\n1;2\n")
    assert "No column is called 'b' (0 to 1). None is left that might be it: add it to the table." in str(few)
    seen = look(tmp_path, text, columns={"Druck": "a", "Zeit": "b", "Wert": "y"})
    assert "The first, line 2: a = 1.00, b = 0.500: 2" in str(seen)
    assert designs(seen) == [[1, 0.5], [2, 0.25]] and outcomes(seen) == [2, 3]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"columns": {"Yeild": "y"}}, "there is no column 'Yeild'; did you mean 'Yield'"),
        ({"columns": {"Yield": "outcme"}}, "column 'Yield' cannot be 'outcme'; did you mean"),
        ({"columns": {"Yield": "a"}, "outcome": "b"}, None),
        ({"columns": {"a": "y", "b": "y"}}, "two columns cannot both be 'y'; say ignore of one of them"),
        ({"empty": "no"}, "'empty' is answered by failed or drop; this is 'no'"),
        ({"header": 0}, "'header' is the number of a line, from 1"),
        ({"header": 77}, "old.csv has nothing in line 77; which one has the names"),
        ({"sheet": 3}, "the name of a sheet is a text"),
        ({"columns": ["Yield"]}, "what columns are is a dictionary of uses by header"),
        ({"emtpy": "drop"}, r"preview\(\) has no answer 'emtpy'; did you mean 'empty'"),
    ],
)
def test_an_answer_that_is_none_is_named(tmp_path, said, message):
    text = "a,b,Yield\n1,0.5,2\n"
    if message is None:
        look(tmp_path, text, **said)
        return
    with pytest.raises(CbocError, match=message):
        look(tmp_path, text, **said)


def test_rows_that_are_the_same_in_every_cell_are_asked_about(tmp_path):
    text = "a,b,y\n1,0.5,2\n1,0.5,2\n1,0.5,3\n"
    seen = look(tmp_path, text)
    assert asked(seen) == {"repeats"} and "(line 3 and line 2)" in seen.questions[0].text
    assert outcomes(look(tmp_path, text, repeats="keep")) == [2, 2, 3]
    dropped = look(tmp_path, text, repeats="drop")
    assert outcomes(dropped) == [2, 3] and left(dropped) == {"line 3": "it is the same as line 2 in every cell."}
    assert look(tmp_path, "run,a,b,y\n1,1,0.5,2\n2,1,0.5,2\n").is_settled  # measured twice, and says so


def test_what_stands_below_and_beside_a_table(tmp_path):
    text = "a,b,y\n1,0.5,2\na,b,y\n2,0.5,3\n,,\nTotal,,5\nMean of all,1.5,2.5\n,,\ny,b,a\n7,0.5,8\n9,0.5,6\n"
    seen = look(tmp_path, text)
    assert outcomes(seen) == [2, 3] and seen.is_settled
    assert left(seen) == {
        "line 3": "it has the names of the columns again.",
        "line 6": "it says 'Total': it is about other rows.",
        "line 7": "a: 'Mean of all' is no number.",
        "line 9 to 11": "another table begins here, and was not read; --answer header=9 reads that one.",
    }
    assert outcomes(look(tmp_path, text, header=9)) == [7, 9]


def test_cells_that_are_too_many_or_missing(tmp_path):
    seen = look(tmp_path, "a,b,y,note\n1,0.5,2\n1,0,5,2,3\n1,0.5\n3,0.5,4,x,,\n", empty="drop")
    assert outcomes(seen) == [2, 4]
    assert "more cells than there are columns; is a decimal comma taken for a separator?" in left(seen)["line 3"]
    assert left(seen)["line 4"] == "it has no outcome."


def test_choices_but_for_case_and_blanks_and_numbers_however_written(tmp_path):
    space = Space({"kit": Choice(["Kit A", "Kit B", "1,234"]), "n": Choice([0.5, 1, 2])})
    seen = look(tmp_path, 'kit;n;y\nkit_a;0,5;1\nKIT  B;1.0;2\n"1,234";2;3\nKit C;1;4\n', space)
    assert designs(seen) == [["Kit A", 0.5], ["Kit B", 1], ["1,234", 2]] and seen.is_settled
    assert "unknown option 'Kit C'" in left(seen)["line 5"]


def test_a_constraint_that_is_not_kept_is_named(tmp_path):
    seen = look(tmp_path, "a,b,y\n1,0.5,2\n9,0.9,3\n", Space({"a": (0, 10), "b": (0, 1)}, ["a + b <= 9"]))
    assert outcomes(seen) == [2] and "violates the constraint 'a + b <= 9'" in left(seen)["line 3"]


def test_what_is_no_table_is_refused_in_one_sentence(tmp_path):
    for text, said in (
        (b"", "old.csv has nothing in it."),
        (b"\n\n  \n", "old.csv has nothing in it."),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "old.csv is no table of text; save it as 'CSV UTF-8' or as XLSX."),
        (b'a,b,y\n1,0.5,"2\n3,0.5,4\n5,0.5,6\n', "old.csv, line 2: not a line of a table"),
        (b'a,b,y\n1,0.5,"2\n3,0.5,4\n5,0.5,"\n', "old.csv, line 2: a cell holds several lines of a table"),
        (b"a,b,y\n" + b"1,0.5,2\n" * 20_001, "old.csv has 20,002 lines and 3 columns; a table has at most"),
        (b"x" * 10_000_001, "old.csv has 10,000,001 bytes; a table of text has at most 10,000,000"),
    ):
        with pytest.raises(CbocError, match=said) as caught:
            look(tmp_path, text)
        assert "\n" not in str(caught.value)
    with pytest.raises(CbocError, match=r"cannot read .*nowhere.csv: No such file"):
        preview(tmp_path / "nowhere.csv", SMALL)
    with pytest.raises(CbocError, match="a table is the path of a CSV or XLSX file, or a frame"):
        preview(3, SMALL)
    with pytest.raises(CbocError, match=r"old.csv: no row can be taken; line 2: a: expected"):
        look(tmp_path, b"a,b,y\n99,0.5,2\n").dataset("maximise")


def test_a_declared_separator_dos_and_quotes(tmp_path):
    assert outcomes(look(tmp_path, 'sep=;\r\n"a";"b";"y"\r\n"1";"0,5";"\'2,5"\r\n\x1a')) == [2.5]
    assert outcomes(look(tmp_path, "a|b|y\n1|0.5|2\n")) == [2]
    assert outcomes(look(tmp_path, "a\tb\ty\n1\t0,5\t2\n")) == [2]
    assert outcomes(look(tmp_path, 'a,b,y,note\n1,0.5,2,"two\nlines, and ""quotes"""\n')) == [2]


def test_the_data_are_those_of_the_rows(tmp_path):
    data = look(tmp_path, "a,b,y,sem\n1,0.5,2,0.1\n5,0.25,failed,\n").dataset("minimise")
    np.testing.assert_allclose(data.X, [[0.1, 0.5]])
    np.testing.assert_allclose(data.failures, [[0.5, 0.25]])
    assert data.y.tolist() == [2] and data.sem.tolist() == [0.1] and data.direction == "minimise"
