"""The commands for running a coordinator: serve, revoke, certificate."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cboc.cli.notes import notes
from cboc.cli.operations import DATABASE, Database, needs_service
from cboc.errors import CbocError, did_you_mean
from cboc.exchange.study_diff import differences
from cboc.studyfile import Terms, read_terms

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from cboc.coordinator.front import Front
    from cboc.exchange.feeds.handover import Handover
    from cboc.exchange.study import Study

StudyName = Annotated[
    str | None, typer.Option("--study", metavar="NAME", help="Which study.", show_default="the only one")
]
LOOPBACK = "127.0.0.1"
WAIT = 60  # seconds for a database that is starting
LONGEST_WAIT = 86400.0


def serve(
    studies: Annotated[
        list[Path] | None, typer.Argument(metavar="[STUDY.toml]...", help="Studies to begin or to continue.")
    ] = None,
    feeds: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="What a site has exported: the study goes on from there; once for each."),
    ] = None,
    database: Database = DATABASE,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all.")] = LOOPBACK,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, help="Server processes; more than one needs PostgreSQL.")] = 1,
    certificate: Annotated[Path | None, typer.Option(help="Certificate for HTTPS, PEM.")] = None,
    key: Annotated[Path | None, typer.Option(help="Its private key, PEM.")] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            envvar="CBOC_NAMES",
            help="What a proxy in front is called, such as cboc.example.org; more than one is fine.",
        ),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            envvar="FORWARDED_ALLOW_IPS",
            help="Address or network of a proxy, which is believed when it says who asks.",
            show_default="this machine",
        ),
    ] = None,
    wait: Annotated[
        float | None,
        typer.Option(
            min=0.0, max=LONGEST_WAIT, help="Seconds to wait for a PostgreSQL that is starting.", show_default=str(WAIT)
        ),
    ] = None,
) -> None:
    """Run a coordinator: the service through which the sites of a study exchange designs.

    All that it knows is in its database, so you can stop and start it at any time. Outcomes never reach it. On any
    address but this machine's own, use HTTPS, with a certificate or behind a proxy that has one. Whoever calls it by a
    name that is not its machine's, in its certificate or given by `--name` is not answered.

    A study that ran without a coordinator goes on here, from what its sites have exported with `cboc feed export`.

    Examples: `cboc serve study.toml --host 0.0.0.0 --certificate cboc.pem --key cboc.key`,
    `cboc serve study.toml --feeds lab-a.cboc --feeds lab-b.cboc`
    """
    given = [(path, read_terms(path)) for path in studies or ()]
    past = _past([terms for _, terms in given], feeds or [])
    _check_workers(database, workers)
    _check_socket(host, port)
    _check_certificate(certificate, key)
    front = _front(name or [], proxy or [], certificate)
    with opened(database, is_made=True, wait=wait) as engine:  # last: a refused start leaves everything as it was
        for path, terms in given:
            _check_terms(engine, path, terms)
        for _, terms in given:
            notes.print(_begin(engine, terms, past))
    _announce(host, port, front, is_https=certificate is not None)
    os.environ["CBOC_DATABASE"] = database
    if certificate is not None:  # it goes into the invitations that the dashboard makes
        os.environ["CBOC_CERTIFICATE"] = str(certificate.absolute())
    os.environ |= {"CBOC_NAMES": " ".join(name or ()), "FORWARDED_ALLOW_IPS": " ".join(proxy or ())}
    _run(host, port, workers, certificate, key)


def _front(names: list[str], proxies: list[str], certificate: Path | None) -> Front:
    """What the coordinator is called, and its proxies."""
    from cboc.coordinator.certificate import names_in
    from cboc.coordinator.front import Front

    return Front.of([*names, *(() if certificate is None else names_in(certificate))], proxies)


def _announce(host: str, port: int, front: Front, *, is_https: bool) -> None:
    """Say where the coordinator is, what it is called, and what is careless about it."""
    if host != LOOPBACK and not is_https:
        notes.print("Without --certificate, designs and tokens travel unencrypted, unless a proxy in front has one.")
    if front.proxies.are_anybody:
        notes.print(
            "Everybody who connects is taken for a proxy ('*'): who reaches this port may claim any address, and so "
            "evade the limits on tries; give --proxy the proxy's own address.",
            style="red",
        )
    if front.is_for_any_name:
        notes.print(
            "Any name is answered ('*'): a web site that somebody has open may reach this coordinator through that "
            "browser; give --name its own.",
            style="red",
        )
    else:
        notes.print(f"It answers to its addresses and to {', '.join(front.known)}; --name adds what a proxy is called.")
    where = f"every address of this machine, port {port}" if host in ("0.0.0.0", "::") else f"{host}:{port}"
    notes.print(f"Coordinator on {where}, over {'HTTPS' if is_https else 'HTTP'}. Ctrl-C stops it.")


def _run(host: str, port: int, workers: int, certificate: Path | None, key: Path | None) -> None:
    from cboc.coordinator.log import LOGGING
    from cboc.web.serving import Serving, run

    run(
        Serving(
            "cboc.coordinator.app:from_environment",
            factory=True,
            host=host,
            port=port,
            workers=workers,
            ssl_certfile=certificate,
            ssl_keyfile=key,
            log_config=LOGGING,
        )
    )


def revoke(
    site: Annotated[str, typer.Argument(help="The site whose token and invitations end.")],
    study: StudyName = None,
    for_good: Annotated[
        bool, typer.Option("--for-good", help="The others stop waiting for it; it is not invited again.")
    ] = False,
    database: Database = DATABASE,
) -> None:
    """End a site's token and its invitations, for instance when its computer was stolen.

    Its proposals stay. Invited again, it goes on where it was, with its old file or a new one.

    Example: `cboc revoke lab-b && cboc invite lab-b`
    """
    with opened(database) as engine:
        from cboc.coordinator.tokens import Tokens
        from cboc.coordinator.transactions import Transactions

        name = chosen(engine, study)
        Tokens(engine).revoke(name, site, for_good=for_good)
        if for_good:
            Transactions(engine).leave(name, site)
    notes.print(f"'{site}' of '{name}' {'has left for good' if for_good else 'has no token any more'}.")


def certificate(
    hosts: Annotated[list[str], typer.Argument(metavar="HOST...", help="Names or addresses of the coordinator.")],
    out: Annotated[Path, typer.Option(help="The certificate to write; its key goes beside it.")] = Path("cboc.pem"),
) -> None:
    """Make your own certificate, to try HTTPS before an authority has signed one.

    Sites need the certificate, never the key: `cboc invite --file lab-b.cboc --certificate cboc.pem` puts it into a
    site's invitation.

    Example: `cboc certificate cboc.example.org 192.0.2.7`
    """
    needs_service()
    from cboc.coordinator.certificate import make

    key = out.with_suffix(".key")
    make(hosts, out, key)
    notes.print(f"Wrote {out} and {key}; use them with cboc serve --certificate {out} --key {key}.")


@contextmanager
def opened(database: str, *, is_made: bool = False, wait: float | None = None) -> Iterator[Engine]:
    """Open the coordinator's database and bring it up to date; only serving makes a new one, and waits for it."""
    needs_service()
    from cboc.coordinator.database import open_database, wait_for
    from cboc.coordinator.database_errors import plainly
    from cboc.coordinator.schema import upgrade

    engine = open_database(database)
    if not is_made and engine.dialect.name == "sqlite" and not Path(engine.url.database or "").exists():
        raise CbocError(f"there is no database {database}; cboc serve STUDY.toml makes it, --database names another.")
    if wait is not None and engine.dialect.name == "sqlite":
        notes.print("SQLite is a file that is there or not: --wait has no effect.")
    try:
        if is_made:
            wait_for(engine, WAIT if wait is None else wait, lambda sentence: notes.print(sentence))
        upgrade(engine)
        with plainly(engine):
            yield engine
    finally:
        engine.dispose()


def _check_terms(engine: Engine, path: Path, terms: Terms) -> None:
    """Refuse new terms for a study that somebody has joined: it goes on with the terms that it has."""
    from cboc.coordinator.drafts import Drafts

    lines = _new_terms(engine, terms.study)
    if lines and not Drafts(engine).is_draft(terms.study.name):
        raise CbocError(
            f"{path}: study '{terms.study.name}' has begun with other terms: {'; '.join(lines)}. "
            "Use the old ones, or another name; cboc amend changes some of them while the study runs."
        )


def _new_terms(engine: Engine, study: Study) -> list[str]:
    """How the terms of a study differ from those of every version that is here; empty if it is one of them, or new."""
    from cboc.coordinator.transactions import Transactions

    transactions = Transactions(engine)
    if study.name not in transactions.names():
        return []
    versions = [{**each.agreement(), "version": 0} for each in transactions.versions(study.name)]
    lines = [differences({**study.agreement(), "version": 0}, each) for each in versions]
    return lines[-1] if all(lines) else []


def _past(given: list[Terms], feeds: list[Path]) -> Handover | None:
    """What the sites of a study did without a coordinator, from the files that they have exported."""
    if not feeds:
        return None
    if len(given) != 1:
        raise CbocError("--feeds is for one study: give one study file with it.")
    needs_service()
    from cboc.exchange.feeds.handover import read_handover

    return read_handover(given[0].study, feeds)


def _begin(engine: Engine, terms: Terms, past: Handover | None = None) -> str:
    """Begin a study, or go on with it, and return what to say about it."""
    from cboc.coordinator.drafts import Drafts
    from cboc.coordinator.transactions import Transactions

    transactions, study = Transactions(engine), terms.study
    own = f" Left out, because every site chooses for itself: {', '.join(terms.left_out)}." * bool(terms.left_out)
    is_new = study.name not in transactions.names()
    if is_new:
        transactions.create(study)
    if past is not None:
        transactions.go_on_from(study.name, past)
        taken = ", ".join(f"{site} {past.turns.get(site, 0)}" for site in study.sites)
        return f"Study '{study.name}' goes on after these turns: {taken}; cboc invite makes invitations to move.{own}"
    if lines := _new_terms(engine, study):
        Drafts(engine).replace(study)
        return f"Study '{study.name}' has other terms now, which nobody had joined before: {'; '.join(lines)}.{own}"
    if is_new:
        return f"Study '{study.name}' begins with {', '.join(study.sites)}; cboc invite makes their invitations.{own}"
    return f"Study '{study.name}' goes on in round {transactions.standing(study.name).round}.{own}"


def chosen(engine: Engine, study: str | None) -> str:
    """The study that is meant: the one of this name, or the only one."""
    from cboc.coordinator.transactions import Transactions

    names = Transactions(engine).names()
    if not names:
        raise CbocError("this database holds no study yet; cboc serve STUDY.toml begins one.")
    if study is None and len(names) > 1:
        raise CbocError(f"there are several studies, {', '.join(names)}; name one with --study.")
    if study is not None and study not in names:
        raise CbocError(f"there is no study '{study}' here; {did_you_mean(study, names)}")
    return names[0] if study is None else study


def _check_workers(database: str, workers: int) -> None:
    needs_service()
    from cboc.coordinator.database import open_database

    if workers > 1 and open_database(database).dialect.name == "sqlite":
        raise CbocError("SQLite serves one process; for --workers above 1, use a PostgreSQL --database.")


def _check_socket(host: str, port: int) -> None:
    """Check that the address can be used: an error here is clearer than one from deep inside the server."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise CbocError(
            f"cannot listen on {host}:{port} ({error.strerror}); choose another --port or --host."
        ) from None


def _check_certificate(certificate: Path | None, key: Path | None) -> None:
    import ssl

    if (certificate is None) != (key is None):
        raise CbocError("a certificate needs its key and a key its certificate; give both --certificate and --key.")
    if certificate is not None:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
        except OSError as error:
            raise CbocError(
                f"{certificate} and {key} are not a certificate and its key ({error.strerror or error}); "
                "cboc certificate HOST makes a pair."
            ) from None
