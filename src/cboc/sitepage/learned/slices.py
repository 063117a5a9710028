"""The expected outcome along one parameter, with its interval, and the experiments as shadows on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cboc.insight.measured import Kind, opacity
from cboc.insight.slices import ParameterSlice, Shadow, outcomes_shown
from cboc.sitepage.history import Option
from cboc.sitepage.learned.look import (
    COLOURED,
    EXPECTED,
    GRID,
    HERE,
    NO_LABEL,
    SHAPES,
    TOOLTIP,
    axis,
    pairs,
    short,
    told,
)
from cboc.space.space import Space

BOTTOM = 0.03  # where failures lie, as a share of the height


def picture(space: Space, drawn: Sequence[ParameterSlice], number: int) -> Option:
    """Draw one slice; all of them have the same scale of outcomes."""
    along = drawn[number]
    low, high = map(short, outcomes_shown(drawn))
    expected = _boxes(along) if space.parameters[along.name].is_choice else _band(along)
    return {
        "animation": False,
        "grid": GRID,
        "tooltip": TOOLTIP,
        "xAxis": axis(space, along.name),
        "yAxis": [
            {"type": "value", "min": low, "max": high, "axisLabel": {"showMinLabel": False, "showMaxLabel": False}},
            {"type": "value", "show": False, "min": 0, "max": 1},
        ],
        "series": [
            *({"type": "line", "name": name, "data": []} for name in COLOURED),  # gives every name its colour
            *expected,
            *(_shadows(along, name) for name in SHAPES),
            _here(along),
        ],
    }


def _band(along: ParameterSlice) -> list[Option]:
    """A line, and the interval as two stacked lines: one to its lower end, and from there one to its upper end."""
    places, expected = along.places.tolist(), along.expected
    hidden = {"type": "line", "name": EXPECTED, "symbol": "none", "silent": True, "lineStyle": {"opacity": 0}}
    hidden |= {"stack": "interval", "stackStrategy": "all"}
    middle = pairs(places, expected.middle.tolist())
    line = [{"name": f"{place:.4g}: {expected[k]}", "value": middle[k]} for k, place in enumerate(places)]
    return [
        {**hidden, "data": pairs(places, expected.low.tolist())},
        {**hidden, "data": pairs(places, (expected.high - expected.low).tolist()), "areaStyle": {"opacity": 0.2}},
        {"type": "line", "name": EXPECTED, "symbol": "circle", "showSymbol": len(line) < 2, "data": line},
    ]


def _boxes(along: ParameterSlice) -> list[Option]:
    """For options: the interval as a box, with the expected outcome as the line in it."""
    rows: list[Any] = ["-"] * (1 + int(max(along.places)))
    for k, place in enumerate(along.places.tolist()):
        each = along.expected[k]
        low, middle, high = map(short, (each.low, each.middle, each.high))
        rows[int(place)] = {"name": str(each), "value": [low, low, middle, high, high]}
    look = {"color": "transparent", "borderWidth": 2}
    return [{"type": "boxplot", "name": EXPECTED, "data": rows, "itemStyle": look, "boxWidth": [12, 48]}]


def _shadows(along: ParameterSlice, name: Kind) -> Option:
    """The experiments of one kind, the fainter the less they tell about this slice; failures at the bottom."""
    return {
        "type": "scatter",
        "name": name,
        "symbol": SHAPES[name],
        "symbolSize": 9,
        "yAxisIndex": int(name is Kind.FAILED),
        "data": [_shadow(shadow) for shadow in along.shadows if shadow.measured.kind is name],
    }


def _shadow(shadow: Shadow) -> Option:
    y = shadow.measured.y
    return {
        "name": told(shadow.measured),
        "value": [short(shadow.place), BOTTOM if y is None else short(y)],
        "itemStyle": {"opacity": opacity(shadow.nearness)},
    }


def _here(along: ParameterSlice) -> Option:
    """A line through the design in which the slices meet."""
    line = {**NO_LABEL, "lineStyle": {"type": "dashed", "width": 1.5}, "data": [{"xAxis": short(along.here)}]}
    return {"type": "scatter", "name": HERE, "data": [], "markLine": line}
