"""The command `cboc audit`: every message that ever left a site, and whether any contains an outcome."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import typer

from cboc.cli.lab import RowFormat, site_file
from cboc.cli.notes import notes
from cboc.cli.show import Format, Row, write
from cboc.cli.site_option import FILE, SiteOption
from cboc.storage.sitefile import SiteFile


def audit(
    file: SiteOption = FILE,
    format: RowFormat = Format.TABLE,
) -> None:
    """Show every message that ever left this site, word for word except for its token.

    The messages are searched for the site's outcomes, and the last line says whether any was found.

    Example: `cboc audit --format csv > sent.csv`
    """
    kept = site_file(file)
    sent = kept.sent()
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
    outcomes, numbers = _outcomes(kept), {number for message in sent for number in _numbers(message.content)}
    found = sorted(outcomes & numbers)
    said = f"{len(found)} of them are among the numbers that left: {found[:5]}" if found else "none of them has left"
    addresses = ", ".join(dict.fromkeys(message.address for message in sent))
    notes.print(
        f"{len(sent)} messages, {sum(len(message.body) for message in sent):,} bytes, to {addresses or 'nobody'}. "
        f"{len(outcomes)} outcomes and standard errors are in {file}: {said}."
    )


def _numbers(body: Any) -> Iterator[float]:
    """All numbers in a message, however deeply nested."""
    if isinstance(body, dict | list):
        for part in body.values() if isinstance(body, dict) else body:
            yield from _numbers(part)
    elif isinstance(body, float | int):
        yield float(body)


def _outcomes(kept: SiteFile) -> set[float]:
    """All measured values: outcomes and standard errors, from the trials and from before the study."""
    measured = [outcome for trial in kept.trials() for outcome in trial.outcomes.values()]
    told = {value for outcome in measured for value in (outcome.mean, outcome.sem) if value is not None}
    before = kept.about.get("data", {})
    return told | {float(value) for name in ("y", "sem") for value in before.get(name, []) if value is not None}
