"""The computing cost of collaboration: CPU time of a site and a round, together and alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cboc.evidence.figures.look import look
from cboc.evidence.job import Job
from cboc.evidence.scenario import Scenario
from cboc.plots import style
from cboc.plots.style import FAINT, INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = ("individual", "cboc")


def price(costs: Mapping[Job, float], scenarios: Sequence[Scenario], methods: Sequence[str] = METHODS) -> Figure:
    """Milliseconds for each site and round, means over seeds, for runs with the default surrogate."""
    means = {(s, m): mean for s in scenarios for m in methods if (mean := _mean(costs, s, m)) is not None}
    rows = [scenario for scenario in scenarios if all((scenario, method) in means for method in methods)]
    fig, [[ax]] = style.figure(1.2 + 0.3 * len(rows))
    for y, scenario in enumerate(rows):
        ax.plot([means[scenario, m] for m in methods], [y] * len(methods), color=FAINT, linewidth=3.0, zorder=1)
        for method in methods:
            ax.plot(means[scenario, method], y, look(method).marker, color=look(method).colour, markersize=7)
    ax.set_xlim(0.0, 1.1 * max(means.values(), default=1.0))
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_yticks(range(len(rows)), [scenario.name for scenario in rows])
    ax.grid(visible=False, axis="y")
    style.axis_labels(ax, "CPU time of a site in a round, ms: fitting, proposing, and what collaboration adds")
    entries = [
        {"color": look(m).colour, "marker": look(m).marker, "linestyle": "none", "label": look(m).name} for m in methods
    ]
    style.legend(fig, entries)
    fig.supxlabel(
        "one thread, on the machine that made the evidence; means over seeds", fontsize=style.SMALL, color=INK
    )
    return fig


def _mean(costs: Mapping[Job, float], scenario: Scenario, method: str) -> float | None:
    found = [
        cpu for job, cpu in costs.items() if (job.scenario, job.surrogate, job.method) == (scenario, "default", method)
    ]
    return 1e3 * float(np.mean(found)) / (scenario.sites * scenario.horizon) if found else None
