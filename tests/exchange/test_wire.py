"""Every message is written down once, and the form says what it may hold: nothing else gets through."""

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cboc import CbocError, Study
from cboc.exchange import wire
from cboc.exchange.messages import MOST_OTHERS, MOST_STATES, MOST_TURNS, Mix, News, Proposal
from cboc.exchange.network import Standing
from cboc.exchange.wire import Misfit, read, schema

STUDY = Study({"a": (0.0, 1.0), "b": (0.0, 1.0)}, ("x", "y"), 4, name="trial run", deadline=60.0, pace="rounds")
FORMS = {
    "proposal": wire.PROPOSAL,
    "invitation": wire.INVITATION,
    "invited": wire.INVITED,
    "mix": wire.MIXED,
    "news": wire.NEWS,
    "acceptance": wire.ACCEPTANCE,
    "standing": wire.STANDING,
    "membership": wire.MEMBERSHIP,
    "refusal": wire.REFUSAL,
}
GOOD = {
    "proposal": {"X": [[0.5, 1]], "bests": [[0.0, 0.25]], "reward": -1.5},
    "invitation": {"code": "code", "token": "t" * 43, "digest": STUDY.digest, "site": "caffè 🧪"},
    "invited": {"code": "code", "token": "t" * 43},
    "mix": {"X": [[0.5, 1.0]], "weights": [0.25, 0.75], "snapshot": 3, "leader": "y", "others": [[0.0, 1.0]]},
    "news": {"snapshot": 3, "others": [[0.0, 1.0]], "turn": 2},
    "acceptance": {"digest": STUDY.digest},
    "standing": {"round": 3, "missing": ["x", "caffè 🧪"], "closes_at": 1.8e9},
    "membership": {
        "agreement": STUDY.agreement(),
        "digest": STUDY.digest,
        "site": "x",
        "turn": 2,
        "experiments": 9,
    },
    "refusal": {
        "error": "no.\n",
        "reason": "waiting",
        "standing": {"round": 3, "missing": []},
        "agreement": STUDY.agreement(),
    },
}
FIELDS = [(name, field) for name, form in FORMS.items() for field in form]


def written(said):
    return json.dumps(said).encode()


def without(said, *fields):
    return {name: value for name, value in said.items() if name not in fields}


# ------------------------------------------------------------------------------------------------- the table


def test_every_message_has_a_form_that_is_known():
    forms = [form for endpoint in wire.ENDPOINTS for form in (endpoint.takes, endpoint.gives) if form]
    assert all(form in FORMS.values() for form in forms)
    assert {(endpoint.method, endpoint.path) for endpoint in wire.ENDPOINTS} == {
        ("POST", "/v2/join"),
        ("POST", "/v2/invitation"),
        ("GET", "/v2/study"),
        ("GET", "/v2/standing"),
        ("GET", "/v2/news"),
        ("PUT", "/v2/turns/{turn}/proposal"),
        ("GET", "/v2/turns/{turn}/mix"),
        ("POST", "/v2/leave"),
        ("POST", "/v2/accept"),
        ("GET", "/healthz"),
    }


@pytest.mark.parametrize(
    ("method", "path", "words"),
    [
        ("POST", "/v2/join", "joined the study"),
        ("POST", "/v2/invitation", "looked at what an invitation is for"),
        ("GET", "/v2/study", "asked what was agreed"),
        ("GET", "/v2/standing", "asked where the study stands"),
        ("PUT", "/v2/turns/12/proposal", "proposed a design for turn 12"),
        ("GET", "/v2/turns/0/mix", "asked which design to run in turn 0"),
        ("GET", "/v2/news", "asked for the others' best designs"),
        ("POST", "/v2/leave", "left the study"),
        ("POST", "/v2/accept", "accepted a change of the study"),
        ("GET", "/healthz", "asked what time it is"),
        ("GET", "/v2/join", "GET /v2/join"),
        ("PUT", "/v2/turns/x/proposal", "PUT /v2/turns/x/proposal"),
        ("PUT", "/v2/turns//proposal", "PUT /v2/turns//proposal"),
        ("GET", "/v2/turns/0/mix/more", "GET /v2/turns/0/mix/more"),
        ("PUT", "/v1/rounds/0/proposal", "PUT /v1/rounds/0/proposal"),
    ],
)
def test_a_message_is_explained_by_its_address(method, path, words):
    assert wire.explain(method, path) == words


@given(st.integers(0, MOST_TURNS))
def test_every_address_that_is_written_is_understood(turn):
    for endpoint in wire.ENDPOINTS:
        said = wire.explain(endpoint.method, endpoint.at(turn=turn))
        assert said == endpoint.words.format(turn=turn) and "/" not in said


# ---------------------------------------------------------------------------------------------- there and back

POINT = st.lists(st.floats(0.0, 1.0), min_size=2, max_size=2)
POINTS = st.lists(POINT, min_size=1, max_size=3)
REWARD = st.none() | st.floats(-1e300, 1e300)


@given(POINTS, st.lists(POINT, max_size=3), REWARD, st.integers(0, MOST_TURNS))
def test_a_proposal_reads_its_own_body_back(X, bests, reward, turn):
    sent = Proposal("x", turn, X, bests, reward)
    body = wire.proposal_body(sent)
    assert wire.read_proposal("x", turn, read(wire.PROPOSAL, written(body), is_exact=True)) == sent
    assert body.keys() == {"X"} | ({"bests"} if bests else set()) | (set() if reward is None else {"reward"})


@given(POINTS, st.floats(0.0, 1.0), st.integers(0, MOST_TURNS), st.none() | st.just("y"), st.lists(POINT, max_size=3))
def test_a_mix_reads_its_own_body_back(X, weight, snapshot, leader, others):
    sent = Mix("x", 3, X, (weight, 1.0 - weight), snapshot, leader, others)
    assert wire.read_mix("x", 3, read(wire.MIXED, written(wire.mix_body(sent)), is_exact=True)) == sent


@given(st.integers(0, MOST_STATES), st.lists(POINT, max_size=3), st.none() | st.integers(0, MOST_TURNS))
def test_news_are_read_as_they_were_written(state, others, turn):
    news = News("x", state, others, turn)
    there = wire.read_news("x", read(wire.NEWS, written(wire.news_body(news))))
    assert there == news and there.turn == turn


@given(st.integers(0, MOST_TURNS), st.lists(st.sampled_from("xyz"), unique=True), st.none() | st.floats(0.0, 2e9))
def test_a_standing_reads_its_own_body_back(round, missing, closes_at):
    sent = Standing(round, tuple(missing), closes_at)
    assert wire.read_standing(read(wire.STANDING, written(wire.standing_body(sent)), is_exact=True)) == sent


@pytest.mark.parametrize("name", FORMS)
def test_a_good_message_is_read_as_it_is(name):
    assert read(FORMS[name], written(GOOD[name]), is_exact=True) == GOOD[name]


# ------------------------------------------------------------------------------------------------ what does not fit


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"1", b'"X"', b"\xff", b"[" * 10**5, b'{"a":' * 10**5])
def test_what_is_no_object_is_no_message(content):
    for form in FORMS.values():
        with pytest.raises(Misfit, match="^it is not a JSON object$"):
            read(form, content)


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_of_json_is_no_message(constant):
    with pytest.raises(Misfit, match="^it is not a JSON object$"):
        read(wire.PROPOSAL, f'{{"X": [[0.5]], "reward": {constant}}}'.encode())


@pytest.mark.parametrize(("name", "field"), FIELDS)
def test_a_field_that_is_needed_may_not_be_missing_and_another_is_none(name, field):
    rest = written(without(GOOD[name], field))
    if FORMS[name][field].is_needed:
        with pytest.raises(Misfit, match=f"^{field} is missing$"):
            read(FORMS[name], rest)
    else:
        assert read(FORMS[name], rest) == GOOD[name] | {field: None}
        assert read(FORMS[name], written(GOOD[name] | {field: None})) == GOOD[name] | {field: None}


@pytest.mark.parametrize("name", FORMS)
def test_another_field_is_left_out_or_refused(name):
    more = written(GOOD[name] | {"y": 3.14159})
    assert read(FORMS[name], more) == GOOD[name]
    with pytest.raises(Misfit, match="^it has a field that no message of this kind has$"):
        read(FORMS[name], more, is_exact=True)


LONG = MOST_OTHERS + 1
WRONG_POINTS = [
    None,
    0.5,
    "0.5",
    {},
    [],
    [0.5],
    [[]],
    [["0.5"]],
    [[True]],
    [[None]],
    [[-1e-9]],
    [[1.0 + 1e-9]],
    [[[0.5]]],
]
WRONG_POINTS += [[[0.5] * (wire.MOST_COORDINATES + 1)], [[10**400]]]
WRONG_NAMES = ["", 3, True, [], {}, "x" * (wire.LONGEST_NAME + 1)]
UNPRINTABLE = ["\x1b[2J", "a\nb", "\u202e", "\ud800"]
WRONG_NUMBERS = ["1", True, [], {}, 10**400, -(10**400)]
WRONG_TURNS = [None, "0", True, [], -1, 0.5, MOST_TURNS + 1]
WRONG_STATES = [*WRONG_TURNS[:-1], MOST_STATES + 1]
WRONG = {
    ("proposal", "X"): [*WRONG_POINTS, [[0.5]] * (wire.MOST_DESIGNS + 1)],
    ("proposal", "bests"): [*WRONG_POINTS[1:], [[0.5]] * (wire.MOST_BESTS + 1)],
    ("proposal", "reward"): WRONG_NUMBERS,
    ("invitation", "code"): [None, "", 3, True, [], "a b", "é", "\x00", "\ud800", "x" * (wire.LONGEST_SECRET + 1)],
    ("invitation", "token"): [None, "", 3, "a b", "x" * (wire.LONGEST_SECRET + 1)],
    ("invited", "code"): [None, "", 3, True, [], "a b", "é", "\x00", "\ud800", "x" * (wire.LONGEST_SECRET + 1)],
    ("invited", "token"): [None, "", 3, "a b", "x" * (wire.LONGEST_SECRET + 1)],
    ("acceptance", "digest"): [None, "", 3, "a b", "x" * (wire.LONGEST_SECRET + 1)],
    ("invitation", "digest"): ["", 3, "a b", "x" * (wire.LONGEST_SECRET + 1)],
    ("invitation", "site"): WRONG_NAMES,
    ("mix", "X"): WRONG_POINTS,
    ("mix", "weights"): [None, 1.0, "1", {}, [], [True], ["1"], [-0.1], [1.1], [[1.0]]],
    ("mix", "snapshot"): WRONG_STATES,
    ("mix", "leader"): WRONG_NAMES,
    ("mix", "others"): [point for point in WRONG_POINTS if point != []] + [[[0.5]] * LONG],
    ("news", "snapshot"): WRONG_STATES,
    ("news", "others"): [point for point in WRONG_POINTS if point != []] + [[[0.5]] * LONG],
    ("news", "turn"): WRONG_TURNS[1:],
    ("standing", "round"): WRONG_STATES,
    ("standing", "missing"): [None, "xy", {}, 3, [None], [""], ["x" * (wire.LONGEST_NAME + 1)]],
    ("standing", "closes_at"): ["soon", True, [], -1, 1e300],
    ("membership", "agreement"): [None, [], "text", 3],
    ("membership", "digest"): [None, *WRONG_NAMES],
    ("membership", "site"): [None, *WRONG_NAMES],
    ("membership", "turn"): WRONG_TURNS[1:],
    ("membership", "experiments"): WRONG_TURNS[1:],
    ("refusal", "error"): [None, "", 3, [], "x" * (wire.LONGEST_TEXT + 1)],
    ("refusal", "reason"): ["", "final", 3, True, ["waiting"]],
    ("refusal", "standing"): ["", 3, [], {}, {"round": 0}, {"round": -1, "missing": []}],
    ("refusal", "agreement"): [[], "text", 3],
}
MISFITS = [(name, field, value) for (name, field), values in WRONG.items() for value in values]


def test_of_every_field_something_is_tried_that_does_not_fit():
    assert set(WRONG) == set(FIELDS)


@pytest.mark.parametrize(("name", "field", "value"), MISFITS, ids=lambda value: f"{value!r:.30}")
def test_a_field_that_does_not_fit_is_named_with_what_it_should_be(name, field, value):
    kind = FORMS[name][field]
    with pytest.raises(Misfit) as misfit:
        read(FORMS[name], written(GOOD[name] | {field: value}))
    assert str(misfit.value) == f"{field} is not {kind.words}" and isinstance(misfit.value, CbocError)


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        *(("mix", "leader", value) for value in UNPRINTABLE),
        *(("membership", "site", value) for value in UNPRINTABLE),
        *(("standing", "missing", [value]) for value in UNPRINTABLE),
        ("invitation", "site", "\ud800"),
        ("membership", "agreement", {"a": json.loads("[" * 17 + "]" * 17)}),
    ],
    ids=lambda value: f"{value!r:.30}",
)
def test_what_no_schema_can_say_is_refused_as_well(name, field, value):
    with pytest.raises(Misfit, match=f"^{field} is not "):
        read(FORMS[name], written(GOOD[name] | {field: value}))


# ------------------------------------------------------------------------------------------------------- the schema


@pytest.mark.parametrize("name", FORMS)
def test_a_schema_is_one(name):
    Draft202012Validator.check_schema(schema(FORMS[name]))
    json.dumps(schema(FORMS[name]))


@pytest.mark.parametrize("name", FORMS)
def test_the_schema_takes_what_is_read(name):
    agreed = Draft202012Validator(schema(FORMS[name]))
    for field, kind in FORMS[name].items():
        for said in (GOOD[name], without(GOOD[name], field), GOOD[name] | {field: None}):
            is_whole = kind.is_needed is False or said is GOOD[name]
            assert agreed.is_valid(said) == is_whole
    assert not agreed.is_valid(GOOD[name] | {"y": 3.14159})  # exactly


@pytest.mark.parametrize(("name", "field", "value"), MISFITS, ids=lambda value: f"{value!r:.30}")
def test_the_schema_refuses_what_is_refused(name, field, value):
    assert not Draft202012Validator(schema(FORMS[name])).is_valid(GOOD[name] | {field: value})


EDGES = [
    (wire.SHARE, [0, 1, 0.0, 1.0, 2.0**-32]),
    (wire.NUMBER, [0, -1e308, 1e308, 10**300]),
    (wire.TIME, [0, wire.LATEST]),
    (wire.TURN, [0, MOST_TURNS]),
    (wire.NAME, ["x", "x" * wire.LONGEST_NAME, "caffè 🧪"]),
    (wire.CLAIM, ["x", "x" * wire.LONGEST_NAME, "\x00"]),
    (wire.SECRET, ["!", "~" * wire.LONGEST_SECRET]),
    (wire.TEXT, ["\x00", "x" * wire.LONGEST_TEXT]),
    (wire.REASON, list(wire.REASONS)),
    (wire.POINT, [[0.5] * wire.MOST_COORDINATES]),
    (wire.POINTS, [[[0.5]] * wire.MOST_DESIGNS]),
    (wire.FEW_POINTS, [[], [[0.5]] * MOST_OTHERS]),
]


def test_form_and_schema_agree_at_the_edge():
    for kind, values in EDGES:
        for value in values:
            assert kind.fits(value) and Draft202012Validator(kind.schema).is_valid(value), (kind.words, value)


# ------------------------------------------------------------------------------------ no place for an outcome


def test_what_a_site_sends_has_no_place_for_an_outcome():
    """One message holds numbers: shares of a range from 0 to 1, and one reward where a rule asks for it."""
    sent = {name: kind for endpoint in wire.ENDPOINTS for name, kind in endpoint.takes.items()}
    assert set(sent) == {"X", "bests", "reward", "code", "token", "digest", "site"}
    takes_numbers = {name for name, kind in sent.items() if kind.fits(0.8) or kind.fits([[0.8]])}
    assert takes_numbers == {"X", "bests", "reward"} == set(wire.PROPOSAL)
    for name, y in product(("X", "bests"), (-1, 1.0000001, 21.375, 1e9)):
        assert not sent[name].fits([[y]]) and not sent[name].fits(y)


def test_nothing_that_a_site_sends_is_free_text():
    """What it may write in letters is a secret, or its own name: hashed or compared, and neither kept nor shown."""
    notes = ("the vial broke", "y = 0.8", "0.8 ± 0.1", "a\nb")
    for endpoint in wire.ENDPOINTS:
        for name, kind in endpoint.takes.items():
            if name != "site":
                assert not any(kind.fits(note) for note in notes), name
    assert wire.INVITATION["site"].schema["anyOf"][0]["maxLength"] == wire.LONGEST_NAME
    assert set(wire.SECRETS) < set(wire.INVITATION) and set(wire.DESIGNS) < set(wire.PROPOSAL)


def test_what_comes_back_has_no_place_for_an_outcome_either():
    """Of a refusal the sentence is text: it comes from the coordinator, which never knew an outcome."""
    given = {name: kind for endpoint in wire.ENDPOINTS for name, kind in endpoint.gives.items()}
    assert {name for name, kind in given.items() if kind.fits(21.375) or kind.fits([21.375])} == {"closes_at"}
    assert {name for name, kind in given.items() if kind.fits("a\nb") or kind.fits(["a\nb"])} == set()
    assert {name for name, kind in wire.REFUSAL.items() if kind.fits("a\nb")} == {"error"}
