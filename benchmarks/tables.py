"""What Tables 1 to 4 cost: our measured CPU time, and what the same would take with BoTorch's loop.

    python benchmarks/tables.py                  from evidence/costs.jsonl, and a sample of BoTorch steps on real states
    python benchmarks/tables.py --quick          fewer states

Ours is the sum over the runs that are kept. BoTorch's is its CPU time for one step (fit and maximise, as in step.py) on
states from the beginning, the middle and the end of a run on each problem, times the number of steps.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import time
from pathlib import Path

import numpy as np

from cboc.evidence.job import Row
from cboc.evidence.methods.consensus import Consensus
from cboc.evidence.paper import COLUMNS, SCENARIOS
from cboc.evidence.results import Results
from cboc.evidence.scenario import Scenario
from cboc.strategy.bayesian import Bayesian

EVIDENCE = Path(__file__).parents[1] / "evidence"
SURROGATE = "default"
SAMPLED = (0.0, 0.5, 1.0)  # of the rounds


def botorch_step(scenario: Scenario, repeats: int) -> float:
    """CPU seconds of one step, the mean over the sampled states."""
    import peer

    case = Scenario(scenario.problem, 1, rounds=scenario.horizon).case(0, Bayesian())
    X = np.vstack([case.initial[0].X, Consensus("identity")(case)[0]])
    y = -case.problems[0].values(X)
    seconds = []
    for share in SAMPLED:
        n = len(case.initial[0]) + round(share * (scenario.horizon - 1))
        peer.step(X[:n], y[:n])  # what is slow the first time
        started = time.process_time()
        for _ in range(repeats):
            peer.step(X[:n], y[:n])
        seconds.append((time.process_time() - started) / repeats)
    return float(np.mean(seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer states")
    repeats = 1 if parser.parse_args().quick else 3
    results = Results(EVIDENCE, Row)
    theirs: dict[str, float] = {}
    totals = np.zeros(3)
    print(f"{'row':26} {'runs':>5} {'steps':>9} {'ours, ms':>9} {'BoTorch, ms':>12} {'ratio':>6}")
    for scenario in SCENARIOS:
        jobs = [job for job in results.rows if job.scenario == scenario and job.surrogate == SURROGATE]
        jobs = [job for job in jobs if job.method in COLUMNS and job.name in results.costs]
        if not jobs:
            continue
        if scenario.problem not in theirs:
            theirs[scenario.problem] = botorch_step(scenario, repeats)
        steps, cpu = sum(job.size for job in jobs), sum(results.costs[job.name] for job in jobs)
        peer_cpu = steps * theirs[scenario.problem]
        totals += steps, cpu, peer_cpu
        row = (len(jobs), steps, 1e3 * cpu / steps, 1e3 * theirs[scenario.problem], peer_cpu / cpu)
        print(f"{scenario.name:26} {row[0]:5} {row[1]:9} {row[2]:9.1f} {row[3]:12.1f} {row[4]:6.1f}", flush=True)
    steps, cpu, peer_cpu = totals
    print(f"\nthe paper's methods ({', '.join(COLUMNS)}): {steps:.0f} steps, {cpu / 3600:.2f} hours of CPU;")
    print(f"with BoTorch's step for each: about {peer_cpu / 3600:.0f} hours, {peer_cpu / cpu:.0f} times as much.")


if __name__ == "__main__":
    main()
