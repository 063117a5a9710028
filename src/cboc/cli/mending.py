"""The commands that mend what was told: take it back, write a remark beside it, see what it was before."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from cboc.cli.lab import RowFormat, site_file, site_of
from cboc.cli.notes import notes
from cboc.cli.show import Format, Row, write
from cboc.cli.site_option import FILE, SiteOption, hint
from cboc.cli.standing import local_time, summary
from cboc.errors import CbocError
from cboc.exchange.objective import Objective
from cboc.site.left import stays
from cboc.site.site import Site
from cboc.site.trial import TOLD, Trial
from cboc.storage.sitefile import Change

TrialNumber = Annotated[int | None, typer.Option("--trial", min=0, help="Which trial.", show_default="told last")]


def undo(trial: TrialNumber = None, file: SiteOption = FILE) -> None:
    """Take back what was told of an experiment: its outcome, its failure, or that it was abandoned.

    It waits for a result again, and its cost is taken back as well. What the others were given since then, such as a
    best design, stays with them. To put another outcome in place of one, use `cboc tell ... --again`.

    Examples: `cboc undo`, `cboc undo --trial 7`
    """
    site = site_of(file)
    known = _trial(site, trial, file)
    reopened = site.reopen(known)
    notes.print(f"Trial {reopened.number} waits for a result again ({reopened.note}).")
    if kept := stays(site, known):
        notes.print(kept)
    notes.print(summary(site, file))


def remark(
    text: Annotated[str, typer.Argument(help='What to remember; "" takes an earlier remark away.')],
    trial: TrialNumber = None,
    file: SiteOption = FILE,
) -> None:
    """Write a remark beside an experiment, in place of the one before. It stays in the site's own file.

    Example: `cboc remark "the lamp flickered" --trial 7`
    """
    site = site_of(file)
    annotated = site.annotate(_trial(site, trial, file), text)
    said = f"“{annotated.remark}”" if annotated.remark else "no remark"
    notes.print(f"Trial {annotated.number}: {said}.")


def _trial(site: Site, number: int | None, file: Path) -> Trial:
    """The trial of this number, or the one that was told last."""
    if number is not None:
        return site.trial(number)
    told = [trial for trial in site.trials if trial.status in TOLD]
    if not told:
        raise CbocError(f"nothing was told yet; {hint('status', file)} shows what is open, --trial names a trial.")
    return max(told, key=lambda trial: (trial.ended or 0.0, trial.number))


def history(
    trial: Annotated[
        int | None, typer.Option("--trial", min=0, help="Which trial.", show_default="all of them")
    ] = None,
    file: SiteOption = FILE,
    format: RowFormat = Format.TABLE,
) -> None:
    """Show what was changed when, and by whom: every state that experiments have had, the latest last.

    What was told, corrected or taken back stays here as it was. `by` is the account on this computer, and whether it
    was the command line, the site's page, a program (`cboc work`) or Python.

    Example: `cboc history --trial 7`
    """
    kept = site_file(file)
    changes = kept.history(trial)
    if not changes:
        raise CbocError(
            f"{file} has no trial{'' if trial is None else f' {trial}'} yet; {hint('ask', file)} makes one."
        )
    agreement = kept.about["agreement"]
    told = dict.fromkeys(name for change in changes for name in change.trial.outcomes)
    names = list(told) or [Objective.of_agreement(agreement).name]
    heads = {name: Objective.of_agreement(agreement, name).head for name in names}
    typer.echo(write([_row(change, heads) for change in changes], format))


def _row(change: Change, heads: Mapping[str, str]) -> Row:
    trial = change.trial
    measured = {head: str(trial.outcomes[name]) if trial.outcomes else None for name, head in heads.items()}
    return {
        "trial": trial.number,
        "at": local_time(change.at),
        "by": change.by,
        "status": str(trial.status),
        **measured,
        "cost of the trial" if "cost" in measured else "cost": trial.cost,
        "note": trial.note or None,
        "remark": trial.remark or None,
    }
