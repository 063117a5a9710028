"""Frames of pandas and polars are tables as files are."""

from datetime import datetime

import numpy as np
import pandas as pd
import pytest

import cboc
from cboc.data.earlier.preview import preview
from cboc.errors import CbocError
from cboc.space.choice import Choice
from cboc.space.space import Space

SPACE = Space({"a": (0, 10), "b": (0, 1)})


def outcomes(seen):
    return [each.row.y for each in seen.taken]


def test_a_missing_outcome_is_asked_about_with_its_rows():
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": 0.5, "y": [5, np.nan, 6, None], "SEM": [0.1, None, None, None]})
    seen = cboc.preview(frame, SPACE)
    assert [question.name for question in seen.questions] == ["empty"]
    assert "2 rows have no outcome (row 1 and row 3): failed, or not run?" in str(seen)
    assert outcomes(preview(frame, SPACE, empty="drop")) == [5, 6]
    assert outcomes(preview(frame, SPACE, empty="failed")) == [5, None, 6, None]


def test_all_kinds_of_cells():
    space = Space({"a": (0, 10), "kit": Choice([True, False])})
    frame = pd.DataFrame(
        {
            "kit": [True, False, "true", None, True, True],
            "A": pd.array([1, 2, 3, 4, None, 6], dtype="Int64"),
            "y": [1, np.float32(0.5), "2,5", 3, 4, np.inf],
            "when": pd.to_datetime("2024-05-01"),
            "tag": pd.Categorical(["x"] * 6),
        }
    )
    seen = preview(frame, space)
    assert outcomes(seen) == [1, 0.5, 2.5] and seen.is_settled
    assert {each.place: each.reason for each in seen.left_out} == {
        "row 3": "kit: there is no value.",
        "row 4": "a: there is no value.",
        "row 5": "the outcome: 'inf' is no number.",
    }
    assert {column.name: column.use for column in seen.columns} == {
        "kit": "kit", "A": "a", "y": "y", "when": "time", "tag": "ignore",
    }  # fmt: skip


def test_an_index_with_a_name_is_a_column_and_one_without_is_none():
    frame = pd.DataFrame({"b": [0.5, 0.25], "y": [1, 2]}, index=pd.Index([3, 4], name="a"))
    assert [SPACE.from_unit(each.row.x)["a"] for each in preview(frame, SPACE).taken] == [3, 4]
    assert "No column is called 'a'" in str(preview(frame.rename_axis(None), SPACE))


def test_names_that_are_there_twice_and_names_of_two_levels():
    twice = pd.DataFrame([[1, 0.5, 2, 3]], columns=["a", "b", "y", "y"])
    assert [column.name for column in preview(twice, SPACE).columns] == ["a", "b", "y", "y (2)"]
    levels = pd.DataFrame([[1, 0.5, 2]], columns=pd.MultiIndex.from_tuples([("a", ""), ("b", ""), ("Yield", "%")]))
    assert [column.use for column in preview(levels, SPACE, columns={"Yield %": "y"}).columns] == ["a", "b", "y"]


def test_a_frame_without_rows_and_one_without_columns():
    with pytest.raises(CbocError, match="the frame: no row can be taken; below the names: there are no rows"):
        preview(pd.DataFrame({"a": [], "b": [], "y": []}), SPACE).dataset("maximise")
    with pytest.raises(CbocError, match="the frame has nothing in it"):
        preview(pd.DataFrame(), SPACE)


def test_a_frame_of_polars_is_read_alike():
    polars = pytest.importorskip("polars")
    columns = {"a": [1, 2, 3], "b": [0.5, 0.5, 0.5], "y": [5.0, None, float("nan")], "when": [datetime(2024, 5, 1)] * 3}
    seen, other = preview(polars.DataFrame(columns), SPACE), preview(pd.DataFrame(columns), SPACE)
    assert seen.questions == other.questions and outcomes(seen) == outcomes(other)


def test_a_frame_in_place_of_a_dataset_is_told_how_to_become_one():
    study = cboc.Study(SPACE, ["x"], 3)
    frame = pd.DataFrame({"a": [1, 2], "b": 0.5, "y": [5.0, np.nan]})
    with pytest.raises(CbocError, match="a site's data is a Dataset; Dataset.from_frame and cboc.preview") as told:
        cboc.Site(study, "x", cboc.Ledger(study), direction="maximise", data=frame)
    assert "\n" not in str(told.value)
    with pytest.raises(CbocError, match="a site's data is a Dataset"):
        cboc.simulate(study, {"x": lambda design: design["a"]}, direction="maximise", data={"x": frame})
    data = cboc.preview(frame, SPACE, empty="drop").dataset("maximise")
    assert cboc.Site(study, "x", cboc.Ledger(study), direction="maximise", data=data).data.y.tolist() == [5]
