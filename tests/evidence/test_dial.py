"""Worlds with a dial: what is run, and how it is measured."""

from dataclasses import replace

import numpy as np
import pytest

from cboc.errors import CbocError
from cboc.evidence.dial import (
    ALONE,
    APART,
    METHODS_SHOWN,
    NULL,
    OURS,
    REPORTED,
    RIVAL,
    TUNING,
    VARIANTS,
    Probe,
    Reading,
    World,
    dials_of,
    explore,
    probes,
    variants_of,
)

SMALL = World("dial", 0.9, 1)


def probe(method=OURS, sites=2, world=SMALL, seed=TUNING):
    return Probe(world, sites, method, seed)


@pytest.mark.parametrize("method", METHODS_SHOWN)
def test_every_method_gives_the_same_reading_again(method):
    (first, _), (second, _) = explore(probe(method)), explore(probe(method))
    assert first == second
    read = Reading.from_json(first)
    assert read.to_json() == first and read.job == probe(method)
    assert len(read.area) == 2 and min(read.area) > 0.0
    assert (read.area <= np.array(read.final)).all()


@pytest.mark.parametrize("method", APART)
@pytest.mark.parametrize("world", [SMALL, World("mixed", 0.5, 2)])
def test_a_site_alone_does_not_depend_on_how_many_others_there_are(method, world):
    few, many = (Reading.from_json(explore(probe(method, sites, world))[0]) for sites in (2, 4))
    assert few.area == many.area[:2] and few.final == many.final[:2]


def test_a_neighbours_best_design_is_worth_as_much_as_the_dial_says():
    """With r = 1 it is the neighbour's own final Gap; with r = 0 it is a design like any other."""
    same, strangers = (Reading.from_json(explore(probe(ALONE, 8, World("dial", r, 1)))[0]) for r in (1.0, 0.0))
    others = (sum(same.final) - np.array(same.final)) / 7
    np.testing.assert_allclose(same.borrowed, others, atol=1e-5)
    assert np.mean(strangers.borrowed) < 0.6 < np.mean(same.borrowed)


def test_the_gap_runs_from_the_median_of_the_box_to_the_optimum():
    world = World("dial", 0.5, 1)
    read = Reading.from_json(explore(probe("random", 3, world))[0])
    problems = world.problems(3, TUNING)
    for k, problem in enumerate(problems):
        way = np.median(problem.values(np.linspace(0, 1, 4001)[:, None])) - problem.optimum
        assert problem.depth == pytest.approx(way, rel=0.02)
        assert 0.0 <= read.area[k] <= read.final[k] <= 1.0


# ---------------------------------------------------------------------------------------------------------------- jobs


def test_those_who_hear_nobody_are_run_once_with_the_most_sites():
    jobs = probes(dials_of(["dial"], (0.0, 1.0), (2, 4)), (2, 3, 5), METHODS_SHOWN, range(REPORTED, REPORTED + 2))
    assert len(jobs) == len(set(jobs)) == 2 * 4 * (1 + 1 + 3 + 3)
    assert {job.sites for job in jobs if job.method in (ALONE, NULL)} == {5}
    assert {job.sites for job in jobs if job.method == RIVAL} == {2, 3, 5}
    assert [job.seed for job in jobs] == sorted(job.seed for job in jobs)


def test_the_worlds_of_a_command():
    assert dials_of(["shifted"], (0.5,), (2,)) == []
    assert variants_of(["shifted", "dial"]) == [world for world in VARIANTS if world.kind == "shifted"]
    assert {world.dimension for world in variants_of(["groups"], [2, 3])} == {2, 3}
    with pytest.raises(CbocError, match="there is no world 'shiftd'; did you mean 'shifted'"):
        variants_of(["shiftd"])


def test_tuning_seeds_are_not_reported():
    assert not probe(seed=TUNING).is_reported and not probe(seed=REPORTED - 1).is_reported
    assert probe(seed=REPORTED).is_reported


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: World("dail", 0.5, 2), "there is no world 'dail'; did you mean 'dial'"),
        (lambda: World("dial", 1.5, 2), "r, the share that sites have in common, is a number from 0 to 1"),
        (lambda: World("dial", 0.5, 9), "is a whole number from 1 to 8"),
        (lambda: replace(probe(), sites=1), "the number of sites is a whole number from 2 to 100"),
        (lambda: replace(probe(), method="others-best"), "did you mean 'others-best-first'"),
        (lambda: replace(probe(), seed=-1), "a seed is a whole number from 0"),
    ],
)
def test_bad_jobs_get_one_sentence(make, sentence):
    with pytest.raises(CbocError, match=sentence):
        make()


def test_a_damaged_row_is_refused():
    row = Reading(probe(), (0.5, 0.6), (0.7, 0.8), (0.0, 0.1)).to_json()
    assert Reading.from_json(row).area == (0.5, 0.6)
    for spoilt in (
        {"area": [0.5]},
        {"final": [0.7, 1.2]},
        {"area": ["a", "b"]},
        {"amount": True},
        {"area": [0.8, 0.6]},
    ):
        with pytest.raises(ValueError, match=r".*"):
            Reading.from_json(row | spoilt)
