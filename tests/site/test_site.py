from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from cboc import (
    CbocError,
    Choice,
    Dataset,
    Finished,
    Gate,
    Int,
    Ledger,
    Measurement,
    Policy,
    Site,
    Space,
    Study,
    Unreachable,
    Waiting,
    collaborative,
    simulate,
)
from cboc.exchange.network import Conflict
from cboc.problems.synthetic import levy
from cboc.site.trial import Decision, Status, Trial

SPACE = Space({"a": (0.0, 1.0), "b": (-5.0, 5.0)})


def bowl(design, centre=0.3):
    return (design["a"] - centre) ** 2 + design["b"] ** 2


def make(sites=("x", "y"), horizon=6, space=SPACE, policy=None, site_options=None, **options):
    study = Study(
        space, sites, horizon, **({"pace": "rounds"} | {"shares_best": False} | options)
    )  # the paper's rounds, unless asked
    ledger = Ledger(study)
    each = {"direction": "minimise", "policy": Policy(**({"initial": 4, "seed": 1} | (policy or {})))}
    return [Site(study, name, ledger, **(each | (site_options or {}))) for name in sites]


def behind(ratio):
    """The default strategy behind another gate."""
    return {"strategy": collaborative(gate=Gate(ratio))}


def finish_initial(*sites):
    for site in sites:
        for _ in range(site.initial):
            trial = site.ask()
            site.tell(trial, bowl(trial.design(site.space)))


def test_initial_trials_come_first_and_are_not_shared():
    x, _ = make()
    finish_initial(x)
    assert [trial.decision for trial in x.trials] == [Decision.INITIAL] * 4
    assert x.network.store.entries(0) == {}
    assert len({tuple(trial.x) for trial in x.trials}) == 4


def test_asking_waits_for_the_others_and_then_gives_the_mean():
    x, y = make(policy=behind(0.0))
    finish_initial(x, y)
    with pytest.raises(Waiting, match="round 0 is still open"):
        x.ask()
    y.propose()
    trial = x.ask()
    mean = (np.array(x.trials[-1].proposed) + np.array(y.trials[-1].proposed)) / 2
    np.testing.assert_allclose(trial.x, mean, atol=1e-8)
    assert trial.decision == Decision.FOLLOWED and trial.status == Status.PENDING


@pytest.mark.parametrize(
    ("odd", "complaint"),
    [
        ({"others": ((5.0, 5.0),)}, "live in the unit cube; others"),
        ({"others": ((0.5,),)}, "the same number of coordinates; those for 'x' do not"),
        ({"others": ((float("nan"), 0.5),)}, "live in the unit cube; others"),
        ({"X": ((0.5, 1.5),)}, r"X\[0\]\[1\] of site 'x' is 1.5"),
        ({"X": ((0.5,),)}, "have 2 coordinates; the network of site 'x' gave 1"),
        ({"X": ((0.5, 0.5), (0.5, 0.5))}, "site 'x' asked about 1 designs; its network gave 2"),
        ({"weights": (1.0,)}, "a row of W has 2 weights; site 'x' was given 1"),
        ({"weights": (0.5, 0.4)}, "add up to 1; those for 'x' do not"),
        ({"leader": "z"}, "the network of site 'x' names a leader that is not a site"),
        ({"turn": 7}, "site 'x' asked about its turn 0; its network gave turn 7 of 'x'"),
        ({"site": "y"}, "site 'x' asked about its turn 0; its network gave turn 0 of 'y'"),
    ],
)
def test_a_network_that_gives_no_designs_is_named_and_nothing_of_it_is_kept(odd, complaint):
    x, y = make()
    finish_initial(x, y)
    y.propose()

    class Odd:
        submit, leave = x.network.submit, x.network.leave

        def mix(self, site, turn):
            return replace(y.network.mix(site, turn), **odd)

    x.network = Odd()
    with pytest.raises(CbocError, match=complaint):
        x.ask()
    x.network = y.network
    assert x.ask().status == Status.PENDING


@pytest.mark.parametrize("pace", ["rounds", "free"])
def test_a_network_that_answers_nothing_is_named_and_nothing_of_it_is_kept(pace):
    x, y = make(pace=pace, shares_best=True)
    finish_initial(x, y)
    before = list(x.trials)

    class Silent:
        submit, leave = x.network.submit, x.network.leave

        def mix(self, *_):
            return None

        def news(self, *_):
            return None

    x.network = Silent()
    complaint = "answer a proposal by a Mix" if pace == "rounds" else "give News"
    with pytest.raises(CbocError, match=f"the network of site 'x' has to {complaint}; it gave None"):
        x.ask()
    assert x.trials[: len(before)] == before and all(trial.answer is None for trial in x.trials)


def test_ask_is_idempotent_until_told():
    x, y = make()
    finish_initial(x, y)
    y.propose()
    trial = x.ask()
    assert x.ask() == trial and x.ask() is x.trials[-1]
    x.tell(trial, 1.0)
    y.tell(y.ask(), 1.0)
    y.propose()
    assert x.ask() != trial


def test_telling_twice_the_same_is_fine_and_something_else_is_not():
    x, _ = make()
    trial = x.ask()
    x.tell(trial, 2.0)
    assert x.tell(trial, 2.0).y == 2.0 and len(x.dataset) == 1
    with pytest.raises(CbocError, match=r"trial 0 of 'x' was told 2 before, and 3 now"):
        x.tell(trial, 3.0)


def test_a_gate_above_one_is_working_alone_bit_by_bit():
    alone = make(rule="identity")
    gated = make(rule="uniform", policy=behind(2.0))
    for pair in (alone, gated):
        finish_initial(*pair)
        for _ in range(3):
            for site in pair:
                site.propose()
            for site in pair:
                trial = site.ask()
                site.tell(trial, bowl(trial.design(SPACE)))
    assert [t.executed for t in alone[0].trials] == [t.executed for t in gated[0].trials]
    assert gated[0].trials[-1].decision == Decision.DECLINED


def test_the_gate_runs_the_mix_exactly_when_its_utility_suffices():
    x, y = make(policy=behind(0.5), horizon=8)
    finish_initial(x, y)
    for _ in range(8):
        for site in (x, y):
            site.propose()
        for site in (x, y):
            trial = site.ask()
            is_worth_it = trial.answer.verdict.log_worth >= trial.turn.note.log_worth + np.log(0.5)
            assert (trial.decision == Decision.FOLLOWED) == is_worth_it
            site.tell(trial, bowl(trial.design(SPACE), 0.3 if site is x else 0.6))


def test_something_else_was_run():
    x, _ = make()
    told = x.tell(x.ask(), 1.5, ran={"a": 0.25, "b": 0.0})
    assert told.executed == (0.25, 0.5) and told.proposed != told.executed
    np.testing.assert_array_equal(x.dataset.X[-1], [0.25, 0.5])
    with pytest.raises(CbocError, match="did you mean 'a'|unknown|no parameter"):
        x.tell(x.ask(), 1.5, ran={"aa": 0.25, "b": 0.0})


def test_a_failed_trial_counts_as_a_failure_and_may_be_told_later():
    x, _ = make()
    trial = x.fail(x.ask(), "the pump stopped")
    assert len(x.dataset) == 0 and len(x.dataset.failures) == 1 and trial.note == "the pump stopped"
    x.tell(trial, 0.7)
    assert len(x.dataset) == 1 and len(x.dataset.failures) == 0
    with pytest.raises(CbocError, match="already has a result"):
        x.fail(trial)


def test_failing_again_keeps_the_first_reason_unless_another_is_given():
    x, _ = make()
    trial = x.fail(x.ask(), "the pump stopped")
    assert x.fail(trial).note == "the pump stopped"
    assert x.fail(trial, "it was the valve").note == "it was the valve"


def test_a_failure_counts_at_the_design_that_was_really_run():
    x, _ = make()
    trial = x.fail(x.ask(), ran={"a": 0.25, "b": 2.5})
    assert trial.executed == (0.25, 0.75) and trial.note == "another design was run"
    assert x.fail(trial).executed == (0.25, 0.75)


class Unreliable:
    """A disk that is full once in a while."""

    def __init__(self):
        self.rows, self.is_full = {}, False

    def __call__(self, trial):
        if self.is_full:
            self.is_full = False
            raise OSError("no space left")
        self.rows[trial.number] = trial


@pytest.mark.parametrize("act", [lambda x, t: x.tell(t, 2.0), lambda x, t: x.fail(t), lambda x, t: x.abandon(t)])
def test_what_could_not_be_saved_has_not_happened_and_is_done_again(act):
    disk = Unreliable()
    (x,) = make(("x",), site_options={"save": disk})
    trial = x.ask()
    disk.is_full = True
    with pytest.raises(OSError, match="no space left"):
        act(x, trial)
    assert x.trials == [trial] and disk.rows[0] == trial
    assert act(x, trial) == x.trials[0] == disk.rows[0] != trial


@pytest.mark.parametrize("initial", [0, 4])
def test_no_design_is_handed_in_or_run_that_could_not_be_saved(initial):
    disk = Unreliable()
    x, _ = make(policy={"initial": initial}, site_options={"save": disk})
    disk.is_full = True
    with pytest.raises(OSError, match="no space left"):
        x.propose()
    assert x.trials == [] and x.network.missing() == ["x", "y"]
    x.propose()
    assert x.trials == list(disk.rows.values())


def test_an_agreed_design_that_could_not_be_saved_is_agreed_on_again():
    disk = Unreliable()
    x, y = make(policy={"initial": 0}, site_options={"save": disk})
    x.propose(), y.propose()
    disk.is_full = True
    with pytest.raises(OSError, match="no space left"):
        x.ask()
    assert x.trials[0].status == Status.SUBMITTED
    assert x.ask() == x.trials[0] and x.trials[0].status == Status.PENDING


def test_a_twin_changes_nothing_of_the_site():
    saved = []
    (x,) = make(("x",), site_options={"save": saved.append})
    trial = x.ask()
    x.twin().tell(trial, 1.0)
    assert x.trials == [trial] == saved and len(x.dataset) == 0


def test_a_trial_by_its_number():
    (x,) = make(("x",))
    with pytest.raises(CbocError, match="has no trial 0; it has none yet"):
        x.trial(0)
    assert x.ask() == x.trial(0)
    for number in (1, -1):
        with pytest.raises(CbocError, match=f"has no trial {number}; its last is 0"):
            x.trial(number)


def test_a_round_that_is_open_with_a_proposal_of_another_file_is_waited_for():
    """A site that went on alone has a proposal in the open round: its next one is for the round after."""
    x, y = make(policy={"initial": 0}, horizon=3)
    x.propose()
    nobody, reached = Nobody(), x.network
    x.network = nobody
    x.tell(x.ask(), 1.0)
    x.network = reached
    with pytest.raises(Waiting, match="round 0 is open, and 'x' has proposed for it already") as waiting:
        x.ask()
    assert not waiting.value.is_usual and waiting.value.standing.missing == ("y",)
    assert x.trials[-1].status == Status.PROPOSED
    y.propose()
    with pytest.raises(Waiting, match="round 1 is still open") as waiting:
        x.ask()
    assert waiting.value.is_usual
    y.tell(y.ask(), 1.0)
    y.propose()
    trial = x.ask()
    assert (trial.turn.number, trial.answer.snapshot) == (1, 1)


def test_two_copies_of_a_site_are_noticed():
    x, y = make(policy={"initial": 0})
    x.propose()
    again = Site(x.study, "x", x.network, direction="minimise", policy=Policy(initial=0, seed=2))
    with pytest.raises(Conflict, match="Is a copy of this site's file in use on another computer"):
        again.ask()
    y.propose()
    with pytest.raises(Conflict, match="already proposed another design for turn 0"):
        again.ask()
    assert x.ask().status == Status.PENDING


class Nobody:
    """A network in which nobody answers."""

    def submit(self, _):
        raise Unreachable("nobody answers.")

    def mix(self, *_):
        raise Unreachable("nobody answers.")


def test_who_does_not_go_on_alone_says_that_nobody_answers():
    (x,) = make(("x",), policy={"initial": 0, "goes_on_alone": False})
    x.network = Nobody()
    with pytest.raises(Unreachable, match="nobody answers"):
        x.ask()
    assert x.trials[-1].status == Status.PROPOSED


def test_while_nobody_answers_the_own_proposal_is_run():
    (x,) = make(("x",), policy={"initial": 0})
    x.network = Nobody()
    trial = x.ask()
    assert trial.decision == Decision.UNREACHABLE and trial.x.tolist() == list(trial.proposed)
    assert "the others could not be reached" in trial.explain(("x",))


class Deaf:
    """A coordinator that knows the site no more."""

    def leave(self, _):
        raise CbocError("this token is unknown or was revoked.")


def test_who_has_finished_is_finished_whatever_the_coordinator_says():
    (x,) = make(("x",), horizon=1, policy={"initial": 0})
    x.tell(x.ask(), 1.0)
    x.network = Deaf()
    with pytest.raises(Finished, match="1 of 1 experiments"):
        x.ask()


def test_an_abandoned_trial_is_never_told():
    x, _ = make()
    trial = x.abandon(x.ask())
    assert len(x.dataset) == 0
    with pytest.raises(CbocError, match="was abandoned and takes no result"):
        x.tell(trial, 1.0)
    assert x.ask().number == trial.number + 1


@pytest.mark.parametrize("y", [float("nan"), float("inf"), "much", None, np.zeros(2), {"y": "much"}, 10**400])
def test_an_outcome_that_is_no_number_is_refused_in_one_sentence(y):
    x, _ = make()
    with pytest.raises(CbocError, match="site 'x': an outcome is a"):
        x.tell(x.ask(), y)
    assert len(x.dataset) == 0


@pytest.mark.parametrize("y", [(0.8, 3.0), [0.8, 3.0], (1.0, -2.0), (1, 2, 3), {"y": (0.8, 3.0)}])
def test_a_bare_tuple_is_refused_with_a_sentence_that_names_measurement(y):
    x, _ = make()
    with pytest.raises(CbocError, match=r"could mean several things.*write Measurement\(mean, sem\)"):
        x.tell(x.ask(), y)
    assert len(x.dataset) == 0


def test_an_outcome_may_be_told_by_its_objective():
    x, y = (make(("x",), objectives=["yield"])[0] for _ in range(2))
    assert x.tell(x.ask(), {"yield": Measurement(1.0, 0.5)}) == y.tell(y.ask(), Measurement(1.0, 0.5))
    assert x.trials[0].outcomes == {"yield": Measurement(1.0, 0.5)}
    with pytest.raises(CbocError, match="outcomes are expected for yield; got y"):
        x.tell(x.ask(), {"y": 1.0})


def test_a_measured_error_reaches_the_dataset():
    x, _ = make()
    x.tell(x.ask(), Measurement(1.0, 0.25))
    x.tell(x.ask(), 2.0)
    np.testing.assert_array_equal(x.dataset.sem, [0.25, np.nan])


@pytest.mark.parametrize(
    ("act", "complaint"),
    [
        (lambda x, _: x.tell(3, 1.0), r"a trial is what ask\(\) gave; this is 3"),
        (lambda x, _: x.abandon(None), r"a trial is what ask\(\) gave; this is None"),
        (lambda x, _: x.trial("x"), "a trial has a number, from 0; this is 'x'"),
        (lambda x, _: x.trial(0.0), "a trial has a number, from 0; this is 0.0"),
        (lambda x, t: x.fail(t, 3), "the reason of a failure is a text; this is 3"),
        (lambda x, t: x.tell(t, {1: 2}), "outcomes are expected for y; got 1"),
        (lambda x, t: x.tell(t, 1.0, ran=3), "a design is a dictionary of values for a, b, but got 3"),
        (lambda x, t: x.tell(t, True), "an outcome is a number"),
        (lambda x, t: x.tell(t, "1_000"), "an outcome is a number"),
        (lambda x, t: x.tell(t, 1.0, cost=10**400), "a cost is a number from 0"),
    ],
)
def test_what_cannot_be_told_is_named_and_nothing_is_kept(act, complaint):
    (x,) = make(("x",))
    trial = x.ask()
    with pytest.raises(CbocError, match=complaint):
        act(x, trial)
    assert x.trials == [trial]


@pytest.mark.parametrize("network", [None, 3, object()])
def test_what_is_no_network_is_named(network):
    with pytest.raises(CbocError, match="a network is a Ledger, or anything with its methods; .* has no submit"):
        Site(Study(SPACE, ("x",), 3), "x", network, direction="minimise")


def test_a_trial_of_another_site_is_refused():
    x, y = make()
    with pytest.raises(CbocError, match="site 'y' never asked for trial"):
        y.tell(x.ask(), 1.0)


def test_the_budget_ends_the_site():
    (x,) = make(("x",), horizon=2)
    finish_initial(x)
    for _ in range(2):
        trial = x.ask()
        x.tell(trial, bowl(trial.design(SPACE)))
    assert x.is_finished
    with pytest.raises(Finished, match="2 of 2 experiments"):
        x.ask()


def test_the_theorys_stopping_rule_ends_a_site_and_frees_the_others():
    x, y = make(policy={"stop_below": 1e3})
    finish_initial(x, y)
    with pytest.raises(Finished, match="fell below 1000"):
        x.ask()
    assert x.is_finished and x.network.expected() == ["y"]


def test_a_late_proposal_counts_for_the_round_that_is_open():
    x, y = make()
    finish_initial(x, y)
    for _ in range(2):
        x.propose()
        x.network.close()
        x.tell(x.ask(), 1.0)
    assert y.propose().turn.number == 0 and y.turns == 1
    x.propose()
    trial = y.ask()
    assert (trial.turn.number, trial.answer.snapshot) == (0, 2)
    assert x.network.snapshot(2).progress.tolist() == [2 / 6, 0.0]


def test_missed_rounds_do_not_count_and_everybody_gets_to_the_end():
    x, y = make(horizon=3, budgets={"y": 4})
    finish_initial(x, y)
    y.propose()
    x.network.close()
    while not (x.is_finished and y.is_finished):
        for site in (x, y):
            with suppress(Waiting, Finished):
                site.tell(site.ask(), 1.0)
    assert (x.turns, y.turns) == (3, 4)


def test_a_stale_trial_is_told_at_the_design_that_was_to_be_run():
    x, y = make(policy=behind(0.0))
    finish_initial(x, y)
    stale = x.propose()
    y.propose()
    assert x.ask().answer.mix != stale.proposed
    np.testing.assert_array_equal(x.tell(stale, 0.5).executed, x.trials[-1].answer.mix)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"data": Dataset.empty(3, "minimise")}, "has data with 3 coordinates; its space has 2"),
        ({"data": Dataset.empty(2, "maximise")}, "its data say maximise"),
        ({"data": [1]}, r"a site's data is a Dataset; .* this is \[1\]"),
        ({"policy": {}}, r"a site's policy is a Policy\(...\); this is {}"),
        ({"first_turn": -1}, "first_turn is a whole number from 0; this is -1"),
        ({"first_turn": "x"}, "first_turn is a whole number from 0"),
        ({"own": 3}, "parameters are a dictionary"),
        ({"direction": None}, "unknown direction None"),
    ],
)
def test_wrong_settings_are_refused_in_one_sentence(options, complaint):
    with pytest.raises(CbocError, match=complaint):
        make(("x",), site_options=options)


@pytest.mark.parametrize("answer", [None, np.zeros(3), lambda X: X.sum(axis=1)])
def test_a_strategy_that_returns_no_opinion_is_named(answer):
    (x,) = make(("x",), policy={"strategy": lambda _situation, _rng: answer})
    finish_initial(x)
    with pytest.raises(CbocError, match="a strategy has to return an opinion, with propose; .* ByUtility makes one"):
        x.ask()


def test_sites_without_any_data_start_together():
    pair = make(policy={"initial": 0})
    for site in pair:
        site.propose()
    assert all(SPACE.contains(site.ask().x) for site in pair)


def test_earlier_data_count_as_initial():
    study = Study(SPACE, ("x",), 3, pace="rounds")
    data = Dataset(np.random.default_rng(0).random((10, 2)), np.arange(10.0), direction="minimise")
    site = Site(study, "x", Ledger(study), direction="minimise", data=data)
    assert site.ask().turn.number == 0 and site.best.y == 0.0


def test_a_site_with_no_data_at_all_starts_somewhere_feasible():
    (x,) = make(("x",), policy={"initial": 0})
    trial = x.ask()
    assert SPACE.contains(trial.x) and trial.turn.number == 0


def test_directions_are_explicit_and_opposite():
    with pytest.raises(CbocError, match="site 'x': unknown direction 'up'; known: maximise, minimise."):
        make(("x",), site_options={"direction": "up"})
    down = make(("x",))[0]
    up = make(("x",), site_options={"direction": "maximise"})[0]
    for site, sign in ((down, 1), (up, -1)):
        for _ in range(8):
            trial = site.ask()
            site.tell(trial, sign * bowl(trial.design(SPACE)))
    assert [t.executed for t in up.trials] == [t.executed for t in down.trials]
    assert up.best.y == -down.best.y


def test_mixed_spaces_are_proposed_and_agreed_feasibly():
    space = Space(
        {"t": (0.0, 1.0), "n": Int(1, 6), "s": Choice(["red", "green", "blue"]), "u": (0.0, 1.0)}, ["t + u <= 1"]
    )
    pair = make(space=space, horizon=4, policy={"initial": 6} | behind(0.0))

    def yield_(d):
        return (d["t"] - 0.4) ** 2 + (d["n"] - 4) ** 2 / 10 + (d["s"] != "green") + (d["u"] - 0.5) ** 2

    for _ in range(10):
        for site in pair:
            site.propose()
        for site in pair:
            trial = site.ask()
            assert space.contains(trial.x)
            site.tell(trial, yield_(trial.design(space)))
    assert pair[0].best.y < 0.7


def test_a_trial_survives_its_row():
    x, y = make(rule="leader", shares_best=True)
    finish_initial(x, y)
    y.propose()
    for trial in (x.trials[0], x.ask(), x.tell(x.ask(), Measurement(1.0, 0.5)), x.trials[-1]):
        assert Trial.from_row(trial.to_row()) == trial


def test_a_correction_while_a_round_is_open_counts_as_after_a_restart():
    x, y = make(shares_best=True)
    finish_initial(x, y)
    x.propose()
    x.tell(x.trials[0], x.trials[0].y + 3.0, is_correction=True)
    again = Site(x.study, "x", x.network, direction="minimise", policy=x.policy, trials=list(x.trials))
    y.propose()
    assert x.ask() == again.ask()


def test_designs_say_nothing_of_the_size_and_sign_of_outcomes():
    """What leaves a site, of which docs/what-leaves-my-lab.md speaks."""
    problem, names = levy(2), ("a", "b")

    def left(scale, direction):
        experiments = {name: lambda design, k=k: scale * (problem(design) + k) for k, name in enumerate(names)}
        history = simulate(
            Study(problem.space, names, 4, pace="rounds"),
            experiments,
            direction=direction,
            policy=Policy(seed=3, initial=5),
        )
        return [(trial.site, trial.proposed, trial.turn and trial.turn.bests) for trial in history.trials]

    assert left(1.0, "minimise") == left(2.0**20, "minimise") == left(-2.0, "maximise")
