"""Does a surrogate of few points hold? Its predictions of designs that it has not seen, by the number of points.

    python research/few_points.py              30 seeds of every problem, in a minute; here and in results/few_points.md

For n space-filling designs of a site's problem, without and with noise (a tenth of the problem's spread): the share of
256 other designs whose value lies within the 95 % interval, and how much better the log score is than that of a normal
distribution with the mean and the spread of the n outcomes, in nats, on the scale on which the surrogate sees them. 0
is a model that knows no more than that; well below 0 is a broken one.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array
from cboc.data.dataset import Dataset
from cboc.evidence.engines import engine
from cboc.evidence.scenario import Scenario
from cboc.evidence.tables.table import Table, Writing, write
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.situation import Situation
from rows import RESULTS, Row
from starting import NAMES

SEEDS = range(30)
UNSEEN = 256
POINTS = {
    "2": lambda _: 2,
    "D": lambda D: max(2, D),
    "2 D": lambda D: 2 * D,
    "5 D": lambda D: 5 * D,
}
NOISES = (0.0, 0.1)


@dataclass(frozen=True)
class Job:
    problem: str
    noise: float
    points: str  # one of POINTS
    seed: int


def work(job: Job) -> Row:
    site = Scenario(job.problem, 1, is_displaced=True, noise=job.noise).problems(job.seed)[0]
    space, rng = site.space, np.random.default_rng(job.seed)
    X, Q = space.sample(POINTS[job.points](space.dimension), rng), space.sample(UNSEEN, rng)
    y = np.array([site(space.from_unit(x)) for x in X])
    if np.ptp(y) <= 1e-9 * abs(y).max():
        return {"within": np.nan, "gain": np.nan}  # nothing to learn from: all outcomes are the same
    gp = Bayesian().surrogate(Situation(Dataset(X, y, direction=site.direction), space))
    truth = gp.transform.forward(site.direction.sign * site.values(Q))
    mean, sd = gp.moments(Q)
    return {
        "within": float((abs(mean - truth) <= 1.96 * sd).mean()),
        "gain": _log_score(truth, mean, sd) - _log_score(truth, gp.y.mean(), gp.y.std(ddof=1)),
    }


def _log_score(truth: Array, mean: Array | float, sd: Array | float) -> float:
    """The median over designs of log N(truth | mean, sd²): a single far outlier does not decide."""
    return float(np.median(-0.5 * ((truth - mean) / sd) ** 2 - np.log(sd)))


def main() -> None:
    jobs = [Job(name, noise, n, seed) for name in NAMES for noise in NOISES for n in POINTS for seed in SEEDS]
    rows = dict(engine()(work, jobs))
    tables = []
    for measure, title in (("within", "share within the 95 % interval"), ("gain", "log score over a plain normal")):
        lines = []
        for name in NAMES:
            for noise in NOISES:
                line = [f"{name}{f', noise {noise:g}' if noise else ''}"]
                for n in POINTS:
                    values = [rows[Job(name, noise, n, seed)][measure] for seed in SEEDS]
                    line.append(f"{np.nanmedian(values):+.2f} ({np.nanquantile(values, 0.1):+.2f})")
                lines.append(tuple(line))
        columns = ("", *POINTS)
        tables.append(Table(title, columns, tuple(lines), (f"Median over {len(SEEDS)} seeds (lowest tenth).",)))
    print(write(tables, Writing.TEXT))
    (RESULTS / "few_points.md").write_text(write(tables, Writing.MARKDOWN), encoding="utf-8")


if __name__ == "__main__":
    main()
