import json

import numpy as np
import pytest

from cboc import CbocError, Choice, ExperimentFailed, Gate, Int, Space, Study, simulate
from cboc.storage.journal import Journal, read_journal
from cboc.problems.synthetic import levy, sites_of
from cboc.site.trial import Status
from cboc.strategy.guide.guide import ALONE, Guide

SITES = ("a", "b", "c")


def problems(seed=0):
    return dict(zip(SITES, sites_of(levy(2), 3, np.random.default_rng(seed)), strict=True))


def study(horizon=5, **options):
    return Study(levy(2).space, SITES, horizon, **options)


def run(horizon=5, rule="leader", shares_best=False, **options):
    agreed = study(horizon, rule=rule, shares_best=shares_best)
    return simulate(agreed, problems(), direction="minimise", **({"seed": 3, "initial": 4} | options))


def test_every_site_spends_its_budget():
    history = simulate(study(5, budgets={"b": 3}), problems(), direction="minimise", initial=4)
    assert {site: len(history.of(site)) for site in SITES} == {"a": 9, "b": 7, "c": 9}
    assert len(history.best_so_far("a")) == 6 and len(history.best_so_far("b")) == 4


def test_the_same_seed_gives_the_same_study_and_another_another():
    assert run().trials == run().trials
    assert run(seed=4).trials != run().trials


def test_alone_and_together_start_from_the_same_designs():
    together, alone = run(), run(rule="identity")
    for site in SITES:
        assert [t.x.tolist() for t in together.of(site)[:4]] == [t.x.tolist() for t in alone.of(site)[:4]]


def test_the_best_never_gets_worse_and_improves():
    for site in SITES:
        curve = run(horizon=8).best_so_far(site)
        assert (np.diff(curve) <= 0).all() and curve[-1] < curve[0]


def test_in_round_0_of_the_paper_everybody_runs_the_same_design():
    history = run(rule="uniform", gate=Gate(0.0))
    first = [trial.agreed for trial in history.trials if trial.round == 0]
    np.testing.assert_allclose(first, [first[0]] * 3, atol=1e-8)


def test_best_designs_are_shared_where_the_study_says_so_and_draw_the_proposals():
    alone, shared = run(rule="identity"), run(rule="identity", shares_best=True)
    assert all(trial.others is None and trial.best is None and trial.pull is None for trial in alone.trials)
    for site in SITES:
        rounds = [trial for trial in shared.of(site) if trial.round is not None]
        known = np.minimum.accumulate([trial.y for trial in shared.of(site)])
        for trial in rounds:
            assert len(trial.others) == len(SITES) - 1
            assert trial.best == next(t.executed for t in shared.of(site) if t.y == known[trial.number - 1])
        assert rounds[0].keeps == 0.5 and not rounds[0].pull  # nobody's best is known before the first round closes
    assert any(trial.pull for trial in shared.trials)
    assert [t.proposed for t in alone.trials] != [t.proposed for t in shared.trials]
    unguided = run(rule="identity", shares_best=True, guide=Guide(0.0))
    assert [t.proposed for t in alone.trials] == [t.proposed for t in unguided.trials]


def test_in_doubt_a_site_follows_what_keeps_half_of_its_utility():
    history = run(horizon=10, shares_best=True, guide=Guide(least=1e9))
    rounds = [trial for trial in history.trials if trial.round is not None]
    assert {trial.decision for trial in rounds} == {"followed", "declined"} and not any(t.pull for t in rounds)
    for trial in rounds:
        assert (trial.decision == "followed") == (trial.log_worth_agreed >= trial.log_worth + np.log(0.5))
    assert "in doubt, for nobody's best design is known yet" in rounds[0].explain(SITES)
    assert "in doubt, for there is too little evidence that the sites' best designs" in rounds[-1].explain(SITES)


def test_the_gate_is_asked_in_doubt_too():
    history = run(shares_best=True, guide=Guide(least=1e9), gate=Gate(0.999))
    for trial in history.trials:
        if trial.round is not None and trial.agreed != trial.proposed:
            assert (trial.decision == "followed") == (trial.log_worth_agreed >= trial.log_worth + np.log(0.999))


def test_who_wants_no_mix_in_doubt_works_alone():
    alone, doubtful = run(rule="identity"), run(shares_best=True, guide=Guide(least=1e9, doubt=ALONE))
    rounds = [trial for trial in doubtful.trials if trial.round is not None]
    assert {trial.decision for trial in rounds} == {"alone"} and any(t.agreed != t.proposed for t in rounds)
    assert [t.executed for t in doubtful.trials] == [t.executed for t in alone.trials]
    assert "nothing is mixed in, for nobody's best design is known yet" in rounds[0].explain(SITES)
    assert "nothing is mixed in, for there is too little evidence" in rounds[-1].explain(SITES)


def test_the_gate_compares_what_the_proposals_were_chosen_by():
    asked = []

    def gate(agreed, own):
        asked.append((agreed, own))
        return agreed >= own - 2.0

    history = run(shares_best=True, gate=gate)
    drawn = [trial for trial in history.trials if trial.pull]
    assert drawn and all(trial.evidence >= Guide().least for trial in drawn)
    for trial in drawn:
        assert any(own == trial.log_worth + trial.pull for _, own in asked)
    bonuses = [
        agreed - trial.log_worth_agreed
        for trial in drawn
        for agreed, own in asked
        if own == trial.log_worth + trial.pull
    ]
    assert all(bonus > -1e-9 for bonus in bonuses) and any(bonus > 0.01 for bonus in bonuses)


def test_a_guide_of_ones_own_that_returns_no_counsel_is_named():
    with pytest.raises(CbocError, match="the guide of site 'a' has to return a Counsel"):
        run(shares_best=True, guide=lambda utility, *_: utility)


class Interrupted(Exception):
    pass


@pytest.mark.parametrize("after", [[1], [5, 12], [13, 14, 15, 16], [20, 26]])
def test_an_interrupted_study_continues_bit_by_bit(tmp_path, after):
    journal, count = tmp_path / "run.jsonl", 0

    def interrupt(_):
        nonlocal count
        count += 1
        if count in after:
            raise Interrupted

    for _ in after:
        with pytest.raises(Interrupted):
            run(journal=journal, on_trial=interrupt)
    assert run(journal=journal, on_trial=interrupt).trials == run().trials


@pytest.mark.parametrize("shares_best", [False, True])
def test_a_journal_cut_at_any_byte_continues_to_the_same_end(tmp_path, shares_best):
    whole = tmp_path / "whole.jsonl"
    expected = run(journal=whole, shares_best=shares_best).trials
    data = whole.read_bytes()
    header = data.index(b"\n") + 1
    for cut in np.random.default_rng(0).integers(header, len(data), 12):
        part = tmp_path / f"cut-{cut}.jsonl"
        part.write_bytes(data[:cut])
        assert run(journal=part, shares_best=shares_best).trials == expected
        assert read_journal(part)[1] == read_journal(whole)[1]


def test_a_finished_journal_is_only_read(tmp_path):
    journal = tmp_path / "run.jsonl"
    run(journal=journal)
    before = journal.read_bytes()
    assert run(journal=journal).trials == run().trials
    assert journal.read_bytes() == before


def test_another_studys_journal_is_refused(tmp_path):
    run(journal=tmp_path / "run.jsonl")
    with pytest.raises(CbocError, match="belongs to another study .it differs in: seed"):
        run(journal=tmp_path / "run.jsonl", seed=99)
    with pytest.raises(CbocError, match="differs in: study"):
        run(journal=tmp_path / "run.jsonl", horizon=6)


def test_a_setting_that_is_refused_begins_no_journal(tmp_path):
    with pytest.raises(CbocError, match="initial is a whole number"):
        run(journal=tmp_path / "run.jsonl", initial=-1)
    assert run(journal=tmp_path / "run.jsonl").trials == run().trials


@pytest.mark.parametrize(
    ("content", "complaint"), [("hello\n", "not a journal"), ('{"format": 99}\n', "not a journal")]
)
def test_another_file_is_no_journal(tmp_path, content, complaint):
    path = tmp_path / "run.jsonl"
    path.write_text(content)
    with pytest.raises(CbocError, match=complaint):
        run(journal=path)


def test_a_damaged_line_is_named(tmp_path):
    path = tmp_path / "run.jsonl"
    run(journal=path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:3], "{broken", *lines[4:]]) + "\n")
    with pytest.raises(CbocError, match=r"run\.jsonl, line 4 is damaged"):
        Journal(path, {})


def test_a_missing_trial_is_named(tmp_path):
    path = tmp_path / "run.jsonl"
    run(journal=path, shares_best=True)
    lines = path.read_text().splitlines()
    kept = [line for line in lines if not ('"site": "b"' in line and '"number": 2,' in line)]
    assert len(kept) < len(lines)
    path.write_text("\n".join(kept) + "\n")
    with pytest.raises(CbocError, match="trial 2 of site 'b' is missing"):
        read_journal(path)


@pytest.mark.parametrize(("field", "value"), [("others", [[0.1]]), ("best", [0.1, 0.2, 0.3]), ("keeps", "half")])
def test_a_trial_that_no_site_wrote_is_damage(tmp_path, field, value):
    path = tmp_path / "run.jsonl"
    run(journal=path, shares_best=True)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-1], json.dumps(json.loads(lines[-1]) | {field: value})]) + "\n")
    with pytest.raises(CbocError, match="is damaged"):
        read_journal(path)


def test_a_failing_experiment_is_recorded_and_the_study_goes_on():
    calls = 0

    def moody(design):
        nonlocal calls
        calls += 1
        if calls % 4 == 0:
            raise ExperimentFailed("the reactor tripped")
        return problems()["a"](design)

    history = simulate(study(), problems() | {"a": moody}, direction="minimise", initial=4)
    failed = [trial for trial in history.of("a") if trial.status == Status.FAILED]
    assert len(failed) == 2 and failed[0].note == "the reactor tripped"
    assert np.isfinite(history.best_so_far("a")).all()


def test_an_error_in_an_experiment_is_not_swallowed():
    def broken(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        simulate(study(), problems() | {"a": broken}, direction="minimise")


def test_sites_may_pull_in_opposite_directions():
    upside_down = problems()

    def negated(design):
        return -upside_down["a"](design)

    directions = {"a": "maximise", "b": "minimise", "c": "minimise"}
    flipped = simulate(study(), problems() | {"a": negated}, direction=directions, seed=3, initial=4)
    straight = simulate(study(), problems(), direction="minimise", seed=3, initial=4)
    assert [t.executed for t in flipped.trials] == [t.executed for t in straight.trials]


def test_all_equal_outcomes_run_through():
    history = simulate(study(3), dict.fromkeys(SITES, lambda _: 1.0), direction="maximise", initial=3)
    assert all(trial.y == 1.0 for trial in history.trials)


def test_a_missing_experiment_is_named():
    with pytest.raises(CbocError, match="c has none"):
        simulate(study(), {"a": abs, "b": abs}, direction="minimise")


def test_a_site_that_is_not_there_is_named():
    for wrong in (
        {"experiments": problems() | {"z": abs}},
        {"direction": dict.fromkeys("abcz", "minimise")},
        {"data": {"z": 1}},
    ):
        with pytest.raises(CbocError, match="'z' is no site"):
            simulate(study(), **({"experiments": problems(), "direction": "minimise"} | wrong))
    with pytest.raises(CbocError, match="needs a direction, 'maximise' or 'minimise'; c has none"):
        simulate(study(), problems(), direction={"a": "minimise", "b": "minimise"})


def test_stopping_by_utility_ends_early_and_resumes(tmp_path):
    options = {"stop_below": 0.05, "horizon": 12}
    history = run(**options)
    assert len(history.trials) < 3 * 16
    assert run(**options, journal=tmp_path / "j.jsonl").trials == run(**options, journal=tmp_path / "j.jsonl").trials


def test_history_exports_natural_units(tmp_path):
    history = run(horizon=2)
    frame = history.to_frame()
    assert len(frame) == 18 and {"x1", "x2", "y", "explanation"} <= set(frame.columns)
    with (tmp_path / "h.csv").open("w") as file:
        history.to_csv(file)
    lines = (tmp_path / "h.csv").read_text().splitlines()
    assert lines[0].startswith("site,trial,round,status,decision,x1,x2,y") and len(lines) == 19
    problem = problems()[frame.site[5]]
    assert problem({"x1": frame.x1[5], "x2": frame.x2[5]}) == pytest.approx(frame.y[5])


@pytest.mark.parametrize("are_alike", [True, False])
def test_among_options_and_whole_numbers_only_sites_that_are_alike_go_together(are_alike):
    names = tuple(f"lab-{k}" for k in range(6))
    space = Space({"a": (0.0, 1.0), "b": (0.0, 1.0), "n": Int(1, 6), "s": Choice(["x", "y", "z"])})
    drawn = np.random.default_rng(0)
    optima = space.sample(6, drawn, "uniform") if not are_alike else np.repeat(space.sample(1, drawn), 6, axis=0)
    experiments = {
        name: lambda design, x=optima[k]: -float(((space.to_unit(design) - x) ** 2).sum())
        for k, name in enumerate(names)
    }
    history = simulate(Study(space, names, 6), experiments, direction="maximise", initial=8)
    together = [trial.pull is not None and trial.keeps is None for trial in history.trials if trial.round in (4, 5)]
    assert np.mean(together) > 0.8 if are_alike else np.mean(together) < 0.2
