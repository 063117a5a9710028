"""What a round costs as the study grows: CPU time and memory against the number of sites K and of data points n.

    python benchmarks/round.py            K = 5 .. 1,000 and n = 20 .. 200
    python benchmarks/round.py --quick    up to K = 100

The sites think together and propose, the ledger mixes, every site gets its design; experiments cost nothing here.
Linear in K means a flat column 'per site'.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import resource
import time

import numpy as np

from cboc import Dataset, Ledger, Policy, Site, Study
from cboc.problems.synthetic import levy
from cboc.site.batch import think


def participants(K: int, n: int, D: int) -> list[Site]:
    problem = levy(D)
    names = [f"site-{k}" for k in range(K)]
    study = Study(problem.space, names, horizon=10, rule="leader", pace="rounds")
    ledger = Ledger(study)
    sites = []
    for k, name in enumerate(names):
        X = np.random.default_rng(k).random((n, D))
        data = Dataset(X, problem.values(X), direction="minimise")
        sites.append(Site(study, name, ledger, direction="minimise", data=data, policy=Policy(initial=0)))
    return sites


def play(sites: list[Site]) -> tuple[float, float]:
    """CPU seconds of one round: all of it, and the ledger's part."""
    ledger, spent = sites[0].network, 0.0

    def timed(call):
        def wrapper(*given):
            nonlocal spent
            started = time.process_time()
            try:
                return call(*given)
            finally:
                spent += time.process_time() - started

        return wrapper

    submit, mix = ledger.submit, ledger.mix
    ledger.submit, ledger.mix = timed(submit), timed(mix)
    started = time.process_time()
    think(sites)
    for site in sites:
        site.propose()
    trials = [site.ask() for site in sites]
    total = time.process_time() - started
    ledger.submit, ledger.mix = submit, mix
    for site, trial in zip(sites, trials, strict=True):
        site.tell(trial, float(trial.x.sum()))
    return total, spent


def measure(K: int, n: int, D: int) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sites = participants(K, n, D)
    play(sites)  # the first round fits from cold and loads what is loaded lazily
    total, ledger = play(sites)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{K:5} {n:4} {D:3} {total:9.2f} {1e3 * total / K:11.2f} {1e3 * ledger / K:13.3f} "
        f"{peak / 1024:8.0f} {(peak - before) / K:11.0f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    options = parser.parse_args()
    print(
        f"{'K':>5} {'n':>4} {'D':>3} {'round s':>9} {'per site ms':>11} "
        f"{'ledger/site':>13} {'peak MB':>8} {'kB per site':>11}"
    )
    for K in (5, 20, 100) if options.quick else (5, 20, 100, 300, 1000):
        measure(K, 20, 2)
    for n in (50, 100) if options.quick else (50, 100, 200):
        measure(20, n, 4)


if __name__ == "__main__":
    main()
