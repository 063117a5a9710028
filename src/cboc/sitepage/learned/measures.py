"""Which parameter matters, and what was predicted of each outcome against what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cboc.data.numbers import written
from cboc.insight.importance import Importance
from cboc.insight.predicted import Predicted, Prediction
from cboc.sitepage.history import Option
from cboc.sitepage.learned.look import GRID, NO_LABEL, TOOLTIP, named, short

SHARES = "% of the differences"
NARROW = {"width": 120, "overflow": "truncate"}  # names of parameters


def importance(importance: Importance) -> Option:
    """A bar for each parameter with its interval, the most important one on top; inside it what it does by itself."""
    shares = importance.shares[::-1]
    intervals = [_line((_percent(end), share.name) for end in share.total_interval) for share in shares]
    marks = {**NO_LABEL, "lineStyle": {"type": "solid", "width": 1.5}, "data": intervals}
    bars = {"type": "bar", "name": "importance", "barWidth": "45%", "barGap": "-100%"}
    whole = [{"name": f"with others: {_said(share.total)}", "value": _percent(share.total)} for share in shares]
    alone = [{"name": f"by itself: {_said(share.alone)}", "value": _percent(share.alone)} for share in shares]
    return {
        "animation": False,
        "grid": GRID,
        "tooltip": TOOLTIP,
        "xAxis": {"type": "value", "min": 0, "max": 100, **named(SHARES)},
        "yAxis": {"type": "category", "data": [share.name for share in shares], "axisLabel": NARROW},
        "series": [
            {**bars, "itemStyle": {"opacity": 0.4}, "data": whole, "markLine": marks},
            {**bars, "data": alone},
        ],
    }


def predicted(predicted: Predicted) -> Option:
    """The expected outcomes with their intervals against the measured ones, around the diagonal."""
    each = predicted.predictions
    y = [prediction.y for prediction in each]
    low, high = _range(y)
    middle = [prediction.expected.middle for prediction in each]
    bottom, top = _range([*y, *middle], room=0.25)
    axis = {"type": "value", "splitNumber": 4, "axisLabel": {"showMinLabel": False, "showMaxLabel": False}}
    line = {
        "type": "line",
        "name": "as measured",
        "symbol": "none",
        "silent": True,
        "data": [[low, low], [high, high]],
    }
    return {
        "animation": False,
        "grid": {**GRID, "left": 26},
        "tooltip": TOOLTIP,
        "xAxis": {**axis, "min": low, "max": high, **named("measured")},
        "yAxis": {**axis, "min": bottom, "max": top, **named("expected from the others", gap=48), "nameRotate": 90},
        "series": [
            _group("inside", "circle", [p for p in each if p.is_inside], (bottom, top)),
            _group("outside", "diamond", [p for p in each if not p.is_inside], (bottom, top)),
            {**line, "lineStyle": {"type": "dashed", "width": 1.5}},
        ],
    }


def _range(values: Sequence[float], room: float = 0.04) -> tuple[float, float]:
    margin = room * (max(values) - min(values))
    return short(min(values) - margin), short(max(values) + margin)


def _group(name: str, shape: str, some: Sequence[Prediction], within: tuple[float, float]) -> Option:
    """Dots with their intervals, which end where the picture does."""
    dots = [
        {"name": _words(prediction), "value": [short(prediction.y), short(prediction.expected.middle)]}
        for prediction in some
    ]
    bottom, top = within
    ends = [(p.y, (max(p.expected.low, bottom), min(p.expected.high, top))) for p in some]
    intervals = [_line((short(y), short(end)) for end in both) for y, both in ends]
    marks = {**NO_LABEL, "lineStyle": {"type": "solid", "width": 1, "opacity": 0.6}, "data": intervals}
    return {"type": "scatter", "name": name, "symbol": shape, "symbolSize": 9, "data": dots, "markLine": marks}


def _words(prediction: Prediction) -> str:
    return f"{prediction.measured.name}: {written(prediction.y)}, expected {prediction.expected}"


def _line(ends: Iterable[tuple[object, object]]) -> list[Option]:
    return [{"coord": list(end)} for end in ends]


def _percent(share: float) -> float:
    return round(100.0 * share, 1)


def _said(share: float) -> str:
    return f"{100.0 * share:.0f} %"
