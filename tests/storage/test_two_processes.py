"""Two processes that ask for one site at once: what one of them has done, the other goes on with."""

import pytest

from cboc import CbocError, Ledger, Policy, Site, Study, Waiting
from cboc.site.trial import Status
from cboc.storage.sitefile import SiteFile

STUDY = Study({"a": (0.0, 1.0)}, ("x", "y"), 3)


@pytest.fixture
def twice(tmp_path):
    """One site in two processes, both opened before either has asked; and the network that they share."""
    ledger = Ledger(STUDY)
    SiteFile(tmp_path / "x.db", is_made=True)
    files = [SiteFile(tmp_path / "x.db") for _ in range(2)]
    policy = Policy(initial=0)
    return ledger, [Site(STUDY, "x", ledger, direction="minimise", policy=policy, save=file.keep) for file in files]


def test_the_second_goes_on_with_what_the_first_has_submitted(twice):
    ledger, (first, second) = twice
    for site in (first, second):
        with pytest.raises(Waiting):
            site.ask()
    assert first.trials == second.trials and second.trials[0].status is Status.SUBMITTED
    Site(STUDY, "y", ledger, direction="minimise", policy=Policy(initial=0)).propose()
    assert first.ask() == second.ask() and second.ask().status is Status.PENDING


def test_the_second_goes_on_with_what_the_first_is_to_run(twice):
    ledger, (first, second) = twice
    first.propose()
    Site(STUDY, "y", ledger, direction="minimise", policy=Policy(initial=0)).propose()
    assert second.ask() == first.ask()


def test_what_is_told_is_not_taken_back(twice):
    ledger, (first, second) = twice
    first.propose()
    Site(STUDY, "y", ledger, direction="minimise", policy=Policy(initial=0)).propose()
    told = first.tell(first.ask(), 0.5)
    with pytest.raises(CbocError, match="another process has changed trial 0"):
        second.ask()
    assert first.trials == [told]
