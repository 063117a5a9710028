"""The expected outcome over two parameters in colours, the experiments on it. Brighter is better."""

from __future__ import annotations

from math import isfinite

from cboc.data.dataset import Direction
from cboc.insight.contours import Contours
from cboc.insight.measured import Kind, opacity
from cboc.insight.surface import rounded
from cboc.sitepage.history import Option
from cboc.sitepage.learned.look import GRID, HERE, SHAPES, TOOLTIP, axis, short, told
from cboc.space.space import Space

VIRIDIS = ("#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725")  # told apart by everybody, and in grey
DOT = {"color": "#ffffff", "borderColor": "#111111", "borderWidth": 1.2}  # seen on all of them
RING = {"color": "transparent", "borderColor": "#ffffff", "borderWidth": 2.5}


def picture(space: Space, drawn: Contours, direction: Direction) -> Option:
    """Draw the cells on axes of their own, which are hidden, and the experiments on axes in natural units."""
    cells = [
        [i, j, short(value)]
        for j, row in enumerate(drawn.middle.tolist())
        for i, value in enumerate(row)
        if isfinite(value)
    ]
    hidden = [{"type": "category", "show": False, "data": list(range(len(each)))} for each in drawn.places]
    heat = {"type": "heatmap", "xAxisIndex": 1, "yAxisIndex": 1, "data": cells, "silent": True, "progressive": 0}
    ring = {"type": "scatter", "name": HERE, "symbol": "circle", "symbolSize": 20, "itemStyle": RING, "silent": True}
    return {
        "animation": False,
        "grid": {**GRID, "bottom": 78, "left": 26},
        "tooltip": TOOLTIP,
        "xAxis": [axis(space, drawn.names[0]), hidden[0]],
        "yAxis": [{**axis(space, drawn.names[1], gap=48), "nameRotate": 90}, hidden[1]],
        "visualMap": _scale([value for *_, value in cells], direction),
        "series": [
            heat,
            *(_points(drawn, name) for name in SHAPES),
            {**ring, "data": [[short(place) for place in drawn.here]]},
        ],
    }


def _scale(values: list[float], direction: Direction) -> Option:
    low, high = min(values), max(values)
    return {
        "type": "continuous",
        "min": low,
        "max": high if high > low else low + 1.0,
        "seriesIndex": 0,
        "dimension": 2,
        "orient": "horizontal",
        "left": "center",
        "bottom": 0,
        "text": [*rounded(low, high)][::-1],
        "hoverLink": False,
        "itemHeight": 160,
        "inRange": {"color": list(VIRIDIS if direction is Direction.MAXIMISE else reversed(VIRIDIS))},
    }


def _points(drawn: Contours, name: Kind) -> Option:
    data = [
        {"name": told(point), "value": [short(across), short(up)], "itemStyle": {"opacity": opacity(near)}}
        for across, up, point, near in drawn.points
        if point.kind is name
    ]
    return {"type": "scatter", "name": name, "symbol": SHAPES[name], "symbolSize": 10, "itemStyle": DOT, "data": data}
