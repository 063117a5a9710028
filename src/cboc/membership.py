"""Joining a study over the network: the same `Site` as in one process, with its data in a file of its own.

site = cboc.join("https://coordinator:8000", code, storage="lab-b.db", direction="maximise")
site = cboc.join(storage="lab-b.db")            # later, in another process: it goes on where it was
"""

from __future__ import annotations

from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from cboc.data import Direction
from cboc.errors import CbocError
from cboc.network.rest import Rest
from cboc.site import Site
from cboc.sitefile import SiteFile
from cboc.study import Study


def join(
    url: str | None = None,
    code: str | None = None,
    *,
    storage: str | Path,
    direction: Direction | None = None,
    seed: int = 0,
    patience: float = 60.0,
    **options: Any,
) -> Site:
    """Take part in a study. The first time with the invitation's code and a direction; later the file knows.

    `options` are those of `Site`. While the coordinator is down the site goes on alone, and says so. The token is made
    here, and kept in the file before it is sent.
    """
    file = SiteFile(storage)
    about = file.about
    if "token" not in about:
        if url is None or code is None or direction is None:
            raise CbocError(f"{file.path} has joined no study yet; give url, code and direction.")
        file.remember(url=url, code=code, direction=direction, seed=seed, token=token_urlsafe(32))
    elif url is not None and url != about["url"] and code is not None and code != about["code"]:
        raise CbocError(
            f"{file.path} has joined a study at {about['url']} already; use another file for another study."
        )
    about = file.about
    if direction is not None and direction != about["direction"]:
        raise CbocError(f"{file.path} is of a site that is to {about['direction']}; {direction} came.")
    network = Rest(url or about["url"], about["token"], patience, record=file.record)
    agreed, name = _agreement(file, network)
    return Site(
        agreed,
        name,
        network,
        direction=about["direction"],
        seed=about["seed"],
        trials=file.trials(),
        save=file.keep,
        **({"goes_on_alone": True} | options),
    )


def _agreement(file: SiteFile, network: Rest) -> tuple[Study, str]:
    """From the file, or from the coordinator when it is the first time."""
    about = file.about
    if "agreement" not in about:
        standing = network.join(about["code"])
        file.remember(agreement=standing["agreement"], site=standing["site"])
        about = file.about
    return Study.from_agreement(about["agreement"]), about["site"]
