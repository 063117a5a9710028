"""Joining a study over the network: the same `Site` as in one process, with its data in its own file.

site = cboc.join("https://coordinator:8000", code, storage="lab-b.db", direction="maximise")
site = cboc.join(storage="lab-b.db")            # later, in another process: it goes on where it was
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from cboc.data.dataset import Dataset, Direction
from cboc.errors import CbocError, check_kind
from cboc.exchange.http import Client, check_address, check_patience
from cboc.exchange.identity import identify
from cboc.exchange.network import Unreachable
from cboc.exchange.rest import Membership, Refused, Rest, disagreement
from cboc.exchange.study import Study
from cboc.site.policy import Policy
from cboc.site.site import Site
from cboc.storage.sitefile import SiteFile
from cboc.strategy.collaborative import collaborative

LONGEST_CODE = 200  # characters that a coordinator reads
KEPT = ("initial", "seed", "stop_below", "goes_on_alone", "most_cost")  # of a policy; of a strategy, its identity
NEEDED = {
    "url": "the coordinator's address",
    "code": "the code of an invitation",
    "direction": "a direction (maximise or minimise)",
}  # to join
FINAL = ("initial", "seed")  # the settings that cannot change after the first trial


def join(
    url: str | None = None,
    code: str | None = None,
    *,
    storage: str | Path,
    direction: Direction | str | None = None,
    policy: Policy | None = None,
    study: Study | None = None,
    data: Dataset | str | Path | None = None,
    outcome: str = "y",
    certificate: str | None = None,
    patience: float = 60.0,
    goes_on_alone: bool | None = None,
    on_retry: Callable[[str], None] | None = None,
) -> Site:
    """Join a study: the first time with the invitation's code and a direction; later the file knows them.

    `policy` is how the site behaves; all of it but its strategy is kept in the file. `study` is what the site expects:
    if the coordinator's differs, this raises the differences and does not join. `data` are results from before the
    study, a dataset or a CSV file whose column `outcome` holds them. With the direction they are kept in the file, and
    may be changed until the first trial. `certificate` is the PEM text of the coordinator's self-signed one. While the
    coordinator is down the site goes on alone, and says so; `goes_on_alone` overrides that for this process. `on_retry`
    is called with the reason when a message has to be repeated. The token is made here, and kept in the file before it
    is sent.
    """
    _check_given(url, code, certificate, patience)  # before anything is saved
    _check_kinds(policy, study, data)
    wanted = None if direction is None else str(Direction.of(direction))
    file = SiteFile(storage, is_made=url is not None and code is not None)
    if "agreement" in file.about:
        _check_sound(file)
        _settle(file, policy, wanted)
        _move(file, url, code, certificate, patience)
    else:
        _introduce(file, url=url, code=code, direction=wanted, certificate=certificate)
        _settle(file, policy)
    network = connect(file, patience, on_retry)
    agreed, name = _agreement(file, network, study)
    if data is not None:
        _begin_with(file, data, agreed, outcome)
    kept = _begun(file, agreed, _kept_policy(file) if policy is None else policy)
    return Site(
        agreed,
        name,
        network,
        direction=file.about["direction"],
        policy=kept if goes_on_alone is None else replace(kept, goes_on_alone=goes_on_alone),
        data=file.data(agreed.space.dimension, file.about["direction"]),
        trials=file.trials(),
        save=file.keep,
        first_turn=file.about.get("first_turn", 0),
        spent=file.about.get("spent", 0),
        claim=file.claim,
        clock=time.time,
    )


def connect(file: SiteFile, patience: float = 60.0, on_retry: Callable[[str], None] | None = None) -> Rest:
    """The network through the coordinator that a site's file names."""
    _check_sound(file)
    about = file.about
    client = Client(about["url"], about["token"], patience, about.get("certificate"), file.record, on_retry)
    return Rest(client, bool(about.get("has_left")), lambda: file.remember(has_left=True))


def _check_given(url: object, code: object, certificate: object, patience: object) -> None:
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


def _check_kinds(policy: object, study: object, data: object) -> None:
    """Raise one sentence if what a user gave is not a policy, a study or data; None is fine."""
    if policy is not None:
        check_kind("a site's policy", policy, Policy, "a Policy(...)")
    if study is not None:
        check_kind("the study that a site expects", study, Study, "a Study(...)")
    if data is not None:
        check_kind("a site's data", data, Dataset | str | PathLike, "a Dataset, or the path of a CSV file")


def _check_sound(file: SiteFile) -> None:
    """Raise one sentence if a site's file says something about itself that we never write."""
    about = file.about
    counts = [about.get(name, 0) for name in ("first_turn", "spent")]
    is_sound = (
        all(isinstance(about.get(name), str) for name in ("url", "code", "token"))
        and about.get("direction") in tuple(Direction)
        and isinstance(about.get("certificate"), str | None)
        and isinstance(about.get("returning", {}), dict)
        and all(type(count) is int and count >= 0 for count in counts)
    )
    if not is_sound:
        raise CbocError(f"{file.path} is damaged; restore an earlier copy.")


def has_own_strategy(file: SiteFile) -> bool:
    """Whether the policy in a site's file had a user's strategy, which the file identifies but cannot rebuild."""
    return "strategy" in file.about.get("policy", {})


def _kept_policy(file: SiteFile) -> Policy:
    """The policy in a site's file, with the default strategy."""
    kept = file.about.get("policy", {})
    try:
        return Policy(**{name: kept[name] for name in KEPT if name in kept})
    except (CbocError, TypeError):
        raise CbocError(f"{file.path} is damaged; restore an earlier copy.") from None


def _introduce(file: SiteFile, **given: Any) -> None:
    """Save the address, the invitation and a new token to disk before anything is sent."""
    about, news = file.about, {name: value for name, value in given.items() if value is not None}
    if missing := [words for name, words in NEEDED.items() if name not in {*about, *news}]:
        raise CbocError(f"{file.path} has joined no study yet; to join one, also give {' and '.join(missing)}.")
    if "url" in news:  # a certificate belongs to its address: an earlier try's is dropped
        news["certificate"] = given["certificate"]
    file.remember(**news)
    file.remember_first(token=token_urlsafe(32))


def _move(file: SiteFile, url: str | None, code: str | None, certificate: str | None, patience: float) -> None:
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
    expected = _study(about["agreement"], f"{file.path} is damaged; restore an earlier copy.")
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


def _start_after(file: SiteFile, there: Membership) -> None:
    """Go on after the turns that the coordinator has of this site, also if its file has lost some of them."""
    turns = [trial.turn.number for trial in file.trials() if trial.turn is not None]
    if there.turn is not None and there.turn > max(turns, default=-1) + 1:
        file.remember(first_turn=there.turn, spent=max(0, (there.experiments or 0) - len(turns)))


def _is_whole(agreement: dict[str, Any]) -> bool:
    """Whether an agreement has all terms; in version 0.1.0 it had neither pace nor deadline."""
    return "pace" in agreement


def _check_same(expected: Study, agreement: dict[str, Any], network: Rest) -> dict[str, Any]:
    """The coordinator's agreement; raises if it contradicts the site's. It may have more terms."""
    there = network.membership()
    has_changed = any(there.agreement.get(name) != value for name, value in agreement.items())
    if there.digest != expected.digest and (has_changed or _is_whole(agreement)):
        raise Refused("the coordinator runs another study.")
    return there.agreement


def _settle(file: SiteFile, policy: Policy | None, direction: str | None = None) -> None:
    """Keep the given settings in the file; after the first trial some of them cannot change."""
    before = _kept_policy(file)
    given = {} if policy is None else {name: getattr(policy, name) for name in KEPT}
    if policy is not None and policy.initial is None:
        given["initial"] = before.initial  # not given: it stays as it is
    if policy is not None and (strategy := identify(policy.strategy)) != identify(collaborative()):
        given["strategy"] = strategy
    fixed = {name: (getattr(before, name), given[name]) for name in FINAL if name in given}
    fixed |= {} if direction is None else {"direction": (file.about.get("direction"), direction)}
    for name, (old, new) in fixed.items():
        if file.is_begun and old != new:
            raise CbocError(f"{file.path} began with {name} = {old!r}, which cannot change to {new!r}.")
    news: dict[str, Any] = {} if policy is None else {"policy": given}
    news |= {} if direction is None else {"direction": direction}
    if any(file.about.get(name) != value for name, value in news.items()):
        file.remember(**news)


def _begun(file: SiteFile, agreed: Study, policy: Policy) -> Policy:
    """The policy with the number of initial experiments that the file keeps: another default cannot change it."""
    kept = file.about.get("policy", {})
    if kept.get("initial") is None:
        kept |= {"initial": policy.begins_with(len(agreed.space.names))}
        file.remember(policy=kept)
    return replace(policy, initial=kept["initial"])


def _agreement(file: SiteFile, network: Rest, expected: Study | None) -> tuple[Study, str]:
    """The study and its digest, from the file or, the first time, from the coordinator."""
    if "agreement" not in file.about:
        there = network.join(file.about["code"], expected)
        agreed = _study(
            there.agreement, f"the coordinator at {network.client.url} sent an agreement that cannot be read."
        )
        agreed.index(there.site)
        file.remember(agreement=there.agreement, site=there.site)
        _start_after(file, there)
    damaged = f"{file.path} is damaged; restore an earlier copy."
    agreed = _study(file.about["agreement"], damaged)
    if not _is_whole(file.about["agreement"]):
        with suppress(Unreachable):
            file.remember(agreement=_check_same(agreed, file.about["agreement"], network))
            agreed = _study(file.about["agreement"], damaged)
    if expected is not None and expected.digest != agreed.digest:
        raise disagreement(expected, file.about["agreement"])
    name = file.about.get("site")
    if name not in agreed.sites:
        raise CbocError(damaged)
    return agreed, name


def _study(agreement: Any, complaint: str) -> Study:
    try:
        return Study.from_agreement(agreement)
    except (CbocError, TypeError, KeyError, ValueError, AttributeError):
        raise CbocError(complaint) from None


def _begin_with(file: SiteFile, data: Dataset | str | Path, agreed: Study, outcome: str) -> None:
    direction = file.about["direction"]
    if not isinstance(data, Dataset):
        data = Dataset.from_csv(data, agreed.space, outcome, direction=direction)
    if file.is_begun and data != file.data(agreed.space.dimension, direction):
        raise CbocError(f"{file.path} began with other data from before the study, which cannot change any more.")
    file.remember(data=data.to_dict())
