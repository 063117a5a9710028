"""The commands for people at a coordinator: who may log in, and who sees which study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cboc.cli.coordinator import StudyName, chosen, opened
from cboc.cli.notes import notes
from cboc.cli.operations import DATABASE, Database
from cboc.cli.show import Format, Row, write
from cboc.errors import CbocError, did_you_mean

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from cboc.coordinator.rights import Rights

ROLES = ("viewer", "owner")
app = typer.Typer(no_args_is_help=True, help="People who may look at the coordinator's pages, and what they may do.")

Person = Annotated[str, typer.Argument(help="A name to log in with.")]
RoleName = Annotated[
    str, typer.Option("--role", metavar="viewer|owner", help="A viewer sees; an owner invites and revokes, too.")
]
Admin = Annotated[bool, typer.Option("--admin", help="Sees and changes every study, also those to come.")]


@app.command()
def add(
    person: Person,
    password: Annotated[
        str,
        typer.Option(prompt=True, confirmation_prompt=True, hide_input=True, envvar="CBOC_PASSWORD", help="Asked for."),
    ],
    study: StudyName = None,
    role: RoleName = "viewer",
    admin: Admin = False,
    database: Database = DATABASE,
) -> None:
    """Let somebody log in to the coordinator's pages, and see one study; or give them another password.

    Somebody who is known already keeps all roles, and gets another password.

    Examples: `cboc people add anna`, `cboc people add bela --study "buffer study" --role owner`, `cboc people add
    chris --admin`
    """
    with opened(database) as engine:
        from cboc.coordinator.people import People

        known = People(engine)
        is_new = person not in known.names()
        may_see = is_new or study is not None or admin
        wanted = _wanted(engine, study, role, admin=admin) if may_see else None  # first: a mistake adds nobody
        known.add(person, password)
        what = f" {_allow(engine, person, wanted)}" if may_see else ""
    notes.print(f"{person} may log in now.{what}")


@app.command()
def allow(
    person: Person,
    study: StudyName = None,
    role: RoleName = "viewer",
    admin: Admin = False,
    database: Database = DATABASE,
) -> None:
    """Let somebody see a study (viewer), or also invite and revoke its sites (owner), or everything (--admin).

    Example: `cboc people allow anna --study "buffer study" --role owner`
    """
    with opened(database) as engine:
        notes.print(_allow(engine, person, _wanted(engine, study, role, admin=admin)))


@app.command()
def forbid(
    person: Person,
    study: StudyName = None,
    admin: Annotated[bool, typer.Option("--admin", help="No longer an admin; roles in studies stay.")] = False,
    database: Database = DATABASE,
) -> None:
    """Take somebody's role in a study away; the login stays.

    Example: `cboc people forbid anna --study "buffer study"`
    """
    with opened(database) as engine:
        from cboc.coordinator.rights import Roles

        if admin:
            Roles(engine).make_admin(person, is_admin=False)
            notes.print(f"{person} is no admin any more.")
            return
        name = chosen(engine, study)
        Roles(engine).take(person, name)
    notes.print(f"{person} no longer sees '{name}'.")


@app.command()
def remove(person: Annotated[str, typer.Argument(help="Who.")], database: Database = DATABASE) -> None:
    """Take away somebody's login; if they are logged in, they are logged out.

    Example: `cboc people remove anna`
    """
    with opened(database) as engine:
        from cboc.coordinator.people import People

        People(engine).remove(person)
    notes.print(f"{person} may no longer log in.")


@app.command("list")
def list_people(
    database: Database = DATABASE, format: Annotated[Format, typer.Option(help="How to print the rows.")] = Format.TABLE
) -> None:
    """Print who may log in, and who sees which study.

    Example: `cboc people list`
    """
    with opened(database) as engine:
        from cboc.coordinator.people import People
        from cboc.coordinator.rights import Roles

        rows = [row for name in People(engine).names() for row in _rows(Roles(engine).of(name))]
    typer.echo(write(rows, format))


def _rows(rights: Rights) -> list[Row]:
    every = [{"person": rights.person, "role": "admin", "study": "all"}] if rights.is_admin else []
    some = [{"person": rights.person, "role": str(role), "study": study} for study, role in rights.roles.items()]
    return [*every, *some] or [{"person": rights.person, "role": "none", "study": None}]


def _wanted(engine: Engine, study: str | None, role: str, *, admin: bool) -> tuple[str, str] | None:
    """The study and the role that are meant, checked; None stands for everything."""
    if role not in ROLES:
        raise CbocError(f"a role is viewer or owner, and --admin is for everything; {did_you_mean(role, ROLES)}")
    if not admin:
        return chosen(engine, study), role
    if study is not None:
        raise CbocError("--admin is for every study; leave --study out.")
    return None


def _allow(engine: Engine, person: str, wanted: tuple[str, str] | None) -> str:
    """Give somebody a role, and return what to say about it."""
    from cboc.coordinator.rights import Role, Roles

    if wanted is None:
        Roles(engine).make_admin(person)
        return f"{person} sees and changes every study."
    study, role = wanted
    Roles(engine).give(person, study, Role(role))
    return f"{person} is {'an owner' if role == 'owner' else 'a viewer'} of '{study}'."
