"""How often `cboc.advice.slips` asks about honest outcomes, and how many typing slips it finds.

    python research/slips.py              seeds 100 to 104, those of docs/decisions/slips.md; about ten minutes
    python research/slips.py --tune       seeds 0 to 5, from which the two constants were chosen

Sites optimise versions of the library's test problems, together and alone, looked at in four ways: as they are, with
noise of heavy tails, over many decades (exp), and as a yield in which most designs give nothing. Every third outcome
from the fourth on is judged by what was told before it: as it is, and mistyped.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator

import numpy as np

from cboc import Dataset, Ledger, Policy, Site, Study, simulate
from cboc.advice.slips import Told, _seen, _unexpected
from cboc.arrays import Array
from cboc.problems.problem import Problem
from cboc.problems.sites import displaced, sites_of
from cboc.problems.synthetic import problem
from cboc.site.trial import Trial

NAMES = (
    *("branin", "levy-1", "levy-2", "levy-4", "ackley-5", "shekel-10", "hartmann-6", "rosenbrock-2", "rosenbrock-4"),
    *("styblinski-tang-4", "michalewicz-5", "rastrigin-4"),
)
SITES = ("a", "b", "c")
SLIPS: dict[str, Callable[[float], float]] = {
    "10 times": lambda y: 10.0 * y,
    "100 times": lambda y: 100.0 * y,
    "1000 times": lambda y: 1000.0 * y,
    "a tenth": lambda y: y / 10.0,
    "a hundredth": lambda y: y / 100.0,
    "its sign": lambda y: -y,
}
NOTICEABLE = 0.05  # of the range so far: a slip that changes less is none
STEP, FIRST, LATE = 3, 3, 12  # every third outcome, from this one on; from when on there are many


def as_is(site: Problem, middle: float, spread: float, rng: np.random.Generator) -> Callable[..., float]:  # noqa: ARG001
    return site


def noisy(site: Problem, middle: float, spread: float, rng: np.random.Generator) -> Callable[..., float]:  # noqa: ARG001
    return lambda design: site(design) + 0.3 * spread * rng.standard_t(4)


def decades(site: Problem, middle: float, spread: float, rng: np.random.Generator) -> Callable[..., float]:  # noqa: ARG001
    return lambda design: float(np.exp(2.0 * (site(design) - middle) / spread))


def as_yield(site: Problem, middle: float, spread: float, rng: np.random.Generator) -> Callable[..., float]:
    def measure(design: dict[str, object]) -> float:
        part = 60.0 * ((middle - site(design)) / spread - 0.3)
        return float(np.clip(part, 0.0, 100.0) * (1.0 + 0.03 * rng.standard_normal()))

    return measure


LOOKS = {"as it is": as_is, "noisy": noisy, "decades": decades, "yield": as_yield}


def trials(name: str, look: str, seed: int) -> Iterator[tuple[str, list[Trial]]]:
    """The trials of three sites, together or alone."""
    common = displaced(problem(name), np.random.default_rng([seed, 1]))
    sites = dict(zip(SITES, sites_of(common, len(SITES), np.random.default_rng([seed, 2])), strict=True))
    measures = {}
    for k, (site, each) in enumerate(sites.items()):
        values = each.values(each.space.sample(1024, np.random.default_rng(0)))
        spread = max(float(values.std()), 1e-3 * problem(name).depth)
        rng = np.random.default_rng([10 * seed + k, 7])
        measures[site] = LOOKS[look](each, float(np.median(values)), spread, rng)
    is_together = (seed + list(LOOKS).index(look)) % 2 == 0
    study = Study(common.space, SITES, 18, rule=None if is_together else "identity")
    direction = "maximise" if look == "yield" else "minimise"
    history = simulate(study, measures, direction=direction, policy=Policy(seed=seed))
    yield from ((direction, history.of(site)) for site in SITES)


def judged(direction: str, all_trials: list[Trial], found: dict[str, list[bool]], look: str) -> None:
    """Judge outcomes by those before them, and keep whether there was a question."""
    X, y = np.array([trial.x for trial in all_trials]), np.array([trial.y for trial in all_trials])
    study = Study({f"x{d}": (0.0, 1.0) for d in range(X.shape[1])}, ("a",), 1, rule="identity")
    for n in range(FIRST, len(y), STEP):
        data = Dataset(X[:n], y[:n], direction=direction)
        site = Site(study, "a", Ledger(study), direction=direction, data=data, policy=Policy(initial=0, seed=1))
        typed = [float(y[n]), *(float(mistype(y[n])) for mistype in SLIPS.values())]
        asked = questions(site, X[n], typed)
        when = "late" if n >= LATE else "early"
        found[f"honest, {look}"].append(asked[0])
        found[f"honest, {when}"].append(asked[0])
        for slip, each, is_asked in zip(SLIPS, typed[1:], asked[1:], strict=True):
            if abs(each - y[n]) > NOTICEABLE * np.ptp(y[:n]):
                found[f"{slip}, {when}"].append(is_asked)


def questions(site: Site, x: Array, typed: list[float]) -> list[bool]:
    """Whether each of these outcomes at x would be asked about, as `slips` does it, with one surrogate for all."""
    told = [Told(k, x, each) for k, each in enumerate(typed)]
    unexpected = _unexpected(site, told)
    return [bool(_seen(site, site.dataset.y, [each])[1]) or each.number in unexpected for each in told]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tune", action="store_true")
    seeds = range(6) if parser.parse_args().tune else range(100, 105)
    found: dict[str, list[bool]] = defaultdict(list)
    for seed in seeds:
        for name in NAMES:
            for look in LOOKS:
                for direction, each in trials(name, look, seed):
                    judged(direction, each, found, look)
    for what, asked in sorted(found.items()):
        print(f"{what:24} {100 * np.mean(asked):6.2f} % of {len(asked)}")
    honest = [asked for what, each in found.items() if what in ("honest, late", "honest, early") for asked in each]
    print(f"{'honest':24} {100 * np.mean(honest):6.2f} % of {len(honest)}")


if __name__ == "__main__":
    main()
