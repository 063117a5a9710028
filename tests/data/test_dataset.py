import json
import math
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cboc.data.dataset import Dataset, Direction
from cboc.data.objective import Measurement
from cboc.errors import CbocError
from cboc.site import worksheet
from cboc.space.choice import Choice
from cboc.space.parameters import Float, Int
from cboc.space.space import Space

SPACE = Space({"T": Float(20, 90, unit="°C"), "n": Int(1, 5), "solvent": Choice(["water", "ethanol"])}, ["T + n <= 94"])
PLAIN = Space({"a": (0, 10), "b": (0, 1)})


def measured():
    X = [[0.0, 0.0, 1, 0], [0.5, 0.5, 0, 1], [1.0, 0.75, 1, 0]]
    return Dataset(X, [1.5, 0.1 + 0.2, -3.0], [0.1, math.nan, 0.0], [[0.25, 1.0, 0, 1]], direction="minimise")


def csv(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "runs.csv"
    path.write_bytes(text.encode(encoding))
    return path


# A value


def test_known_bests():
    data = Dataset([[0.1], [0.9], [0.5]], [1, 3, 2])
    assert (data.best.x.tolist(), data.best.y, data.best.index) == ([0.9], 3.0, 1)
    assert data.best_so_far.tolist() == [1, 3, 3]
    assert data.score.tolist() == [1, 3, 2]
    costs = Dataset([[0.1], [0.9], [0.5]], [1, 3, 0], direction="minimise")
    assert (costs.best.y, costs.best.index) == (0.0, 2)
    assert costs.best_so_far.tolist() == [1, 1, 0]
    assert costs.score.tolist() == [-1, -3, 0]


def test_arrays_are_copies_and_read_only():
    X, y = np.array([[0.5]]), np.array([1.0])
    data = Dataset(X, y)
    X[0, 0], y[0] = 0.7, 2.0
    assert data == Dataset([[0.5]], [1.0])
    for array in (data.X, data.y, data.sem, data.failures):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError):
        data.y = y


def test_growing_makes_a_new_value():
    empty = Dataset.empty(2, "minimise")
    data = empty.with_point([0.1, 0.2], 3).with_point([0.3, 0.4], Measurement(5, 0.25)).with_failure([1, 1])
    assert (len(empty), len(data), data.dimension, data.direction) == (0, 2, 2, "minimise")
    assert data == Dataset([[0.1, 0.2], [0.3, 0.4]], [3, 5], [math.nan, 0.25], [[1, 1]], direction="minimise")


def test_a_pair_is_not_a_measurement():
    with pytest.raises(CbocError, match=r"a measurement's mean is a finite number; this is \(5, 0.25\)"):
        Dataset.empty(2).with_point([0.1, 0.2], (5, 0.25))


def test_outcomes_are_columns_by_objective():
    data = measured()
    assert data.Y.shape == data.sems.shape == (len(data), 1)
    np.testing.assert_array_equal(data.Y[:, 0], data.y)
    np.testing.assert_array_equal(data.sems[:, 0], data.sem)


def test_as_plain_data_it_goes_there_and_back():
    for data in (measured(), Dataset.empty(4, "minimise")):
        plain = json.loads(json.dumps(data.to_dict(), allow_nan=False))
        assert Dataset.from_dict(plain, 4, "minimise") == data
    assert Dataset.from_dict({}, 4, "minimise") == Dataset.empty(4, "minimise")


def test_adding_is_concatenation():
    a, b = measured(), measured().with_point([0, 0, 0, 1], 7)
    assert (a + b).y.tolist() == [*a.y, *b.y]
    assert len((a + b).failures) == 2
    assert a + Dataset.empty(4, "minimise") == a == Dataset.empty(4, "minimise") + a
    assert (a + b) + a == a + (b + a)


def test_one_standard_error_serves_all():
    assert Dataset([[0], [1]], [1, 2], 0.5).sem.tolist() == [0.5, 0.5]
    assert np.isnan(Dataset([[0], [1]], [1, 2]).sem).all()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: Dataset([[0, 0]] * 3 + [[0, 1.7]], [0, 0, 0, 0]),
            "designs live in the unit cube; row 3 has x[1] = 1.7. Did you forget space.to_unit?",
        ),
        (
            lambda: Dataset([[math.nan]], [0]),
            "designs live in the unit cube; row 0 has x[0] = nan. Did you forget space.to_unit?",
        ),
        (
            lambda: measured().with_failure([65, 2, 1, 0]),
            "designs live in the unit cube; row 0 has x[0] = 65. Did you forget space.to_unit?",
        ),
        (
            lambda: Dataset([[0.0], [1.0]], [1, math.nan]),
            "outcomes are finite, but 1 of 2 is not: y[1] = nan. Drop what was not run, and give designs that failed "
            "as failures=.",
        ),
        (
            lambda: Dataset([[0.0]], [math.inf]),
            "outcomes are finite, but 1 of 1 is not: y[0] = inf. Drop what was not run, and give designs that failed "
            "as failures=.",
        ),
        (lambda: Dataset([0.0, 1.0], [1, 2]), "X has shape (n, D), one row per design, but got (2,)."),
        (lambda: Dataset([[0.0]], [1, 2]), "every row of X has one outcome, but X is (1, 1) and y is (2,)."),
        (lambda: Dataset([[0.0]], [[1]]), "every row of X has one outcome, but X is (1, 1) and y is (1, 1)."),
        (lambda: Dataset([["a"]], [1]), "X is an array of numbers, but got [['a']]."),
        (
            lambda: Dataset([[0.0]], [1], [1, 2]),
            "sem is one number for all outcomes, or one for each of the 1, but got shape (2,).",
        ),
        (
            lambda: Dataset([[0.0]], [1], [-1]),
            "standard errors are finite and not negative, or NaN if unknown, but got [-1].",
        ),
        (
            lambda: Dataset([[0.0]], [1], failures=[[0, 0]]),
            "X and failures need equally many columns, but have 1 and 2.",
        ),
        (lambda: Dataset([[0.0]], [1], direction="maximice"), "unknown direction 'maximice'; did you mean 'maximise'?"),
        (
            lambda: Dataset.empty(2) + Dataset.empty(3),
            "datasets can be added only if dimension and direction agree, but got (2, maximise) and (3, maximise).",
        ),
        (
            lambda: Dataset.empty(2) + Dataset.empty(2, "minimise"),
            "datasets can be added only if dimension and direction agree, but got (2, maximise) and (2, minimise).",
        ),
        (lambda: Dataset.empty(2).best, "an empty dataset has no best point; add a measurement with with_point."),
        (
            lambda: Dataset.empty(2).to_csv("nowhere.csv", SPACE),
            "the space has 4 unit coordinates, but the dataset has 2.",
        ),
    ],
)
def test_a_mistake_is_named_in_one_sentence(build, message):
    with pytest.raises(CbocError) as caught:
        build()
    assert str(caught.value) == message


@pytest.mark.parametrize("said", ["minimise", "minimize", "min", "Minimise", "MINIMIZE", " Min "])
def test_a_direction_is_understood_however_it_is_said(said):
    assert Direction.of(said) is Direction.MINIMISE
    assert Direction.of(said.lower().replace("min", "max", 1)) is Direction.MAXIMISE
    assert Dataset([[0.0]], [1], direction=said).direction is Direction.MINIMISE


@pytest.mark.parametrize("given", ["", "m", "up", "maximum", None, 1, True])
def test_a_direction_is_never_guessed(given):
    with pytest.raises(CbocError, match="unknown direction"):
        Direction.of(given)


def test_only_datasets_can_be_added():
    with pytest.raises(TypeError):
        Dataset.empty(1) + 3


# CSV


def test_csv_holds_natural_units_and_comes_back_equal(tmp_path):
    path = tmp_path / "runs.csv"
    measured().to_csv(path, SPACE, outcome="yield")
    assert path.read_text().splitlines() == [
        "T,n,solvent,yield,sem,status",
        "20.0,1,water,1.5,0.1,complete",
        "55.0,3,ethanol,0.30000000000000004,,complete",
        "90.0,4,water,-3.0,0.0,complete",
        "37.5,5,ethanol,,,failed",
    ]
    assert Dataset.from_csv(path, SPACE, outcome="yield", direction="minimise") == measured()


def test_csv_leaves_out_columns_that_say_nothing(tmp_path):
    path = tmp_path / "runs.csv"
    Dataset([[0.5, 0.5]], [2]).to_csv(path, PLAIN)
    assert path.read_text() == "a,b,y\n5.0,0.5,2.0\n"


def test_an_empty_dataset_comes_back_empty(tmp_path):
    path = tmp_path / "runs.csv"
    Dataset.empty(4).to_csv(path, SPACE)
    assert Dataset.from_csv(path, SPACE, direction="maximise") == Dataset.empty(4)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(allow_nan=False, allow_infinity=False))))
def test_every_outcome_survives_csv_bit_for_bit(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "runs.csv"
    data = Dataset(np.reshape([row[:2] for row in rows], (-1, 2)), [row[2] for row in rows])
    data.to_csv(path, PLAIN)
    back = Dataset.from_csv(path, PLAIN, direction="maximise")
    np.testing.assert_array_equal(back.y, data.y)
    np.testing.assert_allclose(back.X, data.X, atol=1e-12)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("a,b,y\n5,0.5,2.5\n10,1,-1e3\n", "utf-8"),
        ("a,b,y\r\n5,0.5,2.5\r\n10,1,-1e3\r\n", "utf-8-sig"),
        (" a , b , y \n 5 , 0.5 , 2.5 \n\n 10, 1, -1000\n , , \n", "utf-8"),
        ("a;b;y\n5;0,5;2,5\n10,0;1;-1,0e3\n", "utf-8"),
        ('"a";"b";"y"\r\n"5";"0,5";"2,5"\r\n"10";"1";"-1000"\r\n', "utf-8-sig"),
        ("a;b;y\n5;.5;2.5\n10;1;-1000\n", "utf-8"),
        ("a\tb\ty\n5\t0,5\t2,5\n10\t1\t-1000", "utf-8"),
        ('date,y,b,a,note\n1 May,2.5,0.5,5,"good, clear"\n2 May,-1000,1,10,\n', "utf-8"),
    ],
)
def test_csv_as_people_and_excel_write_it(tmp_path, text, encoding):
    data = Dataset.from_csv(csv(tmp_path, text, encoding), PLAIN, direction="maximise")
    assert data == Dataset([[0.5, 0.5], [1, 1]], [2.5, -1000])


def test_what_says_that_it_failed_is_a_failure(tmp_path):
    text = "a,b,y,status,sem\n1,0.1,,failed,\n2,0.2,,Failed,\n3,0.3,5,,0.5\n4,0.4,6,Complete,\n"
    data = Dataset.from_csv(csv(tmp_path, text), PLAIN, direction="maximise")
    assert data == Dataset([[0.3, 0.3], [0.4, 0.4]], [5, 6], [0.5, math.nan], [[0.1, 0.1], [0.2, 0.2]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "runs.csv, line 1: expected a header with the columns a, b, y, but it is empty."),
        ("a,bb,y\n", "runs.csv, line 1: column 'b' is missing; did you mean 'bb'?"),
        ("a,b,value\n", "runs.csv, line 1: column 'y' is missing; known: a, b, value."),
        ("a,b,y,a\n", "runs.csv, line 1: column 'a' is there twice; keep one."),
        (
            "a,b,y\n1,1,1\n2,0,5,1\n",
            "runs.csv, line 3: expected 3 cells as in the header, but found 4. "
            "Is a decimal comma taken for a separator?",
        ),
        ("a;b;y\n1;1\n", "runs.csv, line 2: expected 3 cells as in the header, but found 2."),
        ("a,b,y\n1,1,1\n11,0,1\n", "runs.csv, line 3, column a: expected a number from 0 to 10, but got 11.0."),
        ("a,b,y\nx,1,1\n", "runs.csv, line 2, column a: expected a number from 0 to 10, but got 'x'."),
        ("a,b,y\n,1,1\n", "runs.csv, line 2, column a: expected a value, but the cell is empty."),
        (
            "a;b;y\n1;1;1.234,5\n",
            "runs.csv, line 2, column y: expected a number or an empty cell, but found '1.234,5'.",
        ),
        ("a,b,y\n1,1,nan\n", "runs.csv, line 2, column y: expected a number or an empty cell, but found 'nan'."),
        *(
            (text, f"runs.csv, line 2, column {column}: '1,234' may mean thousands or decimals; write 1234 or 1.234.")
            for text, column in (
                ("a;b;y\n1;1;1,234\n", "y"),
                ("a;b;y\n1.5;1;1,234\n2;0,5;3\n", "y"),
                ("a;b;y\n1;1,234;1\n", "b"),
            )
        ),
        (
            "a,b,y,sem\n1,1,1,-2\n",
            "runs.csv, line 2, column sem: expected a finite number that is not negative, but found -2.0; "
            "leave the cell empty if there is none.",
        ),
        (
            "a,b,y,status\n1,1,1,fialed\n",
            "runs.csv, line 2, column status: unknown status 'fialed'; did you mean 'failed'?",
        ),
        (
            "a,b,y,status\n1,1,,complete\n",
            "runs.csv, line 2, column status: a complete measurement has an outcome, but this cell is empty; "
            "if it failed, write failed.",
        ),
    ],
)
def test_a_mistake_in_a_file_is_named_with_its_place(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    csv(tmp_path, text)
    with pytest.raises(CbocError) as caught:
        Dataset.from_csv("runs.csv", PLAIN, direction="maximise")
    assert str(caught.value) == message


def test_a_violated_constraint_in_a_file_is_named_with_its_line(tmp_path):
    path = csv(tmp_path, "T,n,solvent,y\n90,5,water,1\n")
    with pytest.raises(CbocError, match=r"line 2: T = 90.0, n = 5 violates the constraint 'T \+ n <= 94' by 1"):
        Dataset.from_csv(path, SPACE, direction="maximise")


def test_unreadable_files_are_named(tmp_path):
    with pytest.raises(CbocError, match=r"cannot read nowhere\.csv: No such file or directory"):
        Dataset.from_csv("nowhere.csv", PLAIN, direction="maximise")
    with pytest.raises(CbocError, match="is not UTF-8 text; save it as 'CSV UTF-8'"):
        Dataset.from_csv(csv(tmp_path, "a,b,y,größe\n", "latin-1"), PLAIN, direction="maximise")


@pytest.mark.parametrize(
    ("parameter", "outcome", "message"),
    [
        ("y", "y", "a table's column 'y' cannot be both a parameter and the outcome; rename one."),
        ("sem", "y", "a table's column 'sem' cannot be both a parameter and the standard error; rename one."),
        ("status", "y", "a table's column 'status' cannot be both a parameter and the status; rename one."),
        ("a", "status", "a table's column 'status' cannot be both the outcome and the status; rename it."),
    ],
)
def test_a_column_has_one_meaning(tmp_path, parameter, outcome, message):
    with pytest.raises(CbocError) as caught:
        Dataset([[0.0]], [1]).to_csv(tmp_path / "runs.csv", Space({parameter: (0, 1)}), outcome)
    assert str(caught.value) == message


# DataFrames


def test_a_frame_holds_natural_units_and_comes_back_equal():
    frame = measured().to_frame(SPACE, outcome="yield")
    assert list(frame.columns) == ["T", "n", "solvent", "yield", "sem", "status"]
    assert frame["T"].tolist() == [20.0, 55.0, 90.0, 37.5]
    assert frame["solvent"].tolist() == ["water", "ethanol", "water", "ethanol"]
    assert Dataset.from_frame(frame, SPACE, outcome="yield", direction="minimise") == measured()


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("1,0.2,5,failed,", "line 2, column status: 'failed' does not go with the outcome '5.0'; correct one of them"),
        ("1,0.2,,failed,0.5", "line 2, column sem: a standard error is given, but no outcome"),
        ("1,0.2,,,0.5", "line 2, column sem: a standard error is given, but no outcome"),
        ("0_1,0.2,5,,", "line 2, column a: expected a number from 0 to 10, but got '0_1'"),
        ("1,0.2,1_000,,", "line 2, column y: expected a number or an empty cell, but found '1_000'"),
    ],
)
def test_nothing_that_somebody_wrote_is_dropped_or_guessed(tmp_path, line, complaint):
    with pytest.raises(CbocError, match=complaint):
        Dataset.from_csv(csv(tmp_path, f"a,b,y,status,sem\n{line}\n"), PLAIN, direction="maximise")


@pytest.mark.parametrize("frame", [None, 3, {"a": [1], "b": [0.1], "y": [1]}])
def test_what_is_no_frame_is_named(frame):
    with pytest.raises(CbocError, match="from_frame reads a pandas DataFrame, but got"):
        Dataset.from_frame(frame, PLAIN, direction="maximise")


@pytest.mark.parametrize("y", ["1_000", True, 10**400])
def test_an_outcome_of_a_frame_is_a_number(y):
    frame = pd.DataFrame({"a": [1], "b": [0.1], "y": pd.Series([y], dtype=object)})
    with pytest.raises(CbocError, match="the frame, row 0, column y: expected a finite number, but found"):
        Dataset.from_frame(frame, PLAIN, direction="maximise")


def test_a_missing_outcome_of_a_frame_is_a_failure_only_if_it_says_so():
    y = pd.array([5, None, None], dtype="Int64")
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [0.1, 0.2, 0.3], "y": y, "note": ["x", None, None]})
    with pytest.raises(CbocError) as caught:
        Dataset.from_frame(frame, PLAIN, direction="maximise")
    assert str(caught.value) == (
        "the frame: 2 rows have no outcome in column 'y', and no status: row 1 and row 2. Drop what was not run, and "
        "write failed into a column status where an experiment failed."
    )
    data = Dataset.from_frame(frame.assign(status=[None, "failed", "failed"]), PLAIN, direction="maximise")
    assert data == Dataset([[0.1, 0.1]], [5], failures=[[0.2, 0.2], [0.3, 0.3]])


def test_of_many_missing_outcomes_the_first_are_named(tmp_path):
    path = csv(tmp_path, "a,b,y\n" + "1,0.5,\n" * 30)
    with pytest.raises(CbocError, match=r"30 rows have no outcome .*: line 2, line 3, .*line 9 and 22 more\. Drop"):
        Dataset.from_csv(path, PLAIN, direction="maximise")


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("SEM", "column 'SEM' would not be read, and may be the standard error; call it 'sem', or take it out"),
        ("Std. Err.", "column 'Std. Err.' would not be read, and may be the standard error"),
        ("Status", "column 'Status' would not be read, and may be the status; call it 'status', or take it out"),
        ("statu", "column 'statu' would not be read; did you mean 'status'. If not, take it out"),
        ("sen", "column 'sen' would not be read; did you mean 'sem'. If not, take it out"),
        ("stdev", "column 'stdev' would not be read: a standard deviation is not a standard error"),
    ],
)
def test_a_standard_error_or_a_status_is_never_ignored_in_silence(tmp_path, column, said):
    with pytest.raises(CbocError, match=f"line 1: {said}"):
        Dataset.from_csv(csv(tmp_path, f"a,b,y,{column}\n1,0.5,2,\n"), PLAIN, direction="maximise")
    with pytest.raises(CbocError, match=f"the frame: {said}"):
        Dataset.from_frame(pd.DataFrame({"a": [1], "b": [0.5], "y": [2], column: [None]}), PLAIN, direction="maximise")
    with pytest.raises(CbocError, match=f"line 1: {said}"):
        worksheet.read_text(f"trial,a,b,y,{column}\n0,1,0.5,2,\n", PLAIN)
    assert worksheet.read_text("trial,a,b,y,sem,assembly,se of a\n0,1,0.5,2,0.1,x,\n", PLAIN)[0].measured.sem == 0.1


@pytest.mark.parametrize("line", [1, 3])
def test_a_cell_without_an_end_is_named_with_its_line(tmp_path, line):
    lines = ["a,b,y", "1,0.5,1", "2,0.5,2"]
    lines[line - 1] += "0" * 140_000
    with pytest.raises(CbocError, match=rf"runs\.csv, line {line}: .*field larger than field limit"):
        Dataset.from_csv(csv(tmp_path, "\n".join(lines)), PLAIN, direction="maximise")


def test_a_mistake_in_a_frame_is_named_with_its_row():
    frame = pd.DataFrame({"a": [1, 99], "b": [0.1, 0.2], "y": [1, 2]})
    with pytest.raises(CbocError, match="the frame, row 1, column a: expected a number from 0 to 10, but got 99"):
        Dataset.from_frame(frame, PLAIN, direction="maximise")
    with pytest.raises(CbocError, match="the frame: column 'y' is missing; known: a, b, z"):
        Dataset.from_frame(frame.rename(columns={"y": "z"}), PLAIN, direction="maximise")
    with pytest.raises(CbocError, match="the frame, row 0, column y: expected a finite number, but found 'high'"):
        Dataset.from_frame(frame.assign(y="high"), PLAIN, direction="maximise")


def test_without_pandas_the_extra_to_install_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        CbocError, match=r"to_frame needs pandas, which is not installed; .*: pip install '.\[pandas\]'."
    ):
        Dataset.empty(2).to_frame(PLAIN)
