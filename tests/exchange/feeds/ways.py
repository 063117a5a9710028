"""The ways on which entries reach a site, with a place where anybody may leave anything."""

from cboc.exchange.feeds.bundle import TITLE, read_bundle
from cboc.exchange.feeds.carrier import Nowhere
from cboc.exchange.feeds.folder import Folder, directory
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.feeds.network import Feeds
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.feeds.sealing import Seal


class FolderWay:
    """Through a shared folder."""

    seals = False

    def __init__(self, path):
        self.path, self._left = path, 0

    def network(self, agreed, name, keys=None):
        keys = Keys.make() if keys is None else keys
        folder = Folder(self.path, Seal(name, keys), seals=self.seals)
        folder.found(agreed)
        return Feeds(Replica(agreed), name, keys, folder)

    def contents(self, site):
        """What lies there of a site, in the order in which it was written."""
        return [file.read_bytes() for file in sorted((self.path / directory(site)).glob("*.entry"))]

    def clear(self, site):
        """Take away the entries that lie there of a site; not its keys, which it puts down once in a process."""
        for file in (self.path / directory(site)).glob("*.entry"):
            file.unlink()

    def leave(self, site, *contents):
        """Leave something there as if it were of a site."""
        place = self.path / directory(site)
        place.mkdir(exist_ok=True)
        for content in contents:
            self._left += 1
            (place / f"{900000 + self._left}-anything.entry").write_bytes(content)

    def deliver(self, network):
        """Let a site take what lies there."""
        network.sync()


class SealedWay(FolderWay):
    """Through a shared folder whose entries are sealed."""

    seals = True


class StickWay:
    """By a file; it holds what the others have exported, and whatever else."""

    def __init__(self, path):
        self.path, self._networks, self._left, self._cleared = path / "stick.cboc", [], [], set()

    def network(self, agreed, name, keys=None):
        network = Feeds(Replica(agreed), name, Keys.make() if keys is None else keys, Nowhere())
        self._networks.append(network)
        return network

    def contents(self, site):
        feeds = [network.feed for network in self._networks if network.site == site]
        return [entry.to_bytes() for feed in feeds for entry in feed.entries]

    def clear(self, site):
        self._cleared.add(site)
        self._left = []

    def leave(self, site, *contents):  # noqa: ARG002
        self._left += contents

    def deliver(self, network):
        others = {other.site for other in self._networks} - self._cleared - {network.site}
        lines = [content for site in sorted(others) for content in self.contents(site)]
        self.path.write_bytes(b"\n".join([TITLE, *lines, *self._left, b""]))
        for entry in sorted(read_bundle(self.path), key=lambda entry: entry.number):
            network.bring(entry)


WAYS = {"folder": FolderWay, "sealed folder": SealedWay, "stick": StickWay}
