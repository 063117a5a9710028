"""The commands of a site. A bench scientist needs no Python.

A site joins once, then asks for experiments and tells their outcomes; everything is in the site's own file.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from cboc.advice.spending import spending
from cboc.cli.notes import notes
from cboc.cli.notifying import notifying, on_screen
from cboc.cli.sheet import in_short, same_in_all, sheet, wells_for
from cboc.cli.show import Format, Row, write
from cboc.cli.site_option import FILE, SiteOption, hint
from cboc.cli.standing import local_time, overdue, standing_of
from cboc.errors import CbocError, installing
from cboc.exchange.invitation import read_invitation
from cboc.exchange.network import Standing, Unreachable, Waiting, WithoutCentre
from cboc.private_files import write_text
from cboc.site import worksheet
from cboc.site.ending import Finished
from cboc.site.plate import Same
from cboc.site.polling import pause
from cboc.site.site import Site
from cboc.site.trial import Trial
from cboc.storage.author import Door
from cboc.storage.sitefile import SiteFile

WAITING, FINISHED = 3, 4  # exit codes of ask
SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 300.0  # seconds between two questions while waiting
QUICK, LONG = 5.0, 30.0  # seconds of patience with the coordinator

Git = Annotated[
    bool | None,
    typer.Option("--git/--no-git", help="The folder is a git working copy: pull and push it.", show_default=False),
]
Certificate = Annotated[
    Path | None, typer.Option(metavar="PEM", help="The coordinator's certificate, if it made its own.")
]
RowFormat = Annotated[Format, typer.Option(help="How to print it.")]
TrialNumber = Annotated[int | None, typer.Option("--trial", min=0, help="Which trial.", show_default="the one to run")]
Cost = Annotated[float | None, typer.Option(min=0.0, help="What the experiment cost, in a unit of your own.")]


def say_trouble(site: Site) -> None:
    """Say why the others cannot be reached just now, where there is no coordinator."""
    if isinstance(site.network, WithoutCentre) and site.network.trouble:
        notes.print(f"{site.network.trouble} Nothing is lost: what is written here is given when that works again.")


def ask(
    file: SiteOption = FILE,
    count: Annotated[
        int | None, typer.Option(min=1, help="A plate: so many new experiments.", show_default="the next one")
    ] = None,
    replicates: Annotated[int, typer.Option(min=1, help="How often each design of a plate is run.")] = 1,
    same: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=VALUE]",
            help="A parameter with one value in all wells of a plate, or this one; once for each.",
        ),
    ] = None,
    layout: Annotated[
        int | None, typer.Option(metavar="6|12|24|48|96|384", help="Use the free wells A1, A2, ... of such a plate.")
    ] = None,
    wells: Annotated[str | None, typer.Option(metavar="B3,B4,...", help="Use these wells.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="In rounds: wait until the others have proposed.")] = False,
    notify: Annotated[
        bool, typer.Option("--notify", help="With --wait: a notification on this computer's screen, and a bell.")
    ] = False,
    alone: Annotated[bool, typer.Option(help="Run your own proposal if the coordinator does not answer.")] = True,
    format: RowFormat = Format.TABLE,
    output: Annotated[Path | None, typer.Option(help="File to write.", show_default="standard output")] = None,
) -> None:
    """Print what is to be run: all open experiments, or the next one; it stays the same until you tell its result.

    With `--count` these are new ones, whatever else is open: a plate, or a refill. As CSV they are a sheet to fill in,
    a line for each: `cboc tell` reads it back, partly filled in if you like. Exits with code 3 while other sites have
    yet to propose (in rounds), and with 4 when the study is over for this site.

    With `--wait`, people are told when there is something to run, or the site waits for them (`cboc notify`).

    Examples: `cboc ask --format csv --output bench.csv`, `cboc ask --wait --notify`, `cboc ask --count 96 --layout 96
    --same temperature --format csv --output plate.csv`, `cboc ask --count 1 --wells B3 --same temperature=37`
    """
    if count is None and (replicates != 1 or same):
        option = "--same" if same else "--replicates"
        raise CbocError(f"{option} is for a plate; say how many experiments it has, as in --count 8.")
    if notify and not wait:
        raise CbocError("--notify is for --wait: without it the answer is on this screen at once.")
    site = site_of(
        file,
        goes_on_alone=alone and not wait,
        patience=LONG,
        on_retry=lambda trouble: notes.print(f"No answer from the coordinator ({trouble}); trying again."),
    )
    say_whose_strategy(file)
    if output is not None:
        _check_output(output, site)
    were_begun = bool(site.log.unanswered) or site.log.is_torn
    try:
        with notifying(site, file) if wait else nullcontext() as notifier:
            more = (count, replicates, same_in_all(site, same or ()), wells_for(site, count, layout, wells))
            trials = asked(site, wait, *more)
            if notifier is not None:
                notifier.ready(site)
            if notify:
                on_screen(site, file)
            say_trouble(site)
            _hand_out(site, trials, format, output)
    except Waiting as waiting:
        notes.print(f"{waiting} {_whom(waiting.standing)}")
        raise typer.Exit(WAITING) from None
    except Finished as finished:
        is_open = bool(site.to_run) and not site.has_left
        further = ("ask", "shows what is open") if is_open else ("best", "shows what it has found")
        notes.print(f"{finished} {hint(further[0], file)} {further[1]}.")
        raise typer.Exit(FINISHED) from None
    if were_begun and count is not None:
        notes.print("These were asked for before and come first; ask again for others.")
        count = None
    notes.print(trials[0].explain(site.study.sites) if len(trials) == 1 else in_short(site, trials, count))
    if warning := spending(site).warning:
        notes.print(warning)


def _hand_out(site: Site, trials: list[Trial], format: Format, output: Path | None) -> None:
    """Print what is to be run, or write it to a file."""
    text = sheet(site, trials, format)
    if output is None:
        typer.echo(text.rstrip("\n"))
    else:
        write_text(output, text if text.endswith("\n") else text + "\n")
        notes.print(f"Wrote {output}.")


def _check_output(output: Path, site: Site) -> None:
    """Raise one sentence if a sheet cannot be written there: before experiments are asked for."""
    if not output.absolute().parent.is_dir():
        raise CbocError(f"{output} cannot be written: its folder does not exist; choose another --output.")
    if not worksheet.is_told(output, site):
        raise CbocError(
            f"{output} is there already, and holds results that were not told or something else; cboc tell {output} "
            "first, or choose another --output."
        )


def status(file: SiteOption = FILE, format: RowFormat = Format.TABLE) -> None:
    """Show where the site and its study stand.

    Example: `cboc status`
    """
    site = site_of(file)
    rows: list[Row] = [{"what": what, "is": value} for what, value in standing_of(site, file)]
    typer.echo(write(rows, format))


def page(
    invitation: Annotated[
        Path | None,
        typer.Argument(metavar="[SITE.cboc]", help="An invitation file, to join a study.", show_default=False),
    ] = None,
    file: SiteOption = FILE,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on this machine.", show_default="any free one")] = 0,
    open: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Show the site's own page: the next experiment, a form for its result, the history. On this machine only.

    A site that has joined no study yet is asked for its invitation file there, sees the terms, and joins.

    Examples: `cboc site --open`, `cboc site lab-b.cboc --open`
    """
    needs("page", "uvicorn", "fastapi", "jinja2")
    from cboc.joining.invited import keep

    has_joined = file.exists() and "agreement" in SiteFile(file).about
    if has_joined:  # finds a mistake before the page starts; an invitation lets it come back
        site_of(file, **({} if invitation is None else {"url": str(invitation)}))
    elif invitation is not None:
        keep(read_invitation(invitation), file)
    else:
        notes.print(f"{file} has joined no study yet: the page asks for an invitation file. --file names another.")
    from cboc.cli.local import serve_page

    serve_page(file, port, is_opened=open)


def site_of(file: Path, **options: Any) -> Site:
    """Open the site of a file, which joining has made."""
    if "code" not in options:
        site_file(file)
    needs("page", "httpx2")  # as the documentation says; the extra client would be enough for some commands
    from cboc.joining import join

    usual: dict[str, Any] = {"patience": QUICK, "door": Door.COMMANDS}
    return join(storage=file, **(usual | options))


def say_whose_strategy(file: Path) -> None:
    """Say so if the site was given a strategy in Python, which is not in the file."""
    from cboc.joining import has_own_strategy

    if has_own_strategy(SiteFile(file)):
        notes.print(f"The strategy given in Python is not in {file}; this command uses the default one instead.")


def site_file(file: Path) -> SiteFile:
    """Open the file of a site that has joined a study, or refuse it."""
    if not file.exists():
        raise CbocError(f"there is no site file {file}; cboc join makes one, --file names another.")
    kept = SiteFile(file)
    if "agreement" not in kept.about:
        raise CbocError(f"{file} has joined no study yet; use cboc join.")
    return kept


def needs(extra: str, *modules: str) -> None:
    """Refuse to go on unless these modules, which an extra installs, can be imported."""
    import importlib.util

    if any(importlib.util.find_spec(module) is None for module in modules):
        raise CbocError(f"this needs an extra; {installing(extra)}.")


def asked(
    site: Site,
    is_waiting: bool,
    count: int | None = None,
    replicates: int = 1,
    same: Same = (),
    wells: Sequence[str] = (),
) -> list[Trial]:
    """Return a plate of new experiments, or all open ones, or the next one; wait for the others if asked to."""
    since, said = time.monotonic(), ""
    while True:
        try:
            if count is not None:
                return site.ask(count, replicates=replicates, same=same, wells=wells)
            site.ask()
            return site.to_run
        except (Waiting, Unreachable) as reason:
            if not is_waiting:
                raise
            more = f" {_whom(reason.standing)}" if isinstance(reason, Waiting) else ""
            said = _news(f"{reason}{more}", said)
        time.sleep(pause(time.monotonic() - since, LONGEST_PAUSE, SHORTEST_PAUSE))


def _news(sentence: str, said: str) -> str:
    """Print a sentence unless it was just printed, and return it."""
    if sentence != said:
        notes.print(sentence)
    return sentence


def _whom(standing: Standing) -> str:
    """Name the sites that the open round waits for."""
    if whom := overdue(standing):
        return f"It waits for {whom}."
    until = "" if standing.closes_at is None else f", until {local_time(standing.closes_at)} at the latest"
    return f"It waits for {', '.join(standing.missing) or 'nobody'}{until}."
