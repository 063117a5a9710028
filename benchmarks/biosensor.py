"""What one answer of the biosensor costs, and how much a finer mesh would change it.

    python benchmarks/biosensor.py            fineness 0.5, 1 and 2, both flows, three settings
    python benchmarks/biosensor.py --quick    fineness 0.5 and 1, one setting
    python benchmarks/biosensor.py --full     fineness 4, too: half a minute of CPU and 1.8 GB for each setting

The cost is CPU time on one thread in yardsticks of the same run: SuperLU's factors of the five-point Laplacian on 120 x
120 points, and a hundred solutions. Each answer is a process of its own, whose peak memory is stated.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from scipy.sparse import diags_array, eye_array, kron
from scipy.sparse.linalg import splu

from cboc.evidence.biosensor.advection import mesh_of
from cboc.evidence.biosensor.flow import Flow
from cboc.evidence.biosensor.response import Numerics, respond
from cboc.evidence.biosensor.sensor import Channel, Setting

SIDE = 120
SETTINGS = {
    "hi": Setting(inflow=1e-2, receptors=1.8e-8, width=30.0),
    "mid": Setting(inflow=1e-3, receptors=2.5e-8, width=90.0),
    "lo": Setting(inflow=1e-4, receptors=3.3e-8, width=180.0),
}


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def yardstick() -> None:
    line = diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(SIDE, SIDE))
    factors = splu((kron(line, eye_array(SIDE)) + kron(eye_array(SIDE), line)).tocsc())
    for _ in range(100):
        factors.solve(np.ones(SIDE**2))


def answer(name: str, numerics: Numerics) -> tuple[int, float, float, float, float]:
    """Unknowns, peak, CPU seconds, seconds of the yardstick, peak memory in MB."""
    cost = seconds(lambda: respond(SETTINGS[name], numerics=numerics))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    peak = respond(SETTINGS[name], numerics=numerics).peak
    return mesh_of(Channel(), numerics.fineness).basis.N, peak, cost, seconds(yardstick), memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    parser.add_argument("--full", action="store_true", help="the finest mesh, too")
    options = parser.parse_args()
    finenesses = (0.5, 1.0) if options.quick else (0.5, 1.0, 2.0, 4.0) if options.full else (0.5, 1.0, 2.0)

    titles = f"{'fineness':>8} {'unknowns':>9} {'peak':>12} {'change':>9} {'CPU, s':>7} {'/ yard':>7} {'MB':>6}"
    print(f"{'':4} {'flow':14} {titles}")
    for name in list(SETTINGS)[: 1 if options.quick else None]:
        for flow in Flow:
            before = np.nan
            for fineness in finenesses if flow == Flow.POISEUILLE else (1.0,):
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
                    row = alone.submit(answer, name, Numerics(fineness=fineness, flow=flow)).result()
                unknowns, peak, cost, yard, memory = row
                change = f"{peak / before - 1:+9.3%}" if np.isfinite(before) else f"{'':9}"
                print(
                    f"{name:4} {flow:14} {fineness:8} {unknowns:9} {peak:12.6e} {change} "
                    f"{cost:7.2f} {cost / yard:7.1f} {memory:6.0f}",
                    flush=True,
                )
                before = peak


if __name__ == "__main__":
    main()
