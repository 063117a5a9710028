"""A table of words and numbers, and how it is written: as text, as Markdown, as LaTeX."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

WIDEST = 6  # columns that fit the page of a paper as they are
WIDTH = 120  # characters of a line of notes in text


@dataclass(frozen=True)
class Sheet:
    """A title, a head, rows of cells, and notes under them. The first column is words, the others are numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


class Writing(StrEnum):
    """How sheets are written, by the ending of their file."""

    TEXT = "txt"
    MARKDOWN = "md"
    LATEX = "tex"


def write(sheets: Iterable[Sheet], writing: Writing) -> str:
    return "\n\n".join(WRITERS[writing](sheet) for sheet in sheets) + "\n"


def _text(sheet: Sheet) -> str:
    lines = (sheet.columns, *sheet.rows)
    widths = [max(len(line[column]) for line in lines) for column in range(len(sheet.columns))]

    def laid_out(line: tuple[str, ...]) -> str:
        first, *others = (
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        return "  ".join((first, *others)).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    notes = [line for note in sheet.notes for line in textwrap.wrap(note, WIDTH)]
    return "\n".join([sheet.title, rule, laid_out(sheet.columns), rule, *map(laid_out, sheet.rows), *notes])


def _markdown(sheet: Sheet) -> str:
    head = [_markdown_row(sheet.columns), "|" + "---|" + "---:|" * (len(sheet.columns) - 1)]
    notes = [f"\n{note}" for note in sheet.notes]
    return "\n".join([f"### {sheet.title}\n", *head, *map(_markdown_row, sheet.rows), *notes])


def _markdown_row(line: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |"


def _latex(sheet: Sheet) -> str:
    body = [_latex_row(sheet.columns) + r" \hline", *map(_latex_row, sheet.rows)]
    is_wide = len(sheet.columns) > WIDEST
    title = re.sub(r"^Table \d+\. ", "", sheet.title)  # LaTeX counts by itself
    caption = " ".join(_latex_text(part if part.endswith(".") else part + ".") for part in (title, *sheet.notes))
    return "\n".join(
        [
            r"\begin{table}[htbp]",
            r"\centering",
            *([r"\resizebox{\textwidth}{!}{%  \usepackage{graphicx}"] if is_wide else []),
            r"\begin{tabular}{l" + "r" * (len(sheet.columns) - 1) + "}",
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


WRITERS: dict[Writing, Callable[[Sheet], str]] = {
    Writing.TEXT: _text,
    Writing.MARKDOWN: _markdown,
    Writing.LATEX: _latex,
}
