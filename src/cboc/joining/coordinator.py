"""Joining through a coordinator: an address, an invitation, and a token that is made here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from secrets import token_urlsafe
from typing import Any

from cboc.errors import CbocError, check_kind
from cboc.exchange.amendment import check_successor
from cboc.exchange.http import Client, check_address, check_patience
from cboc.exchange.network import Unreachable
from cboc.exchange.rest import Membership, Refused, Rest
from cboc.exchange.study import Study
from cboc.joining.agreement import damaged, go_on_after, kept_agreement, read_study
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
    expected = read_study(about["agreement"], damaged(file))
    try:
        if is_returning:
            known = network.join(str(code), expected if _is_whole(about["agreement"]) else None, about["site"])
            _start_after(file, known)
        _check_same(expected, about["agreement"], network)
    except Refused as refusal:
        raise CbocError(
            f"{refusal} ({file.path} belongs to '{about['site']}' in '{about['agreement']['name']}'; "
            "use another file for another site or study.)"
        ) from None
    file.remember(**news, has_left=False)  # the new coordinator may not know that the site has left


def arrive(file: SiteFile, url: str, code: str, certificate: str | None, patience: float) -> tuple[str, Membership]:
    """Use an invitation for a site that comes from elsewhere; returns its token, kept before it is sent."""
    begun = file.about.get("returning", {})
    token = begun["token"] if begun.get("code") == code else token_urlsafe(32)
    file.remember(returning={"code": code, "token": token})
    expected, name = kept_agreement(file)
    there = Rest(Client(url, token, patience, certificate, file.record)).join(code, expected, name)
    _start_after(file, there)
    return token, there


def _start_after(file: SiteFile, there: Membership) -> None:
    """Go on after the turns that the coordinator has of this site."""
    if there.turn is not None:
        go_on_after(file, there.turn, there.experiments or 0)


def _is_whole(agreement: dict[str, Any]) -> bool:
    """Whether an agreement has all terms; in version 0.1.0 it had neither pace nor deadline."""
    return "pace" in agreement


def _check_same(expected: Study, agreement: dict[str, Any], network: Rest) -> dict[str, Any]:
    """The coordinator's agreement; raises if it contradicts the site's. It may have more terms."""
    there = network.membership()
    if _is_later(expected, there.agreement):  # it was amended since, and the site will be asked to accept that
        return agreement
    has_changed = any(there.agreement.get(name) != value for name, value in agreement.items())
    if there.digest != expected.digest and (has_changed or _is_whole(agreement)):
        raise Refused("the coordinator runs another study.")
    return there.agreement


def _is_later(known: Study, agreement: dict[str, Any]) -> bool:
    """Whether an agreement is a later version of a study, as far as anybody can tell from it."""
    try:
        check_successor(known, Study.from_agreement(agreement))
    except (CbocError, TypeError, KeyError, ValueError, AttributeError):
        return False
    return True


def connect(file: SiteFile, patience: float = 60.0, on_retry: Callable[[str], None] | None = None) -> Rest:
    """The network through the coordinator that a site's file names."""
    about = file.about
    client = Client(about["url"], about["token"], patience, about.get("certificate"), file.record, on_retry)
    return Rest(client, bool(about.get("has_left")), lambda: file.remember(has_left=True))


def agreed_with(file: SiteFile, network: Rest, expected: Study | None) -> tuple[Study, str]:
    """The study and its digest, from the file or, the first time, from the coordinator."""
    if "agreement" not in file.about:
        there = network.join(file.about["code"], expected)
        agreed = read_study(
            there.agreement, f"the coordinator at {network.client.url} sent an agreement that cannot be read."
        )
        agreed.index(there.site)
        file.remember(agreement=there.agreement, site=there.site)
        _start_after(file, there)
    if not _is_whole(file.about["agreement"]):
        known = read_study(file.about["agreement"], damaged(file))
        with suppress(Unreachable):
            file.remember(agreement=_check_same(known, file.about["agreement"], network))
    agreed, name = kept_agreement(file, expected)
    network.study = agreed
    return agreed, name
