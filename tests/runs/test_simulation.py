import json

import numpy as np
import pytest

from cboc import (
    CbocError,
    Choice,
    Dataset,
    ExperimentFailed,
    Gate,
    Guide,
    Int,
    Measurement,
    Policy,
    Space,
    Study,
    collaborative,
    simulate,
)
from cboc.problems.synthetic import levy, sites_of
from cboc.site.trial import Status
from cboc.storage.journal import Journal, read_journal
from cboc.strategy.bayesian import Bayesian, paper
from cboc.strategy.verdict import Stance
from cboc.utility.improvement import EI

from ..storage.tampering import reseal_lines

SITES = ("a", "b", "c")


def problems(seed=0):
    return dict(zip(SITES, sites_of(levy(2), 3, np.random.default_rng(seed)), strict=True))


def study(horizon=5, **options):
    return Study(levy(2).space, SITES, horizon, **({"pace": "rounds"} | options))


def run(horizon=5, rule="leader", shares_best=False, policy=None, gate=None, guide=None, **options):
    agreed = study(horizon, rule=rule, shares_best=shares_best)
    how = Policy(**({"strategy": collaborative(gate=gate, guide=guide), "seed": 3, "initial": 4} | (policy or {})))
    return simulate(agreed, problems(), direction="minimise", policy=how, **options)


def turns(history):
    """The trials of the exchange."""
    return [trial for trial in history.trials if trial.turn is not None]


def test_every_site_spends_its_budget():
    history = simulate(study(5, budgets={"b": 3}), problems(), direction="minimise", policy=Policy(initial=4))
    assert {site: len(history.of(site)) for site in SITES} == {"a": 9, "b": 7, "c": 9}
    assert len(history.best_so_far("a")) == 6 and len(history.best_so_far("b")) == 4


def test_the_same_seed_gives_the_same_study_and_another_another():
    assert run().trials == run().trials
    assert run(policy={"seed": 4}).trials != run().trials


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
    first = [trial.answer.mix for trial in turns(history) if trial.turn.number == 0]
    np.testing.assert_allclose(first, [first[0]] * 3, atol=1e-8)


def test_best_designs_are_shared_where_the_study_says_so_and_draw_the_proposals():
    alone, shared = run(rule="identity"), run(rule="identity", shares_best=True, guide=Guide(patience=0.0))
    for trial in turns(alone):
        assert not trial.answer.others and not trial.turn.bests
        assert trial.turn.note.stance is None and trial.turn.note.pull == 0.0
    for site in SITES:
        taken = [trial for trial in turns(shared) if trial.site == site]
        known = np.minimum.accumulate([trial.y for trial in shared.of(site)])
        for trial in taken:
            assert len(trial.answer.others) == len(SITES) - 1
            assert trial.turn.bests == (next(t.executed for t in shared.of(site) if t.y == known[trial.number - 1]),)
        first = taken[0].turn.note  # nobody's best is known before the first round closes
        assert first.stance is Stance.DOUBT and first.keeps == 0.5 and not first.pull
    assert any(trial.turn.note.pull for trial in turns(shared))
    assert [t.proposed for t in alone.trials] != [t.proposed for t in shared.trials]
    unguided = run(rule="identity", shares_best=True, guide=Guide(0.0, patience=0.0))
    assert [t.proposed for t in alone.trials] == [t.proposed for t in unguided.trials]


def test_in_doubt_a_site_follows_what_keeps_half_of_its_utility():
    history = run(horizon=10, shares_best=True, guide=Guide(least=1e9, patience=0.0))
    taken = turns(history)
    assert {trial.decision for trial in taken} == {"followed", "declined"}
    assert not any(trial.turn.note.pull for trial in taken)
    for trial in taken:
        keeps_half = trial.answer.verdict.log_worth >= trial.turn.note.log_worth + np.log(0.5)
        assert (trial.decision == "followed") == keeps_half
    stances = [dict(trial.origin(SITES).numbers)["stance"] for trial in taken]
    assert stances[0] == "in doubt, because nobody's best design is known yet"
    assert stances[-1] == "in doubt, because there is too little evidence that the sites' best designs lie together"


def test_in_doubt_a_site_borrows_while_that_pays():
    history = run(horizon=10, shares_best=True, guide=Guide(least=1e9))
    borrowed = [trial for trial in turns(history) if trial.decision == "borrowed"]
    assert {trial.site for trial in borrowed} == set(SITES)
    for trial in borrowed:
        others = np.array(trial.answer.others)
        earlier = np.array([each.executed for each in history.of(trial.site)[: trial.number]])
        assert any((np.array(trial.executed) == other).all() for other in others)
        assert np.abs(earlier - trial.executed).max(axis=1).min() > 0.02
        assert trial.is_shared and "to see whether it is good here as well" in trial.explain(SITES)
    never = run(horizon=10, shares_best=True, guide=Guide(least=1e9, patience=0.0))
    assert not [trial for trial in turns(never) if trial.decision == "borrowed"]


def test_the_gate_is_asked_in_doubt_too():
    history = run(shares_best=True, guide=Guide(least=1e9, patience=0.0), gate=Gate(0.999))
    for trial in turns(history):
        if trial.answer.mix != trial.proposed:
            is_enough = trial.answer.verdict.log_worth >= trial.turn.note.log_worth + np.log(0.999)
            assert (trial.decision == "followed") == is_enough


def test_who_wants_no_mix_in_doubt_works_alone():
    alone, doubtful = run(rule="identity"), run(shares_best=True, guide=Guide(least=1e9, doubt=2.0))
    taken = turns(doubtful)
    assert {trial.decision for trial in taken} == {"contradicted"}
    assert any(trial.answer.mix != trial.proposed for trial in taken)
    assert [t.executed for t in doubtful.trials] == [t.executed for t in alone.trials]
    assert taken[0].explain(SITES) == "Your own proposal: nobody's best design is known yet."
    near = "Your own proposal: the sites' best designs are not clearly close to each other yet."
    assert taken[-1].explain(SITES) == near


def test_the_gate_compares_what_the_proposals_were_chosen_by():
    asked = []

    def gate(mix, own):
        asked.append((mix, own))
        return mix >= own - 2.0

    history = run(shares_best=True, gate=gate, guide=Guide(patience=0.0))
    drawn = [trial for trial in turns(history) if trial.turn.note.pull]
    assert drawn and all(trial.turn.note.log_odds >= Guide().least for trial in drawn)
    bonuses = []
    for trial in drawn:
        verdict, note = trial.answer.verdict, trial.turn.note
        assert (verdict.log_worth + verdict.pull, note.log_worth + note.pull) in asked
        bonuses.append(verdict.pull)
    assert all(bonus > -1e-9 for bonus in bonuses) and any(bonus > 0.01 for bonus in bonuses)


def test_a_guide_of_ones_own_that_returns_no_counsel_is_named():
    with pytest.raises(CbocError, match="a guide has to return a Counsel"):
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


@pytest.mark.parametrize("pace", ["free", "rounds"])
@pytest.mark.parametrize("options", [{"plate": 3}, {"plate": 2, "same": ["x1"]}, {"plate": 3, "durations": 2.0}])
def test_with_plates_a_journal_cut_after_any_line_continues_to_the_same_end(tmp_path, pace, options):
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"

    def simulated(path):
        policy = Policy(initial=4, seed=1)
        return simulate(study(pace=pace), problems(), direction="minimise", policy=policy, journal=path, **options)

    expected = list(simulated(whole).rows())
    lines = whole.read_text().splitlines(keepends=True)
    for many in range(1, len(lines), 3):
        cut.write_text("".join(lines[:many]))
        assert list(simulated(cut).rows()) == expected, f"cut after {many} of {len(lines)} lines"


def test_durations_that_are_refused_begin_no_journal(tmp_path):
    with pytest.raises(CbocError, match="takes a time above 0"):
        run(durations=-1.0, journal=tmp_path / "j.jsonl")
    assert not (tmp_path / "j.jsonl").exists()


def test_a_finished_journal_is_only_read(tmp_path):
    journal = tmp_path / "run.jsonl"
    run(journal=journal)
    before = journal.read_bytes()
    assert run(journal=journal).trials == run().trials
    assert journal.read_bytes() == before


def test_another_studys_journal_is_refused(tmp_path):
    run(journal=tmp_path / "run.jsonl")
    with pytest.raises(CbocError, match="belongs to another study .it differs in: policy"):
        run(journal=tmp_path / "run.jsonl", policy={"seed": 99})
    with pytest.raises(CbocError, match="differs in: study"):
        run(journal=tmp_path / "run.jsonl", horizon=6)


def measured_before(scale=1.0):
    X = np.random.default_rng(1).random((3, 2))
    return {"a": Dataset(X, scale * X.sum(axis=1), direction="minimise")}


@pytest.mark.parametrize(
    ("other", "differs"),
    [
        ({"policy": {"strategy": paper()}}, "policy"),
        ({"policy": {"strategy": collaborative(Bayesian(EI.on))}}, "policy"),
        ({"policy": {"stop_below": 0.5}}, "policy"),
        ({"guide": Guide(0.5)}, "policy"),
        ({"gate": lambda mix, own: mix >= own - 1.0}, "policy"),
        ({"data": {}}, "data"),
        ({"data": measured_before(2.0)}, "data"),
    ],
    ids=["strategy", "utility", "threshold", "guide", "gate", "no data", "other data"],
)
def test_a_journal_is_not_continued_with_another_strategy_or_other_data(tmp_path, other, differs):
    journal = tmp_path / "run.jsonl"
    first = {"data": measured_before(), "gate": lambda mix, own: mix >= own - 2.0}
    expected = run(journal=journal, **first).trials
    before = journal.read_bytes()
    with pytest.raises(CbocError, match=rf"belongs to another study \(it differs in: {differs}\); choose another file"):
        run(journal=journal, **first | other)
    assert journal.read_bytes() == before
    again = {"data": measured_before(), "gate": lambda mix, own: mix >= own - 2.0}
    assert run(journal=journal, **again).trials == expected


def test_a_setting_that_is_refused_begins_no_journal(tmp_path):
    with pytest.raises(CbocError, match="initial is a whole number"):
        run(journal=tmp_path / "run.jsonl", policy={"initial": -1})
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
        read_journal(reseal_lines(path))


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [("answer", "others", [[0.1]]), (None, "bests", [[0.1, 0.2, 0.3]]), ("note", "keeps", "half")],
)
def test_a_trial_that_no_site_wrote_is_damage(tmp_path, part, field, value):
    path = tmp_path / "run.jsonl"
    run(journal=path, shares_best=True)
    lines = path.read_text().splitlines()
    row = json.loads(lines[-1])
    (row["turn"] if part is None else row["turn"][part])[field] = value
    path.write_text("\n".join([*lines[:-1], json.dumps(row)]) + "\n")
    with pytest.raises(CbocError, match="is damaged"):
        read_journal(reseal_lines(path))


def test_a_failing_experiment_is_recorded_and_the_study_goes_on():
    calls = 0

    def moody(design):
        nonlocal calls
        calls += 1
        if calls % 4 == 0:
            raise ExperimentFailed("the reactor tripped")
        return problems()["a"](design)

    history = simulate(study(), problems() | {"a": moody}, direction="minimise", policy=Policy(initial=4))
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
    policy = Policy(seed=3, initial=4)
    flipped = simulate(study(), problems() | {"a": negated}, direction=directions, policy=policy)
    straight = simulate(study(), problems(), direction="minimise", policy=policy)
    assert [t.executed for t in flipped.trials] == [t.executed for t in straight.trials]


def test_all_equal_outcomes_run_through():
    history = simulate(study(3), dict.fromkeys(SITES, lambda _: 1.0), direction="maximise", policy=Policy(initial=3))
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
        with pytest.raises(CbocError, match="'z' is not a site"):
            simulate(study(), **({"experiments": problems(), "direction": "minimise"} | wrong))
    with pytest.raises(CbocError, match="needs a direction, 'maximise' or 'minimise'; c has none"):
        simulate(study(), problems(), direction={"a": "minimise", "b": "minimise"})


def test_stopping_by_utility_ends_early_and_resumes(tmp_path):
    options = {"policy": {"stop_below": 0.05}, "horizon": 12}
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
    for path in (tmp_path / "again.csv", str(tmp_path / "text.csv")):
        history.to_csv(path)
        assert (tmp_path / path).read_bytes() == (tmp_path / "h.csv").read_bytes()
    with pytest.raises(CbocError, match="cannot write .*nowhere/h.csv: No such file or directory; choose another"):
        history.to_csv(tmp_path / "nowhere" / "h.csv")
    assert lines[0].startswith("site,trial,turn,status,decision,x1,x2,y") and len(lines) == 19
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
    history = simulate(
        Study(space, names, 6, pace="rounds"), experiments, direction="maximise", policy=Policy(initial=8)
    )
    late = [trial for trial in turns(history) if trial.turn.number in (4, 5)]
    together = [trial.turn.note.stance is Stance.TOGETHER for trial in late]
    assert np.mean(together) > 0.8 if are_alike else np.mean(together) < 0.2


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"experiments": levy(2)}, "experiments is a dictionary with a function for every site; this is"),
        ({"direction": None}, "direction is 'maximise' or 'minimise', or one of these by site; this is None"),
        ({"direction": "up"}, "unknown direction 'up'"),
        ({"data": 3}, "data is a dictionary with a Dataset for every site that has one; this is 3"),
        ({"data": {"a": 3}}, "a site's data is a Dataset; .* this is 3"),
        ({"policy": 3}, r"a simulation's policy is a Policy\(...\); this is 3"),
        ({"journal": 3}, "journal is the path of a file; this is 3"),
        ({"journal": "/proc/x"}, "cannot write /proc/x: .*; choose another file"),
    ],
)
def test_what_is_no_argument_of_a_simulation_is_named(given, complaint):
    with pytest.raises(CbocError, match=complaint):
        simulate(**{"study": study(2), "experiments": problems(), "direction": "minimise"} | given)


# --------------------------------------------------------------------------------------------------------------- costs


def costly(site, prices):
    """An experiment that costs a price, also where it fails."""
    count = 0

    def measure(design):
        nonlocal count
        count += 1
        y = problems()[site](design)
        if count % 5 == 0:
            raise ExperimentFailed("the reactor tripped", cost=0.5)
        return Measurement(y, cost=prices[site])

    return measure


@pytest.mark.parametrize("pace", ["free", "rounds"])
@pytest.mark.parametrize("plate", [1, 3])
def test_a_limit_to_costs_ends_a_site_and_the_others_go_on(pace, plate):
    """The cheap one takes its 12 turns, the dear ones stop when they have spent 10, and nobody waits for them."""
    prices = {"a": 3.0, "b": 0.1, "c": 1.5}
    policy = Policy(seed=3, initial=4, most_cost=10.0)
    experiments = {site: costly(site, prices) for site in SITES}
    history = simulate(study(12, pace=pace), experiments, direction="minimise", policy=policy, plate=plate)
    spent = {site: sum(trial.cost for trial in history.of(site)) for site in SITES}
    ran = {site: len(history.of(site)) - policy.initial for site in SITES}
    assert ran["b"] == 12 and spent["b"] < 10.0
    for site in ("a", "c"):
        assert 10.0 <= spent[site] <= 10.0 + plate * prices[site] and ran[site] < 12
    failed = [trial for trial in history.trials if trial.status is Status.FAILED]
    assert failed and {trial.cost for trial in failed} == {0.5}


@pytest.mark.parametrize("pace", ["free", "rounds"])
def test_with_a_limit_to_costs_an_interrupted_study_continues_bit_by_bit(tmp_path, pace):
    prices = {"a": 3.0, "b": 0.1, "c": 1.5}
    policy = Policy(seed=3, initial=3, most_cost=10.0)

    def whole(interrupted=None, **options):
        def measure(site):
            def measure(design):
                if interrupted is not None and interrupted():
                    raise Interrupted
                return Measurement(problems()[site](design), cost=prices[site])

            return measure

        experiments = {site: measure(site) for site in SITES}
        return simulate(study(8, pace=pace), experiments, direction="minimise", policy=policy, **options).trials

    expected = whole()
    for after in range(2, len(expected), 3):
        steps = iter(range(len(expected) + 1))
        with pytest.raises(Interrupted):
            whole(lambda: next(steps) >= after, journal=tmp_path / f"{after}.jsonl")  # noqa: B023
        assert whole(journal=tmp_path / f"{after}.jsonl") == expected


def test_a_limit_to_costs_that_nobody_tells_says_that_it_has_no_effect(tmp_path):
    policy = Policy(seed=3, initial=4, most_cost=10.0)
    with pytest.raises(CbocError, match=r"most_cost = 10 has no effect where .* as that of 'a'; return Measurement"):
        simulate(study(), problems(), direction="minimise", policy=policy, journal=tmp_path / "run.jsonl")
    assert len(read_journal(tmp_path / "run.jsonl")[1]) >= 1  # what was measured is kept
