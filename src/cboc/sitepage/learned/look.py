"""What the pictures of what was learned have in common. They are ECharts options, plain data.

Series of one name share a colour of the style sheet, in the order in which the names first stand: COLOURED has them as
in the history. Every kind has a shape, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from cboc.data.numbers import written
from cboc.insight.measured import Kind, Measured
from cboc.sitepage.history import CROSS, Option
from cboc.space.fixed import Parameter
from cboc.space.space import Space

GRID = {"left": 4, "right": 18, "top": 14, "bottom": 22, "outerBoundsMode": "same", "outerBoundsContain": "all"}
TOOLTIP = {"renderMode": "richText", "formatter": "{b}"}
NO_LABEL = {"silent": True, "symbol": "none", "label": {"show": False}}  # of a line that is only a mark
EXPECTED, HERE = "expected", "the design itself"
SHAPES = {
    Kind.SHARED: "triangle",
    Kind.OWN: "diamond",
    Kind.INITIAL: "circle",
    Kind.EARLIER: "rect",
    Kind.FAILED: CROSS,
}
COLOURED = (Kind.SHARED, Kind.OWN, Kind.INITIAL, HERE, Kind.FAILED, EXPECTED, Kind.EARLIER)
LONGEST = 220  # pixels of a name along an axis


def told(point: Measured) -> str:
    """An experiment in words."""
    return f"{point.name}: {'failed' if point.y is None else written(point.y)}"


def named(name: str, gap: int = 26) -> Option:
    """The name of an axis, along its middle."""
    cut = {"maxWidth": LONGEST, "ellipsis": "…"}
    return {
        "name": name,
        "nameLocation": "middle",
        "nameGap": gap,
        "nameTextStyle": {"fontSize": 13},
        "nameTruncate": cut,
    }


def axis(space: Space, name: str, gap: int = 26) -> Option:
    """The axis of a parameter in natural units: its options, or its range on its scale."""
    parameter: Parameter = space.parameters[name]
    drawn, label = parameter.axis, f"{name} / {parameter.unit}" if parameter.unit else name
    if drawn.scale == "options":
        looks = {"interval": 0, "hideOverlap": True, "width": 90, "overflow": "truncate"}
        return {"type": "category", "data": list(drawn.options), "axisLabel": looks, **named(label, gap)}
    scale = "log" if drawn.scale == "log" else "value"
    ends = {"min": drawn.low, "max": drawn.high, "splitNumber": 4, "splitLine": {"show": False}}
    return {"type": scale, **ends, "axisLabel": {"hideOverlap": True}, **named(label, gap)}


def short(value: float) -> float:
    """As many digits as a picture can show."""
    return float(written(value))


def pairs(places: Sequence[float], values: Sequence[float]) -> list[list[float]]:
    """Points of a line."""
    return [[short(place), short(value)] for place, value in zip(places, values, strict=True)]
