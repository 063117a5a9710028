"""What a malicious site costs the others: it sends a corner as its best design and proposes designs near it.

    python research/liar.py            20 seeds
    python research/liar.py --seeds 5  a smoke run

Three honest sites minimise a function of two or four parameters, 10 D experiments each. The malicious fourth optimises
something of its own, whose optimum is the corner farthest from theirs, so that all it says is a well-formed lie. Once
with the default, once with the paper's own settings: rounds, no best designs, every mix is followed. Gap is the
paper's: 1 is the optimum found, 0 the best initial design; 'area' is its mean over all experiments. 'named' and
'honest' are the shares of honest sites to which `cboc advise` names the liar, or an honest site, at the end.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse

import numpy as np

from cboc import Ledger, Policy, Site, Study, simulate
from cboc.advice.advice import advise
from cboc.problems.synthetic import levy
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.collaborative import collaborative
from cboc.strategy.gate import Gate, Gated

HONEST, LIAR = ("a", "b", "c"), "liar"
ALONE = "alone"
DEFAULT, PAPER = "the default", "the paper's settings"
WITHOUT, WITH = "without the liar", "with the liar"
ARMS = (ALONE, *(f"{settings}, {who}" for settings in (DEFAULT, PAPER) for who in (WITHOUT, WITH)))


def gaps(D: int, arm: str, seed: int) -> tuple[float, ...]:
    """The mean area and final Gap of the honest sites, and the shares that name the liar and an honest site."""
    problem = levy(D)
    shift = np.random.default_rng(seed).random(D) * 0.2

    def honest(design: dict[str, float]) -> float:
        x = problem.space.to_unit(design)
        return float(problem.values(np.clip(x[None] + shift, 0.0, 1.0))[0])

    def lie(design: dict[str, float]) -> float:
        return float(np.linalg.norm(problem.space.to_unit(design) - 1.0))

    sites = (*HONEST, LIAR) if arm.endswith(WITH) else HONEST
    rule = "identity" if arm == ALONE else "uniform"
    is_paper = arm.startswith(PAPER)
    pace = "rounds" if is_paper else "free"
    study = Study(problem.space, sites, 10 * D, rule=rule, shares_best=not is_paper, pace=pace)
    experiments = {site: lie if site == LIAR else honest for site in sites}
    strategy = Gated(Bayesian(), Gate(0.0)) if is_paper else collaborative()
    policy = Policy(strategy, initial=2 * D, seed=seed)
    history = simulate(study, experiments, direction="minimise", policy=policy)
    found, named = [], []
    for site in HONEST:
        if arm.endswith(WITH):
            at_the_end = Site(study, site, Ledger(study), direction="minimise", policy=policy, trials=history.of(site))
            named.append(advise(at_the_end).contradicted)
        y = np.array([trial.y for trial in history.of(site)])
        best = np.minimum.accumulate(y)[2 * D - 1 :]
        found.append((best[0] - best) / best[0])  # the least is 0
    gap = np.array(found)
    pointed = [(LIAR in names, any(name != LIAR for name in names)) for names in named or [()]]
    liars, others = np.mean(pointed, axis=0)
    return float(gap.mean()), float(gap[:, -1].mean()), float(liars), float(others)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    print(f"{'D':>3} {'':>40} {'area':>7} {'final':>7} {'area - alone':>13} {'s.e.':>7} {'named':>6} {'honest':>7}")
    for D in (2, 4):
        alone = None
        for arm in ARMS:
            found = np.array([gaps(D, arm, seed) for seed in range(options.seeds)])
            alone = found if alone is None else alone
            difference = found[:, 0] - alone[:, 0]
            error = difference.std(ddof=1) / np.sqrt(len(difference))
            print(
                f"{D:3} {arm:>40} {found[:, 0].mean():7.3f} {found[:, 1].mean():7.3f} {difference.mean():+13.3f} "
                f"{error:7.3f} {found[:, 2].mean():6.2f} {found[:, 3].mean():7.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
