"""Experiments that take time: who waits for whom, and that a run goes on as it would have."""

import numpy as np
import pytest
from scipy import stats

from cboc import CbocError, Policy, Study, simulate
from cboc.exchange.study import Study as Agreement
from cboc.experiment.durations import Durations, LogNormal

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
SITES = ("slow", "quick")


def bowl(design):
    return (design["a"] - 0.3) ** 2 + (design["b"] - 0.6) ** 2


EXPERIMENTS = dict.fromkeys(SITES, bowl)


def run(pace="free", horizon=4, durations=None, experiments=EXPERIMENTS, **options):
    study = Study(SPACE, SITES, horizon, pace=pace)
    given = {"slow": 3.0, "quick": 1.0} if durations is None else durations
    policy = Policy(initial=2, seed=5)
    return simulate(study, experiments, direction="minimise", policy=policy, durations=given, **options)


def times(history, site):
    return [(trial.began, trial.ended) for trial in history.of(site)]


def test_at_the_free_pace_nobody_waits():
    history = run()
    assert times(history, "quick") == [(float(t), t + 1.0) for t in range(6)]
    assert times(history, "slow") == [(3.0 * t, 3.0 * t + 3.0) for t in range(6)]


def test_in_rounds_the_quick_one_waits_for_the_slow_one():
    """Its initial designs end at 2; the slow one's at 6; then every round takes 3."""
    history = run("rounds")
    assert times(history, "slow") == [(3.0 * t, 3.0 * t + 3.0) for t in range(6)]
    assert times(history, "quick") == [(0, 1), (1, 2), (6, 7), (9, 10), (12, 13), (15, 16)]


def test_a_calendar_changes_no_design_of_the_papers_rounds():
    study = Study(SPACE, SITES, 4, pace="rounds")
    plain = simulate(study, EXPERIMENTS, direction="minimise", policy=Policy(initial=2, seed=5))
    timed = run("rounds")
    assert [trial.executed for trial in plain.trials] == [trial.executed for trial in timed.trials]
    assert {trial.began for trial in plain.trials} == {None}


@pytest.mark.parametrize(
    ("options", "policy", "count"),
    [({}, {}, 15), ({"plate": 3, "same": ["a"]}, {}, 15), ({}, {"stop_below": 0.1}, 13)],
)
def test_what_a_site_runs_alone_does_not_depend_on_the_pace(options, policy, count):
    def alone(pace):
        study = Study(SPACE, SITES, 7, rule="identity", pace=pace, budgets={"quick": 4})
        how = Policy(initial=2, seed=5, **policy)
        times = {"slow": LogNormal(3.0, 0.4), "quick": 1.0}
        return simulate(study, EXPERIMENTS, direction="minimise", policy=how, durations=times, **options)

    free, rounds = alone("free"), alone("rounds")
    assert len(free.trials) == count
    for site in SITES:
        ran = [[(t.proposed, t.executed, t.status, t.y) for t in history.of(site)] for history in (free, rounds)]
        assert ran[0] == ran[1]
    assert free.trials != rounds.trials  # in rounds somebody waits


def test_an_answer_at_the_free_pace_names_its_arrival():
    history = run()
    arrivals = sorted((trial.answer.snapshot, trial.began, trial.site) for trial in history.trials if trial.answer)
    assert [state for state, *_ in arrivals] == list(range(8))
    assert [began for _, began, _ in arrivals] == sorted(began for _, began, _ in arrivals)


def test_a_plate_ends_with_its_last_well():
    history = run(plate=2)
    assert times(history, "quick") == [(0, 1), (0, 1), (1, 2), (1, 2), (2, 3), (2, 3)]
    assert [trial.turn and trial.turn.number for trial in history.of("quick")] == [None, None, 0, 0, 1, 1]


@pytest.mark.parametrize("pace", ["free", "rounds"])
def test_wells_share_what_they_have_to(pace, tmp_path):
    history = run(pace, plate=3, same=["a"], journal=tmp_path / "journal.jsonl")
    for site in SITES:
        for first in range(0, len(history.of(site)), 3):
            assert len({trial.x[0] for trial in history.of(site)[first : first + 3]}) == 1
    with pytest.raises(CbocError, match="belongs to another study .it differs in: same"):
        run(pace, plate=3, journal=tmp_path / "journal.jsonl")
    with pytest.raises(CbocError, match="unknown parameter 'c'"):
        run(pace, plate=3, same=["c"], journal=tmp_path / "other.jsonl")
    assert not (tmp_path / "other.jsonl").exists()


class Stop(Exception):
    pass


@pytest.mark.parametrize("pace", ["free", "rounds"])
@pytest.mark.parametrize("plate", [1, 3])
def test_what_was_interrupted_goes_on_bit_for_bit(tmp_path, pace, plate):
    durations = {"slow": LogNormal(3.0, 0.5), "quick": stats.uniform(0.5, 1.0)}
    whole = run(pace, 7, durations, plate=plate)
    for after in (1, 4, 9, 15):
        count = 0

        def stopping(design, after=after):
            nonlocal count
            count += 1
            if count > after:
                raise Stop
            return bowl(design)

        journal = tmp_path / f"{after}.jsonl"
        with pytest.raises(Stop):
            run(pace, 7, durations, dict.fromkeys(SITES, stopping), plate=plate, journal=journal)
        assert run(pace, 7, durations, plate=plate, journal=journal).trials == whole.trials


def test_a_journal_is_not_continued_with_other_durations(tmp_path):
    run(journal=tmp_path / "journal.jsonl")
    with pytest.raises(CbocError, match="belongs to another study .it differs in: durations"):
        run(durations=1.0, journal=tmp_path / "journal.jsonl")
    with pytest.raises(CbocError, match="belongs to another study .it differs in: plate"):
        run(plate=2, journal=tmp_path / "journal.jsonl")


def test_times_around_a_median():
    times = Durations(LogNormal(2.0, 0.3), Agreement(SPACE, SITES, 1), seed=1)
    found = np.array([times.of("slow", number) for number in range(2000)])
    assert np.median(found) == pytest.approx(2.0, rel=0.05) and np.log(found).std() == pytest.approx(0.3, rel=0.1)
    assert times.of("slow", 3) == times.of("slow", 3) != times.of("quick", 3)


@pytest.mark.parametrize(
    ("durations", "sentence"),
    [
        (-1.0, "takes a time above 0, and at most 1e.12; trial 0 of 'slow' would take -1"),
        (0, "takes a time above 0"),
        (float("nan"), "takes a time above 0"),
        ("long", "a duration is a number, a distribution or a function"),
        (lambda _: "soon", "takes a time above 0, and at most 1e.12; trial 0 of 'slow' would take 'soon'"),
        ({"slow": 1.0}, "durations are given for some sites only; 'quick' has none"),
        ({"slow": 1.0, "quick": 1.0, "other": 1.0}, "'other' is not a site"),
    ],
)
def test_durations_that_are_none(durations, sentence):
    with pytest.raises(CbocError, match=sentence):
        run(durations=durations)


def test_durations_may_be_written_as_in_a_study_file(tmp_path):
    written, same = {"median": 2, "spread": 0.3}, LogNormal(2, 0.3)
    expected = run(durations=same, journal=tmp_path / "journal.jsonl").trials
    assert run(durations=written).trials == expected == run(durations=dict.fromkeys(SITES, written)).trials
    assert run(durations=written, journal=tmp_path / "journal.jsonl").trials == expected  # it is the same study
    mixed = run(durations={"slow": {"median": 3}, "quick": 1.0})
    assert times(mixed, "slow") == times(run(), "slow")
    named = Study(SPACE, ("median", "spread"), 1)  # these are sites
    experiments, by_site = dict.fromkeys(named.sites, bowl), {"median": 1, "spread": 2}
    history = simulate(named, experiments, direction="minimise", durations=by_site)
    assert history.of("spread")[0].ended == 2.0


@pytest.mark.parametrize(
    ("durations", "sentence"),
    [
        ({"median": 1, "sprad": 0.2}, "a duration has a median and maybe a spread; got 'sprad'; did you mean 'spread'"),
        ({"slow": {"spread": 1}, "quick": 1.0}, "a duration has a median, such as"),
        ({"median": 0}, "the median of a duration is a number above 0"),
    ],
)
def test_a_mistake_in_a_written_duration_is_named(durations, sentence):
    with pytest.raises(CbocError, match=sentence):
        run(durations=durations)


@pytest.mark.parametrize("given", [(0.0,), (-1.0,), (1.0, -0.1), ("x",), (float("inf"),)])
def test_a_log_normal_has_a_median_and_a_spread(given):
    with pytest.raises(CbocError, match="of a duration is a number"):
        LogNormal(*given)
