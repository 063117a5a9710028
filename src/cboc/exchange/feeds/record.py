"""The facts of a study as a ledger reads them from feeds: who has proposed what, in which state, and what is closed.

In rounds the state is the round that an entry names. Without a deadline a round is closed when every site that is
awaited is in, or has left; that follows from the feeds alone, so everybody finds the same. With a deadline, whose turn
it is to close it signs who is in, and nothing else closes a round: two sites never differ about who was there. A
proposal that came too late for its round belongs to the next one that is open.

If whose turn it is does not close a round, a site may drift: it says with which entries it goes on. In its own view,
and in nobody else's, that closes the round; what the others close counts for it in all other rounds.

At the free pace the state is the site's own turn: its entry says how much of every feed the site had seen, so that its
answer can be computed again from the feeds by anybody who has them.

Turns that a coordinator has answered, before the study moved to feeds, keep the state that it gave them. Such a round
is closed with those who say that they were in it; such an arrival had seen all that arrived before it.

A site that has only its neighbours' feeds takes the other sites as present: they have no weight in its row of W.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from cboc.errors import CbocError
from cboc.exchange.feeds.entry import Act, FeedEntry
from cboc.exchange.feeds.replica import Feed, Replica
from cboc.exchange.messages import Proposal
from cboc.exchange.network import Drift
from cboc.exchange.store import Entry
from cboc.exchange.study import Study


class Record:
    """The `Facts` of a study in its feeds, as one site sees them now.

    With `is_official`, as sites see them that have not drifted.
    """

    opened_at = None  # deadlines run at whoever closes, by its own clock

    def __init__(self, replica: Replica, site: str, *, is_official: bool = False, is_whole: bool = False) -> None:
        """With `is_whole` everybody's feeds are here, and all of them count, whoever the site's neighbours are."""
        self.replica, self.study, self.site, self._is_official = replica, replica.current(site), site, is_official
        self.versions = {study.digest: study for study in replica.in_force()}
        self._closing = replica.study  # the version under which the last round was closed, if there is a deadline
        everybody, some = set(self.study.sites), {site, *replica.neighbours(site)}
        self._needed = everybody if is_whole or needs_everybody(replica) else some

    def counted(self, feed: Feed) -> int:
        """How many entries of a feed count: up to the first turn under a version that is not in force."""
        if len(self.replica.versions) == len(self.versions):
            return len(feed.entries)
        strange = (e.number for e in feed.entries if e.act is Act.TURN and e.study not in self.versions)
        return next(strange, len(feed.entries))

    def _counted_turns(self, feed: Feed) -> list[FeedEntry]:
        """The turns of a feed that count."""
        return [entry for entry in feed.entries[: self.counted(feed)] if entry.act is Act.TURN]

    # ---------------------------------------------------------------------------------------------------- rounds

    @cached_property
    def closures(self) -> dict[int, tuple[str, ...]]:
        """The sites that are in, by round, as signed by the one whose turn it was to close it, or by the own drift."""
        found = dict(enumerate(self._moved_rounds))
        while (said := self._closure(len(found))) is not None:
            found[len(found)] = said
        return found

    def _closure(self, state: int) -> tuple[str, ...] | None:
        if state in self.drifts:
            return tuple(self.drifts[state])
        if self.official is not self:
            return self.official.closures.get(state)
        said = self._closings.get((self._closer(state), state))
        if said is None:
            return None
        self._closing = said[0]
        return said[1]

    @cached_property
    def drifts(self) -> dict[int, dict[str, int]]:
        """The rounds in which this site has gone on by itself: with which entry of which site."""
        entries = [] if self._is_official else self.replica.feeds[self.site].entries
        said = [entry.said for entry in entries if entry.act is Act.DRIFT and entry.said is not None]
        return {what["state"]: what["present"] for what in said}

    @cached_property
    def official(self) -> Record:
        """The record without the drifts of this site: what all sites agree on."""
        return Record(self.replica, self.site, is_official=True) if self.drifts else self

    @cached_property
    def is_arriving(self) -> bool:
        """Whether the study has come from a coordinator, and not all turns that have moved are here."""
        feeds = self.replica.feeds.values()
        is_all = all(feed.trouble or (feed.entries and len(feed.turns) >= feed.moved) for feed in feeds)
        return not is_all and any(feed.moved for feed in feeds)

    @cached_property
    def _moved_rounds(self) -> list[tuple[str, ...]]:
        """The sites that were in the rounds that a coordinator has closed; none until all have moved."""
        is_said = self.study.deadline is not None and not self.is_arriving  # without a deadline all have to be in
        feeds = self.replica.feeds.values() if is_said else ()
        moved = {(feed.site, _state(entry)) for feed in feeds for entry in feed.turns[: feed.moved]}
        rounds = range(1 + max((state for _, state in moved), default=-1))
        return [tuple(site for site in self.study.sites if (site, state) in moved) for state in rounds]

    @cached_property
    def _closings(self) -> dict[tuple[str, int], tuple[Study, tuple[str, ...]]]:
        """The version of whoever closes, and the sites that are in, by the one that says so and the round."""
        entries = [entry for feed in self.replica.feeds.values() for entry in feed.entries]
        said = [(entry, entry.said) for entry in entries if entry.act is Act.CLOSE and entry.study in self.versions]
        return {
            (entry.site, what["state"]): (self.versions[entry.study], tuple(what["present"]))
            for entry, what in reversed(said)
            if what is not None
        }

    def closer(self, state: int) -> str:
        """The site that has to close the open round: they take turns, except those who left before they did.

        The sites are those of the version under which the round before was closed: everybody finds the same.
        """
        return self._closer(state) if self.closures is self.official.closures else self.official.closer(state)

    def _closer(self, state: int) -> str:
        sites = self._closing.sites
        order = [sites[(state + k) % len(sites)] for k in range(len(sites))]
        return next((site for site in order if not self._left_before_closing(site, state)), order[0])

    def _left_before_closing(self, site: str, state: int) -> bool:
        return self.replica.feeds[site].has_left and (site, state) not in self._closings

    @cached_property
    def rounds(self) -> dict[int, dict[str, FeedEntry]]:
        """The entries of every round, by site."""
        found: dict[int, dict[str, FeedEntry]] = {}
        for feed in self.replica.feeds.values():
            closures, free = (self if feed.site == self.site else self.official).closures, 0
            for entry in self._counted_turns(feed):
                state = max(free, _state(entry))
                while state in closures and feed.site not in closures[state]:
                    state += 1
                found.setdefault(state, {})[feed.site] = entry
                free = state + 1
        return found | {state: self._named(state) for state in self.drifts}

    def _named(self, state: int) -> dict[str, FeedEntry]:
        """The entries with which this site has gone on in a round, as far as they are here."""
        feeds = [(self.replica.feeds[site].entries, number) for site, number in self.drifts[state].items()]
        named = [entries[number] for entries, number in feeds if number < len(entries)]
        return {entry.site: entry for entry in named if entry.act is Act.TURN}

    @cached_property
    def _closed_rounds(self) -> int:
        if self.study.deadline is not None:
            complete = (s for s, present in self.closures.items() if not self._has_all(s, present))
            return next(complete, len(self.closures))
        state = 0
        while self.rounds.get(state) and self._is_complete(state):
            state += 1
        return state

    def _is_complete(self, state: int) -> bool:
        """Whether everybody is in or decided whom the versions know under which the round was taken.

        The first version says whom to wait for. If one of these has taken the round under a later one, that says it:
        so nobody waits for a new site before somebody has accepted it, and all find the same.
        """
        study, is_last = self.replica.study, False
        while not is_last:
            awaited = [site for site in study.sites if site in self._needed]
            if not all(self._is_decided(site, state, study) for site in awaited):
                return False
            there = self.rounds[state]
            newest = max([self._version(there[site]) for site in awaited if site in there], default=study.version)
            is_last = newest <= study.version
            study = study if is_last else self._by_number[newest]
        return True

    @cached_property
    def _by_number(self) -> dict[int, Study]:
        return {study.version: study for study in self.versions.values()}

    def _has_all(self, state: int, present: Sequence[str]) -> bool:
        """Whether all entries of a round that are needed here have arrived, or will never come."""
        return all(self._is_decided(site, state) for site in present if site in self._needed)

    def _is_decided(self, site: str, state: int, study: Study | None = None) -> bool:
        """Whether a site is in, has gone on to a later round, or will not come any more in this version of a study."""
        feed = self.replica.feeds[site]
        if self._last_rounds.get(site, -1) >= state:
            return True
        return feed.has_left or self._experiments(feed) >= (study or self.study).budget(site)

    def _experiments(self, feed: Feed) -> int:
        turns = self._counted_turns(feed)
        return turns[-1].after if turns else 0

    @cached_property
    def _last_rounds(self) -> dict[str, int]:
        """The last round of every site that is in one."""
        return {site: state for state in sorted(self.rounds) for site in self.rounds[state]}

    def missing(self) -> list[str]:
        """The sites that the open round waits for; at the free pace nobody is waited for."""
        if not self.study.pace.waits:
            return []
        state = len(self.closures) if self.study.deadline is not None else self.closed
        return [site for site in self.study.sites if site in self._needed and not self._is_decided(site, state)]

    # ------------------------------------------------------------------------------------------- what a ledger reads

    @property
    def closed(self) -> int:
        """The number of closed states."""
        return self._closed_rounds if self.study.pace.waits else max(self._own, default=-1) + 1

    @cached_property
    def _own(self) -> dict[int, FeedEntry]:
        return self._turns(self.site)

    def _turns(self, site: str) -> dict[int, FeedEntry]:
        """At the free pace, the turns of a site by their states: those that a coordinator gave, then the next ones."""
        found: dict[int, FeedEntry] = {}
        following = 0
        for entry in self.replica.feeds[site].turns:
            given = None if entry.said is None else entry.said["state"]
            found[following if given is None else given] = entry
            following = 1 + (following if given is None else given)
        return found

    def entries(self, state: int) -> Mapping[str, Entry]:
        """All entries of a state, by site."""
        if not self.study.pace.waits:
            return {self.site: self.entry(self._own[state], state)} if state in self._own else {}
        proposed = self.rounds.get(state, {})
        present = self.closures.get(state, proposed)
        there = {site: entry for site, entry in proposed.items() if site in present}
        return RoundEntries(self, state, there if state >= self.closed else {**there, **self._unseen(state, there)})

    def _unseen(self, state: int, there: Mapping[str, FeedEntry]) -> dict[str, Entry]:
        """Stand-ins for the sites whose feeds are not needed here; their designs have no weight."""
        nowhere = ((0.0,) * self.study.space.dimension,)
        study = self._by_number[self._version(there[self.site])] if self.site in there else self.study
        rest = [site for site in study.sites if site not in self._needed and site not in there]
        return {site: Entry(state, Proposal(site, state, nowhere), state, version=study.version) for site in rest}

    def latest_of_all(self, state: int) -> Mapping[str, Entry]:
        """The last entry of every site that the own entry of this state had seen."""
        own = self._own[state]
        seen = {} if own.said is None else own.said["seen"]
        until = state if seen is None else None  # the turn has moved: it had seen what arrived before it
        counts = self._first_seen if seen is None else seen
        found = {site: self._last(self.replica.feeds[site], count, until) for site, count in counts.items()}
        return {site: entry for site, entry in found.items() if entry} | {self.site: self.entry(own, state)}

    @cached_property
    def _first_seen(self) -> Mapping[str, int]:
        """How much of the other feeds counts for turns that have moved: what the first turn after them had seen."""
        own = self.replica.feeds[self.site]
        first = next((entry.said for entry in own.turns[own.moved :] if entry.said is not None), None)
        others = [feed for feed in self.replica.feeds.values() if feed.entries and feed is not own]
        return {feed.site: len(feed.entries) for feed in others} if first is None else dict(first["seen"])

    def now(self) -> Mapping[str, Entry]:
        """The last entry of every site whose designs are known here."""
        feeds = self.replica.feeds.values()
        found = {feed.site: self._last(feed, self.counted(feed)) for feed in feeds}
        return {site: entry for site, entry in found.items() if entry}

    def _last(self, feed: Feed, count: int, until: int | None = None) -> Entry | None:
        """The last turn among the first entries of a feed, or of those that have moved, the last before a state."""
        if count > len(feed.entries) and not feed.trouble:  # what is refused by now counts no more
            raise CbocError(f"entries of '{feed.site}' that were seen before are missing; import them again.")
        turns = (entry for entry in reversed(feed.entries[:count]) if entry.act is Act.TURN)
        if until is not None:
            turns = (entry for entry in turns if entry.number <= feed.moved and _state(entry) < until)
        last = next(turns, None)
        return None if last is None else self.entry(last, last.turn)

    def experiments(self, state: int) -> Mapping[str, int]:
        """How many experiments every site has proposed, up to and including this round."""
        before = [entries for s, entries in sorted(self.rounds.items()) if s <= state]
        last = {site: entry for entries in before for site, entry in entries.items()}
        return {site: entry.after for site, entry in last.items()}

    def latest(self, site: str) -> Entry | None:
        """The last entry of a site."""
        if self.study.pace.waits:
            state = self._last_rounds.get(site)
            return None if state is None else self.entry(self.rounds[state][site], state)
        turns = self._turns(site)
        return self.entry(turns[max(turns)], max(turns)) if turns else None

    def find(self, site: str, turn: int) -> Entry | None:
        """The entry of a site for one of its turns."""
        if self.study.pace.waits:
            turns = {state: entries[site] for state, entries in self.rounds.items() if site in entries}
        else:
            turns = self._turns(site)
        return next((self.entry(entry, state) for state, entry in turns.items() if entry.turn == turn), None)

    def states(self, site: str, last: int) -> Sequence[int]:
        """The states of a site's entries, in order, up to and including `last`."""
        if not self.study.pace.waits:
            return [state for state in self._turns(site) if state <= last]
        return sorted(state for state, entries in self.rounds.items() if site in entries and state <= last)

    def accepted(self, site: str) -> int:
        """The version of the agreement that a site has accepted."""
        return self.replica.current(site).version

    @property
    def left(self) -> frozenset[str]:
        """The sites that have left."""
        return frozenset(feed.site for feed in self.replica.feeds.values() if feed.has_left)

    @property
    def departures(self) -> int:
        """The number of sites that have left."""
        return len(self.left)

    def entry(self, entry: FeedEntry, state: int) -> Entry:
        """An entry of a feed as one of a ledger; a design that is not known here stands at 0, and has no weight."""
        said = entry.said or {}
        nowhere = ((0.0,) * self.study.space.dimension,) * int(said["wells"])
        proposal = entry.proposal or Proposal(entry.site, entry.turn, nowhere, (), said["reward"])
        return Entry(state, proposal, said["earlier"], version=self._version(entry))

    def _version(self, entry: FeedEntry) -> int:
        return self.replica.versions[entry.study].version


class RoundEntries(Mapping[str, Entry]):
    """The entries of a round, by site; what they propose is read when somebody looks at it."""

    def __init__(self, record: Record, state: int, entries: Mapping[str, FeedEntry | Entry]) -> None:
        self._record, self._state, self._entries = record, state, entries

    def __getitem__(self, site: str) -> Entry:
        entry = self._entries[site]
        return entry if isinstance(entry, Entry) else self._record.entry(entry, self._state)

    def __contains__(self, site: object) -> bool:
        return site in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def drifts_in(replica: Replica) -> Iterator[Drift]:
    """The rounds in which sites have gone on by themselves, as far as that is known here."""
    for feed in replica.feeds.values():
        for entry in feed.entries:
            if entry.act is Act.DRIFT and entry.said is not None:
                yield Drift(feed.site, entry.said["state"], entry.said["awaited"])


def needs_everybody(replica: Replica) -> bool:
    """Whether a site needs to know about all sites, not only about its neighbours: their rewards, or who is in.

    An asymmetric matrix is made symmetric, everywhere, as soon as anybody is absent (`rebalance`).
    """
    study = replica.study
    return study.needs_rewards or study.deadline is not None or not study.rule.is_symmetric


def _state(entry: FeedEntry) -> int:
    return 0 if entry.said is None else int(entry.said["state"])
