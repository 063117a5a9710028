"""Thought, handed in, answered: a question about a proposal that is handed in is one message."""

import json
from dataclasses import replace

import pytest

from cboc import CbocError, Ledger, Policy, Site, Study, Waiting
from cboc.exchange.network import NotSubmitted
from cboc.site.trial import Status, Trial

STUDY = Study({"a": (0.0, 1.0), "b": (-5.0, 5.0)}, ["x", "y"], 4, pace="rounds")


class Counting:
    """A network that writes down what it is asked."""

    def __init__(self, network):
        self.network, self.calls = network, []

    def submit(self, proposal):
        self.calls.append(("submit", proposal.turn))
        self.network.submit(proposal)

    def mix(self, site, turn):
        self.calls.append(("mix", turn))
        return self.network.mix(site, turn)

    def leave(self, site):
        self.calls.append(("leave", None))
        self.network.leave(site)

    def taken(self):
        calls, self.calls = self.calls, []
        return calls


def site(name, network, trials=(), save=None):
    return Site(STUDY, name, network, direction="minimise", policy=Policy(initial=2), trials=trials, save=save)


def begin(each):
    for _ in range(2):
        trial = each.ask()
        each.tell(trial, float(trial.x.sum()))
    return each


def restarted(each):
    """The same site from its rows, in another process."""
    rows = json.loads(json.dumps([trial.to_row() for trial in each.trials]))
    return site(each.name, each.network, [Trial.from_row(row) for row in rows])


@pytest.mark.parametrize("again", [lambda each: each, restarted], ids=["on and on", "restarted"])
def test_a_poll_is_one_message(again):
    network = Counting(Ledger(STUDY))
    x, y = begin(site("x", network)), begin(site("y", network.network))
    assert network.taken() == []
    with pytest.raises(Waiting):
        x.ask()
    assert network.taken() == [("submit", 0), ("mix", 0)] and x.trials[-1].status == Status.SUBMITTED
    for _ in range(3):
        x = again(x)
        with pytest.raises(Waiting):
            x.ask()
        assert network.taken() == [("mix", 0)]
    y.propose()
    x = again(x)
    trial = x.ask()
    assert network.taken() == [("mix", 0)] and trial.status == Status.PENDING
    x = again(x)
    assert x.ask() == trial and network.taken() == []
    x.tell(trial, 1.0)
    assert network.taken() == []
    with pytest.raises(Waiting):
        again(x).ask()
    assert network.taken() == [("submit", 1), ("mix", 1)]


def test_what_was_handed_in_but_could_not_be_saved_is_handed_in_again():
    network, saved = Counting(Ledger(STUDY)), []

    def save(trial):
        if trial.status is Status.SUBMITTED and len(saved) < 5:
            saved.extend([trial] * 5)
            raise OSError("no space left")

    x = begin(site("x", network, save=save))
    with pytest.raises(OSError, match="no space left"):
        x.ask()
    assert x.trials[-1].status == Status.PROPOSED
    with pytest.raises(Waiting):
        x.ask()
    assert network.taken() == [("submit", 0), ("submit", 0), ("mix", 0)]


def test_a_proposal_that_the_others_have_forgotten_is_handed_in_again():
    network = Counting(Ledger(STUDY))
    x = begin(site("x", network))
    with pytest.raises(Waiting):
        x.ask()
    network.taken()
    proposed = x.trials[-1].proposed
    network.network = Ledger(STUDY)  # set back to a backup of before
    with pytest.raises(NotSubmitted):
        network.network.mix("x", 0)
    with pytest.raises(Waiting):
        x.ask()
    assert network.taken() == [("mix", 0), ("submit", 0), ("mix", 0)]
    with pytest.raises(Waiting):
        x.ask()
    assert network.taken() == [("mix", 0)]
    begin(site("y", network.network)).propose()
    trial = x.ask()
    assert trial.status == Status.PENDING and trial.proposed == proposed


def test_a_trial_that_is_handed_in_takes_no_result():
    x = begin(site("x", Ledger(STUDY)))
    trial = x.propose()
    assert trial.status == Status.SUBMITTED and [trial] == x.open_trials
    for act in (lambda: x.tell(trial, 1.0), lambda: x.fail(trial), lambda: x.abandon(trial)):
        with pytest.raises(CbocError, match="has no design to run yet; ask"):
            act()


def test_a_trial_waits_in_words():
    x = begin(site("x", Ledger(STUDY)))
    trial = x.propose()
    for status in (Status.PROPOSED, Status.SUBMITTED):
        assert replace(trial, status=status).explain(STUDY.sites) == "Proposed; it waits for the others."
