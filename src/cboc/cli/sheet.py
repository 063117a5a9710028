"""What `cboc ask` prints: one experiment as a table, several as a line each, or a sheet to fill in."""

from __future__ import annotations

import json
from collections.abc import Sequence

from cboc.cli.show import Format, Row, many, write
from cboc.errors import CbocError
from cboc.site import worksheet
from cboc.site.site import Site
from cboc.site.trial import Decision, Trial
from cboc.site.worksheet import Entered


def check_layout(layout: int | None, count: int | None) -> None:
    """Raise one sentence if there is no such plate, or if it is too small."""
    if layout is not None and layout not in worksheet.LAYOUTS:
        raise CbocError(f"a plate has {', '.join(map(str, worksheet.LAYOUTS))} wells; got --layout {layout}.")
    if layout is not None and count is not None and count > layout:
        raise CbocError(f"{count} experiments do not fit on a plate of {layout}; ask for fewer, or for a larger plate.")


def sheet(site: Site, trials: Sequence[Trial], format: Format, layout: int | None) -> str:
    """The experiments in one of three forms."""
    wells = None if layout is None else worksheet.well_names(trials, layout)
    if format == Format.CSV:
        return worksheet.write(trials, site.space, wells)
    if format == Format.JSON:
        plain = [_plain(site, trial) for trial in trials]
        return json.dumps(plain[0] if len(plain) == 1 else plain, indent=2, ensure_ascii=False)
    if len(trials) == 1:
        rows: list[Row] = [
            {"parameter": name, "value": value, "unit": site.space.parameters[name].unit}
            for name, value in trials[0].design(site.space).items()
        ]
        return f"Trial {trials[0].number}\n{write(rows, Format.TABLE)}"
    places = wells or [""] * len(trials)
    each: list[Row] = [_line(site, *one) for one in zip(trials, places, strict=True)]
    return write(each, Format.TABLE)


def in_short(site: Site, trials: Sequence[Trial], count: int | None) -> str:
    """One sentence on several experiments."""
    shared = sum(trial.is_shared for trial in trials)
    how = f", {shared} of them influenced by the others" if any(trial.turn is not None for trial in trials) else ""
    fewer = f" The budget has no more: {count} were asked for." if count is not None and len(trials) < count else ""
    alone = sum(trial.decision is Decision.UNREACHABLE for trial in trials)
    lost = f" {_alone(alone, len(trials))}" if alone else ""
    more = len(site.open_trials) - len(trials)
    rest = f" {many(more, 'earlier experiment')} {'is' if more == 1 else 'are'} still open." if more else ""
    return f"{many(len(trials), 'experiment')}{how}.{lost}{fewer}{rest}"


def _alone(count: int, of: int) -> str:
    """Say that nobody answered: for all of these experiments, or for some."""
    which = "They are" if count == of else "1 of them is" if count == 1 else f"{count} of them are"
    return f"{which} 100 % your own optimum: the coordinator could not be reached, so nothing was mixed in."


def told_lines(entered: Entered, sheet: str) -> str:
    """One sentence on the lines of a sheet that were told: new ones, and those that were known."""
    new, changed, known = entered.new, entered.changed, entered.known
    if not new + changed + known:
        return f"Nothing was told: no line of {sheet} has an outcome in column y, or a status."
    if not new + changed:
        return f"Nothing new was told: {many(known, 'line')} of {sheet} {'was' if known == 1 else 'were'} told before."
    start = f"Told {many(new, 'line')} of {sheet}" if new else f"Changed {many(changed, 'line')} of {sheet}"
    more = f", changed {changed}" if new and changed else ""
    before = f"; {known} more {'was' if known == 1 else 'were'} told before" if known else ""
    return f"{start}{more}{before}."


def _plain(site: Site, trial: Trial) -> dict[str, object]:
    turn = None if trial.turn is None else trial.turn.number
    said = {"trial": trial.number, "turn": turn, "design": trial.design(site.space)}
    return said | {"explanation": trial.explain(site.study.sites)}


def _line(site: Site, trial: Trial, well: str) -> Row:
    design = trial.design(site.space)
    shown = {name: p.shown(design[name]) for name, p in site.space.parameters.items()}
    return {"trial": trial.number, **({"well": well} if well else {}), **shown}
