"""A whole study in one process: for simulation, benchmarks and trying out (Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any

from cboc.data.dataset import Dataset, Direction
from cboc.data.goal import Aim, Goal
from cboc.errors import CbocError, at, check_kind, whole
from cboc.exchange.identity import identify
from cboc.exchange.ledger import Ledger
from cboc.exchange.network import Waiting
from cboc.exchange.study import Study
from cboc.experiment.durations import Duration, Durations, as_durations
from cboc.experiment.experiment import Experiment, ExperimentFailed
from cboc.runs.calendar import Calendar
from cboc.runs.first_runs import FirstRuns
from cboc.runs.history import History, best_before, in_order
from cboc.site.batch import think
from cboc.site.ending import Finished
from cboc.site.plate import Plate
from cboc.site.policy import Policy
from cboc.site.site import Site
from cboc.site.trial import Status, Trial
from cboc.storage.journal import Journal


def simulate(
    study: Study,
    experiments: Mapping[str, Experiment],
    *,
    direction: Direction | str | Aim | Goal | Mapping[str, Any],
    limits: Sequence[str] | Mapping[str, Sequence[str]] = (),
    policy: Policy | None = None,
    data: Mapping[str, Dataset] | None = None,
    durations: Duration | Mapping[str, Duration] | None = None,
    plate: int = 1,
    same: Sequence[str] = (),
    journal: str | Path | None = None,
    on_trial: Callable[[Trial], None] | None = None,
    most_failures: int | None = None,
) -> History:
    """Run every site's experiments until all budgets are spent.

    `direction` is what is wanted of the outcomes: of all sites, or by site. With several objectives it is a mapping
    with an aim for each, {"yield": "max", "cost": "min"}, or such a mapping by site. `limits` are what outcomes may
    not exceed, ["impurity <= 5"], of all sites or by site. All sites have the same policy, and ask for `plate`
    experiments at a time, in which the parameters `same` have one value. `durations` says how long experiments take,
    for all sites or by site: a number, `LogNormal(3, 0.2)` or {"median": 3, "spread": 0.2}, a distribution or a
    function of a random generator; every trial then keeps when it began and ended. Without them rounds have no
    calendar, and at the free pace every experiment takes 1. With a `journal` every step is saved at once, and calling
    again with the same arguments continues where the file ends, bit for bit. A kill loses nothing; after a power cut
    at most the experiments of one second are run again. With `most_failures` it ends with a sentence if the first so
    many experiments of a site in this call all fail. Working alone is `Study(..., rule="identity")` with the same
    seed; in rounds it also waits for the slowest, at no other design.
    """
    _check_kinds(experiments, direction, data, journal)
    wanted, limited, earlier = _by_site(study, direction), _limits_by_site(study, limits), dict(data or {})
    _check(study, experiments, wanted, earlier)
    goals = {name: _goal(name, wanted[name], study, limited.get(name, ())) for name in study.sites}
    policy, wells = Policy() if policy is None else policy, whole("plate", plate)
    check_kind("a simulation's policy", policy, Policy, "a Policy(...)")
    durations = as_durations(durations, study.sites)
    has_calendar = durations is not None or not study.pace.waits
    times = Durations(1.0 if durations is None else durations, study, policy.known_seed)
    first = {} if most_failures is None else {name: FirstRuns(most_failures) for name in study.sites}
    ledger = Ledger(study, clock=(calendar := Calendar()))  # nobody is late here

    def site(name: str, book: Journal | None) -> Site:
        kept: dict[str, Any] = {} if book is None else {"trials": book.trials(name), "save": book.append}
        known: dict[str, Any] = {"direction": goals[name], "policy": policy, "data": earlier.get(name)}
        return Site(study, name, ledger, clock=calendar if has_calendar else None, **known, **kept)

    def run(site: Site, trial: Trial) -> None:
        told = run_trial(site, trial, experiments[site.name])
        _check_cost(told, policy)
        if on_trial is not None:
            on_trial(told)
        if site.name in first:
            first[site.name].look_at(told)

    for name in study.sites:
        site(name, None)  # refuse bad settings before a journal is begun
    asked = Plate.asked(study.space, wells, 1, same)
    if len(tuple(same)) and wells == 1:
        raise CbocError("same is for plates of several experiments; give plate=8, or leave it out.")
    header = _header(study, goals, policy, earlier) | _pace_of(durations, asked, has_calendar)
    book = None if journal is None else Journal(journal, header)
    try:
        sites = [site(name, book) for name in study.sites]
        _replay(sites, ledger)
        if has_calendar:
            calendar.run(sites, run, times, asked)
        else:
            _run(sites, run, asked)
    finally:
        if book is not None:
            book.close()
    best = best_before({site.name: site.log.data for site in sites})
    return History(study, goals, in_order(trial for site in sites for trial in site.trials), best)


def _header(study: Study, goals: Mapping[str, Goal], policy: Policy, data: Mapping[str, Dataset]) -> dict[str, Any]:
    """Everything that the trials of a journal follow from, as plain data."""
    return {
        "study": study.agreement(),
        "directions": {name: goal.to_plain() for name, goal in goals.items()},
        "policy": policy.to_dict() | {"initial": policy.begins_with(len(study.space.names))},
        "data": identify({name: data[name].to_dict() for name in sorted(data)}),
    }


def _by_site(study: Study, direction: Any) -> dict[str, Any]:
    """What every site wants: what was given for all of them, or by site."""
    if not isinstance(direction, Mapping) or (len(study.objectives) > 1 and set(direction) == set(study.objectives)):
        return dict.fromkeys(study.sites, direction)
    return dict(direction)


def _limits_by_site(study: Study, limits: Any) -> dict[str, Any]:
    if not isinstance(limits, Mapping):
        return dict.fromkeys(study.sites, limits)
    for name in limits:
        study.index(name)
    return dict(limits)


def _goal(name: str, wanted: Any, study: Study, limits: Any) -> Goal:
    with at(f"site '{name}'"):
        return Goal.of(wanted, study.objectives, limits)


def _pace_of(durations: object, plate: Plate, has_calendar: bool) -> dict[str, Any]:
    """How long experiments take and how many are run at a time, as plain data; empty where nobody has said so."""
    times = {"durations": identify(durations), "plate": plate.wells} if has_calendar or plate.wells > 1 else {}
    return times | ({"same": list(plate.same)} if plate.same else {})


def _check_kinds(experiments: object, direction: object, data: object, journal: object) -> None:
    """Raise one sentence if an argument of a simulation is something else altogether."""
    check_kind("experiments", experiments, Mapping, "a dictionary with a function for every site")
    check_kind("direction", direction, str | Aim | Goal | Mapping, "'maximise' or 'minimise', or one of these by site")
    if data is not None:
        check_kind("data", data, Mapping, "a dictionary with a Dataset for every site that has one")
    if journal is not None:
        check_kind("journal", journal, str | PathLike, "the path of a file")


def _check(
    study: Study, experiments: Mapping[str, object], directions: Mapping[str, Any], data: Mapping[str, object]
) -> None:
    """Check that every site has an experiment and a direction, and that nothing is given for an unknown site."""
    for name in (*experiments, *directions, *data):
        study.index(name)
    for name in study.sites:
        if not callable(experiments.get(name)):
            raise CbocError(f"every site needs an experiment, a function of the design; {name} has none.")
        if name not in directions:
            raise CbocError(f"every site needs a direction, 'maximise' or 'minimise'; {name} has none.")


def _run(sites: list[Site], run: Callable[[Site, Trial], object], plate: Plate) -> None:
    """In each pass all sites propose, then every site whose round has closed runs what it is to run."""
    while active := [site for site in sites if not site.is_finished]:
        think(active)
        for site in active:
            with suppress(Finished):
                site.propose(plate.wells, same=plate.same)
        for site in active:
            with suppress(Finished, Waiting):
                site.ask()
            for trial in site.to_run:
                run(site, trial)
        for site in active:
            if site.is_finished:  # the others cannot know by whose costs, and would wait
                with suppress(Finished):
                    site.ask()


def _check_cost(told: Trial, policy: Policy) -> None:
    """Raise one sentence if there is a limit to costs, and an experiment does not say what it cost."""
    if policy.most_cost is not None and told.status is Status.COMPLETE and told.cost is None:
        raise CbocError(
            f"most_cost = {policy.most_cost:g} has no effect where an experiment does not say what it cost, as that of "
            f"'{told.site}'; return Measurement(y, cost=...) from a function, give a program cost_pattern or cost_key, "
            "or leave most_cost out."
        )


def run_trial(site: Site, trial: Trial, experiment: Experiment) -> Trial:
    """Run the experiment of a trial; the trial with its outcome, or marked as failed."""
    try:
        outcome = experiment(trial.design(site.space))
    except ExperimentFailed as failure:
        return site.fail(trial, str(failure), cost=failure.cost)
    return site.tell(trial, outcome)


def _replay(sites: list[Site], ledger: Ledger) -> None:
    """Submit again all proposals from before the interruption, in the order of their arrival; finished sites leave.

    In rounds that is the order of turns. At the free pace the answers name it; one that was not answered came last.
    """
    waits, taken = ledger.study.pace.waits, []
    for site in sites:
        first = 0  # turn that was not handed in
        for number in range(site.log.next_turn):
            wells = site.log.wells(number)
            if wells and wells[-1].status not in (Status.PROPOSED, Status.STOPPED):
                answer = wells[0].answer
                place = number if waits else inf if answer is None else answer.snapshot
                taken.append((place, site.name, partial(ledger.submit, site.proposal(wells[0]))))
                first = number + 1
        if site.is_finished:
            taken.append((first if waits else inf, site.name, partial(ledger.leave, site.name)))
    for *_, act in sorted(taken, key=lambda entry: entry[:2]):
        act()
