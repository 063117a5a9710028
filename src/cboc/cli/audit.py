"""The command `cboc audit`: every message that ever left a site, and whether any contains an outcome or a cost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from cboc.cli.lab import RowFormat, site_file
from cboc.cli.notes import notes
from cboc.cli.show import Format, Row, many, write
from cboc.cli.site_option import FILE, SiteOption
from cboc.cli.standing import local_time
from cboc.consensus.matrix import quantise
from cboc.names import as_agreed
from cboc.notifying.notification import METHOD
from cboc.space.space import Space
from cboc.storage.sitefile import Sent, SiteFile

DECIMAL = re.compile(r"-?\d+\.\d+(?:[eE][+-]?\d+)?")
EDGES = {0.0, 1.0}  # of the unit cube, in which designs are sent


def audit(
    file: SiteOption = FILE,
    format: RowFormat = Format.TABLE,
    since: Annotated[
        str | None, typer.Option(metavar="CODE", help="Check that the record begins as it did with this code.")
    ] = None,
) -> None:
    """Show every message that ever left this site, word for word except for its token; also notifications to people.

    The messages are searched for the site's outcomes, their standard errors and costs, and the last line says whether
    any was found. A number that designs hold anyway says nothing, and is left out: 0 and 1, which are the edges of
    every range, and the steps of parameters that have steps.

    Every message has a checksum that goes on from the one before, and these are verified here. The code that is printed
    at the end stands for the whole record: note it down outside this computer, and `--since CODE` says later whether
    the messages of then are still there as they were.

    Examples: `cboc audit --format csv > sent.csv`, `cboc audit --since 37-8f3a91c204d7aa01`
    """
    from cboc.joining.sent import check_code, code_of, sent_by  # a site that has joined has what that needs

    kept = site_file(file)
    sent = sent_by(kept)
    rows: list[Row] = [
        {
            "at": datetime.fromtimestamp(message.at, UTC).isoformat(sep=" ", timespec="seconds"),
            "to": message.address,
            "method": message.method,
            "path": message.path,
            "body": message.shown,
        }
        for message in sent
    ]
    typer.echo(write(rows, format))
    for moved in kept.about.get("moves", ()):
        notes.print(f"The site moved from {moved['from']} to {moved['to']} on {local_time(moved['at'])}.")
    addresses = ", ".join(dict.fromkeys(message.address for message in sent))
    size = sum(len(message.body) for message in sent)
    notes.print(
        f"{many(len(sent), 'message')}, {size:,} bytes, to {addresses or 'nobody'}. "
        f"{_finding(kept, {number for message in sent for number in _numbers_in(message)})}"
    )
    for what in (message.content for message in sent):
        if what.get("act") == "drift":
            notes.print(_drift(what))
    notes.print(f"The code of this record is {code_of(kept)}.")
    if since is not None:
        check_code(kept, since)
        notes.print(f"It begins as it did when {since} was noted.")


def _drift(said: dict[str, Any]) -> str:
    """A round in which the site has gone on by itself, in words."""
    start = f"In round {said['state']} this site went on by itself with {', '.join(said['present'])}"
    return f"{start}, because {said['awaited']} had not closed it: its row of W may differ from the others'."


def _finding(kept: SiteFile, sent: set[float]) -> str:
    """Say how many different numbers are private, and which of them are among those that were sent."""
    private, usual = _private(kept), _usual(kept)
    found = sorted((private - usual) & sent)
    verb = "is" if len(found) == 1 else "are"
    said = f"{len(found)} of them {verb} among the numbers that left: {found[:5]}" if found else "none of them has left"
    start = f"{len(private)} different outcomes, standard errors and costs are in {kept.path}: {said}"
    return f"{start}.{_left_out(len(private & usual), has_steps=len(usual) > len(EDGES))}"


def _left_out(count: int, *, has_steps: bool) -> str:
    if not count:
        return ""
    numbers = "0, 1 or a step of a parameter" if has_steps else "0 or 1"
    where = "designs hold these numbers anyway" if has_steps else "every design at an edge of its range holds these"
    are, were = ("is", "was") if count == 1 else ("are", "were")
    return f" {count} of them {are} {numbers}, and {were} not looked for: {where}."


def _numbers_in(message: Sent) -> Iterator[float]:
    """All numbers in a message; in a notification, which is a text, those with a decimal point."""
    yield from _numbers(message.content)
    if message.method == METHOD:
        yield from map(float, DECIMAL.findall(message.body.decode(errors="replace")))


def _numbers(body: Any) -> Iterator[float]:
    """All numbers in a message, however deeply nested."""
    if isinstance(body, dict | list):
        for part in body.values() if isinstance(body, dict) else body:
            yield from _numbers(part)
    elif isinstance(body, float | int):
        yield float(body)


def _private(kept: SiteFile) -> set[float]:
    """All that was ever told: outcomes, standard errors and costs, also those since corrected, and from before."""
    trials, before = [change.trial for change in kept.history()], kept.about.get("data", {})
    measured = [outcome for trial in trials for outcome in trial.outcomes.values()]
    told = {value for outcome in measured for value in (outcome.mean, outcome.sem)} | {trial.cost for trial in trials}
    told |= {value for name in ("y", "sem") for value in before.get(name, [])}
    return {float(value) for value in told if value is not None}


def _usual(kept: SiteFile) -> set[float]:
    """The numbers that designs of the study hold anyway: edges of the unit cube, and steps of parameters."""
    with as_agreed():
        space = Space.from_dict(kept.about["agreement"]["space"])
    grids = [parameter.grid for parameter in space.parameters.values() if parameter.grid is not None]
    return EDGES.union(*(quantise(grid).tolist() for grid in grids))
