import pytest
from hypothesis import given
from hypothesis import strategies as st

from cboc import CbocError
from cboc.experiment.template import fill, names_in

DESIGN = {"inflow": 80.1, "stages": 3, "solvent": "water"}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("INFLOW {inflow} STAGES {stages}", "INFLOW 80.1 STAGES 3"),
        ("{inflow:10.3f}|{solvent:>6}|", "    80.100| water|"),
        ('{"flow": {inflow}, "more": {}}', '{"flow": 80.1, "more": {}}'),  # braces of the file's own
        ("mesh { cells (10 10); }", "mesh { cells (10 10); }"),
        ("{{inflow}} is {inflow}, {{a: 1}}", "{inflow} is 80.1, {a: 1}"),
    ],
)
def test_a_field_is_the_value_and_other_braces_stay(text, filled):
    assert fill(text, DESIGN) == filled


@given(st.floats(allow_nan=False))
def test_numbers_keep_all_their_digits(value):
    assert float(fill("{inflow}", {"inflow": value})) == value


def test_a_field_that_is_no_parameter_is_named():
    assert names_in("{inflow} {{other}} { }", DESIGN) == {"inflow"}
    with pytest.raises(CbocError, match=r"the field \{inflo\} is not a parameter; did you mean 'inflow'\?.*double its"):
        names_in("{inflo}", DESIGN)


def test_a_format_that_does_not_fit_is_named():
    with pytest.raises(CbocError, match=r"the field \{solvent:.3f\} cannot be filled in"):
        fill("{solvent:.3f}", DESIGN)
