import pytest

import cboc
from cboc import CbocError, Finished, Ledger, Policy, Site, Study, Unreachable, Waiting
from cboc.exchange.network import Conflict, NotSubmitted
from cboc.exchange.wire import Misfit


@pytest.mark.parametrize("kind", [CbocError, Waiting, Unreachable, Finished, Conflict, NotSubmitted, Misfit])
def test_no_error_of_ours_is_mistaken_for_a_wrong_value(kind):
    """So that `except ValueError` around somebody's own arithmetic does not swallow that a site has to wait."""
    assert issubclass(kind, CbocError) and not issubclass(kind, ValueError)


def test_whoever_guards_against_wrong_values_still_hears_that_others_are_awaited():
    study = Study({"a": (0.0, 1.0)}, ["x", "y"], 3, pace="rounds")
    site = Site(study, "x", Ledger(study), direction="maximise", policy=Policy(initial=0))

    def careful():
        try:
            return site.ask()
        except ValueError:
            return None

    with pytest.raises(Waiting, match="round 0 is still open"):
        careful()


def test_what_a_site_may_raise_is_exported():
    assert {"CbocError", "Finished", "Unreachable", "Waiting"} <= set(cboc.__all__)
    assert cboc.Unreachable is Unreachable and cboc.Waiting is Waiting and cboc.Finished is Finished


@pytest.mark.parametrize("name", cboc.__all__)
def test_whatever_is_promised_is_there(name):
    assert getattr(cboc, name) is not None
