"""The campaigns on real tables as tables: by family, start and pace, never pooled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cboc.arrays import Array
from cboc.errors import CbocError
from cboc.evidence.methods.registry import in_order
from cboc.evidence.real.campaign import ALONE, EXPERIMENTS, METHODS_SHOWN, NULL, OURS, Pace, Progress
from cboc.evidence.real.families import FAMILIES
from cboc.evidence.tables.cells import NOTHING, chance, difference, percent, span
from cboc.evidence.tables.table import Table
from cboc.runs.metrics import Paired, harm_rate, paired

NEVER = EXPERIMENTS + 1
RIVAL = "others-best-first"  # shares best designs only, less than the default
CEILINGS = ("pooled", "rgpe")  # not private
PACES = {Pace.ROUNDS: "in rounds", Pace.FREE: "at the free pace"}
HEAD = (
    *("", "seeds", "area", "area − alone", "final", "final − alone"),
    *("to 95 %", "to 95 % − alone", "median", "never", "harmed", "helped", "repeats"),
)
CURSE = (
    "The optimum of a table of single noisy measurements is partly luck (a winner's curse), so that the last steps to "
    "it are too."
)


class Setting(NamedTuple):
    """The conditions under which methods are compared."""

    family: str
    initial: int
    pace: Pace

    @property
    def name(self) -> str:
        return f"{FAMILIES[self.family].title}, {self.initial} initial designs, {PACES[self.pace]}"


@dataclass(frozen=True)
class Cell:
    """One method in one setting, seed by seed, with working alone on the same seeds where there is any."""

    rows: tuple[Progress, ...]
    alone: tuple[Progress, ...] = ()

    @cached_property
    def curves(self) -> Array:  # (seeds, 40)
        return np.array([row.curve for row in self.rows])

    def of(self, measure: str) -> Array:  # (seeds, K)
        """A measure by seed and site."""
        return np.array([getattr(row, measure) for row in self.rows], dtype=float)

    def mean(self, measure: str) -> float:
        return float(self.of(measure).mean())

    def gain(self, measure: str) -> Paired:
        """The measure minus that of working alone, paired by seed."""
        return paired(self.of(measure).mean(axis=1), Cell(self.alone).of(measure).mean(axis=1))

    @property
    def median_arrival(self) -> float:
        return float(np.median(self.of("arrival")))

    @property
    def never(self) -> float:
        """The share of sites that never come near their optimum."""
        return float((self.of("arrival") == NEVER).mean())

    @property
    def harm(self) -> tuple[float, float]:
        """The shares of sites that end below, and above, the same site alone by more than 0.01."""
        ours, theirs = self.of("final"), Cell(self.alone).of("final")
        return harm_rate(ours, theirs), harm_rate(theirs, ours)


class Campaigns:
    """The cells of a collection of campaigns."""

    def __init__(self, rows: Iterable[Progress]) -> None:
        self._rows: dict[tuple[Setting, str], dict[int, Progress]] = {}
        counts: dict[str, int] = {}
        for row in rows:
            key = (Setting(row.job.family, row.job.initial, row.job.pace), row.job.method)
            self._rows.setdefault(key, {})[row.job.seed] = row
            sites = counts.setdefault(row.job.family, len(row.area))
            if len(row.area) != sites:
                raise CbocError(
                    f"the runs of {row.job.family} have {sites} sites and {len(row.area)}: they were not made from the "
                    "same tables. Delete those of one of them; a missing result is run again."
                )

    @property
    def settings(self) -> list[Setting]:
        """The settings with rows: family by family, the starts and paces of the protocol first."""
        there = {setting for setting, _ in self._rows}
        return sorted(there, key=lambda one: (one.pace is Pace.FREE, one.initial, list(FAMILIES).index(one.family)))

    @property
    def groups(self) -> list[tuple[int, Pace]]:
        """The starts and paces that have rows."""
        return list(dict.fromkeys((setting.initial, setting.pace) for setting in self.settings))

    def of(self, initial: int, pace: Pace) -> list[Setting]:
        """The settings with this start and pace, family by family."""
        return [setting for setting in self.settings if (setting.initial, setting.pace) == (initial, pace)]

    def methods(self, *settings: Setting) -> list[str]:
        """The methods with rows in any of these settings."""
        there = {name for setting, name in self._rows if setting in settings}
        return in_order(there, METHODS_SHOWN)

    def cell(self, setting: Setting, method: str, against: str = ALONE, beside: Sequence[str] = ()) -> Cell | None:
        """The cell, on the seeds that both have where there are any, and those `beside` it, too; None without rows."""
        found = self._rows.get((setting, method))
        if not found:
            return None
        alone = self._rows.get((setting, against), {})
        others = [self._rows[setting, name].keys() for name in beside if (setting, name) in self._rows]
        seeds = sorted(found.keys() & alone.keys() & set.intersection(set(found), *map(set, others))) or sorted(found)
        return Cell(tuple(found[seed] for seed in seeds), tuple(alone[seed] for seed in seeds if seed in alone))


def real_tables(rows: Iterable[Progress]) -> list[Table]:
    """For every start and pace: the default in short, all methods against alone, the default against all others."""
    campaigns = Campaigns(rows)
    makers = (short_table, gains_table, default_table)
    overviews = [make(campaigns, *group) for group in campaigns.groups for make in makers]
    return [table for table in overviews if table.rows]


def real_details(rows: Iterable[Progress]) -> list[Table]:
    """Everything that was measured, a table for each family, start and pace."""
    campaigns = Campaigns(rows)
    return [family_table(campaigns, setting) for setting in campaigns.settings]


def short_table(campaigns: Campaigns, initial: int, pace: Pace) -> Table:
    """The default and its closest rival, a family in each row."""
    rows, counts, compared = [], [], 0
    for setting in campaigns.of(initial, pace):
        shown = (ALONE, OURS, RIVAL, NULL)
        alone, ours, rival, null = (campaigns.cell(setting, name, beside=shown) for name in shown)
        if alone is None or ours is None or not ours.alone:
            continue
        gains = [cell.gain("area") if cell is not None and cell.alone else None for cell in (ours, rival, null)]
        counts += [gain.seeds for gain in gains if gain is not None]
        compared += sum(gain is not None for gain in gains[:2])
        medians = [NOTHING if cell is None else f"{cell.median_arrival:g}" for cell in (alone, ours, rival)]
        is_reached = alone.median_arrival < NEVER
        share = percent(ours.median_arrival / alone.median_arrival) if is_reached else NOTHING
        area = f"{alone.mean('area'):.3f}"
        rows.append((FAMILIES[setting.family].title, area, *map(difference, gains), *medians, share))
    head = (
        *("", "area alone", f"{OURS} − alone", f"{RIVAL} − alone", "the null"),
        *("to 95 %: alone", OURS, RIVAL, f"{OURS}, of alone"),
    )
    seeds = f"{span(counts)} seeds" if counts else "no seeds yet"
    note = (
        f"Area: the mean Gap over all 40 experiments, differences paired by seed with 95 % intervals; {seeds}. "
        f"{chance(compared)} The null is {NULL} − alone: what two runs of the same thing differ by. To 95 %: the "
        f"median, over sites and seeds, of the experiments until the Gap is 0.95; {NEVER} is never. {CURSE}"
    )
    return Table(f"In short, {initial} initial designs, {PACES[pace]}", head, tuple(rows), (note,))


def gains_table(campaigns: Campaigns, initial: int, pace: Pace) -> Table:
    """Area minus alone's: methods in rows, families in columns."""
    methods = [name for name in campaigns.methods(*campaigns.of(initial, pace)) if name != ALONE]
    title = f"Area minus alone's, {initial} initial designs, {PACES[pace]}"
    return _overview(campaigns, initial, pace, title, [(name, name, ALONE) for name in methods])


def default_table(campaigns: Campaigns, initial: int, pace: Pace) -> Table:
    """Area of the default minus that of each other method: methods in rows, families in columns."""
    others = [name for name in campaigns.methods(*campaigns.of(initial, pace)) if name not in (OURS, NULL)]
    title = f"Area of the default, {OURS}, minus that of each other method, {initial} initial designs, {PACES[pace]}"
    return _overview(campaigns, initial, pace, title, [(f"− {name}", OURS, name) for name in others])


def _overview(
    campaigns: Campaigns, initial: int, pace: Pace, title: str, compared: Sequence[tuple[str, str, str]]
) -> Table:
    """A table of differences in area; a row is its name, the method, and what it is compared with."""
    settings, rows, counts = campaigns.of(initial, pace), [], []
    for name, method, against in compared:
        cells = [campaigns.cell(setting, method, against) for setting in settings]
        gains = [cell.gain("area") if cell is not None and cell.alone else None for cell in cells]
        counts += [gain.seeds for gain in gains if gain is not None]
        rows.append((name, *map(difference, gains)))
    seeds = f"{span(counts)} seeds, 95 % intervals" if counts else "no seeds yet"
    is_null = f" {NULL} is the null, counted among them." if any(method == NULL for _, method, _ in compared) else ""
    note = f"Paired by seed; {seeds}. {chance(len(counts))}{is_null} {CURSE}"
    return Table(title, ("", *(setting.family for setting in settings)), tuple(rows) if counts else (), (note,))


def family_table(campaigns: Campaigns, setting: Setting) -> Table:
    """Every method in one setting, with everything that is measured."""
    cells = {name: campaigns.cell(setting, name) for name in campaigns.methods(setting)}
    rows = tuple(_row(name, cell) for name, cell in cells.items() if cell is not None)
    failed = float(np.mean([cell.mean("failures") for cell in cells.values() if cell is not None]))
    absent = f" Absent rows: {failed:.2f} of a site's experiments failed, the mean of all methods." if failed else ""
    compared = [name for name, cell in cells.items() if name not in (ALONE, NULL) and cell is not None and cell.alone]
    null = (
        f"{NULL} is the null: what two runs of the same thing differ by, in rates of harm as well."
        if NULL in cells
        else f"The null, {NULL}, was not run: rates of harm and help mean nothing without it."
    )
    note = (
        "Gap: from the table's median to its optimum. Area: its mean over all 40 experiments. To 95 %: the experiments "
        f"until the Gap is 0.95, lower is better; never counts as {NEVER}, and the share of sites that never arrive is "
        "in its own column; median: over sites and seeds. Differences are paired by seed, with 95 % intervals. Harmed, "
        "helped: sites that end more than 0.01 below, and above, the same site alone. Repeats: experiments of a site "
        f"with a design that it had run before. {chance(3 * len(compared))} {null} {', '.join(CEILINGS)}: not "
        f"private.{absent} {CURSE}"
    )
    return Table(_capital(setting.name), HEAD, rows, (note,))


def _row(name: str, cell: Cell) -> tuple[str, ...]:
    gains: Sequence[Paired | None] = [None] * 3
    harm, benefit = NOTHING, NOTHING
    if name != ALONE and cell.alone:
        gains = [cell.gain(measure) for measure in ("area", "final", "arrival")]
        harm, benefit = (percent(share) for share in cell.harm)
    area, final, arrival = gains
    return (
        *(name, str(len(cell.rows))),
        *(f"{cell.mean('area'):.3f}", difference(area)),
        *(f"{cell.mean('final'):.3f}", difference(final)),
        *(f"{cell.mean('arrival'):.1f}", difference(arrival, 1)),
        *(f"{cell.median_arrival:g}", percent(cell.never), harm, benefit, f"{cell.mean('repeats'):.1f}"),
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
