"""What a site would have found alone, according to its own surrogate.

The true answer needs a run that was not made. Instead, a surrogate of everything that the site has measured replaces
its experiment, and the site searches that alone: from its own initial designs, with its own seed, for as many turns and
with the same plates. `research/selfcheck.py` compares this with the truth where it is known: for most sites the mean
gain over the experiments has the right sign, for fewer the gain at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import inf

import numpy as np

from cboc.arrays import Array
from cboc.data.dataset import Direction
from cboc.exchange.ledger import Ledger
from cboc.exchange.objective import Objective
from cboc.exchange.study import Study
from cboc.site.plate import Plate
from cboc.site.site import Site
from cboc.site.trial import TOLD, Status, Trial
from cboc.site.turn import Decision
from cboc.surrogate.gp import GP


@dataclass(frozen=True)
class Solo:
    """The best after the initial designs and after each experiment, (n + 1,): predicted by the surrogate, or run."""

    direction: Direction
    together: Array  # with the others
    alone: Array
    is_played: bool = True  # False: both were run
    objective: Objective = field(default_factory=Objective)

    @property
    def gains(self) -> Array:
        """The lead over working alone, in units of the outcomes, from where both had a best."""
        is_known = np.isfinite(self.together[1:]) & np.isfinite(self.alone[1:])
        return self.direction.sign * (self.together[1:][is_known] - self.alone[1:][is_known])

    @property
    def gain(self) -> float:
        """The mean of the gains over the experiments."""
        return float(self.gains.mean())

    @property
    def sentence(self) -> str:
        """The comparison in words."""
        mean = f"{abs(self.gain):.2g}"
        last = [self.objective.of(f"{course[-1]:.4g}") for course in (self.together, self.alone)]
        on_average = _compared(self.gain if float(mean) else 0.0)
        at_the_end = _compared(float(self.gains[-1]) if last[0] != last[1] else 0.0)
        average = f"{on_average} on average over the experiments"
        source = "By your own model, compared with working alone" if self.is_played else "Compared with the run alone"
        return (
            f"{source}: {average}{f' ({self.objective.of(mean)})' if float(mean) else ''}, "
            f"{at_the_end} at the end ({last[0]}, alone {last[1]}; "
            f"{'higher' if self.direction is Direction.MAXIMISE else 'lower'} is better)."
        )


def _compared(gain: float) -> str:
    """A gain in a word."""
    return "as good" if gain == 0.0 else "better" if gain > 0.0 else "worse"


def play(site: Site, gp: GP) -> Solo | None:
    """Play a site's search alone on its surrogate; None if no turn has had a result."""
    told = [trial for trial in site.trials if trial.decision is not Decision.INITIAL and trial.status in TOLD]
    if not told:
        return None
    sign = site.direction.sign
    alone = _begin(site, len(told))
    initial = alone.dataset.X
    for _, wells in groupby(told, key=lambda trial: None if trial.turn is None else trial.turn.number):
        for trial in _plate(alone, list(wells)):
            alone.tell(trial, sign * float(gp.predict(trial.x[None])[0][0]))
    ran = [np.array(trial.executed) if trial.status is Status.COMPLETE else None for trial in told]
    courses = [_course(gp, initial, designs) for designs in (ran, list(alone.dataset.X[len(initial) :]))]
    together, lone = (sign * course for course in courses)
    solo = Solo(site.direction, together, lone, objective=site.study.objective)
    return solo if len(solo.gains) else None


def _plate(alone: Site, wells: Sequence[Trial]) -> list[Trial]:
    """As many new trials as a plate had wells with a result, sharing and repeating what these did."""
    turn, many = wells[0].turn, len(wells)
    plate = Plate() if turn is None else turn.plate
    return alone.ask(many, replicates=plate.copies if many % plate.copies == 0 else 1, same=plate.same)


def _begin(site: Site, horizon: int) -> Site:
    """The site before its first turn, in a study with no other site."""
    own = [trial for trial in site.trials if trial.decision is Decision.INITIAL]
    initial = [replace(trial, number=number, plate=None) for number, trial in enumerate(own)]
    study = Study(site.space, (site.name,), horizon, rule="identity", objectives=site.study.objectives)
    return Site(
        study,
        site.name,
        Ledger(study),
        direction=site.direction,
        policy=replace(site.policy, initial=len(site.data) + len(initial), stop_below=0.0),
        data=site.data,
        trials=initial,
    )


def _course(gp: GP, initial: Array, designs: Sequence[Array | None]) -> Array:  # (n + 1,)
    """The best score so far; a failed experiment (None) changes nothing."""
    start = gp.predict(initial)[0].max() if len(initial) else -inf
    scores = [-inf if x is None else float(gp.predict(x[None])[0][0]) for x in designs]
    return np.maximum.accumulate(np.array([start, *scores]))
