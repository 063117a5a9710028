"""What experiments have cost and taken, in a sentence."""

import pytest

from cboc import Ledger, Policy, Site, Study
from cboc.advice.advice import advise
from cboc.advice.spending import Spending, spending


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (Spending((), (), 5), ""),
        (Spending((7.0,), (), 0), "1 experiment cost 7."),
        (
            Spending((7.0, 9.0), (), 4),
            "2 experiments cost 16, 8 each. The 4 that are left would cost about 32.",
        ),
        (
            Spending((), (7200.0, 9000.0, 90000.0), 4),
            "3 experiments took 2.5 hours from design to result in the median. "
            "The 4 that are left would take about 10 hours if run one after the other.",
        ),
        (
            Spending((1.0,), (30.0,), 10),
            "1 experiment cost 1 and took 30 seconds from design to result in the median. "
            "The 10 that are left would cost about 10 and take about 5 minutes if run one after the other.",
        ),
        (
            Spending((1.0,), (30.0, 30.0, 90.0), 0),
            "1 experiment cost 1 and 3 experiments took 30 seconds from design to result in the median.",
        ),
        (Spending((), (259200.0,), 0), "1 experiment took 3 days from design to result in the median."),
        (
            Spending((), (1200.0, 1320.0, 4000.0), 408, wells=96),
            "3 plates took 22 minutes from the first design to the last result in the median. The 408 that are left, "
            "5 plates of up to 96, would take about 110 minutes if run one after the other.",
        ),
        (
            Spending((4.0, 6.0), (), 10, limit=100.0),
            "2 experiments cost 10, 5 each. The 10 that are left would cost about 50. "
            "The limit of 100 leaves 90, enough for 10 more.",
        ),
        (
            Spending((4.0, 6.0), (), 10, limit=38.0, uncounted=3),
            "2 experiments cost 10, 5 each. The 10 that are left would cost about 50. "
            "The limit of 38 leaves 28, enough for about 5 more. 3 experiments whose cost was not told do not count.",
        ),
        (
            Spending((3.0,), (), 600),
            "1 experiment cost 3. The 600 that are left would cost about 1800.",
        ),
        (Spending((4.0, 6.0), (), 0, limit=9.0), "2 experiments cost 10, 5 each. The limit of 9 is reached."),
        (Spending((), (), 10, limit=9.0, uncounted=1), "No cost was told, so the limit of 9 has no effect."),
        (Spending((), (), 10, limit=9.0), ""),
    ],
)
def test_in_a_sentence(given, sentence):
    assert given.sentence == sentence


def test_what_a_site_has_told_is_counted_and_a_clock_that_jumps_back_is_not():
    now = iter([0.0, 60.0, 100.0, 40.0, 200.0])  # the second experiment ends before it has begun
    study = Study({"a": (0.0, 1.0)}, ["x"], 3, rule="identity")
    site = Site(study, "x", Ledger(study), direction="minimise", policy=Policy(initial=2), clock=lambda: next(now))
    for cost in (4.0, None):
        site.tell(site.ask(), 1.0, cost=cost)
    site.ask()
    found = spending(site)
    assert found == Spending((4.0,), (60.0,), 3, open=1, uncounted=1)
    assert advise(site).spending == found


def plates(wells, plate_hours=20.0, horizon=30, **policy):
    """A site that runs plates: an hour passes between two wells that are read, so a plate takes longer than a well."""
    now = [0.0]
    study = Study({"a": (0.0, 1.0), "b": (0.0, 1.0)}, ["x"], horizon, rule="identity")
    how = Policy(initial=wells[0], **policy)
    site = Site(study, "x", Ledger(study), direction="minimise", policy=how, clock=lambda: now[0])
    for count in wells:
        plate = site.ask(count)
        for well, trial in enumerate(plate):
            now[0] += 3600.0 if well else plate_hours * 3600.0
            site.tell(trial, float(trial.x.sum()), cost=2.0)
    return site


def test_time_is_counted_in_plates_where_experiments_are_run_on_plates():
    site = plates([4, 8, 8, 1])
    found = spending(site)
    assert found.wells == 8 and found.seconds == (23 * 3600.0, 27 * 3600.0, 27 * 3600.0) and found.left == 13
    assert "The 13 that are left, 2 plates of up to 8, would cost about 26 and take about 2.25 days" in found.sentence
    site.ask(8)  # a plate that is under way has taken no time yet
    assert spending(site).seconds == found.seconds and spending(site).left == 13
    assert spending(plates([4, 8])).wells == 8  # of two sizes, one that there is
    single = spending(plates([1, 1, 1, 1]))
    assert single.wells == 1 and single.seconds == (72000.0,) * 4


def test_without_a_clock_there_are_no_times():
    study = Study({"a": (0.0, 1.0)}, ["x"], 30, rule="identity")
    site = Site(study, "x", Ledger(study), direction="minimise", policy=Policy(initial=4))
    for trial in site.ask(4):
        site.tell(trial, 1.0)
    assert spending(site) == Spending((), (), 30, wells=4, uncounted=4)


def test_initial_experiments_that_were_under_way_together_count_as_a_plate():
    now = [0.0]
    study = Study({"a": (0.0, 1.0)}, ["x"], 30, rule="identity")
    site = Site(study, "x", Ledger(study), direction="minimise", policy=Policy(initial=4), clock=lambda: now[0])
    for trial in [site.ask(1)[0] for _ in range(4)]:
        now[0] += 60.0
        site.tell(trial, 1.0)
    assert spending(site) == Spending((), (240.0,), 30, wells=4, uncounted=4)


def test_a_spent_budget_is_not_followed_by_an_advice_to_go_on():
    site = plates([4, 8, 8], most_cost=37.0)
    assert site.is_finished and advise(site).spending.left == 0
    two = Study({"a": (0.0, 1.0), "b": (0.0, 1.0)}, ["x", "y"], 30)
    x = Site(two, "x", Ledger(two), direction="minimise", policy=Policy(initial=2, most_cost=10.0))
    for trial in x.ask(2):
        x.tell(trial, float(trial.x.sum()), cost=4.0)
    plate = x.ask(4)
    assert "Go on" in advise(x).sentence
    assert (
        spending(x).warning
        == "4 open experiments would cost about 16, by the mean so far; 2 of the limit of 10 are left."
    )
    x.tell(plate[0], 0.5, cost=3.0)
    advice = advise(x)
    assert not x.is_finished and advice.sentence.startswith("Your budget is spent. One more would be in doubt")
    assert advice.spending.left == 3 and "The limit of 10 is reached." in advice.spending.sentence


def test_what_fits_into_the_limit_gives_no_warning():
    assert Spending((4.0,), (), 3, open=1, limit=8.0).warning == ""
    assert Spending((4.0,), (), 3, open=2, limit=8.0).warning.startswith("2 open experiments would cost about 8")
    assert Spending((), (), 3, open=2, limit=8.0).warning == Spending((4.0,), (), 3, open=2).warning == ""
