"""Any order of calls is legal: two coordinators on one database do what a ledger in memory does, told the same.

The ledger knows of no deadline. The test itself keeps its one rule: whoever comes after a round's time closes it, if
the quorum is in.
"""

from dataclasses import replace
from itertools import count

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from cboc import CbocError, Fixed, Ledger, Study, Waiting
from cboc.consensus.matrix import WEIGHT_ONE, is_doubly_stochastic
from cboc.coordinator.database import transaction
from cboc.coordinator.store import SqlStore
from cboc.coordinator.tokens import Tokens, new_secret
from cboc.coordinator.transactions import Transactions
from cboc.exchange.messages import Mix, Proposal
from cboc.exchange.network import Standing

MOST_SITES, HORIZON = 4, 3
NUMBERS = count()  # a study of its own for every example, all in one database
ONE = st.floats(0.0, 1.0)
SEED = st.integers(0, 999)
WHO = st.integers(0, MOST_SITES - 1)
WHICH = st.integers(0, 1)  # of the two coordinators
PROPOSE = st.tuples(st.just("propose"), st.permutations(range(MOST_SITES)), st.integers(1, MOST_SITES), SEED)
MOVES = st.one_of(
    PROPOSE,
    PROPOSE,
    PROPOSE,
    st.tuples(st.just("propose_for_another_turn"), WHICH, WHO, st.sampled_from([-2, -1, 1, 2]), SEED),
    st.tuples(st.just("repeat"), WHICH, st.integers(0, 99), st.none() | ONE),
    st.tuples(st.just("leave"), WHICH, WHO, st.sampled_from([False, False, False, True])),
    st.tuples(st.just("come_back"), WHO),
    st.tuples(st.just("wait"), WHICH, st.floats(1.0, 15.0)),
    st.tuples(st.just("ask"), WHICH, WHO, st.integers(-1, 3)),
)


@st.composite
def studies(draw):
    sites = tuple("abcd"[: draw(st.integers(1, MOST_SITES))])
    K = len(sites)
    shuffles = draw(st.lists(st.permutations(range(K)), min_size=1, max_size=3))
    deadline = draw(st.none() | st.just(10.0))
    mixture = np.mean([np.eye(K)[order] for order in shuffles], axis=0)  # doubly stochastic, mostly not symmetric
    return Study(
        {"a": (0.0, 1.0)},
        sites,
        HORIZON,
        rule=draw(st.sampled_from(["leader", "uniform", Fixed(mixture), "identity"])),
        graph=draw(st.sampled_from(["complete", "ring", "star"])),
        budgets={site: draw(st.integers(1, HORIZON)) for site in sites if draw(st.booleans())},
        quorum=1 if deadline is None else draw(st.integers(1, K)),
        deadline=deadline,
        pace="rounds",
    )


def heard(call, *given):
    """What a call answers, or how it refuses."""
    try:
        return call(*given)
    except Waiting as waiting:
        return Waiting, str(waiting), waiting.standing
    except CbocError as refusal:
        return type(refusal), str(refusal)


class Rounds(RuleBasedStateMachine):
    engine = None

    @initialize(study=studies())
    def found(self, study):
        study = replace(study, name=f"study {next(NUMBERS)}")
        self.now, self.study = 0.0, study
        self.exchanges = [Transactions(self.engine, lambda: self.now) for _ in range(2)]
        self.exchanges[0].create(study)
        self.model, self.began = Ledger(replace(study, deadline=None)), None  # when the open round had its first
        self.sent, self.answers = [], {}

    @rule(move=MOVES)
    def play(self, move):
        """One rule for all moves: Hypothesis leaves most rules out of an example, and without proposals it is none."""
        name, *given = move
        getattr(self, name)(*given)

    def _site(self, number):
        return self.study.sites[number % len(self.study.sites)]

    def _latest(self, who):
        """The turn of the last proposal of a site, -1 before its first."""
        entry = self.model.store.latest(self._site(who))
        return -1 if entry is None else entry.proposal.turn

    def _closes_at(self):
        return None if self.began is None or self.study.deadline is None else self.began + self.study.deadline

    def _is_due(self):
        present = len(self.model.store.entries(self.model.round))
        is_late = self._closes_at() is not None and self.now >= self._closes_at()
        return is_late and present >= self.study.quorum

    def _look(self):
        if self._is_due():
            self.model.close()
            self.began = None

    def _expected(self, call, *given):
        """What the model answers or refuses, with the deadline that it does not know."""
        self._look()
        answer = heard(call, *given)
        if isinstance(answer, tuple) and answer[0] is Waiting:
            return (*answer[:2], replace(answer[2], closes_at=self._closes_at()))
        return answer

    def _submit(self, which, proposal):
        self._look()
        before = self.model.round
        expected = self._expected(self.model.submit, proposal)
        assert heard(self.exchanges[which].submit, self.study.name, proposal) == expected
        if self.model.round > before:
            self.began = None
        elif self.began is None and self.model.store.entries(before):
            self.began = self.now
        if expected is None and proposal not in self.sent:
            self.sent.append(proposal)

    def _proposal(self, who, turn, seed):
        x, reward = np.random.default_rng(seed).random(2).tolist()
        bests = [(x / 2,)] if self.study.shares_best else []
        return Proposal(self._site(who), turn, [(x,)], bests, reward if self.study.needs_rewards else None)

    def propose(self, order, many, seed):
        """Some sites, to both coordinators by turns; the round may close under way."""
        for number, who in enumerate(order[:many]):
            self._submit(number % 2, self._proposal(who, self._latest(who) + 1, seed + number))

    def propose_for_another_turn(self, which, who, ahead, seed):
        self._submit(which, self._proposal(who, max(0, self._latest(who) + 1 + ahead), seed))

    def repeat(self, which, number, x):
        """Something that was taken in comes again: the same, or with another design."""
        if self.sent:
            sent = self.sent[number % len(self.sent)]
            self._submit(which, sent if x is None else replace(sent, X=((x,),)))

    def leave(self, which, who, is_meant):
        if not is_meant:  # or most studies would soon be over
            return
        before = self.model.round
        self.model.leave(self._site(who))
        self.exchanges[which].leave(self.study.name, self._site(who))
        self.began = self.began if self.model.round == before else None

    def come_back(self, who):
        """By a new invitation."""
        site, door = self._site(who), Tokens(self.engine)
        self.model.come_back(site)
        door.join(door.invite(self.study.name, site), new_secret())

    def wait(self, which, seconds):
        self.now += seconds
        before, is_due = self.model.round, self._is_due()
        self._look()
        standing = self.exchanges[which].standing(self.study.name)
        assert standing == Standing(self.model.round, tuple(self.model.missing()), self._closes_at())
        assert standing.round == before + is_due  # a site that is missing blocks nobody beyond the deadline

    def ask(self, which, who, back):
        site, turn = self._site(who), max(0, self._latest(who) - back)
        expected = self._expected(self.model.mix, site, turn)
        answer = heard(self.exchanges[which].mix, self.study.name, site, turn)
        assert answer == expected
        if isinstance(answer, Mix):
            assert self.answers.setdefault((site, turn), answer) == answer  # a closed round never changes

    def teardown(self):
        if not hasattr(self, "model"):
            return
        self._look()
        K = len(self.study.sites)
        exchange = self.exchanges[0]
        assert exchange.standing(self.study.name).round == self.model.round
        for round in range(self.model.round):
            W = np.eye(K)  # who was absent keeps to itself
            for site, entry in self.model.store.entries(round).items():
                W[self.study.index(site)] = exchange.mix(self.study.name, site, entry.proposal.turn).weights
            assert is_doubly_stochastic(self.model.matrix(round))
            assert is_doubly_stochastic(W, tolerance=K / WEIGHT_ONE) and (W.sum(axis=1) == 1.0).all()
        with transaction(self.engine, is_reading=True) as connection:
            store = SqlStore(connection, self.study.name, is_reading=True)
            kept = [dict(store.entries(round)) for round in range(self.model.round + 3)]
        assert sum(map(len, kept)) == len(self.sent)
        for round in range(self.model.round + 1):
            model = self.model.store.entries(round)
            assert {site: (entry.proposal, entry.before) for site, entry in kept[round].items()} == {
                site: (entry.proposal, entry.before) for site, entry in model.items()
            }


def test_two_coordinators_are_one_ledger(engine):
    on_engine = type("OnEngine", (Rounds,), {"engine": engine})
    how = settings(
        max_examples=60 if engine.dialect.name == "sqlite" else 20,
        stateful_step_count=20,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        phases=[Phase.reuse, Phase.generate],  # to make a failure small takes minutes, and tells little more
    )
    run_state_machine_as_test(on_engine, settings=how)
