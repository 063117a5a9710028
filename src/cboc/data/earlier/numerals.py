"""Numbers as a column writes them: 0.25 or 0,25, 1,234.5 or 1.234,5, 83 or 83 %.

What a separator means is decided for each column, by the numbers in it that have one meaning only. A number that may
mean two things, such as 1,234 where nothing else helps, is asked about: a wrong guess would be wrong by a thousand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from math import isfinite
from typing import NamedTuple

from cboc.data.earlier.answers import Answers, Question
from cboc.data.headers import plain_unit
from cboc.errors import listed

NUMBER = re.compile(
    r"'?(?P<sign>[+-]?) ?(?P<body>\d[\d.,' ]*|[.,]\d+)(?P<exponent>[eE][+-]?\d{1,3})?(?P<unit>[^\d\s].*)?", re.ASCII
)
GROUPS = {mark: re.compile(rf"[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+", re.ASCII) for mark in (",", ".", " ", "'")}
SIGNS = str.maketrans({"\N{MINUS SIGN}": "-", "\N{RIGHT SINGLE QUOTATION MARK}": "'"})
COMMA, POINT = "comma", "point"


class Form(Enum):
    """What the separators of a number say."""

    WHOLE = "12"
    POINT = "0.5"
    COMMA = "0,5"
    THOUSANDS_COMMA = "1,234.5"  # so the point is the decimal one
    THOUSANDS_POINT = "1.234,5"
    MAYBE_COMMA = "1,234"
    MAYBE_POINT = "1.234"


DECIMAL_COMMA, DECIMAL_POINT = {Form.COMMA, Form.THOUSANDS_POINT}, {Form.POINT, Form.THOUSANDS_COMMA}  # without doubt


class Texts(NamedTuple):
    """The texts of a column, and the unit that it should have."""

    texts: list[str]
    unit: str
    is_outcome: bool  # or its standard error


class Parts(NamedTuple):
    """A text that begins as a number does, in parts."""

    sign: str
    body: str
    exponent: str
    unit: str
    form: Form


@dataclass(frozen=True)
class Numerals:
    """How the numbers of a column are written."""

    unit: str = ""  # of the column: '65 °C' is 65
    commas: str = ""  # the decimal sign where there is 1,234; empty: nobody knows
    points: str = POINT  # likewise where there is 1.234
    per_cent: float = 1.0  # what 1 % is

    def read(self, text: str) -> float | None:
        """The number that a text means; None if it means none, or nobody knows which."""
        parts = parts_of(text)
        if parts is None or (parts.unit and plain_unit(parts.unit) not in ("%", plain_unit(self.unit))):
            return None
        doubtful = {Form.MAYBE_COMMA: self.commas, Form.MAYBE_POINT: self.points}
        decimal = doubtful.get(parts.form, COMMA if parts.form in DECIMAL_COMMA else POINT)
        if not decimal:
            return None
        decimals, thousands = (",", ".") if decimal == COMMA else (".", ",")
        body = parts.body.translate({ord(mark): None for mark in (" ", "'", thousands)}).replace(decimals, ".")
        number = float(f"{parts.sign}{body}{parts.exponent}")
        if parts.unit == "%" and self.per_cent != 1.0:
            number = float(f"{number * self.per_cent:.15g}")
        return number if isfinite(number) else None


def parts_of(text: str) -> Parts | None:
    """A text in parts, if it begins as a number."""
    match = NUMBER.fullmatch(text.translate(SIGNS).strip())
    if match is None:
        return None
    body = match["body"].strip()
    form = _form(body)
    return None if form is None else Parts(match["sign"], body, match["exponent"] or "", match["unit"] or "", form)


def _form(body: str) -> Form | None:
    """What the separators of digits say; None if they are no number."""
    whole = re.split(r"[.,]", body)[0]
    spaced = next((mark for mark in (" ", "'") if mark in body), "")
    if spaced and (not GROUPS[spaced].fullmatch(whole) or any(mark in body[len(whole) :] for mark in " '")):
        return None
    marks = [sign for sign in body if sign in ".,"]
    if not marks:
        return Form.WHOLE
    last, others = marks[-1], set(marks[:-1])
    before, _, after = body.rpartition(last)
    maybe, single, repeated, mixed = (
        (Form.MAYBE_COMMA, Form.COMMA, Form.THOUSANDS_COMMA, Form.THOUSANDS_POINT)
        if last == ","
        else (Form.MAYBE_POINT, Form.POINT, Form.THOUSANDS_POINT, Form.THOUSANDS_COMMA)
    )
    if not others:
        return maybe if len(after) == 3 and GROUPS[last].fullmatch(body) else single
    if others == {last}:  # 1,234,567
        return repeated if GROUPS[last].fullmatch(body) else None
    is_grouped = len(others) == 1 and GROUPS["." if last == "," else ","].fullmatch(before)
    return mixed if is_grouped else None


def numerals_of(
    columns: Mapping[str, Texts], answers: Answers
) -> tuple[dict[str, Numerals], list[str], list[Question]]:
    """How each column writes numbers, what is to be said of that, and what is to be asked."""
    numbers = {name: [parts for text in column.texts if (parts := parts_of(text))] for name, column in columns.items()}
    forms = {name: {parts.form for parts in given} for name, given in numbers.items()}
    everywhere = set().union(*forms.values())
    per_cent, remarks, questions = _per_cent(columns, numbers, answers)
    found = {
        name: Numerals(column.unit, *_meant(forms[name], everywhere, answers.decimal), per_cent.get(name, 1.0))
        for name, column in columns.items()
    }
    if commas := [name for name in columns if _has_commas(forms[name], found[name])]:
        remarks.append(f"Decimal commas in {listed(commas)}.")
    if grouped := [name for name in columns if _has_thousands(forms[name], found[name])]:
        remarks.append(f"Thousands are set apart in {listed(grouped)}.")
    doubtful = {
        name: parts.body
        for name, given in numbers.items()
        for parts in given
        if found[name].read(f"{parts.sign}{parts.body}") is None
    }
    if doubtful:
        example = next(iter(doubtful.values()))
        text = f"'{example}' may mean thousands or decimals, in {listed(doubtful)}; which is the decimal sign?"
        questions.append(Question.of("decimal", text))
    return found, remarks, questions


def _meant(forms: set[Form], everywhere: set[Form], answer: str) -> tuple[str, str]:
    """The decimal sign where a column has 1,234, and where it has 1.234; empty if nobody knows."""
    has_comma, has_point = bool(forms & DECIMAL_COMMA), bool(forms & DECIMAL_POINT)
    is_comma_elsewhere = bool(everywhere & DECIMAL_COMMA) and not has_point
    commas, points = answer, answer or POINT
    if not commas and (has_comma or (is_comma_elsewhere and not everywhere & DECIMAL_POINT)):
        commas = "" if has_point else COMMA
    elif not commas and Form.THOUSANDS_COMMA in forms:
        commas = POINT
    if not answer and (has_comma or is_comma_elsewhere):  # 1.234 may be a thousand and more
        points = COMMA if Form.THOUSANDS_POINT in forms and not has_point else ""
    return commas, points


def _has_commas(forms: set[Form], numerals: Numerals) -> bool:
    return bool(forms & DECIMAL_COMMA) or (Form.MAYBE_COMMA in forms and numerals.commas == COMMA)


def _has_thousands(forms: set[Form], numerals: Numerals) -> bool:
    by_commas = Form.MAYBE_COMMA in forms and numerals.commas == POINT
    by_points = Form.MAYBE_POINT in forms and numerals.points == COMMA
    return by_commas or by_points or bool(forms & {Form.THOUSANDS_COMMA, Form.THOUSANDS_POINT})


def _per_cent(
    columns: Mapping[str, Texts], numbers: Mapping[str, list[Parts]], answers: Answers
) -> tuple[dict[str, float], list[str], list[Question]]:
    """What 1 % is in the columns that have such signs, and what is to be said and asked about that."""
    is_fraction = answers.percent == "fraction"
    factors: dict[str, float] = {}
    clear: list[str] = []
    doubtful: list[str] = []
    for name, column in columns.items():
        signs = sum(parts.unit == "%" for parts in numbers[name])
        if signs and plain_unit(column.unit) != "%":
            factors[name] = 0.01 if is_fraction else 1.0
            is_clear = column.is_outcome and not column.unit and signs == len(numbers[name])
            (clear if is_clear or answers.percent else doubtful).append(name)
    said = f"There are per cent signs in {listed(clear)}: 83 % is {'0.83' if is_fraction else '83'}."
    text = f"Some numbers in {listed(doubtful)} have a per cent sign; what is 83 %?"
    return factors, [said] if clear else [], [Question.of("percent", text)] if doubtful else []
