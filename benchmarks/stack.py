"""The steps of ten sites in one process, together (`think`) against one after another: the same designs, for less.

    python benchmarks/stack.py            three problems, all their rounds
    python benchmarks/stack.py --quick    a few rounds of each

Two copies of every study run in step, round by round in turn; shown is the CPU time of a proposal, and their ratio.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import time

import numpy as np

from cboc import Ledger, Policy, Site, Study
from cboc.problems.problem import Problem
from cboc.problems.synthetic import problem, sites_of
from cboc.site.batch import think

CASES = {"levy-2": (10, 40), "shekel-10": (20, 80), "levy-8": (40, 160)}  # initial designs, rounds


def open_sites(problems: list[Problem], initial: int, rounds: int) -> list[Site]:
    names = tuple(f"site {k + 1}" for k in range(len(problems)))
    study = Study(problems[0].space, names, rounds, rule="identity")
    ledger = Ledger(study)
    sites = [Site(study, name, ledger, direction="minimise", policy=Policy(initial=initial)) for name in names]
    for _ in range(initial):
        run(sites, problems)
    return sites


def run(sites: list[Site], problems: list[Problem]) -> None:
    for site, one in zip(sites, problems, strict=True):
        trial = site.ask()
        site.tell(trial, one(trial.design(one.space)))


def propose(sites: list[Site], is_together: bool) -> float:
    """CPU seconds of a round's proposals."""
    started = time.process_time()
    if is_together:
        think(sites)
    for site in sites:
        site.propose()
    return time.process_time() - started


def compare(name: str, count: int, initial: int, rounds: int) -> tuple[float, float]:
    """CPU seconds per proposal, alone and together."""
    problems = sites_of(problem(name), count, np.random.default_rng(1))
    alone, together = (open_sites(problems, initial, rounds) for _ in range(2))
    spent = np.zeros(2)
    for _ in range(rounds):
        spent += propose(alone, False), propose(together, True)
        for sites in (alone, together):
            run(sites, problems)
    assert [site.trials for site in alone] == [site.trials for site in together], "the same bits"
    one, other = spent / (rounds * count)
    return float(one), float(other)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    parser.add_argument("--sites", type=int, default=10)
    options = parser.parse_args()
    print(f"{'problem':12} {'n':>9} {'alone ms':>9} {'together ms':>12} {'ratio':>6}")
    for name, (initial, horizon) in CASES.items():
        rounds = 4 if options.quick else horizon
        alone, together = compare(name, options.sites, initial, rounds)
        sizes = f"{initial}..{initial + rounds}"
        print(f"{name:12} {sizes:>9} {1e3 * alone:9.2f} {1e3 * together:12.2f} {alone / together:6.2f}", flush=True)


if __name__ == "__main__":
    main()
