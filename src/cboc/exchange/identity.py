"""Texts that identify values, the same in every process: they tell users' own settings apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from hashlib import sha256
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

DEEPEST = 8  # levels of values within values
DIGITS = 12  # of a hash


def identify(value: Any, depth: int = 0) -> str:
    """A text that differs where two values differ, as far as a program can see into them."""
    if depth > DEEPEST:
        return type(value).__qualname__

    def inner(part: Any) -> str:
        return identify(part, depth + 1)

    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return repr(value)
    if isinstance(value, np.ndarray | np.generic):
        return f"array{np.shape(value)}#{_hash(np.ascontiguousarray(value).tobytes())}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{inner(key)}: {inner(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(map(inner, value))})"
    if isinstance(value, set | frozenset):  # sorted: the order of a set depends on the process
        return f"{type(value).__name__}({', '.join(sorted(map(inner, value)))})"
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, MethodType):
        return f"{inner(value.__self__)}.{value.__name__}"
    if isinstance(value, FunctionType):
        return _function(value, depth)
    if isinstance(value, partial):
        return f"partial({inner(value.func)}, {inner(value.args)}, {inner(value.keywords)})"
    if is_dataclass(value):
        parts = (f"{field.name}={inner(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__qualname__}({', '.join(parts)})"
    return f"{inner(type(value))}({inner(vars(value)) if hasattr(value, '__dict__') else ''})"


def _function(function: FunctionType, depth: int) -> str:
    """Identify a module's function by its name, and a lambda or a nested function by its code as well."""
    name = f"{function.__module__}.{function.__qualname__}"
    if "<" not in function.__qualname__:
        return name
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    given = (function.__defaults__, function.__kwdefaults__, cells)
    parts = [_code(function.__code__), *(identify(part, depth + 1) for part in given)]
    return f"{name}#{_hash(' '.join(parts).encode())}"


def _code(code: CodeType) -> str:
    constants = [_code(part) if isinstance(part, CodeType) else identify(part) for part in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {constants}"


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()[:DIGITS]
