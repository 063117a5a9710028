"""Which column is what, by its header and by what people have said; and which nobody can tell.

A column is taken by its name, by its name but for case and marks, by its name with the unit of the space, or by
another name that people use. What looks like an outcome, a standard error or a status and is not understood is asked
about. The unit of a header is never converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, time
from typing import Any

from cboc.data.earlier.answers import IGNORE, READ, USES, Answers, Question
from cboc.data.earlier.cells import is_failure
from cboc.data.earlier.grid import shown
from cboc.data.headers import Meaning, meaning, plain, plain_unit, rest, split_unit
from cboc.errors import CbocError, did_you_mean, listed
from cboc.space.space import Space

EXACT, ALIKE, KNOWN, SAID = "its name", "its name but for case and marks", "another name for it", "you said so"
LONGEST = 200  # characters of a name with its unit
NONE_LEFT = "None is left that might be it: add it to the table."
NO_COLUMN = "there is nothing"  # neither a name nor a cell
UNREAD = {
    Meaning.COST: ("cost", "a cost; those of before the study are not counted"),
    Meaning.REMARK: ("remark", "a remark; it is not needed"),
    Meaning.TIME: ("time", "a time; it is not needed"),
    Meaning.WELL: ("well", "a well; it is not needed"),
    Meaning.NUMBER: (IGNORE, "a number of its own; it is not needed"),
}


@dataclass(frozen=True)
class Header:
    """The head of a column, and what is below it."""

    name: str  # as it is called here: no two columns have the same
    text: str  # as it is written
    line_unit: str  # in a line of its own below
    cells: tuple[Any, ...] = ()
    numbers: tuple[float, ...] = ()  # those in its cells, as far as they are clear

    @property
    def unit(self) -> str:
        """Its unit, in brackets, after a slash or in a line of its own."""
        return split_unit(self.text)[1] or self.line_unit

    @property
    def filled(self) -> list[Any]:
        """The cells that are not empty."""
        return [cell for cell in self.cells if cell is not None]

    @property
    def example(self) -> str:
        """Some of its cells, as a person sees them."""
        different = list(dict.fromkeys(shown(cell) for cell in self.filled))
        return ", ".join(text[:20] for text in different[:3]) + (", ..." if len(different) > 3 else "")

    @property
    def is_times(self) -> bool:
        """Whether all its cells are dates or times."""
        return all(isinstance(cell, date | time) for cell in self.filled)

    @property
    def is_count(self) -> bool:
        """Whether it counts the lines: 1, 2, 3."""
        return len(self.numbers) > 2 and all(b - a == 1 for a, b in zip(self.numbers, self.numbers[1:], strict=False))


@dataclass(frozen=True)
class Column:
    """What a column is taken as, and why; or why it is not taken."""

    header: Header
    use: str = ""  # a parameter, one of `USES`, or empty while nobody knows
    reason: str = ""
    is_parameter: bool = False  # one may be called as a use is: time, cost

    @property
    def name(self) -> str:
        """Its header."""
        return self.header.name

    @property
    def is_read(self) -> bool:
        """Whether it is a parameter, the outcome, its standard error or the status."""
        return self.is_parameter or self.use in READ

    @property
    def meant(self) -> str:
        """What it is, in words."""
        return self.use if self.is_parameter else USES.get(self.use, "")


class Sorting:
    """The columns while they are sorted: each use goes to one column, what is unclear becomes a question."""

    def __init__(self, headers: Sequence[Header], space: Space, outcome: str, unit: str) -> None:
        self.space, self.outcome, self.unit = space, outcome, unit
        self.columns = [Column(header) for header in headers]
        self.questions: list[Question] = []

    def free(self) -> list[Column]:
        """The columns that are nothing yet."""
        return [column for column in self.columns if not column.reason]

    def taken(self, use: str) -> Column | None:
        """The column that is this."""
        return next((column for column in self.columns if column.use == use), None)

    def take(self, column: Column, use: str, reason: str) -> None:
        """Say what a column is; without a use, why it is not taken."""
        taken = replace(column, use=use, reason=reason, is_parameter=use in self.space.names)
        self.columns[self.columns.index(column)] = taken

    def leave(self, column: Column, kind: Meaning) -> None:
        """Say that a column is understood, and not needed; a parameter may be called as its use is."""
        use, reason = UNREAD[kind]
        self.take(column, IGNORE if use in self.space.names else use, reason)

    def ask(self, column: Column, use: str, text: str, reason: str) -> None:
        """Ask whether a column is something."""
        meant = use if use in self.space.names else USES[use]
        choices = ((use, f"It is {meant}."), (IGNORE, f"It is {USES[IGNORE]}."))
        self.questions.append(Question(text, "column", column.name, choices=choices))
        self.take(column, "", reason)

    def ask_which(self, use: str, columns: Sequence[Column], text: str) -> None:
        """Ask which column is something."""
        choices = tuple((column.name, f"{column.name}: {column.header.example}") for column in columns)
        self.questions.append(Question(text, "column", use=use, choices=choices))


def sort_columns(
    headers: Sequence[Header], space: Space, outcome: str, unit: str, answers: Answers
) -> tuple[tuple[Column, ...], list[Question]]:
    """What each column is, and what has to be asked."""
    sorting = Sorting(headers, space, outcome, unit)
    _as_said(sorting, answers)
    missing = [name for name in space.names if sorting.taken(name) is None and not _has_found(sorting, name)]
    _outcome(sorting)
    _standard_error(sorting)
    _status(sorting)
    for name in missing:
        _ask_for(sorting, name)
    _others(sorting, answers)
    return tuple(sorting.columns), sorting.questions


def rating(texts: Sequence[str], space: Space, outcome: str, answers: Answers) -> int:
    """How many columns of a line are known by name, if it has the names; a parameter counts for three others."""
    names = {plain(name) for name in (*space.names, *answers.columns)}
    short = [text for text in texts if len(text) <= LONGEST]
    bases = [{plain(text), plain(split_unit(text)[0]), plain(text).rpartition(" ")[0]} for text in short]
    found = names & set().union(*bases)
    if not found:
        return 0
    known = {meaning(text) for text, each in zip(short, bases, strict=True) if not each & names} - {None}
    return 3 * len(found) + len(known) + any(plain(outcome) in each for each in bases)


def _as_said(sorting: Sorting, answers: Answers) -> None:
    """Take columns as people have said."""
    uses, names = (*sorting.space.names, *USES), [column.name for column in sorting.columns]
    for given, said in answers.columns.items():
        use = "y" if said == sorting.outcome and said not in sorting.space.names else said
        if use not in uses:
            raise CbocError(f"column '{given}' cannot be '{said}'; {did_you_mean(said, uses)}")
        alike = [name for name in names if plain(name) == plain(given)]
        name = given if given in names else alike[0] if len(alike) == 1 else ""
        if not name:
            raise CbocError(f"there is no column '{given}'; {did_you_mean(given, names)}")
        if (use in READ or use in sorting.space.names) and sorting.taken(use) is not None:
            raise CbocError(f"two columns cannot both be '{use}'; say {IGNORE} of one of them.")
        column = next(column for column in sorting.columns if column.name == name)
        sorting.take(column, use, f"{SAID}{_unconverted(sorting, column, use)}")


def _unconverted(sorting: Sorting, column: Column, use: str) -> str:
    """What to say of a column with another unit than the study's, which somebody has taken all the same."""
    parameter = sorting.space.parameters.get(use)
    expected = sorting.unit if parameter is None else parameter.unit
    is_measured = parameter is not None or (use in ("y", "sem") and bool(expected))
    is_other = is_measured and column.header.unit and plain_unit(column.header.unit) != plain_unit(expected)
    return f"; its unit is '{column.header.unit}', and nothing is converted" if is_other else ""


def _has_found(sorting: Sorting, name: str) -> bool:
    """Whether a column is a parameter, or one of several that are asked about."""
    is_unique = sum(plain(other) == plain(name) for other in sorting.space.names) == 1
    ways: list[tuple[str, Callable[[Header], str | None]]] = [
        (EXACT, lambda header: header.line_unit if header.text == name else None),
        (EXACT, lambda header: header.unit if split_unit(header.text)[0] == name else None),
    ]
    if is_unique:
        ways += [
            (ALIKE, lambda header: header.line_unit if plain(header.text) == plain(name) else None),
            (ALIKE, lambda header: header.unit if plain(split_unit(header.text)[0]) == plain(name) else None),
            (ALIKE, lambda header: _glued_unit(header, name)),
        ]
    for reason, unit_of in ways:
        found = [(column, unit) for column in sorting.free() if (unit := unit_of(column.header)) is not None]
        if len(found) > 1:
            columns = [column for column, _ in found]
            text = f"{len(found)} columns may be '{name}': {_names(columns)}. Which one is it?"
            sorting.ask_which(name, columns, text)
        elif found:
            _take_measured(sorting, found[0][0], name, sorting.space.parameters[name].unit, found[0][1], reason)
        if found:
            return True
    return False


def _take_measured(sorting: Sorting, column: Column, use: str, expected: str, unit: str, reason: str) -> None:
    """Take a column if its unit is the expected one, else ask: nothing is converted."""
    if not unit:
        sorting.take(column, use, reason)
    elif plain_unit(unit) == plain_unit(expected):
        sorting.take(column, use, f"{reason}, in {unit}")
    elif use in READ and not expected:
        sorting.take(column, use, f"{reason}, in {unit}; the study says no unit")
    else:
        theirs = f"'{expected}'" if expected else "none"
        text = (
            f"Column '{column.name}' has the unit '{unit}', and the study has {theirs} for '{use}'. Nothing is "
            "converted: are its numbers those of the study all the same?"
        )
        sorting.ask(column, use, text, f"its unit is '{unit}', and the study has {theirs}")


def _glued_unit(header: Header, name: str) -> str | None:
    """The unit that a header has as its last word: of temperature_C and 'Temperature C'."""
    words, own = header.text.replace("_", " ").split(), plain(name).split()
    is_longer = len(words) == len(own) + 1 and [plain(word) for word in words[:-1]] == own
    return words[-1] if is_longer else None


def _ask_for(sorting: Sorting, name: str) -> None:
    """Ask which column is a parameter."""
    parameter = sorting.space.parameters[name]
    candidates = _nearest(sorting.free(), name, parameter.unit)
    allowed = f"{parameter.described} {parameter.unit}".strip()
    text = f"No column is called '{name}' ({allowed}). {'Which one is it?' if candidates else NONE_LEFT}"
    sorting.ask_which(name, candidates, text)


def _nearest(columns: Sequence[Column], name: str, unit: str) -> list[Column]:
    """Columns in the order in which they may be meant by a name: first with all its words, then with its unit."""

    def distance(column: Column) -> tuple[bool, bool, bool]:
        text, has_unit = plain(column.header.text), plain_unit(column.header.unit) == plain_unit(unit)
        return not set(plain(name).split()) <= set(text.split()), not has_unit, plain(name)[:3] != text[:3]

    return sorted(columns, key=distance)


def _outcome(sorting: Sorting) -> None:
    """Find the column of the outcome."""
    if sorting.taken("y") is not None:
        return
    free, name = sorting.free(), sorting.outcome

    def names(header: Header) -> tuple[str, str]:
        return header.text, split_unit(header.text)[0]

    ways: list[tuple[str, Callable[[Header], bool]]] = [
        ("the name of the outcome", lambda header: name in names(header)),
        (ALIKE, lambda header: plain(name) in map(plain, names(header))),
        (KNOWN, lambda header: meaning(header.text) is Meaning.OUTCOME and bool(header.numbers)),
    ]
    for reason, fits in ways:
        found = [column for column in free if fits(column.header)]
        if len(found) > 1:
            sorting.ask_which("y", found, f"{len(found)} columns may be the outcome: {_names(found)}. Which one is it?")
            return
        if found:
            _take_measured(sorting, found[0], "y", sorting.unit, found[0].header.unit, reason)
            return
    candidates = _nearest([column for column in free if column.header.numbers] or free, name, sorting.unit)
    text = f"No column is called '{name}'. {'Which one has the outcomes?' if candidates else NONE_LEFT}"
    sorting.ask_which("y", candidates, text)


def _standard_error(sorting: Sorting) -> None:
    """Find the column of the standard error; others that look like one are asked about."""
    taken, own = sorting.taken("y"), {*plain(sorting.outcome).split(), "y", "outcome"}
    own |= set() if taken is None else set(plain(split_unit(taken.header.text)[0]).split())
    found = [column for column in sorting.free() if meaning(column.header.text) is Meaning.SEM]
    clear = [column for column in found if not rest(split_unit(column.header.text)[0], Meaning.SEM) - own]
    best = [column for column in clear if column.header.text == "sem"] or clear
    if len(best) == 1 and sorting.taken("sem") is None:
        expected = sorting.unit or ("" if taken is None else taken.header.unit)
        unit = best[0].header.unit if expected else ""
        _take_measured(sorting, best[0], "sem", expected, unit, EXACT if best[0].header.text == "sem" else KNOWN)
    for column in (column for column in sorting.free() if column in found):
        text = f"Column '{column.name}' looks like a standard error; is it that of the outcome?"
        sorting.ask(column, "sem", text, "it looks like a standard error")


def _status(sorting: Sorting) -> None:
    """Find the column of the status."""
    found = [column for column in sorting.free() if plain(column.header.text) in ("status", "state")]
    if len(found) == 1 and sorting.taken("status") is None:
        sorting.take(found[0], "status", EXACT if found[0].header.text == "status" else ALIKE)


def _others(sorting: Sorting, answers: Answers) -> None:
    """Say of every other column why it is not taken, or ask."""
    unused = []
    asked = {choice for question in sorting.questions for choice, _ in question.choices if not question.header}
    for column in sorting.free():
        header, kind = column.header, meaning(column.header.text)
        is_status = kind is Meaning.STATUS or any(map(is_failure, header.filled))
        if not header.filled:
            sorting.take(column, IGNORE, "it is empty" if header.text else NO_COLUMN)
        elif column.name in asked:
            sorting.take(column, "", "it may be one that is looked for")
        elif kind in (Meaning.SD, Meaning.SPREAD) or is_status:
            _doubtful(sorting, column, Meaning.STATUS if is_status else kind or Meaning.SPREAD)
        elif header.is_times:
            sorting.leave(column, Meaning.TIME)
        elif kind in UNREAD and (kind in (Meaning.NUMBER, Meaning.COST) or not header.numbers):
            sorting.leave(column, kind)
        elif header.is_count:
            sorting.take(column, IGNORE, "it counts the lines")
        elif not header.numbers:
            sorting.take(column, IGNORE, "texts, and no parameter of the study has this name")
        elif len(set(header.numbers)) == 1:
            sorting.take(column, IGNORE, f"always {header.example}, and no parameter of the study has this name")
        else:
            unused.append(column)
            reason = SAID if answers.others else "numbers, and no parameter of the study has this name"
            sorting.take(column, IGNORE if answers.others else "", reason)
    if unused and not answers.others:
        text = (
            f"Nothing uses the numbers in {_names(unused)}. Is none of them an outcome, or a setting without which the "
            "others cannot be compared?"
        )
        sorting.questions.append(Question.of("others", text))


def _doubtful(sorting: Sorting, column: Column, kind: Meaning) -> None:
    """Ask about a column that looks like a spread or a status, unless another one has said it already."""
    use = "status" if kind is Meaning.STATUS else "sem"
    what = {Meaning.STATUS: "a status", Meaning.SD: "a standard deviation"}.get(kind, "an error of some kind")
    taken = sorting.taken(use)
    if taken is not None:
        sorting.take(column, IGNORE, f"it looks like {what}; {USES[use]} is in '{taken.name}'")
        return
    text = f"Column '{column.name}' looks like a status ({column.header.example}). Does it say what failed?"
    if use == "sem":
        text = (
            f"Column '{column.name}' looks like {what}, which is not a standard error: that of a mean of n is the "
            "standard deviation divided by √n. Are these standard errors all the same?"
        )
    sorting.ask(column, use, text, f"it looks like {what}")


def _names(columns: Iterable[Column]) -> str:
    return listed(f"'{column.name}'" for column in columns)
