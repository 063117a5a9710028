"""A trial goes to a file and back, and what no site can have written is refused."""

import json
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cboc import Measurement
from cboc.site.trial import Answer, Decision, Status, Trial, Turn
from cboc.strategy.verdict import Note, Stance, Verdict

NOTE = Note(-1.5, 0.25, Stance.DOUBT, 0.5, "nobody's best design is known yet", 3.25, -0.5, 2.0, (0.1, -2.0))
VERDICT = Verdict(False, -3.0, 0.5, "the plate has room", (0.75, 0.5), (4.0,))
ANSWER = Answer((0.5, 0.25), (0.5, 0.25, 0.25), 7, VERDICT, "y", ((0.1, 0.2), (0.3, 0.4)))
FULL = Trial(
    "x",
    9,
    Status.COMPLETE,
    (0.25, 0.125),
    Turn(4, NOTE, ((0.5, 0.5),), ANSWER),
    Decision.OTHER,
    (0.75, 0.5),
    {"y": Measurement(1.5, 0.25)},
    "corrected, it was 3",
)
TRIALS = {
    "initial": Trial("x", 0, Status.PENDING, (0.25,), decision=Decision.INITIAL),
    "failed": Trial("x", 1, Status.FAILED, (0.25,), decision=Decision.INITIAL, executed=(0.5,), note="it broke"),
    "proposed": Trial("x", 2, Status.PROPOSED, (0.0, 1.0), Turn(0, Note())),
    "submitted": Trial("x", 2, Status.SUBMITTED, (0.0, 1.0), Turn(0, Note(float("-inf")), ((0.5, 0.5),))),
    "unreachable": Trial("x", 3, Status.PENDING, (0.5,), Turn(1, NOTE), Decision.UNREACHABLE),
    "full": FULL,
}


@pytest.mark.parametrize("trial", TRIALS.values(), ids=TRIALS)
def test_a_trial_goes_there_and_back(trial):
    row = json.loads(json.dumps(trial.to_row()))
    assert Trial.from_row(row) == trial
    assert Trial.from_row(row).to_row() == trial.to_row()


def test_a_row_holds_nothing_that_says_nothing():
    assert TRIALS["initial"].to_row() == {
        "site": "x",
        "number": 0,
        "status": "pending",
        "proposed": (0.25,),
        "decision": "initial",
    }


def test_what_is_run_follows_from_the_decision():
    assert FULL.x.tolist() == [0.75, 0.5]
    told = {"status": "pending", "executed": None, "outcomes": None}
    row = {name: value for name, value in (FULL.to_row() | told).items() if value is not None}
    designs = {
        Decision.OTHER: [0.75, 0.5],
        Decision.FOLLOWED: [0.5, 0.25],
        Decision.DECLINED: [0.25, 0.125],
        Decision.CONTRADICTED: [0.25, 0.125],
    }
    for decision, x in designs.items():
        assert Trial.from_row(row | {"decision": decision}).x.tolist() == x


@pytest.mark.parametrize(
    "change",
    [
        {"proposed": []},
        {"proposed": [0.25]},
        {"proposed": [0.25, 1.5]},
        {"proposed": [0.25, True]},
        {"proposed": [0.25, 10**400]},
        {"proposed": "ab"},
        {"number": -1},
        {"number": 1.0},
        {"number": True},
        {"site": 5},
        {"status": "done"},
        {"status": "pending"},
        {"status": "failed"},
        {"decision": None},
        {"executed": [0.5, float("nan")]},
        {"site": ""},
        {"outcomes": {}},
        {"outcomes": {"": {"mean": 1.0}}},
        {"turn": {"number": 4, "bests": [[0.5, 0.5, 0.5]]}},
        {"turn": {"number": 4, "bests": [[]]}},
        {"turn": {"number": 4, "answer": {"mix": [0.5, 0.5], "weights": [], "verdict": {"follows": True}}}},
        {"outcomes": {"y": {"mean": "much"}}},
        {"outcomes": {"y": {"mean": 1.0, "sem": -1.0}}},
        {"outcomes": {"y": 1.0}},
        {"outcomes": [1.0]},
        {"note": 5},
        {"turn": None},
        {"turn": "4"},
        {"turn": {"number": 4, "note": {"keeps": "half"}}},
        {"turn": {"number": 4, "note": {"stance": "friendly"}}},
        {"turn": {"number": 4, "note": []}, "colour": "red"},
        {"colour": "red"},
    ],
    ids=lambda change: json.dumps(change)[:50],
)
def test_what_no_site_wrote_is_refused(change):
    row = FULL.to_row() | change
    if change == {"turn": None}:
        row["status"] = "submitted"
        del row["outcomes"]
    with pytest.raises((ValueError, TypeError, KeyError)):
        Trial.from_row(row)


@pytest.mark.parametrize("row", [None, [], "trial", 5, {}, {"site": "x"}, [["site", "x"]]])
def test_what_is_no_row_is_refused(row):
    with pytest.raises((ValueError, TypeError, KeyError)):
        Trial.from_row(row)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)
WORDS = st.sampled_from([*Status, *Decision, *Stance, "", "x", 0, 1, -1, 0.5, [], {}, None, 10**400])


def places(value, path=()):
    """Every place in a row, as the keys that lead to it."""
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places(part, (*path, key))


@settings(deadline=None, max_examples=400)
@given(st.data())
def test_a_row_with_a_changed_value_is_a_trial_or_refused(data):
    """Whatever is read is a trial that a site can work with."""
    row = json.loads(json.dumps(data.draw(st.sampled_from(list(TRIALS.values()))).to_row()))
    path = data.draw(st.sampled_from([path for path in places(row) if path]))
    damaged = deepcopy(row)
    part = damaged
    for key in path[:-1]:
        part = part[key]
    if isinstance(part, dict) and data.draw(st.booleans()):
        del part[path[-1]]
    else:
        part[path[-1]] = data.draw(VALUES | WORDS)
    try:
        trial = Trial.from_row(damaged)
    except (ValueError, TypeError, KeyError):
        return
    assert Trial.from_row(json.loads(json.dumps(trial.to_row()))) == trial
    assert len(trial.x) == len(trial.proposed) and ((trial.x >= 0.0) & (trial.x <= 1.0)).all()
    assert (trial.y is None) == (trial.status is not Status.COMPLETE)
    assert isinstance(trial.is_shared, bool)
    if trial.site in ("x", "y", "z"):
        assert isinstance(trial.explain(("x", "y", "z")), str)


def test_a_trial_says_why_the_others_could_not_draw_it():
    note = Note(stance=Stance.TOGETHER, reason="your utility is not a logarithm")
    answer = Answer((0.5,), (0.5, 0.5), 0, Verdict(True))
    trial = Trial("a", 0, Status.PENDING, (0.25,), Turn(0, note, answer=answer), Decision.FOLLOWED)
    origin = trial.origin(("a", "b"))
    assert ("stance", "together, because your utility is not a logarithm") in origin.numbers
