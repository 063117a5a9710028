"""A network without a centre keeps the promises of every network, and computes the answers that a ledger gives."""

import numpy as np
import pytest

from cboc import Ledger, Study
from cboc.consensus.matrix import is_doubly_stochastic
from cboc.exchange.feeds.record import Record
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.messages import Proposal
from cboc.exchange.network import Standing

from ..test_network import SITES, NetworkContract, proposal, standing_when, study
from .shelf import feeds

FIXED = [[0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 0.5, 0.5], [0.5, 0.0, 0.0, 0.5]]
CUT = [[0.1, 0.6, 0.3, 0.0], [0.0, 0.1, 0.6, 0.3], [0.3, 0.0, 0.1, 0.6], [0.6, 0.3, 0.0, 0.1]]  # not only neighbours
SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
EDGES = [("x", "y"), ("y", "z"), ("z", "w"), ("w", "x"), ("x", "z")]


class TestFeeds(NetworkContract):
    @pytest.fixture
    def networks(self, clock):
        return lambda agreed: feeds(agreed, clock=clock)

    def test_a_round_with_a_deadline_is_closed_by_the_site_whose_turn_it_is(self, networks, clock):
        of = networks(study(deadline=60.0, quorum=2))
        of["x"].submit(proposal("x"))
        assert of["x"].standing() == Standing(0, ("y", "z"), 1060.0)
        of["y"].submit(proposal("y"))
        clock.now = 1061.0
        assert standing_when(of["y"].mix, "y", 0).missing == ("z",)  # it is the turn of x
        assert of["x"].mix("x", 0).weights[2] == 0.0
        assert of["y"].mix("y", 0).weights[2] == 0.0 and of["y"].standing() == Standing(1, SITES)

    def test_who_comes_too_late_is_in_the_next_round(self, networks, clock):
        of = networks(study(deadline=60.0))
        of["x"].submit(proposal("x"))
        assert of["x"].standing().closes_at == 1060.0
        clock.now = 1061.0
        assert of["x"].mix("x", 0).weights == (1.0, 0.0, 0.0)
        of["z"].submit(proposal("z"))  # meant for round 0, which it did not know to be closed
        of["x"].submit(proposal("x", 1))
        of["y"].submit(proposal("y"))
        of["y"].standing()  # whose turn it is to close round 1, with everybody in
        for site, turn in (("x", 1), ("y", 0), ("z", 0)):
            answer = of[site].mix(site, turn)
            assert answer.snapshot == 1 and min(answer.weights) > 0.0

    def test_a_round_that_has_begun_in_the_future_begins_now(self, networks, clock):
        of = networks(study(deadline=60.0))
        clock.now += 1e6
        of["x"].submit(proposal("x"))
        assert of["x"].standing().closes_at == 1060.0 + 1e6
        clock.now -= 1e6
        assert of["x"].standing().closes_at == 1060.0
        clock.now = 1061.0
        assert of["x"].mix("x", 0).weights == (1.0, 0.0, 0.0)

    def test_if_the_closer_has_left_the_next_one_closes(self, networks, clock):
        of = networks(study(deadline=60.0))
        of["x"].leave("x")
        of["y"].submit(proposal("y"))
        of["y"].standing()
        clock.now = 1061.0
        assert of["y"].mix("y", 0).weights == (0.0, 1.0, 0.0)


@pytest.mark.parametrize("graph", ["complete", "ring", "star", EDGES])
@pytest.mark.parametrize("rule", ["identity", "uniform", "metropolis", "leader", FIXED])
def test_in_rounds_the_answers_are_those_of_a_ledger_bit_for_bit(rule, graph):
    agreed = Study(SPACE, ("x", "y", "z", "w"), 5, rule=rule, graph=graph, pace="rounds")
    of, ledger, random = feeds(agreed), Ledger(agreed), np.random.default_rng(7)
    for turn in range(5):
        for k in random.permutation(4):
            site = agreed.sites[k]
            reward = float(random.normal()) if agreed.needs_rewards else None
            sent = Proposal(
                site, turn, random.random((1, 2)), random.random((1, 2)) if agreed.shares_best else (), reward
            )
            ledger.submit(sent)
            of[site].submit(sent)
        for site in agreed.sites:
            assert of[site].mix(site, turn) == ledger.mix(site, turn)
            assert of[site].news(site).others == ledger.news(site).others


@pytest.mark.parametrize("graph", ["complete", "ring", "star", EDGES])
@pytest.mark.parametrize("rule", ["uniform", "metropolis", "leader", FIXED, CUT])
@pytest.mark.parametrize("ends", ["leaves", "has a smaller budget"])
def test_when_somebody_is_absent_the_answers_are_still_those_of_a_ledger(rule, graph, ends):
    """Also to sites that do not read its feed: an asymmetric matrix is made symmetric for everybody."""
    budgets = {} if ends == "leaves" else {"z": 2}
    agreed = Study(SPACE, ("x", "y", "z", "w"), 4, rule=rule, graph=graph, pace="rounds", budgets=budgets)
    of, ledger, random = feeds(agreed), Ledger(agreed), np.random.default_rng(8)
    for turn in range(4):
        if turn == 2 and ends == "leaves":
            of["z"].leave("z"), ledger.leave("z")
        for site in agreed.sites if turn < 2 else ("x", "y", "w"):
            reward = float(random.normal()) if agreed.needs_rewards else None
            sent = Proposal(site, turn, random.random((1, 2)), random.random((1, 2)), reward)
            ledger.submit(sent), of[site].submit(sent)
        for site in ("x", "y", "w"):
            assert of[site].mix(site, turn) == ledger.mix(site, turn)
        assert is_doubly_stochastic(ledger.matrix(turn))


@pytest.mark.parametrize("rule", ["identity", "uniform", "leader"])
def test_at_the_free_pace_every_answer_equals_its_replay_from_the_feeds(rule):
    agreed = Study(SPACE, SITES, 9, rule=rule)
    of, random = feeds(agreed), np.random.default_rng(3)
    answers, turns = {}, dict.fromkeys(SITES, 0)
    for _ in range(20):
        site = SITES[random.integers(3)]
        if turns[site] == 9:
            continue
        reward = float(random.normal()) if agreed.needs_rewards else None
        bests = random.random((1, 2)) if agreed.shares_best else ()
        of[site].submit(Proposal(site, turns[site], random.random((1, 2)), bests, reward))
        answers[site, turns[site]] = of[site].mix(site, turns[site])
        turns[site] += 1
    stranger = Replica(agreed)  # it knows nothing but what is on the shelf
    stranger.load(of["x"].carrier.take(stranger, SITES))
    for (site, turn), answer in answers.items():
        ledger = Ledger(agreed, Record(stranger, site))
        assert ledger.mix(site, turn) == answer
        assert is_doubly_stochastic(ledger.matrix(turn))
