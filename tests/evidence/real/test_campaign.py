"""Campaigns on small tables: what is run, and how it is measured."""

from dataclasses import replace
from math import nan

import numpy as np
import pytest

from cboc.data.dataset import Direction
from cboc.errors import CbocError
from cboc.evidence.case import begin
from cboc.evidence.methods.registry import RIVALS
from cboc.evidence.methods.starts import started
from cboc.evidence.real.campaign import (
    EXPERIMENTS,
    FREE_METHODS,
    METHODS_SHOWN,
    Campaign,
    Pace,
    Progress,
    campaigns,
    carry_out,
    drawn,
    gap_curve,
)
from cboc.evidence.real.families import SIMPLEX, tables
from cboc.evidence.real.lookup import Nearest, known
from cboc.strategy.bayesian import Bayesian

OPTIONS, MIXTURE = "aryl-halide", "photo-blends"


def job(method, family=OPTIONS, pace=Pace.ROUNDS, seed=0, initial=4):
    return Campaign(family, initial, pace, method, seed)


@pytest.mark.parametrize("method", METHODS_SHOWN)
def test_every_method_gives_the_same_progress_again_on_options_with_absent_rows(method, folder):
    (first, _), (second, _) = carry_out(folder, job(method)), carry_out(folder, job(method))
    assert first == second
    told = Progress.from_json(first)
    assert told.to_json() == first and len(told.curve) == EXPERIMENTS and len(told.area) == 3
    assert (np.diff(told.curve) >= 0.0).all()


@pytest.mark.parametrize("method", [*RIVALS, "fts", "cboc-l"])
def test_mixtures_too(method, folder):
    told = Progress.from_json(carry_out(folder, job(method, MIXTURE, initial=32))[0])
    assert len(told.final) == 2 and min(told.final) > 0.5 and sum(told.failures) == 0


@pytest.mark.parametrize("method", FREE_METHODS)
def test_at_the_free_pace_nobody_waits_and_alone_runs_the_same_designs(method, folder):
    rounds, free = (carry_out(folder, job(method, "suzuki-pairs", pace))[0] for pace in Pace)
    assert len(free["area"]) == 8
    if method == "individual":
        assert rounds | {"pace": "free"} == free


def test_absent_rows_are_met_and_counted(folder):
    told = Progress.from_json(carry_out(folder, job("random", seed=2, initial=10))[0])
    assert told.failures[1] == 0  # the bromide's table is complete
    assert sum(told.failures) > 0 and all(0 < repeats < EXPERIMENTS for repeats in told.repeats)


# ------------------------------------------------------------------------------------------------------ measures


def test_the_gap_runs_from_the_median_to_the_optimum():
    """Median 4, optimum 1: 4 is 0, 2.5 is one half; 9 is below the median, and NaN failed."""
    site = known("s", SIMPLEX, Direction.MINIMISE, Nearest(np.eye(4), np.array([1.0, 2.0, 6.0, 9.0])))
    curve = gap_curve(np.array([nan, 9.0, 4.0, 2.5, nan, 6.0, 1.0]), site)
    assert curve == pytest.approx([0.0, 0.0, 0.0, 0.5, 0.5, 0.5, 1.0])


def test_never_counts_as_one_more_than_all(folder):
    rows = [Progress.from_json(carry_out(folder, job("random", MIXTURE, seed=seed))[0]) for seed in range(3)]
    for row in rows:
        for final, arrival in zip(row.final, row.arrival, strict=True):
            assert (arrival == EXPERIMENTS + 1) == (final < 0.95)
    assert any(EXPERIMENTS + 1 in row.arrival for row in rows)


# -------------------------------------------------------------------------------------------------------- starts


@pytest.fixture
def case(folder):
    return begin([site.problem for site in tables(OPTIONS, folder)], 4, 3, 7, Bayesian())


def test_a_warm_start_has_half_of_the_designs_and_the_others_best(case):
    warm = started(RIVALS["warm-start"], case)
    bests = [case.measured(k, X[:2]).best.x for k, X in enumerate(case.first)]
    for k, (X, own) in enumerate(zip(warm.first, case.first, strict=True)):
        np.testing.assert_array_equal(X[:2], own[:2])
        others = [best for peer, best in enumerate(bests) if peer != k]
        for place, x in enumerate(X[2:], start=2):  # each once; then the own ones follow
            is_others = any((x == best).all() for best in others)
            assert is_others or (x == own[place]).all()
        assert any((X[2] == best).all() for best in others)
        assert len(np.unique(X, axis=0)) == len(np.unique(X[:2], axis=0)) + 2


def test_the_null_is_at_the_same_sites_and_starts_elsewhere(case):
    again = started(RIVALS["individual-again"], case)
    assert again.problems == case.problems and again.horizon == case.horizon
    assert all((a != b).any() for a, b in zip(again.first, case.first, strict=True))


def test_other_methods_start_from_the_common_designs(case):
    assert started(RIVALS["others-best-first"], case) is case


def test_where_there_are_more_than_eight_sites_each_seed_draws_its_own(folder):
    sites = tables("suzuki-pairs", folder)
    assert len(sites) == 12
    names = [[site.problem.name for site in drawn(sites, seed)] for seed in (0, 0, 1)]
    assert names[0] == names[1] != names[2] and len(set(names[0])) == 8
    assert drawn(sites[:8], 0) == list(sites[:8])


# ---------------------------------------------------------------------------------------------------------- jobs


def test_the_jobs_of_a_command():
    every = campaigns([OPTIONS], (4, 10), list(Pace), None, range(2))
    assert len(every) == 2 * 2 * (len(METHODS_SHOWN) + len(FREE_METHODS)) == len(set(every))
    assert [each.seed for each in every] == sorted(each.seed for each in every)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"family": "aryl-halides"}, "did you mean 'aryl-halide'"),
        ({"method": "others-best"}, "did you mean 'others-best-first'"),
        ({"method": "rgpe", "pace": Pace.FREE}, "'rgpe' exists in rounds only; at the free pace there are individual"),
        ({"initial": 40}, "initial is a whole number from 2 to 39"),
        ({"seed": -1}, "a seed is a whole number from 0"),
        ({"pace": "slow"}, "there is no pace 'slow'"),
    ],
)
def test_bad_campaigns_get_one_sentence(change, sentence):
    with pytest.raises(CbocError, match=sentence):
        replace(job("individual"), **change)


def test_a_damaged_row_is_refused(folder):
    row, _ = carry_out(folder, job("random"))
    spoilt = {"curve": row["curve"][1:], "final": [2.0] * 3, "arrival": [0] * 3, "repeats": [1.5] * 3, "area": [0.5]}
    for name, values in spoilt.items():
        with pytest.raises(ValueError, match="aryl-halide"):
            Progress.from_json(row | {name: values})


def contradictions(row):
    """Values within their bounds that contradict the rest of a row."""
    return {
        "curve": [*row["curve"][:20], 0.0, *row["curve"][21:]],  # a best so far falls
        "area": [*row["area"][1:], 0.0],  # another mean than that of the curve
        "final": [row["final"][0] - 0.005, *row["final"][1:]],  # another end than that of the curve
        "arrival": [EXPERIMENTS + 1 if each <= EXPERIMENTS else 1 for each in row["arrival"]],
        "repeats": [EXPERIMENTS, *row["repeats"][1:]],  # the first experiment repeats nothing
    }


@pytest.mark.parametrize("name", ["curve", "area", "final", "arrival", "repeats"])
def test_a_row_that_contradicts_itself_is_refused(folder, name):
    row, _ = carry_out(folder, job("random", seed=1, initial=10))
    assert min(row["area"]) > 0.0 and row["area"][0] < row["final"][0] - 0.005 and Progress.from_json(row)
    with pytest.raises(ValueError, match=r".*"):
        Progress.from_json(row | {name: contradictions(row)[name]})


def test_an_area_that_its_arrival_cannot_give_is_refused(folder):
    """Who has arrived has at least 0.95 from there on: 0.95 · 31 / 40 = 0.74 of area by experiment 10."""
    row, _ = carry_out(folder, job("random"))
    one = row | {"curve": [0.5] * EXPERIMENTS, "area": [0.5] * 3, "final": [0.5] * 3, "arrival": [41] * 3}
    assert Progress.from_json(one)
    late = {"curve": [0.5] * 39 + [1.0], "area": [0.5125] * 3, "final": [1.0] * 3}
    assert Progress.from_json(one | late | {"arrival": [40] * 3})
    with pytest.raises(ValueError, match="contradicts its Gaps"):
        Progress.from_json(one | late | {"arrival": [10] * 3})


def test_without_tables_nothing_is_run():
    with pytest.raises(CbocError, match="--data says where these tables are"):
        carry_out(None, job("individual"))
