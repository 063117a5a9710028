"""Two objectives against each other: the results, the front, what breaks a limit, and what the next design promises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cboc.insight.found import Found
from cboc.insight.outcome import direction_of, is_ranked
from cboc.insight.surface import Expectation
from cboc.site.outcomes import measured_in_words, wish
from cboc.site.site import Site
from cboc.sitepage.history import CROSS, Option
from cboc.sitepage.learned.look import GRID, NO_LABEL, TOOLTIP, named, short

ON_FRONT, OTHER, NEXT, BROKEN, MARK = "on the front", "other results", "next design", "breaks a limit", "mark"
STAR = "path://M5,0 L6.2,3.6 L10,3.6 L6.9,5.9 L8.1,9.6 L5,7.3 L1.9,9.6 L3.1,5.9 L0,3.6 L3.8,3.6 Z"
LABELS = {"hideOverlap": True, "showMinLabel": False, "showMaxLabel": False}
AXIS = {"type": "value", "splitNumber": 4, "axisLabel": LABELS}
ROOM = 0.08  # around what is drawn
Range = tuple[float, float]
RING = {"color": "transparent", "borderColor": "#d97706", "borderWidth": 3}  # seen on light and on dark


def picture(site: Site, found: Sequence[Found], names: tuple[str, str], expected: Mapping[str, Expectation]) -> Option:
    """Draw the results by two outcomes. The ring is moved by the page: it marks the result that the weights choose."""
    across, up = (_range([each.outcomes[name] for each in found], expected.get(name)) for name in names)
    drawn = [each for each in found if each.is_on_front]
    others = [each for each in found if not each.is_on_front and not each.broken]
    dots = {ON_FRONT: ("diamond", 12, drawn), OTHER: ("circle", 8, others)}
    broken = (CROSS, 9, [each for each in found if each.broken])
    return {
        "animation": False,
        "grid": {**GRID, "left": 26},
        "tooltip": TOOLTIP,
        "xAxis": {**AXIS, **_ends(across), **named(_label(site, names[0]))},
        "yAxis": {**AXIS, **_ends(up), **named(_label(site, names[1]), gap=48), "nameRotate": 90},
        "series": [
            *(_dots(site, name, *look, names) for name, look in dots.items()),
            _next(site, names, expected, (across, up)),
            {"type": "scatter", "name": "best so far", "data": []},  # so that colours are those of the history
            _dots(site, BROKEN, *broken, names),
            *_stairs(site, drawn, names),
            {"type": "scatter", "id": MARK, "symbol": "circle", "symbolSize": 22, "itemStyle": RING, "silent": True},
        ],
    }


def _range(values: Sequence[float], expected: Expectation | None) -> Range:
    """From where to where an axis goes: a bit beyond the results and what is expected, but not its whole interval."""
    shown = [*values, *([] if expected is None else [expected.middle])]
    width = max(shown) - min(shown) or abs(shown[0]) or 1.0
    margin = ROOM * width
    return min(shown) - margin, max(shown) + margin


def _ends(ends: Range) -> Option:
    return {"min": short(ends[0]), "max": short(ends[1])}


def _label(site: Site, name: str) -> str:
    return f"{site.study.objective_called(name).head}, {wish(site.goal, name)}"


def _dots(site: Site, name: str, symbol: str, size: int, some: Iterable[Found], names: tuple[str, str]) -> Option:
    data = [{"name": said(site, each), "value": [short(each.outcomes[axis]) for axis in names]} for each in some]
    return {"type": "scatter", "name": name, "symbol": symbol, "symbolSize": size, "data": data}


def said(site: Site, each: Found) -> str:
    """A result in words: 'trial 7: yield 83 %, cost 12 EUR; breaks impurity <= 5'."""
    broken = f"; breaks {' and '.join(map(str, each.broken))}" if each.broken else ""
    return f"{each.name}: {measured_in_words(site, each.outcomes)}{broken}"


def _next(
    site: Site, names: tuple[str, str], expected: Mapping[str, Expectation], within: tuple[Range, Range]
) -> Option:
    """The next design where it is expected, with an interval each way; nothing if that is not known of both."""
    series: Option = {"type": "scatter", "name": NEXT, "symbol": STAR, "symbolSize": 16, "data": []}
    if not all(name in expected for name in names):
        return series
    here = [short(expected[name].middle) for name in names]
    (left, right), (bottom, top) = (
        (short(max(expected[name].low, low)), short(min(expected[name].high, high)))
        for name, (low, high) in zip(names, within, strict=True)
    )
    ends = [[left, here[1]], [right, here[1]]], [[here[0], bottom], [here[0], top]]
    lines = [[{"coord": end} for end in both] for both in ends]
    shown = ", ".join(f"{name} {site.study.objective_called(name).of(expected[name])}" for name in names)
    marks = {**NO_LABEL, "lineStyle": {"type": "solid", "width": 1.5}, "data": lines}
    return series | {"data": [{"name": f"next design: {shown} expected", "value": here}], "markLine": marks}


def _stairs(site: Site, drawn: Sequence[Found], names: tuple[str, str]) -> list[Option]:
    """The edge of what is reached, where two objectives are all and each has a direction."""
    if len(site.goal.aims) != 2 or not all(is_ranked(site.goal, name) for name in names):
        return []
    corners = sorted([short(each.outcomes[name]) for name in names] for each in drawn)
    step = "start" if direction_of(site.goal, names[0]).sign > 0.0 else "end"
    return [{"type": "line", "name": ON_FRONT, "step": step, "symbol": "none", "silent": True, "z": 1, "data": corners}]
