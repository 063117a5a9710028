import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cboc.surrogate.algebra import cholesky, invert_root
from cboc.surrogate.fitting import PAPER, Model, build, fit
from cboc.surrogate.kernels import matern52, squared_distances, squared_exponential
from cboc.surrogate.priors import Gamma
from cboc.surrogate.transforms import raw, standardised

# SingleTaskGP of BoTorch 0.18 with ScaleKernel(MaternKernel(2.5) or RBFKernel()), its constant mean at the optimum:
# posterior mean and sd of f at GPYTORCH_Q, for lengthscales (4, 2.5), outputscale 1.7 and noise 0.05.
GPYTORCH_X = np.array([[-3.0, 1.0], [0.5, 13.0], [4.0, 7.5], [8.5, 2.0], [9.0, 11.0], [-1.0, 5.0]])
GPYTORCH_Y = np.array([1.2, -0.7, 2.5, 0.3, -1.1, 0.9])
GPYTORCH_Q = np.array([[0.0, 4.0], [5.0, 9.0], [9.5, 0.5]])
GPYTORCH = {
    matern52: (
        0.3819696783847068,
        [0.9240625155971531, 1.3669039285100484, 0.2701219191957659],
        [0.6971609690783349, 0.819358690273714, 0.8938922363548838],
    ),
    squared_exponential: (
        0.3771033075380691,
        [0.9261359437455546, 1.4450116729087679, 0.24645124750395506],
        [0.5764253423487214, 0.6509460719757019, 0.7848877017002474],
    ),
}
KERNELS = pytest.mark.parametrize("kernel", [matern52, squared_exponential], ids=lambda kernel: kernel.name)
quick = settings(deadline=None, max_examples=25)


def example(n=12, dimension=3, seed=0, noise=0.01, kernel=matern52):
    """A surrogate with given hyper-parameters, s² = 1.5, on outcomes as they are."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, dimension))
    y = np.sin(6.0 * X).sum(axis=1) + 0.1 * rng.standard_normal(n)
    theta = np.log([*np.linspace(0.3, 0.8, dimension), 1.5, noise])
    return build(X, y, theta, Model(kernel=kernel, transform=raw, outputscale=Gamma(2.0, 0.15)))


def covariance(gp, A, B):
    squared = (((A[:, None] - B) / gp.lengthscales) ** 2).sum(axis=2)
    return gp.signal * gp.kernel(squared)[0]


def textbook(gp, Q, X=None, y=None, noises=None):
    """Rasmussen and Williams (2006), eq. 2.25 and 2.26, with dense solves: mean and covariance at Q."""
    X, y, noises = (gp.X, gp.y, gp.noises) if X is None else (X, y, noises)
    K, k = covariance(gp, X, X) + np.diag(noises), covariance(gp, Q, X)
    return gp.mean + k @ np.linalg.solve(K, y - gp.mean), covariance(gp, Q, Q) - k @ np.linalg.solve(K, k.T)


def slopes(function, Q, h=1e-5):
    """Central differences (q, D) of a function (q, D) -> (q,)."""
    return np.stack([(function(Q + h * e) - function(Q - h * e)) / (2 * h) for e in np.eye(Q.shape[1])], axis=1)


# Known values


@KERNELS
def test_the_posterior_is_that_of_gpytorch(kernel):
    low, width = np.array([-5.0, 0.0]), np.array([15.0, 15.0])
    model = Model(kernel=kernel, transform=raw, outputscale=Gamma(2.0, 0.15))
    theta = np.log([4.0 / 15.0, 2.5 / 15.0, 1.7, 0.05])
    gp = build((GPYTORCH_X - low) / width, GPYTORCH_Y, theta, model)
    constant, means, sds = GPYTORCH[kernel]
    mean, sd = gp.moments((GPYTORCH_Q - low) / width)
    assert gp.mean == pytest.approx(constant, abs=1e-7)
    assert mean == pytest.approx(means, abs=1e-7) and sd == pytest.approx(sds, abs=1e-7)


def test_one_point_by_hand():
    """σ² = 1 - κ²/(1 + v²) with κ = exp(-2) at two lengthscales."""
    gp = build(
        np.array([[0.5]]), np.array([3.0]), np.log([0.1, 0.25]), Model(kernel=squared_exponential, transform=raw)
    )
    mean, sd = gp.moments(np.array([[0.7]]))
    assert mean == pytest.approx([3.0]) and sd == pytest.approx([np.sqrt(1.0 - np.exp(-4.0) / 1.25)])


def test_far_from_the_data_is_the_prior():
    gp = build(np.array([[0.0], [0.01]]), np.array([1.0, 2.0]), np.log([0.01, 1e-4]), Model(transform=raw))
    mean, sd = gp.moments(np.array([[1.0]]))
    assert mean == pytest.approx([gp.mean]) and sd == pytest.approx([1.0])


# Equivalences


@KERNELS
@quick
@given(seed=st.integers(0, 10**6), n=st.integers(1, 15), dimension=st.integers(1, 5))
def test_moments_are_the_textbook_posterior(kernel, seed, n, dimension):
    gp, Q = example(n, dimension, seed, kernel=kernel), np.random.default_rng(seed).random((6, dimension))
    mean, cov = textbook(gp, Q)
    assert gp.moments(Q)[0] == pytest.approx(mean, abs=1e-8)
    assert gp.moments(Q)[1] == pytest.approx(np.sqrt(cov.diagonal()), abs=1e-7)
    assert gp.covariance(Q, Q[:2]) == pytest.approx(cov[:, :2], abs=1e-8)


def test_the_constant_mean_is_the_best_one():
    gp = example()
    K, one = covariance(gp, gp.X, gp.X) + np.diag(gp.noises), np.ones(len(gp.X))
    assert gp.mean == pytest.approx(one @ np.linalg.solve(K, gp.y) / (one @ np.linalg.solve(K, one)))


def test_known_standard_errors_are_the_noise():
    rng = np.random.default_rng(3)
    X = rng.random((10, 2))
    y = X.sum(axis=1)
    sem = np.where(np.arange(10) % 2, 0.3, np.nan)
    gp = fit(X, y, sem=sem, model=Model(transform=standardised))
    assert gp.noises[1::2] == pytest.approx((0.3 / y.std(ddof=1)) ** 2)
    assert (gp.noises[::2] == gp.noise).all()
    mean, cov = textbook(gp, X + 0.01)
    assert gp.moments(X + 0.01)[0] == pytest.approx(mean, abs=1e-8)
    assert gp.moments(X + 0.01)[1] == pytest.approx(np.sqrt(cov.diagonal()), abs=1e-7)


@KERNELS
@quick
@given(seed=st.integers(0, 10**6), dimension=st.integers(1, 5))
def test_gradients_are_the_derivatives(kernel, seed, dimension):
    gp, Q = example(15, dimension, seed, kernel=kernel), np.random.default_rng(seed).random((5, dimension))
    mean, sd, d_mean, d_sd = gp.moments_with_gradient(Q)
    assert mean == pytest.approx(gp.moments(Q)[0], abs=1e-12) and sd == pytest.approx(gp.moments(Q)[1], abs=1e-12)
    assert d_mean == pytest.approx(slopes(lambda P: gp.moments(P)[0], Q), abs=1e-5)
    assert d_sd == pytest.approx(slopes(lambda P: gp.moments(P)[1], Q), abs=1e-5)


def test_cross_gradients_are_the_derivatives():
    gp, rng = example(), np.random.default_rng(1)
    Q, weights = rng.random((4, 3)), rng.standard_normal((12, 2))
    value, pull = gp.cross_with_gradient(Q, weights)
    assert value == pytest.approx(covariance(gp, Q, gp.X) @ weights) and gp.cross(Q) @ weights == pytest.approx(value)
    for column in range(2):
        numeric = slopes(lambda P, column=column: gp.cross(P) @ weights[:, column], Q)
        assert pull[:, column] == pytest.approx(numeric, abs=1e-5)
        assert gp.cross_with_gradient(Q, weights[:, column])[1] == pytest.approx(numeric, abs=1e-5)


def test_prior_pull_is_the_derivative():
    gp, rng = example(), np.random.default_rng(1)
    x, R, weights = rng.random((1, 3)), rng.random((7, 3)), rng.standard_normal(7)
    numeric = slopes(lambda P: covariance(gp, P, R) @ weights, x)
    assert gp.prior_pull(x, R, weights) == pytest.approx(numeric[0], abs=1e-6)


def test_leave_one_out_is_really_leaving_one_out():
    gp = example()
    left = gp.leave_one_out()
    for i in range(len(gp.X)):
        keep = np.arange(len(gp.X)) != i
        mean, cov = textbook(gp, gp.X[[i]], gp.X[keep], gp.y[keep], gp.noises[keep])
        assert left.mean[i] == pytest.approx(mean[0], abs=1e-9)
        assert left.sd[i] == pytest.approx(np.sqrt(cov[0, 0] + gp.noises[i]), abs=1e-9)  # of the measurement, not of f


def test_what_leave_one_out_says():
    left = fit(*line(), model=Model(transform=standardised)).leave_one_out()
    assert left.q2 > 0.99 and left.coverage >= 0.75
    assert left.z == pytest.approx((left.y - left.mean) / left.sd)
    assert build(np.array([[0.5]]), np.array([1.0]), np.log([0.2, 1e-3])).leave_one_out().q2 == 0.0


def line():
    X = np.linspace(0.0, 1.0, 12)[:, None]
    return X, 3.0 * X[:, 0] + 7.0


# Believing


def test_believing_keeps_the_mean_and_shrinks_the_deviation():
    gp, rng = example(), np.random.default_rng(2)
    pending, Q = rng.random((3, 3)), rng.random((40, 3))
    more = gp.believe(pending)
    assert (more.moments(Q)[0] == pytest.approx(gp.moments(Q)[0], abs=1e-12)) and len(more.X) == 15
    assert (more.moments(Q)[1] <= gp.moments(Q)[1] + 1e-12).all()
    assert (more.moments(pending)[1] < np.sqrt(gp.noise)).all(), "one measurement leaves less than its own noise"


def test_believing_is_conditioning_on_the_mean():
    gp, rng = example(), np.random.default_rng(2)
    pending, Q = rng.random((3, 3)), rng.random((5, 3))
    y = np.append(gp.y, gp.moments(pending)[0])
    mean, cov = textbook(gp, Q, np.vstack([gp.X, pending]), y, np.append(gp.noises, np.full(3, gp.noise)))
    more = gp.believe(pending)
    assert more.moments(Q)[0] == pytest.approx(mean, abs=1e-9)
    assert more.moments(Q)[1] == pytest.approx(np.sqrt(cov.diagonal()), abs=1e-8)


def test_believing_in_nothing_is_nothing():
    gp = example()
    assert gp.believe(np.empty((0, 3))) is gp


def test_believing_twice_in_the_same_design():
    gp = example(noise=1e-6)
    mean, sd = gp.believe(gp.X[[0, 0, 1]]).moments(gp.X)
    assert np.isfinite(mean).all() and (sd > 0.0).all()


# Units


def test_predictions_are_in_the_units_of_the_outcomes():
    X, y = line()
    median, sd = fit(X, y).predict(X)
    assert median == pytest.approx(y, abs=0.05) and (sd < 0.1).all()
    scaled, sd_scaled = fit(X, 1e6 * y + 1e7).predict(X)
    assert scaled == pytest.approx(1e6 * median + 1e7, rel=1e-6) and sd_scaled == pytest.approx(1e6 * sd, rel=1e-3)


# Numbers that are hard


def test_deviations_at_repeated_designs_stay_positive():
    X = np.repeat([[0.2, 0.3], [0.8, 0.1]], 50, axis=0)
    gp = build(X, np.arange(100.0), np.log([2.0, 2.0, 1e-6]), Model(transform=standardised))
    mean, sd, d_mean, d_sd = gp.moments_with_gradient(np.vstack([X[[0, 50]], [[0.5, 0.5]]]))
    assert (sd > 0.0).all() and all(np.isfinite(part).all() for part in (mean, sd, d_mean, d_sd))


def test_a_singular_matrix_gets_the_least_jitter():
    K = np.ones((30, 30))
    root = cholesky(K)
    assert root @ root.T == pytest.approx(K, abs=1e-6)


@pytest.mark.parametrize("n", [1, 5, 64, 65, 130, 201])
def test_the_inverse_of_a_root_by_halves(n):
    A = np.random.default_rng(n).standard_normal((n, n))
    root = cholesky(A @ A.T + n * np.eye(n))
    inverse = invert_root(root)
    assert inverse @ root == pytest.approx(np.eye(n), abs=1e-12) and (np.triu(inverse, 1) == 0.0).all()


def test_squared_distances():
    X = np.random.default_rng(0).random((8, 3))
    assert squared_distances(X) == pytest.approx(((X[:, None] - X) ** 2).sum(axis=2), abs=1e-13)
    assert (squared_distances(np.repeat(X[:1], 4, axis=0)) >= 0.0).all()


def test_a_surrogate_travels_to_another_process():
    gp, Q = fit(*line(), model=PAPER), np.random.default_rng(0).random((3, 1))
    copy = pickle.loads(pickle.dumps(gp))
    assert (copy.moments(Q)[0] == gp.moments(Q)[0]).all() and (copy.predict(Q)[1] == gp.predict(Q)[1]).all()


def test_the_means_of_several_draws_come_with_the_same_deviation_and_gradients():
    gp, rng = example(15, 3, 1), np.random.default_rng(4)
    Q, alphas = rng.random((6, 3)), np.column_stack([example(15, 3, 1).alpha, rng.standard_normal((15, 3))])
    means, d_means, sd, d_sd = gp.draws_with_gradient(Q, alphas)
    mean, expected_sd, d_mean, expected_d_sd = gp.moments_with_gradient(Q)
    assert means[:, 0] == pytest.approx(mean, abs=1e-10) and d_means[:, 0] == pytest.approx(d_mean, abs=1e-9)
    assert sd == pytest.approx(expected_sd, abs=1e-10) and d_sd == pytest.approx(expected_d_sd, abs=1e-9)
    k, pull = gp.cross_with_gradient(Q, alphas)
    assert means == pytest.approx(gp.mean + k, abs=1e-10) and d_means == pytest.approx(pull, abs=1e-9)
