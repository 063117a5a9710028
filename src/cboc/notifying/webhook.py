"""A notification as one request to a web address: a JSON object with a field of text, or the text alone."""

from __future__ import annotations

import json
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from cboc.notifying.line import line, trusting
from cboc.notifying.notification import Notification
from cboc.notifying.settings import Webhook

PORTS = {"http": 80, "https": 443}


def written(webhook: Webhook, notification: Notification) -> bytes:
    """The body, as it leaves."""
    said = {webhook.key: notification.text}
    return json.dumps(said).encode() if webhook.key else notification.text.encode()


def send(webhook: Webhook, content: bytes, seconds: float) -> str:
    """Send a body; raises OSError or HTTPException if the server does not take it in time. Nobody is left out: ''.

    A redirection is not followed: it would lead to somebody that nobody has chosen.
    """
    parts = urlsplit(webhook.url)
    host, port = str(parts.hostname), parts.port or PORTS[parts.scheme]
    with line(host, port, seconds) as plain:
        if parts.scheme == "http":
            server, server.sock = HTTPConnection(host, port), plain
        else:
            trust = trusting(webhook.certificate)
            server = HTTPSConnection(host, port, context=trust)
            server.sock = trust.wrap_socket(plain, server_hostname=host)
        kind = "application/json" if webhook.key else "text/plain; charset=utf-8"
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            server.request("POST", path, content, {"Content-Type": kind, "Connection": "close"})
            status = server.getresponse().status
        finally:
            server.close()
        if not 200 <= status < 300:
            raise HTTPException(f"it answers {status}")
    return ""
