"""Should a site go on collaborating? An answer from its own data and from the designs that were shared so far.

Only a second run, without the others, could show what collaboration has brought a site. The advice says whether there
is something to share, whether the site's own outcomes confirm it, and what its own surrogate predicts for a search
alone. How reliable that is has been measured (docs/decisions/collaboration.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cboc.advice.contradiction import contradicted
from cboc.advice.counterfactual import Solo, play
from cboc.advice.spending import Spending, spending
from cboc.arrays import one_thread
from cboc.insight.learned import surrogate
from cboc.site.origin import plain
from cboc.site.site import Site
from cboc.site.trial import results_of
from cboc.site.turn import Decision
from cboc.strategy.verdict import Note, Stance

FEW = 5  # outcomes needed to judge a surrogate
NO_ESTIMATE = (
    "What you would have found alone is estimated for one objective without limits or a target; yours has more."
)


@dataclass(frozen=True)
class Count:
    """The number of experiments of one kind, and how many of them were better than all before."""

    trials: int
    better: int


@dataclass(frozen=True)
class Advice:
    """One sentence of advice to a site, and the numbers behind it."""

    site: str
    sentence: str
    log_odds: float | None  # that the best designs lie together, in nats; None: no best design is known
    consistency: float | None  # of the site's outcomes with that, -1 to 1; None: too few designs near them
    shared: Count  # designs mixed with the others', or drawn to them
    own: Count  # the other designs, without the initial ones
    solo: Solo | None  # what the site would have alone by now, by its own surrogate
    spending: Spending  # what the experiments have cost and taken
    fit: float | None  # Q² of the site's surrogate: the share of the outcomes' variance that it predicts, one by one
    contradicted: tuple[str, ...] = ()  # neighbours whose best designs are poor by the site's own outcomes
    has_estimate: bool = True  # of what the site would have found alone; there is none for several objectives or limits

    @property
    def warning(self) -> str:
        """Whose best designs the site's own outcomes contradict, in words; empty if nobody's."""
        if not self.contradicted:
            return ""
        names = ", ".join(f"'{name}'" for name in self.contradicted)
        return (
            f"What is best for {names} is poor here: by your own outcomes surely worse than half of what you have run. "
            "Your problems differ there, or what was sent is not true."
        )

    @property
    def comparison(self) -> str:
        """How the site stands compared with working alone, in words; empty if that is not known."""
        if self.solo is not None:
            return self.solo.sentence
        if self.own.trials and not self.shared.trials:
            return "So far nothing of the others was run, so you would have found the same alone."
        return "" if self.has_estimate else NO_ESTIMATE

    @property
    def numbers(self) -> tuple[tuple[str, str], ...]:
        """What each number is, and its value; for those who know the method."""
        odds = "not known yet" if self.log_odds is None else f"{self.log_odds:+.1f} nats"
        known = "not tried yet" if self.consistency is None else f"rank correlation {self.consistency:+.2f}"
        said = [("log odds that best designs lie together", odds), ("your outcomes are consistent with that", known)]
        said += [] if self.fit is None else [("how well your outcomes can be predicted", f"Q² = {self.fit:.2f}")]
        return tuple(said)


def advise(site: Site) -> Advice:
    """Advice for a site as it is now. None of it leaves the site."""
    counts = _counts(site)
    with one_thread():
        is_known = len(site.dataset) > 0 and site.goal.is_plain
        gp, note = surrogate(site) if is_known else None, _note(site)
        fit = gp.leave_one_out().q2 if gp is not None and len(site.dataset) >= FEW else None
        is_sound = gp is not None and fit is not None and fit > 0.0
        solo = play(site, gp) if is_sound and gp is not None and counts[0].trials > 0 else None
        against = contradicted(site, gp) if is_sound and gp is not None else ()
    spent = spending(site)
    said = _sentence(site, note, spent)
    has_estimate = site.goal.is_plain
    return Advice(site.name, said, note.log_odds, note.consistency, *counts, solo, spent, fit, against, has_estimate)


def _note(site: Site) -> Note:
    """What the site's strategy thinks now."""
    if not len(site.dataset) or not site.study.shares_best:
        return Note()
    number = len(site.trials)
    return site.policy.strategy(site.mind.situation(), site.mind.rng(number)).note(site.best.x)


def _sentence(site: Site, note: Note, spent: Spending) -> str:
    if site.study.is_lonely:
        return "Everybody works alone in this study."
    if not site.study.shares_best:
        return "Your own judgement decides: this study shares no best designs, so there is nothing else to go by."
    if not len(site.dataset):
        return "Nothing to judge by yet: you have no outcome."
    if note.stance is None:
        return "Your strategy has no guide, so the others' best designs change nothing for you."
    reason = plain(note.reason)
    because = f", because {reason}" if reason else ""
    if site.is_finished or spent.is_all:
        more = f", though {reason}" if note.stance is Stance.TOGETHER and reason else because
        over = "Your budget is spent" if spent.is_all else "Your experiments are over"
        return f"{over}. One more would be {note.stance}{more or f', because {_why(note)}'}."
    if note.stance is Stance.ALONE:
        return f"You work alone now{because}. Staying costs you no experiment, and you may be together again later."
    if note.stance is Stance.DOUBT:
        share = f"{100 * note.keeps:.0f} %"
        careful = f"you run a shared design only if it promises at least {share} of what your own does"
        return f"Go on with care: {reason}, so {careful}." if reason else f"Go on with care: {careful}."
    if reason:
        return f"Go on: you run shared designs that promise enough, though {reason}."
    return f"Go on together: {_why(note)}."


def _why(note: Note) -> str:
    """Why the site should collaborate."""
    if note.log_odds is None:
        return "your guide says so"
    few = "you have too few designs there to tell more"
    tried = few if note.consistency is None else "your own outcomes do not contradict that"
    return f"the sites' best designs lie together, and {tried}"


def _counts(site: Site) -> tuple[Count, Count]:
    counts = {True: Count(0, 0), False: Count(0, 0)}
    told, before = [trial for trial in site.trials if trial.outcomes], site.log.data
    results = before + results_of(site.goal, before.dimension, told)
    first = len(before) + sum(trial.turn is None for trial in told)
    reached = np.nan_to_num(site.goal.sign * results.progress(first), nan=-np.inf)
    is_better = reached > np.append(-np.inf, reached)[:-1]
    for trial, better in zip(told, is_better[len(before) :].tolist(), strict=True):
        if trial.decision is not Decision.INITIAL:
            so_far = counts[trial.is_shared]
            counts[trial.is_shared] = Count(so_far.trials + 1, so_far.better + int(better))
    return counts[True], counts[False]
