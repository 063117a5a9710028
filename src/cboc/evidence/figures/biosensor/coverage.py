"""How much of the sensor is covered: its mean over time with the peak that is maximised, and along the sensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cboc.evidence.biosensor.sensor import DELAY, MILLI
from cboc.evidence.figures.biosensor.passage import Passage
from cboc.plots import style
from cboc.plots.style import FAINT, INK, TOGETHER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

THOUSAND = 1e3  # coverages are shown in thousandths
HUMP = 0.7  # the height at which the sample's shape is drawn, as a share of the largest coverage
MOMENTS = ("#9AD0F5", "#56B4E9", "#0072B2", TOGETHER)  # from early to the peak


def coverage(passage: Passage) -> Figure:
    """Two panels: the mean coverage over time, and the coverage along the sensor."""
    fig, [[left, right]] = style.figure(3.7, 1, 2, width_ratios=[1.35, 1.0])
    draw_time(left, passage)
    _mark_moments(left, passage)
    draw_along(right, passage)
    return fig


def draw_time(ax: Axes, passage: Passage) -> None:
    """Draw θ̄(t) and its peak, in front of the shape of the sample at the inlet."""
    response, sample, width = passage.response, passage.sensor.sample, passage.setting.width
    top = THOUSAND * response.peak
    t = np.linspace(0.0, passage.times[-1], 400)
    inlet = np.array([sample.at(moment, width) for moment in t]) / sample.strongest(width)
    ax.fill_between(t, 0.0, HUMP * top * inlet, color=FAINT, linewidth=0)
    limit = ",\nlimited by stock" if sample.strongest(width) == sample.stock else ""
    look: dict[str, Any] = {"fontsize": style.SMALL, "color": style.ALONE, "ha": "center", "va": "bottom"}
    ax.text(DELAY * width, (HUMP + 0.02) * top, f"sample\nat the inlet{limit}", **look)
    ax.plot(passage.times, THOUSAND * passage.mean, color=INK, linewidth=2.2)
    ax.plot(response.at, top, marker="o", color=TOGETHER, markersize=7, zorder=5)
    ax.annotate(
        f"θ_max = {top:.3f} × 10⁻³\nafter {response.at:.0f} s",
        (response.at, top),
        xytext=(0, 7),
        textcoords="offset points",
        ha="center",
        fontsize=style.NORMAL,
        color=TOGETHER,
        fontweight="bold",
    )
    ax.set_xlim(0.0, passage.times[-1])
    ax.set_ylim(0.0, 1.25 * top)
    style.title(ax, "mean over the sensor")
    style.axis_labels(ax, "time [s]", "coverage θ × 10³")


def _mark_moments(ax: Axes, passage: Passage) -> None:
    """Mark the times of the other panel's curves, in their colours; the peak already has a mark."""
    for state, colour in list(zip(passage.moments.values(), MOMENTS, strict=True))[:-1]:
        height = float(np.interp(state.t, passage.times, passage.mean))
        ax.plot(state.t, THOUSAND * height, marker="o", color=colour, markersize=7, zorder=4)


def draw_along(ax: Axes, passage: Passage) -> None:
    """Draw θ(x) at the moments, on a logarithmic scale: the sensor's upstream end gets by far the most."""
    for (what, state), colour in zip(passage.moments.items(), MOMENTS, strict=True):
        theta, x = THOUSAND * state.theta, passage.along / MILLI
        ax.plot(x, theta, color=colour, linewidth=2.2, label=f"{what}, after {state.t:.0f} s")
    ax.legend(frameon=False, fontsize=style.SMALL, labelcolor=INK, loc="upper right", reverse=True)
    frame_along(ax, passage)


def frame_along(ax: Axes, passage: Passage) -> None:
    """Set the axes to show θ(x) from a tenth of the largest coverage on."""
    last = THOUSAND * passage.states[-1].theta
    ax.set_yscale("log")
    ax.set_ylim(0.04 * float(last.min()), 1.5 * float(last.max()))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set_xlim(0.0, passage.along[-1] / MILLI)
    style.title(ax, "along the sensor, from its upstream end")
    style.axis_labels(ax, "x [mm]", "coverage θ × 10³")
