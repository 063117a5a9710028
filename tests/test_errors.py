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


def test_a_sentence_is_one_line_whatever_was_put_into_it():
    given = "expected °C, but found '5\n6\u202e7\x1b[31m\ud800'; − is fine."
    assert str(CbocError(given)) == "expected °C, but found '5\\n6\\u202e7\\x1b[31m\\ud800'; − is fine."


def test_nothing_in_a_sentence_is_endless():
    path = f"/a{'/b' * 1000}/study.toml"
    text = str(CbocError(f"cannot read {path}: no such file."))
    assert text.startswith("cannot read /a/b/b") and text.endswith("/b/study.toml: no such file.") and len(text) < 400
    assert str(CbocError(f"cannot read {path[-250:]}.")) == f"cannot read {path[-250:]}."


def test_what_a_site_may_raise_is_exported():
    assert {"CbocError", "Finished", "Unreachable", "Waiting"} <= set(cboc.__all__)
    assert cboc.Unreachable is Unreachable and cboc.Waiting is Waiting and cboc.Finished is Finished


@pytest.mark.parametrize("name", cboc.__all__)
def test_whatever_is_promised_is_there(name):
    assert getattr(cboc, name) is not None
