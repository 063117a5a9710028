"""Small tables that the project makes itself, in the formats of the public ones."""

from itertools import product

import numpy as np

HALIDES, BASES, LIGANDS, ADDITIVES = ("chloride", "bromide", "iodide"), ("B1", "B2"), ("L1", "L2", "L3"), "abcde"
ABSENT = {("chloride", "B1", "L1", "a"), ("iodide", "B2", "L3", "e")}


def write(path, head, rows):
    lines = [",".join(map(str, row)) for row in ([head] if head else []) + list(rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def yield_of(site, *numbers):
    """A yield that is alike at all sites: the best options are the last ones."""
    return round(10.0 * sum(numbers) + 3.0 * site + 2.0 * np.sin(site + 5.0 * sum(numbers)) + 1.0, 3)


def make(folder):
    """Write all files into a directory, each small."""
    rows = [
        (base, ligand, halide, additive, yield_of(k, i, j, a))
        for (k, halide), (i, base), (j, ligand), (a, additive) in product(
            *map(enumerate, (HALIDES, BASES, LIGANDS, ADDITIVES))
        )
        if (halide, base, ligand, additive) not in ABSENT
    ]
    controls = [("B1", "L1", "", "a", 99.0), ("B1", "L1", "bromide", "", 99.0)]
    write(folder / "aryl_halide.csv", ("base", "ligand", "aryl_halide", "additive", "yield"), [*rows, *controls])
    arylation = [
        (f"B{i}", f"L{j}", f"S{s}", c, t, yield_of(s + t / 90, i, j, c))
        for i, j, s, c, t in product(range(2), range(3), range(2), (0.1, 0.2), (90, 120))
    ]
    head = ("Base", "Ligand", "Solvent", "Concentration", "Temp_C", "yield")
    write(folder / "direct_arylation.csv", head, arylation)
    suzuki = [
        (f"E{e}", f"N{n}", f"L{i}", f"B{b}", f"S{s}", yield_of(e + n, i, b, s))
        for e, n, i, b, s in product(range(4), range(3), range(3), range(2), range(2))
    ]
    head = ("Electrophile_SMILES", "Nucleophile_SMILES", "Ligand_SMILES", "Base_SMILES", "Solvent_SMILES", "yield")
    write(folder / "suzuki_pairs.csv", head, suzuki)
    for k, blend in enumerate(("pce10", "wf3")):
        quarters = [f for f in product(range(5), repeat=4) if sum(f) == 4]
        mixtures = [
            (*(n / 4 for n in f), round(0.1 + ((np.array(f) / 4 - (0.5, 0.25, 0.25, 0)) ** 2).sum() + 0.01 * k, 4))
            for f in quarters
        ]
        write(folder / f"photo_{blend}.csv", None, mixtures)
