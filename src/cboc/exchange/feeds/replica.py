"""The feeds of a study as far as they are known here, whatever the order in which their entries came.

An entry counts when all before it are there, and all of its parts that are needed here. What is incomplete is not there
yet; what nobody can have written is refused. Two signed entries with one number are a fork: somebody runs two copies of
a site, or an old one. From the fork on the feed is refused, and both entries are kept as the proof.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from cboc.errors import CbocError
from cboc.exchange.feeds.entry import DESIGNS, FIRST, SAID, Act, FeedEntry
from cboc.exchange.feeds.keys import Identity
from cboc.exchange.feeds.versions import check_amendment, in_force, named_by
from cboc.exchange.study import Study
from cboc.exchange.wire import Misfit

MOST_LATER = 10_000  # entries of a feed that wait for earlier ones


class Taken(StrEnum):
    """What became of an entry."""

    NEW = "new"
    KNOWN = "known"
    LATER = "later"  # entries before it are missing, or parts of it
    REFUSED = "refused"


@dataclass
class Feed:
    """The entries of one site, in order, and why no more are taken."""

    site: str
    identity: Identity | None = None  # of the first hello: from then on the site is known by these keys
    entries: list[FeedEntry] = field(default_factory=list)
    later: dict[int, FeedEntry] = field(default_factory=dict)  # signed, but something before or in them is missing
    fork: tuple[FeedEntry, FeedEntry] | None = None
    trouble: str = ""  # one sentence: why nothing more is taken
    stranger: str = ""  # one sentence: who else calls itself so, and is refused
    named: dict[int, tuple[str, int]] = field(default_factory=dict)  # versions agreed to, by the entry's number

    @property
    def last(self) -> FeedEntry | None:
        """The last entry that counts."""
        return self.entries[-1] if self.entries else None

    @property
    def turns(self) -> list[FeedEntry]:
        """The entries that take a turn."""
        return [entry for entry in self.entries if entry.act is Act.TURN]

    def continues_with(self, entry: FeedEntry) -> bool:
        """Whether an entry is the one after the last."""
        return entry.number == len(self.entries) and entry.before == (FIRST if self.last is None else self.last.hash)

    @property
    def moved(self) -> int:
        """How many turns come first that a coordinator has answered, before the study moved to feeds."""
        said = self.entries[0].said if self.entries else None
        return 0 if said is None else int(said["moved"] or 0)

    @property
    def signed(self) -> dict[str, int]:
        """The numbers of the versions of the study that the site has agreed to, by their digests."""
        return dict(self.named.values())

    @property
    def has_left(self) -> bool:
        """Whether nothing more is to come: the site has left, or its feed is refused from here on."""
        return bool(self.trouble) or (self.last is not None and self.last.act is Act.LEAVE)


class Replica:
    """All feeds of a study. `keep` is called with every entry that is taken, before it counts.

    `pinned` gives the codes of sites whose keys people have compared. `study` is what was agreed at first, and
    `accepted` are the later versions that are known to be in force.
    """

    def __init__(
        self,
        study: Study,
        keep: Callable[[FeedEntry], None] | None = None,
        pinned: Callable[[], Mapping[str, str]] = dict,
        accepted: Sequence[Study] = (),
    ) -> None:
        self.study, self._keep, self._pinned, self._accepted = study, keep, pinned, accepted
        self.versions: dict[str, Study] = {}  # all that somebody has agreed to, by their digests
        self.feeds: dict[str, Feed] = {}
        for each in (study, *accepted):
            self._meet(each)
        self.designs_of: Container[str] = ()  # the sites whose entries count with their designs only
        self.refused: dict[str, str] = {}  # reasons, by the hash of the entry; the latest few
        self.changes = 0  # how often an entry has come to count, got a part, or ceased to count

    def restore(self, entries: Iterable[FeedEntry], counted: Mapping[str, int]) -> None:
        """Take in what was kept before. Of every feed, as many as have counted then were checked, and are not again."""
        codes = self._pinned()
        waiting, before = [entry for entry in entries if not self._has(entry)], -1
        while len(waiting) != before:  # a new site's entries come after those that admit it
            before = len(waiting)
            waiting = [entry for entry in waiting if not self._restored(entry, counted, codes)]
        self.load(waiting)  # they wait for others, or prove a fork, or are not counted yet

    def _has(self, entry: FeedEntry) -> bool:
        """Whether nothing of an entry is new."""
        feed = self.feeds.get(entry.site)
        known = None if feed is None or entry.number >= len(feed.entries) else feed.entries[entry.number]
        return known is not None and known.hash == entry.hash and entry.parts.keys() <= known.parts.keys()

    def _restored(self, entry: FeedEntry, counted: Mapping[str, int], codes: Mapping[str, str]) -> bool:
        """Append an entry that has counted before, if it follows and is enough."""
        feed = self.feeds.get(entry.site)
        if feed is None or entry.study not in self.versions or entry.number >= counted.get(entry.site, 0):
            return False
        if feed.trouble or not feed.continues_with(entry) or not self._is_enough(entry):
            return False
        identity = entry.identity if feed.identity is None else feed.identity
        if identity is None or (entry.number == 0 and codes.get(entry.site) not in (None, identity.fingerprint)):
            return False
        self._count(feed, identity, entry)
        return True

    def load(self, entries: Iterable[FeedEntry]) -> None:
        """Take in what is kept by now."""
        keep, self._keep = self._keep, None
        try:
            waiting = list(entries)
            while waiting:  # a new site's entries come after those that admit it, which have higher numbers
                refused = [entry for entry in waiting if self.take(entry) is Taken.REFUSED]
                waiting = refused if len(refused) < len(waiting) else []
        finally:
            self._keep = keep

    def take(self, entry: FeedEntry) -> Taken:
        """Take an entry in; the same one as often as you like, in any order."""
        try:
            feed = self._feed(entry)
            identity = self._identity(feed, entry)
        except CbocError as error:
            return self._refuse(entry, str(error))
        known = feed.entries[entry.number] if entry.number < len(feed.entries) else feed.later.get(entry.number)
        if known is not None and known.hash == entry.hash:
            return self._complete(feed, identity, known, entry)
        if not entry.is_signed_by(identity):
            return self._refuse(entry, f"it is not signed by '{entry.site}'")
        if feed.fork is not None and entry.number >= feed.fork[0].number:
            return Taken.KNOWN if entry.hash in {each.hash for each in feed.fork} else Taken.REFUSED
        if known is not None:
            return self._split(feed, known, entry)
        if feed.trouble and feed.fork is None:
            return self._refuse(entry, feed.trouble)
        if entry.number > len(feed.entries) or not self._is_enough(entry):
            if len(feed.later) >= MOST_LATER:
                return self._refuse(entry, "too many entries before it are missing")
            self._kept(entry)
            feed.later[entry.number] = entry
            return Taken.LATER
        return self._append(feed, identity, entry)

    # ------------------------------------------------------------------------------------------------ one by one

    def _feed(self, entry: FeedEntry) -> Feed:
        if entry.study not in self.versions:
            raise CbocError("it belongs to another study")  # or to a version that is not known here yet: taken later
        if not self.versions[entry.study].has(entry.site):
            raise CbocError(f"the study has no site '{entry.site}'")
        return self.feeds[entry.site]

    def _identity(self, feed: Feed, entry: FeedEntry) -> Identity:
        """The keys that the entry has to be signed with: those of the first hello of its site."""
        said = entry.identity
        if feed.identity is None:
            if said is None:
                raise CbocError(f"'{entry.site}' has not said hello yet")
            check_hello(self.versions[entry.study], entry, said)
            if self._pinned().get(entry.site) not in (None, said.fingerprint):
                raise CbocError(
                    f"somebody else calls itself '{entry.site}': the code of its keys is {said.fingerprint}, not the "
                    "one that was added"
                )
            return said
        if said is not None and said != feed.identity:
            check_hello(self.versions[entry.study], entry, said)
            feed.stranger = (
                f"somebody else calls itself '{entry.site}': its keys are {said.fingerprint}, those that are known are "
                f"{feed.identity.fingerprint}"
            )
            raise CbocError(feed.stranger)
        return feed.identity

    def check(self, entry: FeedEntry) -> None:
        """Raise one sentence if a new entry cannot follow the feed of its site."""
        check_next(self.versions[entry.study], self.feeds[entry.site], entry)

    def _is_enough(self, entry: FeedEntry) -> bool:
        """Whether all parts are there that have to be known here before an entry counts."""
        return entry.is_whole or (entry.site not in self.designs_of and SAID in entry.parts)

    def _append(self, feed: Feed, identity: Identity, entry: FeedEntry) -> Taken:
        """Append the entry, and those after it that have waited for it."""
        following: FeedEntry | None = entry
        while following is not None:
            if feed.last is not None and following.before != feed.last.hash:
                self._refuse(following, "it does not follow the entry before it")
                return Taken.REFUSED if following is entry else Taken.NEW
            if following is entry:
                self._kept(entry)  # also if it cannot be: it is signed, and proves that
            try:
                check_next(self.versions[following.study], feed, following)
            except CbocError as error:
                feed.trouble = f"entry {following.number} of '{feed.site}' cannot be: {error}"
                self.changes += 1
                return self._refuse(following, feed.trouble)
            self._count(feed, identity, following)
            following = self._waiting(feed)
        return Taken.NEW

    def _count(self, feed: Feed, identity: Identity, entry: FeedEntry) -> None:
        self.changes += 1
        feed.identity = identity
        feed.entries.append(entry)
        self._note_version(feed, entry)

    def _note_version(self, feed: Feed, entry: FeedEntry) -> None:
        """Note which version of the study a site agrees to, if the entry says that; new sites may have feeds then."""
        study = self.versions[entry.study] if entry.act is Act.HELLO else named_by(entry)
        if study is not None:
            feed.named[entry.number] = (self._meet(study), study.version)

    def _meet(self, study: Study) -> str:
        """Get to know a version and its sites; returns its digest."""
        same = [digest for digest, known in self.versions.items() if known is study]
        digest = same[0] if same else study.digest
        if digest not in self.versions:
            self.versions[digest] = study
            self.feeds = {
                site: self.feeds.get(site) or Feed(site) for site in dict.fromkeys([*self.feeds, *study.sites])
            }
        return digest

    def _waiting(self, feed: Feed) -> FeedEntry | None:
        """The next entry of a feed, if it has come before and is not waiting for parts of its own."""
        following = feed.later.get(len(feed.entries))
        is_next = following is not None and self._is_enough(following)
        return feed.later.pop(len(feed.entries)) if is_next else None

    def _complete(self, feed: Feed, identity: Identity, known: FeedEntry, entry: FeedEntry) -> Taken:
        """Add parts that were missing to an entry that is known."""
        parts = {**entry.parts, **known.parts}
        if parts.keys() == known.parts.keys():
            return Taken.KNOWN
        whole = FeedEntry(known.head, known.signature, parts)
        try:
            whole.check()
            if known.number < len(feed.entries):
                check_proposal(self.versions[whole.study], whole)
        except CbocError as error:
            return self._refuse(entry, str(error))
        if known.number < len(feed.entries):
            self._kept(whole)
            self.changes += 1
            feed.entries[known.number] = whole
            return Taken.NEW
        if known.number == len(feed.entries) and self._is_enough(whole):
            del feed.later[known.number]
            return self._append(feed, identity, whole)
        self._kept(whole)
        feed.later[known.number] = whole
        return Taken.LATER

    def _split(self, feed: Feed, known: FeedEntry, entry: FeedEntry) -> Taken:
        """Refuse a feed from the entry on of which there are two."""
        self._kept(entry)
        self.changes += 1
        feed.fork = (known, entry)
        feed.trouble = (
            f"there are two entries {entry.number} of '{feed.site}', both signed ({known.hash[:12]} and "
            f"{entry.hash[:12]}): two copies of the site are in use, or an old one; from there on it is refused"
        )
        del feed.entries[entry.number :]
        feed.named = {number: study for number, study in feed.named.items() if number < entry.number}
        feed.later = {number: each for number, each in feed.later.items() if number < entry.number}
        return Taken.REFUSED

    def _kept(self, entry: FeedEntry) -> None:
        if self._keep is not None:
            self._keep(entry)

    def _refuse(self, entry: FeedEntry, reason: str) -> Taken:
        self.refused[entry.hash] = reason
        while len(self.refused) > len(self.feeds) + 10:
            del self.refused[next(iter(self.refused))]
        return Taken.REFUSED

    # ------------------------------------------------------------------------------------------------ all of them

    def entries(self) -> Iterator[FeedEntry]:
        """All entries that are known here, with the proofs of forks."""
        for feed in self.feeds.values():
            yield from feed.entries
            yield from feed.later.values()
            yield from feed.fork or ()

    @property
    def troubles(self) -> list[str]:
        """A sentence for every feed that is refused from some entry on."""
        return [feed.trouble for feed in self.feeds.values() if feed.trouble]

    def knows(self, entry: FeedEntry) -> bool:
        """Whether an entry counts here, or proves a fork: then nothing more of it is needed."""
        feed = self.feeds.get(entry.site)
        if feed is None:
            return False
        is_there = entry.number < len(feed.entries) and feed.entries[entry.number].hash == entry.hash
        return is_there or any(other.hash == entry.hash for other in feed.fork or ())

    def in_force(self) -> list[Study]:
        """The versions of the study that are in force, as far as the feeds here show; the newest last."""
        known = [self.study, *self._accepted]
        if len(self.versions) == len(known):
            return known
        left = [feed.site for feed in self.feeds.values() if feed.has_left]
        return in_force(known, self.versions, {feed.site: feed.signed for feed in self.feeds.values()}, left)

    def current(self, site: str) -> Study:
        """The newest version in force that a site has agreed to; the first that names it, if it has said nothing."""
        versions = self.in_force()
        signed = self.feeds[site].signed
        own = [study for study in versions[1:] if study.digest in signed]
        return own[-1] if own else next(study for study in versions if study.has(site))

    def neighbours(self, site: str) -> list[str]:
        """The sites whose designs a site may see, in the order of the study, in its current version."""
        return neighbours_of(self.current(site), site)


def neighbours_of(study: Study, site: str) -> list[str]:
    """The neighbours of a site in the study's graph, in the order of the study."""
    links = study.links[study.index(site)]
    return [name for name, is_linked in zip(study.sites, links, strict=True) if is_linked and name != site]


def check_hello(study: Study, entry: FeedEntry, named: Identity) -> None:
    """Raise one sentence if a hello is not signed with the keys that it names, or names another agreement."""
    if not entry.is_signed_by(named):
        raise CbocError("its hello is not signed with the keys that it names")
    if entry.said is None or entry.said["agreement"] != json.loads(study.canonical):
        raise CbocError("it names another agreement")


def check_next(study: Study, feed: Feed, entry: FeedEntry) -> None:
    """Raise one sentence if a signed entry cannot follow the feed."""
    said = entry.said
    if feed.last is not None and feed.last.act is Act.LEAVE:
        raise CbocError("the site has left before")
    if said is None or entry.act is Act.HELLO:
        return
    check_version(study, feed, entry)
    turns = feed.turns
    before, is_moved = turns[-1] if turns else None, len(turns) < feed.moved
    if entry.turn < (0 if before is None else before.turn + (entry.act is Act.TURN)):
        raise CbocError("its turn was taken before")
    if entry.act is Act.CLOSE:
        check_closure(study, feed, said)
    if entry.act is Act.DRIFT:
        check_drift(study, feed, entry)
    if entry.act is not Act.TURN:
        if is_moved:
            raise CbocError("a turn that has moved is missing before it")
        return
    last = None if before is None else before.said
    spent = said["earlier"] if last is None else last["earlier"] + last["wells"]
    if said["earlier"] != spent or not 1 <= said["wells"] <= study.budget(entry.site) - spent:
        raise CbocError("it counts its experiments wrongly, or has more than its budget")
    has_state = study.pace.waits or is_moved
    if (said["state"] is None) == has_state or (said["seen"] is None) != has_state:
        raise CbocError("it belongs to another pace")
    if has_state and last is not None and said["state"] <= last["state"]:
        raise CbocError("its round is not after its last one")
    if has_state and said["state"] >= study.all_budgets.sum():
        raise CbocError("its round is further on than the study can be")
    if not has_state and not set(said["seen"]) <= set(study.sites) - {entry.site}:
        raise CbocError("it has seen sites that the study does not have")
    if study.needs_rewards != (said["reward"] is not None):
        raise CbocError("it has a reward where the rule asks for none, or none where it asks for one")
    check_proposal(study, entry)


def check_version(study: Study, feed: Feed, entry: FeedEntry) -> None:
    """Raise one sentence if an entry is under a version that its site cannot have, or agrees to one that cannot be."""
    signed = feed.signed
    last = 0 if feed.last is None else signed.get(feed.last.study, 0)
    if entry.study not in signed or study.version < last:
        raise CbocError("it is under a version of the study that its site has not agreed to, or has left behind")
    if entry.act is Act.AMEND:
        new = named_by(entry)
        if new is None or new.version <= max(signed.values()):
            raise CbocError("it agrees to a version that is not one, or not a new one")
        check_amendment(study, new)


def check_closure(study: Study, feed: Feed, said: Mapping[str, Any]) -> None:
    """Raise one sentence if a site cannot have closed a round in this way."""
    closed = {entry.said["state"] for entry in feed.entries if entry.act is Act.CLOSE and entry.said is not None}
    present = set(said["present"])
    if not study.pace.waits or study.deadline is None:
        raise CbocError("it closes a round, which the study leaves to nobody")
    if said["state"] in closed or said["state"] >= study.all_budgets.sum():
        raise CbocError("it closes a round twice, or one that is further on than the study can be")
    if not present or not present <= set(study.sites):
        raise CbocError("it closes a round with nobody, or with sites that the study does not have")


def check_drift(study: Study, feed: Feed, entry: FeedEntry) -> None:
    """Raise one sentence if a site cannot go on in this way, as far as its own feed shows."""
    said: Mapping[str, Any] = entry.said or {}
    earlier = [each.said["state"] for each in feed.entries if each.act is Act.DRIFT and each.said is not None]
    if study.deadline is None:
        raise CbocError("it goes on without waiting in a study that has no deadline")
    if not set(said["present"]) <= set(study.sites) or len(said["present"]) < study.quorum:
        raise CbocError("it goes on with fewer sites than the quorum, or with sites that the study does not have")
    if said["state"] >= study.all_budgets.sum():
        raise CbocError("it goes on in a round that is further on than the study can be")
    own = feed.turns[-1].number if feed.turns else None
    if own is None or said["present"].get(feed.site) != own or said["state"] <= max(earlier, default=-1):
        raise CbocError("it goes on in a round in which it has proposed nothing")


def check_proposal(study: Study, entry: FeedEntry) -> None:
    """Raise one sentence if the designs of an entry, as far as they are here, do not fit the study."""
    if entry.proposal is not None:
        study.check_proposal(entry.proposal)
    elif DESIGNS in entry.parts:
        raise Misfit("its designs are there, and what it says is missing")
