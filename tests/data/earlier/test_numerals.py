"""A number means one thing, or somebody is asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cboc.data.earlier.answers import Answers
from cboc.data.earlier.numerals import Numerals, Texts, numerals_of


def read(*texts, beside=(), unit="", is_outcome=True, **said):
    """The numbers of a column, and the names of what is asked; `beside` is another column."""
    columns = {"this": Texts(list(texts), unit, is_outcome), "that": Texts(list(beside), "", True)}
    found, _, questions = numerals_of(columns, Answers(**said))
    return [found["this"].read(text) for text in texts], [question.name for question in questions]


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["0.5", "1.234", "12"], [0.5, 1.234, 12]),
        (["0,5", "1,234", "12"], [0.5, 1.234, 12]),
        (["1,234.5", "1,234"], [1234.5, 1234]),
        (["1.234,5", "1.234"], [1234.5, 1234]),
        (["1,234,567", "5"], [1234567, 5]),
        (["1.234.567", "0,5"], [1234567, 0.5]),
        (["1 234,5", "12 345"], [1234.5, 12345]),
        (["1'234.50", "12’345.5"], [1234.5, 12345.5]),
        (["1.234"], [1.234]),
        (["0,123", "0.5"], [0.123, 0.5]),
        (["−0.5", "+5", "- 5", "5."], [-0.5, 5, -5, 5]),
        (["1e-3", "1,5E+03", "2.5e3"], [0.001, 1500, 2500]),
        (["'5", ".5", ",5"], [5, 0.5, 0.5]),
        (["12,34,567", "1.2.3", "1,2.3,4", "1 23", "12 34,5", "1,23.4"], [None] * 6),
        (["5 g", "5 g/L", "e5", "5e", "10²", "½", "٣", "1e999", "0x1F", "--5", "nan", "inf"], [None] * 12),
    ],
)
def test_what_numbers_mean_by_the_others_of_their_column(texts, numbers):
    assert read(*texts) == (numbers, [])


@pytest.mark.parametrize(
    ("texts", "beside", "comma", "point"),
    [
        (["1,234"], [], 1.234, 1234),
        (["1,234", "2.5"], [], 1.234, 1234),
        (["1,234", "0.5", "0,5"], [], 1.234, 1234),
        (["1,234"], ["0,5", "0.5"], 1.234, 1234),
        (["1.234", "0,5"], [], 1234, 1.234),
        (["1.234"], ["0,5"], 1234, 1.234),
    ],
)
def test_what_may_mean_two_things_is_asked_about_and_not_guessed(texts, beside, comma, point):
    numbers, asked = read(*texts, beside=beside)
    assert numbers[0] is None and asked == ["decimal"]
    assert read(*texts, beside=beside, decimal="comma")[0][0] == comma
    assert read(*texts, beside=beside, decimal="point") == ([point, *read(*texts, beside=beside)[0][1:]], [])


def test_another_column_may_say_that_commas_are_decimal():
    assert read("1,234", beside=["0,5"]) == ([1.234], [])
    assert read("1.234", "0.5", beside=["0,5"]) == ([1.234, 0.5], [])


def test_a_unit_behind_a_number_is_that_of_the_column_or_it_is_no_number():
    assert read("65 °C", "65degC", "65 K", unit="°C")[0] == [65, 65, None]


def test_per_cent():
    assert read("83 %", "85%") == ([83, 85], [])
    assert read("83 %", "85", unit="%") == ([83, 85], [])
    assert read("83 %", "85")[1] == ["percent"] and read("83 %", unit="g")[1] == ["percent"]
    assert read("83 %", is_outcome=False)[1] == ["percent"]
    assert read("83 %", "0.85", percent="fraction") == ([0.83, 0.85], [])
    assert read("83 %", "85", percent="written") == ([83, 85], [])


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_writes_is_read_as_it_was_written(number):
    assert Numerals().read(repr(number)) == number


@given(st.floats(0.01, 1e9), st.sampled_from([",.", ".,", " .", " ,", "'.", "’,"]))
def test_grouped_numbers_are_read_in_every_style(number, style):
    written = f"{number:,.2f}".translate({ord(","): style[0], ord("."): style[1]})
    assert read(written) == ([round(number, 2)], [])


@given(st.text(alphabet="0123456789.,' e+-%", max_size=12), st.sampled_from(["", "comma", "point"]))
def test_a_text_is_a_number_or_none_or_a_question(text, decimal):
    numbers, asked = read(text, decimal=decimal)
    assert numbers[0] is None or isinstance(numbers[0], float)
    assert not (asked and decimal and "%" not in text)
