"""Serve a site's own page on this machine."""

from __future__ import annotations

import os
import socket
import webbrowser
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from secrets import token_hex, token_urlsafe
from tempfile import TemporaryDirectory

import typer
import uvicorn

from cboc.errors import CbocError
from cboc.private_files import for_owner
from cboc.sitepage.access import Once
from cboc.sitepage.app import create_page
from cboc.web.serving import Serving

LOOPBACK = "127.0.0.1"
REDIRECT = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={}"><title>cboc</title>\n'


def serve_page(file: Path, port: int, *, is_opened: bool) -> None:
    """Serve the page until interrupted; only a person who knows the printed address can open it."""
    with ExitStack() as leftovers:
        leading = _leading(file, leftovers) if is_opened else None
        for_once = None if leading is None else Once(token_urlsafe(32), partial(leading.unlink, missing_ok=True))
        app = create_page(file, secret=token_urlsafe(32), for_once=for_once)
        listener = leftovers.enter_context(socket.socket())
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
        except OSError as error:
            raise CbocError(f"cannot listen on port {port} ({error.strerror}); choose another --port.") from None
        listener.listen()  # a browser that connects before the server is ready waits
        address = f"http://{LOOPBACK}:{listener.getsockname()[1]}/?secret="
        typer.echo(f"Your page: {address}{app.state.secret} (Ctrl-C stops it)")
        if leading is not None and for_once is not None:
            leftovers.callback(for_once.used)  # first: Ctrl-C may come at any moment
            with open(leading, "x", encoding="utf-8", opener=for_owner) as page:
                page.write(REDIRECT.format(f"{address}{for_once.secret}"))
            webbrowser.open(leading.as_uri())
        uvicorn.Server(Serving(app, log_level="error")).run([listener])


def _leading(file: Path, leftovers: ExitStack) -> Path:
    """Where to write the private file that leads a browser to the page without showing its address to anybody else.

    It lies beside the site's own, which the browser's user can read, or in a private folder if it cannot be made
    there; a browser may be shut out of the usual folder for passing files.
    """
    place = file.absolute().parent
    if not os.access(place, os.W_OK):
        place = Path(leftovers.enter_context(TemporaryDirectory(prefix="cboc-")))
    return place / f"{file.name}.{token_hex(4)}.html"
