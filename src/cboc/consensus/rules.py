"""Rules: what everybody knows when a round closes -> the consensus matrix W(t)  (Sec. 4.3).

A rule is any function `Round -> W`. It has no state, so a restart replays it and every peer computes the same matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array, Mask
from cboc.consensus.matrix import checked


@dataclass(frozen=True)
class Round:
    """The common knowledge at round t: who was there, what they reported, and how much each can still spend.

    `rewards[s, k]` is S_k of round s, NaN where site k was absent; the last row is the round being closed.
    """

    rewards: Array  # S, (t+1, K)
    budgets: Array  # T_k, (K,)

    @property
    def sites(self) -> int:
        return int(self.rewards.shape[1])

    @property
    def present(self) -> Mask:
        """(K,) who is in this round."""
        return ~np.isnan(self.rewards[-1])

    @property
    def progress(self) -> Array:
        """t_k / T_k, (K,): the share of its own budget that each site has spent, counting the rounds it attended."""
        attended = (~np.isnan(self.rewards[:-1])).sum(axis=0)
        return np.minimum(attended / self.budgets, 1.0)


Rule = Callable[[Round], Array]


@dataclass(frozen=True)
class Identity:
    """Everybody alone: W = I."""

    needs_rewards = False

    def __call__(self, round: Round) -> Array:
        return np.eye(round.sites)


@dataclass(frozen=True)
class Uniform:
    """Average with everyone at first, with nobody at the end: W = (1 - t/T) J + (t/T) I, J = 11'/K  (eq. 5).

    With unequal budgets (the paper's open problem ii) a pair listens to each other as far as the one closer to its end:
    w_ij = min(1 - t_i/T_i, 1 - t_j/T_j) / K, and the diagonal takes the rest.
    """

    needs_rewards = False

    def __call__(self, round: Round) -> Array:
        openness = 1.0 - round.progress
        W = np.minimum.outer(openness, openness) / round.sites
        np.fill_diagonal(W, 0.0)
        np.fill_diagonal(W, 1.0 - W.sum(axis=1))
        return W


@dataclass(frozen=True)
class Leader:
    """Uniform, leaning towards the site that reports the largest reward: W = W_uniform - a e e', e = K 1_leader - 1.

    Everybody moves (K-1) a towards the leader, who moves (K-1)² a away from its own design; a = 1/(TK) unless a weight
    would turn negative, then the largest step that does not (heuristic ii). Nobody leads twice running (heuristic i).
    K counts, in e, the sites that are present and have budget left.
    """

    needs_rewards = True

    def __call__(self, round: Round) -> Array:
        W = Uniform()(round)
        leader = self.leader(round)
        active = round.present & (round.progress < 1.0)
        K = int(active.sum())
        if leader is None or not active[leader] or K < 2:
            return W
        e = np.where(active, -1.0, 0.0)
        e[leader] += K
        others = W[np.ix_(e < 0, e < 0)]
        step = min(1.0 / (round.budgets.max() * K), W[leader, leader] / (K - 1) ** 2, others.min())
        return W - step * np.outer(e, e)

    def leader(self, round: Round) -> int | None:
        """The site with the largest reward among those present, leaving out the previous leader."""
        leader: int | None = None
        for rewards in round.rewards:
            candidates = np.where(np.isnan(rewards), -np.inf, rewards)
            if leader is not None and np.isfinite(candidates).sum() > 1:
                candidates[leader] = -np.inf
            leader = int(np.argmax(candidates)) if np.isfinite(candidates).any() else None
        return leader


@dataclass(frozen=True)
class Fixed:
    """The same matrix in every round, any doubly stochastic one."""

    matrix: tuple[tuple[float, ...], ...]

    needs_rewards = False

    def __post_init__(self) -> None:
        W = checked(self.matrix)
        object.__setattr__(self, "matrix", tuple(map(tuple, W.tolist())))

    def __call__(self, round: Round) -> Array:
        return checked(self.matrix, round.sites)
