"""Freezes files of cboc 0.1.0, so that later versions can be tried on them. Made with cboc 0.1.0, and never again.

    git worktree add /tmp/base 142ef72                      # a checkout of that version
    python3.11 -m venv /tmp/base/.venv && /tmp/base/.venv/bin/pip install -e '/tmp/base[test]'
    /tmp/base/.venv/bin/python make.py [FOLDER]             # FOLDER: where the files go; that of this script

It needs PostgreSQL, and the port PORT of this machine. What it writes:

    coordinator.sqlite, backup.json, coordinator.sql        one database in the middle of a study, in three forms
    lab-a.db, lab-b.db, lab-c.db                            its sites' files at the same moment
    alone.db                                                lab-a, whose coordinator went away at that moment
    expected.json                                           all trials of each site when the study has ended
    expected-alone.json                                     the same with alone.db in the place of lab-a.db
    journal.jsonl                                           of cboc.simulate
    study.toml, run/                                        of `cboc simulate`

In the middle, rounds 0 and 1 are closed and told; lab-a and lab-b have proposed for round 2, and lab-c has not. A round
waits for an hour, but the coordinator's clock stood at LATER: however late the files are thawed, round 2 is still open.
backup.json has the name only: it is what `cboc backup` writes, lines of JSON, compressed.
"""

import json
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import count
from math import log10
from pathlib import Path
from unittest.mock import patch

from cboc.history import read_journal
from cboc.network.ledger import Unreachable
from cboc.service.app import create_app
from cboc.service.backup import backup, restore
from cboc.service.door import Door
from cboc.service.exchange import Exchange
from cboc.service.schema import upgrade
from cboc.service.sql import open_database
from cboc.sitefile import SiteFile

import cboc
from cboc import Choice, Dataset, Float, Int, Space, Study, Waiting

sys.path.insert(0, str(Path(cboc.__file__).parents[2]))  # the checkout, for its tests' tools
from tests.machine.postgresql import fresh, programs, running
from tests.machine.served import served

NOW = 1_795_000_000.0  # November 2026, at the sites and for invitations
LATER = 4_102_444_800.0  # the year 2100, for rounds
PORT = 20_100  # not among those that a machine gives away by itself: whoever thaws a file finds nobody there
SITES = ("lab-a", "lab-b", "lab-c")
SPACE = Space(
    {
        "temperature": Float(20.0, 90.0, unit="°C"),
        "acid": Float(0.001, 1.0, log=True),
        "hours": Int(1, 8),
        "solvent": Choice(("water", "ethanol", "DMSO")),
    },
    ["temperature + 5*hours <= 100"],
)
STUDY = Study(SPACE, SITES, 6, name="frozen", pace="rounds")
BEFORE = Dataset(
    [
        SPACE.to_unit({"temperature": 35.0, "acid": 0.1, "hours": 2, "solvent": "water"}),
        SPACE.to_unit({"temperature": 70.0, "acid": 0.01, "hours": 6, "solvent": "DMSO"}),
    ],
    [1.25, 2.5],
    sem=[0.125, float("nan")],
    failures=[SPACE.to_unit({"temperature": 90.0, "acid": 1.0, "hours": 1, "solvent": "ethanol"})],
    direction="minimise",
)
PAIR = Study({"a": (0.0, 1.0), "b": (-5.0, 5.0)}, ("lab-a", "lab-b"), 3, name="journal", pace="rounds")
FILE = """\
[study]
name = "frozen run"
horizon = 2
initial = 2

[[site]]
name = "lab-a"
direction = "minimise"
problem = "branin"

[[site]]
name = "lab-b"
direction = "minimise"
problem = "branin"
scale = 1.5
shift = 0.5
noise = 0.1
"""


# --------------------------------------------------------------------------------------------------------- the sites


def outcome(name, design):
    """A bowl whose lowest point is a little elsewhere at every site, in six digits that any machine finds.

    So that the sites find evidence in round 2 that their best designs lie together, and are drawn to the others' then.
    """
    shift = sum(map(ord, name)) % 7 / 10
    y = ((design["temperature"] - 50.0) / 35.0 - shift) ** 2 + 0.3 * (log10(design["acid"]) + 1.5 + shift) ** 2
    y += ((design["hours"] - 4) / 4.0) ** 2 + {"water": 0.4, "ethanol": 0.0, "DMSO": 0.9}[design["solvent"]]
    return round(y + 0.123456789, 6)


def report(site, trial):
    """What became of a trial, with everything that may happen."""
    design = trial.design(SPACE)
    y = outcome(site.name, design)
    match site.name, trial.number:
        case "lab-a", 1:
            site.tell(trial, y + 10.0)  # a slip
        case "lab-a", 2:
            site.tell(trial, (y, 0.05))
        case "lab-a", 3:
            site.tell(trial, y)
            slip = site.trial(1)
            site.tell(slip, outcome(site.name, slip.design(SPACE)), is_correction=True)
        case "lab-b", 1:
            ran = design | {"temperature": max(20.0, design["temperature"] - 5.0)}
            site.tell(trial, outcome(site.name, ran), ran=ran)
        case "lab-c", 1:
            site.fail(trial, "the vial broke")
        case _:
            site.tell(trial, y)


def advance(sites, rounds):
    """Until each of these sites has told so many rounds."""
    while waiting := [site for site in sites if site.rounds < rounds or site.open_trial is not None]:
        for site in waiting:
            with suppress(Waiting):
                report(site, site.ask())


def rows_of(sites):
    """All trials by site, as they read back from JSON."""
    return json.loads(json.dumps({site.name: [trial.to_row() for trial in site.trials] for site in sites}))


def write_rows(path, rows):
    """A line per trial."""
    parts = (f'"{name}": [\n' + ",\n".join(map(json.dumps, trials)) + "\n]" for name, trials in rows.items())
    path.write_text("{" + ",\n".join(parts) + "}\n")


# ----------------------------------------------------------------------------------------------------- the coordinator


@contextmanager
def standing_still():
    """The same times and secrets whenever this runs."""
    numbers = count()

    def secret(*_):
        return f"secret-{next(numbers)}-of-a-test-".ljust(43, "x")

    with ExitStack() as stack:
        for made, time in ((Exchange, LATER), (Door, NOW), (SiteFile, NOW)):
            stack.enter_context(patch.object(made.__init__, "__defaults__", (lambda time=time: time,)))
        stack.enter_context(patch("cboc.membership.token_urlsafe", secret))
        stack.enter_context(patch("cboc.service.door.new_secret", secret))
        yield


@contextmanager
def coordinator(database):
    """Of a database, on a socket: its engine and its address."""
    engine = open_database(database)
    upgrade(engine)
    with served(create_app(engine)) as address:
        yield engine, address
    engine.dispose()


def run(folder, live):
    """The study from its beginning to its end, and what there is in its middle."""
    database, listen = live / "coordinator.db", socket.create_server
    with (
        patch("socket.create_server", lambda _: listen(("127.0.0.1", PORT))),
        coordinator(f"sqlite:///{database}") as (engine, address),
    ):
        Exchange(engine).create(STUDY, deadline=3600.0)
        door = Door(engine)
        sites = [
            cboc.join(
                address,
                door.invite(STUDY.name, name),
                storage=live / f"{name}.db",
                direction="minimise",
                data=BEFORE if name == "lab-b" else None,
                initial=3,
                seed=5,
            )
            for name in SITES
        ]
        advance(sites, 2)
        for site in sites[:2]:
            with suppress(Waiting):
                site.ask()
        freeze(database, folder / "coordinator.sqlite")
        for name in SITES:
            shutil.copy(live / f"{name}.db", folder)
        backup(f"sqlite:///{database}", folder / "backup.json")
        advance(sites, STUDY.horizon)
    return rows_of(sites)


def freeze(database, path):
    """A copy in one file, while nobody writes: what lies beside it is brought into it first."""
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
    shutil.copy(database, path)


def go_on_alone(folder):
    """lab-a from the middle on, with nobody at the coordinator's address."""
    shutil.copy(folder / "lab-a.db", folder / "alone.db")
    site = cboc.join(storage=folder / "alone.db", patience=0.1, goes_on_alone=True)
    report(site, site.ask())
    with suppress(Unreachable):
        site.propose()
    found = [(trial.status, trial.decision, trial.round) for trial in site.trials[-2:]]
    assert found == [("complete", "solo", 2), ("proposed", None, 3)]


def finish(folder, database, lab_a="lab-a.db"):
    """All trials at the end, from the files of the middle on, with a database that was thawed."""
    with tempfile.TemporaryDirectory() as thawed, coordinator(database) as (_, address):
        files = [shutil.copy(folder / name, thawed) for name in (lab_a, "lab-b.db", "lab-c.db")]
        sites = [cboc.join(address, storage=file) for file in files]
        advance(sites, STUDY.horizon)
        return rows_of(sites)


def dump(folder, server):
    """The database as PostgreSQL writes it."""
    with fresh(server) as url:
        restore(folder / "backup.json", url)
        command = [programs() / "pg_dump", "--no-owner", url.replace("+psycopg", "")]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = [line for line in text.splitlines() if not line.startswith(("\\restrict", "\\unrestrict"))]
    (folder / "coordinator.sql").write_text("\n".join(lines) + "\n")  # so that an older psql reads it too


def load(folder, url):
    command = [programs() / "psql", url.replace("+psycopg", ""), "-q", "-v", "ON_ERROR_STOP=1"]
    subprocess.run([*command, "-f", folder / "coordinator.sql"], check=True, capture_output=True)


# ------------------------------------------------------------------------------------------------------- simulations


def bowl(name):
    shift = PAIR.sites.index(name) / 10
    return lambda design: round((design["a"] - 0.3 - shift) ** 2 + (design["b"] / 5.0 + shift) ** 2, 6)


def simulate(path):
    experiments = {name: bowl(name) for name in PAIR.sites}
    return cboc.simulate(PAIR, experiments, direction="minimise", initial=2, seed=1, journal=path)


def command_line(folder, *options):
    command = [sys.executable, "-m", "cboc", "simulate", "study.toml", "--out", "run", "--seeds", "1", *options]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


# --------------------------------------------------------------------------------------------------------------- all


def make(folder, live):
    write_rows(folder / "expected.json", run(folder, live))
    go_on_alone(folder)
    freeze(folder / "coordinator.sqlite", live / "alone.sqlite")
    write_rows(folder / "expected-alone.json", finish(folder, f"sqlite:///{live / 'alone.sqlite'}", "alone.db"))
    with running("-F") as server:
        dump(folder, server.address)
        check(folder, live, server.address)
    simulate(folder / "journal.jsonl")
    (folder / "study.toml").write_text(FILE)
    command_line(folder)
    check_simulations(folder)


def check(folder, live, server):
    """From each form of the database, the sites come to the same end."""
    expected = json.loads((folder / "expected.json").read_text())
    shutil.copy(folder / "coordinator.sqlite", live / "copied.sqlite")
    restore(folder / "backup.json", f"sqlite:///{live / 'restored.sqlite'}")
    assert finish(folder, f"sqlite:///{live / 'copied.sqlite'}") == expected
    assert finish(folder, f"sqlite:///{live / 'restored.sqlite'}") == expected
    with fresh(server) as url:
        load(folder, url)
        assert finish(folder, url) == expected
    with fresh(server) as url:
        load(folder, url)
        assert finish(folder, url, "alone.db") == json.loads((folder / "expected-alone.json").read_text())


def journals(folder):
    return [folder / "journal.jsonl", *sorted((folder / "run").glob("*.jsonl"))]


def check_simulations(folder):
    """Taken up again in their middle, they come to the same end."""
    with tempfile.TemporaryDirectory() as name:
        thawed = Path(name)
        shutil.copy(folder / "study.toml", thawed)
        shutil.copytree(folder / "run", thawed / "run")
        for path in journals(folder):
            whole = path.read_text().splitlines(keepends=True)
            (thawed / path.relative_to(folder)).write_text("".join(whole[: len(whole) // 2]))
        simulate(thawed / "journal.jsonl")
        command_line(thawed, "--resume")
        for path in journals(folder):  # of lines the order may differ
            assert read_journal(thawed / path.relative_to(folder))[:2] == read_journal(path)[:2], path
        assert (thawed / "run" / "run.json").read_text() == (folder / "run" / "run.json").read_text()


def show(folder):
    """What is in the files, in a few lines."""
    for name in (*SITES, "alone"):
        file = SiteFile(folder / f"{name}.db")
        trials = ", ".join(f"{t.number} {t.decision or ''} {t.status}".replace("  ", " ") for t in file.trials())
        print(f"{name}.db: {file.sent_count()} messages; {trials}")
    for name in ("expected", "expected-alone"):
        for site, rows in json.loads((folder / f"{name}.json").read_text()).items():
            print(f"{name}.json, {site}: {' '.join(row['decision'] for row in rows)}")
    for path in journals(folder):
        print(f"{path.relative_to(folder)}: {len(read_journal(path)[1])} trials")
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        print(f"{path.stat().st_size:8} {path.relative_to(folder)}")


def main(folder):
    assert cboc.__version__ == "0.1.0", f"this is for cboc 0.1.0, and that is {cboc.__version__}"
    with tempfile.TemporaryDirectory() as name:
        made, live = Path(name) / "made", Path(name) / "live"
        made.mkdir()
        live.mkdir()
        with standing_still():
            make(made, live)
        show(made)
        folder.mkdir(exist_ok=True)
        shutil.rmtree(folder / "run", ignore_errors=True)
        shutil.copytree(made, folder, dirs_exist_ok=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
