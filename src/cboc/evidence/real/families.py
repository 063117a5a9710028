"""The families of tables: over one space, each table is a site."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from pathlib import Path

from cboc.data.dataset import Direction
from cboc.errors import CbocError, at, did_you_mean
from cboc.evidence.real.lookup import Known, Lookup, Row, known, nearest, options
from cboc.evidence.real.source import (
    ARYL_HALIDE,
    ARYLATION,
    FRACTIONS,
    PAGE,
    PHOTO_PCE10,
    PHOTO_WF3,
    SUZUKI,
    Line,
    Source,
)
from cboc.space.choice import Choice
from cboc.space.parameters import Float
from cboc.space.space import Space

MOST_SITES = 8  # of a study; where a family has more, each seed draws its own
SIMPLEX = Space({name: Float(0.0, 1.0) for name in FRACTIONS}, [f"{' + '.join(FRACTIONS)} == 1"])
CLOSE = 1e-6  # so far may fractions be from a sum of 1
LARGEST = 100_000  # designs of all tables of a family


@dataclass(frozen=True)
class Family:
    """Tables over one space, of which each is a site."""

    title: str
    sites: int  # that take part in a study
    sources: tuple[Source, ...]  # the files
    read: Callable[[Path], tuple[Known, ...]]  # a directory -> all sites
    is_related: bool = True  # does one expect that the sites have something in common?


def reactions(
    source: Source, site: Sequence[str], parameters: Mapping[str, str]
) -> Callable[[Path], tuple[Known, ...]]:
    """Yields by the options of some parameters, given with their columns; `site` are the columns that tell sites apart.

    A line with an empty cell in one of these is a control, and is left out; one without a yield is an absent row.
    """

    def read(directory: Path) -> tuple[Known, ...]:
        columns = (*site, *parameters.values())
        lines = [line for line in source.lines(directory) if all(line.cells[column] for column in columns)]
        choices = {
            name: list(dict.fromkeys(line.cells[column] for line in lines)) for name, column in parameters.items()
        }
        if not lines:
            raise CbocError(f"{directory / source.file} has no line that names its options; get the file again.")
        sites = {tuple(line.cells[column] for column in site) for line in lines}
        if (size := prod(map(len, choices.values()))) * len(sites) > LARGEST:
            raise CbocError(
                f"{directory / source.file} has options for {size:,} designs at {len(sites):,} sites, and a family has "
                f"at most {LARGEST:,} for all of its sites; get the file again ({PAGE})."
            )
        with at(str(directory / source.file)):
            space = Space({name: Choice(tuple(found)) for name, found in choices.items()})
        by_site: dict[str, list[Row]] = {}
        for line in lines:
            rows = by_site.setdefault(" + ".join(line.cells[column] for column in site), [])
            if line.cells["yield"]:
                place = (choices[name].index(line.cells[column]) for name, column in parameters.items())
                rows.append((tuple(map(float, place)), line.number("yield")))
        return _sites(directory, space, Direction.MAXIMISE, {name: options(space, of) for name, of in by_site.items()})

    return read


def mixtures(sources: Mapping[str, Source]) -> Callable[[Path], tuple[Known, ...]]:
    """Degradation by fractions that sum to 1; every site has a file of its own."""

    def read(directory: Path) -> tuple[Known, ...]:
        tables = {
            name: nearest([(_fractions(line), line.number("degradation")) for line in source.lines(directory)])
            for name, source in sources.items()
        }
        return _sites(directory, SIMPLEX, Direction.MINIMISE, tables)

    return read


def _fractions(line: Line) -> tuple[float, ...]:
    fractions = tuple(line.number(name) for name in FRACTIONS)
    if min(fractions) < 0.0 or abs(sum(fractions) - 1.0) > CLOSE:
        raise CbocError(
            f"{line.place}: fractions are not negative and sum to 1, but got {', '.join(map(str, fractions))}."
        )
    return fractions


def _sites(directory: Path, space: Space, direction: Direction, tables: Mapping[str, Lookup]) -> tuple[Known, ...]:
    for name, table in tables.items():
        if not len(table.outcomes):
            raise CbocError(f"the table of {name} in {directory} has no outcome; get the file again.")
    if len(tables) < 2:
        raise CbocError(f"a family has at least two sites, but {directory} has a table of {len(tables)}.")
    return tuple(known(name, space, direction, table) for name, table in tables.items())


FAMILIES: dict[str, Family] = {
    "arylation-temperature": Family(
        "direct arylation at 3 temperatures",
        3,
        (ARYLATION,),
        reactions(
            ARYLATION,
            ("Temp_C",),
            {"base": "Base", "ligand": "Ligand", "solvent": "Solvent", "concentration": "Concentration"},
        ),
    ),
    "arylation-solvent": Family(
        "direct arylation in 4 solvents",
        4,
        (ARYLATION,),
        reactions(
            ARYLATION,
            ("Solvent",),
            {"base": "Base", "ligand": "Ligand", "concentration": "Concentration", "temperature": "Temp_C"},
        ),
    ),
    "aryl-halide": Family(
        "amination of 8 of 15 aryl halides",
        MOST_SITES,
        (ARYL_HALIDE,),
        reactions(ARYL_HALIDE, ("aryl_halide",), {"base": "base", "ligand": "ligand", "additive": "additive"}),
    ),
    "photo-blends": Family(
        "2 photovoltaic blends", 2, (PHOTO_PCE10, PHOTO_WF3), mixtures({"PCE10": PHOTO_PCE10, "WF3": PHOTO_WF3})
    ),
    "suzuki-pairs": Family(
        "8 of 12 Suzuki pairs, little in common",
        MOST_SITES,
        (SUZUKI,),
        reactions(
            SUZUKI,
            ("Electrophile_SMILES", "Nucleophile_SMILES"),
            {"ligand": "Ligand_SMILES", "base": "Base_SMILES", "solvent": "Solvent_SMILES"},
        ),
        is_related=False,
    ),
}


def family(name: str) -> Family:
    """A family by its name."""
    if name not in FAMILIES:
        raise CbocError(f"there is no family '{name}' of real tables; {did_you_mean(name, FAMILIES)}")
    return FAMILIES[name]


@lru_cache
def tables(name: str, directory: Path) -> tuple[Known, ...]:
    """All sites of a family, read once in a process."""
    return family(name).read(directory)
