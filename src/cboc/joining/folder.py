"""Joining through a shared folder: the site's name in the study, and keys that are made here."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from cboc.errors import CbocError, check_kind, installing
from cboc.exchange.rest import disagreement
from cboc.exchange.study import Study
from cboc.joining.agreement import damaged, read_study
from cboc.storage.sitefile import SiteFile

if TYPE_CHECKING:
    from cboc.exchange.feeds.feedfile import FeedFile
    from cboc.exchange.feeds.network import Feeds

PREFIX = "folder:"


def is_address(url: object) -> TypeGuard[str]:
    """Whether an address names a shared folder."""
    return isinstance(url, str) and url.startswith(PREFIX)


def check_given(url: str, code: object, certificate: object) -> None:
    """Raise one sentence if what a user gave does not go with a folder."""
    if not url.removeprefix(PREFIX).strip():
        raise CbocError("the address of a folder is folder:PATH, such as folder:/home/me/Nextcloud/ours.")
    for what, given in (("an invitation", code), ("a certificate", certificate)):
        if given is not None:
            raise CbocError(f"{what} is for a coordinator; a folder needs none: leave it out.")
    if find_spec("cryptography") is None:
        raise CbocError(f"this needs an extra; {installing('page')}.")


def is_sound(about: Mapping[str, Any]) -> bool:
    """Whether a site's file says about its folder what we write."""
    return isinstance(about.get("url"), str) and isinstance(about.get("sealed", False), bool)


def introduce(
    file: SiteFile, url: str, site: str | None, direction: str | None, study: Study | None, sealed: bool
) -> None:
    """Find the study in the folder, or write it there, and keep who this site is."""
    from cboc.exchange.feeds.folder import Folder

    check_kind("sealed", sealed, bool, "True or False")
    given = {"site": "the name of your site in the study (--site)", "direction": "a direction (maximise or minimise)"}
    values = {"site": site, "direction": direction}
    if missing := [words for name, words in given.items() if values[name] is None]:
        raise CbocError(f"to join through a folder, also give {' and '.join(missing)}.")
    place = Folder(Path(url.removeprefix(PREFIX)).expanduser().resolve())
    agreed = place.study()
    if agreed is None:
        if study is None:
            raise CbocError(
                f"{place.path} holds no study yet: give the study file (--study), or wait until it is synced."
            )
        if study.rule.terms is None:
            raise CbocError("a rule of your own cannot be shared through a folder; use a name, or a fixed matrix.")
        agreed = study
    elif study is not None and study.digest != agreed.digest:
        raise disagreement(study, agreed.agreement())
    agreed.index(str(site))
    place.found(agreed)
    about = {"url": f"{PREFIX}{place.path}", "site": site, "direction": direction, "sealed": sealed}
    file.remember(**about, agreement=agreed.agreement())
    feeds_of(file).remember(site=site)


def move(file: SiteFile, url: str | None) -> None:
    """Keep a new path of the same folder."""
    if url is None or url == file.about["url"]:
        return
    from cboc.exchange.feeds.folder import Folder

    place = Folder(Path(url.removeprefix(PREFIX)).expanduser().resolve())
    place.check(read_study(file.about["agreement"], damaged(file)))
    file.remember(url=f"{PREFIX}{place.path}")


def agreed_with(file: SiteFile, expected: Study | None) -> tuple[Study, str]:
    """The study in a site's file, and the site's name."""
    agreed = read_study(file.about["agreement"], damaged(file))
    if expected is not None and expected.digest != agreed.digest:
        raise disagreement(expected, file.about["agreement"])
    name = file.about.get("site")
    if name not in agreed.sites:
        raise CbocError(damaged(file))
    return agreed, name


def feeds_of(file: SiteFile) -> FeedFile:
    """The file of feeds beside a site's file."""
    from cboc.exchange.feeds.feedfile import FeedFile

    return FeedFile(file.path.with_name(f"{file.path.name}.feeds"))


def connect(file: SiteFile, agreed: Study, name: str) -> Feeds:
    """The network through the folder that a site's file names."""
    from cboc.exchange.feeds.folder import Folder
    from cboc.exchange.feeds.network import Feeds
    from cboc.exchange.feeds.replica import Replica
    from cboc.exchange.feeds.sealing import Seal

    feeds, address = feeds_of(file), file.about["url"]
    replica = Replica(agreed, feeds.keep)
    seals = bool(file.about.get("sealed"))
    folder = Folder(address.removeprefix(PREFIX), Seal(name, feeds.keys), seals=seals)

    def record(number: int, content: bytes) -> None:
        file.record(address, "APPEND", f"/feed/{number}", content)

    network = Feeds(replica, name, feeds.keys, folder, feeds, record)
    network.hello()
    return network
