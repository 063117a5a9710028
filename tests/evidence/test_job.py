import numpy as np
import pytest

from cboc.errors import CbocError
from cboc.evidence.job import Job, Row, measure, work
from cboc.evidence.scenario import Kind, Scenario, Trouble
from cboc.strategy.bayesian import Bayesian

METHODS = (
    "individual",
    "individual-ts",
    "cboc",
    "cboc-u",
    "cboc-l",
    "cboc-u-gated",
    "fts",
    "fts-de",
    "dp-fts-de",
    "centre",
    "strangers",
    "pooled",
    "random",
)
SMALL = Scenario("levy-2", 3, rounds=4)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_the_same_row_again(method):
    job = Job(SMALL, "default", method, 3)
    (first, _), (second, _) = work(job), work(job)
    assert first == second
    assert len(first["curve"]) == 5 and len(first["final"]) == 3
    assert all(0.0 <= gap <= 1.0 for gap in first["curve"])


def test_every_method_starts_from_the_same_designs_and_problems():
    one, other = SMALL.case(3, Bayesian()), SMALL.case(3, Bayesian())
    assert all(a == b for a, b in zip(one.initial, other.initial, strict=True))
    assert len({data.X.tobytes() for data in one.initial}) == 3  # each site has its own designs
    assert one.initial[0] != SMALL.case(4, Bayesian()).initial[0]
    assert all(len(data) == 10 for data in one.initial)  # 5 D


def test_the_course_of_a_known_run():
    """One site, |x| like: the Gap goes from the first best to the optimum, the regret adds up what was missed."""
    scenario = Scenario("levy-2", 1, Kind.SAME, rounds=2)
    case = scenario.case(0, Bayesian())
    site = case.problems[0]
    best, optimum = case.initial[0].best.y, site.optimum
    perfect = site.space.to_unit({"x1": 1.0, "x2": 1.0})
    designs = np.array([[case.initial[0].best.x, perfect]])
    row = measure(Job(scenario, "default", "random", 0), case, designs)
    assert row.curve == pytest.approx((0.0, 0.0, 1.0))
    assert row.final == pytest.approx((1.0,)) and row.area == pytest.approx((0.5,))
    assert row.regret == pytest.approx(((best - optimum) / site.depth,), abs=1e-6)


def test_noise_does_not_count_as_progress():
    """The Gap is judged by the truth at the design that measured best, so luck in measuring is no gain."""
    quiet, noisy = (Scenario("levy-2", 1, Kind.SAME, noise=noise, rounds=3) for noise in (0.0, 1.0))
    case = noisy.case(0, Bayesian())
    truth = case.problems[0].values(case.initial[0].X)
    assert not np.allclose(truth, case.initial[0].y)
    again = np.repeat(case.initial[0].best.x[None, None], 3, axis=1)
    curve = measure(Job(noisy, "default", "random", 0), case, again).curve
    assert len(set(curve)) == 1
    assert np.allclose(quiet.case(0, Bayesian()).initial[0].y, truth)


def test_with_noise_the_way_is_that_from_the_median_to_the_optimum():
    """One that began at the optimum by luck, and then measured something worse as better, is not infinitely worse."""
    noisy = Scenario("levy-2", 1, Kind.SAME, noise=1.0, rounds=1)
    case = noisy.case(0, Bayesian())
    site, best = case.problems[0], case.initial[0].best.x
    row = measure(Job(noisy, "default", "random", 0), case, best[None, None])
    missed = float(site.values(best[None])[0] - site.optimum) / site.depth
    assert row.final == pytest.approx((1.0 - missed,), abs=1e-6) and missed > 0.0


def test_flat_sites_count_as_solved_and_are_counted():
    job = Job(Scenario("hartmann-6", 20, rounds=1), "default", "random", 0)
    row, _ = work(job)
    assert 0 < row["flat"] < 20
    assert sum(gap == 1.0 for gap in row["final"]) >= row["flat"]


def test_placebos_hear_other_voices():
    """With the centre of the box for peers, round 0 is (1/K) own + (1 - 1/K) centre."""
    from cboc.evidence.methods.consensus import Consensus
    from cboc.evidence.methods.controls import centre

    case = SMALL.case(5, Bayesian())
    alone, mixed = Consensus("identity")(case), centre(case)
    assert np.allclose(mixed[:, 0], alone[:, 0] / 3 + 0.5 * 2 / 3, atol=1e-8)


def test_strangers_know_nothing_of_the_problem():
    from cboc.evidence.methods.controls import unrelated_run

    case = Scenario("levy-2", 3, Kind.SAME, is_displaced=True).case(5, Bayesian())
    other = unrelated_run(case)
    assert other.sites == case.sites and other.seed != case.seed
    assert other.problems[0].name.startswith("displaced levy-2")
    assert not np.allclose(other.initial[0].X, case.initial[0].X)


def test_pooling_the_same_function_beats_working_alone():
    """Five sites with one smooth function and everybody's data: the ceiling is above."""
    scenario = Scenario("branin", 5, Kind.SAME, rounds=8)
    areas = {
        method: np.mean([np.mean(work(Job(scenario, "default", method, seed))[0]["area"]) for seed in range(4)])
        for method in ("individual", "pooled")
    }
    assert areas["pooled"] > areas["individual"]


def test_random_search_does_not_know_where_the_optimum_is():
    """The streams of the problem, of the initial designs and of the methods are apart, whatever the site."""
    from cboc.evidence.methods.controls import random_search

    scenario = Scenario("levy-4", 3, Kind.SAME, is_displaced=True)
    case = scenario.case(0, Bayesian())
    low, high = case.problems[0].box
    optimum = (case.problems[0].optimisers[0] - low) / (high - low)
    designs = random_search(case)
    drawn = np.random.default_rng([0, 0]).random(4)  # where `displaced` has put it
    assert np.allclose(optimum, 0.5 + 0.8 * (drawn - 0.5))
    starts = [designs, *(data.X for data in case.initial)]
    assert not any(np.isclose(part, drawn).all(axis=-1).any() for part in starts)
    assert not any(np.isclose(designs[k, :1], data.X[:1]).all() for k in range(3) for data in case.initial)


@pytest.mark.parametrize(
    ("trouble", "rounds"),
    [(Trouble.LATE, {0, 1, 2, 3}), (Trouble.LEAVING, {3, 4, 5}), (Trouble.BUDGETS, {1, 3, 5})],
)
@pytest.mark.parametrize("method", ["individual", "cboc", "cboc-l"])
def test_who_is_absent_stays_where_it_was_and_the_others_go_on(method, trouble, rounds):
    job = Job(Scenario("levy-2", 3, rounds=8 if trouble == Trouble.LATE else 6, trouble=trouble), "default", method, 3)
    case = job.scenario.case(3, Bayesian())
    absent = ~case.attendance
    assert set(np.flatnonzero(absent[1]).tolist()) == rounds and not absent[[0, 2]].any()
    row = Row.from_json(work(job)[0])
    assert row.job == job
    if method == "individual":  # somebody else's absence changes nothing
        whole = Job(Scenario("levy-2", 3, rounds=job.scenario.rounds), "default", method, 3)
        assert [row.final[k] for k in (0, 2)] == [Row.from_json(work(whole)[0]).final[k] for k in (0, 2)]


def test_failures_give_no_result_and_are_the_same_for_every_method():
    scenario = Scenario("levy-2", 3, rounds=6, trouble=Trouble.FAILURES)
    case = scenario.case(3, Bayesian())
    X = np.random.default_rng(0).random((2000, 2))
    failed = np.array([np.isnan(case.experiment(0, x)) for x in X])
    assert 0.17 < failed.mean() < 0.23
    assert failed.tolist() == [np.isnan(case.experiment(0, x)) for x in X]
    assert failed.tolist() != [np.isnan(case.experiment(1, x)) for x in X]
    assert not any(np.isnan(data.y).any() for data in case.initial)
    row = Row.from_json(work(Job(scenario, "default", "cboc", 3))[0])
    assert all(0.0 <= gap <= 1.0 for gap in row.final)


@pytest.mark.parametrize("method", ["fts", "pooled", "centre", "random"])
def test_a_rival_that_knows_no_trouble_says_so(method):
    with pytest.raises(CbocError, match="choose individual or a consensus"):
        Job(Scenario("levy-2", 3, trouble=Trouble.LATE), "default", method, 3)
