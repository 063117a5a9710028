"""What an observer can know for certain, held against every order of outcomes that fits what it has seen."""

import sys
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "research"))
from inference import Watched, guessed, ordered, told


def records(order):
    """Which of these outcomes were better than all before; -1 is the best before the first."""
    return tuple(y > max((-1, *order[:t])) for t, y in enumerate(order))


@pytest.mark.parametrize("seen", [(True, False, False, True, False), (False, False, True, True, True), (False,) * 5])
def test_an_order_is_certain_if_all_outcomes_that_fit_agree_on_it(seen):
    fits = [order for order in permutations([-4, -3, -2, 0, 1, 2, 3, 4], 5) if records(order) == seen]
    agree = [len({order[i] < order[j] for order in fits}) == 1 for i, j in combinations(range(5), 2)]
    assert ordered(np.array(seen)) == sum(agree) / len(agree)


def test_a_new_best_design_tells_that_a_turn_improved():
    bests = np.array([[0.1], [0.1], [0.3], [0.3]])
    guess = guessed(Watched(np.array([[0.2], [0.3], [0.9], [0.4]]), bests))
    assert guess.certain.tolist() == [False, True, False] and guess.optimum.tolist() == [0.3]
    assert guess.scores.argmax() == 1
    assert told(guess.improved, guess.certain) == 1.0


def test_without_best_designs_the_last_proposals_are_the_guess():
    guess = guessed(Watched(np.array([[0.9], *[[0.5]] * 5]), None))
    assert guess.certain is None and guess.optimum == pytest.approx(0.5) and guess.scores.argmin() == 0
