"""One site's step (fit the surrogate, maximise the utility) against BoTorch 0.18 and Optuna 5, one thread each.

    python benchmarks/step.py            ratios of CPU time at four sizes, then quality over 100 states of real studies
    python benchmarks/step.py --quick    fewer repetitions and states

Speed: a study on Levy-D runs as it does in use (warm start included) and the CPU time of its proposals is taken while
the data set passes n points. BoTorch (SingleTaskGP, LogExpectedImprovement, optimize_acqf with 10 restarts and 512 raw
samples) and Optuna (GPSampler, which starts warm, too) take their steps on the same data.

Quality, each optimiser judged by its own utility and its own posterior: how often the utility found is within 0.01 (in
log) of a brute-force maximum with 100 times the effort, and how often the log posterior is within 0.01 of a 20-start
fit.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch

import optuna_gp
import peer
from cboc import Dataset, Ledger, Policy, Site, Study
from cboc.problems.synthetic import levy
from cboc.search.maximise import Effort, maximise
from cboc.space.space import Space
from cboc.surrogate.fitting import Model, build, fit
from cboc.surrogate.gp import GP
from cboc.surrogate.kernels import squared_exponential
from cboc.surrogate.priors import LogNormal
from cboc.surrogate.transforms import standardised
from cboc.utility.improvement import LogEI
from states import State, collect

SIZES = ((2, 20), (4, 60), (8, 60), (8, 200))
BRUTE = Effort(samples=12_800, edges=12_800, cloud=6_400, starts=800)
NEAR = 0.01
PEER = Model(
    squared_exponential, standardised, noise=LogNormal(-4.0, 1.0), noise_floor=1e-4
)  # SingleTaskGP's posterior


def speed(D: int, n: int, rounds: int, peer_steps: int) -> tuple[float, float, float]:
    """CPU seconds per step, ours, BoTorch's and Optuna's, around n points in D dimensions."""
    problem = levy(D)
    study = Study(problem.space, ("alone",), horizon=rounds, rule="identity")
    first = np.random.default_rng(n).random((n - rounds // 2, D))
    data = Dataset(first, problem.values(first), direction="minimise")
    site = Site(study, "alone", Ledger(study), direction="minimise", data=data, policy=Policy(initial=0))
    ours, known = [], []
    for _ in range(rounds):
        known.append(site.dataset)
        ours.append(cpu(site.ask))
        trial = site.ask()  # the same one
        site.tell(trial, problem(trial.design(problem.space)))
    sampled = optuna_gp.Sampled(D)
    botorch, optuna = [], []
    for data in known[:: max(1, rounds // peer_steps)]:  # afterwards: they would empty the caches of our steps
        botorch.append(cpu(lambda: peer.step(data.X, data.score)))  # noqa: B023 - used up within this turn
        sampled.learn(data.X, data.score)
        optuna.append(cpu(sampled.step))
    return float(np.mean(ours[1:])), float(np.mean(botorch[1:])), float(np.mean(optuna[1:]))


def cpu(function: Callable[[], object]) -> float:
    """The CPU seconds that a call takes."""
    started = time.process_time()
    function()
    return time.process_time() - started


def best_log_ei(gp: GP, seed: int) -> float:
    """The brute-force maximum of LogEI on a surrogate."""
    space = Space({f"x{d}": (0.0, 1.0) for d in range(gp.X.shape[1])})
    return maximise(LogEI(gp), space, np.random.default_rng(seed), BRUTE)[1]


def judge_ours(state: State, seed: int) -> tuple[float, float]:
    """What is missing to the best utility and to the best log posterior, as the study ran."""
    gp = build(state.X, state.y, state.theta)
    found = float(LogEI(gp)(state.proposed[None])[0])
    best = max(fit(state.X, state.y, starts=20).log_posterior, gp.log_posterior)
    return best_log_ei(gp, seed) - found, best - gp.log_posterior


def judge_peer(state: State, seed: int) -> tuple[float, float]:
    """The same for BoTorch. Its surrogate is rebuilt from its hyper-parameters, because our brute force is faster."""
    torch.manual_seed(seed)
    model = peer.fit(state.X, state.y)
    x, _ = peer.maximise(peer.utility(model, state.y), state.X.shape[1])
    sides, noise = model.covar_module.lengthscale.detach().numpy()[0], float(model.likelihood.noise)
    gp = build(state.X, state.y, np.log([*sides, noise]), PEER)
    best = max(fit(state.X, state.y, model=PEER, starts=20).log_posterior, gp.log_posterior)
    found = float(LogEI(gp)(x[None])[0])
    return max(best_log_ei(gp, seed), found) - found, best - gp.log_posterior


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    parser.add_argument("--states", type=int, default=100)
    options = parser.parse_args()
    rounds, peer_steps, states = (9, 3, 7) if options.quick else (33, 11, options.states)

    print(f"{'D':>3} {'n':>4} {'cboc ms':>9} {'BoTorch ms':>11} {'ratio':>7} {'Optuna ms':>11} {'ratio':>7}")
    for D, n in SIZES:
        ours, botorch, optuna = speed(D, n, min(rounds, n), peer_steps)
        theirs = "".join(f" {1e3 * cost:11.1f} {cost / ours:7.1f}" for cost in (botorch, optuna))
        print(f"{D:3} {n:4} {1e3 * ours:9.2f}{theirs}", flush=True)

    missing: dict[str, list[tuple[float, float]]] = {"cboc": [], "BoTorch": []}
    for seed, state in enumerate(collect(states, seed=2000)):
        missing["cboc"].append(judge_ours(state, seed))
        missing["BoTorch"].append(judge_peer(state, seed))
        print(f"\r{seed + 1} of {states} states", end="", flush=True)
    print(f"\r\n{'within 0.01 of the best':26} {'utility':>8} {'log posterior':>14}")
    for name, rows in missing.items():
        utility, posterior = (np.array(rows) <= NEAR).mean(axis=0)
        print(f"{name:26} {utility:8.0%} {posterior:14.0%}")


if __name__ == "__main__":
    main()
