"""A site as a process of its own, which may be killed at any moment and started again: it goes on from its file.

python lab.py FILE URL CODE
"""

import sys
import time

import cboc
from cboc.exchange import http

SETTINGS = {"direction": "minimise", "policy": cboc.Policy(initial=2, seed=5)}


def outcome(name, design):
    """A bowl whose lowest point is a little elsewhere at every site; no two outcomes or costs have the same digits."""
    centre = 0.3 + sum(map(ord, name)) % 7 / 50
    y = sum((value - centre) ** 2 for value in design.values()) + 0.123456789 / 7
    return cboc.Measurement(y, cost=(y * 123.456789 + 0.271828) % 1.0)


def take_part(storage, url, code):
    site = cboc.join(url, code, storage=storage, patience=600.0, goes_on_alone=False, **SETTINGS)
    while not site.is_finished:
        try:
            trial = site.ask()
        except cboc.Waiting:
            time.sleep(0.05)
        else:
            site.tell(trial, outcome(site.name, trial.design(site.study.space)))


if __name__ == "__main__":
    http.LONGEST_PAUSE = 0.5  # a coordinator that was killed is back soon
    take_part(*sys.argv[1:])
