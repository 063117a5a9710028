"""A sample that passes the sensor, as an animated GIF: the layer above it, and the coverage that grows from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from cboc.evidence.biosensor.advection import State
from cboc.evidence.biosensor.sensor import MILLI
from cboc.evidence.figures.biosensor.coverage import THOUSAND, draw_time, frame_along
from cboc.evidence.figures.biosensor.field import add_scale, draw_layer
from cboc.evidence.figures.biosensor.passage import Passage
from cboc.plots import style
from cboc.plots.style import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FRAMES = 48
PER_SECOND = 8
DPI = 80


def movie(passage: Passage, on_frame: Callable[[float], None] | None = None) -> bytes:
    """Make the GIF; `on_frame` is told the share done."""
    style.figure_class()
    from matplotlib.animation import PillowWriter

    writer = PillowWriter(fps=PER_SECOND)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "movie.gif"
        fig, show = _scene(passage)
        with writer.saving(fig, path, DPI):
            for number, t in enumerate(np.linspace(passage.times[0], passage.times[-1], FRAMES), start=1):
                show(passage.at(float(t)))
                writer.grab_frame()
                if on_frame is not None:
                    on_frame(number / FRAMES)
        return path.read_bytes()


def _scene(passage: Passage) -> tuple[Figure, Callable[[State], None]]:
    """The figure, and a function that shows a state in it."""
    fig = style.blank(5.0)
    axes = fig.subplot_mosaic([["layer", "layer"], ["time", "along"]], width_ratios=[1.35, 1.0])
    for ax in axes.values():
        style.quiet(ax)
    add_scale(fig, draw_layer(axes["layer"], passage, passage.states[0]), [axes["layer"]])
    draw_time(axes["time"], passage)
    (now,) = axes["time"].plot([], [], marker="o", color=INK, markersize=8, zorder=6, clip_on=False)
    (curve,) = axes["along"].plot([], [], color=INK, linewidth=2.2)
    frame_along(axes["along"], passage)

    def show(state: State) -> None:
        axes["layer"].clear()
        style.quiet(axes["layer"])
        draw_layer(axes["layer"], passage, state)
        style.title(axes["layer"], f"concentration above the sensor after {state.t:.0f} s")
        style.axis_labels(axes["layer"], "x [mm]", "y [µm]")
        now.set_data([state.t], [THOUSAND * float(np.interp(state.t, passage.times, passage.mean))])
        curve.set_data(passage.along / MILLI, THOUSAND * state.theta)

    show(passage.states[0])
    fig.draw_without_rendering()
    fig.set_layout_engine("none")  # from here on the layout stays fixed
    return fig, show
