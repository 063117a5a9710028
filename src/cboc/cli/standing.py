"""Where a site and its study stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from cboc.advice.spending import Spending, spending
from cboc.cli.show import many
from cboc.cli.site_option import hint
from cboc.errors import CbocError
from cboc.exchange.amendment import changes
from cboc.exchange.network import Drift, Standing
from cboc.exchange.objective import Objective
from cboc.site.ending import say_left, way_back
from cboc.site.outcomes import aims_in_words, best_in_words, limits_in_words
from cboc.site.site import Site
from cboc.site.trial import TOLD, Status, Trial
from cboc.storage.sitefile import SiteFile

LONG_ROW = 4  # consecutive numbers that are written as '2 to 5'
PACES = {False: "free: nobody waits", True: "rounds: everybody waits for the slowest"}  # by whether sites wait


def local_time(at: float) -> str:
    """A time as people of this place write it."""
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M %Z")


def numbers(trials: list[Trial]) -> str:
    """The numbers of these trials, in order: 'trial 3', or 'trials 2, 4, 96 to 191'."""
    rows: list[list[int]] = []  # of consecutive numbers
    for trial in trials:
        if rows and trial.number == rows[-1][-1] + 1:
            rows[-1].append(trial.number)
        else:
            rows.append([trial.number])
    shown = [f"{row[0]} to {row[-1]}" if len(row) >= LONG_ROW else ", ".join(map(str, row)) for row in rows]
    return f"{'trial' if len(trials) == 1 else 'trials'} {', '.join(shown)}"


def summary(site: Site, file: Path) -> str:
    """What to say after a result: how many there are, the best so far, what was spent, and what comes next."""
    told, spent = sum(trial.status in TOLD for trial in site.trials), spending(site)
    found = f"best so far {best_in_words(site)}" if len(site.dataset) else "no outcome so far"
    cost = f", {_cost(spent)}" if spent.limit is not None else ""
    return f"{many(told, 'experiment')}{_failed(site)}, {found}{cost}. {_next(site, file, spent)}"


def _next(site: Site, file: Path, spent: Spending) -> str:
    ask, count = hint("ask", file), len(site.to_run)
    if site.has_left:
        still = f"{count} {'is' if count == 1 else 'are'} still open, and may be told." if count else ""
        return f"The site has left the study. {still}".rstrip()
    if site.is_finished:
        return (
            f"The study is over for this site: run {ask} once more to tell the coordinator that you are done. "
            f"{hint('best', file)} shows what was found."
        )
    if not count:
        return f"Next: {ask}."
    are = "1 is" if count == 1 else f"{count} are"
    more = "the budget is spent, so no more follow" if spent.is_all else f"{hint('ask --count 8', file)} asks for more"
    return f"{are} still open: {ask} shows {'it' if count == 1 else 'them'}, {more}."


def _failed(site: Site) -> str:
    failed = sum(trial.status is Status.FAILED for trial in site.trials)
    return f", {failed} of them failed" if failed else ""


def _cost(spent: Spending) -> str:
    """What was spent, of how much, and how many experiments are not in it."""
    of = "" if spent.limit is None else f" of {spent.limit:g}"
    count = f"{spent.uncounted} without a cost {'does' if spent.uncounted == 1 else 'do'} not count"
    return f"{spent.spent:g}{of} spent{f' ({count})' if spent.uncounted and of else ''}"


def standing_of(site: Site, file: Path) -> Iterator[tuple[str, Any]]:
    """What is known about the site, and what it is waiting for, line by line."""
    study, pending = site.study, site.to_run
    yield "study", study.name
    yield "site", f"{site.name}, of {', '.join(study.sites)}"
    yield from _versions(site, file)
    yield from _departure(site, file)
    yield "pace", PACES[study.pace.waits]
    for moved in SiteFile(file).about.get("moves", ()):
        yield "moved", f"{local_time(moved['at'])}, from {moved['from']} to {moved['to']}"
    yield "budget used", f"{site.turns} of {study.budget(site.name)} experiments, without the initial ones"
    yield "experiments", sum(trial.status in TOLD for trial in site.trials)
    yield "failed", sum(trial.status is Status.FAILED for trial in site.trials)
    if site.cost or site.policy.most_cost is not None:
        yield "cost", _cost(spending(site))
    if site.goal.is_plain and study.objective != Objective():
        yield "outcome", f"{study.objective.label}, to {site.direction}"
    elif not site.goal.is_plain:
        yield from _goal(site)
    if (study.objective.unit or not site.goal.is_plain) and len(site.dataset):
        yield "best", best_in_words(site)
    else:
        yield "best", site.best.y if len(site.dataset) else None
    if site.is_finished:
        yield "to be run", "nothing: the study is over for this site"
        return
    which = f"{many(len(pending), 'experiment')}, {numbers(pending)}"
    if site.has_left:
        yield "to be run", f"{which}; {'it' if len(pending) == 1 else 'they'} may still be told"
        return
    yield "to be run", which if pending else f"nothing yet; {hint('ask', file)}"
    try:
        standing = site.network.standing()
    except CbocError as error:
        yield "the others", str(error)
        return
    yield from _others(standing)
    yield from _drifts(standing.drifts, site.name)
    if not study.pace.waits:
        yield ("proposals of all sites" if not standing.code else "proposals of this site"), standing.round
        return
    yield "open round", standing.round
    yield "it waits for", overdue(standing) or ", ".join(standing.missing) or "nobody"
    yield "it closes", "when all are in" if standing.closes_at is None else local_time(standing.closes_at)


def _goal(site: Site) -> Iterator[tuple[str, Any]]:
    """What the site wants, which only its own people see, and how many of its results are on its front."""
    yield "goal, private", aims_in_words(site)
    if site.goal.limits:
        yield "limits, private", limits_in_words(site)
        yield "results within the limits", f"{int(site.results.is_allowed.sum())} of {len(site.results)}"
    if len(site.goal.aims) > 1:
        yield "results that none beats", int(site.results.is_on_front.sum())


def _versions(site: Site, file: Path) -> Iterator[tuple[str, Any]]:
    """How the study has changed so far, and whether a change waits to be accepted."""
    from cboc.joining.agreement import kept_versions  # a site that has joined has what that needs

    versions = kept_versions(SiteFile(file))
    for before, after in pairwise(versions):
        yield f"version {after.version}", "; ".join(changes(before, after))
    newest = None
    with suppress(CbocError):
        newest = site.offered()
    if newest is not None:
        yield "a change waits", f"{'; '.join(changes(site.study, newest))}; {hint('accept', file)}"


def _departure(site: Site, file: Path) -> Iterator[tuple[str, Any]]:
    """When the site left, if it has; the others are told once more if they have not heard it."""
    from cboc.joining.departure import left_at

    at = left_at(SiteFile(file))
    if at is not None:
        yield "left", f"{local_time(at)}; {way_back(site.network)}"
        if trouble := say_left(site.network, site.name):
            yield "the others", f"have not heard that yet: {trouble}"


def overdue(standing: Standing) -> str:
    """The site that has to close a round that is due: 'lab-c to close round 7', or ''."""
    return f"{standing.closer} to close round {standing.closing}" if standing.closer else ""


def _drifts(drifts: Sequence[Drift], own: str) -> Iterator[tuple[str, Any]]:
    """The sites that have gone on by themselves, in which rounds, and without whom."""
    for awaited in dict.fromkeys(drift.awaited for drift in drifts):
        names = [(d.round, "this site" if d.site == own else d.site) for d in drifts if d.awaited == awaited]
        yield f"went on without {awaited}", ", ".join(f"round {number} ({name})" for number, name in names)


def _others(standing: Standing) -> Iterator[tuple[str, Any]]:
    """What is known about the others where there is no coordinator: who was heard when, and the codes to compare."""
    if standing.trouble:
        yield "the others", f"cannot be reached: {standing.trouble} What you do is kept, and given to them later."
    for peer in standing.peers:
        when = "" if peer.heard_at is None else f", heard {local_time(peer.heard_at)}"
        many_entries = "1 entry" if peer.entries == 1 else f"{peer.entries} entries"
        known = f"{many_entries}{when}; code {peer.code}" if peer.code else "not heard of yet"
        yield peer.site, peer.trouble or (f"{known}. {peer.silence}" if peer.silence else known)
    for change in standing.proposed:
        yield "a change is proposed", f"{change}; stewards who agree give the same study file to cboc amend"
    if standing.code:
        yield "your code", f"{standing.code}, for the others to compare"
