import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cboc.errors import CbocError
from cboc.evidence.methods.features import Features, Shared, boxes_of, corners


def features(dimension=2, count=40, variance=1.0):
    return Features.draw(count, dimension, 0.3, np.random.default_rng(0), variance)


def shared(boxes=1, dimension=2, anchors=None):
    weights = np.random.default_rng(1).standard_normal((boxes, 40))
    return Shared(features(dimension), weights, np.empty((0, dimension)) if anchors is None else anchors)


def data(n=12, dimension=2):
    X = np.random.default_rng(2).random((n, dimension))
    return X, np.sin(5.0 * X).sum(axis=1)


@pytest.mark.parametrize("variance", [1.0, 2.5])
def test_the_prior_variance_is_the_same_everywhere(variance):
    phi = features(variance=variance)(np.random.default_rng(1).random((50, 2)))
    assert np.linalg.norm(phi, axis=1) == pytest.approx(np.full(50, np.sqrt(variance)))


def test_many_features_make_the_squared_exponential_kernel():
    phi = Features.draw(40_000, 2, 0.5, np.random.default_rng(0), 1.5)
    X = np.random.default_rng(1).random((6, 2))
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    assert phi(X) @ phi(X).T == pytest.approx(1.5 * np.exp(-distances / (2 * 0.5**2)), abs=0.05)


@pytest.mark.parametrize("n", [5, 60])  # fewer data than features, and more
def test_the_posterior_is_bayesian_linear_regression(n):
    """w ~ N(0, I), y | w ~ N(Φw, s²): mean (ΦᵀΦ/s² + I)⁻¹Φᵀy/s², covariance (ΦᵀΦ/s² + I)⁻¹."""
    phi, (X, y), noise = features(), data(n), 0.03
    covariance = np.linalg.inv(phi(X).T @ phi(X) / noise + np.eye(40))
    mean, root = phi.posterior(X, y, noise)
    assert mean == pytest.approx(covariance @ phi(X).T @ y / noise, abs=1e-8)
    assert noise * np.linalg.inv(root @ root.T) == pytest.approx(covariance, abs=1e-8)


def test_samples_have_the_posteriors_mean_and_covariance():
    phi, (X, y), rng = features(), data(), np.random.default_rng(3)
    mean, root = phi.posterior(X, y, 0.05)
    draws = np.array([phi.sample(X, y, 0.05, rng) for _ in range(4000)])
    assert draws.mean(axis=0) == pytest.approx(mean, abs=5.0 / np.sqrt(4000))
    assert np.cov(draws.T) == pytest.approx(0.05 * np.linalg.inv(root @ root.T), abs=0.12)


@pytest.mark.parametrize("boxes", [1, 2, 4])
@pytest.mark.parametrize("dimension", [2, 3])
def test_gradients_are_the_derivatives(boxes, dimension):
    function, h = shared(boxes, dimension), 1e-6
    X = np.random.default_rng(4).random((20, dimension))
    numeric = np.stack([(function(X + h * e) - function(X - h * e)) / (2 * h) for e in np.eye(dimension)], axis=1)
    values, gradients = function.with_gradient(X)
    assert values == pytest.approx(function(X)) and gradients == pytest.approx(numeric, abs=1e-5)


def test_boxes_are_numbered_by_their_upper_halves():
    X = np.array([[0.2, 0.2, 0.9], [0.5, 0.2, 0.9], [0.2, 0.7, 0.1], [1.0, 1.0, 0.0]])
    assert boxes_of(X, 4).tolist() == [0, 1, 2, 3]
    assert boxes_of(X, 2).tolist() == [0, 1, 0, 1]
    assert boxes_of(X, 1).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("boxes", [1, 2, 4])
def test_corners_belong_to_their_box(boxes):
    lower, upper = corners(boxes, 3)
    assert boxes_of(lower, boxes).tolist() == boxes_of(upper, boxes).tolist() == list(range(boxes))
    assert (upper - lower).prod(axis=1).sum() == pytest.approx(1.0)


def test_equal_weights_in_all_boxes_are_one_function():
    one = shared()
    four = Shared(one.features, np.tile(one.weights, (4, 1)), one.anchors)
    X = np.random.default_rng(5).random((30, 2))
    assert four(X) == pytest.approx(one(X))


@settings(deadline=None)
@given(seed=st.integers(0, 200), boxes=st.sampled_from([1, 2, 4]))
def test_the_argmax_is_the_best_of_a_fine_grid(seed, boxes):
    phi = Features.draw(60, 2, 0.35, np.random.default_rng(seed))
    weights = np.random.default_rng([seed, 1]).standard_normal((boxes, 60))
    function = Shared(phi, weights, np.empty((0, 2)))
    axis = np.linspace(0.0, 1.0, 81)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    x = function.argmax(np.random.default_rng(seed))
    assert ((x >= 0.0) & (x <= 1.0)).all()
    assert function(x[None])[0] >= function(grid).max() - 5e-3


def test_the_worth_is_what_exceeds_the_anchors_or_the_prior_mean():
    X = np.random.default_rng(6).random((100, 2))
    free, held = shared(), shared(anchors=X[:3])
    assert np.exp(free.log_worth(X)) == pytest.approx(np.maximum(free(X), 0.0))
    assert np.exp(held.log_worth(X)) == pytest.approx(np.maximum(held(X) - held(X[:3]).max(), 0.0))


def test_three_boxes_cannot_be_made_by_halving():
    with pytest.raises(CbocError, match="got weights for 3"):
        shared(boxes=3)
    with pytest.raises(CbocError, match="at most 2 in 1 dim"):
        shared(boxes=4, dimension=1)


@pytest.mark.parametrize("setting", [(0, 0.3, 1.0), (10, 0.0, 1.0), (10, 0.3, -1.0)])
def test_impossible_features_get_one_sentence(setting):
    count, lengthscale, variance = setting
    with pytest.raises(CbocError, match="features need"):
        Features.draw(count, 2, lengthscale, np.random.default_rng(0), variance)
