"""Several experiments at once: what a plate holds, in which order results may come, and what a kill leaves."""

import json
from contextlib import suppress
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
    with pytest.raises(Finished, match="3 of 12 experiments, 10 of 10 spent"):
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


# A plate that something came between


def dying(site, saves):
    """The site, whose disk fails after so many further saves."""
    left = iter(range(saves))

    def save(trial):
        if next(left, None) is None:
            raise Killed
        return trial

    return restarted(site, save=save)


@pytest.mark.parametrize("saves", range(13))
def test_a_result_told_between_a_kill_and_the_rest_of_a_plate_belongs_to_its_well_alone(saves):
    """The second well of each pair is a replicate of the first, and must not take over its outcome."""
    x, _ = begun()
    x = dying(x, saves)
    with suppress(Killed):
        x.ask(4, replicates=2)
    x = restarted(x)
    if x.to_run:
        x.tell(x.to_run[0], -123.0, cost=7.0)
    plate = x.ask(4, replicates=2) if x.log.is_torn or x.log.unanswered else x.to_run
    told = [trial for trial in x.trials[4:] if trial.status is Status.COMPLETE]
    assert len(told) <= 1 and all(trial.y is None and trial.cost is None for trial in plate)
    assert len(set(designs(x.trials[4:8]))) == (2 if saves else 0)


@pytest.mark.parametrize("saves", range(4))
def test_an_initial_plate_is_finished_before_anything_else(saves):
    whole = pair()[0].ask(4, wells=["A1", "A2", "A3", "A4"])
    x = dying(pair()[0], saves)
    with pytest.raises(Killed):
        x.ask(4, wells=["A1", "A2", "A3", "A4"])
    x = restarted(x)
    assert x.log.is_torn == (saves > 0)
    first = x.ask()
    assert first == whole[0] if saves else first.place == ""
    if saves:
        assert x.to_run == whole and not x.log.is_torn


# Which wells, and what they hold


def test_wells_have_the_names_that_they_were_given_and_keep_them():
    x, _ = begun()
    plate = x.ask(4, replicates=2, wells=["B1", "B2", "C1", "C2"])
    assert [trial.place for trial in plate] == ["B1", "B2", "C1", "C2"]
    assert [trial.place for trial in restarted(x).to_run] == ["B1", "B2", "C1", "C2"]
    assert x.tell(plate[1], 1.0).place == "B2"
    for wells in (["A1"], ["A1", "A1"], "A1", ["A1", " "], ["A1", "A" * 21], [1, 2]):
        with pytest.raises(CbocError, match=r"the name[s]? of|wells have as many names"):
            x.ask(2, wells=wells)


def test_a_value_may_be_given_for_what_wells_share():
    space = Space({"T": (20.0, 60.0), "s": Choice(["u", "v", "w"]), "z": (0.0, 1.0)}, ["T + 10*z <= 60"])
    study = Study(space, ("x",), 20)
    x = Site(study, "x", Ledger(study), direction="minimise", policy=Policy(initial=3))
    for plate in (x.ask(3, same={"T": 37.0}), x.ask(3, same={"T": 55.5, "s": "v"}), x.ask(1, same={"T": 40.0})):
        T = {round(trial.design(space)["T"], 6) for trial in plate}
        assert len(T) == 1 and {37.0, 55.5, 40.0} >= T
        for trial in plate:
            x.tell(trial, bowl(trial))
    assert {trial.design(space)["s"] for trial in x.trials[3:6]} == {"v"}
    for same, complaint in (
        ({"T": 90.0}, "T"),
        ({"q": 1.0}, "unknown parameter 'q'"),
        ({"T": 60.0, "z": 1.0}, "no design has"),
    ):
        with pytest.raises(CbocError, match=complaint):
            x.ask(2, same=same)


def test_plates_learn_about_what_their_wells_share():
    """After one plate nothing is known about it: the next one has another value, and is not a week lost."""
    study = Study({"T": (20.0, 60.0), "b": (0.0, 1.0)}, ("x",), 60, rule="identity")
    x = Site(study, "x", Ledger(study), direction="minimise", policy=Policy(seed=1))
    temperatures = []
    for _ in range(5):
        plate = x.ask(8, same=["T"])
        temperatures.append(plate[0].x[0])
        for trial in plate:
            x.tell(trial, float(((trial.x - 0.6) ** 2).sum()))
    assert abs(temperatures[1] - temperatures[0]) > 0.02
    assert min(abs(T - 0.6) for T in temperatures[2:]) < 0.05


@pytest.mark.parametrize("same", [(), ("a",)])
def test_wells_are_a_hundredth_of_the_range_apart_even_where_all_is_known(same):
    study = Study({"a": (0.0, 1.0), "b": (0.0, 1.0), "c": (0.0, 1.0)}, ("x",), 200, rule="identity")
    x = Site(study, "x", Ledger(study), direction="minimise")
    for _ in range(4):
        plate = x.ask(24, same=same)
        X = np.array([trial.x for trial in plate])
        apart = np.sqrt(((X[:, None] - X) ** 2).mean(axis=2))[~np.eye(24, dtype=bool)]
        assert apart.min() >= 0.01
        for trial in plate:
            x.tell(trial, bowl(trial))


@pytest.mark.parametrize("seed", range(6))
def test_wells_of_small_spaces_differ_from_the_first_plate_on_and_after_the_mix(seed):
    spaces = [
        Space({"i": Int(0, 3)}),
        Space({"s": Choice(["u", "v", "w"]), "T": (0.0, 1.0)}),
        Space({"a": Int(0, 6), "b": Int(0, 6)}),
    ]
    for space, wells, same in zip(spaces, (4, 3, 9), ((), ("T",), ()), strict=True):
        study = Study(space, ("x", "y"), 40)
        ledger = Ledger(study)
        policy = Policy(initial=3, seed=seed, strategy=Gated(Bayesian(), Gate(0.0)))
        sites = [Site(study, name, ledger, direction="minimise", policy=policy) for name in study.sites]
        for _ in range(3):
            for site in sites:
                plate = site.ask(wells, same=same)
                assert len(set(designs(plate))) == wells
                for trial in plate:
                    site.tell(trial, bowl(trial))


def test_designs_that_constraints_forbid_do_not_count():
    study = Study(Space({"i": Int(0, 3), "j": Int(0, 3)}, ["i + j <= 1"]), ("x",), 40)
    x = Site(study, "x", Ledger(study), direction="minimise")
    with pytest.raises(CbocError, match="the space has at most 3 designs; 6 different ones do not exist"):
        x.ask(6)
    assert len(set(designs(x.ask(3)))) == 3


# What counts, and what is refused


def test_initial_experiments_beyond_those_a_site_begins_with_count_against_its_budget():
    x, _ = pair()
    assert len(x.ask(10)) == 10 and x.turns == 6
    assert len(x.ask(10)) == 6 and x.turns == 12
    with pytest.raises(Finished, match="12 of 12 experiments; 16 of them are still open"):
        x.ask(1)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"count": 5, "replicates": 2}, "a plate of 5 does not hold each design 2 times; ask for 4 or 6"),
        ({"count": 2, "replicates": 5}, r"a plate of 2 does not hold each design 5 times; ask for 5\.$"),
        ({"count": 1001}, "count is a whole number from 1 to 1,000"),
        ({"count": 10**12}, "count is a whole number from 1 to 1,000"),
        ({"replicates": 3}, "are for a plate; say how many experiments"),
        ({"same": ["a"]}, "are for a plate; say how many experiments"),
        ({"count": 3, "same": None}, "are a list of names"),
        ({"count": 3, "same": 5}, "are a list of names"),
    ],
)
def test_what_would_have_no_effect_or_cannot_be_is_refused(options, complaint):
    x, _ = pair()
    with pytest.raises(CbocError, match=complaint):
        x.ask(**options)
    assert x.trials == []


def test_names_that_come_one_by_one_are_read_once():
    x, _ = begun()
    assert len({trial.x[0] for trial in x.ask(3, same=iter(["a"]))}) == 1


def test_a_trial_of_another_study_is_refused():
    x, other = begun()[0], begun(seed=9)[0]
    x.ask(4)
    with pytest.raises(CbocError, match="has another design here; the one given is of another study"):
        x.tell(other.ask(4)[1], 9.9)


class Refusing(Ledger):
    def submit(self, proposal):
        raise CbocError(f"no {proposal.site}.")


def test_a_plate_that_nobody_takes_may_be_given_up():
    x, _ = begun()
    x = restarted(x)
    x.network = Refusing(FREE)
    with pytest.raises(CbocError, match="no"):
        x.ask(3)
    assert [trial.status for trial in x.open_trials] == [Status.PROPOSED] * 3
    assert x.abandon(x.open_trials[1]).status is Status.ABANDONED and not x.open_trials
    x.network = Ledger(FREE)
    assert [trial.turn.number for trial in x.ask(2)] == [1, 1]


@pytest.mark.parametrize("now", [float("nan"), float("inf"), "noon", None])
def test_a_clock_that_gives_no_time_is_named(now):
    x = restarted(pair()[0], clock=lambda: now)
    with pytest.raises(CbocError, match="a clock gives the time as a number"):
        x.ask()


def test_a_clock_may_give_any_number():
    x = restarted(pair()[0], clock=lambda: np.float64(3))
    assert x.ask().began == 3.0 and type(x.ask().began) is float


def test_costs_add_up_to_a_number():
    x, _ = begun()
    with pytest.raises(CbocError, match="a cost is a number from 0 to 1e.15"):
        x.tell(x.ask(), 1.0, cost=1e308)


def test_a_site_with_a_larger_budget_in_cost_goes_on():
    x, _ = begun(most_cost=3.0)
    x.tell(x.ask(), 1.0, cost=3.0)
    with pytest.raises(Finished):
        x.ask()
    assert restarted(x, policy=Policy(initial=4, seed=3, most_cost=30.0)).ask().status is Status.PENDING
