import pytest
from hypothesis import given
from hypothesis import strategies as st

from cboc import CbocError, ExperimentFailed
from cboc.experiment.readout import Readout, Readouts


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.83", 0.83),
        ("step 1: 5.0\nstep 2: 4.5 mol/min\n", 4.5),
        ("the yield is -.5.", -0.5),
        ("Y = +1.5D+03", 1500.0),  # as Fortran writes
        ("7 cells, done by v2", 7.0),  # v2 is a word
        ("25°C", 25.0),
        ("y = [0.5, 0.25]\nbye", 0.25),
    ],
)
def test_the_last_number_counts(text, number):
    assert Readout()(text) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_as_python_writes_it_is_read_as_it_is(number):
    assert Readout()(f"x1 = {number!r}\n") == number


@pytest.mark.parametrize(
    ("readout", "text", "number"),
    [
        (Readout(r"^yield +(\S+)"), "yield 0.1 (first)\n yield 7\nyield 0.2 after 300 s\n", 0.2),
        (Readout(key="y"), '{"y": 3, "z": 4}', 3.0),
        (Readout(key="results.yield"), '{"results": {"yield": 0.5}}', 0.5),
    ],
)
def test_a_pattern_or_a_key_finds_it(readout, text, number):
    assert readout(text) == number


@pytest.mark.parametrize(
    ("readout", "text", "reason"),
    [
        (Readout(), "it converged", "no number"),
        (Readout(), "first 0.5, then NaN", "its number is nan"),
        (Readout(), "-inf", "its number is -inf"),
        (Readout(), "product 13.264mol/min", "'13.264mol' is not a plain number; use a pattern or a key to say where"),
        (Readout(), "1.3264e-05mol", "is not a plain number"),
        (Readout(), "1.5-103", "is not a plain number"),  # as Fortran writes what is too small
        (Readout(), "0.5 13,264", "'13,264' is not a plain number"),
        (Readout(), "yield 0.5 at 12:30:01", "'12:30:01' is not a plain number"),
        (Readout(), "0x1F", "is not a plain number"),
        (Readout(r"yield (\S+)?"), "yield ", "'' is not a plain number"),
        (Readout(r"yield (\S+)"), "product 0.5", r"nothing in its output matches 'yield \(\\S\+\)'"),
        (Readout(r"yield (\S+)"), "yield much", "'much' is not a plain number"),
        (Readout(r"yield (\S+)"), "yield nan", "its number is nan"),
        (Readout(key="y"), "0.5 y", "is not JSON"),
        (Readout(key="a.y"), '{"a": {"x": 1}}', "no key 'a.y'"),
        (Readout(key="a.y"), '{"a": 1}', "no key 'a.y'"),
        (Readout(key="y"), '{"y": "much"}', '"much", which is not a number'),
        (Readout(key="y"), '{"y": true}', "true, which is not a number"),
        (Readout(key="y"), '{"y": NaN}', "its number is nan"),
    ],
)
def test_without_a_finite_number_the_experiment_has_failed(readout, text, reason):
    with pytest.raises(ExperimentFailed, match=reason):
        readout(text)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"pattern": r"yield \S+"}, "a pattern has one group, in parentheses, around the number; .* has 0"),
        ({"pattern": r"(yield) (\S+)"}, "has 2"),
        ({"pattern": r"yield (\S+"}, "is not a regular expression"),
        ({"pattern": r"(\S+)", "key": "y"}, "by a pattern or by a key; leave one of them out"),
    ],
)
def test_a_mistake_is_one_sentence(settings, sentence):
    with pytest.raises(CbocError, match=sentence):
        Readout(**settings)


def test_several_outcomes_are_found_by_their_names():
    text = '{"yield": 83.5, "inner": {"cost": 12}}'
    assert Readouts.of(None, {"yield": "yield", "cost": "inner.cost"})(text) == {"yield": 83.5, "cost": 12.0}
    said = "yield = 80\nyield = 83.5\nimpurity: 3.1 %"
    patterns = {"yield": r"yield = (\S+)", "impurity": r"impurity: (\S+)"}
    assert Readouts.of(patterns, None)(said) == {"yield": 83.5, "impurity": 3.1}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"yield": 83.5}', "it gave no 'cost': its output has no key 'cost'"),
        ('{"yield": 83.5, "cost": "much"}', "it gave no 'cost': at key 'cost'"),
        ('{"yield": 83.5, "cost": NaN}', "it gave no 'cost': its number is nan"),
    ],
)
def test_an_outcome_that_is_missing_is_named(text, reason):
    with pytest.raises(ExperimentFailed, match=reason):
        Readouts.of(None, {"yield": "yield", "cost": "cost"})(text)


def test_readouts_that_do_not_say_of_what_are_refused():
    with pytest.raises(CbocError, match="every pattern has the name of its outcome"):
        Readouts.of("yield = (.*)", {"cost": "cost"})
    with pytest.raises(CbocError, match="'cost': a number is found by a pattern or by a key"):
        Readouts.of({"cost": "cost = (.*)"}, {"cost": "cost"})
