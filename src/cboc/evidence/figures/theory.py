"""Theorem 1 and its assumptions in runs: cumulative regret, and the quantities that Assumptions 2 and 3 bound.

R(t) = Σ f(x*) - f(x_new)      straight on log-log axes if it grows like a power of t; slope 1 is no learning
q(t) √log(2 + t)               stays bounded if q = O(1/√log(2 + t)): flat or falling is consistent, rising is not
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cboc.arrays import Array
from cboc.evidence.figures.look import error_name, look, name_ends, over_seeds
from cboc.evidence.scenario import Scenario
from cboc.evidence.theory import Course, slope, trend
from cboc.plots import style
from cboc.plots.style import ALONE, INK, Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WINDOW = 0.1  # the window of the lower curves' running means, as a share of the rounds
ASSUMPTIONS = (
    "Assumption 2: largest distance between proposals × √log(2 + t)",
    "Assumption 3: change of σ by mixing × √log(2 + t)",
)

Courses = dict[str, list[Course]]  # by method


def theory(courses: Iterable[Course]) -> Figure:
    """A column for each scenario: regret on log-log axes, then both assumptions against rounds."""
    columns = _columns(courses)
    fig, axes = style.figure(7.6, 1 + len(ASSUMPTIONS), len(columns), sharey="row", height_ratios=[1.5, 1.0, 1.0])
    for k, (scenario, methods) in enumerate(columns.items()):
        regret, spread, blur = (row[k] for row in axes)
        style.title(regret, scenario.name)
        _regret(regret, methods)
        _assumption(spread, methods, lambda course: course.spread)
        _assumption(blur, methods, lambda course: course.blur)
        blur.set_xlabel("round", fontsize=style.NORMAL, color=INK)
    style.axis_labels(axes[0][0], y="cumulative regret")
    for row, name in zip(axes[1:], ASSUMPTIONS, strict=True):
        style.title(row[0], name)
    _name(axes, columns)
    _legend(fig, list(dict.fromkeys(m for methods in columns.values() for m in methods)))
    counts = {len(group) for methods in columns.values() for group in methods.values()}
    note = (
        f"{error_name(counts, 'bands')}; numbers in the first row: slope over the second half of the rounds; below:\n"
        f"mean of the last quarter over that of the first (running means over {100 * WINDOW:g} % of the rounds; "
        "flat or falling is consistent, rising is not)"
    )
    fig.supxlabel(note, fontsize=style.SMALL, color=INK)
    return fig


def _columns(courses: Iterable[Course]) -> dict[Scenario, Courses]:
    columns: dict[Scenario, Courses] = {}
    for course in courses:
        columns.setdefault(course.job.scenario, {}).setdefault(course.job.method, []).append(course)
    return columns


def _draw(ax: Axes, curves: Sequence[Curve]) -> None:
    """Draw the curves from round 1 on, because a logarithmic axis has no zero."""
    for curve in curves:
        rounds = np.arange(1, len(curve.mean) + 1)
        ax.fill_between(rounds, np.maximum(curve.low, 0.0), curve.high, color=curve.colour, alpha=0.16, linewidth=0)
        ax.plot(rounds, curve.mean, color=curve.colour, linewidth=2.0, label=curve.label, solid_capstyle="round")


def _regret(ax: Axes, methods: Courses) -> None:
    curves = [over_seeds(_cumulative(group), method, look(method).colour) for method, group in methods.items()]
    _draw(ax, curves)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_major_formatter("{x:g}")
    last = max(len(curve.mean) for curve in curves)
    start = max(float((curve.mean / np.arange(1, len(curve.mean) + 1)).max()) for curve in curves)  # above all of them
    ax.plot([1, last], [start, start * last], color=ALONE, linewidth=1.0, linestyle="--", label="slope 1", zorder=1)
    ax.set_xlim(1, last)


def _cumulative(group: Sequence[Course]) -> Array:  # (seeds, T)
    return np.cumsum([course.regret for course in group], axis=1)


def _assumption(ax: Axes, methods: Courses, quantity: Callable[[Course], Sequence[float]]) -> None:
    curves = []
    for method, group in methods.items():
        values = np.array([quantity(course) for course in group])
        scaled = values * np.sqrt(np.log(2.0 + np.arange(1, values.shape[1] + 1)))
        curves.append(over_seeds(_smooth(scaled), method, look(method).colour))
    _draw(ax, curves)
    ax.set_xlim(1, max(len(curve.mean) for curve in curves))
    ax.set_ylim(0.0, max(ax.get_ylim()[1], *(1.05 * float(curve.high.max()) for curve in curves)))  # a row shares it


def _smooth(values: Array) -> Array:  # (seeds, T)
    """Running means; shorter windows at both ends."""
    T = values.shape[1]
    half = max(1, round(WINDOW * T)) // 2
    sums = np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1)
    low, high = np.maximum(np.arange(T) - half, 0), np.minimum(np.arange(T) + half + 1, T)
    return (sums[:, high] - sums[:, low]) / (high - low)


def _name(axes: Sequence[Sequence[Axes]], columns: dict[Scenario, Courses]) -> None:
    """Write the numbers at the ends of the lines, once the heights are final."""
    for k, methods in enumerate(columns.values()):
        numbers = [
            {m: f"{np.mean([slope(R) for R in _cumulative(group)]):.2f}" for m, group in methods.items()},
            {m: _trend([course.spread for course in group]) for m, group in methods.items()},
            {m: _trend([course.blur for course in group]) for m, group in methods.items()},
        ]
        for row, texts in zip(axes, numbers, strict=True):
            lines = [line for line in row[k].lines if texts.get(f"{line.get_label()}")]
            ends = [(np.asarray(line.get_xdata())[-1], np.asarray(line.get_ydata())[-1], line) for line in lines]
            name_ends(
                row[k],
                [(x, y, texts[f"{line.get_label()}"], f"{line.get_color()}") for x, y, line in ends],
                0.07 if row is axes[0] else 0.105,
            )
        _guide(axes[0][k])


def _trend(values: Sequence[Sequence[float]]) -> str:
    """The trend as text; empty for a quantity that is zero throughout, such as the blur of a site alone."""
    mean = np.mean(values, axis=0)
    return f"× {trend(mean):.2f}" if mean.any() else ""


def _guide(ax: Axes) -> None:
    guide = next(line for line in ax.lines if line.get_label() == "slope 1")
    (x, last), (y, _) = np.asarray(guide.get_xdata()), np.asarray(guide.get_ydata())
    place = float(last) ** 0.55
    ax.annotate(
        "slope 1",
        (place, float(y) * place / float(x)),
        xytext=(-3, 3),
        textcoords="offset points",
        ha="right",
        fontsize=style.SMALL,
        color=ALONE,
    )


def _legend(fig: Figure, methods: Sequence[str]) -> None:
    looks = [look(method) for method in methods]
    style.legend(fig, [{"color": each.colour, "linewidth": 2.2, "label": each.name} for each in looks])
