"""Controls: how much gain remains when the peers know nothing of the site's problem, or when designs are random.

Both placebos go through the same rounds and matrices as CBOC-U; only the peers' designs are replaced.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cboc.arrays import Array
from cboc.consensus.matrix import mix, whole_weights
from cboc.data.dataset import Dataset
from cboc.evidence.case import RANDOM, Case
from cboc.evidence.methods.consensus import executed, proposed, rounds, study_of
from cboc.exchange.ledger import Ledger
from cboc.exchange.messages import Mix, News, Proposal
from cboc.exchange.network import Standing
from cboc.problems.sites import displaced, sites_of
from cboc.problems.synthetic import problem
from cboc.strategy.gate import Gate, Gated, GateLike

UNRELATED = 2**20  # added to the seed of the unrelated run


def random_search(case: Case) -> Array:
    """Independent, uniformly random designs."""
    rngs = [case.rng(k, 0, RANDOM) for k in range(case.sites)]
    return np.array([case.space.sample(case.horizon, rng, method="uniform") for rng in rngs])


def centre(case: Case, gate: GateLike = Gate(0.0)) -> Array:  # noqa: B008 - frozen
    """Mix with the centre of the box instead of the peers, to isolate the inward pull of any average."""
    middle = np.full((case.sites, case.horizon, case.space.dimension), 0.5)
    return _beside(case, middle, gate)


def strangers(case: Case, gate: GateLike = Gate(0.0)) -> Array:  # noqa: B008 - frozen
    """Mix with the peers of an unrelated run: the same kind of problem, with its optimum at another random place."""
    other = unrelated_run(case)
    study = study_of(other, "uniform")
    peers = proposed(rounds(other, study, Ledger(study), Gated(other.strategy, Gate(0.0))))
    return _beside(case, peers, gate)


def unrelated_run(case: Case) -> Case:
    """A case of the same size from another seed, with its common problem displaced independently."""
    seed = case.seed + UNRELATED
    rng = np.random.default_rng(seed)
    name = case.problems[0].name.split("#")[0].removeprefix("displaced ")
    problems = sites_of(displaced(problem(name), rng), case.sites, rng)
    designs = [rng.random(data.X.shape) for data in case.initial]
    initial = [Dataset(X, site.values(X), direction=site.direction) for X, site in zip(designs, problems, strict=True)]
    return replace(case, problems=tuple(problems), initial=tuple(initial), seed=seed)


def _beside(case: Case, peers: Array, gate: GateLike) -> Array:
    study = study_of(case, "uniform")
    network = Beside(Ledger(study), peers)
    return executed(case, rounds(case, study, network, Gated(case.strategy, gate)))


@dataclass
class Beside:
    """A network on which every site gets other designs (K, T, D) in place of its peers'."""

    ledger: Ledger
    peers: Array

    def submit(self, proposal: Proposal) -> None:
        self.ledger.submit(proposal)

    def leave(self, site: str) -> None:
        self.ledger.leave(site)

    def news(self, site: str) -> News:
        return self.ledger.news(site)

    def standing(self) -> Standing:
        return self.ledger.standing()

    def mix(self, site: str, turn: int) -> Mix:
        answer = self.ledger.mix(site, turn)
        k = self.ledger.study.index(site)
        X = self.peers[:, answer.snapshot].copy()
        X[k] = self.ledger.store.entries(answer.snapshot)[site].proposal.X[0]
        weights = whole_weights(self.ledger.matrix(answer.snapshot))[k]
        return replace(answer, X=(tuple(mix(weights, X).tolist()),))
