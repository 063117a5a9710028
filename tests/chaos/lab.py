"""A site as a process of its own, which may be killed at any moment and started again: it goes on from its files.

python lab.py SETTING SITE ADDRESS PLACE

A turn is acknowledged, in PLACE/SITE.acks, when the site has its answer. A site that has finished stays, since others
may have to hear from it, until it is killed; PLACE/SITE.done counts how often it has taken what had come by then.
"""

import itertools
import os
import sys
import time
from pathlib import Path

import cboc
from cboc.exchange.feeds import peers
from cboc.exchange.network import Unreachable

sys.path.insert(0, str(Path(__file__).parents[2]))  # it is started as a file, and the tests are no package

from tests.chaos.setting import DIRECTION, POLICY, Setting, outcome

NOT_YET = ("holds no study yet", "is not complete yet")  # what a site is told while the sync has not come so far
PAUSE = 0.02


def joined(setting, name, address, place):
    """The site; it waits for the study, which the first one brings."""
    study = setting.study
    given = {"direction": DIRECTION, "policy": POLICY, "sealed": setting.sealed, "goes_on_alone": False}
    given |= {"study": study} if name == study.sites[0] or address == "peers:" else {}
    while True:
        try:
            return cboc.join(address, site=name, storage=place / f"{name}.db", **given)
        except Unreachable:
            time.sleep(PAUSE)
        except cboc.CbocError as error:
            if not any(words in str(error) for words in NOT_YET):
                raise
            time.sleep(PAUSE)


def acknowledge(place, name, turn):
    with open(place / f"{name}.acks", "a") as file:
        file.write(f"{turn}\n")
        file.flush()
        os.fsync(file.fileno())


def put(path, text):
    """Write a file in one go."""
    begun = path.with_suffix(".part")
    begun.write_text(text)
    os.replace(begun, path)


def take_part(setting, name, address, place):
    site = joined(setting, name, address, place)
    while not site.is_finished:
        try:
            trial = site.ask()
        except (cboc.Waiting, Unreachable):
            time.sleep(PAUSE)
            continue
        if trial.turn is not None:
            acknowledge(place, name, trial.turn.number)
        site.tell(trial, outcome(name, trial.design(site.study.space)))
    syncs = place / f"{name}.done"
    for count in itertools.count(int(syncs.read_text()) if syncs.exists() else 0):
        put(syncs, str(count))
        site.network.sync()
        time.sleep(5 * PAUSE)


if __name__ == "__main__":
    peers.PAUSE = 0.5  # a neighbour that did not answer is asked again soon
    text, name, address, place = sys.argv[1:]
    take_part(Setting.from_text(text), name, address, Path(place))
