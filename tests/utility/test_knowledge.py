import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cboc.surrogate.fitting import Model, build
from cboc.surrogate.transforms import raw
from cboc.utility.knowledge import KnowledgeGradient, envelope
from cboc.utility.normal import phi

GRID = np.linspace(-12.0, 12.0, 48_001)
quick = settings(deadline=None, max_examples=60)


def surrogate(noise=0.05, dimension=2):
    X = np.random.default_rng(0).random((9, dimension))
    return build(X, np.sin(6.0 * X).sum(axis=1), np.log([*np.full(dimension, 0.4), noise]), Model(transform=raw))


def expected_maximum(a, b):
    """E max_i (a_i + b_i Z) by the trapezium rule."""
    return np.trapezoid((a + b * GRID[:, None]).max(axis=1) * phi(GRID), GRID)


# The upper envelope of lines


def lines():
    """Coarse numbers, so that ties, equal slopes and equal lines are common."""
    return st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=12)


@quick
@given(lines=lines())
def test_envelope_of_coarse_lines(lines):
    a, b = np.array(lines, dtype=float).T / 2.0
    lead, weight, tilt = envelope(a, b)
    assert weight @ a[lead] + tilt @ b[lead] == pytest.approx(expected_maximum(a, b), abs=1e-6)
    assert weight.sum() == pytest.approx(1.0) and (np.diff(b[lead]) > 0.0).all()


@quick
@given(seed=st.integers(0, 10**6), n=st.integers(1, 60), spread=st.sampled_from([1e-9, 1e-3, 1.0]))
def test_envelope_of_any_lines(seed, n, spread):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal(n), spread * rng.standard_normal(n)
    lead, weight, tilt = envelope(a, b)
    assert weight @ a[lead] + tilt @ b[lead] == pytest.approx(expected_maximum(a, b), abs=1e-6)


def test_two_lines_by_hand():
    """E max(0, Z) = 1/√(2π)."""
    lead, weight, tilt = envelope(np.zeros(2), np.array([1.0, 0.0]))
    assert lead == [1, 0] and weight == pytest.approx([0.5, 0.5])
    assert tilt @ np.array([0.0, 1.0]) == pytest.approx(1.0 / np.sqrt(2.0 * np.pi))


def test_parallel_and_equal_lines():
    lead, weight, _ = envelope(np.array([1.0, 2.0, 2.0, 0.0]), np.full(4, 0.3))
    assert len(lead) == 1 and lead[0] in (1, 2) and weight == pytest.approx([1.0])


# Knowledge gradient


def test_it_is_the_expected_rise_of_the_best_mean_by_brute_force_refits():
    """Every outcome of a grid is added to the data and the posterior solved anew, same hyper-parameters and mean."""
    gp = surrogate()
    utility = KnowledgeGradient.on(gp, np.random.default_rng(0))
    grid = np.linspace(-6.0, 6.0, 401)
    for x in np.random.default_rng(1).random((3, 1, 2)):
        mean, sd = (part[0] for part in gp.moments(x))
        X, points = np.vstack([gp.X, x]), np.vstack([utility.points, x])
        K = correlation(gp, X, X) + gp.noise * np.eye(len(X))
        y = mean + np.sqrt(sd**2 + gp.noise) * grid  # what may be measured
        residuals = np.vstack([np.repeat(gp.y[:, None], len(grid), axis=1), y]) - gp.mean
        means = gp.mean + correlation(gp, points, X) @ np.linalg.solve(K, residuals)
        rise = np.trapezoid(means.max(axis=0) * phi(grid), grid) - gp.moments(utility.points)[0].max()
        assert utility(x) == pytest.approx([rise], abs=1e-4)


def correlation(gp, A, B):
    return gp.kernel((((A[:, None] - B) / gp.lengthscales) ** 2).sum(axis=2))[0]


@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_gradients_are_the_derivatives(dimension):
    utility = KnowledgeGradient.on(surrogate(dimension=dimension), np.random.default_rng(0))
    X, h = np.random.default_rng(1).random((8, dimension)), 1e-6
    numeric = np.stack([(utility(X + h * e) - utility(X - h * e)) / (2 * h) for e in np.eye(dimension)], axis=1)
    value, gradient = utility.with_gradient(X)
    assert value == pytest.approx(utility(X), abs=1e-12) and gradient == pytest.approx(numeric, abs=1e-5)


def test_knowledge_is_never_worth_less_than_nothing():
    gp = surrogate()
    utility = KnowledgeGradient.on(gp, np.random.default_rng(0))
    X = np.vstack([np.random.default_rng(1).random((100, 2)), gp.X, utility.points])
    assert (utility(X) > -1e-12).all()
    assert not np.isnan(utility.log_worth(X)).any()


def test_a_measurement_drowned_in_noise_teaches_nothing():
    gp, X = surrogate(noise=1e6), np.random.default_rng(1).random((5, 2))
    assert KnowledgeGradient.on(gp, np.random.default_rng(0))(X) == pytest.approx(np.zeros(5), abs=1e-3)


def test_one_measurement_is_enough_to_start():
    gp = build(np.array([[0.5, 0.5]]), np.array([1.0]), np.log([0.3, 0.3, 0.01]), Model(transform=raw))
    value, gradient = KnowledgeGradient.on(gp, np.random.default_rng(0)).with_gradient(
        np.array([[0.5, 0.5], [0.1, 0.9]])
    )
    assert np.isfinite(value).all() and np.isfinite(gradient).all() and value[1] > value[0] >= 0.0


def test_the_finite_set_holds_the_best_mean():
    gp = surrogate()
    utility = KnowledgeGradient.on(gp, np.random.default_rng(0))
    everywhere = np.random.default_rng(2).random((20_000, 2))
    assert utility.means.max() > gp.moments(everywhere)[0].max() - 1e-3
    assert (utility.points >= 0.0).all() and (utility.points <= 1.0).all()
