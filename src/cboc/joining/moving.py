"""Moving a site: its study goes on by feeds or with a coordinator, wherever it was before.

to feeds           the turns that the coordinator has answered are republished in the site's own feed, signed by itself
to a coordinator   that has taken over what the sites exported: an invitation, and a token that is made here

The new place counts when the site's file names it, in one transaction at the end: a move that was killed before has not
happened, and one that was killed after it is complete but for what is given to the others at the next command.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from cboc.errors import CbocError
from cboc.exchange.invitation import is_invitation
from cboc.exchange.network import NotSubmitted, Waiting, WithoutCentre
from cboc.exchange.study import Study
from cboc.joining import coordinator, feeds
from cboc.joining.agreement import kept_agreement, kept_versions
from cboc.joining.departure import come_back, left_at
from cboc.joining.invited import unfolded
from cboc.joining.join import join
from cboc.site.site import Site
from cboc.storage.sitefile import SiteFile

SHORTEST_WAIT = 1.0  # seconds for another process of this site
IN_USE = "another process of this site uses {} just now; stop it, or wait until it is done, and move then."
AMENDED = (
    "study '{}' was amended while it ran, and does not move between a coordinator and feeds then: go on where it "
    "is, or begin another study, which every site joins with what it has measured (cboc export, cboc join --data)."
)
QUICK = 5.0  # seconds for the coordinator that is left: it may be gone


def move(
    url: str,
    code: str | None = None,
    *,
    storage: str | Path,
    certificate: str | None = None,
    sealed: bool | None = None,
    git: bool | None = None,
    patience: float = 60.0,
) -> Site:
    """Move a site that has joined to another address of its study, and return it there.

    `url` is a shared folder, a stick or peers:, or a coordinator with the `code` of its invitation (or its file). All
    sites of the study have to move, in any order. If this is killed, call it again: until it is complete the site stays
    where it was.
    """
    if is_invitation(url):
        url, code, certificate = unfolded(url, code, certificate)
    if feeds.is_address(url):
        feeds.check_given(url, code, certificate)
    else:
        coordinator.check_given(url, code, certificate, patience)
    file = SiteFile(storage)
    if "agreement" not in file.about:
        raise CbocError(f"{file.path} has joined no study yet; cboc join does that.")
    with file.claim(SHORTEST_WAIT, IN_USE):
        study, name = kept_agreement(file)
        if study.version > 0 and not (feeds.is_address(url) and feeds.is_address(file.about["url"])):
            raise CbocError(AMENDED.format(study.name))  # at a coordinator turns do not say their version
        if feeds.is_address(url):
            given = {"sealed": sealed, "git": git}
            _to_feeds(file, study, name, url, {key: _kept(file, url, key, value) for key, value in given.items()})
        else:
            _to_coordinator(file, url, code, certificate, patience)
    site = join(storage=storage, patience=patience)
    if isinstance(site.network, WithoutCentre):
        site.network.sync()
    return site


def _kept(file: SiteFile, url: str, setting: str, given: bool | None) -> bool:
    """A setting of a folder as it was given, or as it was in the folder that the site leaves."""
    is_from_folder = file.about["url"].startswith(feeds.FOLDER) and url.startswith(feeds.FOLDER)
    return bool(file.about.get(setting)) and is_from_folder if given is None else given


def _remember(file: SiteFile, **facts: Any) -> None:
    """Keep the new address, and that the site has moved: from here on it is there."""
    turns = [trial.turn.number + 1 for trial in file.trials() if trial.turn is not None]
    moved = {"from": file.about["url"], "to": facts["url"], "at": time.time(), "turn": max(turns, default=0)}
    file.remember(**facts, moves=[*file.about.get("moves", []), moved])


# ----------------------------------------------------------------------------------------------------------- to feeds


def _to_feeds(file: SiteFile, study: Study, name: str, url: str, settings: dict[str, bool]) -> None:
    first, *_ = kept_versions(file)
    address, brought = feeds.found(url, first, name, **settings)
    there = {"url": address, **settings}
    if there == {key: file.about.get(key, False) for key in there}:
        with suppress(CbocError):
            feeds.connect(file, study, name).sync()  # a move that was killed at its end is complete after this
        raise CbocError(f"{file.path} is at {address} already.")
    if feeds.is_address(file.about["url"]):  # the same feed by another way
        kept, versions = feeds.feeds_of(file), kept_versions(file)
        feeds.check_place(there, versions, name, kept)
        if len(versions) > 1:
            kept.remember(agreements=[each.agreement() for each in versions])
    else:
        _begin_feed(file, study, name, there, brought)
    _remember(file, **there)


def _begin_feed(file: SiteFile, study: Study, name: str, there: dict[str, Any], brought: list[Any]) -> None:
    """Make the file of feeds, with the past turns of this site in it."""
    from cboc.exchange.feeds.feedfile import FeedFile
    from cboc.exchange.feeds.moving import moved_feed

    place = feeds.feeds_path(file.path)
    begun = place.with_name(f".{place.name}.moving")
    begun.unlink(missing_ok=True)
    kept = FeedFile(begun, is_made=True)
    feeds.check_place(there, [study], name, kept)
    site = join(storage=file.path, patience=QUICK)
    # If the coordinator was told, or the site has left without being heard, the others would wait for nothing.
    has_left = bool(file.about.get("has_left")) or left_at(file) is not None
    entries = moved_feed(kept.keys, study, name, _answered(site, file), site.spent, has_left=has_left)
    kept.remember(site=name)
    kept.fill(entries)
    feeds.begin_with(kept, [study], name, brought)
    _put_aside(place)
    os.replace(begun, place)


def _put_aside(place: Path) -> None:
    """Give an earlier file of feeds another name: it is the record of a time before the coordinator."""
    if place.exists():
        os.replace(place, place.with_name(f"{place.name}.{len(feeds.put_aside(place)) + 1}"))


def _answered(site: Site, file: SiteFile) -> list[Any]:
    """The turns that the coordinator has answered; where the file does not know the state, the coordinator may."""
    from cboc.exchange.feeds.moving import Answered

    arrived = file.about["moves"][-1]["turn"] if file.about.get("moves") else 0  # turns before that were elsewhere
    found, is_there = [], True
    for number in sorted({trial.turn.number for trial in site.trials if trial.turn is not None}):
        first = site.log.wells(number)[0]
        is_ours = site.study.pace.waits or number >= arrived  # rounds have the same numbers everywhere, arrivals not
        state = first.answer.snapshot if first.answer is not None and is_ours else None
        if state is None and is_there:
            try:
                state = site.network.mix(site.name, number).snapshot
            except (Waiting, NotSubmitted):
                continue
            except CbocError:  # it is gone, or does not know this site any more
                is_there = False
        if state is not None:
            found.append(Answered(site.proposal(first), state))
    return found


# ----------------------------------------------------------------------------------------------------- to a coordinator


def _to_coordinator(file: SiteFile, url: str, code: str | None, certificate: str | None, patience: float) -> None:
    if url == file.about["url"]:
        raise CbocError(f"{file.path} is at {url} already.")
    if not feeds.is_address(file.about["url"]):
        raise CbocError(
            f"{file.path} is at the coordinator {file.about['url']}; cboc join {url} gives it another address."
        )
    if code is None:
        raise CbocError("to move to a coordinator, also give the code of an invitation.")
    news, there = coordinator.arrive(file, url, code, certificate, patience)
    last = max((t.turn.number for t in file.trials() if t.turn is not None and t.answer is not None), default=-1)
    if there.turn is not None and there.turn <= last:
        raise CbocError(
            f"the coordinator knows '{there.site}' up to turn {there.turn - 1}, and the site has taken turn {last}: it "
            "has to begin anew with what the sites export now (cboc feed export), before anything else is in it."
        )
    news |= {"url": url, "code": code, "certificate": certificate, "has_left": False, "returning": {}}
    _remember(file, **news, **come_back(file))
