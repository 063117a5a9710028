"""Which versions of a study are in force, as far as the feeds here show.

A steward signs a version by an entry of its feed, and signs later versions only after that. A version is in force when
all stewards of the one before have signed it. A steward that has left without signing anything as new is not waited
for. Since the numbers that a site signs only grow, no two versions of one number can both be in force, and whoever
sees more sees the same ones and perhaps later ones.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from cboc.errors import CbocError
from cboc.exchange import wire
from cboc.exchange.amendment import check_successor
from cboc.exchange.feeds.entry import Act, FeedEntry
from cboc.exchange.feeds.keys import Identity
from cboc.exchange.study import Study

Signed = Mapping[str, Mapping[str, int]]  # by site: the numbers of the versions that it has signed, by their digests


def in_force(
    known: Sequence[Study], versions: Mapping[str, Study], signed: Signed, left: Container[str] = ()
) -> list[Study]:
    """The versions in force, the newest last, beginning with those that are known to be."""
    found = list(known)
    for digest, each in sorted(versions.items(), key=lambda item: item[1].version):
        if each.version > found[-1].version and _is_agreed(digest, found[-1], each, signed, left):
            found.append(each)
    return found


def _is_agreed(digest: str, before: Study, after: Study, signed: Signed, left: Container[str]) -> bool:
    stewards = before.stewards or before.sites
    have = [site for site in stewards if digest in signed.get(site, {})]
    rest = [site for site in stewards if site not in have]
    newest = {site: max(signed.get(site, {}).values(), default=0) for site in rest}
    if not have or not all(site in left and newest[site] < after.version for site in rest):
        return False
    try:
        check_amendment(before, after)
    except CbocError:
        return False
    return True


def check_amendment(before: Study, after: Study) -> None:
    """Raise one sentence if one version cannot follow another where there is no coordinator."""
    check_successor(before, after)
    for name in after.sites:
        if not wire.NAME.fits(name):
            raise CbocError(f"a site's name is short and can be printed; {ascii(name)[:120]} cannot be one.")
    if (before.deadline is None) != (after.deadline is None):
        raise CbocError(
            "without a coordinator a deadline may be another one, but not come or go: it decides who closes."
        )


def named_by(entry: FeedEntry) -> Study | None:
    """The version that a hello or an amendment names; None if it is neither, or cannot be read."""
    if entry.act not in (Act.HELLO, Act.AMEND) or entry.said is None:  # in this order: the act may be known already
        return None
    return study_in(entry.said["agreement"])


def study_in(agreement: Mapping[str, Any]) -> Study | None:
    """The study of an agreement that somebody has sent; None if it cannot be read."""
    try:
        return Study.from_agreement(agreement)
    except (CbocError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError):
        return None


def found_in(first: Study, entries: Iterable[FeedEntry]) -> list[Study]:
    """The versions in force for a site that has no replica yet, from signed entries that others have left."""
    some = sorted(entries, key=lambda entry: entry.number)
    keys = {entry.site: entry.identity for entry in reversed(some) if entry.identity is not None}
    versions: dict[str, Study] = {}
    signed: dict[str, dict[str, int]] = {}
    for entry in some:
        study = named_by(entry)
        if study is not None and _is_signed(entry, keys):
            versions[study.digest] = study
            signed.setdefault(entry.site, {})[study.digest] = study.version
    left = {entry.site for entry in some if entry.act is Act.LEAVE and _is_signed(entry, keys)}
    return in_force([first], versions, signed, left)


def _is_signed(entry: FeedEntry, keys: Mapping[str, Identity]) -> bool:
    return entry.site in keys and entry.is_signed_by(keys[entry.site])
