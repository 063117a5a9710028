"""The demonstrations: what collaboration is worth, and sites at work on this machine, each in its own process."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from cboc.cli import lab, operations, pictures
from cboc.cli.notes import notes
from cboc.cli.progress_bar import bar
from cboc.cli.show import Format, write
from cboc.evidence import demo as demonstration
from cboc.plots import style

Experiments = Annotated[int, typer.Option(min=1, max=200, help="Experiments of each site after its initial ones.")]
ROUNDS = 12


def demo(
    out: Annotated[Path, typer.Option(help="Directory of the picture.")] = Path(),
    seeds: Annotated[int, typer.Option(min=1, help="How many repetitions.")] = 20,
) -> None:
    """See in about half a minute (plus set-up) what collaboration is worth.

    Six sites, each with its own version of a test problem whose optimum lies at a random place, work together with the
    library's defaults, and then each alone, from the same initial designs. Prints the comparison and draws it, whether
    it is a gain or a loss.

    Example: `cboc demo --seeds 50`
    """
    from cboc.evidence.figures.demo import demo as draw

    style.figure_class()  # is matplotlib installed? Better asked before half a minute of work
    try:
        with bar(demonstration.experiments(seeds)) as advance:
            together, alone = demonstration.race_all(seeds, lambda: advance(""))
    except KeyboardInterrupt:
        notes.print("Stopped; the demo keeps nothing.")
        raise typer.Exit(130) from None
    typer.echo(write(demonstration.measures(together, alone), Format.TABLE))
    finding = demonstration.finding(together, alone)
    figure = draw(together, alone, finding, demonstration.SETTING)
    path = pictures.save(figure, out / "cboc-demo.png")
    what = f"{demonstration.SETTING}, {demonstration.ROUNDS} rounds, {seeds} {'seed' if seeds == 1 else 'seeds'}"
    typer.echo(
        "\nGap: the share of the way from the best initial outcome to the optimum. ±: standard error over seeds."
    )
    typer.echo(f"{finding} ({what}; the library's defaults). Picture: {path}")


def demo_service(
    out: Annotated[Path, typer.Option(help="A folder for its files.")] = Path("runs/service"),
    open: Annotated[bool, typer.Option(help="Show the dashboard in the browser, if there is one.")] = True,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the dashboard, and a site's page, up until Ctrl-C.")
    ] = False,
    experiments: Experiments = ROUNDS,
) -> None:
    """See a coordinator and three sites at work, each in its own process, in about a minute.

    The sites exchange designs through the coordinator until the study is over; meanwhile you can watch the dashboard.
    At the end, a table says what each site found, and whether an outcome was in any message that left it. With `--keep`
    the dashboard stays up until Ctrl-C, and so does the page of one of the sites.

    Examples: `cboc demo-service --out /tmp/rehearsal`, `cboc demo-service --keep --experiments 40`
    """
    operations.needs_service()
    from cboc.cli import rehearsal

    place = rehearsal.prepare(out, experiments)
    is_watched = sys.stdin.isatty()
    dashboard = f"Dashboard: {place.url}  (log in as {rehearsal.PERSON}, password {place.password})"
    try:
        with rehearsal.coordinator(place) as server:
            notes.print(dashboard)
            if open and is_watched:
                webbrowser.open(place.url)
            rehearsal.join_coordinator(place)
            rehearsal.take_part(place)
            typer.echo(write(rehearsal.results(place), Format.TABLE))
            notes.print(f"All files are in {out}; try cboc audit --file {place.file('lab-a')}.")
            if keep:
                with rehearsal.page(place, "lab-a") as address:
                    notes.print(f"{dashboard}\nPage of lab-a: {address}\nThey stay until Ctrl-C.")
                    rehearsal.stay(server)
            elif is_watched:
                input("The dashboard stays until you press Enter. ")
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def demo_folder(out: Annotated[Path, typer.Option(help="A folder for its files.")] = Path("runs/folder")) -> None:
    """See three sites at work that share nothing but a folder, each in its own process, in about a minute.

    There is no server: every site writes signed entries into the folder, reads those of the others, and computes its
    own answers. At the end, a table says what each site found, and whether an outcome was in anything that left it.

    Example: `cboc demo-folder --out /tmp/rehearsal`
    """
    lab.needs("client", "cryptography", "httpx2")
    from cboc.cli import rehearsal

    place = rehearsal.prepare(out, ROUNDS)
    try:
        rehearsal.join_folder(place)
        rehearsal.take_part(place)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    typer.echo(write(rehearsal.results(place), Format.TABLE))
    notes.print(f"What they shared is in {place.shared}; try cboc audit --file {place.file('lab-a')}.")
