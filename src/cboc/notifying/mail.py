"""A notification as a mail, through a server by SMTP."""

from __future__ import annotations

import smtplib
import socket
from contextlib import suppress
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid

from cboc.notifying.line import line, trusting
from cboc.notifying.notification import Notification
from cboc.notifying.settings import Encryption, Mail

OURSELVES = "[127.0.0.1]"  # to the server: the name of this machine is nobody's business


def written(mail: Mail, notification: Notification) -> bytes:
    """The mail, as it leaves."""
    message = EmailMessage(policy=SMTP)
    message["Subject"] = notification.title
    message["From"], message["To"] = mail.sender, ", ".join(mail.to)
    message["Date"] = formatdate()
    message["Message-ID"] = make_msgid(domain=mail.sender.rpartition("@")[2])
    message["Auto-Submitted"] = "auto-generated"  # nobody's holiday notice answers it
    text = notification.text
    message.set_content(text, cte="7bit" if text.isascii() else "quoted-printable")  # to be read in the record, too
    return message.as_bytes()


class Over(smtplib.SMTP):
    """SMTP over a connection that is there already."""

    def __init__(self, connection: socket.socket, host: str) -> None:
        super().__init__(local_hostname=OURSELVES)
        self._connection, self._host = connection, host  # the host is what a certificate has to be for

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:  # noqa: ARG002 - of smtplib
        return self._connection


def send(mail: Mail, content: bytes, seconds: float) -> str:
    """Hand a mail to the server; raises OSError or SMTPException if it does not take it in time.

    Returns who does not get it, if some of several do.
    """
    with line(mail.server, mail.port, seconds) as plain:
        is_begun = mail.encryption is Encryption.TLS
        trust = trusting(mail.certificate)
        connection = trust.wrap_socket(plain, server_hostname=mail.server) if is_begun else plain
        server = Over(connection, mail.server)
        try:
            code, said = server.connect(mail.server, mail.port)
            if code != 220:
                raise smtplib.SMTPConnectError(code, said)
            if mail.encryption is Encryption.STARTTLS:
                server.starttls(context=trust)
            if mail.user:
                server.login(mail.user, mail.password)
            refused = server.sendmail(mail.sender, list(mail.to), content)
            with suppress(OSError, smtplib.SMTPException):  # it has the mail, whatever it says now
                server.quit()
        finally:
            server.close()
    return f"the server refused {', '.join(refused)}" if refused else ""
