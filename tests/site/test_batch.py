"""Sites that think together think what each would think alone, bit for bit."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cboc import Dataset, Finished, Ledger, Measurement, Policy, Site, Study, Waiting, collaborative
from cboc.runs.simulation import simulate
from cboc.search.ascent import ascend_all
from cboc.search.grouping import MOST, by_group
from cboc.search.maximise import maximise, maximise_all
from cboc.site.batch import think
from cboc.space.space import Space
from cboc.strategy.bayesian import Bayesian, paper
from cboc.strategy.situation import Situation
from cboc.surrogate.fitting import PAPER, Model, Task, fit_all
from cboc.surrogate.gp import Stack
from cboc.surrogate.kernels import squared_exponential
from cboc.surrogate.priors import LogNormal
from cboc.utility.confidence import UCB
from cboc.utility.improvement import EI, PI, LogEI
from cboc.utility.thompson import Thompson

MODELS = {
    "default": Model(),
    "paper": PAPER,
    "squared exponential": Model(kernel=squared_exponential, outputscale=LogNormal(0.0, 1.0)),
}
EVERY_MODEL = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
quick = settings(deadline=None, max_examples=40)
sizes = {"seed": st.integers(0, 10**6), "sites": st.integers(1, 9), "n": st.integers(1, 60), "D": st.integers(1, 8)}


def rng(seed=0):
    return np.random.default_rng(seed)


def box(dimension):
    return Space({f"x{d}": (0.0, 2.0) for d in range(dimension)})


def tasks(random, sites, n, D):
    """Data sets of one shape; some warm, some with known errors, some from several starts, some degenerate."""
    for k in range(sites):
        X = np.round(random.random((n, D)), 1 if k % 4 == 3 else 12)
        y = np.sin(5.0 * X + k).sum(axis=1) * (k % 5 != 4)
        sem = np.where(random.random(n) < 0.5, 0.1, np.nan) if k % 3 == 1 else None
        yield Task(X, y, sem, starts=1 + k % 3)


def same(one, other):
    assert np.array_equal(one, other, equal_nan=True)


def same_gp(one, other):
    for part in (
        "theta",
        "lengthscales",
        "signal",
        "noise",
        "noises",
        "mean",
        "alpha",
        "inverse_root",
        "log_posterior",
    ):
        same(getattr(one, part), getattr(other, part))


@EVERY_MODEL
@quick
@given(**sizes)
def test_fits(model, seed, sites, n, D):
    random = rng(seed)
    every, widths = list(tasks(random, sites, n, D)), np.full(D, 2.0)
    together = fit_all(every, model=model, widths=widths)
    for task, gp in zip(every, together, strict=True):
        same_gp(gp, fit_all([task], model=model, widths=widths)[0])
    warm = [Task(task.X, task.y, task.sem, gp.theta + 0.1) for task, gp in zip(every, together, strict=True)]
    for task, gp in zip(warm, fit_all(warm, model=model, widths=widths), strict=True):
        same_gp(gp, fit_all([task], model=model, widths=widths)[0])


def test_fits_that_fill_the_cache():
    """At n = 130 a chunk of the work holds two matrices; three sites and seven rows do not divide into them."""
    every = list(tasks(rng(), 4, 130, 3))
    for task, gp in zip(every, fit_all(every), strict=True):
        same_gp(gp, fit_all([task])[0])


def test_fits_of_different_shapes_come_back_in_order():
    every = [*tasks(rng(), 3, 9, 2), *tasks(rng(1), 2, 12, 2), *tasks(rng(2), 3, 9, 2)]
    for task, gp in zip(every, fit_all(every), strict=True):
        assert gp.X is task.X
        same_gp(gp, fit_all([task])[0])


@EVERY_MODEL
@quick
@given(**sizes, rows=st.lists(st.integers(0, 30), min_size=9, max_size=9))
def test_moments(model, seed, sites, n, D, rows):
    random = rng(seed)
    gps = fit_all([Task(random.random((n, D)), random.random(n)) for _ in range(sites)], model=model)
    owners = np.repeat(np.arange(sites), rows[:sites])
    Q = random.random((len(owners), D))
    together = Stack(gps).moments_with_gradient(Q, owners)
    for k, gp in enumerate(gps):
        for part, own in zip(together, gp.moments_with_gradient(Q[owners == k]), strict=True):
            same(part[owners == k], own)
    Q = random.random((sites, 1 + rows[0] * 20, D))
    mean, sd = Stack(gps).moments(Q)
    for k, gp in enumerate(gps):
        same((mean[k], sd[k]), gp.moments(Q[k]))


@quick
@given(**sizes, race=st.sampled_from([2.0, np.inf]))
def test_climbs(seed, sites, n, D, race):
    """Quadratics with ridges, and a wall of NaN for every third owner."""
    random = rng(seed)
    centres, curves = random.random((sites, D)), np.exp(random.normal(0.0, 3.0, (sites, D)))
    owners = np.sort(random.integers(0, sites, n))
    starts, tolerance = random.random((n, D)), 10.0 ** random.uniform(-6, -1, n)

    def climb(rows):
        mine = owners[rows]

        def landscapes(X, whose):
            step = X - centres[whose]
            values = -(curves[whose] * step**2).sum(axis=1) + np.sin(20.0 * X[:, 0])
            gradients = -2.0 * curves[whose] * step
            gradients[:, 0] += 20.0 * np.cos(20.0 * X[:, 0])
            return np.where((whose % 3 == 2) & (X[:, 0] > 0.8), np.nan, values), gradients

        return ascend_all(
            landscapes, starts[rows], np.zeros(D), np.ones(D), owners=mine, tolerance=tolerance[rows], race=race
        )

    points, values = climb(np.arange(n))
    for k in range(sites):
        rows = np.flatnonzero(owners == k)
        alone = climb(rows)
        same(points[rows], alone[0])
        same(values[rows], alone[1])


@EVERY_MODEL
@pytest.mark.parametrize(
    "utility", [EI.on, LogEI.on, PI.on, UCB.on, Thompson.on], ids=["ei", "log_ei", "pi", "ucb", "ts"]
)
@pytest.mark.parametrize(("n", "D"), [(5, 1), (17, 2), (33, 5), (64, 8)])
def test_searches(model, utility, n, D):
    gps = fit_all(list(tasks(rng(n), 6, n, D)), model=model, widths=np.full(D, 2.0))
    utilities = [utility(gp, rng(k)) for k, gp in enumerate(gps)]
    together = maximise_all(utilities, box(D), [rng(k) for k in range(6)])
    for k, (x, value) in enumerate(together):
        alone = maximise(utilities[k], box(D), rng(k))
        same(x, alone[0])
        assert value == alone[1]


@pytest.mark.parametrize(
    "space", [Space({"a": (0, 1), "b": ["x", "y"]}), Space({"a": (0, 1), "b": (0, 1)}, ["a + b <= 1"])]
)
def test_searches_of_spaces_that_are_no_box(space):
    Xs = [space.sample(12, rng(k)) for k in range(3)]
    utilities = [LogEI(gp) for gp in fit_all([Task(X, np.sin(4.0 * X).sum(axis=1)) for X in Xs])]
    for k, (x, value) in enumerate(maximise_all(utilities, space, [rng(k) for k in range(3)])):
        alone = maximise(utilities[k], space, rng(k))
        same(x, alone[0])
        assert value == alone[1]


# Whole studies

NAMES = tuple(f"lab-{k}" for k in range(7))


def outcome(k, x, noisy):
    return Measurement(float(np.sin(5.0 * x + k).sum() + 0.3 * k * x[0]), 0.05 if noisy else None)


def one_after_another(study, policy, noisy, data):
    """Every site by its own ask and tell, as over a network: nobody thinks for anybody else."""
    ledger = Ledger(study)
    sites = [
        Site(study, name, ledger, direction="minimise", policy=policy, data=data.get(name)) for name in study.sites
    ]
    while not all(site.is_finished for site in sites):
        for site in sites:
            if not site.is_finished:
                site.propose()
        for k, site in enumerate(sites):
            with suppress(Finished, Waiting):
                trial = site.ask()
                site.tell(trial, outcome(k, trial.x, noisy))
    return {site.name: site.trials for site in sites}


@pytest.mark.parametrize(
    ("rule", "shares_best"), [("identity", False), ("uniform", False), ("leader", False), ("uniform", True)]
)
@pytest.mark.parametrize(
    ("strategy", "D", "noisy", "unequal"),
    [
        (Bayesian(), 2, False, False),
        (Bayesian(), 5, True, True),
        (paper(), 3, False, False),
        (Bayesian(Thompson.on), 2, False, True),
    ],
    ids=["default", "default, noisy, unequal", "paper", "thompson, unequal"],
)
def test_a_study_in_one_process_is_that_of_sites_on_their_own(strategy, D, noisy, unequal, rule, shares_best):
    space = box(D)
    study = Study(space, NAMES, 9, rule=rule, shares_best=shares_best)
    data = {}
    if unequal:  # some sites know more than others, and cannot be stacked with them
        X = rng(5).random((8, D))
        data = {name: Dataset(X, np.cos(3.0 * X).sum(axis=1), direction="minimise") for name in NAMES[::3]}

    def experiment(k):
        return lambda design: outcome(k, space.to_unit(design), noisy)

    experiments = {name: experiment(k) for k, name in enumerate(NAMES)}
    policy = Policy(collaborative(strategy), initial=6, seed=3)
    history = simulate(study, experiments, direction="minimise", policy=policy, data=data)
    alone = one_after_another(study, policy, noisy, data)
    for name in NAMES:
        together = [trial for trial in history.trials if trial.site == name]
        assert [t.proposed for t in together] == [t.proposed for t in alone[name]]
        assert [t.executed for t in together] == [t.executed for t in alone[name]]
        assert [t.turn and t.turn.note for t in together] == [t.turn and t.turn.note for t in alone[name]]


def test_a_thought_is_dropped_when_the_trials_change():
    study = Study(box(2), ("a",), 4, rule="identity")
    site, twin = (Site(study, "a", Ledger(study), direction="minimise", policy=Policy(initial=4)) for _ in range(2))
    for each in (site, twin):
        for _ in range(4):
            trial = each.ask()
            each.tell(trial, float(trial.x.sum()))
        trial = each.ask()
        each.fail(trial)
    think([site])
    for each in (site, twin):
        each.tell(trial, 0.5)  # after all
    assert site.ask().proposed == twin.ask().proposed


@pytest.mark.parametrize("first", [True, False])
def test_sites_of_different_studies_think_together_as_each_would_alone(first):
    def ready(shares_best):
        study = Study(box(2), ("a", "b"), 4, shares_best=shares_best)
        site = Site(study, "a", Ledger(study), direction="minimise", policy=Policy(initial=4))
        for _ in range(4):
            trial = site.ask()
            site.tell(trial, float(trial.x.sum()))
        return site

    together = [ready(first), ready(not first)]
    think(together)
    assert [site.propose() for site in together] == [ready(first).propose(), ready(not first).propose()]


def test_a_strategy_that_cannot_batch_is_asked_site_by_site():
    asked = []

    def strategy(situation: Situation, random):
        asked.append(len(situation.dataset))
        return Bayesian()(situation, random)

    study = Study(box(1), ("a", "b"), 2, rule="identity")
    experiments = {"a": lambda x: x["x0"], "b": lambda x: -x["x0"]}
    simulate(study, experiments, direction="minimise", policy=Policy(strategy, initial=3))
    assert asked == [3, 3, 4, 4]


def test_groups_keep_the_order_and_are_not_too_large():
    seen = []

    def double(group):
        seen.append(list(group))
        return [2 * item for item in group]

    items = list(range(2 * MOST + 6))
    assert by_group(double, items, key=lambda item: item % 2) == [2 * item for item in items]
    assert all(len({item % 2 for item in group}) == 1 and len(group) <= MOST for group in seen) and len(seen) == 4
