"""The commands. Each says what it does, does it with a line or two of the library, and shows the result."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cboc import __version__, studyfile
from cboc.advice.advice import advise as advise_site
from cboc.cli import (
    amending,
    coordinator,
    demos,
    evidence,
    feed,
    invitations,
    lab,
    mending,
    notify,
    operations,
    peer,
    people,
    pictures,
    telling,
)
from cboc.cli.advise import advice_of, advice_row, in_words
from cboc.cli.audit import audit
from cboc.cli.best import best_of_site
from cboc.cli.biosensor import biosensor
from cboc.cli.doctor import doctor
from cboc.cli.earlier import earlier
from cboc.cli.export import export
from cboc.cli.join import join
from cboc.cli.leaving import leave
from cboc.cli.move import move
from cboc.cli.notes import notes
from cboc.cli.place import FileOption, RunOrFile, course_of, file_in
from cboc.cli.report import report
from cboc.cli.rows import best_rows
from cboc.cli.show import Format, wrapped, write
from cboc.cli.simulate import ENOUGH, again, forget_pages, is_run_alone, meaning, seeds_of
from cboc.cli.simulate import simulate as simulate_file
from cboc.cli.site_option import FILE
from cboc.cli.view import View
from cboc.cli.work import work
from cboc.errors import CbocError
from cboc.exchange.pace import as_pace
from cboc.runs.compare import results
from cboc.runs.repetitions import default_directory
from cboc.runs.run import Run, begin


class Commands(TyperGroup):
    """Commands whose user mistakes are one red sentence and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # a command that reports an interruption has done so by now
            raise typer.Exit(130) from None
        except CbocError as error:
            notes.print(str(error), style="red")
        except OSError as error:
            if error.errno == errno.EPIPE:  # `| head` has closed the pipe: Click ends quietly
                raise
            notes.print(_refusal(error), style="red")
            _forget_output()
        raise typer.Exit(2)


def _refusal(error: OSError) -> str:
    """Say what the operating system refused, and what to do about it."""
    reason = error.strerror or str(error) or type(error).__name__
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        what = "cannot write" if error.filename is None else f"cannot write {error.filename}"
        return f"{what}: {reason}; free some space or choose another place."
    what = "cannot read or write" if error.filename is None else f"cannot read or write {error.filename}"
    return f"{what}: {reason}."


def _forget_output() -> None:
    """Discard unwritten standard output; Python would try to write it again at exit, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Better designs in fewer experiments, together, without sharing outcomes. "
    "Start with `cboc demo`, or with `cboc init` and `cboc simulate study.toml --seeds 8`.",
)

app.add_typer(evidence.app, name="evidence")

RowFormat = Annotated[Format, typer.Option(help="How to print the rows.")]


def _version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"cboc {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None: ...


@app.command()
def init(
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path("study.toml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
    pace: Annotated[str, typer.Option(metavar="free|rounds", help="Who waits for whom.")] = "free",
) -> None:
    """Write a study file to start from.

    It is commented, and it runs as it is. Change the sites and the parameters to yours. At the free pace every site is
    answered at once, from what the others have sent so far: nobody waits. In rounds, the paper's pace, everybody waits
    for the slowest; choose them to repeat the paper, or if your sites want to be in step.

    Example: `cboc init && cboc simulate study.toml --seeds 8`
    """
    if path.exists() and not force:
        raise CbocError(f"{path} exists already; --force overwrites it.")
    path.write_text(studyfile.template(as_pace(pace).name), encoding="utf-8")
    notes.print(f"Wrote {path}; run it with cboc simulate {path} --seeds {ENOUGH}.")


@app.command()
def simulate(
    study: Annotated[Path, typer.Argument(metavar="STUDY.toml", help="A study file; `cboc init` writes one.")],
    out: Annotated[Path | None, typer.Option(help="Directory of the run.", show_default="runs/NAME")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a run that was interrupted.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start over; discard what the run holds.")] = False,
    alone: Annotated[
        bool | None,
        typer.Option(
            "--alone/--no-alone",
            help="Also run every site on its own, with the same seeds.",
            show_default="yes, but not with programs",
        ),
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Go on even if a site's first 3 experiments all fail.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many repetitions; seeds count up from the file's.",
            show_default="1, or those of the run that goes on",
        ),
    ] = None,
    format: RowFormat = Format.TABLE,
) -> None:
    """Run a study, together and alone, and compare.

    Every experiment is saved at once, as a line of JSON in the directory of the run. Ctrl-C or a kill loses nothing,
    a power cut at most the experiments of one second: `--resume` continues to exactly the same end. The table has a
    row per site: the best outcome alone and together, the gain (positive: better together), and how many experiments
    it took to reach what alone reached at its end. One seed says little: repeat it.

    If the first experiments of a site all fail, its program or function is set up wrongly: this stops with the reason.
    Where sites have programs, the comparison alone is run with `--alone` only: it takes as many experiments again.

    The study file says how the sites work: `pace` in `[study]`, "free" (nobody waits) or "rounds"; `plate = 8`, so many
    experiments at a time, and `same = ["temperature"]`, parameters that have one value in all of them; `most_cost`, if
    experiments say what they cost. With a `duration` of each `[[site]]`, a number or {median = 3, spread = 0.2}, the
    table also says how long it took. `cboc init` writes a file that explains all of them.

    Example: `cboc simulate study.toml --seeds 8`
    """
    file = studyfile.read(study)
    _ = file.experiments  # a missing function is better found now than in a worker
    if resume and fresh:
        raise CbocError("--resume continues a run and --fresh discards it; give only one of them.")
    directory = out or default_directory(file)
    run = begin(directory, file, is_resumed=resume, is_fresh=fresh, seeds=seeds or 1)
    if fresh:
        forget_pages(directory)
    count = seeds or seeds_of(run, file)
    try:
        with_alone = is_run_alone(alone, file, run)
        simulate_file(file, run, seeds=count, with_alone=with_alone, keeps_going=keep_going)
    except KeyboardInterrupt:
        command = again(study, out, alone, count)
        notes.print(f"Stopped; the finished experiments are in {directory}. Continue with: {command}")
        raise typer.Exit(130) from None
    typer.echo(write(results(run), format))
    if format == Format.TABLE:
        typer.echo(meaning(run))
    notes.print(f"The run is in {directory}; look at it with cboc report, best, export or plot {directory}.")


@app.command()
def best(
    where: RunOrFile = FILE,
    file: FileOption = None,
    weight: Annotated[
        list[str] | None,
        typer.Option(
            "--weights",
            metavar="NAME=2,NAME=1",
            help="Of several objectives: how much each counts, for one best design.",
            show_default="the front",
        ),
    ] = None,
    format: RowFormat = Format.TABLE,
) -> None:
    """Show the best design of a site, or of every site of a run.

    For a run, there is a row per site, together and alone: the outcome, its seed and turn, and the design in natural
    units. Turns count from 0, as in the export; an initial design, or a result from before the study, has no turn.

    Of several objectives it is the front: a row for every result that no other beats. `--weights` chooses one of them:
    the one that stays least behind the best in any objective, by how much each counts. Where there are limits, it is
    the best of what keeps to them, and a sentence says so if nothing does.

    Examples: `cboc best` at a site, `cboc best --weights yield=2,cost=1`, `cboc best runs/first-study` after a
    simulation
    """
    known = file_in(where, file)
    rows = best_rows(Run(where), weight) if known is None else best_of_site(known, weight)
    typer.echo(write(rows, format))


@app.command()
def advise(
    where: RunOrFile = FILE,
    file: FileOption = None,
    site: Annotated[str | None, typer.Option(help="For a run: only this site.", show_default="all")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="For a run: which repetition.", show_default="the first")
    ] = None,
    format: RowFormat = Format.TABLE,
) -> None:
    """Should we go on together? What each site can tell from its own data and the designs that were shared.

    mean gain: how much better the site's best was than it would have been alone, on average over its experiments.
    Without a run alone beside it this is an estimate: the site's own model takes the place of its experiment, and a
    search alone is played on it, from the same initial designs.
    log odds: that the sites' best designs lie together, in nats; from 4 on the site is drawn to them, below that it is
    in doubt and follows only a mix that keeps half of its utility. consistency: the rank correlation of the site's own
    outcomes with this, from -1 to 1; if the log odds are high and this is below 0, the site works alone. shared and
    own: its experiments of each kind, and how many were better than all before. model fit: the share of its outcomes'
    variance that its surrogate predicts when they are left out one by one.

    Examples: `cboc advise` at a site, `cboc advise runs/first-study --site lab-b` after a simulation
    """
    known = file_in(where, file)
    if known is None:
        advices = advice_of(Run(where), site, seed)
    elif site is not None or seed is not None:
        raise CbocError(f"{known} is one site with one history; --site and --seed are for the directory of a run.")
    else:
        advices = [advise_site(lab.site_of(known))]
    if format != Format.TABLE:
        typer.echo(write([{**advice_row(advice), "advice": in_words(advice)} for advice in advices], format))
        return
    typer.echo(write([advice_row(advice) for advice in advices], format))
    for advice in advices:
        typer.echo(f"\n{wrapped(f'{advice.site}: {in_words(advice)}')}")


@app.command()
def plot(
    where: RunOrFile = FILE,
    file: FileOption = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Directory of the pictures.", show_default="plots, in the run or beside the file"),
    ] = None,
    kind: Annotated[pictures.Kind, typer.Option(help="Which picture.")] = pictures.Kind.ALL,
    site: Annotated[
        str | None,
        typer.Option(help="For a run: only this site.", show_default="all; for what was learned, the first"),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="For a run: which repetition.", show_default="the first")
    ] = None,
    outcome: Annotated[
        str | None, typer.Option(help="Of several outcomes: whose lessons.", show_default="the first")
    ] = None,
) -> None:
    """Draw a run, or what one site has done so far.

    progress: how the search went. calendar: the same against time, if experiments take any. paths: where the sites
    went, from their initial designs on, over the two parameters that matter most; on contours of the true function
    if the study file has test problems, else of what the site's own surrogate expects. matrix: who listened to whom.
    moves: from the proposed to the mixed design. gain: what each site gains by working together.

    And what one site has learned, as on its page: importance, which parameter matters; predicted, each outcome against
    what all others predict; slices, the expected outcome along each parameter; contours, the same over two. Of a run,
    it is the first site, working together with the first seed; `--site` and `--seed` choose others. Where several
    outcomes are measured, it is the first of them, or the one of `--outcome`; front: the objectives against each other,
    what no other result beats, what breaks a limit, and what is expected of the next design. Progress is then the
    volume that the front reaches.

    Of a site's own file only the pictures that one site has data for; paths are its own.

    Examples: `cboc plot` at a site, `cboc plot runs/first-study --kind slices --site lab-b`
    """
    course = course_of(where, file)
    if course.place.is_file() and (site is not None or seed is not None):
        raise CbocError(f"{course.place} is one site with one history; --site and --seed are for a run's directory.")
    if output is not None and output.suffix.lower() in pictures.ENDINGS:
        raise CbocError(f"--output is the directory of the pictures, which are PNG and have names; got {output}.")
    folder = course.place.parent if course.place.is_file() else course.place
    drawn, left_out = pictures.draw(View(course, site, seed, outcome), kind, output or folder / pictures.FOLDER)
    for path in drawn:
        typer.echo(path)
    if left_out:
        notes.print(f"Left out: {left_out}.")


app.command()(demos.demo)
app.command("demo-service")(demos.demo_service)
app.command("demo-folder")(demos.demo_folder)
app.command()(export)
app.command()(report)
app.command()(biosensor)


AT_A_SITE: tuple[Callable[..., None], ...] = (
    join,
    earlier,
    lab.ask,
    telling.tell,
    telling.fail,
    telling.abandon,
    mending.undo,
    mending.remark,
    mending.history,
    work,
    lab.status,
    move,
    amending.accept,
    leave,
    audit,
    doctor,
)
AT_A_COORDINATOR: tuple[Callable[..., None], ...] = (
    coordinator.serve,
    invitations.invite,
    coordinator.revoke,
    amending.amend,
    coordinator.certificate,
    operations.backup,
    operations.restore,
)
NEGATIVE = {"ignore_unknown_options": True, "help_option_names": ["-h", "--help"]}  # -0.5 is an outcome, -Qx... a code
for command in AT_A_SITE:
    app.command(rich_help_panel="At a site", context_settings=NEGATIVE)(command)
app.command("site", rich_help_panel="At a site")(lab.page)
for command in AT_A_COORDINATOR:
    app.command(rich_help_panel="At a coordinator")(command)
app.add_typer(feed.app, name="feed", rich_help_panel="At a site")
app.add_typer(peer.app, name="peer", rich_help_panel="At a site")
app.add_typer(notify.app, name="notify", rich_help_panel="At a site")
app.add_typer(people.app, name="people", rich_help_panel="At a coordinator")


def main() -> None:
    """The entry point of the `cboc` command."""
    try:
        sys.exit(app())
    except OSError as error:  # from writing the help or the version, before there is a command
        notes.print(_refusal(error), style="red")
        _forget_output()
        sys.exit(2)
