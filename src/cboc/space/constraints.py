"""Linear constraints as people write them: "a + b <= 1", "x1 + x2 + x3 == 1", "2*a - 0.5 b >= 3".

    constraint = sum ("<=" | ">=" | "==" | "<" | ">" | "=") sum
    sum        = product (("+" | "-") product)*
    product    = factor (("*" | "/") factor | name | "(" sum ")")*
    factor     = ("+" | "-") factor | number | name | "(" sum ")"

Every rule returns an affine form, Σ coefficient · name + constant; a product of two forms with names is not linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal

from cboc.errors import CbocError, short

TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)"
    r"|(?P<relation><=|>=|==|<|>|=)|(?P<power>\*\*|\^)|(?P<sign>[-+*/()])|(?P<end>$)|(?P<other>\S))"
)

LONGEST = 5000  # characters: a sum of some hundred parameters
DEEPEST = 50  # brackets and signs within each other


@dataclass(frozen=True)
class Linear:
    """Σ coefficient · name  (<= or ==)  bound."""

    text: str
    coefficients: dict[str, float]
    relation: Literal["<=", "=="]
    bound: float


@dataclass(frozen=True)
class _Affine:
    """Σ coefficient · name + constant."""

    coefficients: dict[str, float] = field(default_factory=dict)
    constant: float = 0.0

    def plus(self, other: _Affine, factor: float) -> _Affine:
        total = dict(self.coefficients)
        for name, coefficient in other.coefficients.items():
            total[name] = total.get(name, 0.0) + factor * coefficient
        return _Affine(total, self.constant + factor * other.constant)

    def times(self, factor: float) -> _Affine:
        return _Affine().plus(self, factor)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    column: int  # counted from 1


def parse(text: str) -> Linear:
    """Read a linear constraint from a string."""
    if not isinstance(text, str):
        raise CbocError(f"a constraint is a string such as 'a + b <= 1', but got {short(text)}.")
    if len(text) > LONGEST:
        raise CbocError(f"a constraint has at most {LONGEST:,} characters; this has {len(text):,}.")
    return _Parser(text).constraint()


class _Parser:
    """Recursive descent: one method per rule of the grammar above."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [
            _Token(str(match.lastgroup), match[str(match.lastgroup)], match.start(str(match.lastgroup)) + 1)
            for match in TOKEN.finditer(text)
        ]
        self.position = 0
        self.depth = 0

    @property
    def token(self) -> _Token:
        return self.tokens[self.position]

    def take(self) -> _Token:
        self.position += 1
        return self.tokens[self.position - 1]

    def constraint(self) -> Linear:
        left = self.sum()
        if self.token.kind != "relation":
            raise self.mistake("expected <=, >= or ==")
        relation = self.take().text
        difference = left.plus(self.sum(), -1.0)
        if self.token.kind == "relation":
            raise self.mistake("expected one relation per constraint", came=f"a second '{self.token.text}'")
        if self.token.kind != "end":
            raise self.mistake("expected the end")
        if relation.startswith(">"):
            difference = difference.times(-1.0)
        coefficients = {name: c for name, c in difference.coefficients.items() if c != 0}
        if not coefficients:
            raise CbocError(f"constraint '{self.text}' holds no parameter; name at least one, as in 'a + b <= 1'.")
        if not all(map(isfinite, (*coefficients.values(), difference.constant))):
            raise CbocError(f"constraint '{self.text}' holds a number that is too large; choose another unit.")
        return Linear(self.text, coefficients, "==" if relation in ("=", "==") else "<=", -difference.constant)

    def sum(self) -> _Affine:
        first = self.product()
        total, constant = dict(first.coefficients), first.constant
        while self.token.text in ("+", "-"):
            sign = 1.0 if self.take().text == "+" else -1.0
            term = self.product()
            for name, coefficient in term.coefficients.items():
                total[name] = total.get(name, 0.0) + sign * coefficient
            constant += sign * term.constant
        return _Affine(total, constant)

    def product(self) -> _Affine:
        result = self.factor()
        while self.token.text in ("*", "/", "(") or self.token.kind in ("name", "power"):
            start = self.token
            if start.kind == "power":
                raise self.mistake("constraints are linear")
            operator = self.take().text if start.text in ("*", "/") else "*"
            right = self.factor()
            result = self.divide(result, right, start) if operator == "/" else self.multiply(result, right, start)
        return result

    def factor(self) -> _Affine:
        if self.depth == DEEPEST:
            raise CbocError(f"a constraint has at most {DEEPEST} brackets and signs within each other; this has more.")
        self.depth += 1
        result = self.part()
        self.depth -= 1
        return result

    def part(self) -> _Affine:
        if self.token.text in ("+", "-"):
            sign = -1.0 if self.take().text == "-" else 1.0
            return self.factor().times(sign)
        if self.token.kind == "number":
            return _Affine(constant=float(self.take().text))
        if self.token.kind == "name":
            return _Affine({self.take().text: 1.0})
        if self.token.text == "(":
            self.take()
            inside = self.sum()
            if self.token.text != ")":
                raise self.mistake("expected ')'")
            self.take()
            return inside
        raise self.mistake("expected a number or a name")

    def multiply(self, left: _Affine, right: _Affine, place: _Token) -> _Affine:
        if left.coefficients and right.coefficients:
            names = f"{'+'.join(left.coefficients)} times {'+'.join(right.coefficients)}"
            raise self.mistake("constraints are linear", came=names, place=place)
        return right.times(left.constant) if right.coefficients else left.times(right.constant)

    def divide(self, left: _Affine, right: _Affine, place: _Token) -> _Affine:
        if right.coefficients:
            raise self.mistake(
                "constraints are linear", came=f"a division by {'+'.join(right.coefficients)}", place=place
            )
        if right.constant == 0:
            raise self.mistake("expected a divisor other than 0", place=place)
        return left.times(1 / right.constant)

    def mistake(self, expected: str, came: str = "", place: _Token | None = None) -> CbocError:
        place = place or self.token
        came = came or (f"'{place.text}'" if place.text else "the end")
        return CbocError(f"constraint '{self.text}': {expected}, but found {came} at column {place.column}.")
