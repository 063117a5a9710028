"""Joining a study over the network: the same `Site` as in one process, with its data in a file of its own.

site = cboc.join("https://coordinator:8000", code, storage="lab-b.db", direction="maximise")
site = cboc.join(storage="lab-b.db")            # later, in another process: it goes on where it was
"""

from __future__ import annotations

from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from cboc.data import Dataset, Direction
from cboc.errors import CbocError
from cboc.network.ledger import Unreachable
from cboc.network.rest import Rest, disagreement
from cboc.site import Site
from cboc.sitefile import SiteFile
from cboc.study import Study


def join(
    url: str | None = None,
    code: str | None = None,
    *,
    storage: str | Path,
    direction: Direction | None = None,
    study: Study | None = None,
    data: Dataset | str | Path | None = None,
    outcome: str = "y",
    initial: int | None = None,
    seed: int | None = None,
    certificate: str | None = None,
    patience: float = 60.0,
    **options: Any,
) -> Site:
    """Take part in a study. The first time with the invitation's code and a direction; later the file knows.

    `study` is what the site expects: where the coordinator's differs, it says how and does not join. `data` are results
    from before the study, a dataset or a CSV file whose column `outcome` holds them. With direction, initial and seed
    they are kept in the file, and may be changed until the first trial. `certificate` is the PEM text of one that the
    coordinator made for itself. `options` are those of `Site`. While the coordinator is down the site goes on alone,
    and says so. The token is made here, and kept in the file before it is sent.
    """
    file = SiteFile(storage)
    _introduce(file, url, code, direction, certificate)
    _settle(file, direction=direction, initial=initial, seed=seed)
    about = file.about
    if code is not None and code != about["code"]:
        _return(file, code, patience)
        about = file.about
    network = Rest(about["url"], about["token"], patience, file.record, about.get("certificate"))
    agreed, name = _agreement(file, network, study)
    if data is not None:
        _begin_with(file, data, agreed, outcome)
    return Site(
        agreed,
        name,
        network,
        direction=about["direction"],
        data=file.data(agreed.space.dimension, about["direction"]),
        initial=about.get("initial"),
        seed=about.get("seed", 0),
        trials=file.trials(),
        save=file.keep,
        **({"goes_on_alone": True} | options),
    )


def _introduce(
    file: SiteFile, url: str | None, code: str | None, direction: Direction | None, certificate: str | None
) -> None:
    """The address, the invitation and a token of one's own are on disk before anything is sent."""
    about, given = file.about, {"url": url, "certificate": certificate}
    if "agreement" not in about:  # another invitation or address may be tried
        given |= {"code": code, "direction": direction, "token": about.get("token") or token_urlsafe(32)}
    news = {name: value for name, value in given.items() if value is not None}
    if not {"url", "code", "direction"} <= {*about, *news}:
        raise CbocError(f"{file.path} has joined no study yet; give url, code and direction.")
    if news:
        file.remember(**news)


def _return(file: SiteFile, code: str, patience: float) -> None:
    """With another invitation, after a token was revoked: the same site of the same study, and a new token."""
    about = file.about
    begun = about.get("returning", {})
    token = begun["token"] if begun.get("code") == code else token_urlsafe(32)
    file.remember(returning={"code": code, "token": token})
    network = Rest(about["url"], token, patience, file.record, about.get("certificate"))
    try:
        network.join(code, Study.from_agreement(about["agreement"]), about["site"])
    except Unreachable:
        raise
    except CbocError as refusal:
        raise CbocError(
            f"{refusal} ({file.path} is of '{about['site']}' in '{about['agreement']['name']}'; "
            "use another file for another site or study.)"
        ) from None
    file.remember(code=code, token=token)


def _settle(file: SiteFile, **given: Any) -> None:
    """What is given is kept; after the first trial it cannot change."""
    about, news = file.about, {name: value for name, value in given.items() if value is not None}
    for name, value in news.items():
        if file.trials() and about.get(name) != value:
            raise CbocError(f"{file.path} has begun with {name} = {about.get(name)!r}; {value!r} came.")
    if news:
        file.remember(**news)


def _agreement(file: SiteFile, network: Rest, expected: Study | None) -> tuple[Study, str]:
    """From the file, or from the coordinator when it is the first time."""
    about = file.about
    if "agreement" not in about:
        standing = network.join(about["code"], expected)
        file.remember(agreement=standing["agreement"], site=standing["site"])
        about = file.about
    if expected is not None and expected.agreement() != about["agreement"]:
        raise disagreement(expected, about["agreement"])
    return Study.from_agreement(about["agreement"]), about["site"]


def _begin_with(file: SiteFile, data: Dataset | str | Path, agreed: Study, outcome: str) -> None:
    direction = file.about["direction"]
    if not isinstance(data, Dataset):
        data = Dataset.from_csv(data, agreed.space, outcome, direction=direction)
    if file.trials() and data != file.data(agreed.space.dimension, direction):
        raise CbocError(f"{file.path} has begun with other data from before the study; they cannot change any more.")
    file.keep_data(data)
