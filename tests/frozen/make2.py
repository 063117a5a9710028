"""Writes the files of format 2 in tests/frozen/format2, as cboc wrote them before rows had checksums.

    PYTHONPATH=src python -m tests.frozen.make2

run in a checkout of the last version that wrote them, commit ac2753a. They hold what a site has after a week: initial
trials, a plate, a failure, a correction, an open proposal, messages and a feed. Nobody answers at their addresses.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path

import cboc
from cboc import Measurement, Policy, Study, simulate
from cboc.coordinator.app import create_app
from cboc.coordinator.backup import backup
from cboc.coordinator.database import open_database
from cboc.coordinator.schema import upgrade
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.storage.sitefile import FORMAT, SiteFile

from ..machine.served import served

PLACE = Path(__file__).parent / "format2"
STUDY = Study({"pH": (2.0, 9.0), "T": (20.0, 80.0)}, ("lab-a", "lab-b"), 4, name="format 2")
POLICY = Policy(initial=2, seed=3)


def outcome(trial):
    return round(float(sum((trial.x - 0.4) ** 2)), 6)


def work(a, b):
    for site in (a, b):
        for _ in range(3):
            site.tell(site.ask(), outcome(site.open_trials[0]), cost=1.5)
    a.tell(a.trial(1), Measurement(0.25, 0.125), is_correction=True)
    plate = a.ask(2)
    a.fail(plate[0], "clogged")
    b.ask()


def main():
    assert FORMAT == 2, "this is for the last version that wrote format 2"
    with tempfile.TemporaryDirectory() as name:
        live = Path(name)
        engine = open_database(f"sqlite:///{live / 'coordinator.db'}")
        upgrade(engine)
        Transactions(engine).create(STUDY)
        with served(create_app(engine)) as url:
            codes = {site: Tokens(engine).invite(STUDY.name, site) for site in STUDY.sites}
            files = {site: live / f"{site}.db" for site in STUDY.sites}
            work(*(cboc.join(url, codes[s], storage=files[s], direction="minimise", policy=POLICY) for s in files))
        for file in files.values():
            SiteFile(file).remember(url="http://127.0.0.1:1")
        engine.dispose()
        backup(f"sqlite:///{live / 'coordinator.db'}", live / "backup.cboc")
        told = {"storage": live / "stick.db", "site": "lab-a", "study": STUDY, "direction": "minimise"}
        stick = cboc.join("stick:", policy=POLICY, **told)
        for _ in range(3):
            stick.tell(stick.ask(), outcome(stick.open_trials[0]))
        stick.ask()
        experiments = dict.fromkeys(STUDY.sites, lambda design: round(design["pH"] * design["T"] / 100.0, 6))
        simulate(STUDY, experiments, direction="maximise", policy=POLICY, journal=live / "journal.jsonl")
        PLACE.mkdir(exist_ok=True)
        for kept in ("lab-a.db", "lab-b.db", "stick.db", "stick.db.feeds", "backup.cboc", "journal.jsonl"):
            shutil.copy(live / kept, PLACE)
        (PLACE / "expected.json").write_text(
            json.dumps({n: rows(live / n) for n in ("lab-a.db", "stick.db")}, indent=1)
        )


def rows(path):
    return [trial.to_row() for trial in SiteFile(path).trials()]


if __name__ == "__main__":
    os.umask(0o022)
    main()
