"""A network without a centre: it appends to the own feed, and answers from the replica of all feeds.

    submit   the proposal becomes an entry of the own feed, on disk before it is given to anybody
    mix      the same answers as everywhere, over a record that is read from the feeds
    news     the latest best designs of the neighbours

A carrier copies entries to the others and theirs to here. While it does not work nothing is lost: what was appended is
given when it works again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import cached_property, wraps
from typing import Any, TypeVar

from cboc.errors import CbocError
from cboc.exchange.amendment import changes
from cboc.exchange.answers import Answers
from cboc.exchange.feeds.carrier import Carrier
from cboc.exchange.feeds.entry import DESIGNS, Act, FeedEntry, greeting, write
from cboc.exchange.feeds.feedfile import FeedFile, Overtaken
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.feeds.record import Record, drifts_in, needs_everybody
from cboc.exchange.feeds.replica import Feed, Replica, Taken, neighbours_of
from cboc.exchange.feeds.versions import check_amendment
from cboc.exchange.messages import Mix, News, Proposal
from cboc.exchange.network import Changed, Conflict, NotSubmitted, Peer, Standing, Unreachable, Waiting
from cboc.exchange.store import AHEAD
from cboc.exchange.study import Study

KEYS_LOST = (
    "somebody has joined as '{}' before, with keys that are not in this file ({}), and the others take nothing from "
    "new ones. If that was you, use the two files of then (one of them ends in .feeds); if they are lost, or it was "
    "somebody else, agree with the others on a study in which your site has another name."
)
OLD_COPY = (
    "entry {} of '{}' is known to others and not in this file: it is an older copy, or another one is in use. Use the "
    "newest, and only one."
)
NOBODY_YET = "no neighbour has answered this site, and one has to before its first turn: see cboc peer list."
TRIES = 5  # to append before another process of this site does
Method = TypeVar("Method", bound=Callable[..., Any])


def _if_overtaken_again(method: Method) -> Method:
    """Do it again if another process of this site has appended to the feed meanwhile, knowing what that was."""

    @wraps(method)
    def repeated(self: Feeds, *given: Any) -> Any:
        for _ in range(TRIES):
            try:
                return method(self, *given)
            except Overtaken:
                self.reload()
        return method(self, *given)

    return repeated  # type: ignore[return-value]  # it takes and gives what the method does


class Feeds:
    """A `Network` for one site that replicates feeds through a carrier.

    `file` keeps the feeds. A site that `drifts` goes on by itself when a round's deadline has passed twice and nobody
    has closed it.
    """

    def __init__(
        self,
        replica: Replica,
        site: str,
        keys: Keys,
        carrier: Carrier,
        file: FeedFile | None = None,
        clock: Callable[[], float] = time.time,
        *,
        drifts: bool = False,
        study: Study | None = None,
    ) -> None:
        self.replica, self.site, self.carrier, self.clock = replica, site, carrier, clock
        self._keys, self._file = keys, file
        self.study = replica.in_force()[-1] if study is None else study  # the version that the site has accepted
        self._look_around()
        self._known = 0  # so far the file has been read
        self._drifts = drifts
        self.trouble = ""  # why the carrier did not work the last time
        self._last_record: tuple[int, Record] | None = None  # and after how many changes of the replica
        self._opened: dict[int, float] = {}  # when this site first saw a proposal of a round

    # ----------------------------------------------------------------------------------------------- the own feed

    @property
    def feed(self) -> Feed:
        """The own feed."""
        return self.replica.feeds[self.site]

    def reload(self) -> None:
        """Take in what other processes of this site have written to its file."""
        if self._file is not None:
            entries, self._known = self._file.entries(self._known)
            self.replica.restore(entries, self._file.about.get("counted", {}))

    @_if_overtaken_again
    def hello(self) -> None:
        """Begin the own feed, if that has not been done: the keys, and what was agreed."""
        self.reload()
        if self.feed.last is None:
            with suppress(Unreachable):
                for entry in self.carrier.take(self.replica, [self.site]):
                    self.bring(entry)
            if not self._is_unheard:
                self._write(greeting(self._keys.identity, self.study.agreement()), 0)
        elif self.study.version > max(self.feed.signed.values()):  # accepted, and stopped before it was said
            self.sign(self.study)

    @property
    def _is_unheard(self) -> bool:
        """Whether there are neighbours and none has answered: it could be that the study has changed already."""
        return bool(self._neighbours) and self.carrier.silent.keys() >= set(self._neighbours)

    # ------------------------------------------------------------------------------------------ a study that changes

    def follow(self) -> None:
        """Go on as another process of this site has settled it: under its newest version, and whether it drifts."""
        self.reload()
        if self._file is not None:
            self._drifts = bool(self._file.facts().get("drifts"))
        if (current := self.replica.current(self.site)).version > self.study.version:
            self.study = current
            self._look_around()

    def agreed(self) -> Study:
        """What is agreed now: the newest version that all stewards have signed, as far as that is known here."""
        self.sync()
        return self.replica.in_force()[-1]

    def proposed(self) -> list[Study]:
        """The versions that some steward has signed, and that are not in force yet."""
        newest, stewards = self.replica.in_force()[-1], self._stewards
        signed = {digest for site in stewards for digest in self.replica.feeds[site].signed}
        versions = [self.replica.versions[digest] for digest in signed]
        return sorted((each for each in versions if each.version > newest.version), key=lambda each: each.version)

    def next_version(self, given: Study) -> int:
        """The number for a change: that of the same one if this site can still sign it, else one above all signed."""
        newest, proposed, own = self.replica.in_force()[-1], self.proposed(), self.feed.signed
        open_to_us = [each for each in proposed if each.digest in own or each.version > max(own.values())]
        same = [each for each in open_to_us if replace(given, version=each.version).digest == each.digest]
        last = max((each.version for each in proposed), default=newest.version)
        return same[-1].version if same else last + 1

    @property
    def _stewards(self) -> tuple[str, ...]:
        newest = self.replica.in_force()[-1]
        return newest.stewards or newest.sites

    def amend(self, study: Study) -> list[str]:
        """Sign the next version of the study as one of its stewards; returns who has not signed it yet."""
        self.sync()
        stewards = self._stewards
        if self.site not in stewards:
            raise CbocError(f"a change of this study is signed by {', '.join(stewards)}; you accept it then.")
        if not self.study.stewards and self._others != set(self.wanted):
            raise CbocError(
                "where not all sites see each other, a study that is to be changed names its stewards when it begins, "
                "and this one does not; begin another study."
            )
        check_amendment(self.study, study)
        self.sign(study)
        return [site for site in stewards if study.digest not in self.replica.feeds[site].signed]

    @_if_overtaken_again
    def sign(self, study: Study) -> None:
        """Append that this site agrees to a version, unless it has said so."""
        if study.digest not in self.feed.signed:
            self._write({"act": Act.AMEND, "agreement": study.agreement()}, self._next_turn)

    def accept(self, site: str, study: Study) -> None:
        """Say in the own feed that this site accepts a version that is in force; from now on its turns are under it."""
        self.study.index(site)
        if study.digest not in {each.digest for each in self.replica.in_force()}:
            raise CbocError(f"version {study.version} of the study is not signed by all its stewards yet.")
        self.sign(study)
        self.study = study
        self._look_around()
        self._give()

    def _look_around(self) -> None:
        """Find out whose feeds are needed here."""
        for name in ("_neighbours", "wanted"):
            self.__dict__.pop(name, None)
        self.replica.designs_of = {self.site, *self._neighbours}

    @property
    def _others(self) -> set[str]:
        return set(self.study.sites) - {self.site}

    def _write(self, said: dict[str, object], turn: int, designs: dict[str, object] | None = None) -> None:
        """Append an entry to the own feed: on disk first, then it counts, then it is given to the others."""
        if self.feed.trouble:
            raise Conflict(f"{self.feed.trouble}.")
        if self.feed.last is None and said["act"] != Act.HELLO:
            raise Waiting(self._standing(self._record()), NOBODY_YET)
        digest = self.study.digest if self.feed.last is None else self.replica.current(self.site).digest
        entry = write(self._keys, digest, self.site, self.feed.last, turn, said, designs)
        if self.feed.last is not None:
            self.replica.check(entry)  # before it is kept: what is in the feed stays there
        if self._file is not None:
            self._file.append(entry)
        self.replica.load([entry])  # it is kept by now
        if self.feed.last is not entry:
            raise CbocError(f"the own entry was refused: {self.replica.refused.get(entry.hash, self.feed.trouble)}.")
        self._give()

    @_if_overtaken_again
    def submit(self, proposal: Proposal) -> None:
        """Append a proposal to the own feed; the same one counts once."""
        self.study.check_proposal(proposal)
        if self.feed.last is None:
            self.hello()
        self.sync()
        record = self._record()
        answers, latest = self._answers(record), record.latest(self.site)
        if latest is not None and proposal.turn <= latest.proposal.turn:
            answers.check_same(proposal, latest)
            return
        if self.study.pace.waits and latest is not None and latest.state >= record.closed:
            raise Waiting(
                self._standing(record), f"round {latest.state} is open, and '{self.site}' has proposed for it already."
            )
        if (newest := self.replica.in_force()[-1]).version > self.study.version:
            raise Changed(self.study, newest)
        answers.check_room(proposal, latest)
        earlier = 0 if latest is None else latest.after
        said: dict[str, object] = {"act": Act.TURN, "earlier": earlier, "wells": len(proposal.X)}
        said |= {"state": record.closed} if self.study.pace.waits else {"seen": self._seen(record)}
        said |= {} if proposal.reward is None else {"reward": proposal.reward}
        designs: dict[str, object] = {"X": proposal.X}
        designs |= {"bests": proposal.bests} if proposal.bests else {}
        self._write(said, proposal.turn, designs)

    def _seen(self, record: Record) -> dict[str, int]:
        """How many entries of every other feed are known here, and count."""
        feeds = [feed for feed in self.replica.feeds.values() if feed.entries and self.study.has(feed.site)]
        return {feed.site: record.counted(feed) for feed in feeds if feed.site in self.wanted}

    def leave(self, site: str) -> None:
        """End the own feed, unless the site has used its budget: everybody can see that, and it may get more."""
        self.study.index(site)
        latest = self._record().latest(site)
        if latest is None or latest.after < self.study.budget(site):
            self.end()

    @_if_overtaken_again
    def end(self) -> None:
        """End the own feed: it is on disk before it is given to the others, who take nothing more from it."""
        if not self.feed.has_left:
            self._write({"act": Act.LEAVE}, self._next_turn)
        elif self.feed.trouble == "":
            self._give()
        if self.trouble:
            raise Unreachable(self.trouble)

    @property
    def progress(self) -> tuple[int, int]:
        """The first turn that the own feed does not have, and the experiments that it has."""
        turns = self.feed.turns
        return self._next_turn, turns[-1].after if turns else 0

    @property
    def _next_turn(self) -> int:
        return self.feed.turns[-1].turn + 1 if self.feed.turns else 0

    # ------------------------------------------------------------------------------------------------- the others

    def bring(self, entry: FeedEntry) -> Taken:
        """Take in an entry that somebody has brought; designs of sites that are not neighbours are left out."""
        if entry.site not in (self.site, *self.wanted):
            return Taken.KNOWN
        if entry.site == self.site and entry.study in self.replica.versions:
            self._check_own(entry)
        return self.replica.take(entry if entry.site in (self.site, *self._neighbours) else entry.without(DESIGNS))

    def _check_own(self, entry: FeedEntry) -> None:
        """Raise one sentence if an entry of this site that others have shows that its file is not the one in use."""
        is_own, named = entry.is_signed_by(self._keys.identity), entry.identity
        if is_own and entry.number >= len(self.feed.entries):
            raise Conflict(OLD_COPY.format(entry.number, self.site))
        if not is_own and self.feed.last is None and named is not None and entry.is_signed_by(named):
            raise Conflict(KEYS_LOST.format(self.site, named.fingerprint))

    def to_pass_on(self) -> list[FeedEntry]:
        """The own feed, and of the others' what any site may have: without designs, unless all are neighbours."""
        self.sync()
        is_complete = len(self._neighbours) == len(self.study.sites) - 1 and self.study.graph == "complete"
        others = [entry for entry in self.replica.entries() if entry.site != self.site]
        return [*self.feed.entries, *(entry if is_complete else entry.without(DESIGNS) for entry in others)]

    def sync(self) -> None:
        """Take what is new, and give what was not given yet; trouble with the carrier is remembered, not raised."""
        self.reload()
        saving: AbstractContextManager[dict[str, Any]] = nullcontext({}) if self._file is None else self._file.at_once()
        try:
            with saving as facts:
                for entry in self.carrier.take(self.replica, [self.site, *self.wanted]):
                    self.bring(entry)
                facts["counted"] = {feed.site: len(feed.entries) for feed in self.replica.feeds.values()}
        except Unreachable as error:
            self.trouble = str(error)
            return
        if self.feed.trouble:
            raise Conflict(f"{self.feed.trouble}.")
        self._give()

    @cached_property
    def _neighbours(self) -> list[str]:
        return neighbours_of(self.study, self.site)

    @cached_property
    def wanted(self) -> list[str]:
        """The sites whose feeds are needed here: the neighbours', or without their designs everybody's."""
        others = [site for site in self.study.sites if site != self.site]
        if needs_everybody(self.replica):
            return others
        return [site for site in others if site in {*self._neighbours, *self.study.stewards}]

    def _give(self) -> None:
        try:
            self.carrier.give(self.replica, self.site)
            self.trouble = ""
        except Unreachable as error:
            self.trouble = str(error)

    def _record(self) -> Record:
        """What the feeds say now, read anew only if they have changed."""
        if self._last_record is None or self._last_record[0] != self.replica.changes:
            self._last_record = self.replica.changes, Record(self.replica, self.site)
        return self._last_record[1]

    def _answers(self, record: Record) -> Answers:
        versions = [each for each in record.versions.values() if each.version != record.study.version]
        return Answers(record.study, record, earlier=versions)

    @_if_overtaken_again
    def mix(self, site: str, turn: int) -> Mix:
        """The answer to a proposal, computed here."""
        self.sync()
        record = self._record()
        if record.find(site, turn) is None:
            raise NotSubmitted(f"site '{site}' has not proposed for turn {turn}.")
        if self._close(record):
            record = self._record()
        try:
            return self._answers(record).mix(site, turn)
        except Waiting:
            if self.trouble:
                raise Unreachable(self.trouble) from None
            raise Waiting(self._standing(record)) from None

    def news(self, site: str) -> News:
        """The latest best designs of the neighbours."""
        self.sync()
        record = self._record()
        answers = self._answers(record)
        if self.study.pace.waits:
            return answers.news(site)
        return News(site, record.closed, answers.others(site, record.now(), record.closed, answers.progress(site)[0]))

    @_if_overtaken_again
    def standing(self) -> Standing:
        """Where the study stands, as far as that is known here."""
        self.sync()
        record = self._record()
        return self._standing(self._record() if self._close(record) else record)

    def known(self) -> Standing:
        """Where the study stands by the copies that are here; the carrier is left alone."""
        self.reload()
        return self._standing(self._record())

    def _standing(self, record: Record) -> Standing:
        code = self._keys.identity.fingerprint
        missing, closes_at = tuple(record.missing()), self._closes_at(record)
        closer, closing = self._closer(record.official) if self._is_due(record) else ("", 0)
        stands = record.closed if self.study.pace.waits else len(self.feed.turns)
        of = (stands, missing, closes_at, self._peers(), code, self.trouble)
        return Standing(*of, closer, closing, tuple(drifts_in(self.replica)), self._in_words())

    def _closer(self, record: Record) -> tuple[str, int]:
        """Whose turn it is to close which round."""
        return record.closer(len(record.closures)), len(record.closures)

    def _in_words(self) -> tuple[str, ...]:
        """The changes of the study that are proposed: by whom, and what."""
        return tuple(
            f"{', '.join(self._signers(each))}: {'; '.join(changes(self.study, each))}" for each in self.proposed()
        )

    def _signers(self, study: Study) -> list[str]:
        digest = study.digest
        return [site for site in self._stewards if digest in self.replica.feeds[site].signed]

    def _peers(self) -> tuple[Peer, ...]:
        """What is known about the sites whose feeds are read here."""
        heard = {} if self._file is None else self._file.heard()
        feeds = [self.replica.feeds[site] for site in self.wanted]
        return tuple(
            Peer(
                feed.site,
                len(feed.entries),
                heard.get(feed.site),
                "" if feed.identity is None else feed.identity.fingerprint,
                feed.trouble or feed.stranger,
                self.carrier.silent.get(feed.site, ""),
            )
            for feed in feeds
        )

    # ----------------------------------------------------------------------------------------------- closing rounds

    def _close(self, record: Record) -> bool:
        """Close the open round, if it is this site's turn to do so, or go on without that, if this site drifts."""
        if self.study.deadline is None or not self.study.pace.waits:
            return False
        return self._sign(record.official) or (self._drifts and self._drift(record))

    def _sign(self, record: Record) -> bool:
        """Sign who is in, if it is this site's turn to do so and all are in, or the deadline has passed."""
        closer, state = self._closer(record)
        if closer != self.site or not self._is_due(record):
            return False
        there = [site for site in self.study.sites if site in record.rounds[state]]
        self._write({"act": Act.CLOSE, "state": state, "present": there}, self._next_turn)
        return True

    def _drift(self, record: Record) -> bool:
        """Go on in the own open round with those who are in, if the deadline has passed twice."""
        state = len(record.closures)
        there = record.rounds.get(state, {})
        if self.site not in there or not self._is_late(record, 2):
            return False
        present = {site: there[site].number for site in self.study.sites if site in there}
        awaited, _ = self._closer(record.official)
        self._write({"act": Act.DRIFT, "state": state, "present": present, "awaited": awaited}, self._next_turn)
        return True

    def _is_due(self, record: Record) -> bool:
        """Whether all are in, or the deadline of the open round has passed."""
        if self._closes_at(record) is None:
            return False
        return not record.missing() or self._is_late(record, 1)

    def _is_late(self, record: Record, times: int) -> bool:
        """Whether the deadline of the open round has passed so many times, with the quorum in."""
        closes_at, deadline = self._closes_at(record), self.study.deadline
        if closes_at is None or deadline is None or len(record.rounds[len(record.closures)]) < self.study.quorum:
            return False
        return self.clock() >= closes_at + (times - 1) * deadline

    def _closes_at(self, record: Record) -> float | None:
        """When the open round may close without the missing sites, by the clock of this site."""
        state = len(record.closures)
        if self.study.deadline is None or record.is_arriving or not record.rounds.get(state):
            return None
        if state not in self._opened:
            now, name = self.clock(), f"round {state} opened"
            self._opened[state] = now if self._file is None else float(self._file.remember_first(name, now))
        if self._opened[state] > self.clock() + AHEAD:  # the clock was wrong then, or is now
            self._opened[state] = self.clock()
            if self._file is not None:
                self._file.remember(**{f"round {state} opened": self._opened[state]})
        return self._opened[state] + self.study.deadline
