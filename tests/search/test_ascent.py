import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, minimize

from cboc.search.ascent import ascend, ascend_all
from cboc.surrogate.fitting import Model, build
from cboc.surrogate.transforms import raw
from cboc.utility.improvement import LogEI

quick = settings(deadline=None, max_examples=40)


def quadratic(centre, A):
    """-½ (x - c)ᵀA(x - c) and its gradient."""

    def objective(X):
        pull = (X - centre) @ A
        return -0.5 * ((X - centre) * pull).sum(axis=1), -pull

    return objective


def spd(dimension, rng, condition=100.0):
    Q, _ = np.linalg.qr(rng.standard_normal((dimension, dimension)))
    return Q @ np.diag(np.geomspace(1.0, condition, dimension)) @ Q.T


def landscape(seed=0, dimension=3):
    X = np.random.default_rng(seed).random((15, dimension))
    theta = np.log([*np.full(dimension, 0.5), 1e-3])
    return LogEI(build(X, np.sin(5.0 * X).sum(axis=1), theta, Model(transform=raw)))


# Known solutions


@quick
@given(seed=st.integers(0, 10**6), dimension=st.integers(1, 8))
def test_the_top_of_a_quadratic_inside_the_box(seed, dimension):
    rng = np.random.default_rng(seed)
    centre = rng.uniform(0.1, 0.9, dimension)
    points, values = ascend(
        quadratic(centre, spd(dimension, rng)),
        rng.random((5, dimension)),
        np.zeros(dimension),
        np.ones(dimension),
        tolerance=1e-12,
    )
    assert points == pytest.approx(np.tile(centre, (5, 1)), abs=1e-4) and values == pytest.approx(np.zeros(5), abs=1e-8)


@quick
@given(seed=st.integers(0, 10**6), dimension=st.integers(1, 6))
def test_the_top_of_a_quadratic_on_the_faces(seed, dimension):
    """-½|L(x - c)|² with c outside: bounded least squares, which SciPy solves."""
    rng = np.random.default_rng(seed)
    A, centre = spd(dimension, rng, condition=20.0), rng.uniform(-0.6, 1.6, dimension)
    L = np.linalg.cholesky(A).T
    best = -lsq_linear(L, L @ centre, (0.0, 1.0), tol=1e-13).cost
    starts = rng.random((5, dimension))
    points, values = ascend(quadratic(centre, A), starts, np.zeros(dimension), np.ones(dimension), tolerance=1e-12)
    assert values == pytest.approx(np.full(5, best), abs=1e-8)
    assert (points >= 0.0).all() and (points <= 1.0).all()


def test_a_slope_ends_in_the_corner():
    points, values = ascend(
        lambda X: (X @ np.array([1.0, -2.0]), np.tile([1.0, -2.0], (len(X), 1))),
        np.full((1, 2), 0.5),
        np.zeros(2),
        np.ones(2),
    )
    assert (points == [[1.0, 0.0]]).all() and values == pytest.approx([1.0])


def test_rosenbrock():
    def rosenbrock(X):
        a, b = 1.0 - X[:, 0], X[:, 1] - X[:, 0] ** 2
        gradient = np.stack([2.0 * a + 400.0 * X[:, 0] * b, -200.0 * b], axis=1)
        return -(a**2) - 100.0 * b**2, gradient

    starts = np.array([[-1.2, 1.0], [0.0, 0.0], [1.8, -1.5], [-2.0, 2.0]])
    points, _ = ascend(rosenbrock, starts, np.full(2, -2.0), np.full(2, 2.0), tolerance=1e-12, steps=300)
    assert points == pytest.approx(np.ones((4, 2)), abs=1e-3)


@pytest.mark.parametrize("seed", [8, 169, 203, 318])
def test_a_face_is_walked_in_few_steps(seed):
    """The curvature on a face is that of the face; steps with that of the whole box would overshoot for ever."""
    rng = np.random.default_rng(seed)
    dimension = int(rng.integers(2, 9))
    A, centre = spd(dimension, rng, condition=20.0), rng.uniform(-0.6, 1.6, dimension)
    hill, calls = quadratic(centre, A), 0

    def counted(X):
        nonlocal calls
        calls += 1
        return hill(X)

    ascend(counted, rng.random((5, dimension)), np.zeros(dimension), np.ones(dimension), tolerance=1e-12)
    assert calls < 40


# Equivalence


@pytest.mark.parametrize("seed", range(4))
def test_as_high_as_l_bfgs_b_from_the_same_starts(seed):
    utility, rng = landscape(seed), np.random.default_rng(seed)
    starts = rng.random((12, 3))
    _, values = ascend(utility.with_gradient, starts, np.zeros(3), np.ones(3), tolerance=1e-6, steps=200)

    def negative(x):
        value, gradient = utility.with_gradient(x[None])
        return -value[0], -gradient[0]

    theirs = [-minimize(negative, x, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * 3).fun for x in starts]
    assert values.max() == pytest.approx(max(theirs), abs=1e-3)
    assert np.median(values - theirs) > -1e-3, "from most starts it climbs as high, maybe another hill"


def test_many_starts_climb_as_if_alone():
    utility, starts = landscape(), np.random.default_rng(3).random((6, 3))
    together, _ = ascend(utility.with_gradient, starts, np.zeros(3), np.ones(3))
    alone = np.vstack([ascend(utility.with_gradient, x[None], np.zeros(3), np.ones(3))[0] for x in starts])
    assert together == pytest.approx(alone, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_giving_up_the_hopeless_keeps_the_best(seed):
    utility, starts = landscape(seed), np.random.default_rng(seed).random((12, 3))
    _, all_of_them = ascend(utility.with_gradient, starts, np.zeros(3), np.ones(3), tolerance=1e-6)
    _, racing = ascend(utility.with_gradient, starts, np.zeros(3), np.ones(3), tolerance=1e-6, race=10.0)
    assert racing.max() == pytest.approx(all_of_them.max(), abs=1e-3)


# Invariants


@quick
@given(seed=st.integers(0, 10**6), width=st.floats(0.0, 0.4))
def test_never_outside_and_never_below_the_start(seed, width):
    rng = np.random.default_rng(seed)
    utility, starts = landscape(seed % 5), rng.random((8, 3))
    lower = np.maximum(starts - width, 0.0) * (rng.random((8, 3)) < 0.7)
    upper = np.where(rng.random((8, 3)) < 0.3, starts, np.minimum(starts + width, 1.0))
    seen = []

    def watched(X):
        seen.append(X.copy())
        return utility.with_gradient(X)

    points, values = ascend(watched, starts, lower, upper)
    assert (points >= lower).all() and (points <= upper).all()
    assert (np.vstack(seen) >= 0.0).all() and (np.vstack(seen) <= 1.0).all()
    assert (values >= utility(starts) - 1e-12).all() and values == pytest.approx(utility(points))


def test_fixed_coordinates_stay_where_they_are():
    starts = np.random.default_rng(0).random((6, 3))
    lower, upper = np.zeros((6, 3)), np.ones((6, 3))
    lower[:, 1] = upper[:, 1] = starts[:, 1]
    points, values = ascend(landscape().with_gradient, starts, lower, upper)
    assert (points[:, 1] == starts[:, 1]).all() and (values > landscape()(starts)).any()


def test_all_coordinates_fixed():
    starts = np.random.default_rng(0).random((6, 3))
    assert (ascend(landscape().with_gradient, starts, starts, starts)[0] == starts).all()


def test_starts_outside_begin_on_the_box():
    points, _ = ascend(quadratic(np.full(2, 0.5), np.eye(2)), np.array([[-3.0, 7.0]]), np.zeros(2), np.ones(2))
    assert points == pytest.approx(np.full((1, 2), 0.5), abs=0.05)


# Objectives that are hard


@pytest.mark.parametrize("value", [np.nan, -np.inf])
@pytest.mark.parametrize("slope", [np.nan, np.inf, 0.0])
def test_forbidden_ground_is_not_entered(value, slope):
    """Beyond x = 0.6 there is nothing; the top of the rest is at its edge for most starts, and nobody falls over it."""
    hill = quadratic(np.full(3, 0.7), np.eye(3))

    def objective(X):
        forbidden = X[:, 0] > 0.6
        values, gradients = hill(X)
        return np.where(forbidden, value, values), np.where(forbidden[:, None], slope, gradients)

    starts = np.random.default_rng(0).random((20, 3))
    points, values = ascend(objective, starts, np.zeros(3), np.ones(3), tolerance=1e-9)
    allowed = starts[:, 0] <= 0.6
    assert (points[allowed, 0] <= 0.6).all() and np.isfinite(values[allowed]).all()
    assert points[allowed, 0].min() > 0.599, "but it is approached, by those who turned back once too"


def test_a_gradient_that_may_not_be_written_to():
    points, _ = ascend(
        lambda X: (X.sum(axis=1), np.broadcast_to(np.ones(2), X.shape)),
        np.random.default_rng(0).random((5, 2)),
        np.zeros(2),
        np.ones(2),
    )
    assert (points == 1.0).all()


def test_flat_ground():
    starts = np.random.default_rng(0).random((5, 2))
    points, values = ascend(lambda X: (np.zeros(len(X)), np.zeros(X.shape)), starts, np.zeros(2), np.ones(2))
    assert (points == starts).all() and (values == 0.0).all()


@pytest.mark.parametrize("scale", [1e-80, 1e-6, 1e6])
def test_the_scale_of_the_objective_matters_only_through_the_tolerance(scale):
    hill = quadratic(np.array([0.3, 0.8]), np.array([[3.0, 1.0], [1.0, 2.0]]))
    points, _ = ascend(
        lambda X: tuple(scale * part for part in hill(X)),
        np.ones((1, 2)),
        np.zeros(2),
        np.ones(2),
        tolerance=1e-10 * scale,
    )
    assert points == pytest.approx(np.array([[0.3, 0.8]]), abs=1e-3)


# What a landscape knows


def evaluations(climb):
    """How often a climb of a narrow quadratic looks, and how far from the top it ends."""
    scales, looks = np.array([1.0, 0.1, 0.01]), []
    top = np.array([0.3, 0.6, 0.5])

    def landscapes(X, owners):  # noqa: ARG001
        looks.append(len(X))
        pull = (top - X) / scales**2
        return 0.5 * ((X - top) * pull).sum(axis=1), pull

    points, _ = climb(landscapes, np.full((1, 3), 0.45), scales)
    return len(looks), float(np.abs(points - top).max())


def ends(landscapes, starts, **known):
    return ascend_all(
        landscapes, starts, np.zeros(3), np.ones(3), owners=np.zeros(1, dtype=int), tolerance=1e-10, **known
    )


def test_units_make_a_narrow_ridge_round():
    plain, far = evaluations(lambda landscapes, starts, _: ends(landscapes, starts))
    scaled, near = evaluations(lambda landscapes, starts, scales: ends(landscapes, starts, units=scales))
    assert near < 1e-6 and far < 1e-3 and scaled < plain


def test_a_known_metric_is_a_newton_step():
    def climb(landscapes, starts, scales):
        return ends(lambda X, owners: (*landscapes(X, owners), np.tile(np.diag(scales**2), (len(X), 1, 1))), starts)

    looks, far = evaluations(climb)
    assert looks == 2 and far < 1e-12
