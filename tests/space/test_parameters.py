import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cboc.errors import CbocError
from cboc.space.choice import Choice, nearest_points
from cboc.space.parameters import Axis, Float, Int
from cboc.space.plain import as_parameter, to_fields


def unit(*values):
    return np.array(values, dtype=float)


def test_linear_scale_is_the_straight_line_from_low_to_high():
    temperature = Float(20, 90)
    assert temperature.to_unit(55) == pytest.approx([0.5])
    assert temperature.from_unit(unit(0.5)) == 55.0


def test_log_scale_is_linear_in_the_logarithm():
    concentration = Float(0.01, 100, log=True)
    assert concentration.to_unit(1.0) == pytest.approx([0.5])
    assert concentration.from_unit(unit(0.25)) == pytest.approx(0.1)
    assert concentration.width == pytest.approx(4.0)


@pytest.mark.parametrize("number", [Float(0.1, 0.7), Float(-1e9, 3e-7), Float(1e-3, 0.7, log=True), Int(-3, 8)])
def test_ends_of_the_cube_are_exactly_the_bounds(number):
    assert number.from_unit(unit(0.0)) == number.low
    assert number.from_unit(unit(1.0)) == number.high


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(0, 1))
def test_a_float_survives_the_round_trip_to_twelve_digits(low, width, share):
    number = Float(low, low + width)
    value = low + share * (number.high - low)
    assert number.from_unit(number.to_unit(value)) == pytest.approx(value, rel=1e-12, abs=1e-12 * (abs(low) + width))


@given(st.floats(1e-6, 1e3), st.floats(1.001, 1e6), st.floats(0, 1))
def test_a_log_float_survives_the_round_trip_to_twelve_digits(low, ratio, share):
    number = Float(low, low * ratio, log=True)
    value = min(max(low * ratio**share, number.low), number.high)
    assert number.from_unit(number.to_unit(value)) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("number", "levels"),
    [
        (Int(1, 4), [1, 2, 3, 4]),
        (Int(0, 10, step=3), [0, 3, 6, 9]),
        (Float(0, 0.5, step=0.1), [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]),
        (Float(0.05, 0.3, step=0.1), [0.05, 0.15, 0.25]),
        (Float(1e-7, 3e-7, step=1e-7), [1e-7, 2e-7, 3e-7]),
    ],
)
def test_a_grid_starts_at_low_and_holds_the_decimals_people_write(number, levels):
    assert number.levels.tolist() == levels
    assert [number.from_unit(number.to_unit(level)) for level in levels] == levels


@given(st.integers(-50, 50), st.integers(1, 200), st.integers(1, 7), st.booleans())
def test_every_level_of_an_int_comes_back_exactly(low, width, step, log):
    number = Int(abs(low) + 1 if log else low, abs(low) + 1 + width + step, log=log, step=step)
    for level in number.levels:
        value = number.from_unit(number.to_unit(int(level)))
        assert value == level and type(value) is int


def test_a_value_between_levels_goes_to_the_nearest_in_the_unit_cube():
    assert Int(1, 100, log=True).from_unit(unit(0.5)) == 10
    assert Int(0, 10).from_unit(unit(0.549)) == 5
    assert Int(0, 2).from_unit(unit(0.25)) == 0  # half way: the lower one


def test_a_choice_is_one_hot():
    solvent = Choice(["water", "ethanol", "DMSO"])
    assert solvent.options == ("water", "ethanol", "DMSO")
    assert solvent.to_unit("ethanol").tolist() == [0, 1, 0]
    assert solvent.from_unit(unit(0, 0, 1)) == "DMSO"


def test_booleans_and_numbers_are_options_of_their_own_kind():
    assert Choice([False, True]).to_unit(np.bool_(True)).tolist() == [0, 1]
    assert Choice([0.5, 2]).to_unit(np.float64(0.5)).tolist() == [1, 0]
    with pytest.raises(CbocError, match="unknown option 1; known: False, True"):
        Choice([False, True]).to_unit(1)


def test_a_tie_goes_to_the_first_option_even_if_the_last_bit_disagrees():
    assert nearest_points(np.eye(3), unit(0.3, 0.1 + 0.2, 0.4 - 0.1)[None]) == [0]
    assert nearest_points(np.eye(3), unit(0.2, 0.4, 0.4)[None]) == [1]


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        (Float(0, 1), "0.25", 0.25),
        (Int(0, 9), "7", 7),
        (Int(0, 9), "7.0", 7),
        (Choice(["a", "b"]), "b", "b"),
        (Choice([False, True]), "TRUE", True),
        (Choice([1, 2.5]), "1.0", 1),
    ],
)
def test_text_is_read_as_the_value_it_means(parameter, text, value):
    assert parameter.read(text) == value


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        (Float(20, 90, unit="°C"), 95, "expected a number from 20 to 90 °C, but got 95."),
        (Float(20, 90), "hot", "expected a number from 20 to 90, but got 'hot'."),
        (Float(20, 90), True, "expected a number from 20 to 90, but got True."),
        (Float(20, 90), np.float64(math.nan), "expected a number from 20 to 90, but got nan."),
        (Float(20, 90), None, "expected a number from 20 to 90, but got None."),
        (Float(0.1, 1, log=True), -1.0, "expected a number from 0.1 to 1, but got -1.0."),
        (
            Float(0, 1, step=0.25),
            0.3,
            "expected a number from 0 to 1 in steps of 0.25, but got 0.3; the nearest is 0.25.",
        ),
        (Int(1, 8), 2.5, "expected a whole number from 1 to 8, but got 2.5; the nearest is 2."),
        (Int(1, 8), 9, "expected a whole number from 1 to 8, but got 9."),
        (Int(0, 10**6 - 1), 7.0005, "expected a whole number from 0 to 999999, but got 7.0005; the nearest is 7."),
        (Choice(["water", "ethanol"]), "watre", "unknown option 'watre'; did you mean 'water'?"),
        (Choice(["water", "ethanol"]), 3, "unknown option 3; known: water, ethanol."),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(parameter, value, message):
    with pytest.raises(CbocError) as caught:
        parameter.to_unit(value)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("parameter", "text", "message"),
    [
        (Float(0, 1), "1.234,5", "expected a number from 0 to 1, but got '1.234,5'."),
        (Int(0, 9), "x", "expected a whole number from 0 to 9, but got 'x'."),
        (Int(0, 9), "2.5", "expected a whole number from 0 to 9, but got '2.5'."),
        (Choice(["a", "b"]), "c", "unknown option 'c'; known: a, b."),
    ],
)
def test_wrong_text_is_named_with_what_is_allowed(parameter, text, message):
    with pytest.raises(CbocError) as caught:
        parameter.read(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Float(90, 20), "Float needs low < high, both finite, but got low = 90.0 and high = 20.0."),
        (
            lambda: Float(-1e308, 1e308),
            "Float needs low < high, both finite, but got low = -1e+308 and high = 1e+308.",
        ),
        (lambda: Float(0, math.inf), "high is a finite number, but got inf."),
        (lambda: Float("0", 1), "low is a finite number, but got '0'."),
        (lambda: Float(0, 1, log=True), "a log scale needs low > 0, but got low = 0.0; raise low or leave log out."),
        (lambda: Float(0, 1, log=1), "log is True or False, but got 1."),
        (lambda: Float(0, 1, step=0), "step lies between 0 and high - low = 1, but got 0.0."),
        (lambda: Float(0, 1, step=1.5), "step lies between 0 and high - low = 1, but got 1.5."),
        (lambda: Float(0, 1, unit=3), "unit is a string such as '°C', but got 3."),
        (lambda: Int(0.5, 3), "low of an Int is a whole number below 2^53, but got 0.5."),
        (
            lambda: Int(0, 10**7),
            "a grid has at most 1,000,000 levels, but a step of 1 from 0 to 10000000 makes more; "
            "use a larger step, or a Float without one.",
        ),
        (lambda: Choice("ab"), "options are a list such as ['water', 'ethanol'], but got 'ab'."),
        (lambda: Choice(["a"]), "a Choice needs at least 2 options, but got ['a']."),
        (lambda: Choice(["a", "b", "a"]), "options must differ, but 'a' is there twice."),
        (lambda: Choice([1, "1"]), "options must differ, but '1' is there twice."),
        (lambda: Choice(["a", ""]), "an option is not empty and has no space at either end, but got ''."),
        (lambda: Choice(["a", None]), "an option is a string, a finite number or a boolean, but got None."),
        (lambda: Choice([1.0, math.nan]), "an option is a string, a finite number or a boolean, but got nan."),
    ],
)
def test_a_wrong_parameter_is_refused_in_one_sentence(build, message):
    with pytest.raises(CbocError) as caught:
        build()
    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["0_1", "1_0", "nan", "inf", "1e400", "0x1", "１", "", "1 0"])
def test_a_number_in_a_cell_is_written_as_people_write_it(text):
    for parameter in (Float(0, 10), Int(0, 10), Choice([1, 10])):
        with pytest.raises(CbocError, match="expected a|unknown option"):
            parameter.read(text)


@pytest.mark.parametrize("options", [{"water", "ethanol"}, frozenset((1, 2))])
def test_options_without_an_order_are_refused(options):
    """Their order would depend on the process, and with it the meaning of every coordinate."""
    with pytest.raises(CbocError, match="options are a list such as"):
        Choice(options)


@pytest.mark.parametrize(
    "build", [lambda n: Float(0, n), lambda n: Int(0, n), lambda n: Choice([1, n]), lambda n: Float(0, 1, step=n)]
)
def test_a_number_that_no_float_holds_is_refused(build):
    with pytest.raises(CbocError, match="a finite number"):
        build(10**400)


def test_parameters_are_frozen_values():
    assert Float(20, 90) == Float(20.0, 90.0) != Int(20, 90)
    assert hash(Choice(["a", "b"])) == hash(Choice(("a", "b")))
    with pytest.raises(AttributeError):
        Float(0, 1).low = 2


def test_shorthands():
    assert as_parameter((20, 90)) == Float(20, 90)
    assert as_parameter([0.5, 1]) == Float(0.5, 1)
    assert as_parameter(["a", "b"]) == Choice(("a", "b"))
    with pytest.raises(CbocError, match=r"but got \[1, 2, 3\]; write Choice\(\[...\]\) for a list of numbers."):
        as_parameter([1, 2, 3])


@pytest.mark.parametrize(
    ("parameter", "fields"),
    [
        (Float(20, 90, unit="°C"), {"type": "float", "low": 20.0, "high": 90.0, "unit": "°C"}),
        (Float(1, 9, log=True, step=2), {"type": "float", "low": 1.0, "high": 9.0, "log": True, "step": 2.0}),
        (Int(1, 8), {"type": "int", "low": 1, "high": 8}),
        (Choice(["a", 2, True]), {"type": "choice", "options": ["a", 2, True]}),
    ],
)
def test_fields_say_what_is_not_default_and_come_back_equal(parameter, fields):
    assert to_fields(parameter) == fields
    assert as_parameter(fields) == parameter


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"low": 20, "hihg": 90}, "unknown key 'hihg' for type float; did you mean 'high'?"),
        ({"low": 20}, "type float needs 'high', which is missing."),
        ({"type": "itn", "low": 1, "high": 2}, "unknown type 'itn'; did you mean 'int'?"),
        (
            {"options": ["a", "b"], "low": 1},
            "unknown key 'low' for type choice; known: options, unit, ordered, descriptors.",
        ),
    ],
)
def test_misspelt_fields_are_refused_in_one_sentence(fields, message):
    with pytest.raises(CbocError) as caught:
        as_parameter(fields)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("parameter", "value", "text"),
    [
        (Float(20, 90), 65.318234, "65.32"),
        (Float(0, 1), 0.5, "0.500"),
        (Float(0, 10_000), 1234.5678, "1235"),
        (Float(0, 1e-6), 1.23456789e-7, "1.23457e-07"),
        (Float(1e-6, 1e3, log=True), 12.34567, "12.35"),
        (Float(1e-6, 1e6, log=True), 123456.7, "123500"),
        (Float(0, 1, step=0.1), 0.1 + 0.2, "0.3"),
        (Int(1, 12), 7, "7"),
        (Choice(["water", "dmso"]), "dmso", "dmso"),
        (Float(0.12342, 1.0), 0.12343, "0.12343"),  # 0.1234 would be outside
        (Float(1000, 1000.00002), 1000.0000056789, "1000.00000568"),
        (Float(1, 1.01, log=True), 1.0054321, "1.005432"),
        (Int(2**50, 2**50 + 9), 2**50 + 7, "1125899906842631"),
    ],
)
def test_as_many_digits_as_make_sense(parameter, value, text):
    assert parameter.shown(value) == text


@given(
    low=st.floats(-1e6, 1e6), width=st.floats(1e-3, 1e6), u=st.floats(0, 1), log=st.booleans(), scale=st.integers(-9, 9)
)
def test_what_is_shown_is_within_a_thousandth_of_the_range(low, width, u, log, scale):
    low, width = (abs(low) + 1e-3 if log else low) * 10.0**scale, width * 10.0**scale
    assume(low + 1e-5 * abs(low) < low + width)  # narrower log scales are not exact
    parameter = Float(low, low + width, log=log)
    value = parameter.from_unit(np.array([u]))
    assert abs(parameter.to_unit(float(parameter.shown(value)))[0] - parameter.to_unit(value)[0]) <= 1e-3


def test_what_is_allowed_in_words():
    assert Float(20, 90, unit="°C").allowed == "20 to 90 °C"
    assert Int(0, 10, step=5).allowed == "0 to 10 in steps of 5"
    assert Choice(["a", "b"]).allowed == ""


def test_a_parameter_describes_itself():
    heat, solvent = Float(1e-2, 1e2, log=True, unit="bar"), Choice(["water", "dmso", 3])
    assert heat.described == "0.01 to 100" and solvent.described == "water, dmso, 3"
    assert heat.axis == Axis("log", 1e-2, 1e2) and solvent.axis == Axis("options", -0.5, 2.5, ("water", "dmso", "3"))
    assert solvent.position("dmso") == 1.0 and heat.position(3) == 3.0
    assert heat.coordinates("p") == ("p",) and solvent.coordinates("s") == ("s=water", "s=dmso", "s=3")
