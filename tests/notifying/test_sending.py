"""Notifications over real sockets: what a server gets, and what a server that misbehaves costs."""

import json
import threading
import time
from contextlib import contextmanager
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import PROTOCOL_TLS_SERVER, SSLContext

import pytest

from cboc import CbocError
from cboc.notifying.notification import Event, Notification
from cboc.notifying.notifier import sent
from cboc.notifying.settings import Encryption, Mail, Settings, Webhook, keep, settings_in
from cboc.storage.sitefile import SiteFile

from ..machine.smtp import HOSTILE, answering, mail_server

GIVEN = Notification(Event.RUN, "caffè", "buffer study", "x.db", (7,), ("Trial 7: temperature = 61.5 °C",))


def mail(port, encryption="none", **more):
    given = {"to": ("anna@lab.org",), "sender": "cboc@lab.org", "server": "127.0.0.1"} | more
    return Mail(port=port, encryption=Encryption(encryption), **given)


class Hook(BaseHTTPRequestHandler):
    """Takes anything, and keeps it."""

    def do_POST(self):
        self.server.got.append((self.path, dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(*self.server.status)
        if self.server.status[0] in (301, 302, 307):
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Quietly."""


@contextmanager
def hook(status=(200,), certificate=None):
    with ThreadingHTTPServer(("127.0.0.1", 0), Hook) as server:
        server.got, server.status = [], status
        if certificate is not None:
            context = SSLContext(PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


# --------------------------------------------------------------------------------------------------------------- mail


@pytest.mark.parametrize("encryption", ["starttls", "tls"])
def test_a_mail_is_encrypted_and_logged_in_before_it_is_said(path, certificate, encryption):
    with mail_server(certificate, is_encrypted=encryption == "tls") as server:
        given = {"user": "anna", "password": "right", "certificate": certificate[0].read_text()}
        assert sent(SiteFile(path), mail(server.port, encryption, **given), GIVEN) == ""
    assert server.logins == [("anna", "right", True)]
    ((sender, recipients, content),) = server.mails
    assert "cboc@lab.org" in sender and len(recipients) == 1 and "anna@lab.org" in recipients[0]
    read = message_from_bytes(content, policy=policy.default)
    assert read["Subject"] == "cboc: trial 7 to run (caffè)" and read["To"] == "anna@lab.org"
    assert read.get_content().splitlines() == GIVEN.text.splitlines()
    (kept,) = [each for each in SiteFile(path).sent() if each.method == "NOTIFY"]
    assert (kept.address, kept.path, kept.body) == ("mailto:anna@lab.org", "/mail/run", content)
    assert b"right" not in kept.body


def test_a_password_is_not_said_to_a_server_that_does_not_encrypt(path):
    with mail_server() as server:
        reason = sent(SiteFile(path), mail(server.port, "starttls", user="anna", password="right"), GIVEN)
    assert "STARTTLS extension not supported" in reason and not server.logins and b"AUTH" not in server.heard


def test_nor_to_one_whose_certificate_is_not_trusted(path, certificate):
    with mail_server(certificate) as server:
        reason = sent(SiteFile(path), mail(server.port, "starttls", user="anna", password="right"), GIVEN)
    assert "certificate verify failed" in reason and not server.logins and not server.mails


def test_a_wrong_password_and_a_recipient_that_is_refused_are_said(path, certificate):
    pem = certificate[0].read_text()
    with mail_server(certificate, refuses=("bela@",)) as server:
        wrong = mail(server.port, "starttls", user="anna", password="wrong", certificate=pem)
        assert "535" in sent(SiteFile(path), wrong, GIVEN)
        two = mail(server.port, "starttls", to=("anna@lab.org", "bela@lab.org"), certificate=pem)
        assert sent(SiteFile(path), two, GIVEN) == "the server refused bela@lab.org"
        assert len(server.mails) == 1


# ------------------------------------------------------------------------------------------------------------ webhook


@pytest.mark.parametrize("is_encrypted", [False, True])
def test_a_sentence_is_one_field_of_json(path, certificate, is_encrypted):
    files = certificate if is_encrypted else None
    with hook(certificate=files) as server:
        url = f"http{'s' * is_encrypted}://127.0.0.1:{server.server_port}/services/T0/secret?x=1"
        trusted = certificate[0].read_text() if is_encrypted else None
        assert sent(SiteFile(path), Webhook(url, certificate=trusted), GIVEN) == ""
    ((place, headers, body),) = server.got
    assert place == "/services/T0/secret?x=1" and headers["Content-Type"] == "application/json"
    assert json.loads(body) == {"text": GIVEN.text}
    (kept,) = [each for each in SiteFile(path).sent() if each.method == "NOTIFY"]
    assert (kept.path, kept.body) == ("/webhook/run", body) and "secret" not in kept.address + kept.path


def test_another_field_or_the_sentence_alone(path):
    with hook() as server:
        url = f"http://127.0.0.1:{server.server_port}"
        for key in ("content", ""):
            assert sent(SiteFile(path), Webhook(url, key), GIVEN) == ""
    (_, _, named), (_, headers, alone) = server.got
    assert json.loads(named) == {"content": GIVEN.text}
    assert alone.decode() == GIVEN.text and headers["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize("status", [301, 302, 307, 400, 404, 429, 500, 503])
def test_a_refusal_is_said_and_nobody_is_followed(path, status):
    with hook((status,)) as server:
        reason = sent(SiteFile(path), Webhook(f"http://127.0.0.1:{server.server_port}/here"), GIVEN)
    assert reason == f"it answers {status}" and [place for place, _, _ in server.got] == ["/here"]


# ------------------------------------------------------------------------------------------------------------ hostile


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("encryption", ["none", "starttls", "tls", "http", "https"])
def test_whatever_a_server_does_it_is_over_in_time(path, kind, encryption):
    with answering(HOSTILE[kind]) as port:
        is_web = encryption.startswith("http")
        channel = Webhook(f"{encryption}://127.0.0.1:{port}/") if is_web else mail(port, encryption)
        began = time.monotonic()
        reason = sent(SiteFile(path), channel, GIVEN, 1.0)
    assert reason and reason.isprintable() and len(reason) <= 200
    assert time.monotonic() - began < 10.0


# ------------------------------------------------------------------------------------------------------------ settings


def test_settings_are_kept_in_the_sites_file_and_show_no_secret(path):
    kept = Settings(mail(25, "starttls", user="anna", password="hush"), Webhook("https://h.example.org/hush", ""))
    keep(SiteFile(path), kept)
    assert settings_in(SiteFile(path)) == kept
    assert "hush" not in repr(kept) and path.stat().st_mode & 0o077 == 0
    keep(SiteFile(path), Settings())
    assert settings_in(SiteFile(path)).channels == []
    SiteFile(path).remember(notify={"mail": {"to": 3}})
    with pytest.raises(CbocError, match="what .*x.db says of notifications cannot be read; cboc notify off"):
        settings_in(SiteFile(path))


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"to": ("anna",)}, "looks like anna@lab.org; 'anna' does not"),
        ({"to": ("a@b\r\nBcc: c@d",)}, "a mail address looks like"),
        ({"to": ()}, "a mail goes to somebody"),
        ({"sender": "a b@c"}, "a mail address looks like"),
        ({"server": ""}, "a mail server looks like smtp.lab.org:587"),
        ({"port": 70000}, "a mail server looks like"),
        ({"server": "mail.lab.org", "user": "anna"}, "a password is not sent without encryption"),
        ({"user": "a" * 501}, "at most 500 characters"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_set(given, complaint):
    with pytest.raises(CbocError, match=complaint):
        mail(**({"port": 25} | given))


@pytest.mark.parametrize(
    "url", ["", "hooks.slack.com/x", "ftp://h/x", "https:///x", "https://h/a b", "https://h:0/", "http://h:99999"]
)
def test_a_webhook_is_a_web_address(url):
    with pytest.raises(CbocError, match="the address of a webhook looks like https"):
        Webhook(url)
