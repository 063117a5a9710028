"""Serve a site's own page on this machine."""

from __future__ import annotations

import os
import socket
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from secrets import token_hex, token_urlsafe
from tempfile import TemporaryDirectory

import typer
import uvicorn

from cboc.errors import CbocError
from cboc.private_files import for_owner
from cboc.sitepage.app import create_page
from cboc.web.serving import Serving

LOOPBACK = "127.0.0.1"


REDIRECT = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={}"><title>cboc</title>\n'


def serve_page(file: Path, port: int, *, is_opened: bool) -> None:
    """Serve the page until interrupted; only a person who knows the printed address can open it."""
    for_once = token_urlsafe(32) if is_opened else None
    app = create_page(file, secret=token_urlsafe(32), for_once=for_once)
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
        except OSError as error:
            raise CbocError(f"cannot listen on port {port} ({error.strerror}); choose another --port.") from None
        listener.listen()  # a browser that connects before the server is ready waits
        address = f"http://{LOOPBACK}:{listener.getsockname()[1]}/?secret="
        typer.echo(f"Your page: {address}{app.state.secret} (Ctrl-C stops it)")
        with _opened(file, f"{address}{for_once}") if is_opened else nullcontext():
            uvicorn.Server(Serving(app, log_level="error")).run([listener])


@contextmanager
def _opened(file: Path, address: str) -> Iterator[None]:
    """Open an address in the browser without showing it to anybody else: by way of a private file.

    The file lies beside the site's own, which the browser's user can read, or in a private folder if it cannot be made
    there; a browser may be shut out of the usual folder for passing files.
    """
    with ExitStack() as leftovers:
        place = file.absolute().parent
        if not os.access(place, os.W_OK):
            place = Path(leftovers.enter_context(TemporaryDirectory(prefix="cboc-")))
        page = place / f"{file.name}.{token_hex(4)}.html"
        with open(page, "x", encoding="utf-8", opener=for_owner) as leading:
            leftovers.callback(page.unlink, missing_ok=True)
            leading.write(REDIRECT.format(address))
        webbrowser.open(page.as_uri())
        yield
