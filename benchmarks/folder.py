"""What a turn costs through a shared folder as the study grows: CPU time of `cboc ask` and of what it does.

    python benchmarks/folder.py            5, 50 and 200 sites, both paces, open and sealed
    python benchmarks/folder.py --quick    5 and 50 sites
    python benchmarks/folder.py --profile  where the time goes with most sites

Every site has taken 20 turns. One site is measured, and all others have taken one more turn since it looked last.
'command' is `cboc ask` as a process of its own. 'turn' is `join`, `ask` and `tell` within a process that has imported
everything: what the command does beside starting. 'open' is `ask` and `tell` on a site that stays open: what a loop in
Python and the site's page do. Times are CPU time, one thread; read the ratios to 5 sites in the same run.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import cProfile
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np

import cboc
from cboc import Policy, Study
from cboc.exchange.feeds.entry import Act, write
from cboc.exchange.feeds.folder import Folder
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.feeds.sealing import Seal

D, TURNS, MEASURED = 4, 20, 3
ME = "site-0"


class Others:
    """All sites but one: they write their entries, and think about nothing."""

    def __init__(self, study: Study, path: Path, sealed: bool) -> None:
        self.study, self.replica, self.rng = study, Replica(study), np.random.default_rng(0)
        self.keys = {name: Keys.make() for name in study.sites if name != ME}
        self.folders = {name: Folder(path, Seal(name, keys), seals=sealed) for name, keys in self.keys.items()}
        for name, keys in self.keys.items():
            said = {"act": Act.HELLO, "signing": keys.identity.signing, "sealing": keys.identity.sealing}
            self._write(name, 0, said | {"agreement": study.agreement()})

    def meet(self, path: Path) -> None:
        """Take in the hello of the site that is measured, and give everything to it."""
        for entry in Folder(path).take(self.replica, [ME]):
            self.replica.take(entry)

    def take_a_turn(self, turn: int) -> None:
        for name in self.keys:
            feeds = self.replica.feeds.values()
            seen = {feed.site: len(feed.entries) for feed in feeds if feed.site != name and feed.entries}
            said = {"act": Act.TURN, "earlier": turn, "wells": 1}
            said |= {"state": turn} if self.study.pace.waits else {"seen": seen}
            designs = {"X": [self.rng.random(D).tolist()], "bests": [self.rng.random(D).tolist()]}
            self._write(name, turn, said, designs)

    def _write(self, name: str, turn: int, said: dict[str, object], designs: dict[str, object] | None = None) -> None:
        last = self.replica.feeds[name].last
        self.replica.take(write(self.keys[name], self.study.digest, name, last, turn, said, designs))

    def give(self) -> None:
        for name, folder in self.folders.items():
            folder.give(self.replica, name)


def take_a_turn(path: Path, site: cboc.Site | None = None) -> float:
    """CPU seconds of one turn of the site that is measured, as it is in its file, or open."""
    started = time.process_time()
    site = site or cboc.join(storage=path)
    trial = site.ask()
    site.tell(trial, float(((trial.x - 0.4) ** 2).sum()))
    return time.process_time() - started


def ask(path: Path) -> float:
    """CPU seconds of `cboc ask` as a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "cboc", "ask", "--file", str(path)], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    site = cboc.join(storage=path)
    site.tell(site.to_run[0], 1.0)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(K: int, pace: str, sealed: bool, profile: bool) -> tuple[float, float, float]:
    """CPU milliseconds of a command, of a turn in a process, and of one on a site that stays open: medians."""
    names = [f"site-{k}" for k in range(K)]
    study = Study({f"x{d}": (0.0, 1.0) for d in range(D)}, names, horizon=100, pace=pace)
    with tempfile.TemporaryDirectory() as place:
        shared, file = Path(place) / "shared", Path(place) / "me.db"
        shared.mkdir()
        given = {"direction": "minimise", "study": study, "policy": Policy(initial=0, seed=1), "sealed": sealed}
        cboc.join(f"folder:{shared}", site=ME, storage=file, **given)
        others, spent = Others(study, shared, sealed), []
        others.meet(shared)
        site = cboc.join(storage=file)
        for turn in range(TURNS + 3 * MEASURED):
            others.take_a_turn(turn)
            others.give()
            with cProfile.Profile() if profile and turn in (TURNS, TURNS + MEASURED) else nullcontext() as found:
                kind = (turn - TURNS) // MEASURED
                spent.append(ask(file) if kind == 2 else take_a_turn(file, site if kind < 1 else None))
            if isinstance(found, cProfile.Profile):
                pstats.Stats(found).sort_stats("cumulative").print_stats(40).sort_stats("tottime").print_stats(25)
    opened, turns, commands = (spent[TURNS + kind * MEASURED :][:MEASURED] for kind in range(3))
    return tuple(1e3 * float(np.median(times)) for times in (commands, turns, opened))  # type: ignore[return-value]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    parser.add_argument("--pace", choices=("free", "rounds"), action="append")
    parser.add_argument("--sealed", choices=("open", "sealed"), action="append")
    parser.add_argument("--sites", type=int, action="append")
    options = parser.parse_args()
    counts = options.sites or ((5, 50) if options.quick else (5, 50, 200))
    names = "".join(f" {name:>10} {'ratio':>6}" for name in ("command ms", "turn ms", "open ms"))
    print(f"{'pace':>7} {'folder':>7} {'K':>5}{names}")
    for pace in options.pace or ("free", "rounds"):
        for seal in options.sealed or ("open", "sealed"):
            first = None
            for K in counts:
                found = measure(K, pace, seal == "sealed", options.profile and counts[-1] == K)
                first = first or found
                times = "".join(f" {ms:10.1f} {ms / least:6.2f}" for ms, least in zip(found, first, strict=True))
                print(f"{pace:>7} {seal:>7} {K:5}{times}", flush=True)


if __name__ == "__main__":
    main()
