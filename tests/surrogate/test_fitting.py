import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cboc.errors import CbocError
from cboc.surrogate.fitting import PAPER, TOLERANCE, Model, Objective, build, fit
from cboc.surrogate.kernels import matern52, squared_exponential
from cboc.surrogate.priors import Gamma, LogNormal
from cboc.surrogate.transforms import raw, standardised

WIDTHS = np.array([15.0, 2.0, 0.1])
MODELS = {
    "default": Model(),
    "paper": PAPER,
    "learned signal": Model(kernel=squared_exponential, outputscale=LogNormal(0.0, 1.0)),
    "natural": Model(is_natural=True),
}
EVERY_MODEL = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
quick = settings(deadline=None, max_examples=30)


def example(n=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    return X, np.sin(5.0 * X).sum(axis=1) + 0.2 * rng.standard_normal(n)


def check(gp):
    """A usable surrogate: every number finite, every deviation positive, on and between the data."""
    Q = np.vstack([gp.X[:5], np.random.default_rng(0).random((5, gp.X.shape[1]))])
    moments = gp.moments_with_gradient(Q)
    assert all(np.isfinite(part).all() for part in (*moments, *gp.predict(Q), gp.theta, gp.alpha, gp.leave_one_out().z))
    assert (moments[1] > 0.0).all() and np.isfinite(gp.log_posterior)


# The gradient


@EVERY_MODEL
@pytest.mark.parametrize("known", ["none", "some", "all"])
@quick
@given(seed=st.integers(0, 10**6))
def test_the_gradient_is_the_derivative(model, known, seed):
    rng = np.random.default_rng(seed)
    X, y = example(12, seed)
    sem = {"none": None, "some": np.where(np.arange(12) % 3, 0.2, np.nan), "all": np.full(12, 0.1)}[known]
    objective = Objective(model, X[None], y[None], None if sem is None else sem[None], WIDTHS)
    theta, h = objective.priors.mode + 0.5 * rng.standard_normal(len(objective.priors.mode)), 1e-5
    steps, same = h * np.eye(len(theta)), np.zeros(len(theta), dtype=int)
    numeric = (objective(theta + steps, same)[0] - objective(theta - steps, same)[0]) / (2 * h)
    gradient = objective(theta[None])[1][0]
    assert gradient == pytest.approx(numeric, rel=1e-4, abs=1e-4 * max(1.0, np.abs(gradient).max()))


# The information


@EVERY_MODEL
def test_the_average_information_is_near_the_curvature_at_the_optimum(model):
    """In most directions within a factor of two; what is left over is for the climb to learn."""
    shares = []
    for seed in range(6):
        X, y = example(40, seed)
        gp = fit(X, y, model=model, widths=WIDTHS, starts=3)
        objective = Objective(model, X[None], gp.y[None], None, WIDTHS)
        lower, upper = np.array(objective.bounds).T
        inside = np.flatnonzero((gp.theta > lower + 1e-3) & (gp.theta < upper - 1e-3))
        steps, same = 1e-4 * np.eye(len(gp.theta))[inside], np.zeros(len(inside), dtype=int)
        curvature = -(objective(gp.theta + steps, same)[1] - objective(gp.theta - steps, same)[1])[:, inside] / 2e-4
        information = np.linalg.inv(objective(gp.theta[None])[2][0])[np.ix_(inside, inside)]
        shares += np.linalg.eigvals(np.linalg.solve(information, curvature)).real.tolist()
    assert np.mean([0.5 < share < 2.0 for share in shares]) > 0.7


# Known values: BoTorch's defaults of 2023


# SingleTaskGP of BoTorch 0.18 with ScaleKernel(MaternKernel(2.5, lengthscale_prior=GammaPrior(3, 6)),
# GammaPrior(2, 0.15)), GaussianLikelihood(GammaPrior(1.1, 0.05)), constant mean at its optimum, on raw x in [-5, 10] x
# [0, 15]: ExactMarginalLogLikelihood times n, which counts the priors' normalising constants too.
BOTORCH_X = np.array([[-3.0, 1.0], [0.5, 13.0], [4.0, 7.5], [8.5, 2.0], [9.0, 11.0], [-1.0, 5.0]])
BOTORCH_Y = np.array([1.2, -0.7, 2.5, 0.3, -1.1, 0.9])
BOTORCH_UNIT, BOTORCH_WIDTHS = (BOTORCH_X + np.array([5.0, 0.0])) / 15.0, np.array([15.0, 15.0])
BOTORCH_LOG_POSTERIORS = {(4.0, 2.5, 1.7, 0.05): -42.01868953849525, (1.5, 3.0, 0.8, 0.3): -31.933566532011326}
BOTORCH_LOG_LIKELIHOODS = {(4.0, 2.5, 1.7, 0.05): -9.922004173017239, (1.5, 3.0, 0.8, 0.3): -9.7877699186442}
# ... and after fit_gpytorch_mll:
BOTORCH_FITTED = np.array([0.3333, 0.3333, 1.7786, 0.2163])
BOTORCH_FITTED_LOG_POSTERIOR = -15.687796361426557


def in_the_unit_cube(hyper):
    return np.log(np.array([hyper]) / [15.0, 15.0, 1.0, 1.0])


def botorch_constant():
    """What our log posterior leaves out of BoTorch's."""
    objective = Objective(PAPER, BOTORCH_UNIT[None], BOTORCH_Y[None], None, BOTORCH_WIDTHS)
    hyper, theirs = next(iter(BOTORCH_LOG_POSTERIORS.items()))
    return theirs - objective(in_the_unit_cube(hyper))[0][0]


def test_the_paper_preset_has_botorchs_log_posterior():
    objective = Objective(PAPER, BOTORCH_UNIT[None], BOTORCH_Y[None], None, BOTORCH_WIDTHS)
    for hyper, theirs in BOTORCH_LOG_POSTERIORS.items():
        assert objective(in_the_unit_cube(hyper))[0] + botorch_constant() == pytest.approx(theirs, abs=1e-6)


def test_the_paper_preset_has_botorchs_log_likelihood():
    objective = Objective(PAPER, BOTORCH_UNIT[None], BOTORCH_Y[None], None, BOTORCH_WIDTHS)
    for hyper, theirs in BOTORCH_LOG_LIKELIHOODS.items():
        theta = in_the_unit_cube(hyper)
        assert objective(theta)[0] - objective.priors(theta)[0] == pytest.approx(theirs, abs=1e-6)


def test_the_paper_preset_is_fitted_as_by_botorch():
    gp = fit(BOTORCH_UNIT, BOTORCH_Y, model=PAPER, widths=BOTORCH_WIDTHS, starts=3)
    assert gp.log_posterior + botorch_constant() > BOTORCH_FITTED_LOG_POSTERIOR - 0.01
    assert gp.lengthscales * BOTORCH_WIDTHS == pytest.approx(BOTORCH_FITTED[:2], rel=0.05)
    assert [gp.signal, gp.noise] == pytest.approx(BOTORCH_FITTED[2:], rel=0.15)


def test_raw_outcomes_may_be_nothing_but_noise():
    """Of 60 outcomes with variance 100², under Gamma(1.1, 0.05): 0 = -30/v + 30·100²/v² - 0.05, so v = 2168."""
    y = np.random.default_rng(0).standard_normal(60)
    y *= 100.0 / np.sqrt((y**2).mean())
    gp = fit(np.random.default_rng(1).random((60, 2)), y, model=PAPER, widths=np.array([200.0, 200.0]))
    assert gp.noise == pytest.approx(2168.0, rel=0.05)


def test_natural_lengthscales_do_not_depend_on_the_box():
    """The same experiment in a box twice as wide: the same surrogate in natural units."""
    rng = np.random.default_rng(1)
    X, y = rng.random((15, 1)), rng.standard_normal(15)
    narrow = fit(X, y, model=PAPER, widths=np.array([4.0]))
    wide = fit(X / 2, y, model=PAPER, widths=np.array([8.0]))
    assert 8.0 * wide.lengthscales == pytest.approx(4.0 * narrow.lengthscales, rel=1e-6)


# The optimum


@pytest.mark.parametrize("kernel", [matern52, squared_exponential], ids=lambda kernel: kernel.name)
def test_planted_hyperparameters_are_found(kernel):
    rng = np.random.default_rng(5)
    X, lengthscales, noise = rng.random((250, 2)), np.array([0.15, 0.6]), 0.01
    squared = (((X[:, None] - X) / lengthscales) ** 2).sum(axis=2)
    K = kernel(squared)[0] + noise * np.eye(250)
    y = np.linalg.cholesky(K) @ rng.standard_normal(250)
    gp = fit(X, y, model=Model(kernel=kernel, transform=raw))
    assert gp.lengthscales == pytest.approx(lengthscales, rel=0.25)
    assert gp.noise == pytest.approx(noise, rel=0.3)


def test_noise_is_told_from_signal():
    rng = np.random.default_rng(0)
    X = rng.random((60, 1))
    clean = np.sin(6.0 * X[:, 0])
    quiet, loud = (fit(X, clean + level * rng.standard_normal(60), model=Model(transform=raw)) for level in (0.01, 0.3))
    assert np.sqrt(loud.noise) == pytest.approx(0.3, rel=0.3) and np.sqrt(quiet.noise) < 0.02


def test_an_idle_coordinate_gets_a_long_lengthscale():
    X = np.random.default_rng(0).random((40, 2))
    gp = fit(X, np.sin(8.0 * X[:, 0]))
    assert gp.lengthscales[1] > 5.0 * gp.lengthscales[0]


@EVERY_MODEL
def test_hardly_anything_is_left_to_climb_inside_the_bounds(model):
    X, y = example(30)
    gp = fit(X, y, model=model, widths=WIDTHS)
    objective = Objective(model, X[None], gp.y[None], None, WIDTHS)
    lower, upper = np.array(objective.bounds).T
    value, gradient, metric = (part[0] for part in objective(gp.theta[None]))
    uphill = np.where((gp.theta > lower + 1e-6) & (gp.theta < upper - 1e-6), gradient, 0.0)
    assert uphill @ metric @ uphill < 3.0 * TOLERANCE and value == pytest.approx(gp.log_posterior)
    assert (gp.theta >= lower).all() and (gp.theta <= upper).all()


@EVERY_MODEL
def test_a_warm_start_reaches_the_same_optimum(model):
    X, y = example(30)
    cold = fit(X, y, model=model, widths=WIDTHS, starts=3)
    early = fit(X[:25], y[:25], model=model, widths=WIDTHS).theta
    warm = fit(X, y, model=model, widths=WIDTHS, warm_start=early)
    assert warm.log_posterior == pytest.approx(cold.log_posterior, abs=0.02)


def test_more_starts_are_never_worse():
    X, y = example(20, seed=3)
    values = [fit(X, y, starts=starts).log_posterior for starts in (1, 2, 5)]
    assert values == sorted(values)


def test_a_fit_is_a_function_of_its_data():
    X, y = example()
    assert (fit(X, y, starts=4).theta == fit(X, y, starts=4).theta).all()


@pytest.mark.parametrize("stale", [np.zeros(3), np.zeros(7), np.full(4, np.nan)], ids=["shorter", "longer", "NaN"])
def test_a_warm_start_of_another_model_is_left_out(stale):
    X, y = example()
    assert (fit(X, y, warm_start=stale).theta == fit(X, y).theta).all()


def test_built_at_the_fitted_hyperparameters_is_the_fit():
    X, y = example()
    gp, Q = fit(X, y), np.random.default_rng(1).random((5, 3))
    again = build(X, y, gp.theta)
    assert again.moments(Q)[0] == pytest.approx(gp.moments(Q)[0]) and again.log_posterior == pytest.approx(
        gp.log_posterior
    )


# Data that are hard


def hard():
    rng = np.random.default_rng(0)
    X = rng.random((15, 3))
    y = np.sin(5.0 * X).sum(axis=1)
    yield "one point", X[:1], y[:1]
    yield "two points", X[:2], y[:2]
    yield "two equal points", X[[0, 0]], y[[0, 0]]
    yield "all equal", X, np.full(15, 0.1)
    yield "all zero", X, np.zeros(15)
    yield "repeated designs, equal outcomes", np.vstack([X, X]), np.append(y, y)
    yield "repeated designs, other outcomes", np.vstack([X, X]), np.append(y, -y)
    yield "one design 50 times", np.repeat(X[:1], 50, axis=0), rng.standard_normal(50)
    yield "50 times among others", np.vstack([X, np.repeat(X[:1], 50, axis=0)]), np.append(y, np.full(50, y[0]))
    yield "tiny outcomes", X, 1e-12 * y
    yield "huge outcomes", X, 1e12 * y
    yield "huge offset", X, 1e9 + y
    yield "outlier above", X, np.append(y[:-1], 1e12)
    yield "outlier below", X, np.append(y[:-1], -1e12)
    yield "a constant column", np.column_stack([X[:, :2], np.full(15, 0.3)]), y
    yield "only constant columns", np.full((15, 3), 0.3), y
    yield "corners", np.round(X), y
    yield "nearly the same design", X[:1] + 1e-9 * rng.random((15, 3)), y


@pytest.mark.parametrize(
    "model", [Model(), PAPER, Model(transform=standardised)], ids=["default", "paper", "standardised"]
)
@pytest.mark.parametrize(("X", "y"), [case[1:] for case in hard()], ids=[case[0] for case in hard()])
def test_hard_data_give_a_usable_surrogate(model, X, y):
    gp = fit(X, y, model=model, widths=np.ones(3), starts=2)
    check(gp)
    check(gp.believe(np.vstack([X[:1], [[0.5, 0.5, 0.5]]])))


@quick
@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), levels=st.integers(1, 3))
def test_coarse_data_give_a_usable_surrogate(seed, n, levels):
    """Few levels of x and y: coincidences of every kind."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, levels + 1, (n, 2)) / levels, rng.integers(0, levels, n).astype(float)
    check(fit(X, y, sem=np.where(rng.random(n) < 0.5, 0.0, np.nan)))


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_the_unit_of_the_outcomes_does_not_matter(unit):
    X, y = example(20)
    assert fit(X, unit * y).theta == pytest.approx(fit(X, y).theta, rel=1e-3)


def test_a_standard_error_of_zero_is_the_noise_floor():
    X, y = example()
    gp = fit(X, y, sem=np.zeros(12))
    assert (gp.noises == Model().noise_floor).all()
    check(gp)


def test_unreliable_points_count_less():
    X = np.array([[0.2], [0.5], [0.5], [0.8]])
    y = np.array([0.0, 1.0, -1.0, 0.0])
    gp = fit(X, y, sem=np.array([0.01, 0.01, 10.0, 0.01]), model=Model(transform=raw))
    assert gp.moments(X[[1]])[0] > 0.8


def test_two_thousand_points():
    rng = np.random.default_rng(0)
    X = rng.random((2000, 6))
    y = np.sin(4.0 * X).sum(axis=1)
    started = time.process_time()
    objective = Objective(Model(transform=standardised), X[None], standardised(y).forward(y)[None])
    value, gradient, _ = objective(objective.priors.mode[None])
    gp = build(X, y, objective.priors.mode, Model(transform=standardised))
    error = gp.predict(Q := rng.random((50, 6)))[0] - np.sin(4.0 * Q).sum(axis=1)
    assert np.isfinite(value) and np.isfinite(gradient).all() and np.sqrt((error**2).mean()) < 0.1
    assert time.process_time() - started < 30.0


def test_no_data_at_all():
    with pytest.raises(CbocError, match="at least one completed experiment") as caught:
        fit(np.empty((0, 2)), np.empty(0))
    assert str(caught.value).count(".") == 1, "one sentence"


def test_the_noise_prior_may_be_anything_with_a_mode():
    gp = fit(*example(), model=Model(noise=Gamma(2.0, 100.0), lengthscale=lambda D: Gamma(2.0, 1.0 / D)))
    check(gp)
