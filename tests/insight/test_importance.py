"""Which parameter matters: the indices of functions whose indices are known, and a doubt that shrinks."""

import numpy as np
import pytest

from cboc import Choice, Int, Space
from cboc.insight import Learned
from cboc.insight.importance import sobol_indices

from .test_surface import told

CUBE = Space(dict.fromkeys(("a", "b", "c", "d"), (0.0, 1.0)))


def ishigami(X):
    z = np.pi * (2.0 * X - 1.0)
    return np.sin(z[:, 0]) + 7.0 * np.sin(z[:, 1]) ** 2 + 0.1 * z[:, 2] ** 4 * np.sin(z[:, 0])


def test_the_indices_of_ishigami_are_the_known_ones():
    """Sobol' and Levitan (1999): a first, b first, and c only together with a."""
    alone, total = sobol_indices(CUBE, [ishigami], designs=4096)
    assert alone[0] == pytest.approx([0.3139, 0.4424, 0.0, 0.0], abs=0.03)  # some of it is lost within bins
    assert total[0] == pytest.approx([0.5576, 0.4424, 0.2437, 0.0], abs=0.02)


def test_with_the_few_designs_that_are_used_they_are_right_to_a_few_per_cent():
    alone, total = sobol_indices(CUBE, [ishigami, lambda X: 4.0 * X[:, 0] + 2.0 * X[:, 1]])
    assert alone == pytest.approx(np.array([[0.3139, 0.4424, 0.0, 0.0], [0.8, 0.2, 0.0, 0.0]]), abs=0.06)
    assert total == pytest.approx(np.array([[0.5576, 0.4424, 0.2437, 0.0], [0.8, 0.2, 0.0, 0.0]]), abs=0.03)


def test_options_and_levels_count_as_the_space_draws_them():
    space = Space({"n": Int(1, 4), "s": Choice(["u", "v", "w"])})
    alone, total = sobol_indices(space, [lambda X: 3.0 * X[:, 0] + X[:, 2]], designs=4096)
    n, s = 9.0 * (5.0 / 36.0), 2.0 / 9.0  # of four levels in [0, 1], and of one option in three
    assert alone[0] == pytest.approx([n / (n + s), s / (n + s)], abs=0.02)
    assert total[0] == pytest.approx([n / (n + s), s / (n + s)], abs=0.02)


def test_under_a_constraint_the_other_parameter_changes_only_as_far_as_it_may():
    """On the triangle a + b <= 1: Var a = 1/18, and E Var(a | b) = E (1 - b)²/12 = 1/24."""
    space = Space({"a": (0.0, 1.0), "b": (0.0, 1.0)}, ["a + b <= 1"])
    alone, total = sobol_indices(space, [lambda X: X[:, 0]], designs=4096)
    assert alone[0] == pytest.approx([1.0, 0.25], abs=0.02)  # E(a | b) = (1 - b)/2
    assert total[0] == pytest.approx([0.75, 0.0], abs=0.03)


def test_few_experiments_do_not_tell_and_many_do():
    def function(x):
        return 4.0 * x["a"] + 2.0 * x["b"] + x["c"] * x["d"]

    few, many = (Learned.of(told(CUBE, function, count, noise=0.02)).importance for count in (3, 40))
    assert not few.is_told and few.sentence.startswith("There are too few experiments to say which parameter")
    assert many.is_told and many.sentence.startswith("a matters most: ")
    assert many.sentence.endswith("hardly matter.")
    assert [share.name for share in many.shares[:2]] == ["a", "b"]
    widths = [share.total_interval[1] - share.total_interval[0] for share in (few.shares[0], many.shares[0])]
    assert widths[0] > 5 * widths[1]


def test_a_parameter_without_effect_is_seldom_taken_for_the_one_that_matters():
    """Outcomes that are noise alone: a claim would be false in at least three of four cases."""
    claims = 0
    for seed in range(20):
        learned = Learned.of(told(CUBE, lambda _: 0.0, 8, noise=1.0, seed=seed))
        claims += learned.importance.is_told
    assert claims <= 3


def test_names_of_any_length_have_an_importance():
    space = Space({100 * "n": (0.0, 1.0), "other0": (0.0, 1.0)})
    _, total = sobol_indices(space, [lambda X: X[:, 0]])
    assert total[0].tolist() == pytest.approx([1.0, 0.0], abs=0.05)
