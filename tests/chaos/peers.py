"""A transport: every site serves its neighbours from a process of its own, over wires that are cut for a while.

Where the machine does not allow namespaces all of them are on its loopback device, and nothing is cut.
"""

import random
import sys
import threading
import time
from collections import Counter
from itertools import combinations
from pathlib import Path

import cboc
from cboc.exchange.feeds.addresses import Addresses
from cboc.exchange.feeds.feedfile import FeedFile

from ..machine.ports import free_port
from .mortal import Mortal
from .namespaces import Namespaces, are_allowed
from .setting import DIRECTION, POLICY

PORT = 8443
CUT_EVERY, CUT_FOR = 4.0, 1.0  # seconds, on average, for each wire


class Peers:
    def __init__(self, setting, place):
        self._study, self._dice = setting.study, random.Random(setting.seed + 1)
        self._links = [(a, b) for a, b in combinations(self._study.sites, 2) if self._is_link(a, b)]
        self._spaces = Namespaces(self._study.sites, self._links) if are_allowed() else None
        self._ports = {site: PORT if self._spaces else free_port() for site in self._study.sites}
        self._cuts, self._is_over = Counter(), threading.Event()
        self._cutter = threading.Thread(target=self._cut_wires)
        self._files = {site: self._begun(site, place) for site in self._study.sites}
        for site, neighbour in self._pairs:
            code = self._files[neighbour].keys.identity.fingerprint
            Addresses(self._files[site]).add(neighbour, self._url(neighbour), code)
        self.servers = {f"server of {site}": self._server(site, place) for site in self._study.sites}

    @property
    def _pairs(self):
        return [pair for link in self._links for pair in (link, link[::-1])]

    def _is_link(self, one, other):
        return self._study.links[self._study.index(one), self._study.index(other)]

    def _begun(self, site, place):
        file = place / f"{site}.db"
        cboc.join("peers:", site=site, storage=file, study=self._study, direction=DIRECTION, policy=POLICY)
        return FeedFile(file.with_name(f"{file.name}.feeds"))

    def _host(self, site):
        return self._spaces.host(site) if self._spaces else "127.0.0.1"

    def _url(self, site):
        return f"https://{self._host(site)}:{self._ports[site]}"

    def _server(self, site, place):
        program = [sys.executable, str(Path(__file__).with_name("serve.py"))]
        where = ["--host", self._host(site), "--port", str(self._ports[site]), "--every", "0.5"]
        command = [*program, "peer", "serve", "--file", str(place / f"{site}.db"), *where]
        return Mortal(self.command(site, command), place / f"server-of-{site}.log")

    # ------------------------------------------------------------------------------------------ what is asked of it

    @property
    def victims(self):
        """What may be killed beside the sites."""
        return self.servers

    def start(self):
        for server in self.servers.values():
            server.start()
        self._cutter.start()

    def address(self, site):  # noqa: ARG002
        return "peers:"

    def command(self, site, command):
        return self._spaces.command(site, command) if self._spaces else command

    def settle(self, patience):
        """Leave the wires in place from now on, until all neighbours have each other's feeds."""
        until = time.monotonic() + patience
        self._is_over.set()
        self._cutter.join(patience)
        while any(self._count(one, other) < self._count(other, other) for one, other in self._pairs):
            assert time.monotonic() < until, "neighbours do not hear of each other any more"
            time.sleep(0.1)

    def _count(self, site, other):
        """How many entries of another site are in a site's file."""
        return sum(entry.site == other for entry in self._files[site].entries()[0])

    def kill(self):
        self._is_over.set()
        self._cutter.join()
        for server in self.servers.values():
            server.kill()
        if self._spaces:
            self._spaces.close()

    @property
    def tally(self):
        return self._cuts

    def entries(self, replica, keys):  # noqa: ARG002
        for file in self._files.values():
            yield from file.entries()[0]

    # ------------------------------------------------------------------------------------------------------- wires

    def _cut_wires(self):
        joins = {}  # when a wire that is cut is there again
        while self._spaces and not self._is_over.wait(0.05):
            now = time.monotonic()
            for link in self._links:
                if link not in joins and self._dice.random() < 0.05 / CUT_EVERY:
                    self._spaces.cut(link, is_heard=self._dice.random() < 0.7)
                    joins[link] = now + self._dice.expovariate(1.0 / CUT_FOR)
                    self._cuts["link cuts"] += 1
                elif joins.get(link, now) < now:
                    self._spaces.join(link)
                    del joins[link]
        for link in joins:
            self._spaces.join(link)
