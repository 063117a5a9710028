"""`cboc evidence dial`: worlds in which one turns how much the sites have in common."""

from __future__ import annotations

from typing import Annotated

import typer

from cboc.cli.evidence.options import (
    ALL_SEEDS,
    QUICK_SEEDS,
    Address,
    Engine,
    Out,
    Quick,
    Workers,
    directory_of,
    seeds_of,
)
from cboc.cli.evidence.shelves import DIAL, Place
from cboc.errors import CbocError
from cboc.evidence.dial import (
    ALONE,
    DIMENSIONS,
    METHODS_SHOWN,
    REPORTED,
    SHARES,
    SITES,
    SITES_OF_VARIANTS,
    TUNING,
    dials_of,
    probes,
    variants_of,
)
from cboc.problems.worlds import WORLDS

GRID, QUICK_GRID = (SHARES, SITES, DIMENSIONS), ((0.0, 0.75, 1.0), (2, 5), (2,))

Worlds = Annotated[
    list[str] | None,
    typer.Option(
        "--world", help=f"Only this kind; may be repeated. {', '.join(WORLDS)}", show_default="all, quick dial"
    ),
]
Shares = Annotated[
    list[float] | None,
    typer.Option(
        "--r", help="Only this r of the dial, from 0 to 1; may be repeated.", show_default="0, 0.25, 0.5, 0.75, 0.9, 1"
    ),
]
Sites = Annotated[
    list[int] | None,
    typer.Option("--sites", help="Only so many sites; may be repeated.", show_default="2, 3, 5, 10; variants 5"),
]
Dimensions = Annotated[
    list[int] | None,
    typer.Option("--dimension", help="Only so many parameters, 1 to 8.", show_default="2, 4, 8; variants 4"),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method", help="Only this one, beside individual; may be repeated.", show_default=", ".join(METHODS_SHOWN)
    ),
]
Seeds = Annotated[
    int | None, typer.Option(min=1, help="How many repetitions.", show_default=f"{ALL_SEEDS}, quick {QUICK_SEEDS}")
]
Tuning = Annotated[
    bool, typer.Option("--tuning", help="Other seeds, for choosing; results on them are marked and never reported.")
]


def dial(
    out: Out = "runs/evidence-dial",
    seeds: Seeds = None,
    world: Worlds = None,
    r: Shares = None,
    sites: Sites = None,
    dimension: Dimensions = None,
    method: Methods = None,
    quick: Quick = False,
    tuning: Tuning = False,
    workers: Workers = None,
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Find out when it helps: the gain over working alone against what the sites have in common.

    The worlds are drawn from Gaussian processes: f_k = √r g + √(1-r) h_k, where g is common and h_k the site's own. r
    is turned from 0, nothing in common, to 1, the same function; with 2 to 10 sites, and 2 to 8 parameters. Variants:
    optima that are shifted, boxes that are turned, a choice among the parameters, two groups. Every experiment counts,
    and every difference stands beside its null, a site alone once more. `--quick` uses seeds for tuning, too.

    Every run is saved when it is done: stop at any time, and repeat the command to go on.

    Example: `cboc evidence dial --quick`
    """
    directory = directory_of(out)
    kinds = world or (["dial"] if quick else list(WORLDS))
    if r and "dial" not in kinds and set(kinds) <= set(WORLDS):
        raise CbocError(
            f"--r turns the dial, and has no effect on {', '.join(kinds)}; leave it out, or add --world dial."
        )
    methods = METHODS_SHOWN if method is None else tuple(dict.fromkeys((ALONE, *method)))
    count = len(seeds_of(seeds or (QUICK_SEEDS if quick else ALL_SEEDS)))
    first = TUNING if tuning or quick else REPORTED
    repeated = range(first, first + count)
    shares, some, dimensions = QUICK_GRID if quick else GRID
    dials = probes(dials_of(kinds, r or shares, dimension or dimensions), sites or some, methods, repeated)
    others = probes(variants_of(kinds, dimension), sites or SITES_OF_VARIANTS, methods, repeated)
    DIAL.report(DIAL.run([*dials, *others], directory, Place(engine, workers, address)))
