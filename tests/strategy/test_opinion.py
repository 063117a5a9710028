"""The seam for other people's optimisers: what a strategy may be, and what a site makes of it."""

import json
from dataclasses import dataclass, field, replace
from math import exp, log

import numpy as np
import pytest

from cboc import CbocError, Dataset, Gate, Gated, Guided, Int, Ledger, Policy, Site, Space, Study, Waiting
from cboc.exchange.messages import Mix
from cboc.exchange.network import Standing
from cboc.search.maximise import maximise
from cboc.site.trial import Decision, Status, Trial
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.opinion import Blind, ByUtility, FromFunction, Heard, Strategy, as_strategy
from cboc.strategy.situation import Situation
from cboc.strategy.verdict import Note, Verdict
from cboc.surrogate.fitting import fit
from cboc.utility.improvement import LogEI
from cboc.utility.utility import Custom

SPACE = Space({"a": (0.0, 1.0), "b": (-5.0, 5.0)})


def rng(seed=0):
    return np.random.default_rng(seed)


def data(n=8):
    X = rng(3).random((n, 2))
    return Dataset(X, -((X - 0.6) ** 2).sum(axis=1))


def hill(centre=0.3):
    """A utility that is worth 1 at a place and less elsewhere."""
    return Custom(lambda X: np.exp(-((X - centre) ** 2).sum(axis=1)))


def heard(mix, own, note):
    return Heard(np.array(mix), np.array(own), note, np.empty((0, 2)))


# ---------------------------------------------------------------------------------------------- the opinions we have


def test_by_utility_the_proposal_is_where_it_is_largest():
    opinion = ByUtility(hill(0.3), Situation(data(), SPACE), rng(), memory=(1.0, 2.0))
    x = opinion.propose()
    assert x == pytest.approx([0.3, 0.3], abs=1e-3)
    assert opinion.note(x) == Note(log(hill(0.3)(x[None])[0]), memory=(1.0, 2.0))


def test_by_utility_a_mix_is_followed_and_its_worth_is_said():
    opinion = ByUtility(hill(0.3), Situation(data(), SPACE), rng())
    note = opinion.note(np.array([0.3, 0.3]))
    verdict = opinion.judge(heard([0.5, 0.7], [0.3, 0.3], note))
    assert verdict.follows and verdict.log_worth == pytest.approx(-0.2)
    changed = replace(note, log_worth=9.0)  # the own design is not looked at again
    assert opinion.judge(heard([0.3, 0.3], [0.3, 0.3], changed)) == Verdict(True, 9.0)


def test_with_another_utility_it_goes_by_that():
    opinion = ByUtility(hill(0.3), Situation(data(), SPACE), rng(), memory=(1.0,))
    other = opinion.with_utility(hill(0.8))
    assert other.propose() == pytest.approx([0.8, 0.8], abs=1e-3) and other.memory == (1.0,)


@pytest.mark.parametrize("utility", [None, np.zeros(3), lambda X: X.sum(axis=1)])
def test_what_is_no_utility_is_named(utility):
    with pytest.raises(CbocError, match="has to return a utility, with .* Wrap a function of designs"):
        ByUtility(utility, Situation(data(), SPACE), rng())


def test_blind_any_design_is_as_good_as_any_other():
    opinion = Blind(Situation(Dataset.empty(2), SPACE), rng(1))
    x = opinion.propose()
    assert SPACE.contains(x) and opinion.utility is None and opinion.note(x) == Note()
    assert opinion.judge(heard([0.5, 0.5], x, Note())) == Verdict(True)
    assert opinion.with_utility(hill(0.3)).propose() == pytest.approx([0.3, 0.3], abs=1e-3)


def test_heard_knows_its_own_proposal():
    assert heard([0.1, 0.2], [0.1, 0.2], Note()).is_own and not heard([0.1, 0.2], [0.1, 0.3], Note()).is_own


# ------------------------------------------------------------------------------------------------ what a strategy is


def test_any_function_is_a_strategy_and_a_strategy_stays_what_it_is():
    def mine(situation, random):
        return ByUtility(hill(), situation, random)

    assert as_strategy(mine) == FromFunction(mine) and as_strategy(Bayesian()) == Bayesian()
    assert not FromFunction(mine).can_batch and FromFunction(mine).surrogate(Situation(data(), SPACE)) is None
    assert [type(opinion) for opinion in FromFunction(mine).batch([Situation(data(), SPACE)] * 2, [rng()] * 2)] == [
        ByUtility,
        ByUtility,
    ]


@pytest.mark.parametrize("given", [None, "ei", 5, Bayesian, FromFunction])
def test_what_is_no_function_is_no_strategy(given):
    for take in (as_strategy, Gated, Guided):
        with pytest.raises(CbocError, match="a strategy is a function, such as Bayesian"):
            take(given)


@pytest.mark.parametrize("answer", [None, hill(), np.zeros(2)])
def test_a_function_that_returns_no_opinion_is_named(answer):
    with pytest.raises(
        CbocError, match="has to return an opinion, with propose; .* ByUtility makes one from a utility"
    ):
        FromFunction(lambda *_: answer)(Situation(data(), SPACE), rng())


# ---------------------------------------------------------------------------------- somebody's own optimiser, at a site


@dataclass
class Plan:
    """What an optimiser of somebody's own does: walk along a line, and say what it likes."""

    situation: Situation
    reward: float | None = None
    verdict: dict = field(default_factory=dict)
    utility: None = None

    @property
    def step(self):
        return 0 if self.situation.memory is None else int(self.situation.memory[0])

    def propose(self):
        return np.array([0.1 * (1 + self.step), 0.5])

    def note(self, x):
        return Note(log(x[0]), reward=self.reward, memory=(self.step + 1,))

    def judge(self, _):
        return Verdict(**({"follows": True} | self.verdict))


def plan(**more):
    return lambda situation, _: Plan(situation, **more)


def pair(strategy, space=SPACE, **study):
    agreed = Study(space, ("x", "y"), 4, **({"pace": "rounds"} | {"shares_best": False} | study))
    ledger = Ledger(agreed)
    policy = Policy(strategy, initial=0, seed=1)
    return [Site(agreed, name, ledger, direction="minimise", policy=policy) for name in agreed.sites]


def play(*sites):
    for site in sites:
        site.propose()
    trials = [site.ask() for site in sites]
    return [site.tell(trial, float(trial.x.sum())) for site, trial in zip(sites, trials, strict=True)]


def restarted(site):
    """The same site from its rows, in another process."""
    rows = json.loads(json.dumps([trial.to_row() for trial in site.trials]))
    trials = [Trial.from_row(row) for row in rows]
    return Site(site.study, site.name, site.network, direction=site.direction, policy=site.policy, trials=trials)


def test_it_proposes_is_mixed_and_remembers():
    sites = pair(plan())
    for turn in range(4):
        first, _ = play(*sites)
        assert first.proposed == pytest.approx((0.1 * (turn + 1), 0.5)) and first.decision == Decision.FOLLOWED
        assert first.turn.note.memory == (turn + 1.0,)
        sites = [restarted(site) for site in sites]
    assert all(site.is_finished for site in sites)


def test_it_may_be_wrapped_by_a_gate_and_a_guide():
    sites = pair(Gated(Guided(plan()), Gate(2.0)), shares_best=True)
    play(*sites)
    (trial, _) = play(*sites)
    assert trial.decision == Decision.DECLINED and trial.answer.verdict.reason == "your gate declines it"
    assert trial.turn.note.stance == "in doubt"


def test_a_third_design_is_run_where_the_verdict_says_so():
    sites = pair(plan(verdict={"follows": False, "instead": np.array([0.9, 0.25]), "reason": "the plate has room"}))
    first, _ = play(*sites)
    assert first.decision == Decision.OTHER and first.executed == (0.9, 0.25)
    assert first.executed not in (first.proposed, first.answer.mix)
    assert first.design(SPACE) == {"a": 0.9, "b": -2.5}
    assert first.explain(("x", "y")).endswith("Another design than yours or the average: the plate has room.")
    assert Trial.from_row(json.loads(json.dumps(first.to_row()))) == first


def test_a_third_design_is_among_what_the_site_can_run():
    space = Space({"a": (0.0, 1.0), "n": Int(1, 3)}, ["a + n <= 3.5"])
    sites = pair(plan(verdict={"follows": False, "instead": (0.9, 0.9)}), space=space)
    for site in sites:
        site.propose()
    trial = sites[0].ask()
    assert space.contains(trial.x) and trial.design(space)["n"] in (2, 3)


@pytest.mark.parametrize("instead", [(0.5,), (0.5, 0.5, 0.5)])
def test_a_third_design_of_another_length_is_refused_and_nothing_is_kept(instead):
    sites = pair(plan(verdict={"follows": False, "instead": instead}))
    for site in sites:
        site.propose()
    with pytest.raises(CbocError, match="the strategy of site 'x' has to find a design of 2 coordinates"):
        sites[0].ask()
    assert sites[0].trials[-1].status == Status.SUBMITTED


@pytest.mark.parametrize("found", [np.array([0.5]), np.array([[0.5, 0.5]]), np.array([np.nan, 0.5]), 0.5])
def test_a_proposal_that_is_no_design_is_refused_and_nothing_is_kept(found):
    class Odd(Plan):
        def propose(self):
            return found

    site, _ = pair(lambda situation, _: Odd(situation))
    with pytest.raises(CbocError, match="the strategy of site 'x' has to find a design of 2 coordinates"):
        site.propose()
    assert site.trials == []


def proposing(found):
    class Odd(Plan):
        def propose(self):
            return found

    return lambda situation, _: Odd(situation)


def test_what_leaves_the_cube_by_rounding_is_brought_back():
    site, _ = pair(proposing(np.array([1.0 + 1e-7, -1e-12])))
    assert site.propose().proposed == (1.0, 0.0)


@pytest.mark.parametrize("found", [(65.0, 0.5), (1.00001, 0.5)])
def test_a_design_in_natural_units_is_refused_and_nothing_is_kept(found):
    sentence = "designs live in the unit cube; the strategy of site 'x' found a = .* Did you forget space.to_unit"
    site, _ = pair(proposing(found))
    with pytest.raises(CbocError, match=sentence):
        site.propose()
    assert site.trials == []
    sites = pair(plan(verdict={"follows": False, "instead": found}))
    for site in sites:
        site.propose()
    with pytest.raises(CbocError, match=sentence):
        sites[0].ask()
    assert sites[0].trials[-1].status == Status.SUBMITTED


@pytest.mark.parametrize("found", ["here", [[0.1], [0.2, 0.3]], {"a": 0.5, "b": 0.5}, None, [10**400, 0.5]])
def test_what_is_no_design_at_all_is_refused(found):
    site, _ = pair(proposing(found))
    with pytest.raises(CbocError, match="the strategy of site 'x' has to find a design of 2 coordinates; .* is not"):
        site.propose()
    assert site.trials == []


@dataclass(frozen=True)
class MyNote(Note):
    mood: str = "good"


@dataclass(frozen=True)
class MyVerdict(Verdict):
    mood: str = "good"


WRAPPERS = [as_strategy, Gated, Guided, lambda strategy: Gated(Guided(strategy))]


@pytest.mark.parametrize("wrapped", WRAPPERS, ids=["bare", "gated", "guided", "both"])
@pytest.mark.parametrize("said", [None, 0.5, {"log_worth": 0.5}, Verdict(True), MyNote()])
def test_a_note_that_is_none_is_refused_and_nothing_is_kept(said, wrapped):
    class Odd(Plan):
        def note(self, _):
            return said

    site, _ = pair(wrapped(lambda situation, _: Odd(situation)), shares_best=True)
    with pytest.raises(CbocError, match=r"an opinion's note\(\) has to return a Note itself; this is"):
        site.propose()
    assert site.trials == []


@pytest.mark.parametrize("wrapped", WRAPPERS, ids=["bare", "gated", "guided", "both"])
@pytest.mark.parametrize("said", [None, True, Note(), MyVerdict(True)])
def test_a_verdict_that_is_none_is_refused_and_nothing_is_kept(said, wrapped):
    class Odd(Plan):
        def judge(self, _):
            return said

    sites = pair(wrapped(lambda situation, _: Odd(situation)), shares_best=True)
    for site in sites:
        site.propose()
    with pytest.raises(CbocError, match=r"an opinion's judge\(\) has to return a Verdict itself; this is"):
        sites[0].ask()
    assert sites[0].trials[-1].status == Status.SUBMITTED


def test_a_strategy_of_ones_own_class_that_returns_no_opinion_is_named():
    class Mine(Strategy):
        def __call__(self, *_):
            return None

    for strategy in (Mine(), Gated(Mine())):
        site, _ = pair(strategy)
        with pytest.raises(CbocError, match="a strategy has to return an opinion"):
            site.propose()


def test_a_network_that_counts_in_truths_leaves_a_row_that_is_read():
    sites = pair(plan())

    class Truths:
        submit, leave = sites[0].network.submit, sites[0].network.leave

        def mix(self, site, turn):
            return replace(sites[1].network.mix(site, turn), weights=(True, False))

    sites[1].propose()
    sites[0].network = Truths()
    trial = sites[0].ask()
    assert Trial.from_row(json.loads(json.dumps(trial.to_row()))) == trial


def test_a_mix_that_is_declined_without_a_reason_is_explained_without_one():
    first, _ = play(*pair(plan(verdict={"follows": False})))
    assert first.explain(("x", "y")).endswith("Your own proposal: the average with the others was not run.")


def test_the_reward_of_a_note_is_what_a_rule_compares():
    sites = pair(plan(), rule="leader")
    sites[1].mind.policy = replace(sites[1].policy, strategy=as_strategy(plan(reward=5.0)))
    for site in sites:
        site.propose()
    rewards = {name: entry.proposal for name, entry in sites[0].network.store.entries(0).items()}
    assert rewards["x"].reward == pytest.approx(0.1) and rewards["y"].reward == 5.0
    assert sites[0].ask().answer.leader == sites[1].ask().answer.leader == "y"


def test_without_a_reward_the_worth_is_compared():
    site, _ = pair(Bayesian(), rule="leader")
    trial = site.propose()
    assert site.proposal(trial).reward == exp(trial.turn.note.log_worth)


def test_what_a_verdict_wants_to_remember_comes_back_in_the_place_of_the_notes():
    sites = pair(plan(verdict={"memory": (7.0, 8.0)}))
    assert sites[0].mind.situation().memory is None
    play(*sites)
    assert sites[0].mind.situation().memory == (7.0, 8.0) == restarted(sites[0]).mind.situation().memory
    assert sites[0].mind.situation(0).memory is None
    (trial, _) = play(*sites)
    assert trial.proposed == pytest.approx((0.8, 0.5))


def test_a_situation_says_what_the_site_knew():
    sites = pair(plan(), shares_best=True)
    assert sites[0].mind.situation().others.shape == (0, 2) and not sites[0].mind.situation().has_data
    play(*sites)
    play(*sites)
    now = sites[0].mind.situation()
    assert now.progress == 0.5 and now.has_data and len(now.dataset) == 2
    assert now.others.tolist() == [list(sites[1].trials[0].executed)]
    assert sites[0].mind.situation(1).progress == 0.25 and sites[0].mind.situation(1).others.shape == (0, 2)
    assert pair(plan())[0].mind.situation().others is None


# ----------------------------------------------------------------------------------------------------- after a restart


class Echo:
    """A network whose answer is known beforehand."""

    def __init__(self):
        self.is_open = True

    def submit(self, proposal):
        self.proposal = proposal

    def mix(self, site, turn):
        if self.is_open:
            raise Waiting(Standing(turn, ("y",)))
        others = ((0.6, 0.6), (0.62, 0.6))
        return Mix(site, turn, ((0.55, 0.65),), (0.5, 0.5), turn, others=others)


class Noted(Strategy):
    """A strategy that counts how often it is asked."""

    def __init__(self, strategy):
        self.strategy, self.asked = strategy, 0

    def __call__(self, situation, random):
        self.asked += 1
        return self.strategy(situation, random)


def by_own_function(situation, random):
    gp = fit(situation.dataset.X, situation.dataset.score)
    shift = random.random()  # an opinion may draw
    return ByUtility(Custom(lambda X: np.exp(LogEI(gp)(X)) + shift * X[:, 0], anchors=gp.X), situation, random)


@pytest.mark.parametrize("strategy", [Policy().strategy, Bayesian(), by_own_function], ids=["default", "plain", "own"])
def test_an_opinion_that_is_formed_again_gives_the_same_verdict(strategy):
    study, network = Study(SPACE, ("x", "y"), 6, pace="rounds"), Echo()
    counted = Noted(as_strategy(strategy))
    policy = Policy(counted, initial=4, seed=2)
    site = Site(study, "x", network, direction="minimise", policy=policy)
    for _ in range(4):
        trial = site.ask()
        site.tell(trial, float(((trial.x - 0.6) ** 2).sum()))
    for turn in range(3):
        network.is_open = True
        with pytest.raises(Waiting):
            site.ask()
        again, before = restarted(site), counted.asked
        network.is_open = False
        trial = site.ask()
        assert counted.asked == before  # it was held
        assert again.ask() == trial and counted.asked == before + 1  # it was formed once more
        assert trial.turn.number == turn
        site.tell(trial, float(((trial.x - 0.6) ** 2).sum()))


def test_an_opinion_is_a_function_of_seed_site_and_trial():
    site, other = pair(Bayesian())
    assert site.mind.rng(3).random() == restarted(site).mind.rng(3).random()
    assert len({site.mind.rng(3).random(), site.mind.rng(4).random(), other.mind.rng(3).random()}) == 3
    gp = fit(data().X, data().score)
    found = [ByUtility(LogEI(gp), Situation(data(), SPACE), rng(5)).propose().tolist() for _ in range(2)]
    assert found[0] == found[1] == maximise(LogEI(gp), SPACE, rng(5))[0].tolist()
