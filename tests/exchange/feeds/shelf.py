"""A carrier in memory, for tests: a shelf on which everybody puts copies, and from which everybody takes them."""

from cboc.exchange.feeds.entry import FeedEntry
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.feeds.network import Feeds
from cboc.exchange.feeds.replica import Replica


class Shelf:
    silent = {}  # noqa: RUF012

    def __init__(self):
        self.copies = {}

    def give(self, replica, site):
        for entry in replica.feeds[site].entries:
            self.copies.setdefault(entry.hash, entry.to_bytes())

    def take(self, replica, sites):  # noqa: ARG002
        return [FeedEntry.from_bytes(copy) for copy in list(self.copies.values())]


def feeds(study, shelf=None, **options):
    """The network of every site, all on one shelf."""
    shelf = Shelf() if shelf is None else shelf
    networks = {name: Feeds(Replica(study), name, Keys.make(), shelf, **options) for name in study.sites}
    for network in networks.values():
        network.hello()
    return networks


def feed_of(shelf, study, name, accepted=()):
    """The network of one site, which joins under the newest version that is given."""
    network = Feeds(Replica(study, accepted=accepted), name, Keys.make(), shelf, study=[study, *accepted][-1])
    network.hello()
    return network
