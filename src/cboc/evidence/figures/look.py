"""The name, colour and mark of every method, the same in all pictures of the evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cboc.arrays import Array
from cboc.plots.style import ALONE, INK, SMALL, TOGETHER, Curve
from cboc.runs.metrics import standard_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Look(NamedTuple):
    """How a method is drawn."""

    name: str
    colour: str  # most of them from the palette of Okabe and Ito; no two look alike, whatever colours a reader sees
    marker: str
    line: str = "-"


LOOKS = {
    "individual": Look("Individual", ALONE, "o"),
    "cboc": Look("CBOC, our default", TOGETHER, "P"),
    "cboc-l": Look("CBOC-L", "#332288", "D", "--"),
    "cboc-u": Look("CBOC-U", "#E69F00", "s"),
    "cboc-u-gated": Look("CBOC-U, gated", "#0072B2", "o"),
    "gated": Look("CBOC-U, gated", "#0072B2", "o"),
    "cboc-l-gated": Look("CBOC-L, gated", "#56B4E9", "D"),
    "fts-de": Look("FTS-DE", "#009E73", "^"),
    "fts": Look("FTS", "#AACCEE", "v", ":"),
    "others-best-first": Look("others' best first", "#8800EE", "s", "--"),
    "bounding-box": Look("bounding box", "#44CC66", "D", "-."),
    "warm-start": Look("warm start", "#EECC00", "^", "--"),
    "pooled": Look("pooled, not private", "#662244", "X", ":"),
    "rgpe": Look("RGPE, not private", "#222200", "X", ":"),
    "random": Look("random", "#CCAAAA", ".", ":"),
    "individual-again": Look("Individual again, the null", "#884488", "o", ":"),
    "centre": Look("centre of the box", "#CC79A7", "X"),
}


def look(method: str) -> Look:
    """The look of a method; dark ink and a star if it has none."""
    return LOOKS.get(method, Look(method, INK, "*"))


def tint(colour: str, share: float) -> str:
    """The colour mixed with white: 1 is the colour itself."""
    channels = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - channel)):02x}" for channel in channels)


def darker(colour: str, share: float) -> str:
    """The colour mixed with this share of black."""
    channels = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round((1.0 - share) * channel):02x}" for channel in channels)


def over_seeds(values: Array, label: str, colour: str, band: Callable[[Array], Array] = standard_error) -> Curve:
    """The mean of (seeds, T) with a band to either side; a single seed has no band."""
    mean, error = values.mean(axis=0), np.nan_to_num(band(values))
    return Curve(label, colour, mean, mean - error, mean + error)


def seeds_name(counts: set[int]) -> str:
    """'30 seeds', or '1 to 30 seeds' where runs are missing."""
    if not counts:
        return "no seeds yet"
    low, high = min(counts), max(counts)
    return f"{high} {'seed' if high == 1 else 'seeds'}" if low == high else f"{low} to {high} seeds"


def error_name(counts: set[int], drawn: str, band: str = "standard error") -> str:
    """The name of the bands or bars; a single seed has none."""
    if max(counts, default=0) < 2:
        return f"{seeds_name(counts)}, hence no {drawn}"
    return f"{drawn}: {band} over {seeds_name(counts)}"


def settle(positions: Sequence[float], apart: float, low: float = 0.0, high: float = 1.0) -> Array:
    """The positions in [low, high] nearest to these, in their order, that are `apart`: neighbours share the move."""
    order = np.argsort(positions, kind="stable")
    steps = apart * np.arange(len(order))
    blocks: list[list[float]] = []
    for target in np.asarray(positions, dtype=float)[order] - steps:
        blocks.append([target])
        while len(blocks) > 1 and np.mean(blocks[-2]) > np.mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    moved = np.repeat([np.mean(block) for block in blocks], [len(block) for block in blocks])
    settled = np.empty(len(order))
    settled[order] = moved.clip(low, max(low, high - apart * (len(order) - 1))) + steps
    return settled


def name_ends(ax: Axes, ends: Sequence[tuple[float, float, str, str]], apart: float = 0.06) -> None:
    """Write a small text (x, y, text, colour) right of each line's end, kept apart by this share of the height."""
    if not ends:
        return
    to_share, to_data = ax.transData + ax.transAxes.inverted(), ax.transAxes + ax.transData.inverted()
    shares = [float(to_share.transform((x, y))[1]) for x, y, _, _ in ends]
    for (x, _, text, colour), share in zip(ends, settle(shares, apart, 0.02), strict=True):
        ax.annotate(
            text,
            (x, float(to_data.transform((0.0, share))[1])),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=SMALL,
            fontweight="bold",
            annotation_clip=False,
        )
