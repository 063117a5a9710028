"""Candidates for what collaboration could be: from what the sites know in a round to the designs that they run.

`mechanisms.py` runs them. Each is a function of a `Round`, and shares designs only. A `ratio` is the gate's: the share
of its own utility that a site asks for before it runs what is not its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import log
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.consensus.birkhoff import decompose
from cboc.data.dataset import Dataset
from cboc.evidence.case import COIN, OWN, Case
from cboc.search.maximise import maximise_all
from cboc.strategy.guide.density import fit_density
from cboc.strategy.guide.guide import ALONE, NEAR, Guide
from cboc.strategy.guide.guided import Guided
from cboc.strategy.situation import Situation
from cboc.surrogate.gp import GP
from cboc.utility.improvement import LogEI

PLAIN = Guide(least=2.0, doubt=0.1, agreement=-1.0)  # goes by some evidence, whatever the own outcomes say
EVIDENT = replace(PLAIN, doubt=ALONE)  # and mixes only then


@dataclass
class Round:
    """What is there after the sites have fitted their surrogates: round t of a case."""

    case: Case
    t: int
    data: list[Dataset]
    gps: list[GP]
    memory: dict[str, Any]  # of the candidate, from round to round
    shared: Array  # (K, D) best designs as they were in the round before, when proposals were sent; (0, D) in the first

    @property
    def progress(self) -> float:
        return self.t / self.case.horizon

    @cached_property
    def utilities(self) -> list[LogEI]:
        return [LogEI(gp) for gp in self.gps]

    def maximise(self, utilities: list[Any]) -> Array:  # (K, D)
        rngs = [self.case.rng(k, self.t, OWN) for k in range(self.case.sites)]
        return np.array([x for x, _ in maximise_all(utilities, self.case.space, rngs)])

    @cached_property
    def own(self) -> Array:
        """What every site would run by itself."""
        return self.maximise(self.utilities)

    @cached_property
    def bests(self) -> Array:
        """The best design of every site, (K, D)."""
        return np.array([data.best.x for data in self.data])

    def heard(self, k: int) -> Array:
        """What site k knows of the others' best designs before it proposes."""
        return np.delete(self.shared, k, axis=0) if len(self.shared) else self.shared

    def matrix(self, share: float | None = None) -> Array:
        """CBOC-U, or the same with another share of the mean."""
        sites, share = self.case.sites, 1.0 - self.progress if share is None else share
        return (1.0 - share) * np.eye(sites) + share / sites

    def has_improved(self, k: int) -> bool:
        """Was the last experiment of site k better than all before?"""
        return bool(self.data[k].score[-1] > self.data[k].score[:-1].max())

    def follows(self, k: int, x: Array, ratio: float) -> bool:
        """The gate: does x cost site k at most a share 1 - ratio of its utility?"""
        utility = self.utilities[k]
        return ratio == 0.0 or bool(utility(x[None])[0] >= utility(self.own[k][None])[0] + log(ratio))

    def is_new(self, k: int, x: Array) -> bool:
        """Has site k been nowhere near?"""
        return bool(np.abs(self.data[k].X - x).max(axis=1).min() > 1e-2)

    def gated(self, X: Array, ratio: float) -> Array:
        return np.array([x if self.follows(k, x, ratio) else self.own[k] for k, x in enumerate(X)])


Candidate = Callable[[Round], Array]  # (K, D) the designs that the sites run


def designs(case: Case, candidate: Candidate) -> Array:  # (K, T, D)
    """What the sites run, round by round."""
    data, memory, shared = list(case.initial), dict[str, Any](), np.empty((0, case.space.dimension))
    warm: list[tuple[float, ...] | None] = [None] * case.sites
    ran = np.empty((case.sites, case.horizon, case.space.dimension))
    for t in range(case.horizon):
        known = [Situation(own, case.space, warm_start=last) for own, last in zip(data, warm, strict=True)]
        gps = case.strategy.surrogates(known)
        warm = [tuple(gp.theta.tolist()) for gp in gps]
        round = Round(case, t, data, gps, memory, shared)
        ran[:, t], shared = candidate(round), round.bests
        data = [
            own.with_point(x, case.experiment(k, x)) for k, (own, x) in enumerate(zip(data, ran[:, t], strict=True))
        ]
    return ran


def alone(round: Round) -> Array:
    return round.own


def mixed(round: Round, ratio: float) -> Array:
    """CBOC-U behind a gate."""
    return round.gated(round.matrix() @ round.own, ratio)


def rising(round: Round) -> Array:
    """The gate's ratio goes from 0 to 1 with the rounds."""
    return mixed(round, max(round.progress, 1e-6))


def adaptive(round: Round) -> Array:
    """Each site's own ratio is halved where a mix that it ran was better than all before, and doubled where not."""
    ratios = round.memory.setdefault("ratios", np.full(round.case.sites, 0.1))
    for k in round.memory.get("followed", []):
        ratios[k] = np.clip(ratios[k] * (0.5 if round.has_improved(k) else 2.0), 0.01, 1.0)
    X = round.matrix() @ round.own
    followed = [k for k, x in enumerate(X) if round.follows(k, x, ratios[k])]
    round.memory["followed"] = followed
    designs = round.own.copy()
    designs[followed] = X[followed]
    return designs


def symmetric(round: Round, ratio: float) -> Array:
    """Two sites mix only if both would follow: W stays doubly stochastic, for one more bit."""
    X = round.matrix() @ round.own
    willing = np.array([round.follows(k, x, ratio) for k, x in enumerate(X)])
    W = round.matrix() * np.outer(willing, willing)
    return (W + np.diag(1.0 - W.sum(axis=1))) @ round.own


def allocated(round: Round, ratio: float) -> Array:
    """Whole proposals are exchanged, not averaged: a permutation of Birkhoff's decomposition, drawn by its weight."""
    parts = decompose(round.matrix())
    shares = np.array([share for share, _ in parts])
    drawn = round.case.rng(0, round.t, COIN).choice(len(parts), p=shares / shares.sum())
    return round.gated(parts[drawn][1] @ round.own, ratio)


def clustered(round: Round, ratio: float) -> Array:
    """The mean is taken over those proposals only that lie within 0.15 √D, link by link."""
    X = round.own
    near = ((X[:, None] - X) ** 2).sum(axis=2) <= 0.15**2 * X.shape[1]
    joined = np.linalg.matrix_power(near.astype(int), len(X)) > 0
    share = 1.0 - round.progress
    return round.gated((1.0 - share) * X + share * (joined / joined.sum(axis=1, keepdims=True)) @ X, ratio)


def similar(round: Round, ratio: float, width: float = 0.2) -> Array:
    """W by how near the best designs of two sites are, made doubly stochastic by turns (Sinkhorn)."""
    Z = round.bests
    W = np.exp(-0.5 * ((Z[:, None] - Z) ** 2).sum(axis=2) / (width**2 * Z.shape[1]))
    for _ in range(200):
        W /= W.sum(axis=1, keepdims=True)
        W /= W.sum(axis=0, keepdims=True)
    share = 1.0 - round.progress
    return round.gated(((1.0 - share) * np.eye(len(Z)) + share * W) @ round.own, ratio)


def settled(round: Round, ratio: float, latest: int = 5) -> Array:
    """The share of the mean falls as proposals settle: se²/(se² + sh²), by the variance within and between sites."""
    proposals = round.memory.setdefault("proposals", [])
    proposals.append(round.own)
    recent = np.array(proposals[-latest:])  # (m, K, D)
    if len(recent) < 2:
        return mixed(round, ratio)
    within = recent.var(axis=0, ddof=1).sum(axis=1).mean()
    between = max(0.0, recent.mean(axis=0).var(axis=0, ddof=1).sum() - within / len(recent))
    share = min(within / max(within + between, 1e-12), 1.0 - round.progress)
    return round.gated(round.matrix(share) @ round.own, ratio)


def unsure(round: Round, ratio: float) -> Array:
    """A site mixes as far as its surrogate fails to predict its own outcomes, 1 - Q²; two sites as the surer one."""
    shares = np.clip([1.0 - gp.leave_one_out().q2 for gp in round.gps], 0.0, 1.0 - round.progress)
    W = np.minimum.outer(shares, shares) / len(shares)
    return round.gated((W + np.diag(1.0 - W.sum(axis=1))) @ round.own, ratio)


def visits(round: Round, ratio: float) -> Array:
    """Runs the best design of the peer that promises most, until that has failed twice more than it has helped."""
    trust = round.memory.setdefault("trust", np.full(round.case.sites, 2.0))
    went = round.memory.get("went", [])
    for k in went:
        trust[k] = max(trust[k], 2.0) if round.has_improved(k) else trust[k] - 1.0
    X, round.memory["went"] = round.own.copy(), []
    for k, utility in enumerate(round.utilities):
        others = np.delete(round.bests, k, axis=0)  # of this round, which is closed before anything is run
        x = others[int(np.argmax(utility(others)))]
        if trust[k] > 0.0 and round.is_new(k, x) and round.follows(k, x, ratio):
            X[k] = x
            round.memory["went"].append(k)
    return X


def bandit(round: Round, ratio: float) -> Array:
    """Whose best design to run is drawn by how often each one's, and the own proposal, was better than all before."""
    sites = round.case.sites
    better, worse = round.memory.setdefault("tally", np.ones((2, sites, sites)))  # of Beta distributions: (site, whose)
    for k, whose in enumerate(round.memory.get("ran", [])):
        (better if round.has_improved(k) else worse)[k, whose] += 1.0
    X, round.memory["ran"] = round.own.copy(), list(range(sites))
    for k in range(sites):
        whose = int(np.argmax(round.case.rng(k, round.t, COIN).beta(better[k], worse[k])))
        x = round.bests[whose]
        if whose != k and round.is_new(k, x) and round.follows(k, x, ratio):
            X[k], round.memory["ran"][k] = x, whose
    return X


def guided(round: Round, guide: Guide, ratio: float | None = None, apart: float = 0.0) -> Array:
    """The chosen one, and what it is without its parts: drawn to the others, and the mix behind a gate, if any.

    A site whose own best design is apart from the others' may ask for another ratio.
    """
    counsels = [
        guide(utility, round.data[k], round.heard(k), round.progress, round.case.space)
        for k, utility in enumerate(round.utilities)
    ]
    own = round.maximise([counsel.utility for counsel in counsels])
    if ratio is None:
        return own
    ratios = [
        max(ratio, apart) if _is_apart(each.utility, round.bests[k]) else ratio for k, each in enumerate(counsels)
    ]
    asked = [(each.utility, max(ratios[k], each.keeps)) for k, each in enumerate(counsels)]
    return kept(own, round.matrix() @ own, asked)


def _is_apart(utility: Any, best: Array) -> bool:
    return isinstance(utility, Guided) and bool(utility.where.log_ratio(best[None])[0] < NEAR)


def kept(own: Array, X: Array, asked: list[tuple[Any, float]]) -> Array:
    """X, and own where X does not keep the share of its utility that a site asks for."""
    follows = [u(x[None])[0] >= u(mine[None])[0] + log(r) for mine, x, (u, r) in zip(own, X, asked, strict=True)]
    return np.where(np.array(follows)[:, None], X, own)


def tightening(round: Round) -> Array:
    """The chosen one behind a gate whose ratio rises from 0.1 to 1 with the rounds."""
    return guided(round, Guide(), max(0.1, round.progress))


@dataclass(frozen=True)
class Imitation(Case):
    """A case in which the sites' surrogates stand for their experiments."""

    gps: tuple[GP, ...] = ()

    def experiment(self, site: int, x: Array) -> float:
        return float(self.gps[site].predict(x[None])[0][0])


def checked(round: Round, checks: int = 4) -> Array:
    """The chosen one; a site works alone from a check on, until the next, where a search alone, played on its surrogate
    as in `solo.py`, has had the larger mean over the rounds."""
    case, t = round.case, round.t
    lone = round.memory.setdefault("lone", np.zeros(case.sites, dtype=bool))
    if t and checks * t % case.horizon < checks:
        before = [Dataset(own.X, gp.predict(own.X)[0]) for own, gp in zip(case.initial, round.gps, strict=True)]
        gps = tuple(round.gps)
        played = designs(Imitation(case.problems, tuple(before), t, case.seed, case.strategy, gps=gps), alone)
        for k, (start, gp) in enumerate(zip(before, round.gps, strict=True)):
            together, solo = (
                np.maximum.accumulate(np.append(start.score.max(), gp.predict(X)[0]))
                for X in (round.data[k].X[len(start) :], played[k])
            )
            lone[k] = together.mean() < solo.mean()
    return np.where(lone[:, None], round.own, guided(round, Guide(), ratio=0.1))


@dataclass(frozen=True)
class Covariate:
    """LogEI on a surrogate whose mean has a term β φ(x), φ what a guide would add."""

    gp: GP  # of what the term leaves
    guide: Guided
    coefficient: float  # β
    best: float

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
    if where is None or where.evidence < PLAIN.least:
        return utility
    gp, guide = utility.gp, Guided(utility, where, 1.0, PLAIN.most)
    phi = guide.bonus(gp.X)
    terms = gp.inverse_root @ np.column_stack([np.ones(len(phi)), phi])
    normal = terms.T @ terms + np.diag([0.0, spread**-2])
    mean, coefficient = np.linalg.solve(normal, terms.T @ (gp.inverse_root @ gp.y))
    if coefficient <= 0.0:
        return utility
    rest = gp.y - mean - coefficient * phi
    left = replace(gp, mean=float(mean), alpha=gp.inverse_root.T @ (gp.inverse_root @ rest))
    return Covariate(left, guide, float(coefficient), utility.best)


def covariates(round: Round, ratio: float | None = None) -> Array:
    """The peers' best designs in the prior mean, with a coefficient that the site's own data decide."""
    utilities = [_covariate(u, round.bests[k], round.heard(k)) for k, u in enumerate(round.utilities)]
    own = round.maximise(utilities)
    return own if ratio is None else kept(own, round.matrix() @ own, [(utility, ratio) for utility in utilities])


CANDIDATES: dict[str, Candidate] = {
    "alone": alone,
    "mix, gate 0 (the paper)": partial(mixed, ratio=0.0),
    "mix, gate 0.1": partial(mixed, ratio=0.1),
    "mix, gate 0.5": partial(mixed, ratio=0.5),
    "mix, gate rising": rising,
    "mix, gate adaptive": adaptive,
    "mix, symmetric gate 0.1": partial(symmetric, ratio=0.1),
    "exchange, gate 0.1": partial(allocated, ratio=0.1),
    "mix in clusters, gate 0.1": partial(clustered, ratio=0.1),
    "mix by similarity, gate 0.1": partial(similar, ratio=0.1),
    "mix while unsettled, gate 0.1": partial(settled, ratio=0.1),
    "mix while unsure, gate 0.1": partial(unsure, ratio=0.1),
    "visits, gate 0.1": partial(visits, ratio=0.1),
    "visits by a bandit": partial(bandit, ratio=0.0),
    "visits by a bandit, gate 0.1": partial(bandit, ratio=0.1),
    "covariates": covariates,
    "covariates, mix": partial(covariates, ratio=0.1),
    "guide": partial(guided, guide=PLAIN),
    "guide, mix": partial(guided, guide=PLAIN, ratio=0.1),
    "guide, mix, doubt 0.5": partial(guided, guide=replace(PLAIN, doubt=0.5), ratio=0.1),
    "by evidence": partial(guided, guide=EVIDENT, ratio=0.1),
    "by evidence, gate 0.5": partial(guided, guide=EVIDENT, ratio=0.5),
    "by evidence, least 4": partial(guided, guide=replace(EVIDENT, least=4.0), ratio=0.1),
    "by evidence, agreement 0": partial(guided, guide=replace(EVIDENT, agreement=0.0), ratio=0.1),
    "by evidence, agreement 0.3": partial(guided, guide=replace(EVIDENT, agreement=0.3), ratio=0.1),
    "chosen, no mix in doubt": partial(guided, guide=Guide(doubt=ALONE), ratio=0.1),
    "chosen, doubt 0.1": partial(guided, guide=Guide(doubt=0.1), ratio=0.1),
    "chosen, gate rising": tightening,
    "chosen, half where apart": partial(guided, guide=Guide(), ratio=0.1, apart=0.5),
    "chosen, checked by a played search": checked,
    "chosen": partial(guided, guide=Guide(), ratio=0.1),
}
