"""Parameters as plain data: shorthands that people write, and dictionaries for JSON and TOML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from cboc.errors import CbocError, did_you_mean, short
from cboc.space.choice import Choice
from cboc.space.fixed import Fixed, Parameter
from cboc.space.parameters import Float, Int, as_number

KINDS: dict[str, type[Float] | type[Int] | type[Choice]] = {"float": Float, "int": Int, "choice": Choice}


def as_parameter(value: object) -> Parameter:
    """Make a parameter from a parameter, a shorthand such as (20, 90) or ['a', 'b'], or a dictionary of its fields."""
    if isinstance(value, Float | Int | Choice | Fixed):
        return value
    if isinstance(value, Mapping):
        return _from_fields(value)
    if isinstance(value, tuple | list):
        if len(value) == 2 and all(as_number(item) is not None for item in value):
            return Float(*value)
        if value and all(isinstance(item, str) for item in value):
            return Choice(tuple(value))
    raise CbocError(
        f"expected Float, Int, Choice, a pair of numbers or a list of strings, but got {short(value)}; "
        "write Choice([...]) for a list of numbers."
    )


def _from_fields(given: Mapping[str, Any]) -> Parameter:
    kind = given.get("type", "choice" if "options" in given else "float")
    if not isinstance(kind, str) or kind not in KINDS:
        raise CbocError(f"unknown type {short(kind)}; {did_you_mean(str(kind), KINDS)}")
    known = {field.name: field.default for field in fields(KINDS[kind])}
    for key in given:
        if key not in known and key != "type":
            raise CbocError(f"unknown key {short(key)} for type {kind}; {did_you_mean(str(key), known)}")
    for key, default in known.items():
        if default is MISSING and key not in given:
            raise CbocError(f"type {kind} needs '{key}', which is missing.")
    return KINDS[kind](**{key: value for key, value in given.items() if key != "type"})


def to_fields(parameter: Parameter) -> dict[str, Any]:
    """The dictionary that as_parameter turns back into an equal parameter; plain enough for JSON and TOML."""
    if isinstance(parameter, Fixed):
        return {**to_fields(parameter.parameter), "fixed": parameter.value}
    values = {field.name: getattr(parameter, field.name) for field in fields(parameter)}
    changed = {field.name: values[field.name] for field in fields(parameter) if values[field.name] != field.default}
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in changed.items()}
    if "descriptors" in changed:
        plain["descriptors"] = {name: list(numbers) for name, numbers in changed["descriptors"]}
    return {"type": type(parameter).__name__.lower(), **plain}
