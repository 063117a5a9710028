"""Pictures of a study as ECharts options, plain data: W as a heat map, the proposals as lines.

Colours are the style sheet's. Tooltips are drawn, not written as HTML: the name of a site stays text.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.coordinator.dashboard.overview import Arrival
from cboc.errors import CbocError
from cboc.exchange.study import Study
from cboc.space.fixed import Parameter

Option = dict[str, Any]

GRID = {"left": 4, "right": 4, "top": 4, "bottom": 4, "outerBoundsMode": "same", "outerBoundsContain": "all"}
NARROW = {"interval": "auto", "width": 90, "overflow": "truncate"}  # names: of sites, of options
ROOMY = {**GRID, "right": 12, "top": 12}  # for points at the edge
DATES = {"month": "{MMM} {yyyy}", "day": "{d} {MMM}", "hour": "{HH}:{mm}", "minute": "{HH}:{mm}"}
MOST_ROUNDS = 200  # the last ones: more cannot be told apart
MOST_COLOURS = 10  # sites that get their own colour
FEW = 4  # sites whose names are written side by side
MOST_NUMBERS = 8  # with up to this many sites, weights are written into the map


def matrix(study: Study, W: Array) -> Option:  # (K, K)
    """Draw W, a row for every site from the top down."""
    sites = list(study.sites[: len(W)])  # fewer before others were admitted
    cells = [
        {"value": [j, i, _short(W[i, j])], "name": f"{sites[i]} hears {sites[j]}: {W[i, j]:.4g}"}
        for i in range(len(sites))
        for j in range(len(sites))
    ]
    return {
        "animation": False,
        "grid": {**GRID, "bottom": 56},
        "xAxis": {"type": "category", "data": sites, "axisLabel": {**NARROW, "rotate": 0 if len(sites) <= FEW else 45}},
        "yAxis": {"type": "category", "data": sites, "inverse": True, "axisLabel": NARROW},
        "tooltip": {"renderMode": "richText", "formatter": "{b}"},
        "visualMap": {
            "type": "continuous",
            "min": 0,
            "max": 1,
            "orient": "horizontal",
            "left": "center",
            "bottom": 0,
            "text": ["1", "0"],
            "hoverLink": False,
            "itemHeight": 160,
        },
        "series": [
            {
                "type": "heatmap",
                "data": cells,
                "progressive": 0,  # in one go: an image for paper is made at once
                "label": {"show": len(sites) <= MOST_NUMBERS, "formatter": "{@[2]}"},
            }
        ],
    }


def path(study: Study, X: Array, parameter: int) -> Option:  # (rounds, K, D)
    """Draw one parameter against the round, in natural units."""
    if parameter >= len(study.space.names):
        raise CbocError(
            f"study '{study.name}' has {len(study.space.names)} parameters; there is no number {parameter}."
        )
    first = max(0, len(X) - MOST_ROUNDS)
    name = study.space.names[parameter]
    what = "round" if study.pace.waits else "arrival"
    values = _natural(study, X[first:], parameter)
    unit = study.space.parameters[name].unit
    return {
        "animation": False,
        "grid": ROOMY,
        "xAxis": {"type": "category", "data": list(range(first, len(X))), "boundaryGap": False},
        "yAxis": _axis(study.space.parameters[name]),
        "tooltip": {"renderMode": "richText", "formatter": f"{{a}}\n{what} {{b}}: {{c}} {unit}".rstrip()},
        "series": [_line(study, k, row) for k, row in enumerate(values)],
    }


def plane(study: Study, X: Array) -> Option:  # (rounds, K, 2)
    """Draw the paths in the plane of two numbers; the last proposal of a site is large."""
    if not has_plane(study):
        raise CbocError(f"study '{study.name}' has no plane: that takes two parameters, both numbers.")
    first = max(0, len(X) - MOST_ROUNDS)
    across, up = (_natural(study, X[first:], parameter) for parameter in range(2))
    x, y = study.space.parameters.values()
    series = []
    for k in range(len(study.sites)):
        points: list[Option | None] = [
            None if a is None else {"name": str(round), "value": [a, b]}
            for round, (a, b) in enumerate(zip(across[k], up[k], strict=True), first)
        ]
        if last := next((point for point in reversed(points) if point is not None), None):
            last["symbolSize"] = 10
        series.append(_line(study, k, points))
    return {
        "animation": False,
        "grid": ROOMY,
        "xAxis": _axis(x),
        "yAxis": _axis(y),
        "tooltip": {
            "renderMode": "richText",
            "formatter": f"{{a}}\n{'round' if study.pace.waits else 'arrival'} {{b}}: {{c}}",
        },
        "series": series,
    }


def timeline(study: Study, arrivals: Sequence[Arrival], now: float, *, is_over: bool = False) -> Option:
    """Draw who proposed when, up to now or to the end, a row for every site; a plate is a larger dot."""
    timed = [arrival for arrival in arrivals if arrival.at is not None]
    end = max((arrival.at or 0.0 for arrival in timed), default=now) if is_over else now
    rows = {site: [a for a in timed if a.site == site] for site in study.sites}
    return {
        "animation": False,
        "grid": ROOMY,
        "useUTC": True,
        "xAxis": {
            "type": "time",
            "max": 1000.0 * end,
            "boundaryGap": ["3%", 0],
            "splitNumber": 4,
            "axisLabel": {"hideOverlap": True, "alignMaxLabel": "right", "formatter": DATES},
        },
        "yAxis": {
            "type": "category",
            "data": list(study.sites),
            "inverse": True,
            "axisLine": {"show": False},
            "axisLabel": NARROW,
        },
        "tooltip": {"renderMode": "richText", "formatter": "{b}"},
        "series": [
            {
                "type": "scatter",
                "name": site,
                "data": [_dot(a, "round" if study.pace.waits else "arrival") for a in row],
            }
            for site, row in rows.items()
        ],
    }


def _dot(arrival: Arrival, what: str) -> Option:
    size = round(8.0 + 2.0 * log2(arrival.designs), 1)
    at = 1000.0 * float(arrival.at or 0.0)
    return {"name": _told(arrival, what), "value": [at, arrival.site], "symbolSize": size}


def _told(arrival: Arrival, what: str) -> str:
    designs = "a design" if arrival.designs == 1 else f"{arrival.designs} designs"
    return f"{arrival.site}, turn {arrival.turn}: {designs}, {what} {arrival.state}"


def has_plane(study: Study) -> bool:
    """Are there exactly two parameters, both of them numbers?"""
    return len(study.space.names) == 2 and not study.space.blocks


def _line(study: Study, k: int, points: list[Any]) -> Option:
    """One site's line, highlighted with its name under the pointer; with many lines, rounds are not marked."""
    are_few = len(study.sites) <= MOST_COLOURS
    return {
        "type": "line",
        "name": study.sites[k],
        "data": points,
        "symbol": "circle",
        "symbolSize": 5,
        "showSymbol": are_few,
        "connectNulls": not study.pace.waits,  # at the free pace a state has one site's proposal
        "lineStyle": {"width": 1.5 if are_few else 1, "opacity": 0.9 if are_few else 0.5},
        "emphasis": {"focus": "series", "lineStyle": {"width": 2.5, "opacity": 1}, "endLabel": {"show": not are_few}},
        "endLabel": {"show": False, "formatter": "{a}", "align": "right", "offset": [-8, -10]},
    }


def _axis(parameter: Parameter) -> Option:
    axis = parameter.axis
    if axis.options:
        return {
            "type": "category",
            "data": list(axis.options),
            "axisLine": {"show": False},
            "axisLabel": NARROW,
        }
    return {"type": "log" if axis.scale == "log" else "value", "min": axis.low, "max": axis.high}


def _natural(study: Study, X: Array, parameter: int) -> list[list[Any]]:  # (rounds, K, D) -> K lists of the rounds
    """Values of one parameter; None where a site was absent."""
    sizes = [found.size for found in study.space.parameters.values()]
    start = sum(sizes[:parameter])
    U = X[:, :, start : start + sizes[parameter]]
    found = study.space.parameters[study.space.names[parameter]]
    is_absent = np.isnan(U[:, :, 0]).T
    return [
        [None if gone else _short(found.from_unit(u)) for u, gone in zip(row, absent, strict=True)]
        for row, absent in zip(U.transpose(1, 0, 2), is_absent, strict=True)
    ]


def _short(value: Any) -> Any:
    """Four significant digits of a number, and an option as a word."""
    return float(f"{value:.4g}") if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
