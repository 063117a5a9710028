import pytest
from hypothesis import given
from hypothesis import strategies as st

from cboc.errors import CbocError
from cboc.space.constraints import parse


@pytest.mark.parametrize(
    ("text", "coefficients", "relation", "bound"),
    [
        ("a + b <= 1", {"a": 1, "b": 1}, "<=", 1),
        ("a+b<=1", {"a": 1, "b": 1}, "<=", 1),
        ("x1 + x2 + x3 == 1", {"x1": 1, "x2": 1, "x3": 1}, "==", 1),
        ("x1 = 1", {"x1": 1}, "==", 1),
        ("2*a - 0.5 b >= 3", {"a": -2, "b": 0.5}, "<=", -3),
        ("a <= b", {"a": 1, "b": -1}, "<=", 0),
        ("3 >= a + b", {"a": 1, "b": 1}, "<=", 3),
        ("a < b", {"a": 1, "b": -1}, "<=", 0),
        ("a > 1e-3", {"a": -1}, "<=", -1e-3),
        ("2a + 3 <= 1.5e2 - b + 1", {"a": 2, "b": 1}, "<=", 148),
        ("a/4 - -b <= .5", {"a": 0.25, "b": 1}, "<=", 0.5),
        ("2 (a - 3 b) <= a * 2 + (1 + 2) * 4", {"b": -6}, "<=", 12),
        ("-a <= 0", {"a": -1}, "<=", 0),
        ("2 e + 2e1 <= 40", {"e": 2}, "<=", 20),
        ("größe_1 <= 2", {"größe_1": 1}, "<=", 2),
    ],
)
def test_a_constraint_means_what_it_says(text, coefficients, relation, bound):
    constraint = parse(text)
    assert constraint.coefficients == pytest.approx(coefficients)
    assert (constraint.relation, constraint.text) == (relation, text)
    assert constraint.bound == pytest.approx(bound)


NUMBERS = st.floats(1e-9, 1e9)


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.sampled_from(["*", " * ", " ", ""]))
def test_both_sides_are_subtracted_term_by_term(p, q, r, s, left, right, times):
    constraint = parse(f"{p}{times}a - {q}{times}b + {left} <= {r}{times}a + {s}{times}c + {right}")
    assert constraint.coefficients == {**({"a": p - r} if p != r else {}), "b": -q, "c": -s}
    assert constraint.bound == right - left


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a*b <= 1", "constraint 'a*b <= 1': constraints are linear, but found a times b at column 2."),
        ("a b <= 1", "constraint 'a b <= 1': constraints are linear, but found a times b at column 3."),
        ("1/a <= 1", "constraint '1/a <= 1': constraints are linear, but found a division by a at column 2."),
        ("a**2 <= 1", "constraint 'a**2 <= 1': constraints are linear, but found '**' at column 2."),
        ("a ^ 2 <= 1", "constraint 'a ^ 2 <= 1': constraints are linear, but found '^' at column 3."),
        ("a/0 <= 1", "constraint 'a/0 <= 1': expected a divisor other than 0, but found '/' at column 2."),
        ("a + <= 1", "constraint 'a + <= 1': expected a number or a name, but found '<=' at column 5."),
        ("a + b", "constraint 'a + b': expected <=, >= or ==, but found the end at column 6."),
        ("a <= ", "constraint 'a <= ': expected a number or a name, but found the end at column 6."),
        ("a != 1", "constraint 'a != 1': expected <=, >= or ==, but found '!' at column 3."),
        ("a <= 0,5", "constraint 'a <= 0,5': expected the end, but found ',' at column 7."),
        ("a <= 1 000", "constraint 'a <= 1 000': expected the end, but found '000' at column 8."),
        ("(a + b <= 1", "constraint '(a + b <= 1': expected ')', but found '<=' at column 8."),
        (
            "0 <= a <= 1",
            "constraint '0 <= a <= 1': expected one relation per constraint, but found a second '<=' at column 8.",
        ),
        ("1 <= 2", "constraint '1 <= 2' holds no parameter; name at least one, as in 'a + b <= 1'."),
        ("a - a <= 2", "constraint 'a - a <= 2' holds no parameter; name at least one, as in 'a + b <= 1'."),
        (3, "a constraint is a string such as 'a + b <= 1', but got 3."),
        ("a <= 1e400", "constraint 'a <= 1e400' holds a number that is too large; choose another unit."),
        ("1e400*a <= 1", "constraint '1e400*a <= 1' holds a number that is too large; choose another unit."),
        ("a/1e-320 <= 1", "constraint 'a/1e-320 <= 1' holds a number that is too large; choose another unit."),
        ("(" * 3000, "a constraint has at most 50 brackets and signs within each other; this has more."),
        ("-" * 3000 + "a <= 1", "a constraint has at most 50 brackets and signs within each other; this has more."),
    ],
)
def test_a_mistake_is_named_with_its_place(text, message):
    with pytest.raises(CbocError) as caught:
        parse(text)
    assert str(caught.value) == message


def test_as_many_brackets_as_anybody_needs():
    assert parse("(" * 40 + "a" + ")" * 40 + " <= 1").coefficients == {"a": 1.0}
