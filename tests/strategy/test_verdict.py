import numpy as np
import pytest

from cboc.errors import CbocError
from cboc.strategy.verdict import Note, Stance, Verdict


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"log_worth": float("nan")}, "a note's log_worth is a number; this is nan"),
        ({"log_worth": None}, "a note's log_worth is a number; this is None"),
        ({"pull": float("inf")}, "a note's pull is a number; this is inf"),
        ({"keeps": "half"}, "a note's keeps is a number; this is 'half'"),
        ({"keeps": 1.5}, "a note's keeps is a share of the utility, from 0 to 1; this is 1.5"),
        ({"log_odds": float("nan")}, "a note's log_odds is a number"),
        ({"reward": float("inf")}, "a note's reward is a number"),
        ({"stance": "together"}, "a note's stance is one of Stance, or None"),
        ({"reason": None}, "a note's reason is a string; this is None"),
        ({"memory": ("a",)}, "a note's memory is a list of finite numbers"),
        ({"memory": 3}, "a note's memory is a list of finite numbers; this is 3"),
        ({"memory": np.array(0.5)}, "a note's memory is a list of finite numbers"),
        ({"memory": {0.5, 0.25}}, "a note's memory is a list of finite numbers"),  # in no order
        ({"memory": (10**400,)}, "a note's memory is a list of finite numbers"),
        ({"log_worth": 10**400}, "a note's log_worth is a number; this is 1000"),
    ],
)
def test_a_note_says_nothing_that_no_file_could_keep(said, complaint):
    with pytest.raises(CbocError, match=complaint):
        Note(**said)


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"follows": 1}, "a verdict's follows is True or False; this is 1"),
        ({"follows": True, "log_worth": float("nan")}, "a verdict's log_worth is a number"),
        ({"follows": True, "instead": (float("nan"),)}, "a verdict's instead is a list of finite numbers"),
        ({"follows": True, "instead": 0.5}, "a verdict's instead is a list of finite numbers; this is 0.5"),
        ({"follows": True, "reason": 5}, "a verdict's reason is a string; this is 5"),
    ],
)
def test_a_verdict_neither(said, complaint):
    with pytest.raises(CbocError, match=complaint):
        Verdict(**said)


def test_numbers_of_any_kind_are_plain_ones_afterwards():
    note = Note(np.float32(0.5), reward=2, memory=np.array([1.0, 2.0]), stance=Stance.DOUBT)
    assert note == Note(0.5, reward=2.0, memory=(1.0, 2.0), stance=Stance.DOUBT)
    assert type(note.log_worth) is type(note.reward) is float
    verdict = Verdict(np.bool_(True), np.float64(-1.0), instead=np.array([0.5]))
    assert verdict == Verdict(True, -1.0, instead=(0.5,)) and verdict.follows is True


def test_an_empty_memory_is_none_as_it_is_in_a_file():
    assert Note(memory=()) == Note() and Verdict(True, memory=[], instead=np.empty(0)) == Verdict(True)


def test_nothing_is_worth_less_than_any_number():
    assert Note(-np.inf).log_worth == -np.inf == Verdict(True, -np.inf).log_worth
