"""The files that hold the tables, where a user gets each, and reading them. None is part of this project."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from io import StringIO
from pathlib import Path

from cboc.data.tables import text_of
from cboc.errors import CbocError

PAGE = "docs/on-real-reactions.md"
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
LARGEST = 1e12  # an outcome; sums of such numbers are numbers


@dataclass(frozen=True)
class Line:
    """A line of a file: its place, for errors, and its cells by column."""

    place: str
    cells: dict[str, str]

    def number(self, column: str) -> float:
        """The number in a column; raises one sentence if there is none."""
        text = self.cells[column]
        value = float(text) if NUMBER.fullmatch(text) else float("nan")
        if not abs(value) <= LARGEST:
            raise CbocError(f"{self.place}: {column} is a number, but got '{text[:40]}'; get the file again ({PAGE}).")
        return value


@dataclass(frozen=True)
class Source:
    """A public file, under the name that it has in the directory of the tables."""

    file: str
    origin: str  # where the public has it
    columns: tuple[str, ...]  # those that are read
    published: str  # its digest
    has_head: bool = True  # without one, the columns are all there are

    def lines(self, directory: Path) -> list[Line]:
        """The lines of the file that are not empty."""
        path = self._path(directory)
        try:
            rows = list(csv.reader(StringIO(text_of(path), newline="")))
        except csv.Error as error:
            raise CbocError(f"{path} is no table of cells ({error}); get the file again ({PAGE}).") from None
        head = [cell.strip() for cell in rows[0]] if self.has_head and rows else list(self.columns)
        if lacking := [column for column in self.columns if column not in head]:
            raise CbocError(
                f"{path} needs the columns {', '.join(self.columns)}, but has no '{lacking[0]}'; it is {self.origin}."
            )
        if double := [column for column in self.columns if head.count(column) > 1]:
            raise CbocError(f"{path} has more than one column '{double[0]}'; get the file again ({PAGE}).")
        first = 2 if self.has_head else 1
        return [
            Line(place, self._cells(head, cells, place))
            for number, cells in enumerate(rows[first - 1 :], start=first)
            if any(cells) and (place := f"{path}, line {number}")
        ]

    def digest(self, directory: Path) -> str:
        """A digest of all that is read of the file, in its order: with another one, runs have other results."""
        cells = [[line.cells[column] for column in self.columns] for line in self.lines(directory)]
        return sha256(repr(cells).encode()).hexdigest()

    def _path(self, directory: Path) -> Path:
        if not directory.is_dir():
            raise CbocError(
                f"--data is a directory with the public tables, but {directory} is not one; {PAGE} says where a user "
                "gets each file."
            )
        path = directory / self.file
        if not path.is_file():
            raise CbocError(f"{directory} has no {self.file}; it is {self.origin}: save it there under this name.")
        return path

    def _cells(self, head: Sequence[str], cells: Sequence[str], place: str) -> dict[str, str]:
        if len(cells) != len(head):
            raise CbocError(f"{place} has {len(cells)} columns in place of {len(head)}; get the file again ({PAGE}).")
        return {name: cell.strip() for name, cell in zip(head, cells, strict=True)}


ARYLATION = Source(
    "direct_arylation.csv",
    "benchmarks/data/direct_arylation/data.csv of emdgroup/baybe on GitHub (Shields et al. 2021)",
    ("Base", "Ligand", "Solvent", "Concentration", "Temp_C", "yield"),
    "e01c7f972619e1fdc232fc6f12cdc37cd06cef6152b33b6411f29c3a08ea3037",
)
ARYL_HALIDE = Source(
    "aryl_halide.csv",
    "the raw table of aryl halides in benchmarks/data of emdgroup/baybe on GitHub (Ahneman et al. 2018)",
    ("base", "ligand", "aryl_halide", "additive", "yield"),
    "cf6f21266caa72b335ce70491491e608d32780f1f6c6c1b4b2a79d331c194ab3",
)
SUZUKI = Source(
    "suzuki_pairs.csv",
    "experiments/data/suzuki/experiment_index.csv of b-shields/edbo on GitHub (Perera et al. 2018)",
    ("Electrophile_SMILES", "Nucleophile_SMILES", "Ligand_SMILES", "Base_SMILES", "Solvent_SMILES", "yield"),
    "773bfa215f8973c5d0aa37a755908124a254d443c689c1c514dc22106e32c907",
)
FRACTIONS = ("mat_1", "mat_2", "mat_3", "mat_4")
PHOTO_PCE10, PHOTO_WF3 = (
    Source(
        f"photo_{blend}.csv",
        f"src/olympus/datasets/dataset_photo_{blend}/data.csv of aspuru-guzik-group/olympus on GitHub",
        (*FRACTIONS, "degradation"),
        published,
        has_head=False,
    )
    for blend, published in (
        ("pce10", "ef8926a9157c63c8ebe75164b6b90dae6336ffab559da0227b911849da141b11"),
        ("wf3", "0c04839a7b5aaeacc3361b0d8646fb38065d69e7fa8bc774fd16c0522c5b7da3"),
    )
)
