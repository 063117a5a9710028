"""Chaos on demand, with progress and a summary: python -m tests.chaos --turns 100"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from itertools import product
from pathlib import Path

from .checker import Checker
from .folders import Folders
from .peers import Peers
from .play import play
from .setting import Setting

TRANSPORTS = {"folder": Folders, "peers": Peers}
CHOICES = ("rounds", "free"), ("uniform", "leader"), ("complete", "ring")
COLUMNS = ("turns", "wrong mixes", "matrices", "kills", "link cuts", "files", "half-written", "flipped")
COLUMNS += ("conflict copies", "duplicates")


def settings(given):
    """Both paces, two rules, two graphs; every other one is sealed."""
    for choice in product((0, 1), repeat=3):
        pace, rule, graph = (names[k] for names, k in zip(CHOICES, choice, strict=True))
        sealed = given.transport == "folder" and sum(choice) % 2 == given.seed % 2
        yield Setting(pace, rule, graph, sealed, given.sites, given.turns, given.kills, 0.05, 3600.0, given.seed)


def progress(setting, began):
    def tell(words):
        if sys.stderr.isatty():
            print(f"\r{setting}: {words}, {time.monotonic() - began:.0f} s   ", end="", file=sys.stderr)

    return tell


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transport", choices=TRANSPORTS, default="folder")
    parser.add_argument("--sites", type=int, default=4)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help='such as "rounds, leader": only what begins so is played')
    given, total = parser.parse_args(), Counter()
    for setting in settings(given):
        if not str(setting).startswith(given.only):
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as place:
            transport = TRANSPORTS[given.transport](setting, Path(place))
            done = play(setting, transport, Path(place), progress(setting, began))
            done.update(Checker(setting, transport, Path(place)).check())
        total += done
        print(f"\r{setting}: {summary(done)}, {time.monotonic() - began:.0f} s", flush=True)
    print(f"all: {summary(total)}")


def summary(tally):
    return ", ".join(f"{tally[name]} {name}" for name in COLUMNS if tally[name] or name == "wrong mixes")


if __name__ == "__main__":
    main()
