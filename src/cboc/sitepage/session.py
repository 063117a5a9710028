"""The site behind the page. It is opened anew from its file for every request: others may have changed the file.

The session remembers the coordinator's last answer and shows a page without asking again; however many windows are
open, the coordinator hears from this site once in a while.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Any

from cboc.advice.advice import Advice, advise
from cboc.data.earlier.preview import Preview
from cboc.data.goal import Goal
from cboc.errors import CbocError
from cboc.exchange.amendment import changes
from cboc.exchange.network import Changed, Standing, Unreachable, Waiting, WithoutCentre
from cboc.exchange.study import Study
from cboc.joining import join
from cboc.site import worksheet
from cboc.site.ending import Finished, Left
from cboc.site.polling import pause
from cboc.site.site import Site
from cboc.site.trial import Trial
from cboc.sitepage.form import Order
from cboc.storage.author import Door
from cboc.storage.sitefile import PREFIX, SiteFile

LOG = logging.getLogger(__name__)
PATIENCE = 3.0  # seconds after which the coordinator counts as out of reach
LONGEST_PAUSE = 30.0  # seconds between two messages: somebody may be looking
FRESH = 10.0  # seconds for which copies of what the others wrote are new enough
SILENT = "what carries your messages to the others, and theirs to you, has not answered for {:.0f} seconds."


class Stage(StrEnum):
    """Where the site stands, as its page sees it."""

    RUN = "run"  # there is a design to run
    THINKING = "thinking"
    WAITING = "waiting"  # for the others
    UNREACHABLE = "unreachable"
    REFUSED = "refused"
    CHANGED = "changed"  # the study was amended, and the site has to accept that
    FINISHED = "finished"
    LEFT = "left"  # the study; its sentence says why the others have not heard that yet, or is empty


@dataclass(frozen=True)
class News:
    """The answer to a request for trial `number`, if it was not a design."""

    number: int
    stage: Stage
    sentence: str = ""
    missing: tuple[str, ...] = ()  # sites that have not proposed yet
    closes_at: float | None = None  # without them, in seconds since 1970
    changes: tuple[str, ...] = ()  # of the study, which the site has not accepted yet
    version: int = 0  # of the study after them

    def suits(self, site: Site) -> bool:
        """Whether this can still be said of the site."""
        if site.has_left or self.stage == Stage.LEFT:
            return site.has_left and self.stage == Stage.LEFT
        return self.stage == Stage.CHANGED or site.is_finished == (self.stage == Stage.FINISHED)


class NotJoined(CbocError):
    """Raised when the site has joined no study yet."""


class Session:
    """One site's file, which may have joined no study yet. `options` are those of `cboc.join`."""

    def __init__(self, storage: str | Path, clock: Callable[[], float] = time.monotonic, **options: Any) -> None:
        self.storage = Path(str(storage).removeprefix(PREFIX))
        self._clock = clock
        self._options: dict[str, Any] = {"patience": PATIENCE, "door": Door.PAGE} | options
        self._is_joined = False
        self._lock = Lock()  # held while computing a design or advice
        self._news: News | None = None
        self._since = self._due = -float("inf")  # the news; when to ask again
        self._advice: tuple[tuple[Trial, ...], Advice] | None = None
        self._meeting = Lock()  # held while the others' messages are fetched, where there is no coordinator
        self._met = -float("inf")  # when that began the last time
        self._trouble = ""  # why it did not work
        self._silences: dict[str, str] = {}  # why some of the others did not answer then

    def open(self, *, is_alone: bool = False) -> Site:
        """Open the site anew from its file; `is_alone` lets it go on without the coordinator."""
        if not self.is_joined:
            raise NotJoined("this site has joined no study yet.")
        return join(storage=self.storage, **(self._options | {"goes_on_alone": is_alone}))

    @property
    def file(self) -> SiteFile:
        return SiteFile(self.storage)

    @property
    def is_joined(self) -> bool:
        """Whether the site has joined a study; if it has, that stays so."""
        self._is_joined = self._is_joined or (self.storage.exists() and "agreement" in self.file.about)
        return self._is_joined

    def join(self, study: Study, goal: Goal, earlier: Preview | None = None) -> None:
        """Join this study with the invitation that the file keeps, and with results from before."""
        wanted: dict[str, Any] = {"direction": goal.direction} if goal.is_plain else {"direction": goal}
        with self._lock:
            if not self.is_joined:
                join(storage=self.storage, study=study, data=earlier, **wanted, **self._options)

    def news(self, site: Site) -> News:
        """Return where the site stands, as far as that is known without asking."""
        number = _upcoming(site)
        if site.to_run:
            return News(number, Stage.RUN)
        known = self._news
        if known is not None and known.number == number and known.suits(site):
            return known
        return News(number, Stage.LEFT if site.has_left else Stage.FINISHED if site.is_finished else Stage.THINKING)

    @property
    def is_settled(self) -> bool:
        """Has the coordinator been told that the site has finished, or has left?"""
        news = self._news
        return news is not None and (news.stage == Stage.FINISHED or (news.stage == Stage.LEFT and not news.sentence))

    def ask(self, *, at_once: bool = False) -> None:
        """Compute the next design and submit it, unless that was asked a moment ago."""
        with self._lock:
            if at_once or self._clock() >= self._due:
                self._ask(self.open())

    def ask_for_more(self, order: Order) -> int:
        """Ask for a plate of new experiments, whatever is open; return how many there are: the budget may have fewer.

        Raises a sentence if there is nothing to run yet. A form that is sent twice counts once.
        """
        with self._lock:
            site = self.open()
            if order.after is not None and order.after != len(site.trials):
                return order.count
            wells = () if order.layout is None else worksheet.free_wells(site, order.layout, order.count)
            return len(site.ask(order.count, replicates=order.replicates, same=order.same, wells=wells))

    def go_on_alone(self, number: int) -> None:
        """Run the site's own proposal for this trial, if there is still no answer."""
        with self._lock:
            site = self.open(is_alone=True)
            if number == _upcoming(site):
                self._ask(site)

    def _ask(self, site: Site) -> None:
        before, now = self._news, self._clock()
        self._news = self._learned(site)
        if self._news is None:
            self._due = now
        else:
            if before is None or (before.number, before.stage) != (self._news.number, self._news.stage):
                self._since = now
            self._due = self._clock() + pause(now - self._since, LONGEST_PAUSE)

    def _learned(self, site: Site) -> News | None:
        """Return the news after asking; None if there is a design to run."""
        try:
            try:
                site.ask()
            finally:
                self._trouble = site.network.trouble if isinstance(site.network, WithoutCentre) else ""
            return None
        except Waiting as waiting:
            standing, sentence = waiting.standing, "" if waiting.is_usual else str(waiting)
        except Changed as changed:
            lines = changes(site.study, changed.study)
            return News(_upcoming(site), Stage.CHANGED, changes=tuple(lines), version=changed.study.version)
        except Left as left:
            return News(_upcoming(site), Stage.LEFT, left.trouble)
        except Finished as finished:
            return News(_upcoming(site), Stage.FINISHED, str(finished))
        except Unreachable as unreachable:
            return News(_upcoming(site), Stage.UNREACHABLE, str(unreachable))
        except CbocError as refusal:
            return News(_upcoming(site), Stage.REFUSED, str(refusal))
        except Exception as error:  # from the user's strategy or from the file: the page has to show it
            LOG.exception("asking for the next design failed")
            return News(_upcoming(site), Stage.REFUSED, f"it failed with {type(error).__name__}: {error}")
        missing = tuple(name for name in standing.missing if name != site.name)
        return News(_upcoming(site), Stage.WAITING, sentence, missing, standing.closes_at)

    def accept(self, version: int) -> None:
        """Accept the change of the study that the page has shown; another one has to be looked at first."""
        with self._lock:
            site = self.open()
            newest = site.offered()
            if newest is not None and newest.version == version:
                site.accept()
            self._news, self._due = None, self._clock()

    def leave(self) -> None:
        """Leave the study; if the others cannot be told now, the page goes on trying."""
        with self._lock:
            site = self.open()
            self._news = News(_upcoming(site), Stage.LEFT, site.leave())
            self._since, self._due = self._clock(), self._clock()

    # ------------------------------------------------------------------------------------------- without a coordinator

    def neighbours(self, site: Site) -> Standing | None:
        """Return what is known about the others, without asking anybody; None if there is a coordinator."""
        if not isinstance(site.network, WithoutCentre):
            return None
        silence = self._clock() - self._met
        is_silent = self._meeting.locked() and silence > PATIENCE
        known = site.network.known()
        peers = tuple(replace(peer, silence=self._silences.get(peer.site, "")) for peer in known.peers)
        return replace(known, peers=peers, trouble=SILENT.format(silence) if is_silent else self._trouble)

    def meet(self) -> None:
        """Fetch what the others wrote, unless that was done a moment ago or is being done: it may take long."""
        if self._clock() < self._met + FRESH or not self._meeting.acquire(blocking=False):
            return
        try:
            site = self.open()
            network, self._met = site.network, self._clock()
            if isinstance(network, WithoutCentre):
                network.sync()
                self._trouble = network.trouble
                self._silences = {peer.site: peer.silence for peer in network.known().peers}
                if site.is_finished:  # the study may have been amended, and have more to do for it
                    with self._lock:
                        self._ask(site)
        finally:
            self._meeting.release()

    def advice(self, site: Site) -> Advice | None:
        """Return the advice on these trials, if it has been computed."""
        known = self._advice
        return known[1] if known is not None and known[0] == tuple(site.trials) else None

    def advise(self) -> None:
        """Compute the advice on the current trials, unless it is known."""
        with self._lock:
            site = self.open()
            if self.advice(site) is None:
                self._advice = (tuple(site.trials), advise(site))


def _upcoming(site: Site) -> int:
    open_trials = site.to_run or site.open_trials
    return open_trials[0].number if open_trials else len(site.trials)
