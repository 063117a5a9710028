"""Should a site go on collaborating? An answer from its own data and from the designs that were shared so far.

What collaboration has brought a site would take a run that was not made; what can be told is whether there is something
to share, whether the site's own outcomes confirm it, and what its own surrogate says of a search alone. How far that
can be believed is measured (docs/decisions/collaboration.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

import numpy as np

from cboc.advice.counterfactual import Solo, play
from cboc.arrays import one_thread
from cboc.consensus.rules import Identity
from cboc.site.site import Site
from cboc.site.trial import Status
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.guide.guide import Counsel
from cboc.strategy.situation import Situation
from cboc.surrogate.gp import GP
from cboc.utility.improvement import LogEI

FEW = 5  # outcomes, from which a surrogate is judged


@dataclass(frozen=True)
class Count:
    """Experiments of one kind, and how many of them were better than all before."""

    trials: int
    better: int


@dataclass(frozen=True)
class Advice:
    """What is known, and one sentence on what to make of it."""

    site: str
    sentence: str
    evidence: float | None  # that the best designs lie together, in nats; None: nobody's is known
    agreement: float | None  # of the own outcomes with that, -1 to 1; None: it has hardly been there
    shared: Count  # mixed with the others', or drawn to where they are
    own: Count  # the rest, without the initial ones
    solo: Solo | None  # what it would have alone by now, as far as its own surrogate can tell
    fit: float | None  # Q² of the own surrogate: the share of the outcomes' variance that it predicts, one by one


def advise(site: Site) -> Advice:
    """For a site as it is now. Nothing of it leaves the site."""
    with one_thread():
        gp = _surrogate(site)
        counsel = _counsel(site, gp)
        fit = gp.leave_one_out().q2 if gp is not None and len(site.dataset) >= FEW else None
        solo = play(site, gp) if gp is not None and fit is not None and fit > 0.0 and not _is_alone(site) else None
    agreement = None if counsel is None or isnan(counsel.agreement) else counsel.agreement
    evidence = None if counsel is None else counsel.evidence
    return Advice(site.name, _sentence(site, counsel), evidence, agreement, *_counts(site), solo, fit)


def _surrogate(site: Site) -> GP | None:
    """The site's own where it has one of ours, the default where its strategy is another; None without outcomes."""
    strategy = site.strategy if isinstance(site.strategy, Bayesian) else Bayesian()
    return strategy.surrogate(Situation(site.dataset, site.study.space)) if len(site.dataset) else None


def _is_alone(site: Site) -> bool:
    """In a study in which nobody hears of anybody."""
    return len(site.study.sites) == 1 or (isinstance(site.study.rule, Identity) and not site.study.shares_best)


def _counsel(site: Site, gp: GP | None) -> Counsel | None:
    """What the guide would say now; None where it is not asked."""
    if gp is None or not site.study.shares_best:
        return None
    others = next((trial.others for trial in reversed(site.trials) if trial.others), ())
    progress = site.rounds / site.study.budget(site.name)
    known = np.array(others).reshape(-1, site.study.space.dimension)
    return site.guide(LogEI(gp), site.dataset, known, progress, site.study.space)


def _sentence(site: Site, counsel: Counsel | None) -> str:
    if _is_alone(site):
        return "Everybody works alone in this study."
    if not site.study.shares_best:
        return "Your gate alone decides: this study shares no best designs, so that there is nothing else to judge by."
    if counsel is None:
        return "Nothing to judge by yet: you have no outcome."
    because = f", for {counsel.reason}" if counsel.reason else ""
    if site.is_finished:
        state = "alone" if counsel.is_alone else "in doubt" if counsel.is_in_doubt else "together"
        return f"Your rounds are over. One more would be {state}{because or f', for {_why(counsel)}'}."
    if counsel.is_alone:
        return f"You work alone now{because}. Staying costs you no experiment, and you may be together again later."
    if counsel.is_in_doubt:
        share = f"{100 * counsel.keeps:.0f} %"
        return f"In doubt{because}. Go on: you run a mix only if it keeps {share} of what your own proposal promises."
    if counsel.reason:
        return f"You mix as far as your gate lets, though {counsel.reason}."
    return f"Go on together: {_why(counsel)}."


def _why(counsel: Counsel) -> str:
    """Why together."""
    if counsel.evidence is None:
        return "your guide says so"
    few = "too few of your designs are there to tell more"
    tried = few if isnan(counsel.agreement) else "your own outcomes do not contradict that"
    return f"the sites' best designs lie together, and {tried}"


def _counts(site: Site) -> tuple[Count, Count]:
    counts = {True: Count(0, 0), False: Count(0, 0)}
    sign = site.direction.sign
    best = float(site.data.score.max()) if len(site.data) else -np.inf
    for trial in site.trials:
        if trial.status != Status.COMPLETE or trial.y is None:
            continue
        if trial.round is not None:
            before = counts[trial.is_shared]
            counts[trial.is_shared] = Count(before.trials + 1, before.better + int(sign * trial.y > best))
        best = max(best, sign * trial.y)
    return counts[True], counts[False]
