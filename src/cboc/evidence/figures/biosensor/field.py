"""The concentration in the channel at a few times, and near the sensor, where a thin layer is depleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cboc.evidence.biosensor.advection import State
from cboc.evidence.biosensor.sensor import MICRO, MILLI, layer
from cboc.evidence.figures.biosensor.passage import Passage
from cboc.plots import style
from cboc.plots.style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

COLOURS = "viridis"
LEVELS = 33
NEAR = 4.0  # the height of the close-up, in depleted layers
MARGIN = 0.15  # the margin before and behind the sensor, in its lengths
SENSOR = "#D55E00"


def field(passage: Passage) -> Figure:
    """A row for each moment on the way up: the whole channel, and the layer above the sensor, on one colour scale."""
    moments = dict(list(passage.moments.items())[:-1])  # at the peak the sample has gone
    fig, axes = style.figure(1.6 * len(moments) + 0.6, len(moments), 2, width_ratios=[1.35, 1.0])
    for (whole, near), (what, state) in zip(axes, moments.items(), strict=True):
        image = draw_channel(whole, passage, state)
        draw_layer(near, passage, state)
        style.title(whole, f"after {state.t:.0f} s: {what}")
        for ax in (whole, near):
            ax.tick_params(labelbottom=ax in axes[-1])
    style.title(axes[0][1], "near the sensor; dashed: Lévêque's layer")
    style.axis_labels(axes[-1][0], "x [mm]", axes[-1][0].get_ylabel())
    style.axis_labels(axes[-1][1], "x [mm]", axes[-1][1].get_ylabel())
    add_scale(fig, image, [ax for row in axes for ax in row])
    return fig


def draw_channel(ax: Axes, passage: Passage, state: State) -> ScalarMappable:
    """Draw the whole channel in mm, the sensor marked on the floor."""
    x, y = passage.grid
    image = ax.contourf(x / MILLI, y / MILLI, passage.field(state), **_look(passage))
    _mark_sensor(ax, passage)
    ax.set_ylim(0.0, y[-1] / MILLI)
    ax.set_ylabel("y [mm]", fontsize=style.SMALL, color=INK)
    ax.grid(visible=False)
    return image


def draw_layer(ax: Axes, passage: Passage, state: State) -> ScalarMappable:
    """Draw a close-up of the floor, y in µm, with the layer's thickness along the sensor by Lévêque's formula."""
    length, thickness = passage.sensor.channel.sensor, layer(passage.sensor, passage.setting.inflow)
    (left, right), top = (-MARGIN * length, (1.0 + MARGIN) * length), NEAR * thickness
    x, y = passage.grid
    columns = slice(max(0, np.searchsorted(x, left) - 1), np.searchsorted(x, right) + 1)  # only what is visible
    rows = slice(0, np.searchsorted(y, top) + 1)
    shown = passage.field(state)[rows, columns]
    image = ax.contourf(x[columns] / MILLI, y[rows] / MICRO, shown, **_look(passage))
    _mark_sensor(ax, passage)
    along = np.linspace(0.0, length, 200)
    ax.plot(along / MILLI, thickness * np.cbrt(along / length) / MICRO, color="white", linewidth=1.1, linestyle="--")
    ax.set_xlim(left / MILLI, right / MILLI)
    ax.set_ylim(0.0, top / MICRO)
    ax.set_ylabel("y [µm]", fontsize=style.SMALL, color=INK)
    ax.grid(visible=False)
    return image


def _mark_sensor(ax: Axes, passage: Passage) -> None:
    ax.plot(
        [0.0, passage.sensor.channel.sensor / MILLI], [0.0, 0.0], color=SENSOR, linewidth=5.0, solid_capstyle="butt"
    )
    ax.spines[:].set_visible(False)


def _look(passage: Passage) -> dict[str, Any]:
    return {"levels": np.linspace(0.0, passage.strongest, LEVELS), "cmap": COLOURS}


def add_scale(fig: Figure, image: ScalarMappable, axes: list[Axes]) -> None:
    """Add the colour scale of the concentration."""
    bar = fig.colorbar(image, ax=axes, shrink=0.6, pad=0.01, aspect=30)
    bar.locator = _few()
    bar.ax.spines["outline"].set_visible(False)
    bar.ax.tick_params(length=0, labelsize=style.SMALL)
    bar.set_label("concentration [nM]", fontsize=style.SMALL, color=INK)
    bar.update_ticks()


def _few() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(5)
