"""What a notification says. It is made of fixed words, names and numbers of trials: there is no place for an outcome.

Why something went wrong is not in it either: a sentence of a program, or of a coordinator, may hold anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from shlex import quote

from cboc.site.site import Site
from cboc.site.trial import Trial

MOST_DESIGNS = 10  # in one notification
SHOWN = 60  # characters of a name in a title


class Event(StrEnum):
    """What has happened that people want to know."""

    RUN = "run"  # there are experiments to run
    CHANGED = "changed"  # the study was amended, and the site has to accept that
    REFUSED = "refused"  # the next experiment could not be agreed on
    DONE = "done"  # a program has run all that it was to run
    STOPPED = "stopped"  # a program's first experiments all failed
    TEST = "test"


WORDS = {
    Event.CHANGED: ("the study has changed", "The study has changed, and the site goes on when somebody accepts that."),
    Event.REFUSED: ("no next experiment", "The next experiment could not be agreed on; somebody has to look at it."),
    Event.DONE: ("all is run", "All experiments that were to be run are done."),
    Event.STOPPED: ("the program has stopped", "The first experiments all failed, and nothing more is run."),
    Event.TEST: ("a test", "This is a test: notifications of this site arrive here."),
}

METHOD = "NOTIFY"  # in the record of what has left
WAYS = {"mail": "by mail", "webhook": "by a webhook"}


@dataclass(frozen=True)
class Notification:
    """One notification: what has happened at which site, and where to look."""

    event: Event
    site: str
    study: str
    file: str  # the name of the site's file, without its folder
    trials: tuple[int, ...] = ()
    designs: tuple[str, ...] = ()  # what is to be run, for those who have asked for it

    @property
    def title(self) -> str:
        """A few words."""
        what = _numbered(self.trials) + " to run" if self.event is Event.RUN else WORDS[self.event][0]
        return f"cboc: {what} ({self.site[:SHOWN]})"

    @property
    def text(self) -> str:
        """All of it."""
        where = f"Site '{self.site}' in study '{self.study}': "
        if self.event is Event.RUN:
            said = f"{_numbered(self.trials)} {'is' if len(self.trials) == 1 else 'are'} ready to run."
        else:
            said = WORDS[self.event][1]
        file = quote(self.file)
        look = f" Look at it with cboc status --file {file}, or on the site's page (cboc site --file {file})."
        lines = "".join(f"\n{line}" for line in self.designs)
        return f"{where}{said}{'' if self.event is Event.TEST else look}{lines}"


def _numbered(numbers: tuple[int, ...]) -> str:
    """'trial 7', 'trials 7 and 8', 'trials 7 to 14', 'trials 3, 7 and 9'."""
    first, last = min(numbers), max(numbers)
    if len(numbers) == 1:
        return f"trial {first}"
    if len(numbers) == last - first + 1 > 2:
        return f"trials {first} to {last}"
    *before, end = map(str, sorted(numbers))
    return f"trials {', '.join(before)} and {end}" if len(numbers) <= MOST_DESIGNS else f"{len(numbers)} trials"


def about(
    site: Site, event: Event, file: str, trials: list[Trial] | None = None, *, is_open: bool = False
) -> Notification:
    """The notification of an event at a site; with the designs of its trials if it is `is_open` about them.

    Of a design, it holds the parameters that were agreed: a site's own ones never leave.
    """
    running = trials or []
    designs = tuple(_design(site, trial) for trial in running[:MOST_DESIGNS]) if is_open else ()
    if is_open and len(running) > MOST_DESIGNS:
        designs += (f"... and {len(running) - MOST_DESIGNS} more.",)
    numbers = tuple(trial.number for trial in running)
    return Notification(event, _plain(site.name), _plain(site.study.name), _plain(file), numbers, designs)


def explain(path: str) -> str:
    """What a notification was about, from its path in the record: /mail/run."""
    _, way, event = [*path.split("/"), "", ""][:3]
    about_what = {Event.RUN: "there is something to run", **{known: words for known, (words, _) in WORDS.items()}}
    said = next((words for known, words in about_what.items() if known == event), event)
    return f"told people {WAYS.get(way, way)}: {said}"


def _plain(name: str) -> str:
    """A name in one line: those of older studies may hold anything."""
    return "".join(letter if letter.isprintable() else " " for letter in name)


def _design(site: Site, trial: Trial) -> str:
    design, shared = trial.design(site.space), site.study.space.parameters
    values = (
        f"{name} = {parameter.shown(design[name])} {parameter.unit}".rstrip() for name, parameter in shared.items()
    )
    return f"Trial {trial.number}: {', '.join(values)}"
