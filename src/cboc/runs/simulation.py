"""A whole study in one process: for simulation, benchmarks and trying out (Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from cboc.storage.journal import Journal
from cboc.strategy.gate import Gate, GateLike
from cboc.data.dataset import Dataset, Direction
from cboc.errors import CbocError
from cboc.experiment.experiment import Experiment, ExperimentFailed
from cboc.runs.history import History, in_order
from cboc.exchange.ledger import Ledger
from cboc.site.site import Finished, Site, Waiting, think
from cboc.strategy.situation import Strategy
from cboc.exchange.study import Study
from cboc.site.trial import Status, Trial
from cboc.strategy.guide.guide import Guide, GuideLike

def simulate(
    study: Study,
    experiments: Mapping[str, Experiment],
    *,
    direction: Direction | str | Mapping[str, Direction | str],
    seed: int = 0,
    initial: int | None = None,
    data: Mapping[str, Dataset] | None = None,
    strategy: Strategy | None = None,
    gate: GateLike = Gate(),  # noqa: B008 - frozen
    guide: GuideLike = Guide(),  # noqa: B008 - frozen
    stop_below: float = 0.0,
    journal: str | Path | None = None,
    on_trial: Callable[[Trial], None] | None = None,
) -> History:
    """Run every site's experiments round by round until all budgets are spent.

    With a `journal` every step is on disk at once, and calling again with the same arguments continues where the file
    ends, bit for bit. Working alone is `Study(..., rule="identity")` with the same seed.
    """
    given = dict.fromkeys(study.sites, direction) if isinstance(direction, str) else dict(direction)
    _check(study, experiments, given, data or {})
    directions = {name: Direction.of(given[name]) for name in study.sites}
    settings = {
        "seed": seed,
        "directions": directions,
        "initial": initial,
        "gate": getattr(gate, "__qualname__", repr(gate)),
        "guide": getattr(guide, "__qualname__", repr(guide)),
        "stop_below": stop_below,
    }
    ledger = Ledger(study)

    def site(name: str, book: Journal | None) -> Site:
        return Site(
            study,
            name,
            ledger,
            direction=directions[name],
            data=None if data is None else data.get(name),
            initial=initial,
            strategy=strategy,
            gate=gate,
            guide=guide,
            seed=seed,
            stop_below=stop_below,
            trials=() if book is None else book.trials(name),
            save=None if book is None else book.append,
        )

    for name in study.sites:
        site(name, None)  # whatever is refused is, before a journal is begun with it
    book = None if journal is None else Journal(journal, {"study": study.agreement(), **settings})
    try:
        sites = [site(name, book) for name in study.sites]
        _replay(sites, ledger)
        _run(sites, experiments, on_trial)
    finally:
        if book is not None:
            book.close()
    earlier = {site.name: site.data.best.y for site in sites if len(site.data)}
    return History(study, directions, in_order(trial for site in sites for trial in site.trials), earlier)


def _check(
    study: Study, experiments: Mapping[str, object], directions: Mapping[str, str], data: Mapping[str, object]
) -> None:
    """Every site has an experiment and a direction, and nothing is given for a site that is not there."""
    for name in (*experiments, *directions, *data):
        study.index(name)
    for name in study.sites:
        if not callable(experiments.get(name)):
            raise CbocError(f"every site needs an experiment, a function of the design; {name} has none.")
        if name not in directions:
            raise CbocError(f"every site needs a direction, 'maximise' or 'minimise'; {name} has none.")


def _run(sites: list[Site], experiments: Mapping[str, Experiment], on_trial: Callable[[Trial], None] | None) -> None:
    """Each pass: everybody proposes, then everybody whose round has closed runs what was agreed."""
    while active := [site for site in sites if not site.is_finished]:
        think(active)
        for site in active:
            with suppress(Finished):
                site.propose()
        for site in active:
            with suppress(Finished, Waiting):
                trial = run_trial(site, site.ask(), experiments[site.name])
                if on_trial is not None:
                    on_trial(trial)


def run_trial(site: Site, trial: Trial, experiment: Experiment) -> Trial:
    """The trial with its outcome, or failed."""
    try:
        outcome = experiment(trial.design(site.study.space))
    except ExperimentFailed as failure:
        return site.fail(trial, str(failure))
    return site.tell(trial, outcome)


def _replay(sites: list[Site], ledger: Ledger) -> None:
    """Hand in again what was proposed before the interruption, round by round, and let those go who had stopped."""
    entered = [(trial.round, site, trial) for site in sites for trial in site.trials if trial.round is not None]
    for _, site, trial in sorted(entered, key=lambda entry: (entry[0], entry[1].name)):
        if trial.status == Status.STOPPED:
            ledger.leave(site.name)
        else:
            ledger.submit(site.proposal(trial))
