"""Values as people write them: as many digits as an experiment can tell apart."""

from __future__ import annotations

from math import ceil, log10
from typing import Any

from cboc.space.parameters import Choice, Parameter

RESOLUTION = 1e-3  # of a parameter's width: smaller differences are not written
MOST_DECIMALS = 6  # beyond which a number is written with a power of ten


def shown(parameter: Parameter, value: Any) -> str:
    """Write the value in few digits, without rounding it out of its bounds."""
    if isinstance(parameter, Choice):
        return str(value)
    short = f"{value:.12g}" if parameter.step is not None else _rounded(parameter, value)
    return short if parameter.low <= float(short) <= parameter.high else repr(value)


def allowed(parameter: Parameter) -> str:
    """Describe the allowed values: '20 to 90 °C in steps of 5'; for options, the unit if there is one."""
    if isinstance(parameter, Choice):
        return parameter.unit
    step = "" if parameter.step in (None, 1) else f" in steps of {parameter.step:.12g}"
    return f"{parameter.low:.12g} to {parameter.high:.12g} {parameter.unit}".rstrip() + step


def outcome(y: float) -> str:
    return f"{y:.6g}"


def _rounded(parameter: Parameter, value: float) -> str:
    if isinstance(parameter, Choice) or parameter.log:
        return f"{float(f'{value:.4g}'):.12g}"
    decimals = max(0, ceil(-log10(RESOLUTION * parameter.width)))
    return f"{value:.{decimals}f}" if decimals <= MOST_DECIMALS else f"{value:.6g}"
