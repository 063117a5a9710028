"""Tells people: once for each experiment, tried a few times, and nobody waits for it.

notifier = Notifier(Path("site.db"), say=print)
notifier.ready(site)                # there are experiments to run
notifier.ended(site, error)         # asking has ended with an error: does the site wait for a person?
notifier.wait(10.0)                 # before a program ends
"""

from __future__ import annotations

import time
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from smtplib import SMTPException
from threading import Thread

from cboc.errors import CbocError
from cboc.exchange.network import Changed, Unreachable, Waiting
from cboc.notifying import mail, webhook
from cboc.notifying.notification import METHOD, Event, Notification, about
from cboc.notifying.settings import Mail, Webhook, settings_in
from cboc.runs.first_runs import AllFailed
from cboc.site.ending import Finished
from cboc.site.site import Site
from cboc.storage.sitefile import SiteFile

PAUSES = (0.0, 2.0, 10.0)  # seconds before each try
LONGEST_TRY = 10.0  # seconds
LONGEST = 200  # characters of what a server says


class Notifier:
    """Notifications about one site, to where its file says; none if that is nowhere.

    `say` is called with a sentence if one could not be sent.
    """

    def __init__(self, path: Path, say: Callable[[str], None], pauses: tuple[float, ...] = PAUSES) -> None:
        self._path, self._say, self._pauses = path, say, pauses
        self._under_way: list[Thread] = []

    def ready(self, site: Site) -> None:
        """Tell that there are experiments to run: those of which nobody was told before."""
        if running := site.to_run:
            self._tell(site, Event.RUN, running[-1].number)

    def ended(self, site: Site, error: CbocError) -> None:
        """Tell that the site has finished, or waits for a person, if it does so: it may only wait for the others."""
        if isinstance(error, Changed):
            self._tell(site, Event.CHANGED, error.study.version)
        elif isinstance(error, Finished):
            self.done(site)
        elif isinstance(error, AllFailed):
            self._tell(site, Event.STOPPED, len(site.trials))
        elif not isinstance(error, Waiting | Unreachable):
            self._tell(site, Event.REFUSED, len(site.trials))

    def done(self, site: Site) -> None:
        """Tell that all that was to be run is run, unless the site has left: somebody has done that by hand."""
        if not site.has_left:
            self._tell(site, Event.DONE, len(site.trials))

    def _tell(self, site: Site, event: Event, number: int) -> None:
        """Tell about an event, unless that was done up to this number; whatever goes wrong, the caller goes on."""
        try:
            file = SiteFile(self._path)
            channels = settings_in(file).channels
            before = file.advance(f"notified {event}", number) if channels else None
            if before is None:
                return
            trials = [each for each in site.to_run if each.number > before] if event is Event.RUN else []
            for channel in channels:
                self._begin(file, channel, about(site, event, file.path.name, trials, is_open=channel.designs))
        except CbocError as error:
            self._say(f"Nobody was notified: {error}")

    def _begin(self, file: SiteFile, channel: Mail | Webhook, given: Notification) -> None:
        thread = Thread(target=self._send, args=(file, channel, given), daemon=True)
        self._under_way.append(thread)
        thread.start()

    def _send(self, file: SiteFile, channel: Mail | Webhook, given: Notification) -> None:
        """Try a few times, and say so if it was in vain."""
        reason = ""
        for pause in self._pauses:
            time.sleep(pause)
            reason = sent(file, channel, given)
            if not reason:
                return
        self._say(f"The notification to {channel.address} was not sent: {reason}. Nothing else depends on it.")

    def wait(self, seconds: float) -> None:
        """Wait for what is under way, but not for long."""
        until = time.monotonic() + seconds
        for thread in self._under_way:
            thread.join(max(0.0, until - time.monotonic()))
        if any(thread.is_alive() for thread in self._under_way):
            self._say("A notification is not sent yet, and is given up: the server has not answered in time.")
        self._under_way = []


def sent(file: SiteFile, channel: Mail | Webhook, given: Notification, seconds: float = LONGEST_TRY) -> str:
    """Send a notification, recorded before it leaves; returns why it did not arrive, or ''."""
    try:
        if isinstance(channel, Mail):
            content = mail.written(channel, given)
            file.record(channel.address, METHOD, f"/mail/{given.event}", content)
            return mail.send(channel, content, seconds)
        content = webhook.written(channel, given)
        file.record(channel.address, METHOD, f"/webhook/{given.event}", content)
        return webhook.send(channel, content, seconds)
    except (OSError, SMTPException, HTTPException, CbocError, ValueError) as error:
        return _in_words(error)


def _in_words(error: Exception) -> str:
    """What went wrong, in one line that is safe for a terminal; never a password, which no such error holds."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    said = " ".join(reason.split()) or type(error).__name__
    return "".join(letter for letter in said if letter.isprintable())[:LONGEST].rstrip(".")
