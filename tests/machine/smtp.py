"""A mail server on this machine that keeps every byte it is sent, and may misbehave."""

import base64
import socket
import ssl
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class MailServer:
    """What has come in: whole mails, logins, and all bytes as they were after TLS."""

    port: int = 0
    mails: list = field(default_factory=list)  # (sender, recipients, content)
    logins: list = field(default_factory=list)  # (user, password, whether it was encrypted)
    heard: bytearray = field(default_factory=bytearray)
    refuses: tuple = ()  # recipients


class _Conversation:
    def __init__(self, server, line, context, *, is_encrypted):
        self.server, self.context, self.is_encrypted = server, context, is_encrypted
        self._use(line)

    def _use(self, line):
        """Go on over this line; TLS takes over the one before."""
        self.line, self.lines = line, line.makefile("rb")

    def close(self):
        self.lines.close()
        self.line.close()

    def say(self, text):
        self.line.sendall(text.encode() + b"\r\n")

    def read(self):
        said = self.lines.readline()
        self.server.heard += said
        return said.decode(errors="replace").strip()

    def go(self):
        self.say("220 here")
        sender, recipients = "", []
        while said := self.read():
            verb = said.split()[0].upper()
            if verb == "EHLO":
                offered = ["250-here", *([] if self.is_encrypted or not self.context else ["250-STARTTLS"])]
                for each in [*offered, "250 AUTH PLAIN"]:
                    self.say(each)
            elif verb == "STARTTLS":
                self.say("220 go on")
                self._use(self.context.wrap_socket(self.line, server_side=True))
                self.is_encrypted = True
            elif verb == "AUTH":
                _, user, password = base64.b64decode(said.split()[2]).decode().split("\0")
                self.server.logins.append((user, password, self.is_encrypted))
                self.say("235 welcome" if password == "right" else "535 5.7.8 wrong")
            elif verb == "MAIL":
                sender, recipients = said, []
                self.say("250 fine")
            elif verb == "RCPT":
                is_refused = any(name in said for name in self.server.refuses)
                recipients += [] if is_refused else [said]
                self.say("550 nobody here" if is_refused else "250 fine")
            elif verb == "DATA":
                self.say("354 go on")
                content = b""
                while (part := self.lines.readline()) != b".\r\n":
                    content += part
                self.server.heard += content
                self.server.mails.append((sender, recipients, content))
                self.say("250 taken")
            else:
                self.say("221 bye")
                return


@contextmanager
def mail_server(certificate=None, *, is_encrypted=False, refuses=()):
    """A mail server; `certificate` is its files of certificate and key, for TLS from the beginning or by STARTTLS."""
    server, context = MailServer(refuses=refuses), None
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)

    def serve(line):
        with suppress(OSError, ValueError), line:
            whole = context.wrap_socket(line, server_side=True) if is_encrypted else line
            conversation = _Conversation(server, whole, context, is_encrypted=is_encrypted)
            with closing(conversation):
                conversation.go()

    with answering(serve) as server.port:
        yield server


@contextmanager
def answering(serve):
    """The port of a server that hands every connection to `serve`, in a thread of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        is_over = threading.Event()

        def accept():
            while not is_over.is_set():
                with suppress(OSError):
                    line, _ = listening.accept()
                    if is_over.is_set():
                        line.close()
                        return
                    line.settimeout(30.0)
                    threading.Thread(target=serve, args=(line,), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            is_over.set()
            with suppress(OSError), socket.create_connection(("127.0.0.1", listening.getsockname()[1]), 1.0):
                pass
            thread.join(5.0)


def dripping(line):
    """A byte now and then, for ever: no single read takes long."""
    with suppress(OSError), line:
        while True:
            line.sendall(b"2")
            time.sleep(0.05)


def silent(line):
    """Nothing at all."""
    with suppress(OSError), line:
        line.recv(1 << 20)
        time.sleep(30.0)


def cut(line):
    """Half a line, and the end."""
    with suppress(OSError), line:
        line.settimeout(0.2)
        with suppress(TimeoutError):
            line.recv(1 << 20)
        line.sendall(b"HTT")


def garbage(line):
    """Bytes that are no answer."""
    with suppress(OSError), line:
        line.sendall(b"\x00\xff\x1b[31m" * 100 + b"\r\n\r\n")


HOSTILE = {each.__name__: each for each in (dripping, silent, cut, garbage)}
