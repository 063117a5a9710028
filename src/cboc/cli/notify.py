"""The commands `cboc notify`: where people are told what is to be run, or that the site waits."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cboc.cli.lab import RowFormat, site_file
from cboc.cli.notes import notes
from cboc.cli.show import Format, Row, write
from cboc.cli.site_option import FILE, SiteOption, hint
from cboc.errors import CbocError

if TYPE_CHECKING:
    from cboc.notifying.settings import Mail, Webhook

HELP = """Tell people, by mail or a webhook, that an experiment is to be run, or that the site waits for them.

Used by `cboc ask --wait`, `cboc work` and the site's page, once for each experiment. A notification holds the names of
site and study and the number of the trial: never an outcome, and the design only if you say --designs.

Examples: `cboc notify`, `cboc notify mail anna@lab.org --server smtp.lab.org --user anna`, `cboc notify test`
"""
PORTS = {"starttls": 587, "tls": 465, "none": 25}
SECONDS = 20.0  # for a test

app = typer.Typer(help=HELP, invoke_without_command=True)
Designs = Annotated[
    bool, typer.Option("--designs", help="Also say the design; parameters that only this site has stay here.")
]
Certificate = Annotated[Path | None, typer.Option(metavar="PEM", help="The server's certificate, if it made its own.")]


@app.callback()
def show(context: typer.Context, file: SiteOption = FILE, format: RowFormat = Format.TABLE) -> None:
    """Show where notifications go, unless a command says what else is to be done."""
    if context.invoked_subcommand is not None:
        return
    from cboc.notifying.settings import settings_in

    channels = settings_in(site_file(file)).channels
    if not channels:
        notes.print(f"Nobody is notified; {hint('notify mail', file)} and {hint('notify webhook', file)} change that.")
        return
    typer.echo(write([_row(channel) for channel in channels], format))


@app.command()
def mail(
    to: Annotated[list[str], typer.Argument(help="Who gets the mails.")],
    server: Annotated[str, typer.Option(metavar="HOST[:PORT]", help="The mail server.")],
    user: Annotated[str, typer.Option(help="Who logs in there; the password is asked for, or read from a pipe.")] = "",
    sender: Annotated[
        str | None, typer.Option("--from", help="The address of the sender.", show_default="the user's, or the first")
    ] = None,
    encryption: Annotated[
        str | None,
        typer.Option(metavar="starttls|tls|none", help="How the server is reached.", show_default="by its port"),
    ] = None,
    certificate: Certificate = None,
    designs: Designs = False,
    file: SiteOption = FILE,
) -> None:
    """Send mails, in place of those that were sent before. The password is kept in the site's own file.

    Example: `cboc notify mail anna@lab.org --server smtp.lab.org --user anna`
    """
    from cboc.notifying.settings import Encryption, Mail, keep, settings_in

    kept = site_file(file)
    host, port, way = _server(server, encryption)
    usual = user if "@" in user else to[0]
    secret = _secret(f"Password of {user}", is_hidden=True) if user else ""
    given = Mail(tuple(to), sender or usual, host, port, Encryption(way), user, secret, _pem(certificate), designs)
    keep(kept, replace(settings_in(kept), mail=given))
    if given.encryption is Encryption.NONE:
        notes.print("Without encryption anybody on the way can read the mails.", style="red")
    notes.print(f"Mails go to {', '.join(to)}; {hint('notify test', file)} sends one.")


@app.command()
def webhook(
    key: Annotated[
        str, typer.Option("--field", help="The field of the JSON that holds the sentence; '' sends the sentence alone.")
    ] = "text",
    certificate: Certificate = None,
    designs: Designs = False,
    file: SiteOption = FILE,
) -> None:
    """Send a sentence to a web address, in place of an earlier one: Slack, Teams, Mattermost, ntfy (--field '').

    The address is asked for, or read from a pipe: whoever has it can write there, and a command line can be read by
    everybody on this computer. It is kept in the site's own file.

    Example: `cboc notify webhook`
    """
    from cboc.notifying.settings import Webhook, keep, settings_in

    kept = site_file(file)
    given = Webhook(_secret("Address of the webhook", is_hidden=False), key, _pem(certificate), designs)
    keep(kept, replace(settings_in(kept), webhook=given))
    if given.url.startswith("http:"):
        notes.print("Without HTTPS anybody on the way can read the sentences.", style="red")
    notes.print(f"Sentences go to {given.address}; {hint('notify test', file)} sends one.")


@app.command("test")
def send_test(file: SiteOption = FILE) -> None:
    """Send a test to everybody who is notified, and say whether it was taken. Exits with code 1 if not.

    Example: `cboc notify test`
    """
    from cboc.notifying.notification import Event, Notification
    from cboc.notifying.notifier import sent
    from cboc.notifying.settings import settings_in

    kept = site_file(file)
    channels = settings_in(kept).channels
    if not channels:
        raise CbocError(f"nobody is notified; {hint('notify mail', file)} or {hint('notify webhook', file)} first.")
    given = Notification(Event.TEST, kept.about["site"], kept.about["agreement"]["name"], kept.path.name)
    reasons = {channel.address: sent(kept, channel, given, SECONDS) for channel in channels}
    for address, reason in reasons.items():
        typer.echo(f"{'BAD' if reason else 'ok '}  {address}: {reason or 'the server has taken it'}")
    if any(reasons.values()):
        raise typer.Exit(1)


@app.command()
def off(
    which: Annotated[str | None, typer.Argument(metavar="[mail|webhook]", show_default="both")] = None,
    file: SiteOption = FILE,
) -> None:
    """Notify nobody any more, or no longer in one of the ways; passwords and addresses are taken out of the file.

    Example: `cboc notify off webhook`
    """
    from cboc.notifying.settings import Settings, keep, settings_in

    if which not in (None, "mail", "webhook"):
        raise CbocError(f"notifications go by mail or webhook; '{which}' is neither.")
    kept = site_file(file)
    keep(kept, Settings() if which is None else replace(settings_in(kept), **{which: None}))
    notes.print("Nobody is notified any more." if which is None else f"Nobody is notified by {which} any more.")


def _row(channel: Mail | Webhook) -> Row:
    """Where a channel leads, without any secret."""
    said = vars(channel)
    by = f"{said['server']}:{said['port']} ({said['encryption']})" if "server" in said else "one request each"
    return {"to": channel.address, "by": by, "designs": "are said" if channel.designs else "stay here"}


def _server(given: str, encryption: str | None) -> tuple[str, int, str]:
    """Host, port and encryption of a mail server."""
    host, _, port = given.rpartition(":") if given.rpartition(":")[2].isdecimal() else (given, "", "")
    if encryption not in (None, *PORTS):
        raise CbocError(f"--encryption is one of {', '.join(PORTS)}; '{encryption}' is not.")
    way = encryption or next(
        (name for name, usual in PORTS.items() if port == str(usual) and name == "tls"), "starttls"
    )
    return host.strip("[]"), int(port[:6]) if port else PORTS[way], way


def _secret(what: str, *, is_hidden: bool) -> str:
    """What nobody else shall read: typed at a terminal, or the first line of a pipe."""
    if sys.stdin.isatty():
        return str(typer.prompt(what, hide_input=is_hidden, err=True))
    return sys.stdin.readline().rstrip("\r\n")


def _pem(certificate: Path | None) -> str | None:
    return None if certificate is None else certificate.read_text(encoding="ascii", errors="replace")
