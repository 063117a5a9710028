"""What experiments have cost and taken, in a sentence."""

import pytest

from cboc import Ledger, Policy, Site, Study
from cboc.advice.advice import advise
from cboc.advice.spending import Spending, spending


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (Spending((), (), 5), ""),
        (Spending((7.0,), (), 0), "1 experiment cost 7, 7 each."),
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
            "1 experiment cost 1, 1 each and took 30 seconds from design to result in the median. "
            "The 10 that are left would cost about 10 and take about 5 minutes if run one after the other.",
        ),
        (Spending((), (259200.0,), 0), "1 experiment took 3 days from design to result in the median."),
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
    assert found == Spending((4.0,), (60.0,), 3)
    assert advise(site).spending == found
