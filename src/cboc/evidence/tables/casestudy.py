"""The case study as tables: the final results of the sites, together and alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array
from cboc.evidence.casestudy import SETUPS, Account, by_method, optima
from cboc.evidence.tables.summary import ALONE
from cboc.evidence.tables.table import Table
from cboc.runs.metrics import Paired, area, lead, margin, paired

TITLES = {
    "paper": "The paper's biosensor at three sites: θ_max in thousandths",
    "labs": "Six labs, constructed: worth in hundredths of each lab's own optimum",
    "trouble": "The same with two slow labs and one simulation in five failing",
}
NOTHING = ""


def case_tables(accounts: Sequence[Account]) -> list[Table]:
    """The tables of the case study."""
    return [_table(accounts, setup) for setup in SETUPS if by_method(accounts, setup)]


def shown(setup: str, account: Account) -> Array:  # (K, T + 1)
    """The best so far in the units of the table."""
    if SETUPS[setup].is_constructed:
        return 100.0 * account.best / np.array(optima(setup))[:, None]
    return 1e3 * account.best


@dataclass(frozen=True)
class Comparison:
    """A method beside working alone, on the seeds that both have, in the units of the table."""

    end: Paired
    area: Paired
    worst: Paired  # the site that ends worst
    rounds: tuple[float, float]  # until the mean reaches alone's final mean, NaN if never; and alone's own rounds


def compare(setup: str, groups: Mapping[str, Sequence[Account]], method: str) -> Comparison | None:
    """Compare a method with working alone; None if no seed has both."""
    ours, alone = (
        {account.job.seed: shown(setup, account) for account in groups.get(name, ())} for name in (method, ALONE)
    )
    common = sorted(ours.keys() & alone.keys())
    if not common:
        return None
    one, other = (np.array([curves[seed] for seed in common]) for curves in (ours, alone))  # (seeds, K, T + 1)
    needed, theirs = lead(one.mean(axis=(0, 1)), other.mean(axis=(0, 1)))
    return Comparison(
        end=paired(one[:, :, -1].mean(axis=1), other[:, :, -1].mean(axis=1)),
        area=paired(area(one).mean(axis=1), area(other).mean(axis=1)),
        worst=paired(one[:, :, -1].min(axis=1), other[:, :, -1].min(axis=1)),
        rounds=(float(needed), float(theirs)),
    )


def _table(accounts: Sequence[Account], setup: str) -> Table:
    groups = by_method(accounts, setup)
    rows = tuple(_row(setup, groups, method) for method in groups)
    head = ("", "seeds", "at the end", "spread", "− alone", "area − alone", "worst site − alone", "rounds, of alone")
    best = np.mean(optima(setup)) * 1e3
    ceiling = (
        "100 is the optimum." if SETUPS[setup].is_constructed else f"The optimum is a corner of the box: {best:.3f}."
    )
    note = (
        f"{ceiling} Means over sites and seeds; every ± is a 95 % interval over seeds, and differences are paired by "
        "seed. Spread: the standard deviation over sites and seeds at the end. Area: the mean over the rounds. Rounds: "
        "after how many the mean is where working alone ends, of how many alone needs. Every method works with this "
        "library's default surrogate."
    )
    return Table(TITLES[setup], head, rows, (note,))


def _row(setup: str, groups: Mapping[str, Sequence[Account]], method: str) -> tuple[str, ...]:
    ends = np.array([shown(setup, account)[:, -1] for account in groups[method]])  # (seeds, K)
    by_seed = ends.mean(axis=1)
    end = _within(f"{by_seed.mean():.3f}", float(margin(by_seed)))
    first = (method, str(len(ends)), end, f"{ends.std():.3f}")
    found = compare(setup, groups, method) if method != ALONE else None
    if found is None:
        return (*first, *[NOTHING] * 4)
    needed, theirs = found.rounds
    arrival = "never" if np.isnan(needed) else f"{needed:.0f}"
    return (*first, *map(_signed, (found.end, found.area, found.worst)), f"{arrival}, {theirs:.0f}")


def _signed(paired: Paired) -> str:
    return _within(f"{paired.difference:+.3f}", paired.margin)


def _within(value: str, margin: float) -> str:
    """The value with its interval; a single seed has no interval."""
    return value if np.isnan(margin) else f"{value} ± {margin:.3f}"
