"""Who is admitted to what: the one place where every page, form, chart and count asks.

A study that somebody may not see is answered as one that does not exist: two consortia at one coordinator do not learn
each other's names.

Person     somebody who has logged in, with all rights
Seen       the name of a study that this person may see
Owned      the name of a study whose sites this person may invite; `Changed` is the same in a form
Operator   a program on the coordinator's own machine, or an admin
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Query, Request
from starlette.exceptions import HTTPException

from cboc.coordinator.addresses import is_own_machine
from cboc.coordinator.database import LONGEST
from cboc.coordinator.people import People
from cboc.coordinator.rights import Rights, Roles
from cboc.errors import CbocError
from cboc.web.same_origin import is_same_origin

COOKIE = "cboc_login"
PASSED_ON = ("x-forwarded-for", "x-real-ip", "forwarded", "via")  # what proxies add to a message


class NotLoggedIn(CbocError):
    """Raised when a page needs a login."""


class NoStudy(CbocError):
    """Raised for a study that is not here, or that this person may not see."""

    def __init__(self, rights: Rights) -> None:
        self.rights = rights
        super().__init__("there is no such study here.")


def rights_of(request: Request) -> Rights:
    """Return the rights of the person who requests a page."""
    people: People = request.app.state.people
    person = people.who(request.cookies.get(COOKIE, ""))
    if person is None:
        raise NotLoggedIn("only people who have logged in may see this.")
    roles: Roles = request.app.state.roles
    return roles.of(person)


def own_page(request: Request) -> None:
    """Check that one of our own forms sent this request, as the browser reports."""
    if not is_same_origin(request):
        raise HTTPException(403)


Person = Annotated[Rights, Depends(rights_of)]


def seen_study(rights: Person, name: Annotated[str, Query(max_length=LONGEST)]) -> str:
    """Return the name of a study that the person may see; no other is looked up."""
    if not name.isprintable() or not rights.sees(name):
        raise NoStudy(rights)
    return name


def owned_study(rights: Person, name: Annotated[str, Query(max_length=LONGEST)]) -> str:
    """Return the name of a study that the person may change."""
    if not rights.owns(seen_study(rights, name)):
        raise HTTPException(403)
    return name


def changed_study(rights: Person, name: Annotated[str, Form(max_length=LONGEST)]) -> str:
    """Return the name of a study in a form, sent by a person who may change it."""
    return owned_study(rights, name)


def operator(request: Request) -> None:
    """Admit a program on this machine that asks by itself, not through a proxy, and an admin from anywhere."""
    is_direct = not any(name in request.headers for name in PASSED_ON)
    if is_direct and request.client is not None and is_own_machine(request.client.host):
        return
    if not rights_of(request).is_admin:
        raise HTTPException(403)


Seen = Annotated[str, Depends(seen_study)]
Owned = Annotated[str, Depends(owned_study)]
Changed = Annotated[str, Depends(changed_study)]
