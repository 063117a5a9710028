"""Whose turn it is to close a round is gone: sites wait, or drift, and everything follows from the feeds."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from cboc import Ledger, Waiting
from cboc.exchange.feeds.carrier import Nowhere
from cboc.exchange.feeds.entry import FeedEntry, write
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.feeds.network import Feeds
from cboc.exchange.feeds.record import Record
from cboc.exchange.feeds.replica import Replica, Taken
from cboc.exchange.messages import Proposal
from cboc.exchange.network import Drift

from ..test_network import SITES, Clock, proposal, standing_when, study
from .shelf import Shelf

DEADLINE = 60.0


def networks(agreed, clock, shelves, drifters):
    """A network of every site; those in `drifters` do not wait for ever."""
    of = {
        name: Feeds(Replica(agreed), name, Keys.make(), shelves[name], clock=clock, drifts=name in drifters)
        for name in agreed.sites
    }
    for network in of.values():
        network.hello()
    return of


def replayed(agreed, shelf, site, turn):
    """The answer as somebody computes it who has nothing but the feeds."""
    stranger = Replica(agreed)
    stranger.load(shelf.take(stranger, SITES))
    return Ledger(agreed, Record(stranger, site)).mix(site, turn)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def gone(clock):
    """Round 0 is open, x is to close it, and x is gone; y drifts, z waits."""
    agreed, shelf = study(deadline=DEADLINE, quorum=2), Shelf()
    of = networks(agreed, clock, dict.fromkeys(SITES, shelf), {"y"})
    for name in ("y", "z"):
        of[name].submit(proposal(name, x=(0.25, 0.75) if name == "y" else (0.75, 0.25)))
        of[name].standing()
    return agreed, shelf, of


def test_one_drifts_and_one_waits(gone, clock):
    agreed, shelf, of = gone
    clock.now += 1.5 * DEADLINE
    for name in ("y", "z"):
        standing = standing_when(of[name].mix, name, 0)
        assert (standing.closer, standing.closing) == ("x", 0)
    clock.now += DEADLINE
    answer = of["y"].mix("y", 0)
    assert answer.weights == pytest.approx((0.0, 2 / 3, 1 / 3)) and answer == replayed(agreed, shelf, "y", 0)
    assert standing_when(of["z"].mix, "z", 0).drifts == (Drift("y", 0, "x"),)
    of["y"].submit(proposal("y", 1))
    clock.now += 10 * DEADLINE
    standing = standing_when(of["y"].mix, "y", 1)  # alone it is less than the quorum
    assert standing.round == 1 and standing.missing == ("x", "z")


def test_before_the_deadline_has_passed_twice_nobody_drifts_and_a_closure_that_was_seen_counts(gone, clock):
    *_, of = gone
    clock.now += 1.9 * DEADLINE
    standing_when(of["y"].mix, "y", 0)
    of["x"].submit(proposal("x"))
    assert of["x"].mix("x", 0).snapshot == 0
    clock.now += 10 * DEADLINE
    assert min(of["y"].mix("y", 0).weights) > 0.0 and of["y"].standing().drifts == ()


def test_whoever_was_gone_comes_back_and_all_are_together_again(gone, clock):
    agreed, shelf, of = gone
    clock.now += 2 * DEADLINE
    said = of["y"].mix("y", 0)
    of["y"].submit(proposal("y", 1))
    of["x"].submit(proposal("x"))
    answers = {(name, 0): of[name].mix(name, 0) for name in ("x", "z")}
    assert all(min(answer.weights) > 0.0 for answer in answers.values()), "they are in the round that x has closed"
    assert of["y"].mix("y", 0) == said, "and y has what it has"
    ledger = Ledger(agreed)
    for name in SITES:
        ledger.submit(proposal(name))
    ledger.submit(proposal("y", 1))
    for name in ("x", "z"):
        ledger.submit(proposal(name, 1, x=(0.1, 0.9)))
        of[name].submit(proposal(name, 1, x=(0.1, 0.9)))
    of["y"].standing()  # its turn to close round 1, as everybody else sees it
    for name in SITES:
        answers[name, 1] = of[name].mix(name, 1)
        assert answers[name, 1] == ledger.mix(name, 1)
    for (name, turn), answer in answers.items():
        assert replayed(agreed, shelf, name, turn) == answer


def test_if_the_others_close_a_round_without_the_one_that_drifted_nobody_is_stuck(clock):
    """x comes back, has not heard of y, and closes round 0 with z; from then on y is a round late for the others."""
    agreed = study(deadline=DEADLINE, quorum=2)
    away, ours = Shelf(), Shelf()
    of = networks(agreed, clock, {"x": away, "y": ours, "z": ours}, {"y"})
    for name in ("y", "z"):
        of[name].submit(proposal(name))
        of[name].standing()
    away.copies = {key: copy for key, copy in ours.copies.items() if FeedEntry.from_bytes(copy).site != "y"}
    of["x"].submit(proposal("x"))
    of["x"].standing()
    clock.now += 2 * DEADLINE
    assert of["x"].mix("x", 0).weights[1] == 0.0 and of["y"].mix("y", 0).weights[0] == 0.0
    ours.copies |= away.copies
    of["x"].carrier = ours
    assert of["z"].mix("z", 0).weights[1] == 0.0, "what is closed stays so"
    answers = {}
    for turn in (1, 2, 3):
        for name in SITES:
            of[name].submit(proposal(name, turn))
        for name in (*SITES, *SITES):
            of[name].standing()
        answers |= {(name, turn): of[name].mix(name, turn) for name in SITES}
    for (name, turn), answer in answers.items():
        assert min(answer.weights) > 0.0 and replayed(agreed, ours, name, turn) == answer


def test_two_that_drift_go_on_together_while_the_third_stays_away(clock):
    agreed, shelf = study(deadline=DEADLINE, quorum=2), Shelf()
    of = networks(agreed, clock, dict.fromkeys(SITES, shelf), SITES)
    for turn in range(4):
        for name in ("y", "z"):
            of[name].submit(proposal(name, turn))
            of[name].standing()
        clock.now += 2 * DEADLINE
        for name in ("y", "z"):
            answer = of[name].mix(name, turn)
            assert answer.weights[0] == 0.0 and answer == replayed(agreed, shelf, name, turn)
    assert [drift.round for drift in of["x"].standing().drifts] == [0, 1, 2, 3] * 2


@pytest.mark.parametrize(
    ("terms", "present", "complaint"),
    [
        ({}, {"y": 1, "z": 1}, "no deadline"),
        ({"deadline": 60.0, "quorum": 2}, {"y": 1}, "fewer sites than the quorum"),
        ({"deadline": 60.0}, {"y": 1, "q": 1}, "sites that the study does not have"),
        ({"deadline": 60.0}, {"y": 0, "z": 1}, "in which it has proposed nothing"),
        ({"deadline": 60.0}, {"z": 1}, "in which it has proposed nothing"),
    ],
)
def test_a_drift_that_cannot_be_is_refused(terms, present, complaint):
    agreed, keys = study(**terms), Keys.make()
    y = Feeds(Replica(agreed), "y", keys, Nowhere())
    y.hello()
    y.submit(proposal("y"))
    said = {"act": "drift", "state": 0, "present": present, "awaited": "x"}
    entry = write(keys, agreed.digest, "y", y.feed.last, 1, said)
    assert y.replica.take(entry) is Taken.REFUSED and complaint in y.replica.troubles[0]


class Drifting(RuleBasedStateMachine):
    """Entries come late and out of order, some sites drift: an answer never changes, and follows from the feeds."""

    @initialize(drifters=st.sets(st.sampled_from(SITES)), rule=st.sampled_from(["uniform", "leader"]))
    def begin(self, drifters, rule):
        self.clock, self.answers, self.turns = Clock(), {}, dict.fromkeys(SITES, 0)
        self.agreed = study(deadline=DEADLINE, rule=rule, name="drifting")
        self.shelf = Shelf()  # everything that was ever written
        self.of = networks(self.agreed, self.clock, {name: Nowhere() for name in SITES}, drifters)
        self.random = np.random.default_rng(1)

    @rule(name=st.sampled_from(SITES))
    def propose(self, name):
        reward = float(self.random.normal()) if self.agreed.needs_rewards else None
        turn = self.turns[name]
        if turn == 4 or (turn and (name, turn - 1) not in self.answers):
            return
        self.of[name].submit(Proposal(name, turn, self.random.random((1, 2)), (), reward))
        self.turns[name] += 1

    @rule(name=st.sampled_from(SITES))
    def ask(self, name):
        if self.turns[name]:
            try:
                answer = self.of[name].mix(name, self.turns[name] - 1)
            except Waiting:
                return
            assert self.answers.setdefault((name, self.turns[name] - 1), answer) == answer

    @rule(to=st.sampled_from(SITES), of=st.sampled_from(SITES))
    def carry(self, to, of):
        if to != of:
            for entry in self.of[of].feed.entries:
                self.of[to].bring(entry)

    @rule(share=st.sampled_from([0.5, 1.0, 2.0]))
    def wait(self, share):
        self.clock.now += share * DEADLINE

    def teardown(self):
        if not hasattr(self, "of"):
            return
        for network in self.of.values():
            self.shelf.give(network.replica, network.site)
        for (name, turn), answer in self.answers.items():
            assert self.of[name].mix(name, turn) == answer == replayed(self.agreed, self.shelf, name, turn)
        for _ in range(20):  # all are there again: everybody comes to the end
            for name in SITES:
                self.propose(name)
                for other in SITES:
                    self.carry(other, name)
            for name in SITES:
                self.of[name].standing()
                for other in SITES:
                    self.carry(other, name)
                self.ask(name)
        assert set(self.answers) == {(name, turn) for name in SITES for turn in range(4)}


TestDrifting = Drifting.TestCase
TestDrifting.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
