"""`cboc join`: take part in a study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from cboc.cli.address import WITHOUT_CENTRE, check_way, is_private
from cboc.cli.amending import Yes
from cboc.cli.earlier import Answered, Columns, Outcome, seen_table
from cboc.cli.invitations import shown_terms
from cboc.cli.lab import Certificate, Git, needs, say_trouble, site_of
from cboc.cli.named import directions, limits
from cboc.cli.notes import notes
from cboc.cli.show import Format, Row, many, write
from cboc.cli.site_option import FILE, SiteOption, hint
from cboc.exchange.invitation import is_invitation
from cboc.exchange.study import Study
from cboc.site.ending import Left
from cboc.site.policy import Policy
from cboc.site.site import Site
from cboc.storage.sitefile import SiteFile
from cboc.studyfile import read_terms


def join(
    address: Annotated[
        str,
        typer.Argument(
            help="An invitation file, lab-b.cboc; or the address of a coordinator, https://HOST:PORT, of a shared "
            "folder, folder:PATH, or peers:."
        ),
    ],
    code: Annotated[str | None, typer.Argument(help="The invitation, for a coordinator.", show_default=False)] = None,
    direction: Annotated[
        list[str] | None,
        typer.Option(
            metavar="maximise|minimise",
            help="What to do with the outcome; max and min, too. Of several objectives NAME=max, once for each.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'NAME <= 5'",
            help="What an outcome may not exceed, or has to reach; once for each. none: no limit any more.",
            show_default=False,
        ),
    ] = None,
    file: SiteOption = FILE,
    site: Annotated[str | None, typer.Option(help="Without a coordinator: the site's name in the study.")] = None,
    study: Annotated[
        Path | None,
        typer.Option(
            metavar="STUDY.toml",
            help="The study you expect; joins only if it is this one. In a folder the first to join gives it, between "
            "peers everybody.",
        ),
    ] = None,
    sealed: Annotated[
        bool | None,
        typer.Option(
            "--sealed/--no-sealed",
            help="In a folder: encrypt what is written from now on for the site's neighbours.",
            show_default=False,
        ),
    ] = None,
    git: Git = None,
    drift: Annotated[
        bool | None,
        typer.Option(
            "--drift/--no-drift",
            help="In rounds with a deadline, without a coordinator: go on if nobody closes a round in twice that time.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", help="Results from before the study: CSV or XLSX; they are shown first."),
    ] = None,
    outcome: Outcome = None,
    column: Columns = None,
    answer: Answered = None,
    yes: Yes = False,
    initial: Annotated[
        int | None,
        typer.Option(min=0, help="How many space-filling experiments to begin with.", show_default="2 per parameter"),
    ] = None,
    most_cost: Annotated[
        float | None, typer.Option(metavar="COST", help="Finish when the costs that were told add up to this.")
    ] = None,
    certificate: Certificate = None,
) -> None:
    """Take part in a study, with an invitation to a coordinator, through a shared folder or between peers.

    An invitation file holds address, code and certificate: the terms are shown, and the direction is asked for. The
    file works once, and is as secret as a key until then.

    All of this site's data are in its own file: the token, which is made here, the trials with their outcomes, and a
    copy of every message that leaves. Outcomes do not leave. Keep the file, and let nobody else read it. Without a
    coordinator, the site's keys and everybody's feeds are in a second file beside it, which ends in .feeds.

    Results from before the study (`--data`) are shown before anything is joined: which column is taken as what, which
    rows are left out and why, and what has to be asked. `--column` and `--answer` answer that, `--yes` agrees to what
    is shown; `cboc earlier` does the same later, until the first experiment.

    Of several objectives each has a direction: `--direction yield=max --direction cost=min`. An outcome that is to be
    near a value has that: `--direction pH=near:7`. More is said after it, if you like: `yield=max,target=90` (nothing
    is gained beyond it), `cost=min,reference=50` (nothing beyond it is worth anything), `weight=2` (for one best design
    out of many). A `--limit` may be for an objective, or for an outcome that only this site measures. All of this stays
    in the site's own file. Joining again with other targets, references, weights and limits changes them.

    Examples: `cboc join lab-b.cboc`, `cboc join lab-b.cboc --data old.xlsx --column "Yield / %=y"`, `cboc join
    https://cboc.example.org 8Zk... --direction maximise`, `cboc join folder:~/Nextcloud/ours --site lab-b --direction
    maximise`, `cboc join peers: --site lab-b --study study.toml --direction maximise`, `cboc join lab-b.cboc
    --direction yield=max --direction cost=min --limit "impurity <= 5"`
    """
    is_without_centre, wanted = address.startswith(WITHOUT_CENTRE), directions(direction)
    check_way(address)
    is_file = is_invitation(address)
    if is_file and code is None and certificate is None:  # if they are given, joining says what is wrong
        needs("page", "httpx2")
        wanted = shown_terms(address, file, wanted)
    elif not is_without_centre and not is_file and not is_private(address):  # before the code and a token are sent
        notes.print(
            f"{address} is not HTTPS: anybody on the way can read designs and speak for this site.", style="red"
        )
    expected = None if study is None else read_terms(study).study
    trusted = None if certificate is None else certificate.read_text(encoding="ascii", errors="replace")
    earlier: dict[str, Any] = {}
    if data is not None:
        needs("page", "httpx2")
        terms = _terms(address, file, code=code, certificate=trusted, study=expected, site=site, git=bool(git))
        earlier = {"data": seen_table(data, terms, outcome, column, answer, is_sure=yes)}
        expected = expected or terms  # if they change meanwhile, nothing is joined
    given = {name: value for name, value in (("initial", initial), ("most_cost", most_cost)) if value is not None}
    joined = site_of(
        file,
        url=address,
        code=code,
        direction=wanted,
        limits=limits(limit),
        study=expected,
        policy=_changed_policy(file, given) if given else None,
        **({"site": site, "sealed": sealed, "drifts": drift, "git": git} if is_without_centre else {}),
        certificate=trusted,
        **earlier,
    )
    if joined.has_left:  # what was given has let it in before, and does not again
        raise Left(joined.name, joined.study.name, joined.network)
    if not is_without_centre and (site is not None or sealed or git):
        notes.print(
            "--site, --sealed and --git are for studies without a coordinator; here the invitation says who you are."
        )
    if drift and (not is_without_centre or joined.study.deadline is None):
        notes.print(_without_effect(joined.study, is_without_centre))
    typer.echo(write(_parameters(joined), Format.TABLE))
    others = ", ".join(name for name in joined.study.sites if name != joined.name)
    if joined.spent:
        lost = f"{joined.spent} experiments of this site that the others know of"
        notes.print(f"{file} does not have {lost}: it goes on after them.", style="red")
    say_trouble(joined)
    if earlier:
        notes.print(
            f"It begins with {many(len(joined.data) + len(joined.data.failures), 'result')} from before the study."
        )
    start = f"Joined '{joined.study.name}' as '{joined.name}', with {others or 'nobody else'}"
    notes.print(f"{start}. Next: {hint('peer serve' if address.startswith('peers:') else 'ask', file)}.")


def _terms(address: str, file: Path, **given: Any) -> Study:
    """The study that would be joined."""
    from cboc.joining.terms import terms_at

    return terms_at(address, file, **given)


def _without_effect(study: Study, is_without_centre: bool) -> str:
    """Why --drift does nothing."""
    if not is_without_centre:
        return "--drift has no effect with a coordinator, which closes the rounds itself."
    if not study.pace.waits:
        return "--drift has no effect at the free pace, at which nobody waits."
    return "--drift has no effect in a study without a deadline: a round is closed when everybody is in."


def _changed_policy(file: Path, given: dict[str, Any]) -> Policy:
    """The policy in a site's file, if it has one, with these settings changed."""
    from cboc.joining import kept_policy

    return replace(kept_policy(SiteFile(file)) if file.exists() else Policy(), **given)


def _parameters(site: Site) -> list[Row]:
    rows: list[Row] = []
    for name, fields in site.study.agreement()["space"]["parameters"].items():
        rows.append({"parameter": name, **fields})
    return rows
