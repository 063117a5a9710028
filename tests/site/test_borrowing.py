"""Whoever joins when others have found something begins with that."""

import numpy as np
import pytest

from cboc import Dataset, Ledger, Policy, Site, Study
from cboc.advice.counterfactual import play
from cboc.exchange.messages import News, Proposal
from cboc.exchange.network import Unreachable
from cboc.site.trial import Decision, Trial
from cboc.strategy.bayesian import Bayesian

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
BESTS = [(0.5, 0.5), (0.6, 0.5), (0.1, 0.9), (0.55, 0.5)]
SITES = ("late", "s0", "s1", "s2", "s3")


def study(pace="free", **options):
    return Study(SPACE, SITES, 6, pace=pace, **options)


def ledger_of(agreed, bests=BESTS):
    """A ledger in which the others have told their best designs."""
    ledger = Ledger(agreed)
    for name, best in zip(agreed.sites[1:], bests, strict=False):
        ledger.submit(Proposal(name, 0, (best,), (best,) if agreed.shares_best else ()))
    if agreed.pace.waits:
        ledger.close()
    return ledger


def late(agreed=None, network=None, **options):
    agreed = agreed or study()
    given = {"direction": "minimise", "policy": Policy(initial=6, seed=2)}
    return Site(agreed, "late", network or ledger_of(agreed), **(given | options))


def designs(site, count=6):
    trials = []
    for _ in range(count):
        trials.append(site.ask())
        site.tell(trials[-1], 1.0)
    return trials


def test_it_begins_with_the_best_design_nearest_to_all_and_with_one_per_parameter():
    trials = designs(late())
    assert [trial.decision for trial in trials] == [Decision.BORROWED] * 2 + [Decision.INITIAL] * 4
    assert trials[0].x == pytest.approx([0.55, 0.5], abs=1e-9) and tuple(trials[1].x) in {(0.5, 0.5), (0.6, 0.5)}
    assert trials[0].is_shared and not trials[2].is_shared
    assert trials[0].explain(SITES) == "Initial design: the best of another site, of those known when you began."
    assert Trial.from_row(trials[0].to_row()) == trials[0]


def test_a_plate_and_replicates_of_what_was_borrowed():
    plate = late().ask(8, replicates=2)
    assert [trial.decision for trial in plate] == [Decision.BORROWED] * 4 + [Decision.INITIAL] * 4
    assert len({tuple(trial.x) for trial in plate}) == 4


def test_what_the_site_has_run_is_not_borrowed_again():
    near = [[0.55, 0.51], [0.5, 0.5], [0.6, 0.5]]
    site = late(data=Dataset(near, [1.0, 2.0, 3.0], direction="minimise"), policy=Policy(initial=8))
    trials = designs(site, 5)
    assert [trial.decision for trial in trials] == [Decision.BORROWED] + [Decision.INITIAL] * 4
    assert trials[0].x == pytest.approx([0.1, 0.9], abs=1e-9)


def test_nothing_is_borrowed_by_whoever_begins_with_the_others_or_does_not_share():
    """Nor in rounds, which stay the paper's."""
    for site in (late(network=Ledger(study())), late(study(shares_best=False)), late(study("rounds"))):
        assert {trial.decision for trial in designs(site)} == {Decision.INITIAL}


def test_whoever_has_begun_alone_borrows_nothing():
    """The others' first best designs are no better than its own space-filling ones."""
    agreed = study()
    site = late(agreed, Ledger(agreed))
    site.tell(site.ask(), 1.0)
    site.network = ledger_of(agreed)
    assert {trial.decision for trial in designs(site, 5)} == {Decision.INITIAL}


def test_own_parameters_are_filled_in_and_constraints_hold():
    agreed = Study({"a": (0.0, 1.0), "b": (0.0, 1.0)}, SITES, 6)
    site = late(agreed, own={"speed": (1.0, 9.0)})
    first, second = site.ask(2)
    assert first.x[:2] == pytest.approx([0.55, 0.5], abs=1e-9) and first.x[2] != second.x[2]


class Down(Ledger):
    def news(self, site: str) -> News:  # noqa: ARG002
        raise Unreachable("nobody answers")


def test_while_nobody_answers_it_begins_alone_unless_it_must_not():
    assert late(network=Down(study())).ask().decision is Decision.INITIAL
    with pytest.raises(Unreachable):
        late(network=Down(study()), policy=Policy(initial=6, goes_on_alone=False)).ask()


def test_alone_would_have_begun_without_what_was_borrowed():
    """The course alone, which advice shows, is one of the site's own designs."""
    site = late()
    for _ in range(7):
        trial = site.ask()
        site.tell(trial, float(((trial.x - 0.3) ** 2).sum()))
    solo = play(site, Bayesian().surrogate(site.mind.situation()))
    assert len(solo.alone) == 1 + 2 + 1  # what is known at first, then for each that was borrowed or of a turn
    assert np.isfinite(solo.alone).all()


@pytest.mark.parametrize("same", [["a"], ["a", "b"]])
def test_a_plate_whose_wells_share_something_borrows_only_what_fits_and_its_wells_differ(same):
    agreed = Study({"a": (0.0, 1.0), "b": (0.0, 1.0), "c": (0.0, 1.0)}, ("x", "y", "z", "late"), 200)
    ledger = Ledger(agreed)
    for name, best in zip("xyz", ((0.2, 0.3, 0.4), (0.2, 0.8, 0.4), (0.7, 0.3, 0.9)), strict=True):
        ledger.submit(Proposal(name, 0, [best], [best]))
    site = Site(agreed, "late", ledger, direction="minimise")
    plate = site.ask(24, same=same)
    assert len({trial.proposed for trial in plate}) == 24
    borrowed = [trial.proposed for trial in plate if trial.decision is Decision.BORROWED]
    assert borrowed and all(any(np.allclose(x, best, atol=0.02) for best in site.mind.heard) for x in borrowed)
