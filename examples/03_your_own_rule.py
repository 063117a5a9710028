"""Your own rule and your own utility: both are functions.

The rule pairs the sites up, with other partners in every round. The utility is the probability that an outcome beats
the best so far by a tenth of the outcomes' spread.
"""

import numpy as np
from scipy.special import ndtr

from cboc import Bayesian, Policy, Study, collaborative, simulate
from cboc.consensus import Snapshot
from cboc.problems.synthetic import branin
from cboc.surrogate.gp import GP
from cboc.utility.utility import Custom


def partners(snapshot: Snapshot) -> np.ndarray:
    """W averages the two of a pair at first, and leaves everybody alone when the budgets are spent."""
    pairs = np.roll(np.arange(snapshot.sites), len(snapshot.rewards)).reshape(-1, 2)
    listening = (1 - snapshot.progress.max()) / 2
    W = (1 - listening) * np.eye(snapshot.sites)
    for i, j in pairs:
        W[i, j] = W[j, i] = listening
    return W


def probability_of_improvement(gp: GP, _: np.random.Generator) -> Custom:
    goal = gp.y.max() + 0.1  # the surrogate's outcomes are standardised, and more is better

    def probability(X: np.ndarray) -> np.ndarray:
        mean, sd = gp.moments(X)
        return ndtr((mean - goal) / sd)

    return Custom(probability, anchors=gp.X[np.argsort(-gp.y)])


sites = ["a", "b", "c", "d"]
study = Study(branin().space, sites, horizon=12, rule=partners, pace="rounds")
policy = Policy(collaborative(Bayesian(utility=probability_of_improvement)), initial=6, seed=0)
history = simulate(study, dict.fromkeys(sites, branin()), direction="minimise", policy=policy)

followed = sum(trial.decision == "followed" for trial in history.trials)
print(f"followed {followed} of {4 * 12} times; the optimum is {branin().optimum:.4f}")
print(f"best of all sites: {min(history.best_so_far(site)[-1] for site in sites):.4f}")
