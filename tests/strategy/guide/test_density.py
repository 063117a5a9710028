import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.stats import norm

from cboc.strategy.guide.background import Box
from cboc.strategy.guide.density import DOUBTS, WIDTHS, OptimumDensity, fit_density


def rng(seed=0):
    return np.random.default_rng(seed)


def density(where, x):
    """p(x), by its definition."""
    bumps = []
    for z in where.centres:
        inside = norm.cdf((1.0 - z) / where.width) - norm.cdf(-z / where.width)
        bumps.append(np.prod(norm.pdf(x, z, where.width) / inside))
    return where.doubt + (1.0 - where.doubt) * np.mean(bumps)


def test_bumps_are_normalised_in_the_cube():
    z, width = np.array([[0.1, 0.95]]), 0.2
    total, _ = dblquad(lambda a, b: np.exp(-0.5 * ((a - 0.1) ** 2 + (b - 0.95) ** 2) / width**2), 0, 1, 0, 1)
    assert Box().log_masses(z, np.array([width]))[0] == pytest.approx([np.log(total)])


@pytest.mark.parametrize("dimension", [1, 2, 6])
def test_best_designs_that_lie_together_are_found(dimension):
    centre = rng(1).uniform(0.2, 0.8, dimension)
    Z = np.clip(centre + 0.05 * rng(2).standard_normal((10, dimension)), 0.0, 1.0)
    where = fit_density(Z[0], Z[1:])
    assert where is not None and where.log_odds > 2.0 * dimension and where.doubt <= 0.1
    assert 0.03 <= where.width <= 0.12
    assert density(where, centre) > 1.0 > density(where, 1.0 - np.round(centre))


@pytest.mark.parametrize("dimension", [1, 2, 4, 8])
def test_best_designs_that_lie_anywhere_are_little_evidence(dimension):
    found = [fit_density(Z[0], Z[1:]) for Z in (rng(seed).random((10, dimension)) for seed in range(200))]
    log_odds = np.array([0.0 if where is None else where.log_odds for where in found])
    assert (log_odds >= 2.0).mean() < 0.2
    assert np.median(log_odds) < 1.0


def test_the_fit_is_the_best_of_its_grid():
    Z = rng(3).uniform(0.3, 0.6, (6, 2))
    where = fit_density(Z[0], Z[1:])
    scores = {}
    for width in WIDTHS:
        for doubt in DOUBTS:
            others = [OptimumDensity(np.delete(Z, k, axis=0), width, doubt, 0.0) for k in range(6)]
            predicted = [density(other, z) for other, z in zip(others, Z, strict=True)]
            scores[float(width), float(doubt)] = np.log(predicted).sum() + 0.5 * np.log(doubt)
    best = max(scores, key=scores.get)
    assert (where.width, where.doubt) == best
    assert where.log_odds == pytest.approx(scores[best])


def test_two_groups_are_two_places():
    centres = np.array([[0.2, 0.2, 0.2], [0.8, 0.8, 0.8]])
    Z = np.repeat(centres, 5, axis=0) + 0.02 * rng(4).standard_normal((10, 3))
    where = fit_density(Z[0], Z[1:])
    assert density(where, centres[0]) > 10.0 and density(where, centres[1]) > 10.0
    assert density(where, np.full(3, 0.5)) < 1.0  # the mean of two peaks is a valley


def test_the_order_of_the_others_does_not_matter():
    Z = rng(5).uniform(0.4, 0.6, (7, 2))
    one, other = fit_density(Z[0], Z[1:]), fit_density(Z[0], Z[:0:-1])
    assert (one.width, one.doubt) == (other.width, other.doubt)


def test_one_other_is_enough():
    near, far = (fit_density(np.array([0.5, 0.5]), np.array([z])) for z in ([0.51, 0.5], [0.05, 0.95]))
    assert near.log_odds > 2.0 and (far is None or far.log_odds < 0.5)


def test_the_ratio_is_that_of_the_densities():
    Z = np.clip(0.6 + 0.1 * rng(3).standard_normal((6, 2)), 0.0, 1.0)
    where, X = fit_density(Z[0], Z[1:]), rng(4).random((30, 2))
    assert where.log_ratio(X) == pytest.approx([np.log(density(where, x) / where.doubt) for x in X])
    assert (where.log_ratio(X) >= 0.0).all()


def test_four_nats_are_rare_by_chance():
    random = rng(5)
    places = [random.random((K, D)) for K in (2, 3, 5, 10, 20) for D in (1, 2, 4, 8) for _ in range(60)]
    found = [fit_density(Z[0], Z[1:]) for Z in places]
    assert np.mean([where is not None and where.log_odds >= 4.0 for where in found]) < 0.03
