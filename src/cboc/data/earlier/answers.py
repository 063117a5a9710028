"""Questions about a table, and what people answer.

An answer is never a default: what is ambiguous stays a question until somebody has said what is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from shlex import quote
from types import MappingProxyType
from typing import Any

from cboc.errors import CbocError, check_kind, did_you_mean, short

IGNORE = "ignore"
USES = {
    "y": "the outcome",
    "sem": "its standard error",
    "status": "whether it failed",
    "cost": "what it cost",
    "remark": "a remark",
    "time": "a time",
    "well": "a well",
    IGNORE: "nothing that is needed",
}  # of a column that is no parameter
READ = ("y", "sem", "status")  # of these, what is read
CHOICES: dict[str, dict[str, str]] = {
    "empty": {"failed": "These experiments failed.", "drop": "They were not run: leave them out."},
    "repeats": {"keep": "Each was measured: take all.", "drop": "They are copies: take one of each."},
    "decimal": {"comma": "The comma is a decimal comma: 1,234 is 1.234.", "point": "The point is: 1,234 is 1234."},
    "percent": {"written": "83 % is 83.", "fraction": "83 % is 0.83."},
    "others": {IGNORE: "None of them is needed."},
}  # what can be answered to a question, and what that means


@dataclass(frozen=True)
class Answers:
    """What people have said about a table: which column is what, and how to take what is ambiguous."""

    columns: Mapping[str, str] = field(default_factory=dict)  # use by header
    empty: str = ""  # rows without an outcome: failed, drop
    repeats: str = ""  # rows that are the same in every cell: keep, drop
    decimal: str = ""  # 1,234: comma, point
    percent: str = ""  # 83 % where others have no sign: written, fraction
    others: str = ""  # columns of numbers that nothing uses: ignore
    sheet: str = ""  # of a book
    header: int | None = None  # the line with the names of the columns

    def __post_init__(self) -> None:
        check_kind("what columns are", self.columns, Mapping, "a dictionary of uses by header, {'Yield': 'y'}")
        object.__setattr__(self, "columns", MappingProxyType({str(k): str(v) for k, v in self.columns.items()}))
        for name, choices in CHOICES.items():
            if (said := getattr(self, name)) and said not in choices:
                raise CbocError(f"'{name}' is answered by {' or '.join(choices)}; this is {short(said)}.")
        check_kind("the name of a sheet", self.sheet, str, "a text")
        if self.header is not None and (type(self.header) is not int or self.header < 1):
            raise CbocError(f"'header' is the number of a line, from 1; this is {short(self.header)}.")

    @classmethod
    def read(cls, columns: Iterable[str], answers: Iterable[str]) -> Answers:
        """The answers of a command line: HEADER=USE for columns, NAME=VALUE for all else."""
        given: dict[str, Any] = {}
        known = (*CHOICES, "sheet", "header")
        for text in answers:
            name, equals, value = text.partition("=")
            if not equals or name not in known:
                raise CbocError(f"--answer is NAME=VALUE, as in empty=drop; got '{text}': {did_you_mean(name, known)}")
            given[name] = int(value) if name == "header" and value.isdecimal() and len(value) < 9 else value
        said = {}
        for text in columns:
            header, equals, use = text.rpartition("=")
            if not equals:
                raise CbocError(f"--column is HEADER=USE, as in 'Yield / %=y'; got '{text}'.")
            said[header.strip()] = use.strip()
        return cls(said, **given)

    @property
    def options(self) -> tuple[str, ...]:
        """The options of a command line that say the same."""
        columns = [f"--column {quote(f'{header}={use}')}" for header, use in self.columns.items()]
        given = {name: getattr(self, name) for name in (*CHOICES, "sheet", "header")}
        return *columns, *(f"--answer {quote(f'{name}={value}')}" for name, value in given.items() if value)

    def with_column(self, header: str, use: str) -> Answers:
        """The answers with another one about a column."""
        return replace(self, columns={**self.columns, header: use})


@dataclass(frozen=True)
class Question:
    """What nobody but a person can say, with all that can be answered."""

    text: str
    name: str  # of the answer: 'empty', 'decimal', ...; 'column' if it is about one
    header: str = ""  # of that column; empty: the answer is a header
    use: str = ""  # that a column is looked for
    choices: tuple[tuple[str, str], ...] = ()  # a value, and what it means

    @classmethod
    def of(cls, name: str, text: str) -> Question:
        """One of the questions that have the same answers in every table."""
        return cls(text, name, choices=tuple(CHOICES[name].items()))

    @property
    def options(self) -> tuple[str, ...]:
        """The options of a command line that answer it."""
        return tuple(self._option(value) for value, _ in self.choices)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of `cboc.preview` that answer it."""
        if self.name == "column":
            return tuple(f"columns={{{self.header or value!r}: {self.use or value!r}}}" for value, _ in self.choices)
        return tuple(f"{self.name}={value!r}" for value, _ in self.choices)

    def _option(self, value: str) -> str:
        if self.name != "column":
            return f"--answer {quote(f'{self.name}={value}')}"
        return f"--column {quote(f'{self.header or value}={self.use or value}')}"

    def answered(self, answers: Answers, value: str) -> Answers:
        """The answers with this one."""
        if value not in dict(self.choices):
            raise CbocError(f"{self.text} {did_you_mean(value, dict(self.choices))}")
        if self.name == "column":
            return answers.with_column(self.header or value, self.use or value)
        news: dict[str, Any] = {self.name: int(value) if self.name == "header" else value}
        return replace(answers, **news)
