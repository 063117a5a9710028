"""Rules: functions from a snapshot of the study to the consensus matrix W(t)  (Sec. 4.3).

A rule has no state, so a restart replays it and every peer computes the same matrix.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from cboc.arrays import Array, Mask
from cboc.consensus.graph import complete
from cboc.consensus.matrix import checked
from cboc.errors import CbocError, did_you_mean


@dataclass(frozen=True)
class Snapshot:
    """What every site knows when proposals are mixed: who is present, what each reported, and how far each is.

    `rewards[s, k]` is S_k in round s, NaN where site k was absent; the last row belongs to the proposals in `X`.
    """

    rewards: Array  # S, (t+1, K)
    turns: Array  # t_k, (K,): turns that each site has taken
    budgets: Array  # T_k, (K,)
    X: Array = field(default_factory=lambda: np.empty((0, 0)), repr=False)  # (K, D), NaN where a site is absent
    bests: Array = field(default_factory=lambda: np.empty((0, 0)), repr=False)  # like X: best designs, if shared
    recall: Callable[[int], Array] = field(default=lambda _: np.empty((0, 0)), repr=False)  # X of an earlier round
    links: Mask = field(default_factory=lambda: np.empty((0, 0), bool), repr=False)  # a, (K, K); default: complete

    def __post_init__(self) -> None:
        if self.links.shape != (self.sites, self.sites):
            object.__setattr__(self, "links", complete(self.sites))

    @property
    def sites(self) -> int:
        """The number of sites, K."""
        return int(self.rewards.shape[1])

    @property
    def present(self) -> Mask:
        """Mask (K,) of the sites whose proposals are mixed."""
        return ~np.isnan(self.rewards[-1])

    @property
    def degrees(self) -> Array:
        """The number of neighbours that each site has in the study's graph, d_k (K,)."""
        return self.links.sum(axis=1)

    @property
    def progress(self) -> Array:
        """The share of its budget that each site has spent, t_k / T_k (K,)."""
        return np.minimum(self.turns / self.budgets, 1.0)


class Rule(ABC):
    """A function from a snapshot to W, with what a study must know about it. `Function` wraps a plain function."""

    needs_rewards: ClassVar[bool] = False  # do sites send the scalar S_k beside the design?
    mixes: ClassVar[bool] = True  # False: every site works alone
    is_symmetric: ClassVar[bool] = True  # False: what two sites share may change when another one is absent

    @abstractmethod
    def __call__(self, snapshot: Snapshot) -> Array:
        """The doubly stochastic matrix W, (K, K)."""

    @property
    def terms(self) -> Any:
        """The rule as plain data for an agreement; None if another process could not rebuild the rule from it."""
        return None

    def leader(self, snapshot: Snapshot) -> int | None:  # noqa: ARG002
        """The number of the leading site; None if no site leads."""
        return None

    def check(self, sites: int) -> None:  # noqa: B027 - most rules accept any number
        """Raise one sentence if the rule does not suit this number of sites."""


@dataclass(frozen=True)
class Identity(Rule):
    """Every site works alone: W = I."""

    mixes = False
    terms = "identity"

    def __call__(self, snapshot: Snapshot) -> Array:
        return np.eye(snapshot.sites)


@dataclass(frozen=True)
class Uniform(Rule):
    """Average with everyone at first, with nobody at the end: W = (1 - t/T) J + (t/T) I, J = 11'/K  (eq. 5).

    With unequal budgets (the paper's open problem ii) the site closer to its end limits each pair:
    w_ij = min(1 - t_i/T_i, 1 - t_j/T_j) / K, and the diagonal takes the rest.
    """

    terms = "uniform"

    def __call__(self, snapshot: Snapshot) -> Array:
        openness = 1.0 - snapshot.progress
        W = np.minimum.outer(openness, openness) / snapshot.sites
        np.fill_diagonal(W, 0.0)
        np.fill_diagonal(W, 1.0 - W.sum(axis=1))
        return W


@dataclass(frozen=True)
class Metropolis(Rule):
    """Average with the neighbours at first, with nobody at the end: w_ij = min(o_i, o_j) / (1 + max(d_i, d_j)).

    o_i = 1 - t_i/T_i is how open a site still is, d_i its number of neighbours; the diagonal takes the rest. A site
    knows its row from its neighbours alone. On a complete graph 1 + max(d_i, d_j) = K: the rule is `Uniform`.
    """

    terms = "metropolis"

    def __call__(self, snapshot: Snapshot) -> Array:
        openness, degrees = 1.0 - snapshot.progress, snapshot.degrees
        W = np.minimum.outer(openness, openness) / (1 + np.maximum.outer(degrees, degrees))
        W[~snapshot.links] = 0.0
        np.fill_diagonal(W, 0.0)
        np.fill_diagonal(W, 1.0 - W.sum(axis=1))
        return W


@dataclass(frozen=True)
class Leader(Rule):
    """Uniform, leaning towards the site that reports the largest reward: W = W_uniform - a e e', e = K 1_leader - 1.

    Every site moves (K-1) a towards the leader, which moves (K-1)² a away from its own design; a = 1/(TK), or if
    smaller the largest step that keeps all weights non-negative (heuristic ii). No site leads twice in a row
    (heuristic i). In e, K counts the sites that are present and have budget left.
    """

    needs_rewards = True
    terms = "leader"

    def __call__(self, snapshot: Snapshot) -> Array:
        W = Uniform()(snapshot)
        leader = self.leader(snapshot)
        active = snapshot.present & (snapshot.progress < 1.0)
        K = int(active.sum())
        if leader is None or not active[leader] or K < 2:
            return W
        e = np.where(active, -1.0, 0.0)
        e[leader] += K
        others = W[np.ix_(e < 0, e < 0)]
        step = min(1.0 / (snapshot.budgets.max() * K), W[leader, leader] / (K - 1) ** 2, others.min())
        return W - step * np.outer(e, e)

    def leader(self, snapshot: Snapshot) -> int | None:
        """The site with the largest reward among those present, except the previous leader."""
        leader: int | None = None
        for rewards in snapshot.rewards:
            candidates = np.where(np.isnan(rewards), -np.inf, rewards)
            if leader is not None and np.isfinite(candidates).sum() > 1:
                candidates[leader] = -np.inf
            leader = int(np.argmax(candidates)) if np.isfinite(candidates).any() else None
        return leader


@dataclass(frozen=True)
class Fixed(Rule):
    """One doubly stochastic matrix for all rounds."""

    matrix: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        W = checked(self.matrix)
        object.__setattr__(self, "matrix", tuple(map(tuple, W.tolist())))

    def __call__(self, snapshot: Snapshot) -> Array:
        return checked(self.matrix, snapshot.sites)

    @property
    def is_symmetric(self) -> bool:  # type: ignore[override]
        return self.matrix == tuple(zip(*self.matrix, strict=True))

    @property
    def terms(self) -> Any:
        return [list(row) for row in self.matrix]

    def check(self, sites: int) -> None:
        if len(self.matrix) != sites:
            raise CbocError(f"the fixed matrix is for {len(self.matrix)} sites; this study has {sites}.")


@dataclass(frozen=True)
class Function(Rule):
    """A rule from any function of a snapshot. Set `function.needs_rewards = True` if it uses `snapshot.rewards`."""

    is_symmetric = False  # nobody knows
    function: Callable[[Snapshot], Array]

    @property
    def needs_rewards(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.function, "needs_rewards", False))

    def __call__(self, snapshot: Snapshot) -> Array:
        return self.function(snapshot)


RULES: dict[str, type[Rule]] = {
    "identity": Identity,
    "uniform": Uniform,
    "metropolis": Metropolis,
    "leader": Leader,
}


def as_rule(given: Any) -> Rule:
    """The rule for a name, a Rule, a function, or a matrix (`Fixed`)."""
    if isinstance(given, str):
        if given not in RULES:
            raise CbocError(f"'{given}' is not a rule; {did_you_mean(given, RULES)}")
        return RULES[given]()
    if isinstance(given, list):
        return Fixed(given)  # type: ignore[arg-type]  # Fixed checks its argument
    if isinstance(given, type) or not callable(given):
        raise CbocError(f"a rule is a name or a function of a Snapshot, such as Uniform(); {given!r} is neither.")
    return given if isinstance(given, Rule) else Function(given)  # from here on every rule is a Rule
