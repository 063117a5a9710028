"""Play a study with sites as processes, kill them at any moment, and start them again, until all have finished."""

import random
import sys
import time
from collections import Counter
from pathlib import Path

from .mortal import Mortal


def play(setting, transport, place, tell=lambda _: None):
    """Returns what was done to the sites; raises if one gives up, or nothing moves any more."""
    dice, until = random.Random(setting.seed), time.monotonic() + setting.patience
    labs = {site: _lab(setting, transport, site, place) for site in setting.study.sites}
    total = setting.sites * setting.turns
    moments = sorted(dice.choices(range(-1, total - setting.sites), k=setting.kills))  # some while they join
    tally = Counter()
    try:
        transport.start()
        for lab in labs.values():
            lab.start()
        while moments or not all((place / f"{site}.done").exists() for site in labs):
            _check(labs, until)
            done = sum(len(acknowledged(place, site)) for site in labs)
            tell(f"{done} of {total} turns, {tally['kills']} kills")
            if moments and done > moments[0]:
                moments.pop(0)
                tally["kills"] += 1
                _kill(dice.choice([*labs.values(), *transport.victims.values()]), dice)
            time.sleep(0.02)
        transport.settle(max(1.0, until - time.monotonic()))
        settled = {site: _syncs(place, site) for site in labs}
        while any(_syncs(place, site) < before + 2 for site, before in settled.items()):  # one may have been half-way
            _check(labs, until)
            time.sleep(0.02)
    finally:
        transport.kill()
        for lab in labs.values():
            lab.kill()
    return tally + Counter(transport.tally)


def _lab(setting, transport, site, place):
    program = [sys.executable, str(Path(__file__).with_name("lab.py"))]
    given = [setting.to_text(), site, transport.address(site), str(place)]
    return Mortal(transport.command(site, [*program, *given]), place / f"{site}.log")


def _kill(lab, dice):
    time.sleep(dice.uniform(0.0, 0.2))
    lab.kill()
    time.sleep(dice.uniform(0.0, 0.2))
    lab.start()


def _check(labs, until):
    for site, lab in labs.items():
        assert not lab.has_failed, f"{site} gave up:\n{lab.words}"
    assert time.monotonic() < until, "it is stuck"


def _syncs(place, site):
    """How often a site that has finished has taken what had come."""
    return int((place / f"{site}.done").read_text() or 0)


def acknowledged(place, site):
    """The turns that a site has had an answer for."""
    acks = place / f"{site}.acks"
    return set(map(int, acks.read_text().split())) if acks.exists() else set()
