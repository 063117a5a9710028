"""Joining a study over the network: the same `Site` as in one process, with its data in a file of its own.

site = cboc.join("https://coordinator:8000", code, storage="lab-b.db", direction="maximise")
site = cboc.join(storage="lab-b.db")            # later, in another process: it goes on where it was
"""

from __future__ import annotations

from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from cboc.data.dataset import Dataset, Direction
from cboc.errors import CbocError
from cboc.exchange.rest import Refused, Rest, disagreement
from cboc.exchange.study import Study
from cboc.site.site import Site
from cboc.storage.sitefile import SiteFile

LONGEST_CODE = 200  # letters that a coordinator looks at


def join(
    url: str | None = None,
    code: str | None = None,
    *,
    storage: str | Path,
    direction: Direction | str | None = None,
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
    if code is not None and len(code) > LONGEST_CODE:
        raise CbocError(f"an invitation is a word of 43 letters; {len(code)} came: was something copied with it?")
    file = SiteFile(storage, is_made=url is not None and code is not None)
    if "agreement" in file.about:
        _settle(file, direction=direction, initial=initial, seed=seed)
        _move(file, url, code, certificate, patience)
    else:
        _introduce(file, url=url, code=code, direction=direction, certificate=certificate)
        _settle(file, initial=initial, seed=seed)
    about = file.about
    if not {"url", "code", "token", "direction"} <= set(about):
        raise CbocError(f"{file.path} is damaged; take a copy of before.")
    network = Rest(
        about["url"],
        about["token"],
        patience,
        file.record,
        about.get("certificate"),
        has_left=bool(about.get("has_left")),
        on_leaving=lambda: file.remember(has_left=True),
    )
    agreed, name = _agreement(file, network, study)
    network.study = agreed
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


def _introduce(file: SiteFile, **given: Any) -> None:
    """The address, the invitation and a token of one's own are on disk before anything is sent."""
    about, news = file.about, {name: value for name, value in given.items() if value is not None}
    if not {"url", "code", "direction"} <= {*about, *news}:
        raise CbocError(f"{file.path} has joined no study yet; give its address, a code and a direction.")
    if "url" in news:  # an address comes with its certificate: that of an earlier try does not stick
        news["certificate"] = given["certificate"]
    file.remember(**news)
    file.remember_first(token=token_urlsafe(32))


def _move(file: SiteFile, url: str | None, code: str | None, certificate: str | None, patience: float) -> None:
    """The coordinator has another address or certificate, or sent another invitation: kept once that has worked.

    A certificate belongs to its address: at another one, without one, the site trusts what its machine trusts.
    """
    about = file.about
    news: dict[str, Any] = {"url": url, "certificate": certificate}
    is_moving = url not in (None, about.get("url"))
    news = {name: value for name, value in news.items() if value is not None or (is_moving and name == "certificate")}
    there = about | news
    is_returning = code not in (None, about["code"])
    if is_returning:  # a token was revoked: the same site of the same study gets a new one
        begun = about.get("returning", {})
        token = begun["token"] if begun.get("code") == code else token_urlsafe(32)
        file.remember(returning={"code": code, "token": token})
        news |= {"code": str(code), "token": token}
    elif all(about.get(name) == value for name, value in news.items()):
        return
    network = Rest(there["url"], news.get("token", about["token"]), patience, file.record, there.get("certificate"))
    expected = _study(about["agreement"], f"{file.path} is damaged; take a copy of before.")
    try:
        if is_returning:
            network.join(str(code), expected, about["site"])
        elif network.standing()["digest"] != expected.digest:
            raise Refused("another study is there.")
    except Refused as refusal:
        raise CbocError(
            f"{refusal} ({file.path} is of '{about['site']}' in '{about['agreement']['name']}'; "
            "use another file for another site or study.)"
        ) from None
    file.remember(**news, has_left=False)  # who is there now may not know it


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
        agreed = _study(standing["agreement"], f"the coordinator at {network.url} sent no agreement that makes sense.")
        agreed.index(standing["site"])
        file.remember(agreement=standing["agreement"], site=standing["site"])
        about = file.about
    agreed = _study(about["agreement"], f"{file.path} is damaged; take a copy of before.")
    if expected is not None and expected.digest != agreed.digest:
        raise disagreement(expected, about["agreement"])
    return agreed, about["site"]


def _study(agreement: Any, complaint: str) -> Study:
    try:
        return Study.from_agreement(agreement)
    except (CbocError, TypeError, KeyError, ValueError, AttributeError):
        raise CbocError(complaint) from None


def _begin_with(file: SiteFile, data: Dataset | str | Path, agreed: Study, outcome: str) -> None:
    direction = file.about["direction"]
    if not isinstance(data, Dataset):
        data = Dataset.from_csv(data, agreed.space, outcome, direction=direction)
    if file.trials() and data != file.data(agreed.space.dimension, direction):
        raise CbocError(f"{file.path} has begun with other data from before the study; they cannot change any more.")
    file.keep_data(data)
