"""Results from before the study: shown, asked about, and taken in. `cboc earlier`, and `cboc join --data`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cboc.cli.agreeing import is_agreed
from cboc.cli.amending import Yes
from cboc.cli.lab import site_file, site_of
from cboc.cli.notes import notes
from cboc.cli.show import many
from cboc.cli.site_option import FILE, SiteOption, hint
from cboc.data.earlier.answers import Answers, Question
from cboc.data.earlier.preview import Preview, look
from cboc.errors import CbocError
from cboc.exchange.study import Study
from cboc.studyfile import read_terms

Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="HEADER=USE",
        help="What a column of that table is: a parameter, y, sem, status or ignore; once for each.",
    ),
]
Answered = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="An answer to a question about that table; it is shown with the question."),
]
Outcome = Annotated[
    str | None, typer.Option(help="The name of the outcome in that table.", show_default="the objective's name, or y")
]


def earlier(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="A CSV or XLSX file with results from before the study.")
    ],
    file: SiteOption = FILE,
    study: Annotated[
        Path | None, typer.Option(metavar="STUDY.toml", help="Only show what would be taken for this study.")
    ] = None,
    outcome: Outcome = None,
    column: Columns = None,
    answer: Answered = None,
    yes: Yes = False,
) -> None:
    """Take in results from before the study, until the first experiment is asked for. They are shown first.

    What is shown: which column is taken as what and why, which rows are left out and why, and what nobody but you can
    tell, such as whether an empty outcome is a failure. Nothing is dropped or converted without a word. `--column` and
    `--answer` answer that beforehand, `--yes` agrees to what is shown: rows that are left out, with their reasons. Open
    questions are not agreed to.

    Examples: `cboc earlier old.xlsx`, `cboc earlier old.csv --column "Yield / %=y" --column SD=ignore --answer
    empty=drop --yes`, `cboc earlier old.xlsx --study study.toml`
    """
    if study is not None:
        seen_table(table, read_terms(study).study, outcome, column, answer, is_sure=True)
        notes.print("Nothing was kept: this is what would be taken.")
        return
    kept = site_file(file)
    if kept.is_begun:
        raise CbocError(
            f"{file} has asked for its first experiment: results from before the study are given until then, since all "
            "later designs follow from them."
        )
    site = site_of(file)
    before = len(site.data) + len(site.data.failures)
    seen = seen_table(table, site.study, outcome, column, answer, is_sure=yes, replaces=before)
    site = site_of(file, data=seen)
    count = len(site.data) + len(site.data.failures)
    notes.print(f"{file} begins with {many(count, 'result')} from before the study. Next: {hint('ask', file)}.")


def seen_table(
    table: Path,
    study: Study,
    outcome: str | None,
    columns: Sequence[str] | None,
    answers: Sequence[str] | None,
    *,
    is_sure: bool,
    replaces: int = 0,
) -> Preview:
    """The preview of a table that somebody has looked at and agreed to; `replaces` so many results."""
    said = Answers.read(columns or (), answers or ())
    objective = study.objective

    def again(said: Answers) -> Preview:
        return look(table, study.space, outcome or objective.name, objective.unit, said)

    seen = again(said)
    typer.echo(str(seen))
    while seen.questions:
        said = _asked(seen.questions[0], said, is_sure)
        seen = again(said)
        if not seen.questions:
            typer.echo(f"\n{seen}\n\nTo say the same without being asked: {' '.join(said.options)}")
    seen.check()
    instead = f", in place of the {replaces} that are there" if replaces else ""
    if not is_sure and not is_agreed(f"Take {many(len(seen.taken), 'row')} from {seen.name}{instead}?", "this table"):
        raise CbocError(f"nothing was taken from {seen.name}, and nothing else was done.")
    return seen


def _asked(question: Question, said: Answers, is_sure: bool) -> Answers:
    """The answers with one more, from a person; raises one sentence if nobody is to be asked."""
    typer.echo(f"\n{question.text}")
    for number, (_, meaning) in enumerate(question.choices, start=1):
        typer.echo(f"  {number}  {meaning}")
    values = [value for value, _ in question.choices]
    number = 0
    try:
        if is_sure or not values:
            raise typer.Abort
        while not 1 <= number <= len(values):
            number = typer.prompt("Which one", type=int)
    except typer.Abort:
        how = f" Answer it, as in {' or '.join(question.options[:3])}." if values else ""
        raise CbocError(f"{question.text}{how}") from None
    return question.answered(said, values[number - 1])
