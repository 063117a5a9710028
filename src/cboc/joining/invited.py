"""Joining with an invitation file: the file is kept, the terms are looked at, then the site joins.

file = keep(read_invitation("lab-b.cboc"), "lab-b.db")      # from now on the site's file has all that is in it
study, site = look(file)                                    # the terms, before anything is agreed
join(storage="lab-b.db", direction="maximise", study=study)
"""

from __future__ import annotations

from pathlib import Path
from secrets import token_urlsafe

from cboc.errors import CbocError, short
from cboc.exchange.invitation import Invitation, read_invitation
from cboc.exchange.study import Study
from cboc.joining import coordinator
from cboc.joining.agreement import read_study
from cboc.storage.sitefile import SiteFile


def unfolded(url: object, code: object, certificate: object) -> tuple[str, str, str | None]:
    """The address, code and certificate that an invitation file holds, given in place of an address."""
    if code is not None or certificate is not None:
        raise CbocError(f"{url} holds the code and the certificate of its invitation; leave yours out.")
    given = read_invitation(Path(str(url)))
    return given.url, given.code, given.certificate


def keep(given: Invitation, storage: str | Path) -> SiteFile:
    """Keep an invitation in the file of a site that has joined no study yet, and return that file."""
    coordinator.check_given(given.url, given.code, given.certificate, 1.0)
    file = SiteFile(storage, is_made=True)
    if "agreement" in file.about:
        raise CbocError(
            f"{file.path} has joined '{file.about['agreement']['name']}' already; --file names another file for "
            "another study, and cboc join takes a new invitation for the same one."
        )
    kept = {"url": given.url, "code": given.code, "certificate": given.certificate, "named": given.site}
    if any(file.about.get(name) != value for name, value in kept.items()):
        file.remember(**kept, token=token_urlsafe(32))
    return file


def is_kept(file: SiteFile) -> bool:
    """Whether a site's file holds an invitation, with which it has not joined yet."""
    return "agreement" not in file.about and {"url", "code", "token"} <= file.about.keys()


def look(file: SiteFile, patience: float = 60.0) -> tuple[Study, str]:
    """The study that the kept invitation is for, and the site's name in it; nothing is agreed by this."""
    network = coordinator.connect(file, patience)
    there = network.look(file.about["code"])
    study = read_study(
        there.agreement, f"the coordinator at {network.client.url} sent an agreement that cannot be read."
    )
    study.index(there.site)
    if (named := file.about.get("named")) not in (None, "", there.site):
        raise CbocError(
            f"the invitation names site {short(named)}, but its code is for site '{there.site}'; ask for another."
        )
    return study, there.site


def leaves(study: Study) -> list[str]:
    """What would leave the lab in this study, a line for each."""
    lines = ["every turn, the design that your site would run by itself"]
    if study.shares_best:
        lines.append("every turn, the design of your best outcome so far, but not how good it is")
    if study.needs_rewards:
        lines.append("every turn, one number that the rule compares, which has the scale of your outcomes")
    return lines
