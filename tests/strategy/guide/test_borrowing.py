"""Borrowing: what is new, what has paid, how long a site goes on, and what counts as an original."""

import numpy as np
import pytest

from cboc import Dataset
from cboc.space.space import Space
from cboc.strategy.guide.borrowing import has_patience, is_new, originals, own_best, to_borrow
from cboc.strategy.situation import Situation

SPACE = Space({"a": (0.0, 1.0), "b": (0.0, 1.0)})
X = np.array([[0.1, 0.1], [0.2, 0.8], [0.5, 0.5], [0.8, 0.2], [0.9, 0.9]])
Y = np.array([1.0, 2.0, 3.0, 4.0, 5.0])  # to be maximised: the last one is best


def at(borrowed=(), X=X, y=Y, pending=(), failures=()):
    shaped = [np.array(each, dtype=float).reshape(-1, 2) for each in (borrowed, pending, failures)]
    data = Dataset(X, y, failures=shaped[2], direction="maximise")
    return Situation(data, SPACE, shaped[1], borrowed=shaped[0])


def test_what_is_close_in_all_coordinates_is_not_new():
    known = np.array([[0.5, 0.5]])
    assert is_new(np.array([[0.51, 0.49], [0.51, 0.6], [0.5, 0.5]]), known).tolist() == [False, True, False]
    assert is_new(known, np.empty((0, 2))).tolist() == [True]


@pytest.mark.parametrize(
    ("borrowed", "patience", "goes_on"),
    [
        ([], 1.0, True),
        ([], 0.0, False),
        ([X[4]], 1.0, True),  # it paid
        ([X[0]], 1.0, False),  # it did not
        ([X[0]], 2.0, True),
        ([X[0], X[1]], 2.0, False),
        ([X[0], X[4]], 1.0, True),  # one of two
        ([[0.3, 0.3]], 1.0, False),  # under way
    ],
)
def test_a_site_goes_on_while_that_pays(borrowed, patience, goes_on):
    assert has_patience(at(borrowed), patience) is goes_on


def test_what_failed_has_not_paid():
    assert not has_patience(at([[0.3, 0.3]], failures=[[0.3, 0.3]]), 1.0)


def test_only_outcomes_until_then_are_compared():
    """The first of these was the best of six when it came, and is among the worst by now."""
    more = np.vstack([X, [[0.3, 0.3]], np.random.default_rng(0).random((20, 2))])
    y = np.concatenate([Y, [6.0], np.full(20, 9.0)])
    assert has_patience(at([[0.3, 0.3]], more, y), 1.0)


def test_the_first_outcomes_are_compared_with_the_first_five():
    assert not has_patience(at([X[0]], X, Y), 1.0)  # it came first, but four of the first five are better


def test_copies_are_no_originals():
    others = np.array([[0.5, 0.5], [0.51, 0.5], [0.7, 0.7], [0.7, 0.71]])
    assert originals(at(), others).tolist() == [[0.7, 0.7]]


def test_the_own_best_is_not_what_was_borrowed():
    assert own_best(at([X[4]])).tolist() == X[3].tolist()
    assert own_best(at()).tolist() == X[4].tolist()
    assert own_best(at(X)).tolist() == X[4].tolist()  # everything was


def test_what_is_near_to_something_run_or_under_way_is_not_borrowed():
    others = np.array([[0.51, 0.5], [0.3, 0.3], [0.7, 0.7]])
    found = to_borrow(at(pending=[[0.31, 0.3]]), others, np.array([0.0, 0.0]))
    assert found.tolist() == [[0.7, 0.7]]


def test_a_site_with_parameters_of_its_own_keeps_their_values():
    space = Space({"a": (0.0, 1.0), "b": (0.0, 1.0), "own": (0.0, 1.0)})
    data = Dataset(np.hstack([X, X[:, :1]]), Y, direction="maximise")
    situation = Situation(data, space, shared=SPACE)
    assert to_borrow(situation, np.array([[0.7, 0.7]]), np.array([0.0, 0.0, 0.4])).tolist() == [[0.7, 0.7, 0.4]]
