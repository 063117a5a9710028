"""A table of words and numbers, and how it is written: as text, as Markdown, as LaTeX."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

WIDEST = 6  # columns that fit the page of a paper without scaling
WIDTH = 120  # characters per line of notes in text


@dataclass(frozen=True)
class Table:
    """A title, a head, rows of cells, and notes under them. The first column is words, the others are numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


class Writing(StrEnum):
    """How tables are written, by the ending of their file."""

    TEXT = "txt"
    MARKDOWN = "md"
    LATEX = "tex"


def write(tables: Iterable[Table], writing: Writing) -> str:
    """The tables as text, Markdown or LaTeX."""
    return "\n\n".join(WRITERS[writing](table) for table in tables) + "\n"


def _text(table: Table) -> str:
    lines = (table.columns, *table.rows)
    widths = [max(len(line[column]) for line in lines) for column in range(len(table.columns))]

    def laid_out(line: tuple[str, ...]) -> str:
        first, *others = (
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        return "  ".join((first, *others)).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    notes = [line for note in table.notes for line in textwrap.wrap(note, WIDTH)]
    return "\n".join([table.title, rule, laid_out(table.columns), rule, *map(laid_out, table.rows), *notes])


def _markdown(table: Table) -> str:
    head = [_markdown_row(table.columns), "|" + "---|" + "---:|" * (len(table.columns) - 1)]
    notes = [f"\n{note}" for note in table.notes]
    return "\n".join([f"### {table.title}\n", *head, *map(_markdown_row, table.rows), *notes])


def _markdown_row(line: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |"


def _latex(table: Table) -> str:
    body = [_latex_row(table.columns) + r" \hline", *map(_latex_row, table.rows)]
    is_wide = len(table.columns) > WIDEST
    title = re.sub(r"^Table \d+\. ", "", table.title)  # LaTeX counts by itself
    caption = " ".join(_latex_text(part if part.endswith(".") else part + ".") for part in (title, *table.notes))
    return "\n".join(
        [
            r"\begin{table}[htbp]",
            r"\centering",
            *([r"\resizebox{\textwidth}{!}{%  \usepackage{graphicx}"] if is_wide else []),
            r"\begin{tabular}{l" + "r" * (len(table.columns) - 1) + "}",
            r"\hline",
            *body,
            r"\hline",
            r"\end{tabular}}" if is_wide else r"\end{tabular}",
            rf"\caption{{{caption}}}",
            r"\end{table}",
        ]
    )


def _latex_row(line: tuple[str, ...]) -> str:
    return " & ".join(map(_latex_text, line)) + r" \\"


LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        "–": "--",
        "≥": r"$\geq$",
        "≤": r"$\leq$",
    }
)


def _latex_text(text: str) -> str:
    return text.translate(LATEX)


WRITERS: dict[Writing, Callable[[Table], str]] = {
    Writing.TEXT: _text,
    Writing.MARKDOWN: _markdown,
    Writing.LATEX: _latex,
}
