"""What a site's experiments have cost and how long they took, and what the rest will."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, fsum
from statistics import fmean, median, median_high

from cboc.site.site import Site
from cboc.site.trial import OPEN, TOLD, UNANSWERED, Status, Trial

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0


@dataclass(frozen=True)
class Spending:
    """Cost and time of the experiments that are over, as far as they are known, and how many may follow."""

    costs: tuple[float, ...]  # in the site's own unit
    seconds: tuple[float, ...]  # from a design to its result; of plates, from the first design to the last result
    left: int  # experiments of the budget that have no result yet
    open: int = 0  # those of them that were asked for
    wells: int = 1  # experiments that are run at a time, in the median
    limit: float | None = None  # to the costs of all
    uncounted: int = 0  # experiments that are over, and whose cost was not told

    @property
    def spent(self) -> float:
        """What was spent, as far as it was told."""
        return fsum(self.costs)

    @property
    def is_all(self) -> bool:
        """Whether there is a limit, and it is reached."""
        return self.limit is not None and self.spent >= self.limit

    @property
    def sentence(self) -> str:
        """What was spent, and what is likely to follow; empty if nothing is known."""
        return " ".join(said for said in (self._so_far, self._rest, self._limit) if said)

    @property
    def _so_far(self) -> str:
        said = []
        if self.costs:
            each = f", {fmean(self.costs):.3g} each" if len(self.costs) > 1 else ""
            said.append(f"{_many(len(self.costs), 'experiment')} cost {self.spent:g}{each}")
        if self.seconds and self.wells > 1:
            took = f"took {_duration(median(self.seconds))} from the first design to the last result in the median"
            said.append(f"{_many(len(self.seconds), 'plate')} {took}")
        elif self.seconds:
            took = f"took {_duration(median(self.seconds))} from design to result in the median"
            is_same = len(self.costs) == len(self.seconds)
            said.append(took if is_same else f"{_many(len(self.seconds), 'experiment')} {took}")
        return f"{' and '.join(said)}." if said else ""

    @property
    def _rest(self) -> str:
        would = [f"cost about {_about(self.left * fmean(self.costs))}"] if self.costs else []
        plates = ceil(self.left / self.wells)
        if self.seconds:
            would.append(f"take about {_duration(plates * median(self.seconds))} if run one after the other")
        which = f", {_many(plates, 'plate')} of up to {self.wells}," if self.wells > 1 else ""
        return f"The {self.left} that are left{which} would {' and '.join(would)}." if would and self.left else ""

    @property
    def _limit(self) -> str:
        if self.limit is None:
            return ""
        if not self.costs:
            return f"No cost was told, so the limit of {self.limit:g} has no effect." if self.uncounted else ""
        rest, mean = self.limit - self.spent, fmean(self.costs)
        said = f"The limit of {self.limit:g} leaves {rest:g}, enough for {self.left} more."
        if self.is_all:
            said = f"The limit of {self.limit:g} is reached."
        elif self.left * mean > rest:
            said = f"The limit of {self.limit:g} leaves {rest:g}, enough for about {int(rest / mean)} more."
        return f"{said}{self._uncounted}"

    @property
    def _uncounted(self) -> str:
        if not self.uncounted:
            return ""
        does = "does" if self.uncounted == 1 else "do"
        return f" {_many(self.uncounted, 'experiment')} whose cost was not told {does} not count."

    @property
    def warning(self) -> str:
        """Say so if what is open is likely to exceed the limit, by the mean cost so far; else empty."""
        if self.limit is None or not self.costs or not self.open:
            return ""
        likely, rest = self.open * fmean(self.costs), max(0.0, self.limit - self.spent)
        if likely <= rest:
            return ""
        return (
            f"{_many(self.open, 'open experiment')} would cost about {_about(likely)}, by the mean so far; {rest:g} of "
            f"the limit of {self.limit:g} {'is' if rest == 1.0 else 'are'} left."
        )


def spending(site: Site) -> Spending:
    """What a site has told about its experiments; known to nobody else."""
    ran = [trial for trial in site.trials if trial.status in TOLD]
    costs = tuple(trial.cost for trial in ran if trial.cost is not None)
    several = [plate for plate in _plates(site.trials) if len(plate) > 1]
    is_plated = 2 * sum(map(len, several)) > sum(trial.status not in UNANSWERED for trial in site.trials)
    groups = several if is_plated else [[trial] for trial in ran]
    found = Spending(
        costs,
        tuple(took for group in groups if (took := _took(group)) is not None),
        0,
        len(site.open_trials),
        median_high(map(len, several)) if is_plated else 1,
        site.policy.most_cost,
        len(ran) - len(costs),
    )
    return _with_rest(found, site)


def _with_rest(found: Spending, site: Site) -> Spending:
    """The spending with how many experiments are left: those that are open, and those that may be asked for."""
    initial = sum(trial.turn is None for trial in site.trials)
    more = max(0, site.initial - initial) + site.study.budget(site.name) - site.turns
    left = len(site.open_trials) + (0 if site.is_finished or found.is_all else more)
    return replace(found, left=left)


def _plates(trials: Sequence[Trial]) -> list[list[Trial]]:
    """The experiments that were run at a time: those of a plate, or initial ones that were under way together."""
    plates: list[list[Trial]] = []
    for trial in trials:
        if trial.status in UNANSWERED or trial.status is Status.STOPPED:
            continue
        if plates and _are_together(plates[-1], trial):
            plates[-1].append(trial)
        else:
            plates.append([trial])
    return plates


def _are_together(plate: Sequence[Trial], trial: Trial) -> bool:
    turn, its = plate[0].turn, trial.turn
    if turn is not None or its is not None:
        return turn is not None and its is not None and turn.number == its.number
    if trial.plate is not None or plate[0].plate is not None:
        return trial.plate is None and plate[0].plate is not None and len(plate) < plate[0].plate.wells
    return trial.began is not None and all(other.ended is None or trial.began < other.ended for other in plate)


def _took(plate: Sequence[Trial]) -> float | None:
    """The time from the first design to the last result; None if it is not known, or a clock was set back."""
    told = [trial for trial in plate if trial.status in TOLD]
    began = [trial.began for trial in told if trial.began is not None]
    ended = [trial.ended for trial in told if trial.ended is not None]
    is_known = bool(told) and len(began) == len(ended) == len(told) and not any(t.status in OPEN for t in plate)
    took = max(ended) - min(began) if is_known else -1.0
    return took if took >= 0.0 else None


def _many(count: int, noun: str) -> str:
    """Write a count with its noun: '1 plate', '2 plates'."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _about(amount: float) -> str:
    """An amount with three digits that count: 1800, 0.012."""
    return f"{float(f'{amount:.3g}'):g}"


def _duration(seconds: float) -> str:
    """A time in the largest unit of which it has two."""
    for unit, name in ((DAY, "days"), (HOUR, "hours"), (MINUTE, "minutes")):
        if seconds >= 2.0 * unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.2g} seconds"
