"""The commands that tell what came of an experiment. What is likely a mistake is asked about first."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from cboc.advice.asking import abandoning, of_sheet, streak
from cboc.advice.slips import Told, slips
from cboc.cli.lab import Cost, TrialNumber, site_of
from cboc.cli.notes import notes
from cboc.cli.sheet import told_lines
from cboc.cli.site_option import FILE, SiteOption, hint
from cboc.cli.standing import numbers, summary
from cboc.data.numbers import read_number
from cboc.data.objective import Measurement
from cboc.errors import CbocError
from cboc.site import worksheet
from cboc.site.site import Site
from cboc.site.trial import Status, Trial

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, and do not warn.")]


def tell(
    result: Annotated[str, typer.Argument(metavar="OUTCOME|SHEET.csv", help="A number, or a filled-in sheet.")],
    sem: Annotated[float | None, typer.Option(min=0.0, help="The outcome's standard error.")] = None,
    cost: Cost = None,
    ran: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A parameter that was run at another value; once for each."),
    ] = None,
    trial: TrialNumber = None,
    again: Annotated[bool, typer.Option("--again", help="Correct what was told before.")] = False,
    yes: Yes = False,
    file: SiteOption = FILE,
) -> None:
    """Tell the outcome of an experiment. It is kept in the site's own file, and stays there.

    Lines of a sheet that were told before count once; with `--again` those that differ are corrections. An outcome far
    outside the others, or far from what was expected, is asked about first, and so is a third failure in a row. Where
    nobody can answer, in a script or a pipe, it is kept, and a line on standard error says so.

    Examples: `cboc tell 0.83`, `cboc tell bench.csv`, `cboc tell 0.83 --ran temperature=61.5`,
    `cboc tell 0.83 --trial 7 --again`, `cboc tell bench.csv --again`
    """
    site = site_of(file)
    if result.lower().endswith(".csv"):
        if any(given is not None for given in (sem, cost, ran, trial)):
            raise CbocError("a sheet says everything itself; leave out --sem, --cost, --ran and --trial.")
        entries = worksheet.read(result, site.space, site.study.objective)
        worksheet.check(site, entries, is_correction=again)
        doubts = _asked(of_sheet(site, entries), is_sure=yes)
        notes.print(told_lines(worksheet.enter_all(site, entries, is_correction=again), result))
        _warn(doubts, f"mend the sheet, then {hint(f'tell {result} --again', file)}")
    else:
        measured = Measurement(_number(result), sem, cost)
        known = _trial(site, trial, file)
        doubts = _tell_one(site, known, measured, ran or [], is_correction=again, is_sure=yes)
        notes.print(f"Trial {known.number}: {site.study.objective.of(measured)}.")
        _warn(doubts, hint(f"tell OUTCOME --trial {known.number} --again", file))
    notes.print(summary(site, file))


def _tell_one(
    site: Site, known: Trial, measured: Measurement, ran: list[str], *, is_correction: bool, is_sure: bool
) -> Sequence[str]:
    """Tell one outcome, after a question if it is likely a slip; the question, if nobody could answer it."""
    changed = _changed(site, known, ran)
    would_be = site.twin().tell(known, measured, ran=changed, is_correction=is_correction)
    asked = slips(site, [Told(known.number, would_be.x, measured.mean)])
    doubts = _asked(list(asked.values()), is_sure=is_sure)
    site.tell(known, measured, ran=changed, is_correction=is_correction)
    return doubts


def fail(
    reason: Annotated[str, typer.Option(help="Why, for your own record.")] = "",
    cost: Cost = None,
    trial: TrialNumber = None,
    yes: Yes = False,
    file: SiteOption = FILE,
) -> None:
    """Say that an experiment gave no result. Its design counts as a bad one; you may still `tell` it later.

    From the third failure in a row on it is asked first.

    Example: `cboc fail --reason "the column clogged"`
    """
    site = site_of(file)
    known = _trial(site, trial, file)
    site.twin().fail(known, reason, cost=cost)
    asked = streak(site, {known.number: Status.FAILED})
    doubts = _asked([asked] if asked else [], is_sure=yes)
    site.fail(known, reason, cost=cost)
    _warn(doubts, hint(f"undo --trial {known.number}", file))
    notes.print(summary(site, file))


def abandon(trial: TrialNumber = None, yes: Yes = False, file: SiteOption = FILE) -> None:
    """Abandon an experiment: it is not run, and nothing is learned from it. It still counts against the budget.

    On a terminal it is asked first.

    Example: `cboc abandon`
    """
    site = site_of(file)
    known = _trial(site, trial, file)
    site.twin().abandon(known)
    asked = abandoning(known)
    _asked([asked] if asked else [], is_sure=yes)
    site.abandon(known)
    notes.print(summary(site, file))


def _asked(questions: Sequence[str], *, is_sure: bool) -> Sequence[str]:
    """Ask before something is kept; where nobody can answer, in a script or a pipe, return the questions."""
    if not questions or is_sure:
        return ()
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return questions
    for question in questions:
        notes.print(question)
    if not typer.confirm("Is that right?", err=True):
        raise CbocError("nothing was changed.")
    return ()


def _warn(doubts: Sequence[str], how: str) -> None:
    """Say of what nobody was asked that it is kept, and how it is mended: nothing that a script tells is lost."""
    for doubt in doubts:
        notes.print(f"{doubt} It is kept. If it is wrong: {how}.", style="yellow")


def _trial(site: Site, number: int | None, file: Path) -> Trial:
    if number is not None:
        return site.trial(number)
    pending = site.to_run
    if not pending:
        raise CbocError(
            f"no experiment waits for a result; {hint('ask', file)} gives one, --trial names an earlier one."
        )
    if len(pending) > 1:
        raise CbocError(f"{len(pending)} experiments are open, {numbers(pending)}; say which one with --trial.")
    return pending[0]


def _number(text: str) -> float:
    number = read_number(text)
    if number is None:
        is_file = Path(text).suffix and Path(text).is_file()
        how = " Save the sheet as 'CSV UTF-8', with a name that ends in .csv." if is_file else ""
        raise CbocError(f"an outcome is a number, or a sheet that ends in .csv; '{text}' is neither.{how}")
    return number


def _changed(site: Site, trial: Trial, ran: list[str]) -> dict[str, Any] | None:
    """The design that was run, if --ran says that it was a different one."""
    if not ran:
        return None
    space = site.space
    design = trial.design(space)
    for each in ran:
        name, equals, value = each.partition("=")
        if not equals or name not in design:
            raise CbocError(f"--ran is NAME=VALUE, with a name of {', '.join(design)}; got '{each}'.")
        try:
            design[name] = space.parameters[name].read(value)
        except CbocError as error:
            raise CbocError(f"--ran {each}: {error}") from None
    return design
