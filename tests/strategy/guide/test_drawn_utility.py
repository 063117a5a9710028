import numpy as np
import pytest

from cboc.search.maximise import maximise, maximise_all
from cboc.space.space import Space
from cboc.strategy.guide.density import fit_density
from cboc.strategy.guide.drawn_utility import Drawn
from cboc.surrogate.fitting import Task, fit_all
from cboc.utility.improvement import LogEI

SPACE = Space(dict.fromkeys("ab", (0, 1)))


def rng(seed=0):
    return np.random.default_rng(seed)


def surrogates(count=1, n=8):
    tasks = []
    for seed in range(count):
        X = rng(seed).random((n, 2))
        tasks.append(Task(X, np.sin(5.0 * X + seed).sum(axis=1)))
    return fit_all(tasks)


def drawn(gp, seed=0, weight=1.0, most=4.0):
    Z = np.clip(0.8 + 0.05 * rng(seed).standard_normal((6, 2)), 0.0, 1.0)
    return Drawn(LogEI(gp), fit_density(Z[0], Z[1:]), weight, most)


@pytest.mark.parametrize("most", [0.5, 4.0, 50.0])
def test_gradients_are_the_derivatives(most):
    utility = drawn(surrogates()[0], most=most)
    X, h = rng(1).random((20, 2)), 1e-6
    numeric = np.stack([(utility(X + h * e) - utility(X - h * e)) / (2 * h) for e in np.eye(2)], axis=1)
    value, gradient = utility.with_gradient(X)
    assert value == pytest.approx(utility(X)) and gradient == pytest.approx(numeric, rel=1e-4, abs=1e-4)


def test_without_a_bound_the_bonus_is_the_log_ratio():
    utility, X = drawn(surrogates()[0], weight=0.7, most=1e6), rng(3).random((50, 2))
    assert utility.bonus(X) == pytest.approx(0.7 * utility.where.log_ratio(X))


def test_the_bonus_is_between_nothing_and_the_most():
    utility, X = drawn(surrogates()[0], most=2.0), rng(1).random((500, 2))
    bonus = utility.bonus(X)
    assert (bonus >= 0.0).all() and (bonus < 2.0).all()
    assert utility(X) == pytest.approx(utility.base(X) + bonus)
    assert utility.bonus(np.array([[0.8, 0.8]])) > 1.5 > 0.1 > utility.bonus(np.array([[0.1, 0.1]]))


def test_the_worth_is_that_of_the_utility_alone():
    utility, X = drawn(surrogates()[0]), rng(1).random((5, 2))
    assert (utility.log_worth(X) == utility.base.log_worth(X)).all()


@pytest.mark.parametrize("most", [0.1, 1.0, 4.0])
def test_a_drawn_design_has_its_share_of_the_largest_utility(most):
    for k, gp in enumerate(surrogates(5)):
        utility = drawn(gp, most=most)
        x, _ = maximise(utility, SPACE, rng(k))
        _, largest = maximise(utility.base, SPACE, rng(k))
        assert utility.base(x[None])[0] >= largest - most - 1e-2


def test_sites_are_drawn_together_with_the_same_bits_as_alone():
    utilities = [drawn(gp, seed, weight=1.0 + seed) for seed, gp in enumerate(surrogates(6))]
    together = maximise_all(utilities, SPACE, [rng(k) for k in range(6)])
    for k, (x, value) in enumerate(together):
        alone = maximise(utilities[k], SPACE, rng(k))
        assert (x == alone[0]).all() and value == alone[1]
