"""The space of a site that cannot vary all parameters of its study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cboc.errors import CbocError, at, did_you_mean, short
from cboc.space.constraints import parse
from cboc.space.fixed import Fixed, Parameter
from cboc.space.parameters import TOLERANCE
from cboc.space.space import Space


def narrowed(space: Space, values: Mapping[str, Any]) -> Space:
    """The space in which some parameters have one value each, such as {"temperature": 25}; coordinates stay."""
    if not isinstance(values, Mapping):
        raise CbocError(f"parameters are fixed by name, such as {{'temperature': 25}}; this is {short(values)}.")
    parameters: dict[str, Parameter] = dict(space.parameters)
    fixed: dict[str, Fixed] = {}
    for name, value in values.items():
        if name not in space.parameters:
            raise CbocError(f"unknown parameter '{name}'; {did_you_mean(str(name), space.names)}")
        given = space.parameters[name]
        with at(name):
            parameters[name] = fixed[name] = Fixed(given.parameter if isinstance(given, Fixed) else given, value)
    if all(parameter.count == 1 for parameter in parameters.values()):
        raise CbocError("all parameters are fixed, and there is nothing left to vary; leave one of them free.")
    constraints = [text for text in space.constraints if not _is_met(text, fixed)]
    if not space.candidates:
        return Space(parameters, constraints)
    there = [each for each in space.candidates if all(each[name] == only.value for name, only in fixed.items())]
    if not there:
        raise CbocError(f"no candidate has {_said(fixed)}; give other values, or add candidates.")
    return Space(parameters, constraints, there)


def _is_met(text: str, fixed: Mapping[str, Fixed]) -> bool:
    """Whether a constraint speaks of nothing but what is fixed, and holds; raises one sentence if it does not hold."""
    constraint = parse(text)
    if not set(constraint.coefficients) <= set(fixed):
        return False
    excess = sum(c * (fixed[name].only or 0.0) for name, c in constraint.coefficients.items()) - constraint.bound
    if excess > TOLERANCE or (constraint.relation == "==" and excess < -TOLERANCE):
        raise CbocError(f"{_said(fixed)} violates the constraint '{text}'; give other values.")
    return True


def _said(fixed: Mapping[str, Fixed]) -> str:
    return ", ".join(f"{name} = {only.shown(only.value)}" for name, only in fixed.items())
