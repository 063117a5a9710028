"""What `cboc ask` prints: one experiment as a table, several as a line each, or a sheet to fill in."""

from __future__ import annotations

import json
from collections.abc import Sequence

from cboc.cli.show import Format, Row, many, write
from cboc.errors import CbocError, at, listed
from cboc.exchange.objective import Objective
from cboc.site import worksheet
from cboc.site.counted import counted
from cboc.site.outcomes import outcomes
from cboc.site.plate import Same
from cboc.site.site import Site
from cboc.site.trial import Trial
from cboc.site.turn import Decision
from cboc.site.worksheet import Entered
from cboc.space.slice import check_names


def wells_for(site: Site, count: int | None, layout: int | None, wells: str | None) -> list[str]:
    """The names of the wells of a plate that is asked for: those given, or the first free ones of a layout."""
    if count is None:
        if layout is not None or wells is not None:
            option = "--layout" if wells is None else "--wells"
            raise CbocError(f"{option} is for a new plate; say how many experiments it has, as in --count 8.")
        return []
    if wells is not None:
        named = [name.strip() for name in wells.split(",")]
        if layout is not None and (unknown := sorted(set(named) - set(worksheet.well_names(layout)))):
            raise CbocError(f"a plate of {layout} has no well {', '.join(unknown)}; its last is {_last(layout)}.")
        return named
    return [] if layout is None else worksheet.free_wells(site, layout, count)


def _last(layout: int) -> str:
    return worksheet.well_names(layout)[-1]


def same_in_all(site: Site, given: Sequence[str]) -> Same:
    """The parameters that wells share, as given: NAME, or NAME=VALUE for all of them."""
    parts = [text.partition("=") for text in given]
    if not any(equals for _, equals, _ in parts):
        return list(given)
    if not all(equals for _, equals, _ in parts):
        raise CbocError("--same gives either names or values for all of them; write --same NAME=VALUE each time.")
    check_names(site.space, [name for name, _, _ in parts])
    values = {}
    for name, _, value in parts:
        with at(f"--same {name}={value}"):
            values[name] = site.space.parameters[name].read(value)
    return values


def sheet(site: Site, trials: Sequence[Trial], format: Format) -> str:
    """The experiments in one of three forms."""
    if format == Format.CSV:
        return worksheet.write(trials, site.space, *outcomes(site))
    if format == Format.JSON:
        plain = [_plain(site, trial) for trial in trials]
        return json.dumps(plain[0] if len(plain) == 1 else plain, indent=2, ensure_ascii=False)
    if len(trials) == 1:
        rows: list[Row] = [
            {"parameter": name, "value": value, "unit": site.space.parameters[name].unit}
            for name, value in worksheet.printed(trials[0], site.space).items()
        ]
        where = f", well {trials[0].place}" if trials[0].place else ""
        return (
            f"Trial {trials[0].number}, {counted(site, trials[0])}{where}{_wanted(site)}\n{write(rows, Format.TABLE)}"
        )
    has_wells = any(trial.place for trial in trials)
    return write([_line(site, trial, has_wells) for trial in trials], Format.TABLE)


def in_short(site: Site, trials: Sequence[Trial], count: int | None) -> str:
    """One sentence on several experiments."""
    shared = sum(trial.is_shared for trial in trials)
    how = f", {shared} of them shared with the others" if any(trial.turn is not None for trial in trials) else ""
    fewer = f" The budget has no more: {count} were asked for." if count is not None and len(trials) < count else ""
    alone = sum(trial.decision is Decision.UNREACHABLE for trial in trials)
    lost = f" {_alone(alone, len(trials))}" if alone else ""
    more = len(site.open_trials) - len(trials)
    rest = f" {many(more, 'earlier experiment')} {'is' if more == 1 else 'are'} still open." if more else ""
    return f"{many(len(trials), 'experiment')}{how}.{lost}{fewer}{rest}"


def _alone(count: int, of: int) -> str:
    """Say that nobody answered: for all of these experiments, or for some."""
    which = "They are" if count == of else "1 of them is" if count == 1 else f"{count} of them are"
    what = "your own proposals" if count > 1 else "your own proposal"
    return f"{which} {what}: the others could not be reached."


def told_lines(entered: Entered, sheet: str) -> str:
    """One sentence on the lines of a sheet that were told: new ones, and those that were known."""
    new, changed, known = entered.new, entered.changed, entered.known
    if not new + changed + known:
        return f"Nothing was told: no line of {sheet} has an outcome, or a status."
    if not new + changed:
        return f"Nothing new was told: {many(known, 'line')} of {sheet} {'was' if known == 1 else 'were'} told before."
    start = f"Told {many(new, 'line')} of {sheet}" if new else f"Changed {many(changed, 'line')} of {sheet}"
    more = f", changed {changed}" if new and changed else ""
    before = f"; {known} more {'was' if known == 1 else 'were'} told before" if known else ""
    other = entered.other
    ran = (
        f" {many(other, 'line')} {'has' if other == 1 else 'have'} another design than was asked for, and that is kept."
    )
    return f"{start}{more}{before}.{ran if other else ''}"


def _wanted(site: Site) -> str:
    """What to measure, if that has a name or a unit."""
    heads = [each.head for each in outcomes(site)]
    return "" if outcomes(site) == (Objective(),) else f": measure {listed(heads)}"


def _plain(site: Site, trial: Trial) -> dict[str, object]:
    turn = None if trial.turn is None else trial.turn.number
    said: dict[str, object] = {"trial": trial.number, "turn": turn, "design": trial.design(site.space)}
    said |= {"well": trial.place} if trial.place else {}
    heads = [each.head for each in outcomes(site)]
    said |= {} if outcomes(site) == (Objective(),) else {"measure": heads[0] if len(heads) == 1 else heads}
    origin = trial.origin(site.study.sites)
    said |= {"experiment": counted(site, trial), "kind": str(origin.kind), "explanation": origin.sentence}
    return said | {"numbers": dict(origin.numbers)}


def _line(site: Site, trial: Trial, has_wells: bool) -> Row:
    where = {"well": trial.place} if has_wells else {}
    return {"trial": trial.number, **where, **worksheet.printed(trial, site.space)}
