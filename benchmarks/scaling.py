"""Two processes against one on the same jobs of the benchmark: wall time, and the same rows.

python benchmarks/scaling.py
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from cboc.evidence.engines import engine
from cboc.evidence.job import Row, work
from cboc.evidence.results import Results
from cboc.evidence.runner import jobs_of, run
from cboc.evidence.scenario import Scenario

JOBS = jobs_of([Scenario("levy-4", 5)], ["individual", "cboc-u"], ["default"], range(2000, 2010))


def main() -> None:
    walls, files = {}, {}
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as place:
            results = Results(Path(place), Row)
            started = time.perf_counter()
            run(work, JOBS, results, engine("local", workers))
            walls[workers] = time.perf_counter() - started
            files[workers] = results.path.read_bytes()
    same = "the same rows" if files[1] == files[2] else "DIFFERENT ROWS"
    print(f"{len(JOBS)} jobs: {walls[1]:.1f} s with 1 process, {walls[2]:.1f} s with 2: ", end="")
    print(f"{walls[1] / walls[2]:.2f} times as fast, {same}")


if __name__ == "__main__":
    main()
