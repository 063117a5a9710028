"""A site leaves its study: the others go on, and what it has to run may still be told."""

import pytest

from cboc import CbocError, Finished, Ledger, Policy, Site, Study, Unreachable, Waiting
from cboc.exchange.network import Standing
from cboc.site.ending import Left
from cboc.site.trial import Status

SPACE = {"a": (0.0, 1.0)}
NO_TURNS = "site 'x' has left study 'study', and takes no more turns; a new invitation brings it back"


def begun(pace, initial=0, **options):
    study = Study(SPACE, ("x", "y"), 4, pace=pace, name="study", **options)
    ledger = Ledger(study)
    policy = Policy(initial=initial, seed=1)
    return ledger, *(Site(study, name, ledger, direction="minimise", policy=policy) for name in study.sites)


def test_the_others_go_on_and_what_is_open_may_still_be_told():
    ledger, x, y = begun("rounds")
    y.propose()
    trial = x.ask()
    assert x.leave() == "" and x.leave() == ""
    assert x.has_left and not x.is_finished and x.to_run == [trial]
    assert x.ask() == trial  # it is still there
    with pytest.raises(Left, match=NO_TURNS):
        x.ask(2)
    x.tell(trial, 0.5)
    assert x.is_finished and x.best.y == 0.5
    for ask in (x.ask, x.propose):
        with pytest.raises(Finished, match=NO_TURNS):
            ask()
    assert len(x.trials) == 1
    y.tell(y.ask(), 0.25)
    assert y.ask().turn.answer.weights == (0.0, 1.0)
    assert ledger.standing() == Standing(2, ("y",))


def test_a_proposal_that_nobody_has_answered_waits_until_it_comes_back():
    ledger, x, y = begun("rounds")
    with pytest.raises(Waiting):
        x.ask()
    x.leave()
    assert x.is_finished  # nothing is to be run
    with pytest.raises(Left):
        x.ask()
    y.propose()
    assert x.trials[0].status is Status.SUBMITTED and ledger.round == 1
    back = Site(x.study, "x", ledger, direction="minimise", policy=x.policy, trials=x.trials)
    ledger.come_back("x")
    assert back.ask().turn.answer.snapshot == 0
    back.tell(back.to_run[0], 0.5)
    with pytest.raises(Waiting):
        back.ask()
    assert ledger.missing() == ["y"]


def test_at_the_free_pace_what_it_has_shared_stays():
    ledger, x, y = begun("free")
    x.tell(x.ask(), 0.5)
    x.ask()
    before = ledger.news("y").others
    x.leave()
    assert ledger.news("y").others == before != ()
    assert y.ask().turn.answer.weights[0] > 0.0


def test_who_has_left_is_not_asked_to_accept_a_change():
    ledger, x, _ = begun("free")
    x.leave()
    ledger.amend(Study(SPACE, ("x", "y"), 9, pace="free", name="study", version=1))
    assert x.offered() is None
    with pytest.raises(Left):
        x.accept()


class Away(Ledger):
    """A ledger that cannot be told for a while."""

    is_away = True

    def leave(self, site):
        if self.is_away:
            raise Unreachable("nobody answers.")
        super().leave(site)


def test_what_was_not_heard_is_said_again():
    study = Study(SPACE, ("x", "y"), 4, pace="rounds")
    ledger = Away(study)
    x = Site(study, "x", ledger, direction="minimise", policy=Policy(initial=1))
    trial = x.ask()
    assert x.leave() == "nobody answers." and x.has_left
    assert x.ask() == trial
    x.tell(trial, 0.5)
    with pytest.raises(Left, match=r"The others have not heard that yet \(nobody answers\)") as left:
        x.ask()
    assert left.value.trouble and ledger.missing() == ["x", "y"]
    ledger.is_away = False
    with pytest.raises(Left, match="brings it back.$") as left:
        x.ask()
    assert not left.value.trouble and ledger.missing() == ["y"]


def test_what_cannot_be_kept_has_not_happened():
    class Full:
        is_kept = False

        def keep(self):
            raise CbocError("the disk is full.")

    study = Study(SPACE, ("x", "y"), 4, pace="rounds")
    ledger = Ledger(study)
    x = Site(study, "x", ledger, direction="minimise", departure=Full())
    with pytest.raises(CbocError, match="the disk is full"):
        x.leave()
    assert ledger.missing() == ["x", "y"] and not x.has_left
