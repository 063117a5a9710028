"""θ_max of the paper's sensor on the three planes through its optimum, computed on a few points and interpolated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cboc.arrays import Array
from cboc.evidence.biosensor.labs import BEST, SPACE, Worth
from cboc.evidence.biosensor.response import Numerics
from cboc.evidence.figures.look import tint
from cboc.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAIRS = ((0, 2), (0, 1), (1, 2))  # inflow and pulse, inflow and receptors, receptors and pulse
COARSE = Numerics(fineness=0.5, steps=4)  # accurate to 0.1 %
LINES = np.linspace(0.0, 1.0, 6) ** 2  # dense at slow inflow, where θ_max changes most
FINE = np.linspace(0.0, 1.0, 61)
LEVELS = 9
WATER = "#0072B2"  # the worst; the best is white
THOUSAND = 1e3


@dataclass(frozen=True, eq=False)
class Landscape:
    """θ_max for each pair of parameters on `lines` of the unit cube, the third one at its optimum."""

    lines: Array  # (n,)
    planes: dict[tuple[int, int], Array]  # (n, n) each, rows along the first of the pair

    def draw(self, ax: Axes, pair: tuple[int, int], x: Array, y: Array) -> None:
        """Draw contours, labelled in thousandths; x and y are FINE in the units of the axes."""
        from matplotlib.ticker import MaxNLocator
        from scipy.interpolate import RectBivariateSpline

        values = THOUSAND * RectBivariateSpline(self.lines, self.lines, self.planes[pair])(FINE, FINE).T
        levels = MaxNLocator(LEVELS).tick_values(values.min(), values.max())
        shades = [tint(WATER, share) for share in np.linspace(0.30, 0.0, len(levels) - 1)]
        ax.contourf(x, y, values, levels=levels, colors=shades)
        lines = ax.contour(x, y, values, levels=levels[1:-1:2], colors=style.ALONE, linewidths=0.5)
        ax.clabel(lines, fmt="%g", fontsize=style.SMALL - 1.5, colors=style.ALONE)


def landscape(
    numerics: Numerics = COARSE, lines: Array = LINES, on_step: Callable[[float], None] | None = None
) -> Landscape:
    """Compute the landscape by about ninety coarse simulations of 0.1 s each; `on_step` is told the share done."""
    worth, planes, done = Worth(numerics=numerics), dict[tuple[int, int], Array](), 0
    for pair in PAIRS:
        values = np.empty((len(lines), len(lines)))
        for place in np.ndindex(values.shape):
            x = SPACE.to_unit(dict(zip(SPACE.names, BEST, strict=True)))
            x[list(pair)] = lines[list(place)]
            values[place] = worth(SPACE.array_from_unit(x[None]))[0]
            done += 1
            if on_step is not None:
                on_step(done / (len(PAIRS) * values.size))
        planes[pair] = values
    return Landscape(lines, planes)
