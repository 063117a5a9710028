"""States of real studies: what a site knew when it proposed, what it found, and the hyper-parameters it had fitted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cboc import Policy, Study, simulate
from cboc.problems.synthetic import problem, sites_of
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.gate import Gated

PROBLEMS = ("levy-2", "branin", "levy-4", "shekel-10", "ackley-5", "hartmann-6", "levy-8")
SITES = 3


@dataclass(frozen=True)
class State:
    """One proposal in a study: data (X, score) in, design and θ out."""

    problem: str
    X: np.ndarray  # (n, D)
    y: np.ndarray  # (n,), to be maximised
    proposed: np.ndarray  # (D,)
    theta: np.ndarray


def collect(count: int, seed: int) -> list[State]:
    """`count` states at random rounds of collaborating studies, one study per problem.

    Without a guide: a site's proposal is then the maximiser of its utility, and can be judged by it.
    """
    rng = np.random.default_rng(seed)
    pool: list[State] = []
    for number, name in enumerate(PROBLEMS):
        common = problem(name)
        sites = [f"site-{k}" for k in range(SITES)]
        study = Study(common.space, sites, horizon=10 * common.space.dimension, pace="rounds")
        experiments = dict(zip(sites, sites_of(common, SITES, rng), strict=True))
        policy = Policy(strategy=Gated(Bayesian()), seed=seed + number)
        history = simulate(study, experiments, direction="minimise", policy=policy)
        for site in sites:
            trials = history.of(site)
            X, y = np.array([t.x for t in trials]), -np.array([t.y for t in trials])
            pool += [
                State(name, X[:i], y[:i], np.array(trial.proposed), np.array(trial.turn.note.memory))
                for i, trial in enumerate(trials)
                if trial.turn is not None
            ]
    per_problem = [[state for state in pool if state.problem == name] for name in PROBLEMS]
    chosen = [states[int(rng.integers(len(states)))] for _ in range(count) for states in per_problem]
    return [chosen[i] for i in range(count)]
