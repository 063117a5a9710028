"""Rules: what everybody knows when proposals are mixed -> the consensus matrix W(t)  (Sec. 4.3).

A rule has no state, so a restart replays it and every peer computes the same matrix.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from cboc.arrays import Array, Mask
from cboc.consensus.matrix import checked
from cboc.errors import CbocError, did_you_mean


@dataclass(frozen=True)
class Snapshot:
    """What everybody knows when proposals are mixed: who is there, what each reported, and how far each has come.

    `rewards[s, k]` is S_k in round s, NaN where site k was absent; the last row belongs to the proposals in `X`.
    """

    rewards: Array  # S, (t+1, K)
    turns: Array  # t_k, (K,): turns that each site has behind it
    budgets: Array  # T_k, (K,)
    X: Array = field(default_factory=lambda: np.empty((0, 0)), repr=False)  # (K, D), NaN where a site is absent
    bests: Array = field(default_factory=lambda: np.empty((0, 0)), repr=False)  # likewise: the best designs, if shared
    recall: Callable[[int], Array] = field(default=lambda _: np.empty((0, 0)), repr=False)  # X of an earlier round

    @property
    def sites(self) -> int:
        """K."""
        return int(self.rewards.shape[1])

    @property
    def present(self) -> Mask:
        """(K,) whose proposals are mixed."""
        return ~np.isnan(self.rewards[-1])

    @property
    def progress(self) -> Array:
        """t_k / T_k, (K,): the share of its own budget that each site has spent."""
        return np.minimum(self.turns / self.budgets, 1.0)


class Rule(ABC):
    """A function from a snapshot to W, and what a study has to know about it. A plain function is a `Function`."""

    needs_rewards: ClassVar[bool] = False  # do sites send the scalar S_k beside the design?
    mixes: ClassVar[bool] = True  # False: everybody works alone

    @abstractmethod
    def __call__(self, snapshot: Snapshot) -> Array:
        """W, (K, K), doubly stochastic."""

    @property
    def terms(self) -> Any:
        """The rule in an agreement, as plain data; None where no other process could make it from that."""
        return None

    def leader(self, snapshot: Snapshot) -> int | None:  # noqa: ARG002
        """The site that leads, if one does."""
        return None

    def check(self, sites: int) -> None:  # noqa: B027 - most rules are for any number
        """Raise one sentence if the rule is not for so many sites."""


@dataclass(frozen=True)
class Identity(Rule):
    """Everybody alone: W = I."""

    mixes = False
    terms = "identity"

    def __call__(self, snapshot: Snapshot) -> Array:
        return np.eye(snapshot.sites)


@dataclass(frozen=True)
class Uniform(Rule):
    """Average with everyone at first, with nobody at the end: W = (1 - t/T) J + (t/T) I, J = 11'/K  (eq. 5).

    With unequal budgets (the paper's open problem ii) a pair listens to each other as far as the one closer to its end:
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
class Leader(Rule):
    """Uniform, leaning towards the site that reports the largest reward: W = W_uniform - a e e', e = K 1_leader - 1.

    Everybody moves (K-1) a towards the leader, who moves (K-1)² a away from its own design; a = 1/(TK) unless a weight
    would turn negative, then the largest step that does not (heuristic ii). Nobody leads twice running (heuristic i).
    K counts, in e, the sites that are present and have budget left.
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
        """The site with the largest reward among those present, leaving out the previous leader."""
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
    def terms(self) -> Any:
        return [list(row) for row in self.matrix]

    def check(self, sites: int) -> None:
        if len(self.matrix) != sites:
            raise CbocError(f"the fixed matrix is for {len(self.matrix)} sites; this study has {sites}.")


@dataclass(frozen=True)
class Function(Rule):
    """Any function of a snapshot. Set `function.needs_rewards = True` if it compares `snapshot.rewards`."""

    function: Callable[[Snapshot], Array]

    @property
    def needs_rewards(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.function, "needs_rewards", False))

    def __call__(self, snapshot: Snapshot) -> Array:
        return self.function(snapshot)


RULES: dict[str, type[Rule]] = {"identity": Identity, "uniform": Uniform, "leader": Leader}


def as_rule(given: Any) -> Rule:
    """A rule by its name, by its value, or any function as one; a matrix is `Fixed`."""
    if isinstance(given, str):
        if given not in RULES:
            raise CbocError(f"'{given}' is not a rule; {did_you_mean(given, RULES)}")
        return RULES[given]()
    if isinstance(given, list):
        return Fixed(given)  # type: ignore[arg-type]  # it checks what it is given
    if isinstance(given, type) or not callable(given):
        raise CbocError(f"a rule is a name or a function of a Snapshot, such as Uniform(); {given!r} is neither.")
    return given if isinstance(given, Rule) else Function(given)  # the door: behind it every rule is a Rule
