import itertools
import json
import pickle
import subprocess
import sys
import time
import tomllib
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cboc.errors import CbocError
from cboc.space.choice import Choice
from cboc.space.parameters import Float, Int
from cboc.space.sobol import sobol
from cboc.space.space import Space

quick = settings(deadline=None, max_examples=40)


def chemistry(**more):
    return Space(
        {
            "T": Float(20, 90, unit="°C"),
            "c": Float(0.01, 1, log=True),
            "n": Int(1, 5),
            "solvent": Choice(["water", "ethanol", "DMSO"]),
            **more,
        }
    )


def mixture(size, step=None, total=1):
    names = [f"x{i}" for i in range(size)]
    return Space({name: Float(0, 1, step=step) for name in names}, [" + ".join(names) + f" == {total}"])


def rng(seed=0):
    return np.random.default_rng(seed)


# Random spaces around a design that is known to be feasible


def numbers():
    low, width = st.integers(-5, 5), st.sampled_from([1, 2, 3, 7.5, 20])
    return st.one_of(
        st.builds(lambda low, width: Float(low, low + width), low, width),
        st.builds(lambda low, width: Float(low, low + width, step=width / 4), low, width),
        st.builds(lambda low, width: Int(low, low + width), low, st.integers(1, 9)),
        st.builds(lambda low, width: Int(low, low + width, step=2), low, st.integers(2, 9)),
    )


def others():
    return st.sampled_from(
        [Float(0.1, 10, log=True), Int(1, 30, log=True), Choice(["a", "b"]), Choice([1, 2.5, 4]), Choice([False, True])]
    )


@st.composite
def spaces(draw, constrained=True):
    kinds = draw(st.lists(numbers(), min_size=2, max_size=4)) + draw(st.lists(others(), max_size=2))
    parameters = {f"p{i}": kind for i, kind in enumerate(kinds)}
    box = Space(parameters)
    design = box.from_unit(box.sample(1, rng(draw(st.integers(0, 999))), "uniform")[0])
    linear = [name for name, kind in parameters.items() if not isinstance(kind, Choice) and not kind.log]
    constraints = []
    for _ in range(draw(st.integers(1, 3)) if constrained else 0):
        factors = [draw(st.sampled_from([-2, -1, -0.5, 0, 1, 1, 3])) for _ in linear]
        if any(factors):
            total = sum(factor * design[name] for factor, name in zip(factors, linear, strict=True))
            relation, slack = draw(st.sampled_from([("<=", 0.0), ("<=", 0.7), (">=", 0.0), (">=", -2.0), ("==", 0.0)]))
            terms = " + ".join(f"{factor}*{name}" for factor, name in zip(factors, linear, strict=True))
            constraints.append(f"{terms} {relation} {total + slack!r}")
    return Space(parameters, constraints), design


# The unit cube


def test_known_coordinates():
    space = chemistry()
    x = space.to_unit({"T": 55, "c": 0.1, "n": 2, "solvent": "ethanol"})
    np.testing.assert_allclose(x, [0.5, 0.5, 0.25, 0, 1, 0], atol=1e-15)
    assert space.dimension == 6
    assert space.names == ("T", "c", "n", "solvent")
    assert space.coordinates == ("T", "c", "n", "solvent=water", "solvent=ethanol", "solvent=DMSO")
    np.testing.assert_allclose(space.widths, [70, 2, 4, 1, 1, 1])
    assert [None if levels is None else levels.tolist() for levels in space.grid] == [
        None,
        None,
        [0, 0.25, 0.5, 0.75, 1],
        None,
        None,
        None,
    ]
    assert space.blocks == (slice(3, 6),)
    assert (space.is_continuous, space.is_box) == (False, True)


def test_shorthands_and_flags():
    space = Space({"T": (20, 90), "solvent": ["water", "ethanol"]})
    assert space == Space({"T": Float(20, 90), "solvent": Choice(["water", "ethanol"])})
    assert Space({"a": (0, 1), "b": (0, 1)}, ["a <= b"]).is_continuous
    assert not Space({"a": (0, 1), "b": (0, 1)}, ["a <= b"]).is_box
    assert not Space({"a": Float(0, 1, step=0.5)}).is_continuous


def test_ends_of_the_cube_are_exactly_the_bounds():
    space = Space({"a": Float(0.1, 0.7), "b": Float(1e-3, 0.3, log=True), "n": Int(2, 9)})
    assert space.from_unit([0, 0, 0]) == {"a": 0.1, "b": 1e-3, "n": 2}
    assert space.from_unit([1, 1, 1]) == {"a": 0.7, "b": 0.3, "n": 9}


@quick
@given(spaces(constrained=False))
def test_designs_survive_the_round_trip(case):
    space, design = case
    back = space.from_unit(space.to_unit(design))
    for name, parameter in space.parameters.items():
        is_exact = isinstance(parameter, Choice) or parameter.step is not None
        assert back[name] == (design[name] if is_exact else pytest.approx(design[name], rel=1e-12, abs=1e-12))
        assert type(back[name]) is type(design[name])


def test_arrays_of_natural_values_are_the_designs_row_by_row():
    space = Space(
        {"a": Float(-3, 5), "b": Float(0.01, 10, log=True), "n": Int(0, 7, step=2), "s": Float(0, 1, step=0.1)}
    )
    X = rng().random((50, 4))
    expected = [list(space.from_unit(x).values()) for x in X]
    np.testing.assert_array_equal(space.array_from_unit(X), expected)


def test_in_an_array_of_natural_values_an_option_is_its_number():
    space = Space({"a": Float(-3, 5), "solvent": Choice(("water", "oil", "none")), "b": Float(0, 1)})
    X = np.vstack([rng().random((50, 5)), [0.5, 0.2, 0.2, 0.1, 0.5]])  # the first one on ties
    designs = [space.from_unit(x) for x in X]
    expected = [[p.position(design[name]) for name, p in space.parameters.items()] for design in designs]
    np.testing.assert_array_equal(space.array_from_unit(X), expected)


def test_spaces_are_frozen_values():
    space = Space({"a": (0, 1), "b": (0, 1)}, ["a <= b"])
    assert space == Space({"a": (0, 1), "b": (0, 1)}, ["a <= b"])
    assert hash(space) == hash(Space({"a": (0, 1), "b": (0, 1)}, ["a <= b"]))
    assert space != Space({"b": (0, 1), "a": (0, 1)}, ["a <= b"])  # other coordinates
    assert space != Space({"a": (0, 1), "b": (0, 1)})
    assert pickle.loads(pickle.dumps(space)) == space
    assert eval(repr(space)) == space
    with pytest.raises(TypeError):
        space.parameters["a"] = Float(0, 2)
    with pytest.raises(AttributeError):
        space.constraints = ()
    with pytest.raises(ValueError, match="read-only"):
        space.widths[0] = 2


@pytest.mark.parametrize(
    ("design", "message"),
    [
        ({"Temp": 50}, "unknown parameter 'Temp'; known: T, c, n, solvent."),
        ({"T": 50, "c": 1, "n": 1, "solvnt": "water"}, "unknown parameter 'solvnt'; did you mean 'solvent'?"),
        ({"T": 50, "c": 1, "n": 1}, "the design lacks parameter 'solvent'; it needs T, c, n, solvent."),
        ({"T": 95, "c": 1, "n": 1, "solvent": "water"}, "T: expected a number from 20 to 90 °C, but got 95."),
        (
            {"T": float("nan"), "c": 1, "n": 1, "solvent": "water"},
            "T: expected a number from 20 to 90 °C, but got nan.",
        ),
        (
            {"T": 50, "c": 1, "n": 1.5, "solvent": "water"},
            "n: expected a whole number from 1 to 5, but got 1.5; the nearest is 1.",
        ),
        ({"T": 50, "c": 1, "n": 1, "solvent": "watr"}, "solvent: unknown option 'watr'; did you mean 'water'?"),
    ],
)
def test_a_wrong_design_is_refused_in_one_sentence(design, message):
    with pytest.raises(CbocError) as caught:
        chemistry().to_unit(design)
    assert str(caught.value) == message


def test_a_design_that_violates_a_constraint_is_refused_with_the_amount():
    space = Space({"a": (0, 2), "b": (0, 2), "c": (0, 1)}, ["a + b <= 1", "c == 0.5"])
    assert space.to_unit({"a": 0.25, "b": 0.75, "c": 0.5}) == pytest.approx([0.125, 0.375, 0.5])
    with pytest.raises(CbocError) as caught:
        space.to_unit({"a": 0.7, "b": 0.6, "c": 0.5})
    assert str(caught.value) == "a = 0.7, b = 0.6 violates the constraint 'a + b <= 1' by 0.3."
    with pytest.raises(CbocError, match="violates the constraint 'c == 0"):
        space.to_unit({"a": 0, "b": 0, "c": 0.25})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Space({}), "parameters are a dictionary such as {'T': Float(20, 90)}, but got {}."),
        (
            lambda: Space({"flow rate": (0, 1)}),
            "a parameter's name is an identifier such as T or flow_rate, but got 'flow rate'.",
        ),
        (
            lambda: Space({"T": (90, 20)}),
            "T: Float needs low < high, both finite, but got low = 90.0 and high = 20.0.",
        ),
        (
            lambda: Space({"a": (0, 1)}, "a <= 1"),
            "constraints are a list of strings, but got a string; write ['a <= 1'].",
        ),
        (
            lambda: Space({"temp": (0, 1)}, ["tmp <= 1"]),
            "constraint 'tmp <= 1': unknown parameter 'tmp'; did you mean 'temp'?",
        ),
        (
            lambda: Space({"s": ["a", "b"]}, ["s <= 1"]),
            "constraint 's <= 1': 's' is a Choice, and options cannot be added up.",
        ),
        (
            lambda: Space({"a": Float(1, 9, log=True)}, ["a <= 3"]),
            "constraint 'a <= 3': 'a' has a log scale, where a linear constraint is curved and a mix of feasible "
            "designs may violate it; make the scale linear.",
        ),
        (
            lambda: Space({"a": (0, 1), "b": (0, 1)}, ["a + b >= 3", "a <= b"]),
            "no design within the bounds satisfies 'a + b >= 3' and 'a <= b'; relax a constraint or a bound.",
        ),
        (
            lambda: Space({"n": Int(0, 9), "m": Int(0, 9)}, ["2 n + 2 m == 7"]),
            "no design within the bounds satisfies '2 n + 2 m == 7'; relax a constraint or a bound.",
        ),
        (lambda: Space.from_dict({}), "a space needs the key 'parameters', which is missing."),
        (
            lambda: Space.from_dict({"parameters": {"a": [0, 1]}, "constraint": []}),
            "unknown key 'constraint' in a space; did you mean 'constraints'?",
        ),
        (
            lambda: Space.from_dict({"parameters": {"T": {"low": 20, "hihg": 90}}}),
            "T: unknown key 'hihg' for type float; did you mean 'high'?",
        ),
        (lambda: chemistry().from_unit([0, 0]), "expected a vector of 6 unit coordinates, but got shape (2,)."),
        (
            lambda: chemistry().from_unit([0, 1.7, 0, 1, 0, 0]),
            "designs live in the unit cube; got x[1] = 1.7 (c). Did you forget space.project or space.to_unit?",
        ),
        (lambda: mixture(3).array_from_unit(np.zeros(3)), "expected an array of shape (n, 3), but got (3,)."),
        (lambda: mixture(2).project([0, np.nan]), "only finite vectors can be projected, but got [0.0, nan]."),
        (lambda: mixture(2).sample(3, rng(), "sobl"), "unknown method 'sobl'; did you mean 'sobol'?"),
    ],
)
def test_a_mistake_is_named_in_one_sentence(build, message):
    with pytest.raises(CbocError) as caught:
        build()
    assert str(caught.value) == message


# Constraints in the unit cube


def test_linear_constraints_in_the_unit_cube_have_rows_of_unit_norm():
    space = Space({"a": (10, 20), "b": (-1, 1), "s": ["x", "y"]}, ["a + 5 b <= 16", "a >= 3", "a == 4 b + 12"])
    A, b, E, e = space.linear
    np.testing.assert_allclose(A, [[2**-0.5, 2**-0.5, 0, 0], [-1, 0, 0, 0]])
    np.testing.assert_allclose(b, [11 / 200**0.5, 0.7])
    np.testing.assert_allclose(np.linalg.norm(E, axis=1), [1])
    x = space.to_unit(
        {"a": 12, "b": 0, "s": "x"},
    )
    np.testing.assert_allclose(E @ x, e)
    assert [part.shape for part in chemistry().linear] == [(0, 6), (0,), (0, 6), (0,)]


def test_contains_asks_for_cube_grid_option_and_constraint():
    space = Space({"a": (0, 1), "n": Int(0, 4), "s": ["x", "y"]}, ["a + n <= 2"])
    assert space.contains([0.5, 0.25, 1, 0])
    assert not space.contains([-0.1, 0.25, 1, 0])  # cube
    assert not space.contains([0.5, 0.26, 1, 0])  # grid
    assert not space.contains([0.5, 0.25, 0.5, 0.5])  # option
    assert not space.contains([0.5, 0.5, 1, 0])  # constraint
    assert space.contains([0.5 + 1e-4, 0.25, 1, 0], tolerance=1e-3)
    assert not space.contains([np.nan, 0.25, 1, 0])


# Projection


def test_without_constraints_the_projection_clips_rounds_and_votes():
    space = chemistry()
    np.testing.assert_array_equal(space.project([1.7, -0.2, 0.6, 0.3, 0.3, 0.4]), [1.0, 0.0, 0.5, 0, 0, 1])
    np.testing.assert_array_equal(space.project([0.3, 0.4, 0.9, 0.4, 0.4, 0.2]), [0.3, 0.4, 1.0, 1, 0, 0])


def test_a_mix_of_choices_is_a_vote_by_weight():
    space = Space({"s": ["water", "ethanol", "DMSO"]})
    X = np.array([space.to_unit({"s": option}) for option in ("water", "ethanol", "ethanol", "DMSO")])
    assert space.from_unit(space.project([0.4, 0.3, 0.2, 0.1] @ X)) == {"s": "ethanol"}
    assert space.from_unit(space.project([0.4, 0.3, 0.1, 0.2] @ X)) == {"s": "water"}  # 0.4 : 0.3 + 0.1, the first


def simplex_projection(x):
    """Held, Wolfe and Crowder (1974)."""
    u = np.sort(x)[::-1]
    excess = (np.cumsum(u) - 1) / np.arange(1, len(x) + 1)
    return np.maximum(x - excess[np.flatnonzero(u > excess)[-1]], 0)


@pytest.mark.parametrize("size", [2, 5, 20])
def test_projection_onto_the_simplex_is_the_known_one(size):
    space = mixture(size)
    for x in rng().normal(scale=2, size=(20, size)):
        np.testing.assert_allclose(space.project(x), simplex_projection(x), atol=1e-12)


def test_projection_onto_a_half_space_is_the_foot_of_the_perpendicular():
    space = Space({"a": (0, 10), "b": (0, 10)}, ["3 a + 4 b <= 20"])
    np.testing.assert_allclose(space.project([0.5, 0.5]), [0.5 - 0.18, 0.5 - 0.24], atol=1e-14)


def test_the_projection_is_nearest_where_a_grid_ends_below_one():
    space = Space({"a": (0, 1), "b": Int(0, 3, step=2), "c": Float(0, 1, step=0.25)}, ["a + b + c >= 3.085"])
    x = np.array([0.50123015, 0.79874554, 0.22586214])
    nearest = np.array([0.585, 2 / 3, 0.5])
    np.testing.assert_allclose(space.project(x), nearest, atol=1e-12)


@quick
@given(spaces(), st.integers(0, 999))
def test_the_projection_is_feasible_idempotent_and_nearest(case, seed):
    space, design = case
    x = rng(seed).normal(0.5, 1.0, size=space.dimension)
    y = space.project(x)
    assert space.contains(y)
    np.testing.assert_array_equal(space.project(y), y)
    rivals = np.vstack([space.sample(50, rng(seed)), space.to_unit(design)])
    assert all(space.contains(rival) for rival in rivals)
    assert np.linalg.norm(y - x) <= np.linalg.norm(rivals - x, axis=1).min() + 1e-9


@quick
@given(spaces(), st.integers(0, 999))
def test_a_feasible_point_projects_to_itself_bit_for_bit(case, seed):
    space, design = case
    for x in [space.to_unit(design), *space.sample(10, rng(seed))]:
        np.testing.assert_array_equal(space.project(x), x)


@quick
@given(spaces(), st.integers(0, 999))
def test_a_mix_of_feasible_designs_is_feasible_after_projection(case, seed):
    space, design = case
    X = np.vstack([space.to_unit(design), space.sample(4, rng(seed))])
    mix = rng(seed).dirichlet(np.ones(len(X))) @ X
    mixed = space.project(mix)
    assert space.contains(mixed)
    np.testing.assert_allclose(space.to_unit(space.from_unit(mixed)), mixed, atol=1e-9)
    if space.is_continuous:
        np.testing.assert_allclose(mixed, mix, atol=1e-9)  # a convex set keeps its mixes


@quick
@given(st.lists(st.integers(1, 4), min_size=2, max_size=3), st.integers(0, 999))
def test_with_grids_and_constraints_nothing_on_the_grid_is_nearer(tops, seed):
    generator = rng(seed)
    grids = [np.arange(top + 1) for top in tops]
    factors = generator.integers(-3, 4, size=(2, len(tops)))
    known = np.array([generator.choice(grid) for grid in grids])
    lines = []
    for row, relation in zip(factors, ("<=", "=="), strict=True):
        assume(row.any())
        lines.append(" + ".join(f"{c}*n{i}" for i, c in enumerate(row)) + f" {relation} {row @ known}")
    space = Space({f"n{i}": Int(0, top) for i, top in enumerate(tops)}, lines)
    points = np.array(list(itertools.product(*grids)))
    feasible = points[(points @ factors[0] <= known @ factors[0]) & (points @ factors[1] == known @ factors[1])] / tops
    for x in generator.normal(0.5, 1.0, size=(5, len(tops))):
        best = np.linalg.norm(feasible - x, axis=1).min()
        assert np.linalg.norm(space.project(x) - x) == pytest.approx(best, abs=1e-12)


def test_continuous_parts_are_best_for_the_levels_chosen():
    space = Space({"a": (0, 1), "n": Int(0, 4)}, ["4 a + n == 3.2"])  # (0.8, 0), (0.55, 1), (0.3, 2), (0.05, 3)
    np.testing.assert_allclose(space.project([0.5, 0.3]), [0.55, 0.25], atol=1e-12)
    np.testing.assert_allclose(space.project([0.0, 1.0]), [0.05, 0.75], atol=1e-12)


@pytest.mark.parametrize("far", [1e3, 1e6, 1e12, 1e200])
def test_even_far_away_vectors_come_back_feasible(far):
    lines = ["a + b + c == 1", "a <= b"]
    for b in (Float(0, 1), Float(0, 1, step=0.25)):
        space = Space({"a": (0, 1), "b": b, "c": (0, 2)}, lines)
        for direction in itertools.product((-1, 0.5, 1), repeat=3):
            assert space.contains(space.project(far * np.array(direction)))


def test_past_the_limit_of_branch_and_bound_the_point_is_still_feasible(monkeypatch):
    monkeypatch.setattr("cboc.space.polytope.MOST_NODES", 0)
    space = mixture(6, step=0.05)
    for x in rng().normal(0.2, 0.5, size=(5, 6)):
        assert space.contains(space.project(x))


def test_a_set_without_interior_is_projected_onto_and_sampled():
    corner = Space({"a": (0, 1), "b": (0, 1), "c": (0, 1)}, ["a + b <= 0"])
    np.testing.assert_allclose(corner.project([0.5, 0.7, 0.3]), [0, 0, 0.3], atol=1e-12)
    diagonal = Space({"a": (0, 1), "b": (0, 1)}, ["a <= b", "b <= a"])
    X = diagonal.sample(512, rng())
    np.testing.assert_allclose(X[:, 0], X[:, 1], atol=1e-9)
    assert is_even(X[:, 0])
    point = Space({"a": (0, 1), "b": (0, 2)}, ["a == 0.3", "a + b == 1"])
    np.testing.assert_allclose(point.sample(3, rng()), [[0.3, 0.35]] * 3, atol=1e-12)


# Samples


def test_slow_modules_are_imported_only_when_needed():
    script = "import sys, cboc.data.dataset, cboc.space.space; print({'scipy.stats', 'pandas'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def is_even(values, bins=16):
    """Chi-square: the counts in equal bins of [0, 1] differ from each other no more than chance makes them."""
    counts = np.histogram(values, bins, (0, 1))[0]
    expected = len(values) / bins
    return ((counts - expected) ** 2 / expected).sum() < bins - 1 + 4 * np.sqrt(2 * (bins - 1))


@pytest.mark.parametrize("method", ["sobol", "uniform"])
def test_levels_and_options_are_equally_likely(method):
    space = chemistry(k=Int(1, 100, log=True, step=33))
    X = space.sample(4096, rng(), method)
    assert all(space.contains(x) for x in X[:200])
    assert is_even(X[:, 0]) and is_even(X[:, 1])
    for j, levels in ((2, 5), (6, 4)):
        counts = np.unique(X[:, j], return_counts=True)[1]
        np.testing.assert_allclose(counts / 4096, 1 / levels, atol=0.025)
    np.testing.assert_allclose(X[:, 3:6].mean(axis=0), 1 / 3, atol=0.025)


def test_samples_follow_the_generator_and_nothing_else():
    for space in (chemistry(), mixture(3), mixture(9), mixture(5, step=0.25)):
        np.testing.assert_array_equal(space.sample(20, rng(1)), space.sample(20, rng(1)))
        assert not np.array_equal(space.sample(20, rng(1)), space.sample(20, rng(2)))
        assert space.sample(0, rng()).shape == (0, space.dimension)


@pytest.mark.parametrize("method", ["sobol", "uniform"])
def test_rejection_is_uniform_on_the_triangle(method):
    X = mixture(3).sample(2048, rng(), method)
    for x in X.T:
        assert is_even((1 - x) ** 2)  # P(x > s) = (1 - s)^2; a Sobol' sequence without scrambling fails here


@pytest.mark.parametrize("flat", ["==", "<="])
def test_hit_and_run_is_uniform_on_a_simplex_too_thin_for_rejection(flat):
    names = [f"x{i}" for i in range(9)]
    total = " + ".join(names)
    lines = [f"{total} == 1"] if flat == "==" else [f"{total} <= 1", f"{total} >= 1"]
    X = Space(dict.fromkeys(names, (0, 1)), lines).sample(2048, rng())
    np.testing.assert_allclose(X.sum(axis=1), 1, atol=1e-9)
    for x in X.T:
        assert is_even((1 - x) ** 8)
    largest = rng(1).dirichlet(np.ones(9), 100_000).max(axis=1)
    ranks = np.searchsorted(np.sort(largest), X.max(axis=1)) / len(largest)
    assert is_even(ranks)


def test_a_long_and_narrow_set_is_filled_from_end_to_end():
    X = Space({"a": (0, 1), "b": (0, 1)}, ["a - b <= 1e-5", "b - a <= 1e-5"]).sample(1024, rng())
    assert is_even(X[:, 0])
    assert is_even((X[:, 0] - X[:, 1]) / 2e-5 + 0.5)


def test_feasible_grid_points_are_equally_likely():
    space = Space({"n": Int(0, 6), "m": Int(0, 6), "k": Int(0, 6)}, ["n + m + k == 6"])
    X = space.sample(28 * 200, rng(), "uniform")
    points, counts = np.unique(X, axis=0, return_counts=True)
    assert len(points) == 28
    assert ((counts - 200) ** 2 / 200).sum() < 27 + 4 * np.sqrt(54)


def test_grids_too_fine_for_rejection_are_sampled_all_the_same():
    space = mixture(10, step=0.05)
    X = space.sample(50, rng())
    assert all(space.contains(x) for x in X)
    assert len(np.unique(X, axis=0)) > 45


def test_constrained_and_free_parameters_are_sampled_independently():
    space = Space({"a": (0, 1), "b": (0, 1), "c": (0, 1)}, ["a + b <= 2"])  # redundant, so all of the cube
    X = space.sample(1024, rng())
    assert abs(np.corrcoef(X.T)[2, :2]).max() < 0.1


def test_sobol_points_are_more_even_than_random_ones():
    X = sobol(256, 2, rng())
    assert X.shape == (256, 2) and X.min() >= 0 and X.max() < 1
    cells = np.histogram2d(X[:, 0], X[:, 1], 8, [(0, 1), (0, 1)])[0]
    assert abs(cells - 4).max() <= 4  # random points leave cells empty and crowd others
    assert abs(X.mean(axis=0) - 0.5).max() < 0.01


def test_sobol_takes_any_count_in_silence_and_never_spoils_its_cache():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sobol(100, 3, rng()).shape == (100, 3)
    expected = sobol(100, 3, rng(1)).copy()
    sobol(100, 3, rng(1)).fill(0)
    np.testing.assert_array_equal(sobol(100, 3, rng(1)), expected)


# Plain data


@quick
@given(spaces())
def test_plain_data_comes_back_equal(case):
    space, _ = case
    assert Space.from_dict(space.to_dict()) == space
    assert Space.from_dict(json.loads(json.dumps(space.to_dict()))) == space


def test_plain_data_is_what_a_person_would_write():
    text = """
    constraints = ["a + b <= 1"]
    [parameters]
    a = [0, 1]
    b = {low = 0, high = 2, unit = "mol/l"}
    n = {type = "int", low = 1, high = 9}
    s = {options = ["x", "y"]}
    """
    space = Space.from_dict(tomllib.loads(text))
    assert space == Space(
        {"a": Float(0, 1), "b": Float(0, 2, unit="mol/l"), "n": Int(1, 9), "s": Choice(["x", "y"])}, ["a + b <= 1"]
    )
    assert space.to_dict()["parameters"]["b"] == {"type": "float", "low": 0.0, "high": 2.0, "unit": "mol/l"}


@pytest.mark.parametrize("constraints", [None, 3, {"a <= 0.5"}])
def test_constraints_are_a_list(constraints):
    with pytest.raises(CbocError, match="constraints are a list of strings such as"):
        Space({"a": (0, 1)}, constraints)


@pytest.mark.parametrize("constraint", ["1e300*a <= 1", "1e-200*a <= 1", "a - 1e308*b <= 1e308"])
def test_a_constraint_that_cannot_be_computed_is_refused(constraint):
    with pytest.raises(CbocError, match="holds numbers that are too large or too small; choose another unit"):
        Space({"a": (0, 1), "b": (-10, 10)}, [constraint])


def test_constraints_that_nobody_can_decide_are_refused_after_a_while(monkeypatch):
    """Thirty yes-or-no parameters and four equations are enough for years; others may have sent them."""
    monkeypatch.setattr("cboc.space.polytope.LONGEST", 0.5)
    draw, names = np.random.default_rng(1), [f"n{j}" for j in range(30)]
    rows = draw.integers(1, 100, size=(4, 30))
    split = [
        " + ".join(f"{a} {name}" for a, name in zip(row, names, strict=True)) + f" == {row.sum() // 2}" for row in rows
    ]
    began = time.monotonic()
    with pytest.raises(CbocError, match=r"whether the constraints leave any design was not found out in 0\.5 seconds"):
        Space({name: Int(0, 1) for name in names}, split)
    assert time.monotonic() - began < 20.0


@pytest.mark.parametrize("design", [None, 3, [0.5], "a"])
def test_a_design_is_a_dictionary(design):
    with pytest.raises(CbocError, match="a design is a dictionary of values for a, but got"):
        Space({"a": (0, 1)}).to_unit(design)
