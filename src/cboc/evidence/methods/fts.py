"""Federated Thompson sampling: agents exchange sampled functions instead of outcomes.

In round t = 1..T a site acts, with probability p_t, as if alone: it maximises a draw from its own surrogate. Otherwise
it follows the others,

    FTS     one peer drawn at random: argmax φ(x)·w_n                        Dai, Low and Jaillet, NeurIPS 2020
    FTSDE   the server's average:     argmax φ(x)·ω_i, i the box of x        Dai, Low and Jaillet, NeurIPS 2021
            ω_i = Σ_n a_in w_n,       a_in = softmax over n of [a_t if agent n explores box i, else 1]
    DP      ω_i = 1/q Σ_kept a_in clipped(w_n) + N(0, (z S max_n a_in / q)²)

where w_n is the draw of agent n in this round in the features that all share (`features.py`).
docs/decisions/fts.md lists the differences from the published code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

import numpy as np
from scipy.special import softmax

from cboc.arrays import Array, one_thread
from cboc.errors import CbocError
from cboc.evidence.case import ANEW, COIN, DRAW, PEER, SEARCH, Case
from cboc.evidence.methods.agent import Agent, executed, propose
from cboc.evidence.methods.features import Features, Shared
from cboc.search.maximise import maximise
from cboc.strategy.bayesian import padded
from cboc.surrogate.transforms import standardised
from cboc.utility.thompson import Thompson

FOCUS = 16.0  # a_t at first
HALVINGS = 2  # most coordinates that are halved


@dataclass(frozen=True)
class Decay:
    """p_t = 1 - t^-exponent: a site acts alone more and more often."""

    exponent: float = 0.5

    def __call__(self, t: int) -> float:
        return float(1.0 - t**-self.exponent)


@dataclass(frozen=True)
class Sharing:
    """The settings that the sites agree on before the first round."""

    count: int = 200  # M
    factor: float = 0.25  # the common lengthscale is factor √D
    variance: float = 1.0  # v
    noise: float = 1e-2  # s²

    def __post_init__(self) -> None:
        if not self.noise > 0.0:
            raise CbocError(f"the noise of shared functions is positive; this is {self.noise!r}.")

    def features(self, case: Case) -> Features:
        D = case.space.dimension
        return Features.draw(self.count, D, self.factor * np.sqrt(D), case.rng(case.sites, 0, DRAW), self.variance)


@dataclass(frozen=True)
class Privacy:
    """Noise that hides whether an agent took part; `accounting.epsilon` says how well. The server must be trusted."""

    rate: float = 0.35  # q, the probability of taking part in a round
    noise: float = 1.0  # z, in units of the sensitivity
    clip: float = 22.0  # S, the longest message over all boxes

    def __post_init__(self) -> None:
        if not 0.0 < self.rate <= 1.0:
            raise CbocError(f"the rate is the probability of taking part, in (0, 1]; this is {self.rate!r}.")
        if not (self.noise >= 0.0 and self.clip > 0.0):
            raise CbocError(f"noise is not negative, and clip is positive; got {self.noise!r} and {self.clip!r}.")


@dataclass(frozen=True)
class FTS:
    """Federated Thompson sampling: now and then a site runs the maximiser of one peer's function."""

    own: Callable[[int], float] = Decay()
    sharing: Sharing = Sharing()

    def __call__(self, case: Case) -> Array:  # (K, T, D)
        features = self.sharing.features(case)

        def meet(agents: list[Agent], t: int) -> Lead:
            @cache
            def sent(peer: int) -> Array:
                agent = agents[peer]
                function = Shared(features, draw(agent, features, self.sharing.noise, t)[None], agent.anchors)
                return maximise(function, case.space, case.rng(peer, t, SEARCH))[0]

            def lead(site: int) -> Array:
                peer = int(case.rng(site, t, PEER).integers(case.sites - 1))
                return sent(peer + (peer >= site))

            return lead

        return _run(case, self.own, meet)


@dataclass(frozen=True)
class FTSDE:
    """FTS with distributed exploration: now and then a site runs the maximiser of the server's average, box by box."""

    own: Callable[[int], float] = Decay()
    sharing: Sharing = Sharing()
    boxes: int | None = None  # P; None: 2^min(D, log2 K, 2); 1: a plain average
    privacy: Privacy | None = None

    def __call__(self, case: Case) -> Array:  # (K, T, D)
        features, space, server = self.sharing.features(case), case.space, case.sites
        halvings = min(space.dimension, case.sites.bit_length() - 1, HALVINGS)
        boxes = 2**halvings if self.boxes is None else self.boxes

        def meet(agents: list[Agent], t: int) -> Lead:
            @cache
            def common() -> Array:
                messages = np.array([draw(agent, features, self.sharing.noise, t) for agent in agents])
                shares = explorers(case.sites, boxes, focus(t, case.horizon))
                weights = aggregate(messages, shares, self.privacy, case.rng(server, t, DRAW))
                function = Shared(features, weights, np.empty((0, space.dimension)))
                rng = case.rng(server, t, SEARCH)
                is_plain = space.is_box and space.is_continuous
                return function.argmax(rng) if is_plain else maximise(function, space, rng)[0]

            return lambda _: common()

        return _run(case, self.own, meet)


def focus(t: int, horizon: int) -> float:
    """a_t: 16 for the first sixth of the rounds, then falling to 1 over half of them."""
    passed = np.clip((t - horizon / 6) / (horizon / 2), 0.0, 1.0)
    return float(FOCUS + (1.0 - FOCUS) * passed)


def explorers(sites: int, boxes: int, focus: float) -> Array:  # (P, K)
    """a_in, the share of agent n in the function of box i; agent n explores box n mod P."""
    is_explorer = np.arange(sites) % boxes == np.arange(boxes)[:, None]
    shares: Array = softmax(np.where(is_explorer, focus, 1.0), axis=1)
    return shares


def aggregate(messages: Array, shares: Array, privacy: Privacy | None, rng: np.random.Generator) -> Array:  # (P, M)
    """The server's weights from the agents' messages (K, M), by their shares (P, K)."""
    if privacy is None:
        return shares @ messages
    is_kept = rng.random(len(messages)) < privacy.rate
    if not is_kept.any():
        return rng.random((len(shares), messages.shape[1]))  # as published
    longest = privacy.clip / np.sqrt(len(shares))
    clipped = messages / np.maximum(1.0, np.linalg.norm(messages, axis=1, keepdims=True) / longest)
    noise = privacy.noise * privacy.clip * shares.max(axis=1, keepdims=True)
    hidden = shares[:, is_kept] @ clipped[is_kept] + noise * rng.standard_normal((len(shares), messages.shape[1]))
    return hidden / privacy.rate


def draw(agent: Agent, features: Features, noise: float, t: int) -> Array:  # (M,)
    """Draw an agent's message of a round: one function from its posterior, as weights of the shared features."""
    X, score = padded(agent.dataset)
    outcomes = agent.case.strategy.model.transform(score).forward(score)
    y = standardised(outcomes).forward(outcomes)
    return features.sample(X, y, noise, agent.case.rng(agent.site, t, DRAW))


def anew(agent: Agent, x: Array, t: int) -> Array:  # (D,)
    """The design, or a random one if the agent has run it before."""
    if not (x == agent.tried).all(axis=1).any():
        return x
    return agent.case.space.sample(1, agent.case.rng(agent.site, t, ANEW), method="uniform")[0]


Lead = Callable[[int], Array]  # site -> the design (D,) that the others suggest to it


class Meet(Protocol):
    """A function from the agents in round t to their suggestions to each other."""

    def __call__(self, agents: list[Agent], t: int, /) -> Lead: ...


def _run(case: Case, own: Callable[[int], float], meet: Meet) -> Array:  # (K, T, D)
    agents = [Agent(case, site) for site in range(case.sites)]
    strategy = replace(case.strategy, utility=Thompson.on)
    with one_thread():
        for t in range(1, case.horizon + 1):
            lead = meet(agents, t)
            is_own = [case.sites == 1 or case.rng(k, t, COIN).random() < own(t) for k in range(case.sites)]
            own_designs = iter(propose([agent for agent in agents if is_own[agent.site]], strategy, t))
            designs = [next(own_designs) if is_own[k] else lead(k) for k in range(case.sites)]
            for agent, x in zip(agents, designs, strict=True):
                agent.run(anew(agent, x, t))
    return executed(agents)
