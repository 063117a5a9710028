"""Parameters that only one site has: they never leave it, and are never mixed."""

import json

import numpy as np
import pytest

from cboc import (
    CbocError,
    Choice,
    Dataset,
    Gate,
    Int,
    Ledger,
    Policy,
    Site,
    Space,
    Study,
    Waiting,
    collaborative,
    simulate,
)
from cboc.advice.advice import advise
from cboc.site import worksheet
from cboc.site.batch import think
from cboc.site.trial import Decision, Trial
from cboc.strategy.guide.decision import Guide

SHARED = Space({"a": (0.0, 1.0), "b": (0.0, 1.0)})
OWN = Space({"stirrer": Choice(["slow", "fast"]), "speed": Int(1, 9), "dose": (0.0, 4.0)})


def bowl(x):
    return float(((np.asarray(x)[:2] - 0.6) ** 2).sum() + 0.1 * (np.asarray(x)[-1] - 0.5) ** 2 * (len(x) > 2))


class Watched(Ledger):
    """A ledger that keeps every message that comes in."""

    def __init__(self, study):
        super().__init__(study)
        self.seen = []

    def submit(self, proposal):
        self.seen.append(proposal)
        super().submit(proposal)


DRAWN = collaborative(guide=Guide(patience=0.0))  # by evidence alone


def make(horizon=5, own=OWN, strategy=None, seed=1, **options):
    study = Study(SHARED, ("x", "y", "z"), horizon, **({"pace": "rounds"} | options))
    network, policy = Watched(study), Policy(strategy or collaborative(), initial=5, seed=seed)
    has_own = {"x": own}
    return [
        Site(study, name, network, direction="minimise", policy=policy, own=has_own.get(name)) for name in study.sites
    ]


def play(sites, turns):
    for site in sites:
        while len(site.trials) < site.initial:
            trial = site.ask()
            site.tell(trial, bowl(trial.x))
    for _ in range(turns):
        think(sites)
        for site in sites:
            site.propose()
        for site in sites:
            trial = site.ask()
            site.tell(trial, bowl(trial.x))
    return sites


def test_they_may_be_given_as_a_dictionary():
    study = Study(SHARED, ("x",), 3)
    site = Site(study, "x", Ledger(study), direction="minimise", own={"dose": (0.0, 4.0)})
    assert site.space == SHARED + Space({"dose": (0.0, 4.0)})


def test_its_space_is_the_studys_first_and_its_own_after():
    x, y, _ = make()
    assert x.space.names == ("a", "b", "stirrer", "speed", "dose") and x.space.dimension == 6
    assert y.space is y.study.space
    assert x.ask().design(x.space).keys() == {"a", "b", "stirrer", "speed", "dose"}
    assert x.initial == 5
    assert Site(x.study, "x", x.network, direction="minimise", own=OWN).initial == 10  # two for each of its parameters


@pytest.mark.parametrize("rule", ["uniform", "leader", "identity"])
def test_they_are_in_no_message(rule):
    x, *others = play(make(rule=rule, shares_best=True), 4)
    mine = [proposal for proposal in x.network.seen if proposal.site == "x"]
    assert len(mine) == 4
    for proposal, trial in zip(mine, x.trials[5:], strict=True):
        assert (trial.proposed[:2],) == proposal.X and [len(best) for best in proposal.bests] == [2]
    for site in others:
        for trial in site.trials[5:]:
            assert len(trial.answer.mix) == 2 and {len(point) for point in trial.answer.others} == {2}


def test_a_mix_keeps_them_as_they_were_proposed():
    x, y, z = play(make(strategy=collaborative(gate=Gate(0.0)), rule="uniform", shares_best=False), 4)
    for trial in x.trials[5:]:
        assert trial.decision == Decision.FOLLOWED and trial.answer.mix != trial.proposed
        assert trial.answer.mix[2:] == pytest.approx(trial.proposed[2:], abs=1e-9)
        same_round = [site.trials[trial.number].proposed for site in (y, z)]
        weights = np.array(trial.answer.weights)
        mixed = weights @ np.array([trial.proposed[:2], *same_round])
        assert trial.answer.mix[:2] == pytest.approx(mixed, abs=1e-8)


def test_the_agreement_knows_nothing_of_them():
    x, *_ = make()
    assert x.study.digest == make(own=None)[0].study.digest
    assert x.study.agreement()["space"] == SHARED.to_dict() and "stirrer" not in x.study.canonical


def test_constraints_of_its_own_hold():
    own = Space({"c": (0.0, 1.0), "d": (0.0, 1.0)}, ["c + d <= 0.5"])
    x, *_ = play(make(own=own, strategy=collaborative(gate=Gate(0.0)), shares_best=False), 3)
    for trial in x.trials:
        assert x.space.contains(trial.x) and trial.x[2] + trial.x[3] <= 0.5 + 1e-9


def test_the_guide_works_on_what_all_have():
    x, y, _ = play(make(horizon=8, shares_best=True, strategy=DRAWN), 6)
    notes = [trial.turn.note for trial in x.trials[5:]]
    assert any(note.pull > 0.0 for note in notes) and any(note.log_odds and note.log_odds > 4.0 for note in notes)
    assert x.mind.situation().others.shape == (2, 2) and x.mind.situation().common is x.study.space
    assert y.mind.situation().common is y.space
    opinion = x.policy.strategy(x.mind.situation(), x.mind.rng(99))
    utility = opinion.utility
    X = np.random.default_rng(0).random((10, 6))
    moved = np.hstack([X[:, :2], np.random.default_rng(1).random((10, 4))])
    np.testing.assert_array_equal(utility.bonus(X), utility.bonus(moved))  # only what is shared draws
    step = 1e-6
    numeric = np.stack([(utility(X + step * e) - utility(X - step * e)) / (2 * step) for e in np.eye(6)], axis=1)
    assert utility.with_gradient(X)[1] == pytest.approx(numeric, rel=1e-3, abs=1e-3)


def test_sites_that_think_together_find_what_each_finds_alone():
    together, alone = play(make(shares_best=True), 3), make(shares_best=True)
    for site in alone:
        while len(site.trials) < site.initial:
            trial = site.ask()
            site.tell(trial, bowl(trial.x))
    for _ in range(3):
        for site in alone:
            site.propose()
        for site in alone:
            trial = site.ask()
            site.tell(trial, bowl(trial.x))
    assert [site.trials for site in together] == [site.trials for site in alone]


def test_trials_go_there_and_back_and_a_restart_changes_nothing():
    x, y, z = play(make(shares_best=True), 2)
    with pytest.raises(Waiting):
        x.ask()
    rows = json.loads(json.dumps([trial.to_row() for trial in x.trials]))
    trials = [Trial.from_row(row) for row in rows]
    assert trials == x.trials
    again = Site(x.study, "x", x.network, direction="minimise", policy=x.policy, own=OWN, trials=trials)
    y.propose(), z.propose()
    assert again.ask() == x.ask()


def test_what_was_run_is_told_with_all_its_parameters():
    x, *_ = make()
    ran = {"a": 0.5, "b": 0.25, "stirrer": "fast", "speed": 9, "dose": 1.0}
    assert x.tell(x.ask(), 1.0, ran=ran).executed == (0.5, 0.25, 0.0, 1.0, 1.0, 0.25)
    assert x.best_design == ran
    with pytest.raises(CbocError, match="dose"):
        x.tell(x.ask(), 1.0, ran={name: value for name, value in ran.items() if name != "dose"})


def test_a_sheet_has_a_column_for_each(tmp_path):
    x, *_ = make()
    path = tmp_path / "sheet.csv"
    path.write_text(worksheet.write([x.ask()], x.space))
    header, line = path.read_text().splitlines()
    assert header == "trial,a,b,stirrer,speed,dose,y,sem,status,cost"
    path.write_text(f"{header}\n{line.rstrip(',')},0.5,,,\n")
    worksheet.enter_all(x, worksheet.read(path, x.space))
    assert x.trials[0].y == 0.5 and x.trials[0].executed == pytest.approx(x.trials[0].proposed, abs=1e-6)


def test_data_of_before_have_them_too():
    study = Study(SHARED, ("x", "y"), 3, pace="rounds")
    with pytest.raises(CbocError, match="has data with 2 coordinates; its space has 6"):
        Site(study, "x", Ledger(study), direction="minimise", own=OWN, data=Dataset.empty(2, "minimise"))


def test_a_name_is_in_one_space_only():
    study = Study(SHARED, ("x", "y"), 3, pace="rounds")
    with pytest.raises(CbocError, match="'a' is in both"):
        Site(study, "x", Ledger(study), direction="minimise", own=Space({"a": (0.0, 1.0)}))


@pytest.mark.parametrize("name", ["y", "status", "turn"])
def test_a_name_that_every_result_has_is_refused(name):
    study = Study(SHARED, ("x", "y"), 3, pace="rounds")
    with pytest.raises(CbocError, match=f"a parameter may not be called '{name}'"):
        Site(study, "x", Ledger(study), direction="minimise", own=Space({name: (0.0, 1.0)}))


def test_advice_works_with_them():
    x, *_ = play(make(horizon=8, shares_best=True, strategy=DRAWN), 5)
    advice = advise(x)
    assert advice.log_odds is not None and advice.sentence
    borrower, *_ = play(make(horizon=8, shares_best=True), 5)
    assert "you have run the best designs of all others" in advise(borrower).sentence


def test_without_any_the_study_is_what_it_was():
    """A site with no parameters of its own finds, bit for bit, what `simulate` finds."""
    sites = play(make(own=None, shares_best=True), 5)
    study = sites[0].study
    experiments = {name: lambda design: bowl(SHARED.to_unit(design)) for name in study.sites}
    history = simulate(study, experiments, direction="minimise", policy=sites[0].policy)
    for site in sites:
        assert [trial.executed for trial in history.of(site.name)] == [trial.executed for trial in site.trials]
