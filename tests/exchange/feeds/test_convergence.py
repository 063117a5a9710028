"""Whatever the order in which entries come, how often, with or without their designs, replicas converge."""

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from cboc.exchange.feeds.carrier import Nowhere
from cboc.exchange.feeds.entry import DESIGNS, FeedEntry, write
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.feeds.network import Feeds
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.messages import Proposal

from ..test_network import SITES, study

KEYS = {name: Keys.make() for name in SITES}
sites = st.sampled_from(SITES)


class Replication(RuleBasedStateMachine):
    """Three sites write; entries are carried in any way, some of them forged; in the end all arrive."""

    @initialize()
    def begin(self):
        self.agreed = study(pace="free", name="convergence")
        self.written = []
        self.networks = {name: Feeds(Replica(self.agreed), name, KEYS[name], Nowhere()) for name in SITES}
        for network in self.networks.values():
            network.hello()
            self.written += network.feed.entries
        self.stranger = Replica(self.agreed)

    @rule(name=sites, x=st.floats(0.0, 1.0))
    def propose(self, name, x):
        network = self.networks[name]
        turn = len(network.feed.turns)
        if turn < 4 and not network.feed.has_left:
            network.submit(Proposal(name, turn, [(x, 0.5)], [(0.25, x)]))
            self.written.append(network.feed.last)

    @rule(name=sites)
    def leave(self, name):
        network = self.networks[name]
        if not network.feed.has_left:
            network.leave(name)
            self.written.append(network.feed.last)

    @rule(name=sites, x=st.floats(0.0, 1.0))
    def fork(self, name, x):
        """An old copy of the site writes something else as its last entry."""
        feed = self.networks[name].feed
        if len(feed.entries) > 1:
            said = {"act": "turn", "seen": {}, "earlier": 0, "wells": 1}
            designs = {"X": [[x, x]]}
            digest = self.agreed.digest
            self.written.append(write(KEYS[name], digest, name, feed.entries[0], 0, said, designs))

    @rule(data=st.data(), name=sites, is_partial=st.booleans())
    def carry(self, data, name, is_partial):
        entry = data.draw(st.sampled_from(self.written))
        if entry.site != name:
            self.networks[name].replica.take(entry.without(DESIGNS) if is_partial else entry)

    @rule(data=st.data())
    def show(self, data):
        self.stranger.take(data.draw(st.sampled_from(self.written)))

    @rule(data=st.data())
    def forge(self, data):
        """Somebody changes an entry, or signs it with other keys: nobody takes it."""
        entry = data.draw(st.sampled_from(self.written))
        forged = FeedEntry(entry.head, Keys.make().sign(entry.head.encode()), entry.parts)
        changed = FeedEntry(entry.head.replace('"turn": ', '"turn": 1'), entry.signature, entry.parts)
        before = self._everything(self.stranger)
        for each in (forged, changed):
            if not self.stranger.knows(each):
                self.stranger.take(each)
        assert self._everything(self.stranger) == before

    def _everything(self, replica):
        return [(list(feed.entries), dict(feed.later), feed.fork) for feed in replica.feeds.values()]

    @invariant()
    def feeds_are_chains(self):
        for network in getattr(self, "networks", {}).values():
            for feed in network.replica.feeds.values():
                for earlier, later in zip(feed.entries, feed.entries[1:], strict=False):
                    assert later.before == earlier.hash and later.number == earlier.number + 1

    def teardown(self):
        if not hasattr(self, "written"):
            return
        forward, backward = Replica(self.agreed), Replica(self.agreed)
        for replica, order in ((forward, self.written), (backward, self.written[::-1]), (self.stranger, self.written)):
            for _ in range(len(self.written)):  # an entry whose hello has not come yet is refused, and comes again
                for entry in order:
                    replica.take(entry)
        for site in SITES:
            ours = [self._known(replica, site) for replica in (forward, backward, self.stranger)]
            assert ours[0] == ours[1] == ours[2]
            if not forward.feeds[site].fork:
                assert ours[0][0] == [entry.hash for entry in self.networks[site].feed.entries]

    def _known(self, replica, site):
        feed = replica.feeds[site]
        fork = None if feed.fork is None else feed.fork[0].number
        return [entry.hash for entry in feed.entries], fork, bool(feed.trouble)


TestReplication = Replication.TestCase
TestReplication.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
