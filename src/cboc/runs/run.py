"""The directory of a run: what was run (run.json), and a journal for every seed, together and alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from cboc.data.dataset import Dataset
from cboc.data.goal import Goal
from cboc.data.objective import Measurement
from cboc.data.results import Results
from cboc.errors import CbocError
from cboc.exchange.ledger import Ledger
from cboc.exchange.study import Study
from cboc.private_files import write_text
from cboc.problems.problem import Problem
from cboc.runs.history import History, Repetition, best_before, in_order
from cboc.runs.workers import Report, run_all
from cboc.site.policy import Policy
from cboc.site.site import Site
from cboc.site.trial import Trial
from cboc.storage.journal import is_begun, read_journal
from cboc.strategy.bayesian import named
from cboc.strategy.collaborative import collaborative
from cboc.strategy.gate import Gate
from cboc.strategy.guide.decision import Guide
from cboc.studyfile import StudyFile
from cboc.studyfile.sources import Formula

RECORD = "run.json"
FORMAT = 2  # of a record; records of version 0.1.0 do not name a format
CHECKSUM = "checksum"  # of everything else in a record
TOGETHER, ALONE = "together", "alone"


@dataclass(frozen=True)
class Run:
    """The directory of a run, with its record and journals."""

    directory: Path

    def journal(self, how: str, seed: int) -> Path:
        """The path of one simulation's journal."""
        return self.directory / f"{how}-{seed}.jsonl"

    @cached_property
    def record(self) -> dict[str, Any]:
        """What was run, as plain data."""
        check_directory(self.directory)
        try:
            record = json.loads((self.directory / RECORD).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise CbocError(
                f"{self.directory} is not the directory of a run: it has no {RECORD}; see cboc simulate --help."
            ) from None
        except (OSError, ValueError) as error:
            raise CbocError(
                f"{self.directory / RECORD} cannot be read ({error}); start the run anew with --fresh."
            ) from None
        tables = ("study", "directions", "sources", "earlier", "earlier_designs")
        if not isinstance(record, dict) or not all(isinstance(record.get(name), dict) for name in tables):
            raise CbocError(f"{self.directory / RECORD} is not a record of a run; start the run anew with --fresh.")
        with _undamaged(self.directory / RECORD):
            if record.pop(CHECKSUM, None) not in (None, _checksum(record)):  # records of 0.1.0 have none
                raise ValueError
        return record

    @property
    def place(self) -> Path:
        """The directory."""
        return self.directory

    @property
    def time(self) -> str:
        """The axis of time in words: a study file says how long experiments take, in a unit of its own."""
        return "time"

    @property
    def has_times(self) -> bool:
        """Whether the run was given durations of experiments."""
        return bool(self.record.get("durations"))

    def seeds(self, how: str) -> list[int]:
        """The seeds that were begun, for one way of working."""
        begun = [path for path in _journals(self.directory) if is_begun(path)]
        return sorted(int(path.stem.removeprefix(f"{how}-")) for path in begun if path.name.startswith(f"{how}-"))

    def wanted(self, first: int) -> int:
        """How many seeds, counted from the first, the run was begun with, or has begun since."""
        given = self.record.get("seeds")
        begun = (seed - first + 1 for how in (TOGETHER, ALONE) for seed in self.seeds(how))
        return max(1, given if isinstance(given, int) else 1, *begun)

    def history(self, how: str, seed: int) -> History:
        """The history of one simulation so far."""
        path = self.journal(how, seed)
        header, trials, _ = read_journal(path)
        with _undamaged(path):
            study = Study.from_agreement(header["study"])
            goals = {site: Goal.from_plain(header["directions"][site], study.objectives) for site in study.sites}
            for trial in trials.values():
                study.index(trial.site)
        return History(study, goals, in_order(trials.values()), self.record["earlier"])

    @property
    def emptiness(self) -> CbocError:
        """The error for a directory without trials: it is not a run, or has no trials yet."""
        _ = self.record
        return CbocError(f"{self.directory} holds no trials yet; cboc simulate with --resume continues it.")

    def histories(self, how: str) -> list[History]:
        """The histories of one way of working; if the run has both ways, only the seeds that both have."""
        return [self.history(how, seed) for seed in self._compared(how)]

    def _compared(self, how: str) -> list[int]:
        others = self.seeds(ALONE if how == TOGETHER else TOGETHER)
        return [seed for seed in self.seeds(how) if not others or seed in others]

    def chosen(self, seed: int | None, seeds: list[int]) -> int:
        """The seed that is meant: the first of these unless one is given, which has to have been begun."""
        begun = self.seeds(TOGETHER)
        if seed is not None and seed not in begun:
            raise CbocError(f"{self.directory} has the seeds {', '.join(map(str, begun)) or 'none'}; got {seed}.")
        if not seeds:
            raise self.emptiness
        return seeds[0] if seed is None else seed

    def repetition(self, seed: int | None = None) -> Repetition:
        """One repetition; the first unless a seed is given."""
        seed = self.chosen(seed, self._compared(TOGETHER))
        together = self.history(TOGETHER, seed)
        alone = self.history(ALONE, seed) if seed in self.seeds(ALONE) else None
        return Repetition(together, alone, lambda name: self.site(together, name, seed), f"seed {seed}")

    @cached_property
    def study(self) -> Study:
        record = self.record
        with _undamaged(self.directory / RECORD):
            return Study.from_agreement(record["study"])

    def site(self, history: History, name: str, seed: int) -> Site:
        """A site as it was at the end of one simulation."""
        record, goal = self.record, history.goals[name]
        with _undamaged(self.directory / RECORD):
            own = named(record["surrogate"], record["utility"])
            strategy = collaborative(own, Gate(record["gate"]), Guide(weight=record["guide"]))
            rows = record["data"].get(name)
            return Site(
                history.study,
                name,
                Ledger(history.study),
                direction=goal,
                policy=Policy(
                    strategy, record["initial"], seed, record["stop_below"], most_cost=record.get("most_cost")
                ),
                data=None if rows is None else Dataset.from_dict(rows, history.study.space.dimension, goal.direction),
                trials=history.of(name),
            )

    @cached_property
    def problems(self) -> dict[str, Problem]:
        """The test problems of the sites that have one."""
        record, space = self.record, self.study.space
        with _undamaged(self.directory / RECORD):
            found = {
                site: Formula(**source).noiseless(
                    space, Goal.from_plain(record["directions"][site], self.study.objectives)
                )
                for site, source in record["sources"].items()
                if "problem" in source
            }
        return {site: problem for site, problem in found.items() if problem is not None}

    @cached_property
    def optima(self) -> dict[str, float] | None:
        """y* of every site, or None if one is unknown."""
        space = self.study.space
        if set(self.problems) != set(self.study.sites) or not (space.is_box and space.is_continuous):
            return None
        optima = {site: problem.known_optimum for site, problem in self.problems.items()}
        unknown = [site for site, optimum in optima.items() if optimum is None]
        found = run_all(_optimum, [(self.directory, site) for site in unknown])  # a search, which takes a second
        return {site: optimum for site, optimum in optima.items() if optimum is not None} | dict(
            zip(unknown, found, strict=True)
        )

    def noiseless(self, history: History) -> History:
        """The history with every outcome replaced by the test problem's value without noise, as Gaps require."""
        return replace(history, trials=tuple(self._noiseless(trial) for trial in history.trials))

    def _noiseless(self, trial: Trial) -> Trial:
        if trial.y is None or trial.site not in self.problems:
            return trial
        exact = self.problems[trial.site](trial.design(self.study.space))
        return replace(trial, outcomes=dict.fromkeys(trial.outcomes, Measurement(exact)))


def check_directory(path: Path) -> None:
    """Raise one sentence if a file was named in place of the directory of a run."""
    if path.is_file():
        raise CbocError(f"{path} is a file, not the directory of a run; see cboc simulate --help.")


def _optimum(job: tuple[Path, str], _: Report) -> float:
    directory, site = job
    return Run(directory).problems[site].optimum


def record_of(file: StudyFile) -> dict[str, Any]:
    """Everything except the seeds that the outcome of a run depends on, as plain data."""
    dimension, space = file.study.space.dimension, file.study.space
    before = {site: Results.before(data, dimension, file.goals[site]) for site, data in file.data.items()}
    best = best_before(before)
    return {
        "format": FORMAT,
        "study": file.study.agreement(),
        "directions": {site: goal.to_plain() for site, goal in file.goals.items()},
        "sources": {site: source.to_row() for site, source in file.sources.items()},
        "earlier": best,
        "earlier_designs": {site: space.from_unit(before[site].dataset().best.x) for site in best},
        "data": {site: data.to_dict() for site, data in file.data.items()},
        "gate": file.gate.ratio,
        "guide": file.guide.weight,
        "initial": file.policy.begins_with(len(file.study.space.names)),
        "stop_below": file.stop_below,
        "surrogate": file.surrogate,
        "utility": file.utility,
        "durations": {site: asdict(duration) for site, duration in file.durations.items()},
        "plate": file.plate,
        "same": list(file.same),
        "most_cost": file.most_cost,
    }


def begin(directory: Path, file: StudyFile, *, is_resumed: bool, is_fresh: bool, seeds: int = 1) -> Run:
    """Make the directory ready: new, continued or emptied, as asked for. A new record keeps the number of seeds."""
    if directory.exists() and not directory.is_dir():
        raise CbocError(f"{directory} is a file, but a run needs a directory; choose another --out.")
    record = record_of(file)
    run = Run(directory)
    if directory.is_dir() and any(directory.iterdir()):
        _check_ours(directory)
        if is_fresh:
            _clear(directory)
        elif not is_resumed:
            raise CbocError(f"{directory} exists already; --resume continues it, --fresh starts it anew.")
        elif (directory / RECORD).exists():
            _check_same(run, record)
            return run
    directory.mkdir(parents=True, exist_ok=True)
    unfinished = directory / f"{RECORD}.part"  # a kill leaves either no record or a whole one
    content = record | {"seeds": seeds}
    write_text(unfinished, json.dumps(content | {CHECKSUM: _checksum(content)}, indent=1))
    unfinished.replace(directory / RECORD)
    return run


def _checksum(content: dict[str, Any]) -> str:
    return sha256(json.dumps(content).encode()).hexdigest()


def _journals(directory: Path) -> list[Path]:
    """The journals in a directory, which may also hold other files."""
    ours = re.compile(rf"({TOGETHER}|{ALONE})-(0|[1-9][0-9]*)\.jsonl")
    return [path for path in directory.glob("*.jsonl") if ours.fullmatch(path.name) and path.is_file()]


def _check_ours(directory: Path) -> None:
    if not any((directory / name).exists() for name in (RECORD, f"{RECORD}.part")):
        raise CbocError(f"{directory} holds other files, not a run; choose another --out.")


def _clear(directory: Path) -> None:
    for path in [*_journals(directory), directory / RECORD]:
        path.unlink(missing_ok=True)


def _check_same(run: Run, record: dict[str, Any]) -> None:
    if run.record.get("format") != FORMAT:
        raise CbocError(
            f"{run.directory} was written by an earlier version of cboc; it can be read, but not continued: "
            "choose another --out, or start anew with --fresh."
        )
    now = json.loads(json.dumps(record))
    changed = [key for key in now["study"] if now["study"][key] != run.record["study"].get(key)]
    changed += [key for key in now if key != "study" and now[key] != run.record.get(key)]
    if changed:
        raise CbocError(
            f"{run.directory} was begun with another study file (it differs in: {', '.join(changed)}); "
            "change that back, choose another --out, or start anew with --fresh."
        )


@contextmanager
def _undamaged(path: Path) -> Iterator[None]:
    """Report missing values and values of another kind as damage, since this program can read what it wrote."""
    try:
        yield
    except (CbocError, KeyError, TypeError, AttributeError, ValueError):
        raise CbocError(f"{path} is damaged; restore it, or start the run anew with --fresh.") from None
