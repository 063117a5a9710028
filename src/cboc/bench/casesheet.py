"""The case study as tables: what the sites had in the end, together and alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cboc.arrays import Array
from cboc.bench.casestudy import SETUPS, Account, by_method, optima
from cboc.bench.sheet import Sheet
from cboc.bench.summary import ALONE, estimate
from cboc.metrics import area, lead, paired

TITLES = {
    "paper": "The paper's biosensor at three sites: θ_max in thousandths",
    "labs": "Six labs, constructed: worth in hundredths of each lab's own optimum",
    "trouble": "The same with two slow labs and one simulation in five failing",
}
NOTHING = ""


def case_sheets(accounts: Sequence[Account]) -> list[Sheet]:
    return [_sheet(accounts, setup) for setup in SETUPS if by_method(accounts, setup)]


def shown(setup: str, account: Account) -> Array:  # (K, T + 1)
    """The best so far in the units of the table."""
    if SETUPS[setup].is_constructed:
        return 100.0 * account.best / np.array(optima(setup))[:, None]
    return 1e3 * account.best


def _sheet(accounts: Sequence[Account], setup: str) -> Sheet:
    groups = {method: _curves(group, setup) for method, group in by_method(accounts, setup).items()}
    rows = tuple(_row(method, curves, groups.get(ALONE)) for method, curves in groups.items())
    head = ("", "seeds", "at the end", "spread", "− alone", "area − alone", "worst site − alone", "rounds, of alone")
    best = np.mean(optima(setup)) * 1e3
    ceiling = (
        "100 is the optimum." if SETUPS[setup].is_constructed else f"The optimum is a corner of the box: {best:.3f}."
    )
    note = (
        f"{ceiling} Means over sites and seeds, ± standard error over seeds. Spread: the standard deviation over sites "
        "and seeds at the end. Differences are paired by seed, with 95 % intervals. Area: the mean over the rounds. "
        "Rounds: after how many the mean is where working alone ends, of how many alone needs."
    )
    return Sheet(TITLES[setup], head, rows, (note,))


def _curves(accounts: Sequence[Account], setup: str) -> dict[int, Array]:
    return {account.job.seed: shown(setup, account) for account in accounts}


def _row(method: str, curves: dict[int, Array], alone: dict[int, Array] | None) -> tuple[str, ...]:
    ours = np.array(list(curves.values()))  # (seeds, K, T + 1)
    first = (
        method,
        str(len(ours)),
        str(estimate(ours[:, :, -1].mean(axis=1))),
        f"{ours[:, :, -1].std():.3f}",
    )
    common = sorted(curves.keys() & alone.keys()) if alone and method != ALONE else []
    if not common or alone is None:
        return (*first, *[NOTHING] * 4)
    one, other = (np.array([group[seed] for seed in common]) for group in (curves, alone))
    differences = (
        (one[:, :, -1].mean(axis=1), other[:, :, -1].mean(axis=1)),
        (area(one).mean(axis=1), area(other).mean(axis=1)),
        (one[:, :, -1].min(axis=1), other[:, :, -1].min(axis=1)),
    )
    needed, theirs = lead(one.mean(axis=(0, 1)), other.mean(axis=(0, 1)))
    arrival = "never" if np.isnan(needed) else f"{needed:.0f}"
    return (*first, *(_signed(*pair) for pair in differences), f"{arrival}, {theirs:.0f}")


def _signed(one: Array, other: Array) -> str:
    difference = paired(one, other)
    if len(one) < 2:
        return f"{difference.difference:+.3f}"
    return f"{difference.difference:+.3f} ± {difference.margin:.3f}"
