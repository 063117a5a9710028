"""Serve a site's own page on this machine."""

from __future__ import annotations

import socket
import webbrowser
from pathlib import Path
from secrets import token_urlsafe

import typer
import uvicorn

from cboc.errors import CbocError
from cboc.sitepage.app import create_page
from cboc.web.serving import Serving

LOOPBACK = "127.0.0.1"


def serve_page(file: Path, port: int, *, is_opened: bool) -> None:
    """Serve the page until interrupted; only a person who knows the printed address can open it."""
    app = create_page(file, secret=token_urlsafe(32))
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
        except OSError as error:
            raise CbocError(f"cannot listen on port {port} ({error.strerror}); choose another --port.") from None
        listener.listen()  # a browser that connects before the server is ready waits
        address = f"http://{LOOPBACK}:{listener.getsockname()[1]}/?secret={app.state.secret}"
        typer.echo(f"Your page: {address} (Ctrl-C stops it)")
        if is_opened:
            webbrowser.open(address)
        uvicorn.Server(Serving(app, log_level="warning", proxy_headers=False)).run([listener])
