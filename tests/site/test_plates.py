"""Several experiments at once: what a plate holds, in which order results may come, and what a kill leaves."""

import json
from dataclasses import replace

import numpy as np
import pytest

from cboc import CbocError, Choice, Finished, Gate, Int, Ledger, Measurement, Policy, Site, Space, Study, Waiting
from cboc.site.trial import Decision, Status, Trial
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.gate import Gated

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
FREE = Study(SPACE, ("x", "y"), 12, pace="free")
ROUNDS = Study(SPACE, ("x", "y"), 12, pace="rounds")


class Killed(Exception):
    pass


def bowl(trial):
    return float(((trial.x - 0.4) ** 2).sum())


def pair(study=FREE, **options):
    ledger = Ledger(study)
    policy = Policy(**({"initial": 4, "seed": 3} | options))
    return [Site(study, name, ledger, direction="minimise", policy=policy) for name in study.sites]


def begun(study=FREE, **options):
    """Two sites whose initial designs are told."""
    sites = pair(study, **options)
    for site in sites:
        for trial in site.ask(4):
            site.tell(trial, bowl(trial))
    return sites


def restarted(site, **more):
    rows = json.loads(json.dumps([trial.to_row() for trial in site.trials]))
    given = {"direction": "minimise", "policy": site.policy, "trials": [Trial.from_row(row) for row in rows]}
    return Site(site.study, site.name, site.network, **(given | more))


def designs(trials):
    return [tuple(trial.x.tolist()) for trial in trials]


def test_a_plate_is_that_many_new_experiments_and_they_differ():
    x, _ = begun()
    plate = x.ask(5)
    assert [trial.number for trial in plate] == [4, 5, 6, 7, 8] == [trial.number for trial in x.open_trials]
    assert len(set(designs(plate))) == 5 and {trial.status for trial in plate} == {Status.PENDING}
    assert [(trial.turn.number, trial.turn.well, trial.turn.wells) for trial in plate] == [(0, w, 5) for w in range(5)]
    assert len(set(designs([*plate, *x.ask(3)]))) == 8  # open ones count as under way


def test_without_a_count_the_oldest_open_experiment_comes_again():
    x, _ = begun()
    plate = x.ask(3)
    assert x.ask() == x.ask() == plate[0]
    x.tell(plate[0], 1.0)
    assert x.ask() == plate[1]


def test_results_come_in_any_order_and_the_plate_is_refilled_singly():
    x, _ = begun()
    plate = x.ask(4)
    for trial in (plate[2], plate[0]):
        x.tell(trial, bowl(trial))
    (more,) = x.ask(1)
    assert more.number == 8 and more.turn.number == 1
    assert [trial.number for trial in x.open_trials] == [5, 7, 8]
    x.fail(plate[1], "broke")
    x.abandon(plate[3])
    assert [trial.number for trial in x.open_trials] == [8] and len(x.dataset) == 6


def test_the_last_plate_is_what_the_budget_leaves():
    x, _ = begun()
    assert len(x.ask(8)) == 8 and len(x.ask(8)) == 4
    with pytest.raises(Finished, match="12 of 12"):
        x.ask(1)
    assert not x.is_finished  # there are results to come
    assert x.ask().number == 4


def test_the_first_plate_holds_initial_designs_alone():
    x, _ = pair()
    plate = x.ask(6)
    assert [trial.decision for trial in plate] == [Decision.INITIAL] * 6 and len(set(designs(plate))) == 6
    y, _ = pair(initial=6)
    assert designs(y.ask(6)) == designs(plate)


@pytest.mark.parametrize("count", [0, -1, 2.5, "8", None.__class__, True, float("nan")])
def test_a_count_is_a_whole_number(count):
    with pytest.raises(CbocError, match="count is a whole number from 1"):
        begun()[0].ask(count)


def test_replicates_are_asked_for():
    x, _ = begun()
    plate = x.ask(6, replicates=3)
    found = designs(plate)
    assert found[0] == found[1] == found[2] != found[3] == found[4] == found[5]
    assert [trial.turn.well for trial in plate] == [0, 1, 2, 3, 4, 5]


def test_in_rounds_a_plate_waits_for_the_others_and_is_answered_well_by_well():
    x, y = begun(ROUNDS)
    with pytest.raises(Waiting):
        x.ask(3)
    with pytest.raises(Waiting):  # the same plate
        x.ask(5)
    assert len(y.ask(2)) == 2
    plate = x.ask(3)
    assert len(plate) == 3 and {trial.answer.snapshot for trial in plate} == {0}
    assert all(len(trial.answer.weights) == 2 for trial in plate)
    assert [bool(trial.answer.others) for trial in plate] == [True, False, False]  # kept once


def test_what_leaves_for_a_plate_is_its_designs_and_one_best_design():
    x, _ = begun()
    x.ask(4)
    sent = x.network.store.latest("x").proposal
    assert tuple(trial.proposed for trial in x.trials[4:]) == sent.X and len(sent.bests) == 1
    assert x.proposal(x.trials[6]) == sent


@pytest.mark.parametrize("study", [FREE, ROUNDS], ids=["free", "rounds"])
@pytest.mark.parametrize("last", range(1, 16))
def test_killed_at_any_moment_a_plate_goes_on_to_the_same_designs(study, last):
    """The process dies at the n-th thing it saves: before it is saved, or right after."""
    reference, other = begun(study)
    if study.pace.waits:
        other.propose(4)
    expected = designs(reference.ask(4))
    for is_saved in (False, True):
        x, y = begun(study)
        if study.pace.waits:
            y.propose(4)
        saved, count = list(x.trials), 0

        def save(trial, saved=saved, is_saved=is_saved):
            nonlocal count
            count += 1
            if count == last and not is_saved:
                raise Killed
            saved[trial.number : trial.number + 1] = [trial]
            if count == last:
                raise Killed

        x = restarted(x, save=save)
        try:
            found = designs(x.ask(4))
        except Killed:
            x = restarted(x, trials=saved)
            if len(saved) == 4 or x.log.unanswered:  # otherwise all was saved
                x.ask(4)
            found = designs(x.trials[4:])
        assert found == expected


def test_two_sites_with_plates_of_other_sizes_are_mixed():
    x, y = begun()
    x.ask(3)
    plate = y.ask(2)
    assert plate[0].answer.weights == pytest.approx([0.5, 0.5], abs=1e-8)
    assert np.isfinite([trial.turn.note.log_worth for trial in plate]).all()


SMALL = Study({"a": Int(1, 4), "b": Choice(["x", "y", "z"])}, ("x", "y"), 40, pace="free")


def test_wells_of_a_small_space_differ_as_long_as_they_can():
    x = Site(SMALL, "x", Ledger(SMALL), direction="minimise", policy=Policy(initial=3, seed=2))
    for trial in x.ask(3):
        x.tell(trial, float(trial.number))
    plate = x.ask(10)
    assert len(set(designs(plate))) == 10
    for trial in plate:
        x.tell(trial, float(trial.number % 3))
    assert len(set(designs(x.ask(12)))) == 12  # all there are, though most were run before


def test_more_wells_than_the_space_has_designs_are_refused():
    x = Site(SMALL, "x", Ledger(SMALL), direction="minimise", policy=Policy(initial=3))
    with pytest.raises(CbocError, match="at most 12 designs; 13 different ones do not exist"):
        x.ask(13)
    assert x.trials == []
    found = designs(x.ask(24, replicates=2))
    assert found[::2] == found[1::2] and len(set(found)) <= 12


# -------------------------------------------------------------------------------------------------------------- cost


def test_a_budget_in_cost_ends_a_site():
    x, _ = begun(most_cost=10.0)
    x.tell(x.ask(), 0.5, cost=6.0)
    assert not x.is_finished and x.cost == 6.0
    trial = x.ask()
    x.fail(trial, cost=3.0)
    x.tell(trial, 0.4)  # the repeat that worked; what it cost before stays
    assert x.cost == 9.0 and not x.is_finished
    x.tell(x.ask(), 0.5, cost=1.0)
    assert x.is_finished
    with pytest.raises(Finished, match="3 of 12 turns, 10 of 10 spent"):
        x.ask()


def test_a_measurement_may_say_what_it_cost():
    x, _ = begun()
    told = x.tell(x.ask(), Measurement(0.5, 0.1, cost=6.0))
    assert told.cost == x.cost == 6.0 and told.outcomes == {"y": Measurement(0.5, 0.1)}  # it is kept in one place
    assert x.tell(told, Measurement(0.5, 0.1, cost=6.0)) is told
    with pytest.raises(CbocError, match="a cost is told once; it is 2.0, and 6 in the measurement"):
        x.tell(x.ask(), Measurement(0.5, cost=6.0), cost=2.0)


@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf"), "1", True])
def test_a_cost_is_a_number_from_0(cost):
    x, _ = begun()
    with pytest.raises(CbocError, match="a cost is a number from 0"):
        x.tell(x.ask(), 0.5, cost=cost)
    with pytest.raises(CbocError, match="most_cost is a number above 0"):
        Policy(most_cost=cost)


def test_what_it_cost_may_be_corrected_and_survives_a_restart():
    x, _ = begun()
    told = x.tell(x.ask(), 0.5, cost=2.0)
    with pytest.raises(
        CbocError, match="told a cost of 2 before, and one of 3 now.*tell 0.5 --cost 3 --trial 4 --again"
    ):
        x.tell(told, 0.5, cost=3.0)
    again = x.tell(told, 0.5, cost=3.0, is_correction=True)
    assert restarted(x).cost == 3.0 and again.note == "corrected, its cost was 2"


def test_a_cost_where_none_was_told_is_added():
    x, _ = begun()
    told = x.tell(x.ask(), Measurement(0.5, 0.1), ran={"a": 0.25, "b": 0.75})
    added = x.tell(told, Measurement(0.5, 0.1), cost=4.0)
    assert added == replace(told, cost=4.0) == x.trials[-1] and restarted(x).cost == 4.0
    assert x.tell(told, Measurement(0.5, 0.1)) == added  # it stays
    with pytest.raises(CbocError, match="told 0.5 ± 0.1 before, and 0.6 now.*cboc tell 0.6 --trial 4 --again"):
        x.tell(told, 0.6)
    with pytest.raises(CbocError, match="was told one design before, and another now"):
        x.tell(told, Measurement(0.5, 0.1), ran={"a": 0.5, "b": 0.5})


def test_the_command_that_corrects_says_all_that_was_told():
    x, _ = begun()
    told = x.tell(x.ask(), 0.5)
    with pytest.raises(CbocError, match=r"use cboc tell 0\.12345678 --sem 0\.1 --cost 7 --trial 4 --again, or"):
        x.tell(told, Measurement(0.12345678, 0.1), cost=7.0)


# ------------------------------------------------------------------------------------- parameters that all wells share

BLOCK = {"T": (20.0, 90.0), "a": (0.0, 1.0), "solvent": ["water", "ethanol", "DMSO"]}


def values(trials, space, name):
    return {trial.design(space)[name] for trial in trials}


@pytest.mark.parametrize("same", [("T",), ("solvent",), ("T", "solvent")])
@pytest.mark.parametrize("constraints", [(), ("T + 40*a <= 100",)])
def test_wells_share_what_they_have_to_and_differ_in_the_rest(same, constraints):
    study = Study(Space(BLOCK, constraints), ("x", "y"), 60)
    sites = pair(study)
    for site in sites * 3:
        plate = site.ask(6, same=same)
        for name in same:
            assert len(values(plate, study.space, name)) == 1
        assert len(set(designs(plate))) == 6
        assert all(study.space.contains(trial.x, 1e-6) for trial in plate)
        for trial in plate:
            site.tell(trial, bowl(trial))
    for trial in sites[0].trials:
        assert trial.turn is None or trial.turn.same == same


def test_a_followed_mix_moves_the_other_parameters_alone():
    """Two sites that always follow, with one best design elsewhere: T stays where the plate was proposed."""
    study = Study(BLOCK, ("x", "y"), 60)
    x, y = begun(study, strategy=Gated(Bayesian(), Gate(0.0)))
    y.ask(4)
    plate = x.ask(4, same=["T"])
    assert {trial.decision for trial in plate} == {Decision.FOLLOWED}
    assert {trial.x[0] for trial in plate} == {plate[0].proposed[0]}
    assert any(trial.x[1] != trial.proposed[1] for trial in plate)


def test_a_kill_within_a_plate_does_not_forget_what_is_the_same():
    study = Study(BLOCK, ("x", "y"), 60)
    x, _ = begun(study)
    seen = []

    def save(trial):
        seen.append(trial)
        if len(seen) == 3:
            raise Killed
        return trial

    dying = restarted(x, save=save)
    with pytest.raises(Killed):
        dying.ask(5, same=["T"])
    again = restarted(x, trials=[*x.trials, *seen[:2]])
    whole = again.ask(9)  # what has begun is finished first, as it was asked for
    assert len(whole) == 5 and len(values(whole, study.space, "T")) == 1


@pytest.mark.parametrize(
    ("space", "same", "complaint"),
    [
        (BLOCK, ("temp",), "site 'x': unknown parameter 'temp'"),
        (BLOCK, "T", "a list of names"),
        (BLOCK, ("T", "a"), "with the same T and a in all wells there is at most 3 designs; 4 different ones do not"),
        (BLOCK, ("T", "a", "solvent"), "there is at most 1 design; 4 different ones do not exist"),
        (
            Space({"a": (0.0, 1.0), "b": (0.0, 1.0)}, ["a + b == 1"]),
            ("a",),
            "with the same a in all wells there is one design only, by the constraints a + b == 1",
        ),
    ],
)
def test_a_plate_that_nothing_fulfils_gets_one_sentence_and_nothing_begins(space, same, complaint):
    x, _ = pair(Study(space, ("x", "y"), 12))
    with pytest.raises(CbocError) as refusal:
        x.ask(4, same=same)
    assert complaint in str(refusal.value) and "\n" not in str(refusal.value)
    assert x.trials == []


def test_one_well_agrees_with_itself():
    study = Study(BLOCK, ("x", "y"), 12)
    x, _ = begun(study)
    assert x.ask(1, same=["T"])[0].turn.same == ()
    assert len(set(designs(x.ask(4, replicates=4, same=["T", "a", "solvent"])))) == 1
