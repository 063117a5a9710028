"""`cboc evidence real`: campaigns on real tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cboc.cli.evidence.options import ALL_SEEDS, Address, Engine, Out, Seeds, Workers, directory_of, seeds_of
from cboc.cli.evidence.shelves import Place, on_tables
from cboc.evidence.real.campaign import METHODS_SHOWN, STARTS, Pace, campaigns
from cboc.evidence.real.families import FAMILIES, tables
from cboc.evidence.real.provenance import check_tables, remember_tables

Data = Annotated[
    Path,
    typer.Option(metavar="PATH", help="Directory of the public tables; docs/on-real-reactions.md names their sources."),
]
Families = Annotated[
    list[str] | None,
    typer.Option("--family", help=f"Only this one; may be repeated. {', '.join(FAMILIES)}", show_default="all"),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", help=f"Only this one; may be repeated. {', '.join(METHODS_SHOWN)}", show_default="all"),
]
Paces = Annotated[
    list[Pace] | None,
    typer.Option(
        "--pace",
        help="Only this one. Without rounds there are individual, cboc and cboc-u-gated.",
        show_default="both, where there are both",
    ),
]
Starts = Annotated[
    list[int] | None,
    typer.Option("--initial", help="Only so many initial designs, of 40 experiments.", show_default="4, and 10"),
]


def real(
    data: Data,
    out: Out = "runs/evidence-real",
    seeds: Seeds = ALL_SEEDS,
    family: Families = None,
    method: Methods = None,
    pace: Paces = None,
    initial: Starts = None,
    workers: Workers = None,
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Run real reactions and mixtures that were measured in full: an experiment is a look-up in a public table.

    Each family is a study whose sites are natural: temperatures, solvents, substrates, blends. Every site has 40
    experiments in all. Our methods, others that share designs only, and two ceilings that share everything start from
    the same designs; tables and pictures are by family. A row that is absent is a failed experiment, and a mixture goes
    to the nearest row. The protocol was written before the first run: docs/decisions/real-tables-protocol.md. The
    tables are not part of this project; docs/on-real-reactions.md names their public sources.

    Every run is saved when it is done: stop at any time, and repeat the command to go on. `cboc evidence show` makes
    tables and pictures again without the data, `cboc evidence verify --data` runs some rows again.

    Example: `cboc evidence real --data tables --family arylation-temperature --initial 4 --seeds 2`
    """
    directory, chosen = directory_of(out), family or list(FAMILIES)
    jobs = campaigns(chosen, initial or STARTS, pace, method, seeds_of(seeds))
    for name in chosen:
        tables(name, data)  # a file that is missing or wrong is found before anything is run
    remember_tables(directory, check_tables(directory, data, chosen))
    shelf = on_tables(data)
    shelf.report(shelf.run(jobs, directory, Place(engine, workers, address)))
