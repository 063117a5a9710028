"""Should a site go on collaborating? An answer from its own data and from the designs that were shared so far.

What collaboration has brought a site would take a run that was not made; what can be told is whether there is something
to share, whether the site's own outcomes confirm it, and what its own surrogate says of a search alone. How far that
can be believed is measured (docs/decisions/collaboration.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

import numpy as np

from cboc.consensus.rules import Identity
from cboc.site import Site
from cboc.solo import Solo, play
from cboc.strategy import Bayesian, Situation
from cboc.surrogate.gp import GP
from cboc.threads import one_thread
from cboc.trial import Status
from cboc.utility.guide import Counsel
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
        gp = Bayesian().surrogate(Situation(site.dataset, site.study.space)) if len(site.dataset) else None
        counsel = _counsel(site, gp)
        is_known = gp is not None and len(site.dataset) >= FEW
        solo = play(site, gp) if gp is not None and is_known and not isinstance(site.study.rule, Identity) else None
    agreement = None if counsel is None or isnan(counsel.agreement) else counsel.agreement
    return Advice(
        site.name,
        _sentence(counsel, agreement),
        None if counsel is None else counsel.evidence,
        agreement,
        *_counts(site),
        solo,
        gp.leave_one_out().q2 if gp is not None and is_known else None,
    )


def _counsel(site: Site, gp: GP | None) -> Counsel | None:
    """What the guide would say now."""
    others = next((trial.others for trial in reversed(site.trials) if trial.others), None)
    if others is None or gp is None:
        return None
    progress = site.rounds / site.study.budget(site.name)
    return site.guide(LogEI(gp), site.dataset, np.array(others), progress, site.study.space)


def _sentence(counsel: Counsel | None, agreement: float | None) -> str:
    if counsel is None:
        return (
            "Nothing to judge by yet: no best design of another site is known. Take part; until there is evidence you "
            "run a mix only if it keeps much of what your own optimum promises."
        )
    if counsel.is_in_doubt:
        return (
            "In doubt: the sites' best designs do not lie together. Go on; until they do you run a mix only if it "
            "keeps much of what your own optimum promises."
        )
    if not counsel.is_alone:
        confirmed = "your own outcomes confirm it" if agreement is not None else "you have hardly been there"
        return f"Go on together: the sites' best designs lie together, and {confirmed}."
    if agreement is not None and agreement < 0.0:
        return (
            "You work alone now: your own outcomes contradict the others' best designs. Staying costs you no "
            "experiment."
        )
    return (
        "You work alone now: the sites' best designs do not lie together. Staying costs you no experiment, and sharing "
        "begins when they do."
    )


def _counts(site: Site) -> tuple[Count, Count]:
    counts = {True: Count(0, 0), False: Count(0, 0)}
    sign = 1.0 if site.direction == "maximise" else -1.0
    best = float(site.data.score.max()) if len(site.data) else -np.inf
    for trial in site.trials:
        if trial.status != Status.COMPLETE or trial.y is None:
            continue
        if trial.round is not None:
            before = counts[trial.is_shared]
            counts[trial.is_shared] = Count(before.trials + 1, before.better + int(sign * trial.y > best))
        best = max(best, sign * trial.y)
    return counts[True], counts[False]
