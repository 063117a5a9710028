"""What every network promises. A new one inherits `NetworkContract` and says, by one fixture, how sites reach it."""

from dataclasses import replace

import numpy as np
import pytest

from cboc import CbocError, Ledger, Study, Waiting
from cboc.exchange.messages import Proposal
from cboc.exchange.network import Conflict, NotSubmitted, Standing

SITES = ("x", "y", "z")
HERE, THERE = (0.5, 0.5), (0.25, 0.75)


def study(**options):
    return Study({"a": (0.0, 1.0), "b": (0.0, 1.0)}, SITES, 4, **({"pace": "rounds"} | {"name": "trial run"} | options))


def proposal(site, turn=0, x=HERE, **more):
    return Proposal(site, turn, [x], **more)


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def standing_when(call, *given):
    """Where the study stands, by the word of a call that has to wait."""
    with pytest.raises(Waiting) as waiting:
        call(*given)
    return waiting.value.standing


class NetworkContract:
    """The fixture `networks(study)` is the network of each site; the network tells the time by the fixture `clock`."""

    @pytest.fixture
    def clock(self):
        return Clock()

    def test_a_proposal_that_is_handed_in_twice_counts_once(self, networks):
        of = networks(study())
        for _ in range(2):
            of["x"].submit(proposal("x"))
            assert of["y"].standing() == Standing(0, ("y", "z"))
        of["y"].submit(proposal("y"))
        of["z"].submit(proposal("z"))
        of["x"].submit(proposal("x"))  # the round is closed, and it is still the same
        assert of["x"].standing() == Standing(1, SITES)

    def test_there_is_no_answer_until_the_round_closes(self, networks):
        of = networks(study())
        of["y"].submit(proposal("y"))
        assert standing_when(of["y"].mix, "y", 0) == Standing(0, ("x", "z"))
        of["x"].submit(proposal("x"))
        with pytest.raises(Waiting, match="round 0 is still open") as waiting:
            of["x"].mix("x", 0)
        assert waiting.value.standing == Standing(0, ("z",)) and waiting.value.is_usual
        of["z"].submit(proposal("z"))
        assert of["y"].mix("y", 0).turn == 0

    @pytest.mark.parametrize("rule", ["uniform", "leader", [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]])
    def test_the_answers_are_those_of_a_ledger_to_the_last_bit_and_the_same_each_time(self, networks, rule):
        agreed, random = study(rule=rule, graph="star"), np.random.default_rng(7)
        of, ledger = networks(agreed), Ledger(agreed)
        for turn in range(4):
            for k in random.permutation(3):
                reward = float(random.normal()) if agreed.needs_rewards else None
                sent = Proposal(SITES[k], turn, random.random((1, 2)), random.random((1, 2)), reward)
                ledger.submit(sent)
                of[sent.site].submit(sent)
        for turn in (3, 0, 2, 1):
            for site in SITES:
                assert of[site].mix(site, turn) == of[site].mix(site, turn) == ledger.mix(site, turn)

    def test_a_plate_of_designs_is_mixed_row_by_row(self, networks):
        agreed = study()
        of, ledger = networks(agreed), Ledger(agreed)
        for site, many in zip(SITES, (3, 1, 2), strict=True):
            sent = Proposal(site, 0, np.random.default_rng(many).random((many, 2)), [HERE, THERE])
            ledger.submit(sent)
            of[site].submit(sent)
        for site, many in zip(SITES, (3, 1, 2), strict=True):
            answer = of[site].mix(site, 0)
            assert answer == ledger.mix(site, 0) and len(answer.X) == many
            assert answer.others == (HERE, THERE, HERE, THERE)

    def test_news_are_the_best_designs_of_the_last_state(self, networks):
        of = networks(study())
        assert of["x"].news("x").others == ()
        for site in SITES:
            of[site].submit(proposal(site, bests=[THERE]))
        assert of["x"].news("x").others == (THERE, THERE) and of["x"].news("x").snapshot == 0
        of["y"].submit(proposal("y", 1, bests=[HERE]))  # the round is open: nobody hears of it yet
        assert of["x"].news("x").others == (THERE, THERE)

    def test_another_content_for_a_turn_that_is_known_is_a_conflict(self, networks):
        of = networks(study())
        of["x"].submit(proposal("x", 3))
        others = [proposal("x", 3, THERE), proposal("x", 3, bests=[HERE]), replace(proposal("x", 3), X=(HERE, HERE))]
        for other in others:
            with pytest.raises(Conflict, match="site 'x' has already proposed another design for turn 3"):
                of["x"].submit(other)
        of["y"].submit(proposal("y"))
        of["z"].submit(proposal("z"))
        for other in others:
            with pytest.raises(Conflict, match="Is a copy of this site's file in use"):
                of["x"].submit(other)
        assert of["x"].standing() == Standing(1, SITES)

    def test_a_turn_before_the_latest_that_nobody_knows_is_a_conflict(self, networks):
        of = networks(study())
        of["x"].submit(proposal("x", 5))
        with pytest.raises(Conflict, match="for turn 4"):
            of["x"].submit(proposal("x", 4))

    def test_a_second_proposal_has_to_wait_while_one_is_open(self, networks):
        of = networks(study())
        of["x"].submit(proposal("x"))
        with pytest.raises(Waiting, match="round 0 is open, and 'x' has proposed for it already") as waiting:
            of["x"].submit(proposal("x", 1))
        assert waiting.value.standing == Standing(0, ("y", "z")) and not waiting.value.is_usual
        of["y"].submit(proposal("y"))
        of["z"].submit(proposal("z"))
        of["x"].submit(proposal("x", 1))
        assert of["x"].standing() == Standing(1, ("y", "z"))

    def test_who_has_not_proposed_gets_no_answer(self, networks):
        of = networks(study())
        of["x"].submit(proposal("x"))
        for site, turn in (("x", 1), ("y", 0)):
            with pytest.raises(NotSubmitted, match=f"site '{site}' has not proposed for turn {turn}"):
                of[site].mix(site, turn)
        for site in "yz":
            of[site].leave(site)
        with pytest.raises(NotSubmitted):
            of["y"].mix("y", 0)

    def test_who_leaves_lets_the_others_go_on(self, networks):
        of = networks(study())
        of["x"].submit(proposal("x"))
        of["y"].submit(proposal("y", x=THERE))
        for _ in range(2):  # the same again is fine
            of["z"].leave("z")
        assert of["x"].standing() == Standing(1, ("x", "y"))
        assert of["x"].mix("x", 0).weights[2] == 0.0
        with pytest.raises(CbocError, match="site 'z' has left study '.*', and takes no more turns"):
            of["z"].submit(proposal("z"))
        of["y"].leave("y")
        assert of["y"].mix("y", 0).turn == 0  # what it has proposed is answered
        of["x"].submit(proposal("x", 1))
        assert of["x"].mix("x", 1).weights == (1.0, 0.0, 0.0)

    def test_who_has_used_its_budget_is_not_waited_for(self, networks):
        of = networks(study(budgets={"y": 1}))
        for site in SITES:
            of[site].submit(proposal(site))
        assert of["x"].standing() == Standing(1, ("x", "z"))
        with pytest.raises(CbocError, match="site 'y' has used its budget of 1 experiments"):
            of["y"].submit(proposal("y", 1))

    @pytest.mark.parametrize(
        ("wrong", "complaint"),
        [
            (Proposal("x", 0, [(0.5,)]), "have 2 coordinates; site 'x' sent 1"),
            (proposal("x", reward=1.0), "asks for no rewards; site 'x' sent one"),
            (proposal("x", bests=[HERE]), "does not share best designs; site 'x' sent one"),
        ],
    )
    def test_what_does_not_fit_the_agreement_is_refused_and_leaves_nothing_behind(self, networks, wrong, complaint):
        of = networks(study(shares_best=False))
        with pytest.raises(CbocError, match=complaint) as refusal:
            of["x"].submit(wrong)
        assert not isinstance(refusal.value, Waiting | Conflict | NotSubmitted)
        assert of["x"].standing() == Standing(0, SITES)
        of["x"].submit(proposal("x"))


class CentralContract(NetworkContract):
    """The promises of networks in which all proposals arrive in one place, and so in one order."""

    @pytest.mark.parametrize("rule", ["uniform", "leader", "identity"])
    def test_at_the_free_pace_every_proposal_is_answered_at_once(self, networks, rule):
        agreed, random = study(rule=rule, pace="free"), np.random.default_rng(7)
        of, ledger = networks(agreed), Ledger(agreed)
        turns = dict.fromkeys(SITES, 0)
        for state, k in enumerate((0, 0, 1, 0, 2, 1, 1, 0, 2)):
            site = SITES[k]
            reward = float(random.normal()) if agreed.needs_rewards else None
            bests = random.random((1, 2)) if agreed.shares_best else ()
            sent = Proposal(site, turns[site], random.random((1, 2)), bests, reward)
            ledger.submit(sent)
            of[site].submit(sent)
            answer = of[site].mix(site, turns[site])
            assert answer == ledger.mix(site, turns[site]) and answer.snapshot == state
            assert of[site].news(site) == ledger.news(site) and of[site].news(site).snapshot == state
            turns[site] += 1
        for site, many in turns.items():  # later, in any order: the same
            for turn in reversed(range(many)):
                assert of[site].mix(site, turn) == ledger.mix(site, turn)
        assert of["x"].standing() == Standing(9, ())

    def test_a_deadline_closes_a_round_with_the_quorum_and_not_without(self, networks, clock):
        of = networks(study(deadline=60.0, quorum=2))
        assert of["x"].standing() == Standing(0, SITES)  # nobody has begun
        of["x"].submit(proposal("x"))
        assert of["x"].standing() == Standing(0, ("y", "z"), 1060.0)
        clock.now = 1061.0
        assert standing_when(of["x"].mix, "x", 0) == Standing(0, ("y", "z"), 1060.0)  # one is no quorum
        of["y"].submit(proposal("y", x=THERE))
        answer = of["x"].mix("x", 0)
        assert answer.weights[2] == 0.0 and answer.snapshot == 0
        assert of["z"].standing() == Standing(1, SITES)  # the next round's clock has not started

    def test_nothing_closes_before_its_deadline(self, networks, clock):
        of = networks(study(deadline=60.0))
        of["x"].submit(proposal("x"))
        clock.now = 1059.0
        assert standing_when(of["x"].mix, "x", 0) == Standing(0, ("y", "z"), 1060.0)
        clock.now = 1060.0
        assert of["x"].mix("x", 0).weights == (1.0, 0.0, 0.0)

    def test_a_late_proposal_is_in_the_next_round(self, networks, clock):
        of = networks(study(deadline=60.0, quorum=1))
        of["x"].submit(proposal("x"))
        clock.now = 1061.0
        of["y"].submit(proposal("y", x=THERE))  # which also closes the round that is due
        assert of["y"].standing() == Standing(1, ("x", "z"), 1121.0)
        assert of["x"].mix("x", 0).weights == (1.0, 0.0, 0.0)
        of["x"].submit(proposal("x", 1))
        of["z"].submit(proposal("z"))
        for site, turn in (("x", 1), ("y", 0), ("z", 0)):
            answer = of[site].mix(site, turn)
            assert (answer.turn, answer.snapshot) == (turn, 1) and min(answer.weights) > 0.0


class TestLedger(CentralContract):
    @pytest.fixture
    def networks(self, clock):
        return lambda agreed: dict.fromkeys(agreed.sites, Ledger(agreed, clock=clock))
