"""What a notification says, and what it has no place for."""

import dataclasses

import pytest

from cboc import Choice, Float, Ledger, Policy, Site, Study
from cboc.notifying.notification import WORDS, Event, Notification, about, explain

STUDY = Study({"temperature": Float(20, 90, unit="°C"), "solvent": Choice(["water", "ethanol"])}, ("lab-b",), 40)


def said(event, *trials, **more):
    return Notification(event, "lab-b", "buffer study", "site.db", trials, **more)


@pytest.mark.parametrize(
    ("trials", "words"),
    [
        ((7,), "trial 7 is ready to run"),
        ((7, 8), "trials 7 and 8 are ready to run"),
        ((3, 7, 9), "trials 3, 7 and 9 are ready to run"),
        ((7, 8, 9), "trials 7 to 9 are ready to run"),
        (tuple(range(0, 96, 2)), "48 trials are ready to run"),
    ],
)
def test_trials_are_named_by_their_numbers(trials, words):
    given = said(Event.RUN, *trials)
    assert given.text.startswith(f"Site 'lab-b' in study 'buffer study': {words}. Look at it with cboc status --file")
    assert given.title == f"cboc: {words.partition(' are')[0].partition(' is')[0]} to run (lab-b)"


@pytest.mark.parametrize("event", [event for event in Event if event is not Event.RUN])
def test_everything_else_is_said_in_fixed_words(event):
    title, text = WORDS[event]
    assert title in said(event).title and text in said(event).text
    assert explain(f"/mail/{event}") == f"told people by mail: {title}"


def test_there_is_no_place_for_an_outcome():
    """Names, numbers of trials, and designs for who has asked for them."""
    fields = {each.name: str(each.type) for each in dataclasses.fields(Notification)}
    assert fields == {
        "event": "Event",
        **dict.fromkeys(("site", "study", "file"), "str"),
        "trials": "tuple[int, ...]",
        "designs": "tuple[str, ...]",
    }


def test_designs_are_said_to_who_has_asked_for_them_and_own_parameters_to_nobody():
    own = {"secret": Float(0, 1)}
    site = Site(STUDY, "lab-b", Ledger(STUDY), direction="max", policy=Policy(initial=20, seed=1), own=own)
    trials = site.ask(12)
    for trial in trials[:3]:
        site.tell(trial, 0.123456789)
    plain = about(site, Event.RUN, "site.db", site.to_run)
    assert plain.designs == () and "temperature" not in plain.text and plain.trials == tuple(range(3, 12))
    shown = about(site, Event.RUN, "site.db", trials, is_open=True)
    assert len(shown.designs) == 11 and shown.designs[-1] == "... and 2 more."
    design = trials[0].design(site.space)
    warm = STUDY.space.parameters["temperature"].shown(design["temperature"])
    first = f"Trial 0: temperature = {warm} °C, solvent = {design['solvent']}"
    assert shown.designs[0] == first and first in shown.text
    assert "secret" not in shown.text and "0.123456789" not in shown.text


def test_a_name_stays_in_its_line():
    hostile = Notification(Event.RUN, "x\r\nBcc: all@example.org", "s", "f", (1,))
    site = Site(STUDY, "lab-b", Ledger(STUDY), direction="max")
    site.name = hostile.site
    assert "\n" not in about(site, Event.TEST, "a\nb.db").title + about(site, Event.TEST, "a\nb.db").text
