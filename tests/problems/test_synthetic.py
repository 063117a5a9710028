"""Problems by name, and the sites that are made of them."""

from dataclasses import replace

import numpy as np
import pytest

from cboc.errors import CbocError
from cboc.problems.heterogeneity import Heterogeneity
from cboc.problems.problem import Problem, heterogeneous
from cboc.problems.sites import displaced, same, sites_of, two_groups, unrelated, with_outlier
from cboc.problems.synthetic import branin, hartmann, levy, michalewicz, problem
from cboc.space.space import Space

NAMES = (
    "levy-2",
    "levy-8",
    "ackley-5",
    "branin",
    "shekel-10",
    "hartmann-6",
    "rosenbrock-2",
    "rosenbrock-6",
    "styblinski-tang-3",
    "rastrigin-4",
    "michalewicz-5",
)


def rng(seed=0):
    return np.random.default_rng(seed)


# ---------------------------------------------------------------------------------------------------------- by name


@pytest.mark.parametrize("name", NAMES)
def test_a_problem_by_name_has_its_optimum_where_it_says_and_nowhere_a_better_one(name):
    found = problem(name)
    assert found.name == name
    np.testing.assert_allclose(found.function(found.optimisers), found.optimum, rtol=1e-14, atol=1e-14)
    best = found.values(found.space.sample(20_000, rng())).min()
    assert best >= found.optimum


@pytest.mark.parametrize("name", NAMES)
def test_the_search_without_hints_finds_the_known_optimum(name):
    blind = replace(problem(name), known_optimum=None, optimisers=np.empty((0, 0)))
    assert blind.optimum == pytest.approx(problem(name).optimum, abs=1e-6 * problem(name).depth)


@pytest.mark.parametrize("name", [name for name in NAMES if problem(name).is_global])
def test_a_global_optimum_is_not_beaten_outside_the_box(name):
    found = problem(name)
    low, high = found.box
    wide = low + (high - low) * rng().uniform(-1.0, 2.0, (50_000, len(low)))
    assert found.function(wide).min() >= found.optimum


def test_michalewicz_is_beaten_outside_its_box_and_says_so():
    assert not michalewicz(4).is_global
    wide = replace(michalewicz(4), space=Space({f"x{d}": (0.0, 3 * np.pi) for d in range(1, 5)}), known_optimum=None)
    assert wide.optimum < michalewicz(4).optimum - 0.1


@pytest.mark.parametrize(("dimension", "value"), [(2, -1.8013034), (5, -4.687658), (10, -9.6601517)])
def test_the_published_optima_of_michalewicz(dimension, value):
    assert michalewicz(dimension).optimum == pytest.approx(value, abs=1e-6)


def test_the_minima_of_branin_go_on_beyond_the_box():
    low, high = branin().box
    inside = ((branin().optimisers >= low) & (branin().optimisers <= high)).all(axis=1)
    assert len(inside) == 7 and inside.sum() == 3 and inside[0]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("levi-4", "'levi-4' is not a problem of this library; did you mean 'levy-4'?"),
        (
            "styblinski_tang-4",
            "'styblinski_tang-4' is not a problem of this library; did you mean 'styblinski-tang-4'?",
        ),
        ("hartmann", "'hartmann' is not a problem of this library; did you mean 'hartmann-6'?"),
        ("levy-0", "levy has 1 to 100 dimensions, but got '0'; try 'levy-2'."),
        ("rosenbrock-1", "rosenbrock has at least 2 dimensions, but got 1; try 'rosenbrock-2'."),
        ("", "'' is not a problem of this library; known: branin, shekel-10, "),
    ],
)
def test_an_unknown_name_gets_one_sentence(name, sentence):
    with pytest.raises(CbocError) as caught:
        problem(name)
    assert str(caught.value).startswith(sentence)


# ------------------------------------------------------------------------------------------------------------ sites


def test_the_sites_of_levy_have_always_been_these():
    """Benchmarks and examples name seeds; the order of the draws is part of what a seed means."""
    old = rng(7)
    a1, a2, a3 = old.uniform(0.5, 1.0, 3), old.standard_normal(3), old.standard_normal(3)
    new = rng(7)
    sites = sites_of(levy(2), 3, new)
    X = rng().random((10, 2))
    natural = levy(2).space.array_from_unit(X)
    for k, site in enumerate(sites):
        assert site.name == f"levy-2#{k}"
        np.testing.assert_array_equal(site.values(X), a1[k] * levy(2).function(natural + a3[k]) + a2[k])
        assert site.optimum == a2[k]
    assert old.random() == new.random()
    assert (sites[0].function.scale, sites[2].function.shift[0]) == (0.8125477333023334, -0.49220651855132963)


@pytest.mark.parametrize(
    ("name", "a1", "a2", "a3"),  # (low, high), (mean, variance), (mean, variance)
    [
        ("levy-4", (0.5, 1.0), (0.0, 1.0), (0.0, 1.0)),
        ("shekel-10", (0.5, 1.0), (0.0, 2.0), (0.0, 1.0)),
        ("branin", (0.5, 1.0), (0.0, 1.0), (0.0, 1.0)),
        ("hartmann-6", (0.5, 2.0), (0.0, 1.0), (0.0, 1.0)),
        ("ackley-5", (1.0, 2.0), (0.5, 1.0), (0.5, 1.0)),
        ("rosenbrock-4", (0.5, 1.0), (0.0, 1.0), (0.0, 0.75**2)),
        ("michalewicz-4", (0.5, 1.0), (0.0, 1.0), (0.0, (0.05 * np.pi) ** 2)),
    ],
)
def test_sites_differ_as_the_paper_says(name, a1, a2, a3):
    sites = sites_of(problem(name), 4000, rng())
    scales, offsets = (np.array([getattr(site.function, part) for site in sites]) for part in ("scale", "offset"))
    shifts = np.array([site.function.shift for site in sites])
    assert a1[0] <= scales.min() < a1[0] + 0.01 and a1[1] - 0.01 < scales.max() <= a1[1]
    assert offsets.mean() == pytest.approx(a2[0], abs=0.1) and offsets.var() == pytest.approx(a2[1], rel=0.1)
    assert shifts.mean() == pytest.approx(a3[0], abs=0.1) and shifts.var() == pytest.approx(a3[1], rel=0.1)
    assert np.ptp(shifts, axis=1).max() == 0.0  # vec(a3): the same in every dimension


@pytest.mark.parametrize("wrong", [{"scale": (1.0, 0.5)}, {"scale": (-1.0, 1.0)}, {"shift": (0.0, -1.0)}])
def test_impossible_heterogeneity_is_refused(wrong):
    with pytest.raises(CbocError, match="but got"):
        Heterogeneity(**wrong)


@pytest.mark.parametrize("name", ["levy-4", "branin", "hartmann-6", "rosenbrock-3"])
def test_a_displaced_optimum_is_anywhere_in_the_inner_part_of_the_box(name):
    common = problem(name)
    moved = [displaced(common, rng(seed)) for seed in range(400)]
    low, high = common.box
    places = (np.array([one.optimisers[0] for one in moved]) - low) / (high - low)
    assert 0.1 <= places.min() < 0.11 and 0.89 < places.max() <= 0.9
    np.testing.assert_allclose(places.mean(axis=0), 0.5, atol=0.05)
    np.testing.assert_allclose(places.std(axis=0), 0.8 / np.sqrt(12), rtol=0.1)
    for one in moved[:20]:
        assert one.known_optimum == common.optimum == pytest.approx(one.function(one.optimisers[:1])[0], abs=1e-12)
    assert moved[0].name == displaced(moved[0], rng()).name == f"displaced {name}"


def test_sites_of_a_displaced_problem_know_their_optima_where_an_optimiser_is_inside():
    generator = rng(3)
    sites = sites_of(displaced(levy(4), generator), 40, generator)
    inside = [bool((np.abs(site.optimisers) <= 10.0).all()) for site in sites]
    assert 0 < sum(inside) <= 40
    for site, is_inside in zip(sites, inside, strict=True):
        assert (site.known_optimum is not None) == is_inside
        if is_inside:
            assert site.optimum == site.function.offset
            assert site.function(site.optimisers)[0] == pytest.approx(site.optimum, abs=1e-12)
        else:
            assert site.optimum > site.function.offset
    spread = np.array([site.optimisers[0] - sites[0].optimisers[0] for site in sites])
    np.testing.assert_allclose(spread, spread[:, :1].repeat(4, axis=1), atol=1e-12)  # the displacement is common


def test_a_problem_without_known_optimisers_cannot_be_displaced():
    nameless = Problem("mine", Space({"x": (0, 1)}), lambda X: X[:, 0])
    with pytest.raises(CbocError, match="to displace 'mine' one of its optimisers must be known"):
        displaced(nameless, rng())


def test_unrelated_sites_have_nothing_in_common():
    sites = unrelated(hartmann(), 200, rng())
    places = np.array([site.optimisers[0] for site in sites])
    assert np.abs(np.corrcoef(places.T) - np.eye(6)).max() < 0.3 and places.std(axis=0).min() > 0.2
    assert len({site.function.scale for site in sites}) == len({site.function.offset for site in sites}) == 200
    assert [site.name for site in sites[:2]] == ["displaced hartmann-6#0", "displaced hartmann-6#1"]
    for site in sites[:10]:
        assert site.optimum == site.function.scale * hartmann().optimum + site.function.offset


def optimiser(site):
    return site.optimisers[0]


def test_an_outlier_is_the_last_and_the_others_are_together():
    *group, outlier = (optimiser(site) for site in with_outlier(levy(4), 30, rng()))
    assert np.ptp(group, axis=0).max() < 5.0 < np.abs(outlier - np.mean(group, axis=0)).max()


def test_two_groups_take_turns():
    places = np.array([optimiser(site) for site in two_groups(levy(4), 9, rng(1))])
    apart = np.abs(places[::2].mean(axis=0) - places[1::2].mean(axis=0)).max()
    assert max(np.ptp(places[::2], axis=0).max(), np.ptp(places[1::2], axis=0).max()) < 5.0 < apart
    assert [site.name for site in two_groups(levy(4), 3, rng(1))] == [f"displaced levy-4#{k}" for k in range(3)]


def test_the_same_sites_are_the_same_but_for_their_names():
    X = rng().random((5, 2))
    sites = same(branin(), 3)
    assert [site.name for site in sites] == ["branin#0", "branin#1", "branin#2"]
    assert all((site.values(X) == branin().values(X)).all() and site.optimum == branin().optimum for site in sites)


def test_a_version_of_a_version_is_a_version():
    twice = heterogeneous(heterogeneous(levy(2), 2.0, 1.0, 0.5), 3.0, -1.0, [1.0, -0.25])
    once = heterogeneous(levy(2), 6.0, 2.0, [1.5, 0.25])
    assert twice == once and twice.optimum == once.optimum == 2.0
