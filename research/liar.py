"""What a malicious site costs the others: it sends a corner as its best design and proposes designs near it.

    python research/liar.py            20 seeds
    python research/liar.py --seeds 5  a smoke run

Three honest sites minimise a function of two or four parameters, 10 D experiments each. The malicious fourth optimises
something of its own, whose optimum is the corner farthest from theirs, so that all it says is a well-formed lie. Gap is
the paper's: 1 is the optimum found, 0 the best initial design; 'area' is its mean over all experiments.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse

import numpy as np

from cboc import Policy, Study, simulate
from cboc.problems.synthetic import levy

HONEST, LIAR = ("a", "b", "c"), "liar"


def gaps(D: int, arm: str, seed: int) -> tuple[float, float]:
    """The mean area and final Gap of the honest sites."""
    problem = levy(D)
    shift = np.random.default_rng(seed).random(D) * 0.2

    def honest(design: dict[str, float]) -> float:
        x = problem.space.to_unit(design)
        return float(problem.values(np.clip(x[None] + shift, 0.0, 1.0))[0])

    def lie(design: dict[str, float]) -> float:
        return float(np.linalg.norm(problem.space.to_unit(design) - 1.0))

    sites = (*HONEST, LIAR) if arm == "with the liar" else HONEST
    rule = "identity" if arm == "alone" else "uniform"
    study = Study(problem.space, sites, 10 * D, rule=rule)
    experiments = {site: lie if site == LIAR else honest for site in sites}
    policy = Policy(initial=2 * D, seed=seed)
    history = simulate(study, experiments, direction="minimise", policy=policy)
    found = []
    for site in HONEST:
        y = np.array([trial.y for trial in history.of(site)])
        best = np.minimum.accumulate(y)[2 * D - 1 :]
        found.append((best[0] - best) / best[0])  # the least is 0
    gap = np.array(found)
    return float(gap.mean()), float(gap[:, -1].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    print(f"{'D':>3} {'':>16} {'area':>7} {'final':>7} {'area - alone':>13} {'s.e.':>7}")
    for D in (2, 4):
        alone = None
        for arm in ("alone", "without the liar", "with the liar"):
            found = np.array([gaps(D, arm, seed) for seed in range(options.seeds)])
            alone = found if alone is None else alone
            difference = found[:, 0] - alone[:, 0]
            error = difference.std(ddof=1) / np.sqrt(len(difference))
            print(
                f"{D:3} {arm:>16} {found[:, 0].mean():7.3f} {found[:, 1].mean():7.3f} {difference.mean():+13.3f} "
                f"{error:7.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
