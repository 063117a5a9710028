"""A transport: every site has its own copy of a folder, and a bad copier keeps the copies the same."""

import json
import sys
from pathlib import Path

from cboc.exchange.feeds.folder import Folder
from cboc.exchange.feeds.sealing import Seal

from .mortal import Mortal


class Folders:
    def __init__(self, setting, place):
        self._setting, self._tally = setting, place / "copier.json"
        self.copies = {site: place / f"copy-of-{site}" for site in setting.study.sites}
        for copy in self.copies.values():
            copy.mkdir()
        given = [setting.seed, setting.delay, self._tally, *self.copies.values()]
        program = [sys.executable, str(Path(__file__).with_name("copier.py"))]
        self._copier = Mortal([*program, *map(str, given)], place / "copier.log")

    @property
    def victims(self):
        """What may be killed beside the sites."""
        return {}

    def start(self):
        self._copier.start()

    def address(self, site):
        return f"folder:{self.copies[site]}"

    def command(self, site, command):  # noqa: ARG002
        """The command that starts something at a site."""
        return command

    def settle(self, patience):
        """Let all copies become the same, and stop."""
        assert self._copier.end(patience) == 0, "the copier has failed, or does not come to an end"

    def kill(self):
        self._copier.kill()

    @property
    def tally(self):
        return json.loads(self._tally.read_text())

    def entries(self, replica, keys):
        """All entries of all copies, with the parts that somebody can read."""
        for copy in self.copies.values():
            for site, owned in keys.items():
                yield from Folder(copy, Seal(site, owned)).take(replica, replica.study.sites)
