"""Meshes of rectangles, fine where something happens: lines in x, lines in y."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cboc.arrays import Array
from cboc.evidence.biosensor.sensor import MICRO, Channel

FINE = 4096  # points on which a density of lines is integrated


@dataclass(frozen=True)
class Grading:
    """A cell size that grows with the distance from a place: size + growth · distance."""

    place: float
    size: float
    growth: float


def lines(low: float, high: float, gradings: list[Grading], largest: float, fineness: float = 1.0) -> Array:
    """The lines that cut [low, high] into cells: one at every grading's place inside; `fineness` divides every cell."""
    cuts = sorted({low, high} | {grading.place for grading in gradings if low < grading.place < high})
    parts = [_between(a, b, gradings, largest, fineness) for a, b in pairwise(cuts)]
    return np.concatenate([parts[0], *(part[1:] for part in parts[1:])])


def _between(low: float, high: float, gradings: list[Grading], largest: float, fineness: float) -> Array:
    """As many lines as ∫ dx / size requires, with equal integrals between neighbours."""
    ends = [grading for grading in gradings if low <= grading.place <= high]
    away = np.geomspace(1e-6, 1.0, FINE // 2) * (high - low) / 2
    x = np.unique(np.concatenate([[low, high], low + away, high - away]))
    size = np.full_like(x, largest)
    for grading in ends:
        size = np.minimum(size, grading.size + grading.growth * np.abs(x - grading.place))
    count = np.concatenate([[0.0], np.cumsum(np.diff(x) * 0.5 * (1 / size[1:] + 1 / size[:-1]))])
    cells = max(1, round(float(count[-1]) * fineness))
    inner = np.interp(np.arange(1, cells) / cells, count / count[-1], x)
    return np.concatenate([[low], inner, [high]])


def transport_lines(channel: Channel, fineness: float) -> tuple[Array, Array]:
    """Lines for transport: thin cells at the sensor, thinnest at its two ends, where the flux is singular."""
    ends = [Grading(0.0, 4 * MICRO, 0.25), Grading(channel.sensor, 4 * MICRO, 0.25)]
    x = lines(
        -channel.before,
        channel.sensor + channel.after,
        [*ends, Grading(-channel.before, 20 * MICRO, 0.25)],
        150 * MICRO,
        fineness,
    )
    y = lines(0.0, channel.height, [Grading(0.0, 1.5 * MICRO, 0.16)], 60 * MICRO, fineness)
    return x, y


def flow_lines(channel: Channel) -> tuple[Array, Array]:
    """Lines for the flow: thin cells at the walls and the inlet, in whose corners the inflow meets no slip."""
    H = channel.height
    inlet = Grading(-channel.before, H / 100, 0.25)
    x = lines(-channel.before, channel.sensor + channel.after, [inlet], 0.25 * H)
    y = lines(0.0, H, [Grading(0.0, H / 100, 0.2), Grading(H, H / 100, 0.2)], 0.08 * H)
    return x, y
