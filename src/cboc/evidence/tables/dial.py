"""Worlds with a dial as tables: what company brings against r, the number of sites and the number of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array
from cboc.evidence.dial import ALONE, METHODS_SHOWN, NULL, Reading, World
from cboc.evidence.methods.registry import in_order
from cboc.evidence.tables.cells import NOTHING, chance, difference, span
from cboc.evidence.tables.table import Table
from cboc.problems.worlds import WORLDS
from cboc.runs.metrics import Paired, harm_rate, paired

RELATED = 0.5  # from this r on we call the sites of a dial related
BANDS = {"r = 0": (0.0, 0.0), f"0 < r < {RELATED:g}": (1e-9, RELATED - 1e-9), f"r ≥ {RELATED:g}": (RELATED, 1.0)}
COUNTED = (
    "Every experiment counts: 2 random designs per parameter, 10 experiments per parameter in all. Gap: from the "
    "median of the box to the optimum; area: its mean over all experiments."
)
NULL_NOTE = f"{NULL} is the null, a site alone once more from another start, and is not counted among them."


@dataclass(frozen=True)
class Cell:
    """One method in one world, and working alone on the same seeds at the same sites."""

    rows: tuple[Reading, ...]
    alone: tuple[Reading, ...]
    sites: int

    def of(self, measure: str) -> Array:  # (seeds, K)
        return _measured(self.rows, measure, self.sites)

    def of_alone(self, measure: str) -> Array:  # (seeds, K)
        return _measured(self.alone, measure, self.sites)

    def gains(self, measure: str) -> dict[int, float]:
        """The measure minus that of working alone, by seed."""
        differences = (self.of(measure) - self.of_alone(measure)).mean(axis=1).tolist()
        return dict(zip((row.job.seed for row in self.rows), differences, strict=True))

    def gain(self, measure: str) -> Paired:
        return _paired(list(self.gains(measure).values()))

    @property
    def harm(self) -> tuple[float, float]:
        """The shares of sites that end below, and above, the same site alone by more than 0.01."""
        ours, theirs = self.of("final"), self.of_alone("final")
        return harm_rate(ours, theirs), harm_rate(theirs, ours)


class Readings:
    """The cells of a collection of readings: of reported seeds, or where there are none, of tuning seeds."""

    def __init__(self, rows: Iterable[Reading]) -> None:
        rows = list(rows)
        self.is_tuning = not any(row.job.is_reported for row in rows)
        self.is_mixed = not self.is_tuning and not all(row.job.is_reported for row in rows)  # with tuning seeds
        self._rows: dict[tuple[World, str], dict[int, dict[int, Reading]]] = {}
        for row in rows:
            if row.job.is_reported is not self.is_tuning:
                by_sites = self._rows.setdefault((row.job.world, row.job.method), {})
                by_sites.setdefault(row.job.sites, {})[row.job.seed] = row

    @property
    def worlds(self) -> list[World]:
        """The worlds with readings: kind by kind, fewer parameters first."""
        kinds = list(WORLDS)
        there = {world for world, _ in self._rows}
        return sorted(there, key=lambda world: (kinds.index(world.kind), world.dimension, world.amount))

    @property
    def dials(self) -> list[World]:
        return [world for world in self.worlds if world.kind == "dial"]

    @property
    def variants(self) -> list[World]:
        return [world for world in self.worlds if world.kind != "dial"]

    def sites(self, *worlds: World) -> list[int]:
        """The numbers of sites with which some method was run together in these worlds."""
        together = [key for key in self._rows if key[0] in worlds and key[1] not in (ALONE, NULL)]
        return sorted({count for key in together for count in self._rows[key]})

    def most_sites(self, world: World) -> int:
        """The most sites with which working alone was run in this world; 0 if it was not."""
        return max(self._rows.get((world, ALONE), {0: {}}))

    @property
    def methods(self) -> list[str]:
        """The methods with readings, without working alone and its null."""
        there = {name for _, name in self._rows} - {ALONE, NULL}
        return in_order(there, METHODS_SHOWN)

    def has(self, world: World, method: str) -> bool:
        """Whether the method has readings in this world."""
        return (world, method) in self._rows

    def cell(self, world: World, sites: int, method: str) -> Cell | None:
        """The cell on the seeds that the method and working alone both have; None if there are none."""
        found, alone = (self._by_seed(world, sites, name) for name in (method, ALONE))
        seeds = sorted(found.keys() & alone.keys())
        return Cell(tuple(found[s] for s in seeds), tuple(alone[s] for s in seeds), sites) if seeds else None

    def gain(self, world: World, sites: int, method: str, measure: str = "area") -> Paired | None:
        cell = self.cell(world, sites, method)
        return None if cell is None else cell.gain(measure)

    def mean_gain(self, worlds: Sequence[World], sites: int, method: str, measure: str = "area") -> Paired | None:
        """The mean gain over several worlds, on the seeds that all of them have; None if there are none."""
        cells = [self.cell(world, sites, method) for world in worlds]
        by_seed = [cell.gains(measure) for cell in cells if cell is not None]
        if not by_seed or len(by_seed) < len(cells):
            return None
        seeds = sorted(set.intersection(*(set(gains) for gains in by_seed)))
        means = [float(np.mean([gains[seed] for gains in by_seed])) for seed in seeds]
        return _paired(means) if seeds else None

    def _by_seed(self, world: World, sites: int, method: str) -> dict[int, Reading]:
        """Readings with at least so many sites, if their first ones are the same as in a smaller study."""
        by_sites = self._rows.get((world, method), {})
        if method not in (ALONE, NULL):
            return by_sites.get(sites, {})
        return {seed: row for count in sorted(by_sites) if count >= sites for seed, row in by_sites[count].items()}


def dial_tables(rows: Iterable[Reading]) -> list[Table]:
    """What r means, the gain in short, how often it is clear, cell by cell, and in the variants."""
    readings = Readings(rows)
    gains = [gains_table(readings, method, "area") for method in readings.methods]
    every = [worth_table(readings), short_table(readings), counts_table(readings), *gains, variants_table(readings)]
    return [_marked(readings, table) for table in every if table.rows]


def dial_details(rows: Iterable[Reading]) -> list[Table]:
    """The gain at the end, and who is harmed and helped, cell by cell."""
    readings = Readings(rows)
    finals = [gains_table(readings, method, "final") for method in readings.methods]
    harms = [harm_table(readings, method) for method in readings.methods]
    return [_marked(readings, table) for table in (*finals, *harms)]


def worth_table(readings: Readings) -> Table:
    """What r means: what the best designs that others find alone would be worth here."""
    dimensions = sorted({world.dimension for world in readings.dials})
    rows = []
    for r in sorted({world.amount for world in readings.dials}):
        worlds = {world.dimension: world for world in readings.dials if world.amount == r}
        worth = [_alone(readings, worlds[D], "borrowed") if D in worlds else NOTHING for D in dimensions]
        rows.append((f"r = {r:g}", *worth))
    head = ("", *(f"{dimension} parameters" for dimension in dimensions))
    note = (
        "The Gap that a site would have from one experiment, with the design that another site has found best alone; "
        "0 where it is below the median of the box. No comparison is made here."
    )
    is_known = any(cell != NOTHING for row in rows for cell in row[1:])
    return Table("What a neighbour's best design is worth here", head, tuple(rows) if is_known else (), (note,))


def short_table(readings: Readings) -> Table:
    """The mean gain in area over the related worlds of the dial, and where nothing is in common."""
    related = [world for world in readings.dials if world.amount >= RELATED]
    strangers = [world for world in readings.dials if world.amount == 0.0]
    methods = [*readings.methods, NULL]
    groups = [(name, worlds) for name, worlds in ((f"r ≥ {RELATED:g}", related), ("r = 0", strangers)) if worlds]
    head = ("sites", *(f"{method}, {name}" for name, _ in groups for method in methods))
    rows, counts = [], []
    for sites in readings.sites(*readings.dials):
        cells = {(m, n): readings.mean_gain(worlds, sites, m) for n, worlds in groups for m in methods}
        counts += [gain.seeds for (method, _), gain in cells.items() if gain is not None and method != NULL]
        rows.append((f"K = {sites}", *map(difference, cells.values())))
    pooled = ", and over ".join(f"{len(worlds)} with {name}" for name, worlds in groups)
    note = f"Means over worlds: over {pooled}. {_seeds(counts)} {chance(len(counts))} {NULL_NOTE} {COUNTED}"
    return Table("In short: area minus alone's", head, tuple(rows) if counts else (), (note,))


def counts_table(readings: Readings) -> Table:
    """How many cells of the dial are clearly above and below working alone, for the null as well."""
    sites, rows, compared = readings.sites(*readings.dials), [], 0
    for method in (*readings.methods, NULL):
        line = []
        for low, high in BANDS.values():
            worlds = [world for world in readings.dials if low <= world.amount <= high]
            gains = [g for w in worlds for k in sites if (g := readings.gain(w, k, method)) is not None and g.seeds > 1]
            above, below = (sum(sign * gain.difference > gain.margin for gain in gains) for sign in (1, -1))
            line.append(f"{above} above, {below} below of {len(gains)}" if gains else NOTHING)
            compared += 0 if method == NULL else len(gains)
        rows.append((method, *line))
    note = (
        f"Cells whose 95 % interval of area minus alone's leaves out zero. {chance(compared)} {NULL_NOTE} Cells share "
        "seeds and sites, so that chance comes in clusters."
    )
    return Table("Clearly above, clearly below", ("", *BANDS), tuple(rows) if compared else (), (note,))


def gains_table(readings: Readings, method: str, measure: str) -> Table:
    """The measure of one method minus alone's: worlds in rows, numbers of sites in columns; the null at the end."""
    sites, rows, counts = readings.sites(*readings.dials), [], []
    for world in readings.dials:
        gains = [readings.gain(world, count, method, measure) for count in sites]
        counts += [gain.seeds for gain in gains if gain is not None]
        nulls = [difference(readings.gain(world, count, NULL, measure)) for count in _ends(sites)]
        rows.append((world.name, _alone(readings, world, measure), *map(difference, gains), *nulls))
    head = ("", "alone", *(f"K = {count}" for count in sites), *(f"null, K = {count}" for count in _ends(sites)))
    title = f"{measure.capitalize()} minus alone's: {method}"
    note = f"{_most_alone(readings)} {_seeds(counts)} {chance(len(counts))} {NULL_NOTE} {COUNTED}"
    return Table(title, head, tuple(rows) if counts else (), (note,))


def harm_table(readings: Readings, method: str) -> Table:
    """The shares of sites that are harmed and helped by one method, each beside its null."""
    sites = readings.sites(*readings.worlds)
    rows = [(world.name, *(_harm(readings, world, count, method) for count in sites)) for world in readings.worlds]
    compared = sum(cell != NOTHING for row in rows for cell in row[1:])
    found = [
        readings.gain(world, count, name) for world in readings.worlds for count in sites for name in (method, NULL)
    ]
    counts = [gain.seeds for gain in found if gain is not None]
    title = f"Harmed / helped, in % of sites, in brackets the null's: {method}"
    note = (
        "Harmed, helped: sites that end more than 0.01 below, and above, the same site alone; in brackets the same for "
        f"{NULL}, the null: a site alone once more from another start. {_seeds(counts)} {2 * compared} rates, none of "
        "them a test: each is to be read beside its null."
    )
    return Table(title, ("", *(f"K = {count}" for count in sites)), tuple(rows) if compared else (), (note,))


def variants_table(readings: Readings) -> Table:
    """Shifts, rotations, choices and groups: every method's area and final minus alone's, and the null's."""
    methods, rows, counts = [*readings.methods, NULL], [], []
    for world in readings.variants:
        for sites in readings.sites(world):
            gains = {(m, name): readings.gain(world, sites, m, name) for name in ("area", "final") for m in methods}
            counts += [gain.seeds for (method, _), gain in gains.items() if gain is not None and method != NULL]
            alone = [_alone(readings, world, measure) for measure in ("borrowed", "area")]
            rows.append((f"{world.name}, K = {sites}", *alone, *map(difference, gains.values())))
    head = (
        "",
        "neighbour's best",
        "area alone",
        *(f"{name}: {method}" for name in ("area", "final") for method in methods),
    )
    note = (
        f"Neighbour's best: what it is worth here. Then differences from working alone. {_seeds(counts)} "
        f"{chance(len(counts))} {NULL_NOTE} {COUNTED}"
    )
    return Table("Shifts, rotations, choices, groups", head, tuple(rows) if counts else (), (note,))


def _measured(rows: Sequence[Reading], measure: str, sites: int) -> Array:
    return np.array([getattr(row, measure)[:sites] for row in rows], dtype=float)


def _paired(differences: Sequence[float]) -> Paired:
    return paired(differences, np.zeros(len(differences)))


def _ends(sites: Sequence[int]) -> list[int]:
    """The fewest sites and the most."""
    return sorted({*sites[:1], *sites[-1:]})


def _alone(readings: Readings, world: World, measure: str) -> str:
    """A measure of working alone, at all sites."""
    cell = readings.cell(world, readings.most_sites(world), ALONE)
    return NOTHING if cell is None else f"{cell.of(measure).mean():.3f}"


def _most_alone(readings: Readings) -> str:
    """What the column 'alone' is a mean of: the largest group, of which smaller ones are the first sites."""
    if not readings.dials:
        return "Nobody alone yet."
    most = span([readings.most_sites(world) for world in readings.dials])
    return f"Alone: the mean of all {most} sites; every difference is from the same sites alone."


def _harm(readings: Readings, world: World, sites: int, method: str) -> str:
    cell, null = (readings.cell(world, sites, name) for name in (method, NULL))
    if cell is None:
        return NOTHING
    return f"{_rates(cell)} ({NOTHING if null is None else _rates(null)})"


def _rates(cell: Cell) -> str:
    harmed, helped = cell.harm
    return f"{100 * harmed:.0f} / {100 * helped:.0f}"


def _seeds(counts: Sequence[int]) -> str:
    return f"Paired by seed; {span(counts)} seeds, 95 % intervals." if counts else "No seeds yet."


def _marked(readings: Readings, table: Table) -> Table:
    """The table, with a warning if its seeds are not for reporting."""
    if not readings.is_tuning:
        return table
    warning = "TUNING SEEDS: for choosing and for checks of the machinery, not for any report."
    return Table(f"{table.title} (tuning seeds)", table.columns, table.rows, (*table.notes, warning))
