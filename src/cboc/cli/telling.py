"""The commands that tell what came of an experiment. What is likely a mistake is asked about first."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from cboc.advice.asking import abandoning, of_sheet, streak
from cboc.advice.slips import Told, slips
from cboc.cli.lab import Cost, TrialNumber, site_of
from cboc.cli.named import as_number, by_name
from cboc.cli.notes import notes
from cboc.cli.sheet import told_lines
from cboc.cli.site_option import FILE, SiteOption, hint
from cboc.cli.standing import numbers, summary
from cboc.data.numbers import read_number
from cboc.data.objective import Measurement
from cboc.errors import CbocError, listed
from cboc.site import worksheet
from cboc.site.outcomes import measured_in_words, outcomes
from cboc.site.site import Site
from cboc.site.trial import Status, Trial

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, and do not warn.")]


def tell(
    result: Annotated[
        list[str],
        typer.Argument(
            metavar="OUTCOME|NAME=OUTCOME...|SHEET.csv",
            help="A number; of several outcomes, each by its name; or a filled-in sheet.",
        ),
    ],
    sem: Annotated[
        list[str] | None,
        typer.Option(metavar="SEM|NAME=SEM", help="The outcome's standard error; of several, each by its name."),
    ] = None,
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

    Examples: `cboc tell 0.83`, `cboc tell yield=83 cost=12 --sem yield=0.5`, `cboc tell bench.csv`, `cboc tell 0.83
    --ran temperature=61.5`, `cboc tell 0.83 --trial 7 --again`, `cboc tell bench.csv --again`
    """
    site, sheet = site_of(file), result[0] if len(result) == 1 else ""
    if sheet.lower().endswith(".csv"):
        if any(given for given in (sem, ran)) or any(given is not None for given in (cost, trial)):
            raise CbocError("a sheet says everything itself; leave out --sem, --cost, --ran and --trial.")
        entries = worksheet.read(sheet, site.space, *outcomes(site))
        worksheet.check(site, entries, is_correction=again)
        doubts = _asked(of_sheet(site, entries), is_sure=yes)
        notes.print(told_lines(worksheet.enter_all(site, entries, is_correction=again), sheet))
        _warn(doubts, f"mend the sheet, then {hint(f'tell {sheet} --again', file)}")
    else:
        measured = _measured(site, result, sem or [])
        known = _trial(site, trial, file)
        doubts = _tell_one(site, known, measured, cost, ran or [], is_correction=again, is_sure=yes)
        notes.print(f"Trial {known.number}: {measured_in_words(site, measured)}.")
        what = "OUTCOME" if len(measured) == 1 else " ".join(shlex.quote(f"{name}=OUTCOME") for name in measured)
        _warn(doubts, hint(f"tell {what} --trial {known.number} --again", file))
    notes.print(summary(site, file))


def _tell_one(
    site: Site,
    known: Trial,
    measured: Mapping[str, Measurement],
    cost: float | None,
    ran: list[str],
    *,
    is_correction: bool,
    is_sure: bool,
) -> Sequence[str]:
    """Tell one result, after a question if it is likely a slip; the question, if nobody could answer it."""
    changed = _changed(site, known, ran)
    would_be = site.twin().tell(known, measured, ran=changed, cost=cost, is_correction=is_correction)
    asked = slips(site, [Told(known.number, would_be.x, each.mean, name) for name, each in measured.items()])
    doubts = _asked(list(asked.values()), is_sure=is_sure)
    site.tell(known, measured, ran=changed, cost=cost, is_correction=is_correction)
    return doubts


def _measured(site: Site, result: Sequence[str], sem: Sequence[str]) -> dict[str, Measurement]:
    """What was measured, by name: all that the site measures, and nothing else."""
    names = site.goal.measured
    if len(names) == 1 and len(result) == 1 and not result[0].startswith(f"{names[0]}="):
        means = {names[0]: _number(result[0])}
    else:
        means = by_name(_named(result, names), names, as_number)
    if missing := [name for name in names if name not in means]:
        raise CbocError(f"an experiment of this site measures {listed(names)}; {listed(missing)} is missing.")
    is_bare = len(names) == 1 and len(sem) == 1 and "=" not in sem[0]
    errors = {names[0]: _sem(sem[0])} if is_bare else by_name(sem, names, _sem, "--sem")
    return {name: Measurement(means[name], errors.get(name)) for name in names}


def _named(result: Sequence[str], names: Sequence[str]) -> Sequence[str]:
    """The outcomes as they were typed; raises one sentence if one of them has no name."""
    for text in result:
        if "=" not in text:
            how = " ".join(shlex.quote(f"{name}=OUTCOME") for name in names) if len(names) > 1 else "OUTCOME"
            one = "one outcome" if len(names) == 1 else f"{len(names)} outcomes, each by its name"
            raise CbocError(f"an experiment of this site has {one}: cboc tell {how}; got '{text}'.")
    return result


def _sem(text: str) -> float:
    """A standard error; raises one sentence if it is none."""
    value = as_number(text)
    if value < 0.0:
        raise CbocError(f"a standard error is not negative; got '{text}'.")
    return value


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
