"""Where notifications go, in the site's own file, which only its owner can read: passwords are in it as well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from cboc.errors import CbocError
from cboc.storage.sitefile import SiteFile

FACT = "notify"  # its name in the site's file
LONGEST = 500  # characters of an address, a server or a password
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Encryption(StrEnum):
    """How a mail server is spoken to."""

    STARTTLS = "starttls"  # the connection is encrypted before anything is said
    TLS = "tls"  # it is from the beginning, as on port 465
    NONE = "none"


@dataclass(frozen=True)
class Mail:
    """Mail through a server by SMTP."""

    to: tuple[str, ...]
    sender: str
    server: str
    port: int
    encryption: Encryption
    user: str = ""
    password: str = field(default="", repr=False)
    certificate: str | None = field(default=None, repr=False)  # PEM text, the only one to trust
    designs: bool = False  # whether they are told what is to be run

    def __post_init__(self) -> None:
        for address in (*self.to, self.sender):
            name, _, host = address.partition("@")
            if not (name and host and _is_word(address) and address.isascii()):
                raise CbocError(f"a mail address looks like anna@lab.org; '{address[:80]}' does not.")
        if not self.to:
            raise CbocError("a mail goes to somebody: give at least one address.")
        if not _is_word(self.server) or not 0 < self.port < 65536:
            raise CbocError(f"a mail server looks like smtp.lab.org:587; '{self.server[:80]}:{self.port}' does not.")
        if self.user and self.encryption is Encryption.NONE and self.server not in LOOPBACK:
            raise CbocError("a password is not sent without encryption; use --encryption starttls or tls.")
        if max(len(self.user), len(self.password)) > LONGEST:
            raise CbocError(f"a user and a password have at most {LONGEST} characters.")

    @property
    def address(self) -> str:
        """Where it goes, without any secret."""
        return f"mailto:{','.join(self.to)}"


@dataclass(frozen=True)
class Webhook:
    """A web address that takes a sentence: of Slack, Teams, Mattermost, ntfy or your own."""

    url: str = field(repr=False)  # whoever has it can write there
    key: str = "text"  # the field of the JSON that holds the sentence; empty: the sentence alone
    certificate: str | None = field(default=None, repr=False)
    designs: bool = False

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_one = False
        if not is_one or not _is_word(self.url) or not self.url.isascii():
            raise CbocError("the address of a webhook looks like https://hooks.example.org/...; this one does not.")
        if len(self.key) > LONGEST or not self.key.isprintable():
            raise CbocError(f"the field of a webhook is a name such as text; '{self.key[:80]}' is none.")

    @property
    def address(self) -> str:
        """Where it goes, without the path, which is a secret."""
        parts = urlsplit(self.url)
        host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
        return f"{parts.scheme}://{host}" + ("" if parts.port is None else f":{parts.port}")


@dataclass(frozen=True)
class Settings:
    """Where notifications of a site go."""

    mail: Mail | None = None
    webhook: Webhook | None = None

    @property
    def channels(self) -> list[Mail | Webhook]:
        """All of them that are set."""
        return [channel for channel in (self.mail, self.webhook) if channel is not None]


def _is_word(text: str) -> bool:
    return 0 < len(text) <= LONGEST and text.isprintable() and not any(letter.isspace() for letter in text)


def settings_in(file: SiteFile) -> Settings:
    """Where notifications of a site go, from its file."""
    kept = file.about.get(FACT) or {}
    try:
        return Settings(_mail(kept.get("mail")), _webhook(kept.get("webhook")))
    except (CbocError, TypeError, ValueError, KeyError, AttributeError):
        raise CbocError(
            f"what {file.path} says of notifications cannot be read; cboc notify off takes it away, and then they can "
            "be set anew."
        ) from None


def keep(file: SiteFile, settings: Settings) -> None:
    """Keep where notifications of a site go in its file."""
    given = {name: None if value is None else asdict(value) for name, value in vars(settings).items()}
    file.remember(**{FACT: given})


def _mail(kept: Mapping[str, Any] | None) -> Mail | None:
    if kept is None:
        return None
    return Mail(**{**kept, "to": tuple(kept["to"]), "encryption": Encryption(kept["encryption"])})


def _webhook(kept: Mapping[str, Any] | None) -> Webhook | None:
    return None if kept is None else Webhook(**kept)
