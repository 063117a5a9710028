"""Three sites on this machine, each in its own process: what labs do, in a minute, not months.

They exchange designs through a coordinator, or through a folder alone.

python -m cboc.cli.rehearsal STUDY.toml SITE.db     one of the sites: its experiments are the study file's test problems
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe

from cboc import studyfile
from cboc.child_processes import group
from cboc.cli.coordinator import opened
from cboc.cli.notes import notes
from cboc.cli.progress_bar import bar
from cboc.cli.show import Row
from cboc.errors import CbocError
from cboc.exchange.network import Waiting
from cboc.joining import join
from cboc.joining.sent import sent_by
from cboc.runs.simulation import run_trial
from cboc.site.ending import Finished
from cboc.site.policy import Policy
from cboc.site.trial import Status
from cboc.storage.sitefile import SiteFile

PERSON = "guest"
INITIAL, SEED = 5, 0
TAKES = 0.3  # seconds of an experiment
START, END = 60.0, 5.0  # seconds that a coordinator may take to start, and to end
SITES = {"lab-a": 3.0, "lab-b": 4.0, "lab-c": 5.0}  # the shift of each test problem, which places its optimum
STUDY = """# Three labs whose problems are similar, not the same. Written by cboc demo-service or demo-folder.
[study]
name = "rehearsal"
horizon = {rounds}
initial = {initial}
""" + "".join(
    f'\n[[site]]\nname = "{name}"\ndirection = "minimise"\nproblem = "levy-2"\nshift = {shift}\n'
    for name, shift in SITES.items()
)

Process = subprocess.Popen[bytes]


@dataclass(frozen=True)
class Rehearsal:
    """The place of a rehearsal: a folder, a port of this machine, and a password for the dashboard."""

    folder: Path
    port: int
    password: str
    rounds: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def database(self) -> str:
        return f"sqlite:///{self.folder / 'coordinator.db'}"

    @property
    def study(self) -> Path:
        return self.folder / "study.toml"

    @property
    def shared(self) -> Path:
        """The folder that all sites share, if they have no coordinator."""
        return self.folder / "shared"

    def file(self, site: str) -> Path:
        return self.folder / f"{site}.db"


def prepare(folder: Path, rounds: int) -> Rehearsal:
    """Make an empty folder with the study file, of so many experiments after the initial ones."""
    if folder.exists() and any(folder.iterdir()):
        raise CbocError(f"{folder} is not empty; remove it, or choose another --out.")
    folder.mkdir(parents=True, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    rehearsal = Rehearsal(folder, port, token_urlsafe(12), rounds)
    rehearsal.study.write_text(STUDY.format(rounds=rounds, initial=INITIAL), encoding="utf-8")
    return rehearsal


@contextmanager
def coordinator(rehearsal: Rehearsal) -> Iterator[Process]:
    """Run a coordinator with this study and a dashboard login."""
    from cboc.coordinator.people import People
    from cboc.coordinator.rights import Role, Roles

    command = ["serve", str(rehearsal.study), "--database", rehearsal.database, "--port", str(rehearsal.port)]
    with (rehearsal.folder / "coordinator.log").open("w") as log, _process("cboc", *command, log=log) as process:
        began = time.monotonic()
        while not _listens(rehearsal.port):
            if process.poll() is not None or time.monotonic() - began > START:
                raise CbocError(f"the coordinator did not start; {log.name} says why.")
            time.sleep(0.05)
        with opened(rehearsal.database) as engine:
            People(engine).add(PERSON, rehearsal.password)
            Roles(engine).give(PERSON, "rehearsal", Role.OWNER)
        yield process


@contextmanager
def page(rehearsal: Rehearsal, site: str) -> Iterator[str]:
    """Run the page of a site; its address, with the secret."""
    command = ["site", "--file", str(rehearsal.file(site))]
    log = rehearsal.folder / f"{site}-page.log"
    with log.open("w") as file, _process("cboc", *command, log=file, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        found = re.search(rb"http://\S+", process.stdout.readline())  # nothing if it has ended
        if found is None:
            raise CbocError(f"the page of {site} did not start; {log} says why.")
        yield found[0].decode()


def stay(coordinator: Process) -> None:
    """Wait until somebody interrupts; raise one sentence if the coordinator ends before."""
    with suppress(KeyboardInterrupt):
        while coordinator.poll() is None:
            time.sleep(0.2)
        raise CbocError("the coordinator has ended; coordinator.log says why.")


def join_coordinator(rehearsal: Rehearsal) -> None:
    """Let three sites join through the coordinator, each with its invitation."""
    from cboc.coordinator.tokens import Tokens

    with opened(rehearsal.database) as engine:
        codes = {site: Tokens(engine).invite("rehearsal", site) for site in SITES}
    for site, code in codes.items():
        policy = Policy(initial=INITIAL, seed=SEED)
        join(rehearsal.url, code, storage=rehearsal.file(site), direction="minimise", policy=policy)


def join_folder(rehearsal: Rehearsal) -> None:
    """Let three sites join through a shared folder; the first brings the study."""
    rehearsal.shared.mkdir()
    study = studyfile.read_terms(rehearsal.study).study
    for site in SITES:
        given = {"storage": rehearsal.file(site), "direction": "minimise", "policy": Policy(initial=INITIAL, seed=SEED)}
        join(f"folder:{rehearsal.shared}", site=site, study=study, **given)  # type: ignore[arg-type]


def take_part(rehearsal: Rehearsal) -> None:
    """Let three sites that have joined go through the study, each in its own process."""
    with ExitStack() as stack:
        running = [
            stack.enter_context(_process("cboc.cli.rehearsal", str(rehearsal.study), str(rehearsal.file(site))))
            for site in SITES
        ]
        done, total = 0, len(SITES) * (INITIAL + rehearsal.rounds)
        advance = stack.enter_context(bar(total))
        is_over = False
        while not is_over:
            is_over = all(process.poll() is not None for process in running)
            now = sum(_told(rehearsal, site) for site in SITES)
            advance("", now - done)
            done = now
            if any(process.poll() for process in running):
                raise CbocError("a site has stopped with an error; its message is above.")
            time.sleep(0.0 if is_over else 0.2)
    if done < total:
        raise CbocError(
            f"the sites have stopped after {done} of {total} experiments; remove the folder, and try again."
        )


def _told(rehearsal: Rehearsal, site: str) -> int:
    return sum(trial.status is Status.COMPLETE for trial in SiteFile(rehearsal.file(site)).trials())


def results(rehearsal: Rehearsal) -> list[Row]:
    """Return what each site has found, and what has left it."""
    rows: list[Row] = []
    for name in SITES:
        site, file = join(storage=rehearsal.file(name)), SiteFile(rehearsal.file(name))
        sent = sent_by(file)
        outcomes = [repr(trial.y).encode() for trial in file.trials() if trial.y is not None]
        rows.append(
            {
                "site": name,
                "experiments": len(site.dataset),
                "best": site.best.y,
                **site.best_design,
                "messages sent": len(sent),
                "outcomes in them": sum(y in message.body for y in outcomes for message in sent),
            }
        )
    return rows


@contextmanager
def _process(module: str, *arguments: str, log: object = None, stdout: object = None) -> Iterator[Process]:
    """A process that hears no Ctrl-C and ends with the block, or with this process, however that ends."""
    command = [sys.executable, "-m", module, *arguments]
    variables = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    with group(command, stderr=log, stdout=stdout, env=variables) as process:
        try:
            yield process
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(END)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _be_a_site(study: Path, file: Path) -> None:
    """Play one site: ask, run, tell, until the study is over."""
    site = join(storage=file)
    experiment = studyfile.read(study).experiments[site.name]
    while True:
        try:
            trial = site.ask()
        except Waiting:
            time.sleep(0.1)
            continue
        except Finished:
            return
        time.sleep(TAKES)
        run_trial(site, trial, experiment)


if __name__ == "__main__":
    try:
        _be_a_site(Path(sys.argv[1]), Path(sys.argv[2]))
    except CbocError as error:
        notes.print(str(error), style="red")
        sys.exit(2)
