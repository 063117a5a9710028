"""A program that keeps copies of a folder the same, and does it badly.

python copier.py SEED DELAY TALLY COPY COPY ...

Every file gets from the copy in which it was written to all others, each at a moment of its own, so that their order
is any. Sometimes only its first half comes at first, or a bit of it is wrong at first, or it comes as a conflict copy
first, or twice. Between two copies nothing moves while their link is cut. What was done is counted in TALLY.
"""

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from itertools import combinations
from pathlib import Path

CONFLICTS = (" (conflicted copy 2026-11-18)", ".sync-conflict-20261118-120000-ABCDEFG", " (1)")
WAYS = {"copied": 10, "half-written": 3, "flipped": 1, "conflict copies": 2, "duplicates": 1}
CUT_EVERY, CUT_FOR = 40.0, 10.0  # times the delay, on average
STEP = 0.02  # seconds


class Copier:
    def __init__(self, copies, delay, dice):
        self.copies, self.delay, self.dice = copies, delay, dice
        self.due = {}  # when a file gets to a copy, by both
        self.there = set()  # files that are in a copy as they should be, by both
        self.cut_until = dict.fromkeys(combinations(copies, 2), 0.0)
        self.tally = Counter()

    def step(self, now):
        self._cut(now)
        for copy in self.copies:
            for name in self._written(copy):
                self._see(copy, name, now)
        for (name, copy), (origin, due) in list(self.due.items()):
            if due <= now and self._can_reach(name, origin, copy, now):
                self._bring(name, origin, copy, now)

    def _written(self, copy):
        """The files of a copy; what is being written there has another name, and a sync program leaves that out."""
        for top in os.scandir(copy):
            names = [f"{top.name}/{entry.name}" for entry in os.scandir(top)] if top.is_dir() else [top.name]
            yield from (name for name in names if not name.endswith(".part"))

    def _see(self, origin, name, now):
        if (name, origin) in self.there or (name, origin) in self.due or any(mark in name for mark in CONFLICTS):
            return
        self.there.add((name, origin))
        for copy in self.copies:
            if (name, copy) not in self.there and (name, copy) not in self.due:
                self.due[name, copy] = origin, now + self.dice.expovariate(1.0 / self.delay)

    def _cut(self, now):
        for link, until in self.cut_until.items():
            if until <= now and self.dice.random() < STEP / (CUT_EVERY * self.delay):
                self.cut_until[link] = now + self.dice.expovariate(1.0 / (CUT_FOR * self.delay))
                self.tally["link cuts"] += 1

    def _can_reach(self, name, origin, copy, now):
        """Whether a copy that has the file as it should be, not always the first one, has a link to this one."""
        sources = [source for source in self.copies if (name, source) in self.there and source != copy]
        is_open = [self.cut_until[tuple(sorted((source, copy), key=self.copies.index))] <= now for source in sources]
        return origin in sources and any(is_open)

    def _bring(self, name, origin, copy, now):
        content, target = (origin / name).read_bytes(), copy / name
        target.parent.mkdir(exist_ok=True)
        way = self.dice.choices(list(WAYS), list(WAYS.values()))[0]
        is_first = not target.exists()
        if is_first and way == "half-written":
            target.write_bytes(content[: self.dice.randrange(len(content))])
        elif is_first and way == "flipped":
            place = self.dice.randrange(8 * len(content))
            target.write_bytes(_flipped(content, place))
        elif is_first and way == "conflict copies":
            other = target.with_name(f"{target.stem}{self.dice.choice(CONFLICTS)}{target.suffix}")
            other.write_bytes(content)
        else:
            target.write_bytes(content)  # not in one go: whoever reads it now may find less
            if way == "duplicates":
                target.with_name(f"{target.stem}{self.dice.choice(CONFLICTS)}{target.suffix}").write_bytes(content)
            self.there.add((name, copy))
            del self.due[name, copy]
            self.tally["files"] += 1
            self.tally[way] += way == "duplicates"
            return
        self.tally[way] += 1
        self.due[name, copy] = origin, now + self.dice.expovariate(0.5 / self.delay)

    @property
    def is_idle(self):
        return not self.due


def _flipped(content, place):
    changed = bytearray(content)
    changed[place // 8] ^= 1 << (place % 8)
    return bytes(changed)


def run(seed, delay, tally, copies):
    copier, is_over = Copier([Path(copy) for copy in copies], float(delay), random.Random(int(seed))), []
    signal.signal(signal.SIGTERM, lambda *_: is_over.append(True))
    while not is_over or not copier.is_idle:
        copier.step(time.monotonic())
        _note(Path(tally), copier)
        time.sleep(STEP)


def _note(tally, copier):
    begun = tally.with_suffix(".part")
    begun.write_text(json.dumps(copier.tally))
    os.replace(begun, tally)


if __name__ == "__main__":
    run(*sys.argv[1:4], sys.argv[4:])
