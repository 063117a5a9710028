"""The agreement in a site's file."""

from __future__ import annotations

from typing import Any

from cboc.errors import CbocError
from cboc.exchange.amendment import check_accepted, in_force, is_same
from cboc.exchange.rest import disagreement
from cboc.exchange.study import Study
from cboc.storage.sitefile import SiteFile


def damaged(file: SiteFile) -> str:
    """What to say if a site's file holds something that we never write."""
    return f"{file.path} is damaged; restore an earlier copy."


def read_study(agreement: Any, complaint: str) -> Study:
    """The study of an agreement; raises the complaint if it cannot be read."""
    try:
        return Study.from_agreement(agreement)
    except (CbocError, TypeError, KeyError, ValueError, AttributeError, ArithmeticError):
        raise CbocError(complaint) from None


def kept_agreement(file: SiteFile, expected: Study | None = None) -> tuple[Study, str]:
    """The study in a site's file, and the site's name in it; raises the differences if another one is expected."""
    *earlier, agreed = kept_versions(file)
    if expected is not None and not any(is_same(expected, each) for each in (*earlier, agreed)):
        raise disagreement(expected, file.about["agreement"], "the site's")
    name = file.about.get("site")
    if name not in agreed.sites:
        raise CbocError(damaged(file))
    return agreed, name


def kept_versions(file: SiteFile) -> list[Study]:
    """The versions of the study that the site has accepted, the newest last; not those that were taken back."""
    return in_force(_accepted(file))


def _accepted(file: SiteFile) -> list[Study]:
    """All versions that the site has ever accepted, in this order."""
    before = file.about.get("agreements", [])
    if not isinstance(before, list):
        raise CbocError(damaged(file))
    return [read_study(each, damaged(file)) for each in (*before, file.about["agreement"])]


def keep_agreement(file: SiteFile, newest: Study) -> None:
    """Keep the version of the study that is in force, and those before it, all at once: a kill leaves one or the other.

    Raises one sentence if it may not follow what was accepted before.
    """
    accepted = _accepted(file)
    if accepted[-1].digest == newest.digest:  # another process of this site was faster
        return
    check_accepted(accepted, newest)
    before = [*file.about.get("agreements", []), file.about["agreement"]]
    file.remember(agreement=newest.agreement(), agreements=before, has_left=False)


def go_on_after(file: SiteFile, turn: int, experiments: int) -> None:
    """Go on with this turn, after so many experiments, also if a site's file has lost some of them."""
    turns = [trial.turn.number for trial in file.trials() if trial.turn is not None]
    if turn > max(max(turns, default=-1) + 1, file.about.get("first_turn", 0)):
        file.remember(first_turn=turn, spent=max(0, experiments - len(turns)))
