"""Whatever the order in which entries come, how often, with which of their parts, replicas converge."""

from contextlib import suppress

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from cboc import Waiting
from cboc.exchange.feeds.carrier import Nowhere
from cboc.exchange.feeds.entry import DESIGNS, SAID, FeedEntry, write
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.feeds.network import Feeds
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.messages import Proposal

from ..test_network import SITES, Clock, study

KEYS = {name: Keys.make() for name in SITES}
DEADLINE = 60.0
sites = st.sampled_from(SITES)
parts = st.sets(st.sampled_from([SAID, DESIGNS]))


class Kept:
    """What a file of feeds would hold: an entry that was incomplete is replaced, and comes last."""

    def __init__(self):
        self._entries = {}

    def __call__(self, entry):
        place = (entry.site, entry.number, entry.hash)
        self._entries.pop(place, None)
        self._entries[place] = entry

    def in_order(self):
        return sorted(self._entries.values(), key=lambda entry: entry.number)


class Replication(RuleBasedStateMachine):
    """Three sites come, write and leave; their entries are dropped, doubled, reordered, cut up and forged.

    Copies of sites write as well, after any entry, and go on. In the end everything arrives, in whatever order.
    """

    @initialize(terms=st.sampled_from([{"pace": "free"}, {"pace": "rounds", "deadline": DEADLINE}]))
    def begin(self, terms):
        self.agreed, self.clock = study(name="convergence", **terms), Clock()
        self.written = []
        options = {"clock": self.clock, "drifts": True}
        self.networks = {name: Feeds(Replica(self.agreed), name, KEYS[name], Nowhere(), **options) for name in SITES}
        self.kept = Kept()
        self.stranger = Replica(self.agreed, self.kept)
        for name in SITES[:2]:  # the third one comes when it comes
            self.arrive(name)

    def _feed(self, name):
        return self.networks[name].feed

    def _wrote(self, name):
        self.written.append(self._feed(name).last)

    @rule(name=sites)
    def arrive(self, name):
        if self._feed(name).last is None:
            self.networks[name].hello()
            self._wrote(name)

    @rule(name=sites, x=st.floats(0.0, 1.0))
    def propose(self, name, x):
        feed = self._feed(name)
        if feed.entries and len(feed.turns) < 4 and not feed.has_left:
            with suppress(Waiting):
                self.networks[name].submit(Proposal(name, len(feed.turns), [(x, 0.5)], [(0.25, x)]))
                self._wrote(name)

    @rule(name=sites, times=st.sampled_from([0, 1, 2]))
    def close(self, name, times):
        """In rounds: the one whose turn it is closes one, and others drift when the deadline has passed twice."""
        feed, self.clock.now = self._feed(name), self.clock.now + times * DEADLINE
        known = len(feed.entries)
        if known and not feed.has_left:
            self.networks[name].standing()
            self.written += feed.entries[known:]

    @rule(name=sites)
    def leave(self, name):
        if self._feed(name).entries and not self._feed(name).has_left:
            self.networks[name].leave(name)
            self._wrote(name)

    @rule(data=st.data(), name=sites, x=st.floats(0.0, 1.0), goes_on=st.booleans())
    def fork(self, data, name, x, goes_on):
        """An old copy of the site writes something else after any of its entries, and perhaps goes on."""
        entries = self._feed(name).entries
        if len(entries) < 2:
            return
        number = data.draw(st.integers(1, len(entries) - 1))
        last = entries[number - 1]
        turns = sum(entry.act == "turn" for entry in entries[:number])
        state = max((entry.said["state"] or 0 for entry in entries[:number] if entry.act == "turn"), default=-1)
        for turn in range(turns, min(4, turns + 1 + goes_on)):
            state += 1
            place = {"state": state} if self.agreed.pace.waits else {"seen": {}}
            said = {"act": "turn", "earlier": turn, "wells": 1} | place
            last = write(KEYS[name], self.agreed.digest, name, last, turn, said, {"X": [[x, x]]})
            self.written.append(last)

    @rule(data=st.data(), name=sites, missing=parts, times=st.integers(1, 2))
    def carry(self, data, name, missing, times):
        entry = data.draw(st.sampled_from(self.written))
        for _ in range(times):
            if entry.site != name:
                self.networks[name].replica.take(_without(entry, missing))

    @rule(data=st.data(), missing=parts)
    def show(self, data, missing):
        self.stranger.take(_without(data.draw(st.sampled_from(self.written)), missing))

    @rule(most=st.integers(0, 8))
    def restart(self, most):
        """The stranger begins anew from what it has kept, some of it known to have counted, and knows the same."""
        again = Replica(self.agreed, self.kept)
        counted = {site: min(most, len(feed.entries)) for site, feed in self.stranger.feeds.items()}
        again.restore(self.kept.in_order(), counted)
        for site in SITES:
            assert _known(again, site) == _known(self.stranger, site)
        self.stranger = again

    @rule(data=st.data())
    def forge(self, data):
        """Somebody changes an entry, or signs it with other keys: nobody takes it."""
        entry = data.draw(st.sampled_from(self.written))
        forged = FeedEntry(entry.head, Keys.make().sign(entry.head.encode()), entry.parts)
        changed = FeedEntry(entry.head.replace('"turn": ', '"turn": 1'), entry.signature, entry.parts)
        before = self._everything(self.stranger)
        for each in (forged, changed):
            if not self.stranger.knows(each) and each.hash not in self._waiting(each.site):
                self.stranger.take(each)
        assert self._everything(self.stranger) == before

    def _waiting(self, site):
        """Entries that wait for their parts; these are their own proof, whoever brings them."""
        return {entry.hash for entry in self.stranger.feeds[site].later.values()}

    def _everything(self, replica):
        return [(list(feed.entries), dict(feed.later), feed.fork) for feed in replica.feeds.values()]

    @invariant()
    def feeds_are_chains_of_entries_that_say_something(self):
        for network in getattr(self, "networks", {}).values():
            for feed in network.replica.feeds.values():
                assert all(entry.is_whole for entry in feed.entries if entry.site in network.replica.designs_of)
                for earlier, later in zip(feed.entries, feed.entries[1:], strict=False):
                    assert later.before == earlier.hash and later.number == earlier.number + 1

    def teardown(self):
        if not hasattr(self, "written"):
            return
        forward, backward, others = Replica(self.agreed), Replica(self.agreed), self.networks.values()
        orders = [(forward, 1), (backward, -1), (self.stranger, 1), *((network.replica, -1) for network in others)]
        for replica, step in orders:
            for _ in range(3):  # an entry whose hello has not come yet is refused, and comes again
                for entry in self.written[::step]:
                    replica.take(entry)
        for site in SITES:
            known = [_known(replica, site) for replica, _ in orders]
            assert known.count(known[0]) == len(known)
            if not forward.feeds[site].fork:
                assert known[0][0] == [entry.hash for entry in self._feed(site).entries]


def _without(entry, missing):
    for part in missing if entry.number else ():  # a hello is never sealed
        entry = entry.without(part)
    return entry


def _known(replica, site):
    feed = replica.feeds[site]
    fork = None if feed.fork is None else feed.fork[0].number
    return [entry.hash for entry in feed.entries], fork, bool(feed.trouble)


TestReplication = Replication.TestCase
TestReplication.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
