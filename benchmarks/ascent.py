"""Why `ascent.py` is written by hand: the same utilities climbed from the same starts by SciPy's L-BFGS-B.

    python benchmarks/ascent.py            60 states of real studies
    python benchmarks/ascent.py --quick    14

'joint' is one L-BFGS-B over all starts at once (how BoTorch does it), 'one by one' a run per start. Shown: CPU time per
state, batched evaluations per state, and how often the best value is within 0.01 of the best of all three.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from cboc.search.ascent import ascend
from cboc.space.sobol import sobol
from cboc.surrogate.fitting import build
from cboc.utility.improvement import LogEI
from states import collect

STARTS = 10
Climb = Callable[[Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], np.ndarray], float]


def by_hand(objective, starts: np.ndarray) -> float:
    return float(ascend(objective, starts, np.zeros(1), np.ones(1), tolerance=1e-4)[1].max())


def joint(objective, starts: np.ndarray) -> float:
    def negative(flat: np.ndarray) -> tuple[float, np.ndarray]:
        values, gradients = objective(flat.reshape(starts.shape))
        return -values.sum(), -gradients.ravel()

    result = minimize(negative, starts.ravel(), jac=True, method="L-BFGS-B", bounds=[(0, 1)] * starts.size)
    return float(objective(result.x.reshape(starts.shape))[0].max())


def one_by_one(objective, starts: np.ndarray) -> float:
    def negative(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = objective(x[None])
        return -value[0], -gradient[0]

    bounds = [(0, 1)] * starts.shape[1]
    return -min(minimize(negative, x, jac=True, method="L-BFGS-B", bounds=bounds).fun for x in starts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    states = collect(14 if parser.parse_args().quick else 60, seed=3000)
    climbs: dict[str, Climb] = {"by hand": by_hand, "joint L-BFGS-B": joint, "one by one": one_by_one}
    cpu, evaluations, found = ({name: [] for name in climbs} for _ in range(3))
    for seed, state in enumerate(states):
        utility = LogEI(build(state.X, state.y, state.theta))
        samples = sobol(512, state.X.shape[1], np.random.default_rng(seed))
        starts = samples[np.argsort(-utility(samples))[:STARTS]]
        for name, climb in climbs.items():
            calls = 0

            def counted(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
                nonlocal calls
                calls += 1
                return utility.with_gradient(X)  # noqa: B023 - used up within this turn

            started = time.process_time()
            found[name].append(climb(counted, starts))
            cpu[name].append(time.process_time() - started)
            evaluations[name].append(calls)
    best = np.max(list(found.values()), axis=0)
    print(f"{'':16} {'CPU ms':>8} {'evaluations':>12} {'ratio':>6} {'within 0.01':>12}")
    for name in climbs:
        near = (best - np.array(found[name]) <= 0.01).mean()
        ratio = np.sum(cpu[name]) / np.sum(cpu["by hand"])
        print(f"{name:16} {1e3 * np.mean(cpu[name]):8.2f} {np.mean(evaluations[name]):12.1f} {ratio:6.2f} {near:12.0%}")


if __name__ == "__main__":
    main()
