"""Strategies and networks of the candidates that remember, visit, vote, check or regress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cboc import Ledger, Policy, Site, Study
from cboc.arrays import Array
from cboc.consensus.matrix import mix, whole_weights
from cboc.data.dataset import Dataset
from cboc.exchange.messages import Mix
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.gate import Gate, GatedOpinion
from cboc.strategy.guide.decision import Guide
from cboc.strategy.guide.density import fit_density
from cboc.strategy.guide.drawn_utility import Drawn
from cboc.strategy.opinion import Heard, Opinion, Strategy
from cboc.strategy.situation import Situation
from cboc.strategy.verdict import Note, Verdict
from cboc.surrogate.gp import GP
from cboc.utility.improvement import LogEI
from wrapping import Rng, Voice, Wrapped, follows, has_improved, is_new

NEVER = 2.0  # a doubt, or a gate's ratio, with which no mix is followed
PLAIN = Guide(least=2.0, doubt=0.1, consistency=-1.0)  # goes by some evidence, whatever the own outcomes say


@dataclass(frozen=True)
class Adaptive(Wrapped):
    """Each site's own ratio is halved where a mix that it ran was better than all before, and doubled where not."""

    own: int = 2

    def wrap(self, opinion: Opinion, situation: Situation, rng: Rng) -> Opinion:  # noqa: ARG002
        ratio, has_followed = self.remembered(situation, (0.1, 0.0))
        if has_followed:
            ratio = float(np.clip(ratio * (0.5 if has_improved(situation.dataset) else 2.0), 0.01, 1.0))
        return AdaptiveVoice(GatedOpinion(opinion, Gate(ratio)), situation, ratio)


@dataclass(frozen=True)
class AdaptiveVoice(Voice):
    ratio: float = 0.1

    def judge(self, heard: Heard) -> Verdict:
        verdict = self.opinion.judge(heard)
        return replace(verdict, memory=(self.ratio, float(verdict.follows), *(heard.note.memory or ())))


@dataclass(frozen=True)
class Ballot(Wrapped):
    """Keeps the latest opinions of all sites, for a network that asks them before it mixes."""

    opinions: list[Opinion] = field(default_factory=list, compare=False)

    def batch(self, situations: Sequence[Situation], rngs: Sequence[Rng]) -> list[Opinion]:
        self.opinions[:] = self.strategy.batch(situations, rngs)
        return list(self.opinions)


class Symmetric(Ledger):
    """Two sites mix only if both would follow: W stays doubly stochastic, for one more bit from each."""

    def __init__(self, study: Study, ballot: Ballot) -> None:
        super().__init__(study)
        self.ballot = ballot

    def mix(self, site: str, turn: int) -> Mix:
        answer = super().mix(site, turn)
        snapshot, W = self.snapshot(answer.snapshot), self.matrix(answer.snapshot)
        mixed = [mix(row, snapshot.X) for row in whole_weights(W)]
        votes = zip(self.ballot.opinions, mixed, snapshot.X, strict=True)
        willing = np.array([opinion.judge(_heard(opinion, x, own)).follows for opinion, x, own in votes])
        W = W * np.outer(willing, willing)
        W += np.diag(1.0 - W.sum(axis=1))
        weights = whole_weights(W)[self.study.index(site)]
        row = tuple((weights / weights.sum()).tolist())
        return replace(answer, X=(tuple(mix(weights, snapshot.X).tolist()),), weights=row)


def _heard(opinion: Opinion, x: Array, own: Array) -> Heard:
    return Heard(x, own, opinion.note(own), np.empty((0, len(x))))


@dataclass(frozen=True)
class Unsure(Wrapped):
    """Reports as its reward how far its surrogate fails to predict its own outcomes, 1 - Q²."""

    def wrap(self, opinion: Opinion, situation: Situation, rng: Rng) -> Opinion:  # noqa: ARG002
        return UnsureVoice(opinion, situation)


class UnsureVoice(Voice):
    def note(self, x: Array) -> Note:
        q2 = self.utility.gp.leave_one_out().q2  # type: ignore[union-attr]
        return replace(self.opinion.note(x), reward=float(np.clip(1.0 - q2, 0.0, 1.0)))


@dataclass(frozen=True)
class Visits(Wrapped):
    """Runs the best design of the peer that promises most, until that has failed twice more than it has helped."""

    ratio: float = 0.1
    own: int = 2

    def wrap(self, opinion: Opinion, situation: Situation, rng: Rng) -> Opinion:  # noqa: ARG002
        trust, has_gone = self.remembered(situation, (2.0, 0.0))
        if has_gone:
            trust = max(trust, 2.0) if has_improved(situation.dataset) else trust - 1.0
        return Visit(opinion, situation, self.ratio, trust)


@dataclass(frozen=True)
class Visit(Voice):
    ratio: float = 0.1
    trust: float = 2.0

    def judge(self, heard: Heard) -> Verdict:
        utility, data = self.utility, self.situation.dataset
        assert utility is not None
        x = heard.others[int(np.argmax(utility(heard.others)))]
        goes = self.trust > 0.0 and is_new(data, x) and follows(utility, x, heard.own, self.ratio)
        memory = (self.trust, float(goes), *(heard.note.memory or ()))
        return Verdict(False, reason="it visits", instead=tuple(x.tolist()) if goes else None, memory=memory)


@dataclass(frozen=True)
class Bandit(Wrapped):
    """Whose best design to run is drawn by how often each one's, and the own proposal, was better than all before."""

    ratio: float = 0.1
    sites: int = 2
    own: int = 0

    def wrap(self, opinion: Opinion, situation: Situation, rng: Rng) -> Opinion:
        before = self.remembered(situation, (*np.ones(2 * self.sites), -1.0))
        tally, ran = np.array(before[:-1]).reshape(2, self.sites), int(before[-1])  # better and worse; 0 is the own one
        if ran >= 0:
            tally[0 if has_improved(situation.dataset) else 1, ran] += 1.0
        return Arm(opinion, situation, self.ratio, tally, rng.spawn(1)[0])


@dataclass(frozen=True)
class Arm(Voice):
    ratio: float = 0.1
    tally: Array = field(default_factory=lambda: np.ones((2, 2)))  # of Beta distributions
    rng: Rng = field(default_factory=np.random.default_rng)

    def judge(self, heard: Heard) -> Verdict:
        whose = int(np.argmax(self.rng.beta(*self.tally)))
        x = heard.own if whose == 0 else heard.others[whose - 1]
        utility = self.utility
        assert utility is not None
        goes = whose > 0 and is_new(self.situation.dataset, x) and follows(utility, x, heard.own, self.ratio)
        memory = (*self.tally.ravel().tolist(), float(whose if goes else 0), *(heard.note.memory or ()))
        return Verdict(False, reason="its bandit says so", instead=tuple(x.tolist()) if goes else None, memory=memory)


@dataclass(frozen=True)
class Checked(Wrapped):
    """The chosen one; a site works alone from a check on, until the next, where a search alone, played on its surrogate
    as in `cboc.advice`, has had the larger mean over the rounds."""

    alone: Strategy = field(default_factory=Bayesian)
    initial: int = 0  # outcomes before the first round
    horizon: int = 1
    seed: int = 0
    checks: int = 4
    own: int = 1

    def wrap(self, opinion: Opinion, situation: Situation, rng: Rng) -> Opinion:
        (is_lone,) = self.remembered(situation, (0.0,))
        t = len(situation.dataset) - self.initial
        if t and self.checks * t % self.horizon < self.checks:
            is_lone = float(self._pays_alone(situation, t))
        lone = self.alone(self._inner(situation), rng) if is_lone else opinion
        return Lone(lone, situation, is_lone)

    def _pays_alone(self, situation: Situation, rounds: int) -> bool:
        gp = self.alone.surrogate(self._inner(situation))
        assert gp is not None
        X = situation.dataset.X
        start = Dataset(X[: self.initial], gp.predict(X[: self.initial])[0])
        study = Study(situation.space, ("alone",), rounds, rule="identity")
        policy = Policy(self.alone, initial=0, seed=self.seed)
        site = Site(study, "alone", Ledger(study), direction="maximise", policy=policy, data=start)
        for _ in range(rounds):
            trial = site.ask()
            site.tell(trial, float(gp.predict(trial.x[None])[0][0]))
        together, played = (
            np.maximum.accumulate(np.append(start.score.max(), gp.predict(ran)[0]))
            for ran in (X[self.initial :], site.dataset.X[self.initial :])
        )
        return bool(together.mean() < played.mean())


@dataclass(frozen=True)
class Lone(Voice):
    is_lone: float = 0.0

    def note(self, x: Array) -> Note:
        note = self.opinion.note(x)
        return replace(note, memory=(self.is_lone, *(note.memory or ())))

    def judge(self, heard: Heard) -> Verdict:
        return Verdict(False, reason="alone has paid more") if self.is_lone else self.opinion.judge(heard)


@dataclass(frozen=True)
class Covariate:
    """LogEI on a surrogate whose mean has a term β φ(x), φ what a guide would add."""

    gp: GP  # of what the term leaves
    guide: Drawn
    coefficient: float  # β
    best: float

    is_log = True

    @property
    def anchors(self) -> Array:
        return self.guide.anchors

    def __call__(self, X: Array) -> Array:
        mean, sd = self.gp.moments(X)
        return LogEI.worth(mean + self.coefficient * self.guide.bonus(X), sd, self.best)

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        mean, sd, d_mean, d_sd = self.gp.moments_with_gradient(X)
        bonus, pull = self.guide.batch([self.guide]).bonus(X, np.zeros(len(X), dtype=int))
        value, by_mean, by_sd = LogEI.slopes(mean + self.coefficient * bonus, sd, self.best)
        return value, by_sd[:, None] * d_sd + by_mean[:, None] * (d_mean + self.coefficient * pull)

    log_worth = __call__


def _covariate(utility: LogEI, own: Array, others: Array, spread: float = 0.3) -> Any:
    """β by generalised least squares together with the mean, under a prior of this spread; not used if negative."""
    where = fit_density(own, others) if len(others) else None
    if where is None or where.log_odds < PLAIN.least:
        return utility
    gp, guide = utility.gp, Drawn(utility, where, 1.0, PLAIN.most)
    phi = guide.bonus(gp.X)
    terms = gp.inverse_root @ np.column_stack([np.ones(len(phi)), phi])
    normal = terms.T @ terms + np.diag([0.0, spread**-2])
    mean, coefficient = np.linalg.solve(normal, terms.T @ (gp.inverse_root @ gp.y))
    if coefficient <= 0.0:
        return utility
    rest = gp.y - mean - coefficient * phi
    left = replace(gp, mean=float(mean), alpha=gp.inverse_root.T @ (gp.inverse_root @ rest))
    return Covariate(left, guide, float(coefficient), utility.best)


@dataclass(frozen=True)
class Covariates(Wrapped):
    """The peers' best designs in the prior mean, with a coefficient that the site's own data decide."""

    def wrap(self, opinion: Opinion, situation: Situation, rng: Rng) -> Opinion:  # noqa: ARG002
        utility: Any = opinion.utility
        assert situation.others is not None
        found = _covariate(utility, situation.dataset.best.x, situation.others)
        return opinion if found is utility else opinion.with_utility(found)
