"""What a site's experiments have cost and how long they took, and what the rest will."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from cboc.site.site import Site
from cboc.site.trial import TOLD

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0


@dataclass(frozen=True)
class Spending:
    """Cost and time of the experiments that are over, as far as they are known, and how many may follow."""

    costs: tuple[float, ...]  # in the site's own unit
    seconds: tuple[float, ...]  # from the design to its result
    left: int  # experiments of the budget that have no result yet

    @property
    def sentence(self) -> str:
        """What was spent, and what is likely to follow; empty if nothing is known."""
        spent, rest = [], []
        if self.costs:
            spent.append(f"{_many(self.costs)} cost {sum(self.costs):g}, {fmean(self.costs):.3g} each")
            rest.append(f"cost about {self.left * fmean(self.costs):.3g}")
        if self.seconds:
            took = f"took {_duration(median(self.seconds))} from design to result in the median"
            spent.append(took if self.costs else f"{_many(self.seconds)} {took}")
            rest.append(f"take about {_duration(self.left * median(self.seconds))} if run one after the other")
        said = f"{' and '.join(spent)}." if spent else ""
        return f"{said} The {self.left} that are left would {' and '.join(rest)}." if said and self.left else said


def spending(site: Site) -> Spending:
    """What a site has told about its experiments; known to nobody else."""
    ran = [trial for trial in site.trials if trial.status in TOLD]
    times = [(trial.began, trial.ended) for trial in ran]
    initial = sum(trial.turn is None for trial in site.trials)
    left = 0 if site.is_finished else max(0, site.initial - initial) + site.study.budget(site.name) - site.turns
    return Spending(
        tuple(trial.cost for trial in ran if trial.cost is not None),
        tuple(ended - began for began, ended in times if began is not None and ended is not None and ended >= began),
        left + len(site.open_trials),
    )


def _many(values: Sequence[float]) -> str:
    return "1 experiment" if len(values) == 1 else f"{len(values)} experiments"


def _duration(seconds: float) -> str:
    """A time in the largest unit of which it has two."""
    for unit, name in ((DAY, "days"), (HOUR, "hours"), (MINUTE, "minutes")):
        if seconds >= 2.0 * unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.2g} seconds"
