"""What a problem knows about itself: its optimum, its noise, whether there is anything to find."""

import pickle
from dataclasses import dataclass, replace
from time import process_time

import numpy as np
import pytest
from scipy.optimize import differential_evolution, minimize

from cboc.errors import CbocError
from cboc.evidence.scenario import Scenario
from cboc.problems import problem as module
from cboc.problems.problem import Problem, heterogeneous, noisy
from cboc.problems.sites import displaced, same, sites_of
from cboc.problems.synthetic import ackley, branin, hartmann, levy, michalewicz, problem
from cboc.space.space import Space


def rng(seed=0):
    return np.random.default_rng(seed)


def by_brute_force(site, starts=30):
    """Differential evolution, and L-BFGS-B from the best of many random points."""
    low, high = site.box
    bounds = list(zip(low, high, strict=True))
    X = low + (high - low) * rng(1).random((20_000, len(low)))
    y = site.function(X)
    depth = max(np.median(y) - y.min(), 1e-300)

    def value_and_slope(x):
        """By differences towards the inside of the box, all in one call."""
        x = np.clip(x, low, high)
        steps = np.where(x < (low + high) / 2, 1.0, -1.0) * 1e-8 * np.maximum(1.0, np.abs(x))
        values = site.function(np.vstack([x, x + np.diag(steps)])) / depth
        return values[0], (values[1:] - values[0]) / steps

    evolved = differential_evolution(
        lambda X: site.function(X.T) / depth,
        bounds,
        seed=1,
        maxiter=200,
        tol=1e-12,
        vectorized=True,
        updating="deferred",
        polish=False,
    )
    ends = [
        minimize(
            value_and_slope, x, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-9}
        ).fun
        for x in [evolved.x, *X[np.argsort(y)[:starts]]]
    ]
    return depth * min(ends)


def shifted_at_random(common, generator):
    """By a number, by a number after a displacement, or by anything that leaves a part of the box: all three."""
    low, high = common.box
    return [
        heterogeneous(common, 1.0, 0.0, generator.normal(0.0, 1.0)),
        heterogeneous(displaced(common, generator), 1.0, 0.0, generator.normal(0.0, 0.1 * (high - low).max())),
        heterogeneous(common, 1.0, 0.0, (high - low) * generator.uniform(-0.7, 0.7, len(low))),
    ]


# ---------------------------------------------------------------------------------------------------------- optimum


@pytest.mark.parametrize(
    ("name", "rounds"),
    [
        ("hartmann-6", 6),
        ("branin", 8),
        ("levy-2", 3),
        ("shekel-10", 4),
        ("ackley-2", 3),
        ("michalewicz-3", 3),
        ("rosenbrock-3", 3),
    ],
)
def test_the_optimum_is_what_brute_force_finds(name, rounds):
    generator = rng(rounds)
    for site in (site for _ in range(rounds) for site in shifted_at_random(problem(name), generator)):
        found = replace(site, known_optimum=None).optimum
        assert found == pytest.approx(by_brute_force(site), abs=1e-6 * site.depth)
        if site.known_optimum is not None:
            assert found == pytest.approx(site.known_optimum, abs=1e-6 * site.depth)


@pytest.mark.parametrize("name", ["levy-8", "rastrigin-6", "styblinski-tang-6", "michalewicz-8"])
def test_the_optimum_of_a_sum_is_the_sum_of_the_optima(name):
    """Separable functions, by one fine search along every edge from the lowest corner."""
    for site in shifted_at_random(problem(name), rng(5)):
        low, high = site.box
        corner = site.function(low[None])[0]
        edges = np.repeat(low[None], 60_001, axis=0)
        gains = []
        for d in range(len(low)):
            edge = edges.copy()
            edge[:, d] = np.linspace(low[d], high[d], len(edge))
            gains.append(site.function(edge).min() - corner)
        found = replace(site, known_optimum=None).optimum
        assert found == pytest.approx(corner + sum(gains), abs=1e-6 * site.depth)


def test_the_search_is_fast():
    sites = [site for site in sites_of(hartmann(), 60, rng(11)) if site.known_optimum is None]
    seconds = []
    for site in sites:
        start = process_time()
        _ = site.optimum
        seconds.append(process_time() - start)
    assert np.median(seconds) < 0.06


def test_what_has_been_searched_once_is_known_in_the_process(monkeypatch):
    calls = []
    monkeypatch.setattr(module, "lowest", lambda *_: calls.append(0) or -1.0)
    module._lowest.cache_clear()
    sites = [heterogeneous(michalewicz(2), 1.0 + k, float(k), 0.3) for k in range(3)]
    assert [site.optimum for site in sites] == [-1.0, -1.0, -1.0] and len(calls) == 1  # a1 and a2 do not matter
    assert heterogeneous(michalewicz(2), 1.0, 0.0, 0.4).optimum == -1.0 and len(calls) == 2
    module._lowest.cache_clear()


def test_a_function_that_cannot_be_hashed_has_an_optimum_too():
    @dataclass
    class Bowl:
        centre: float

        def __call__(self, X):
            return ((X - self.centre) ** 2).sum(axis=1)

    bowl = Problem("bowl", Space({"x": (0, 1), "y": (0, 1)}), Bowl(0.25))
    assert bowl.optimum == pytest.approx(0.0, abs=1e-12)
    assert heterogeneous(bowl, 2.0, 3.0, -1.0).optimum == pytest.approx(3.0 + 2.0 * 2 * 0.25**2, rel=1e-9)


def test_the_largest_value_is_the_optimum_of_what_is_maximised_and_of_a_negative_scale():
    high = replace(branin(), direction="maximise", known_optimum=None)
    assert high.optimum == pytest.approx(308.12909601160663)  # at the corner (-5, 0)
    upside_down = heterogeneous(branin(), -2.0, 1.0, 0.0)
    assert upside_down.known_optimum is None
    assert upside_down.optimum == pytest.approx(1.0 - 2.0 * high.optimum)


def test_an_optimum_is_only_taken_along_if_it_stays_in_the_box_and_nothing_better_comes_in():
    assert heterogeneous(levy(2), 2.0, 3.0, -9.0).known_optimum == 3.0  # from 1 to 10, the very edge
    assert heterogeneous(levy(2), 2.0, 3.0, -9.001).known_optimum is None
    assert heterogeneous(michalewicz(2), 2.0, 3.0, 0.0).known_optimum == 2.0 * michalewicz(2).optimum + 3.0
    assert heterogeneous(michalewicz(2), 2.0, 3.0, 0.1).known_optimum is None
    assert heterogeneous(replace(levy(2), known_optimum=None), 1.0, 0.0, 0.0).known_optimum is None
    # another minimum of Branin comes in where all three leave
    assert heterogeneous(branin(), 1.0, 0.0, [4 * np.pi, 8.0]).known_optimum == branin().optimum


def test_a_log_scale_has_the_optimum_of_its_box():
    narrow = replace(
        levy(2), space=Space({"x1": {"low": 2, "high": 9, "log": True}, "x2": (-9, 0)}), known_optimum=None
    )
    plain = replace(levy(2), space=Space({"x1": (2, 9), "x2": (-9, 0)}), known_optimum=None)
    assert narrow.optimum == plain.optimum == pytest.approx(by_brute_force(plain), rel=1e-6)


@pytest.mark.parametrize("wrong", [[1.0, 1.0], [[1.0]], [[1.0, 2.0, 3.0]]])
def test_optimisers_of_another_shape_are_refused(wrong):
    with pytest.raises(CbocError, match=r"optimisers of 'levy-2' have the shape \(m, 2\), but "):
        replace(levy(2), optimisers=np.array(wrong))


def test_a_problem_is_a_value():
    site = heterogeneous(branin(), 0.5, 1.0, 0.2)
    again = pickle.loads(pickle.dumps(site))
    assert again == site and hash(again) == hash(site) and again.optimum == site.optimum
    np.testing.assert_array_equal(again.optimisers, site.optimisers)
    assert heterogeneous(branin(), 0.5, 1.0, 0.3) != site
    with pytest.raises(ValueError, match="read-only"):
        site.optimisers[0, 0] = 1.0


# ------------------------------------------------------------------------------------------------------------ noise


DESIGN = {"x1": 1.5, "x2": 3.0}


def test_noise_is_a_function_of_seed_name_and_design():
    first = noisy(branin(), 0.5, seed=3)
    assert first(DESIGN) == noisy(branin(), 0.5, seed=3)(DESIGN) != branin()(DESIGN)
    assert first({"x2": np.float64(3.0), "x1": 1.5}) == first(DESIGN)  # the same design, written otherwise
    assert first({"x1": -0.0, "x2": 3.0}) == first({"x1": 0.0, "x2": 3.0})
    errors = {
        problem(DESIGN) - branin()(DESIGN)
        for problem in (first, noisy(branin(), 0.5, seed=4), replace(first, name="other"), *same(first, 3))
    }
    assert len(errors) == 6


def test_noise_has_the_standard_deviation_it_says_and_no_pattern():
    measured, exact = noisy(levy(2), 0.5, seed=0), levy(2)
    designs = [{"x1": x, "x2": y} for x in np.linspace(-9, 9, 60) for y in np.linspace(-9, 9, 60)]
    errors = np.array([measured(design) - exact(design) for design in designs])
    assert errors.mean() == pytest.approx(0.0, abs=0.03) and errors.std() == pytest.approx(0.5, rel=0.05)
    assert abs(np.corrcoef(errors[1:], errors[:-1])[0, 1]) < 0.06


def test_the_truth_of_a_noisy_problem_stays_exact():
    X = rng().random((10, 2))
    measured = noisy(levy(2), 0.5, seed=0)
    np.testing.assert_array_equal(measured.values(X), levy(2).values(X))
    assert measured.optimum == 0.0 and not measured.is_flat
    sites = sites_of(measured, 2, rng())
    assert sites[0]({"x1": 1.0, "x2": 1.0}) != replace(sites[0], noise=None)({"x1": 1.0, "x2": 1.0})


@pytest.mark.parametrize("sd", [-0.1, np.nan, np.inf])
def test_a_standard_deviation_is_finite_and_not_negative(sd):
    with pytest.raises(CbocError, match="the noise is a standard deviation"):
        noisy(levy(2), sd, seed=0)


# ------------------------------------------------------------------------------------------------------------- flat


@pytest.mark.parametrize("name", ["levy-4", "ackley-5", "branin", "shekel-10", "hartmann-6", "michalewicz-4"])
def test_no_problem_is_flat_as_published(name):
    assert not problem(name).is_flat and problem(name).depth > 1.0 / 3.0


def test_hartmann_is_flat_where_the_shift_moves_all_bumps_away():
    flat = [heterogeneous(hartmann(), 1.0, 5.0, shift).is_flat for shift in (-3.0, -0.3, 0.0, 0.3, 3.0)]
    assert flat == [True, False, False, False, True]
    far = heterogeneous(hartmann(), 1.0, 5.0, 3.0)
    assert far.optimum == pytest.approx(5.0, abs=1e-5)


def test_flatness_does_not_depend_on_scale_and_offset():
    """A shallow copy of a problem is not flat: there is as much to find, in its own units."""
    for shift in (-1.6, -1.2, -0.8, 0.8, 1.2, 1.6):
        versions = [heterogeneous(hartmann(), scale, offset, shift) for scale in (0.001, 1.0) for offset in (0.0, 9.0)]
        assert len({version.is_flat for version in versions}) == 1


def test_a_constant_is_flat_and_a_displaced_ackley_is_not():
    assert Problem("plain", Space({"x": (0, 1)}), lambda X: np.full(len(X), 7.0)).is_flat
    assert not displaced(ackley(3), rng()).is_flat


def test_a_well_that_few_of_the_sample_are_near_is_found():
    """Its published optimum has left the box; the next best well is that of few among thousands of starts."""
    site = Scenario("shekel-10", 10, is_displaced=True).problems(29)[3]
    assert site.optimum == pytest.approx(-4.393041624, abs=1e-8)
