"""Intervals that mean what they say: measured on functions drawn from the prior."""

import numpy as np
import pytest
from scipy.special import stdtrit

from cboc.surrogate.fitting import Model, build, fit
from cboc.surrogate.kernels import matern52
from cboc.surrogate.plausible import Plausible, leave_one_out
from cboc.surrogate.priors import along_the_diagonal
from cboc.surrogate.transforms import Linear, raw


def drawn(rng, n, dimension, noise, questions=20):
    """Designs and outcomes of a function drawn from the prior, and more of the same to ask about."""
    prior = along_the_diagonal(dimension)
    sides = np.exp(prior.location + prior.scale * rng.standard_normal(dimension))
    X = rng.random((n + questions, dimension))
    K = matern52((((X[:, None] - X) / sides) ** 2).sum(axis=2))[0]
    f = np.linalg.cholesky(K + 1e-9 * np.eye(len(X))) @ rng.standard_normal(len(X))
    y = f + np.sqrt(noise) * rng.standard_normal(len(X))
    return X[:n], y[:n], X[n:], y[n:]


def example(n=12, dimension=2, seed=0):
    rng = np.random.default_rng(seed)
    X, y, Q, _ = drawn(rng, n, dimension, 1e-2)
    return fit(X, y), Q


def test_intervals_hold_new_outcomes_where_those_of_one_fit_do_not():
    rng, plain, honest = np.random.default_rng(5), [], []
    for n in (4, 8, 16) * 20:
        X, y, Q, z = drawn(rng, n, 1 + n % 3, 1e-2)
        gp = fit(X, y)
        w = gp.transform.forward(z)
        mean, sd = gp.moments(Q)
        plain += list(np.abs(w - mean) < 1.96 * np.sqrt(sd**2 + gp.noise))
        some = Plausible.around(gp)
        mean, sd = some.moments(Q)
        honest += list(np.abs(w - mean) < stdtrit(n - 1, 0.975) * np.sqrt(sd**2 + some.noise))
    assert np.mean(plain) < 0.85
    assert 0.91 < np.mean(honest) < 0.98


def test_leave_one_out_is_the_surrogate_of_the_others_with_the_same_hyper_parameters():
    """Brute force: the mean is estimated anew, without the outcome."""
    rng = np.random.default_rng(3)
    X, y = rng.random((9, 2)), rng.standard_normal(9)
    theta = np.log([0.4, 0.7, 0.02])
    model = Model(transform=raw)
    mean, sd = leave_one_out(build(X, y, theta, model))
    for i in range(9):
        others = np.arange(9) != i
        gp = build(X[others], y[others], theta, model)
        k, ones = gp.cross(X[i : i + 1]), np.ones(8)
        K = np.linalg.inv(gp.inverse_root.T @ gp.inverse_root)
        solved = np.linalg.solve(K, np.column_stack([k[0], ones]))
        unknown = (1.0 - ones @ solved[:, 0]) ** 2 / (ones @ solved[:, 1])  # of the mean
        assert mean[i] == pytest.approx(gp.moments(X[i : i + 1])[0][0])
        assert sd[i] ** 2 == pytest.approx(1.0 - k[0] @ solved[:, 0] + unknown + 0.02)


def test_the_moments_are_those_of_the_mixture():
    gp, Q = example()
    some = Plausible.around(gp, count=5)
    means = np.array([each.moments(Q)[0] for each in some.gps])
    mean, sd = some.moments(Q)
    assert mean == pytest.approx(means.mean(axis=0))
    assert (sd > means.std(axis=0)).all()


def test_the_same_data_give_the_same_surrogates():
    gp, Q = example()
    one, other = (Plausible.around(gp).moments(Q) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_many_outcomes_leave_little_doubt_and_few_much():
    spreads = []
    for n in (4, 60):
        gp, _ = example(n)
        spreads.append(np.log([each.lengthscales for each in Plausible.around(gp).gps]).std(axis=0).mean())
    assert spreads[0] > 2 * spreads[1]


def test_standard_errors_that_are_known_stay_what_they_are():
    rng = np.random.default_rng(0)
    X, y = rng.random((8, 1)), rng.standard_normal(8)
    gp = fit(X, y, sem=np.full(8, 0.3), model=Model(transform=lambda _: Linear()))
    some = Plausible.around(gp)
    assert all(each.noises == pytest.approx(np.full(8, 0.09)) for each in some.gps)
    assert some.noise == pytest.approx(0.09)
