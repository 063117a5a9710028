"""Candidates for what collaboration could be, each said with the library's own seams: a rule, a strategy, a network.

`mechanisms.py` runs them. All of them share designs only. A `ratio` is the gate's: the share of its own utility that a
site asks for before it runs what is not its own.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.consensus.birkhoff import decompose
from cboc.consensus.matrix import is_doubly_stochastic
from cboc.consensus.rules import Snapshot
from cboc.evidence.case import Case
from cboc.strategy.gate import Gate, Gated
from cboc.strategy.guide.decision import NEAR, Guide
from cboc.strategy.guide.drawn_utility import Drawn
from cboc.strategy.guide.guided import Guided
from cboc.strategy.opinion import Opinion
from cboc.strategy.situation import Situation
from strategies import NEVER, PLAIN, Adaptive, Ballot, Bandit, Checked, Covariates, Symmetric, Unsure, Visits
from wrapping import Candidate, GatedBy, Setup, average, designs

__all__ = ["CANDIDATES", "designs"]

EVIDENT = replace(PLAIN, doubt=NEVER)  # mixes only where there is evidence


def alone(case: Case) -> Setup:
    return Setup(case.strategy, "identity")


def mixed(case: Case, ratio: float) -> Setup:
    """CBOC-U behind a gate."""
    return Setup(Gated(case.strategy, Gate(ratio)))


def rising(case: Case) -> Setup:
    """The gate's ratio goes from 0 to 1 with the rounds."""
    return Setup(GatedBy(case.strategy, gate=lambda situation, _: Gate(max(situation.progress, 1e-6))))


def symmetric(case: Case, ratio: float) -> Setup:
    ballot = Ballot(Gated(case.strategy, Gate(ratio)))
    return Setup(ballot, network=lambda study: Symmetric(study, ballot))


def allocated(case: Case, ratio: float) -> Setup:
    """Whole proposals are exchanged, not averaged: a permutation of Birkhoff's decomposition, drawn by its weight."""

    def rule(snapshot: Snapshot) -> Array:
        parts = decompose(average(snapshot, 1.0))
        shares = np.array([share for share, _ in parts])
        drawn = np.random.default_rng([case.seed, len(snapshot.rewards)]).choice(len(parts), p=shares / shares.sum())
        return parts[drawn][1]

    return Setup(Gated(case.strategy, Gate(ratio)), rule)


def clustered(case: Case, ratio: float) -> Setup:
    """The mean is taken over those proposals only that lie within 0.15 √D, link by link."""

    def rule(snapshot: Snapshot) -> Array:
        X, share = snapshot.X, 1.0 - snapshot.progress[0]
        near = ((X[:, None] - X) ** 2).sum(axis=2) <= 0.15**2 * X.shape[1]
        joined = np.linalg.matrix_power(near.astype(int), len(X)) > 0
        return (1.0 - share) * np.eye(len(X)) + share * joined / joined.sum(axis=1, keepdims=True)

    return Setup(Gated(case.strategy, Gate(ratio)), rule)


def similar(case: Case, ratio: float, width: float = 0.2) -> Setup:
    """W by how near the best designs of two sites are, made doubly stochastic by turns (Sinkhorn)."""

    def rule(snapshot: Snapshot) -> Array:
        Z, share = snapshot.bests, 1.0 - snapshot.progress[0]
        W = np.exp(-0.5 * ((Z[:, None] - Z) ** 2).sum(axis=2) / (width**2 * Z.shape[1]))
        while not is_doubly_stochastic(W, 1e-10):
            W /= W.sum(axis=1, keepdims=True)
            W /= W.sum(axis=0, keepdims=True)
        return (1.0 - share) * np.eye(len(Z)) + share * W

    return Setup(Gated(case.strategy, Gate(ratio)), rule, shares_best=True)


def settled(case: Case, ratio: float, latest: int = 5) -> Setup:
    """The share of the mean falls as proposals settle: se²/(se² + sh²), by the variance within and between sites."""

    def rule(snapshot: Snapshot) -> Array:
        t = len(snapshot.rewards) - 1
        recent = np.array([snapshot.recall(s) for s in range(max(0, t + 1 - latest), t + 1)])  # (m, K, D)
        if len(recent) < 2:
            return average(snapshot, 1.0)
        within = recent.var(axis=0, ddof=1).sum(axis=1).mean()
        between = max(0.0, recent.mean(axis=0).var(axis=0, ddof=1).sum() - within / len(recent))
        return average(snapshot, within / max(within + between, 1e-12))

    return Setup(Gated(case.strategy, Gate(ratio)), rule)


def unsure(case: Case, ratio: float) -> Setup:
    """A site mixes as far as it is unsure; two sites as the surer one."""

    def rule(snapshot: Snapshot) -> Array:
        return average(snapshot, snapshot.rewards[-1])

    rule.needs_rewards = True  # type: ignore[attr-defined]
    return Setup(Gated(Unsure(case.strategy), Gate(ratio)), rule)


def visits(case: Case, ratio: float) -> Setup:
    return Setup(Visits(case.strategy, ratio=ratio), shares_best=True)


def bandit(case: Case, ratio: float) -> Setup:
    strategy = Bandit(case.strategy, ratio=ratio, sites=case.sites, own=2 * case.sites + 1)
    return Setup(strategy, shares_best=True)


def guided(case: Case, guide: Guide, ratio: float | None = None, apart: float = 0.0) -> Setup:
    """The chosen one, and what it is without its parts: drawn to the others, and the mix behind a gate, if any.

    A site whose own best design is apart from the others' may ask for another ratio.
    """
    drawn = Guided(case.strategy, guide)
    if ratio is None:
        return Setup(drawn, "identity", shares_best=True)

    def gate(situation: Situation, opinion: Opinion) -> Gate:
        return Gate(max(ratio, apart) if _is_apart(opinion.utility, situation) else ratio)

    return Setup(GatedBy(drawn, gate=gate) if apart else Gated(drawn, Gate(ratio)), shares_best=True)


def _is_apart(utility: Any, situation: Situation) -> bool:
    best = situation.dataset.best.x
    return isinstance(utility, Drawn) and bool(utility.where.log_ratio(best[None])[0] < NEAR)


def tightening(case: Case) -> Setup:
    """The chosen one behind a gate whose ratio rises from 0.1 to 1 with the rounds."""
    strategy = GatedBy(
        Guided(case.strategy, Guide()), gate=lambda situation, _: Gate(min(1.0, max(0.1, situation.progress)))
    )
    return Setup(strategy, shares_best=True)


def checked(case: Case) -> Setup:
    chosen = Gated(Guided(case.strategy, Guide()), Gate(0.1))
    strategy = Checked(chosen, alone=case.strategy, initial=len(case.initial[0]), horizon=case.horizon, seed=case.seed)
    return Setup(strategy, shares_best=True)


def covariates(case: Case, ratio: float | None = None) -> Setup:
    strategy = Covariates(case.strategy)
    if ratio is None:
        return Setup(strategy, "identity", shares_best=True)
    return Setup(Gated(strategy, Gate(ratio)), shares_best=True)


CANDIDATES: dict[str, Candidate] = {
    "alone": alone,
    "mix, gate 0 (the paper)": partial(mixed, ratio=0.0),
    "mix, gate 0.1": partial(mixed, ratio=0.1),
    "mix, gate 0.5": partial(mixed, ratio=0.5),
    "mix, gate rising": rising,
    "mix, gate adaptive": lambda case: Setup(Adaptive(case.strategy)),
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
    "by evidence, agreement 0": partial(guided, guide=replace(EVIDENT, consistency=0.0), ratio=0.1),
    "by evidence, agreement 0.3": partial(guided, guide=replace(EVIDENT, consistency=0.3), ratio=0.1),
    "chosen, no mix in doubt": partial(guided, guide=Guide(doubt=NEVER), ratio=0.1),
    "chosen, doubt 0.1": partial(guided, guide=Guide(doubt=0.1), ratio=0.1),
    "chosen, gate rising": tightening,
    "chosen, half where apart": partial(guided, guide=Guide(), ratio=0.1, apart=0.5),
    "chosen, checked by a played search": checked,
    "chosen": partial(guided, guide=Guide(), ratio=0.1),
}
