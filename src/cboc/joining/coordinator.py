"""Joining through a coordinator: an address, an invitation, and a token that is made here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from secrets import token_urlsafe
from typing import Any

from cboc.errors import CbocError, check_kind
from cboc.exchange.amendment import is_later
from cboc.exchange.http import Client, check_address, check_patience
from cboc.exchange.network import Unreachable
from cboc.exchange.rest import Membership, Refused, Rest
from cboc.exchange.study import Study
from cboc.joining.agreement import kept_agreement, kept_versions
from cboc.joining.departure import come_back
from cboc.site.trial import Status
from cboc.storage.sitefile import SiteFile

LONGEST_CODE = 200  # characters that a coordinator reads
NEEDED = {
    "url": "the coordinator's address",
    "code": "the code of an invitation",
    "direction": "a direction (maximise or minimise)",
}  # to join


def check_given(url: object, code: object, certificate: object, patience: object) -> None:
    """Raise one sentence if what a user gave cannot be an address, an invitation, a certificate or a time."""
    if url is not None:
        check_address(url)
    if code is not None:
        check_kind("an invitation", code, str, "a text of 43 characters")
        if len(str(code)) > LONGEST_CODE:
            raise CbocError(
                f"an invitation has 43 characters; this has {len(str(code))}. Was something copied with it?"
            )
    if certificate is not None:
        check_kind("a certificate", certificate, str, "its PEM text (-----BEGIN CERTIFICATE----- ...)")
    check_patience(patience)


def is_sound(about: Mapping[str, Any]) -> bool:
    """Whether a site's file says about its coordinator what we write."""
    has_texts = all(isinstance(about.get(name), str) for name in ("url", "code", "token"))
    has_others = isinstance(about.get("certificate"), str | None) and isinstance(about.get("returning", {}), dict)
    return has_texts and has_others


def introduce(file: SiteFile, **given: Any) -> None:
    """Save the address, the invitation and a new token to disk before anything is sent."""
    about, news = file.about, {name: value for name, value in given.items() if value is not None}
    if missing := [words for name, words in NEEDED.items() if name not in {*about, *news}]:
        raise CbocError(f"{file.path} has joined no study yet; to join one, also give {' and '.join(missing)}.")
    if "url" in news:  # a certificate belongs to its address: an earlier try's is dropped
        news["certificate"] = given["certificate"]
    file.remember(**news)
    file.remember_first(token=token_urlsafe(32))


def move(file: SiteFile, url: str | None, code: str | None, certificate: str | None, patience: float) -> None:
    """Try a new address, certificate or invitation of the coordinator, and keep it once it has worked.

    A certificate belongs to its address: at a new address without one, the site trusts what its machine trusts.
    """
    about = file.about
    news: dict[str, Any] = {"url": url, "certificate": certificate}
    is_moving = url not in (None, about.get("url"))
    news = {name: value for name, value in news.items() if value is not None or (is_moving and name == "certificate")}
    there = about | news
    is_returning = code not in (None, about["code"])
    if is_returning:  # the token was revoked: the same site of the same study gets a new one
        begun = about.get("returning", {})
        token = begun["token"] if begun.get("code") == code else token_urlsafe(32)
        file.remember(returning={"code": code, "token": token})
        news |= {"code": str(code), "token": token}
    elif all(about.get(name) == value for name, value in news.items()):
        return
    token = news.get("token", about["token"])
    network = Rest(Client(there["url"], token, patience, there.get("certificate"), file.record))
    first, *_ = versions = kept_versions(file)
    try:
        if is_returning:  # the first version is known wherever the study is, also if later ones were taken back
            known = network.join(str(code), first if _is_whole(about["agreement"]) else None, about["site"])
            news |= _going_on(file, known) | come_back(file)
        _check_same(versions, file, network)
    except Refused as refusal:
        raise CbocError(
            f"{refusal} ({file.path} belongs to '{about['site']}' in '{about['agreement']['name']}'; "
            "use another file for another site or study.)"
        ) from None
    file.remember(**news, has_left=False)  # the new coordinator may not know that the site has left


def arrive(
    file: SiteFile, url: str, code: str, certificate: str | None, patience: float
) -> tuple[dict[str, Any], Membership]:
    """Use an invitation for a site that comes from elsewhere; returns what to keep of it once all is checked.

    Its token is kept before it is sent.
    """
    begun = file.about.get("returning", {})
    token = begun["token"] if begun.get("code") == code else token_urlsafe(32)
    file.remember(returning={"code": code, "token": token})
    expected, name = kept_agreement(file)
    there = Rest(Client(url, token, patience, certificate, file.record)).join(code, expected, name)
    return {"token": token, **_going_on(file, there)}, there


def _going_on(file: SiteFile, there: Membership) -> dict[str, Any]:
    """After which turns a site goes on, to be kept; empty if its file has all turns that the coordinator has.

    Where the site has not gone on yet as another answer said, the newest one counts: that one may have been false. A
    turn that the coordinator has not acknowledged may have been taken by a copy of the file that is lost.
    """
    if there.turn is None:
        return {}
    turns = {trial.number: trial.turn.number for trial in file.trials() if trial.turn is not None}
    sure = [turns[trial.number] for trial in file.trials() if trial.number in turns and trial.status != Status.PROPOSED]
    following, told = max(sure, default=-1) + 1, file.about.get("first_turn", 0)
    if there.turn <= max(following, told) and told <= following:
        return {}
    own = sum(turn < there.turn for turn in turns.values())
    return {"first_turn": there.turn, "spent": max(0, (there.experiments or 0) - own)}


def _is_whole(agreement: dict[str, Any]) -> bool:
    """Whether an agreement has all terms; in version 0.1.0 it had neither pace nor deadline."""
    return "pace" in agreement


def _check_same(versions: Sequence[Study], file: SiteFile, network: Rest) -> dict[str, Any]:
    """The coordinator's agreement; raises if it contradicts the site's. It may have more terms."""
    there, agreement = network.membership(), file.about["agreement"]
    if there.site != file.about["site"]:
        raise Refused(f"the coordinator takes this site for '{there.site}'.")
    *earlier, expected = versions
    if any(is_later(each, there.study) for each in versions) or there.digest in {each.digest for each in earlier}:
        return agreement  # it was amended since, or a change was taken back: the site will be asked to accept that
    terms: dict[str, Any] = json.loads(there.study.canonical)
    has_changed = any(terms.get(name) != value for name, value in agreement.items())
    if there.digest != expected.digest and (has_changed or _is_whole(agreement)):
        raise Refused("the coordinator runs another study.")
    return terms


def connect(file: SiteFile, patience: float = 60.0, on_retry: Callable[[str], None] | None = None) -> Rest:
    """The network through the coordinator that a site's file names."""
    about = file.about
    client = Client(about["url"], about["token"], patience, about.get("certificate"), file.record, on_retry)
    return Rest(client, bool(about.get("has_left")), lambda: file.remember(has_left=True))


def agreed_with(file: SiteFile, network: Rest, expected: Study | None) -> tuple[Study, str]:
    """The study and its digest, from the file or, the first time, from the coordinator."""
    if "agreement" not in file.about:
        there = network.join(file.about["code"], expected)
        file.remember(agreement=there.study.agreement(), site=there.site, **_going_on(file, there))
    if not _is_whole(file.about["agreement"]):
        with suppress(Unreachable):
            file.remember(agreement=_check_same(kept_versions(file), file, network))
    agreed, name = kept_agreement(file, expected)
    network.study = agreed
    return agreed, name
