"""One look for all pictures: together in a strong colour, alone in grey, labels at the lines, nothing but data.

matplotlib is imported only when a picture is made, so the library works without it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from cboc.arrays import Array
from cboc.errors import CbocError, installing
from cboc.exchange.objective import Objective

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# From the colour-blind-safe palette of Okabe and Ito, and greys.
TOGETHER = "#D55E00"
ALONE = "#6F6F6F"
INK = "#222222"
FAINT = "#DDDDDD"

WIDTH = 9.0  # inches: the width of a README
SMALL = 8.5  # points: ticks and notes
NORMAL = 9.5
CAPTION = 132  # characters of a line over the whole width
LEGEND, MARK = 112, 6  # characters of a line of a legend, and those that a mark takes
LINE, HEAD = 0.17, 1.6  # inches of a line of a caption; lines that a name above all takes
LONGEST, LONGEST_NAME, LONGEST_OPTION = 30, 90, 18  # characters of a name along an axis, above a picture, of an option
MOST_OPTIONS, CROWDED = 10, 32  # options with a name along an axis, and their characters from which they are slanted
NOTHING = {"label": " ", "linestyle": "none"}  # an empty place in a legend


class Curve(NamedTuple):
    """A mean over rounds 0 .. T and the band around it."""

    label: str
    colour: str
    mean: Array  # (T + 1,)
    low: Array
    high: Array
    line: str = "-"
    x: Array | None = None  # None: rounds

    @property
    def places(self) -> Array:  # (T + 1,)
        """Where its points lie."""
        return np.arange(float(len(self.mean))) if self.x is None else self.x


def figure_class() -> type[Figure]:
    """matplotlib's Figure, or one sentence on how to get it."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise CbocError(f"pictures need matplotlib, which is not installed; {installing('plot')}.") from None
    return Figure


def blank(height: float) -> Figure:
    """An empty figure of README width."""
    return figure_class()(figsize=(WIDTH, height), layout="constrained", dpi=100)


def figure(height: float, rows: int = 1, columns: int = 1, **grid: Any) -> tuple[Figure, list[list[Axes]]]:
    """A figure and its axes, row by row."""
    fig = blank(height)
    axes = fig.subplots(rows, columns, squeeze=False, **grid)
    for ax in axes.flat:
        quiet(ax)
    return fig, [list(row) for row in axes]


def panels(count: int, most_columns: int, panel_height: float, **grid: Any) -> tuple[Figure, list[Axes]]:
    """`count` axes of equal size in as many rows as they need."""
    columns = min(count, most_columns)
    rows = -(-count // columns)
    fig, axes = figure(panel_height * rows + 0.4, rows, columns, **grid)
    flat = [ax for row in axes for ax in row]
    for spare in flat[count:]:
        spare.set_visible(False)
    return fig, flat[:count]


def quiet(ax: Axes) -> None:
    """Two thin spines, a light grid behind the data, small labels."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(ALONE)
    ax.spines[["left", "bottom"]].set_linewidth(0.6)
    ax.tick_params(which="both", length=0, labelsize=SMALL, labelcolor=INK)
    ax.grid(color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)


def shortened(text: str, most: int) -> str:
    """A name as it is, or its beginning and its end."""
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-(most - most // 2 - 1) :]}"


def plain(text: str, most: int = 200) -> str:
    """A name, and no formula, which dollar signs would make of it in matplotlib."""
    return shortened(text, most).replace("$", r"\$")


def title(ax: Axes, text: str, most: int = 200) -> None:
    """Write a left-aligned title over one panel."""
    ax.set_title(plain(text, most), loc="left", fontsize=NORMAL, color=INK)


def headline(fig: Figure, text: str) -> None:
    """Write the message of the picture over all panels."""
    fig.suptitle(plain(text), x=0.012, ha="left", fontsize=NORMAL + 1.5, fontweight="bold", color=INK)


def framed(fig: Figure, name: str, caption: str) -> Figure:
    """Add a line above the legend that says whose picture it is, and lines below all panels that say what is drawn."""
    lines = textwrap.wrap(caption, CAPTION)
    height = fig.get_figheight() + LINE * (len(lines) + HEAD)
    fig.draw_without_rendering()  # which tells how high the legend is
    legends = sum(each.get_window_extent().height for each in fig.legends) / fig.dpi
    fig.set_figheight(height)
    top = LINE * HEAD / height
    for each in fig.legends:
        each.set_in_layout(False)
        each.set_bbox_to_anchor((0.0, 0.0, 1.0, 1.0 - top), transform=fig.transFigure)
    engine = fig.get_layout_engine()
    assert engine is not None  # `blank` has made one
    engine.set(rect=(0.0, 0.0, 1.0, 1.0 - top - legends / height))  # type: ignore[call-arg]
    look: dict[str, Any] = {"x": 0.012, "ha": "left", "color": INK}
    bold = look | {"fontsize": NORMAL + 1.5, "fontweight": "bold"}
    fig.text(y=1.0 - 0.3 * LINE / height, s=plain(name, LONGEST_NAME), va="top", **bold)
    fig.supxlabel(plain("\n".join(lines), len(caption)), fontsize=SMALL, **look)
    return fig


def best_so_far(objective: Objective) -> str:
    """The name of an axis on which the best outcome so far is drawn."""
    return plain(f"best {objective.word} so far{f' ({objective.unit})' if objective.unit else ''}")


def axis_labels(ax: Axes, x: str = "", y: str = "", size: float = NORMAL) -> None:
    ax.set_xlabel(plain(x, 2 * LONGEST), fontsize=size, color=INK)
    ax.set_ylabel(plain(y, 2 * LONGEST), fontsize=size, color=INK)


def option_ticks(ax: Axes, which: Literal["x", "y"], options: Sequence[str]) -> None:
    """Name the options of a choice along an axis: as many as there is room for, long ones shortened."""
    step = -(-len(options) // MOST_OPTIONS)
    names = [plain(option, LONGEST_OPTION) for option in options[::step]]
    places = range(0, len(options), step)
    if which == "y":
        ax.set_yticks(places, names)
        return
    is_crowded = sum(map(len, names)) > CROWDED
    ax.set_xticks(places, names, rotation=45 if is_crowded else 0, ha="right" if is_crowded else "center")


def whole_rounds(ax: Axes, last: int) -> None:
    """Ticks at whole rounds."""
    from matplotlib.ticker import MaxNLocator

    ax.set_xlim(0, max(last, 1))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))


def draw_curves(ax: Axes, curves: Sequence[Curve]) -> None:
    """Draw lines with bands, the name of each at its end."""
    for curve in curves:
        ax.fill_between(curve.places, curve.low, curve.high, color=curve.colour, alpha=0.16, linewidth=0)
        look: dict[str, Any] = {
            "color": curve.colour,
            "linewidth": 2.2,
            "linestyle": curve.line,
            "solid_capstyle": "round",
            "marker": marker(curve.mean),
        }
        ax.plot(curve.places, curve.mean, label=curve.label, **look)


def marker(curve: Array) -> str | None:
    """A dot for a curve of a single point, whose line would be invisible."""
    return "o" if len(curve) == 1 else None


def label_ends(ax: Axes, curves: Sequence[Curve], apart: float = 0.075) -> None:
    """Write each curve's name right of its last point, with names at least this share of the height apart."""
    from matplotlib.transforms import blended_transform_factory

    low, high = ax.get_ylim()
    upwards = sorted(curves, key=lambda curve: float(curve.mean[-1]))
    heights = spread([(float(curve.mean[-1]) - low) / (high - low) for curve in upwards], apart)
    place = blended_transform_factory(ax.transData, ax.transAxes)
    for height, curve in zip(heights, upwards, strict=True):
        ax.annotate(
            curve.label,
            (curve.places[-1], height),
            xycoords=place,
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=curve.colour,
            fontsize=NORMAL,
            fontweight="bold",
            annotation_clip=False,
        )


def spread(positions: Iterable[float], apart: float) -> list[float]:
    """Rising positions in [0, 1], pushed up in order until they are `apart`, then down from the top if needed."""
    moved = list(positions)
    for k in range(1, len(moved)):
        moved[k] = max(moved[k], moved[k - 1] + apart)
    ceiling = 1.0
    for k in reversed(range(len(moved))):
        moved[k] = min(moved[k], ceiling)
        ceiling = moved[k] - apart
    return moved


def legend(fig: Figure, *lines: Sequence[dict[str, Any]]) -> None:
    """Lines of marks and names over the panels; an entry holds the arguments of a Line2D. A long line becomes two."""
    from matplotlib.lines import Line2D

    if len(lines) == 1 and sum(len(entry["label"]) + MARK for entry in lines[0]) > LEGEND:
        half = -(-len(lines[0]) // 2)
        lines = (lines[0][:half], lines[0][half:])
    columns = list(zip_longest(*lines, fillvalue=NOTHING))  # matplotlib fills one column after the other
    handles = [Line2D([], [], **entry | {"label": plain(entry["label"])}) for column in columns for entry in column]
    look: dict[str, Any] = {"frameon": False, "fontsize": NORMAL, "labelcolor": INK}
    fig.legend(handles=handles, loc="outside upper right", ncols=len(columns), **look)


def mean_and_band(values: Array, label: str, colour: str) -> Curve:
    """Mean over seeds and sites of (seeds, K, T + 1), with the band that `band_name` names."""
    if len(values) > 1:
        by_seed = values.mean(axis=1)
        mean = by_seed.mean(axis=0)
        error = by_seed.std(axis=0, ddof=1) / np.sqrt(len(by_seed))
        return Curve(label, colour, mean, mean - error, mean + error)
    low, high = np.quantile(values[0], [0.25, 0.75], axis=0)
    return Curve(label, colour, values[0].mean(axis=0), low, high)


def band_name(seeds: int) -> str:
    """The name of the band that `mean_and_band` draws."""
    return f"band: standard error over {seeds} seeds" if seeds > 1 else "band: quartiles over sites"
