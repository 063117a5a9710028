"""The expected outcome is in the outcome's own units, and its interval holds what is measured."""

import numpy as np
import pytest

from cboc import Choice, Float, Ledger, Policy, Site, Space, Study
from cboc.insight import Learned
from cboc.insight.surface import Expectation, rounded

MIXED = Space({"T": Float(20, 90, unit="°C"), "c": Float(0.01, 1, log=True), "solvent": Choice(["water", "dmso"])})


def told(space, function, count, *, direction="maximise", noise=0.0, failing=(), seed=0):
    """A site that has run so many initial designs."""
    study = Study(space, ("lab",), 100, rule="identity")
    site = Site(study, "lab", Ledger(study), direction=direction, policy=Policy(initial=count, seed=seed))
    rng = np.random.default_rng(seed)
    for _ in range(count):
        trial = site.ask()
        if trial.number in failing:
            site.fail(trial)
        else:
            site.tell(trial, function(trial.design(space)) + noise * rng.standard_normal())
    return site


def yields(design):
    return 0.8 - ((design["T"] - 60) / 60) ** 2 + 0.05 * np.log10(design["c"]) - 0.2 * (design["solvent"] == "dmso")


def test_intervals_hold_the_outcomes_of_new_experiments():
    site = told(MIXED, yields, 12, noise=0.02)
    learned, rng = Learned.of(site), np.random.default_rng(1)
    X = MIXED.sample(200, rng)
    expected = learned.surface.expected(X)
    y = np.array([yields(MIXED.from_unit(x)) for x in X]) + 0.02 * rng.standard_normal(200)
    inside = np.mean((expected.low <= y) & (y <= expected.high))
    assert 0.9 < inside <= 1.0
    assert (expected.low <= expected.middle).all() and (expected.middle <= expected.high).all()


@pytest.mark.parametrize("factor", [1.0, 1e6, 1e-6])
def test_what_is_expected_follows_the_unit_and_the_direction(factor):
    up = Learned.of(told(MIXED, yields, 10))
    down = Learned.of(told(MIXED, lambda x: -factor * yields(x), 10, direction="minimise"))
    X = MIXED.sample(20, np.random.default_rng(0))
    one, other = up.surface.expected(X), down.surface.expected(X)
    assert other.low == pytest.approx(-factor * one.high)
    assert other.middle == pytest.approx(-factor * one.middle)
    assert other.high == pytest.approx(-factor * one.low)


def test_noise_widens_an_experiment_and_not_its_mean():
    surface = Learned.of(told(MIXED, yields, 20, noise=0.1)).surface
    X = MIXED.sample(50, np.random.default_rng(0))
    one, mean = surface.expected(X), surface.expected(X, is_measured=False)
    assert (one.high - one.low > mean.high - mean.low).all()
    assert one.middle == pytest.approx(mean.middle)


def test_a_known_outcome_is_expected_again():
    learned = Learned.of(told(MIXED, yields, 30))
    best = learned.surface.dataset.best
    assert learned.expected(best.x).holds(best.y)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.6234, 0.8121, ("0.62", "0.81")),
        (1240.4, 1309.7, ("1240", "1310")),
        (-0.004, 2.51, ("0.0", "2.5")),
        (12.3456, 12.3478, ("12.3456", "12.3478")),
        (1.5e-7, 3.5e-7, ("1.5e-07", "3.5e-07")),
        (1210000.0, 1340000.0, ("1210000", "1340000")),
        (2.1e9, 4.4e9, ("2.1e+09", "4.4e+09")),
        (1.5, 1.5, ("1.5", "1.5")),
    ],
)
def test_numbers_have_the_digits_that_tell_them_apart(low, high, said):
    assert rounded(low, high) == said
    assert str(Expectation(low, low, high)) == " to ".join(said)
