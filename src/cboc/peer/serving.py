"""The server of one site, which also asks the site's neighbours for what is new, now and then.

So what has to be passed on, and rounds that this site has to close, do not depend on somebody asking here.
"""

from __future__ import annotations

import os
import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import uvicorn
from starlette.types import ASGIApp

from cboc.errors import CbocError
from cboc.exchange.feeds.arrival import between_peers
from cboc.exchange.feeds.feedfile import FeedFile
from cboc.exchange.feeds.introduction import own_certificate
from cboc.exchange.feeds.network import Feeds
from cboc.peer.app import create_app
from cboc.web.serving import LAST_WORDS, Serving

PERIOD = 60.0  # seconds with one sentence about somebody who may be a stranger, and a few about all of them
MOST_SENTENCES = 10  # about all of them
MOST_KNOWN = 1000  # sentences that are not said again


def listening(host: str, port: int) -> socket.socket:
    """A socket on this address; raises one sentence if it cannot be used, for instance because another one does."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _unusable(host, port, error) from None
    try:
        if os.name == "posix":  # elsewhere it would let two servers share a port
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen()
    except OSError as error:
        found.close()
        raise _unusable(host, port, error) from None
    return found


def _unusable(host: str, port: int, error: OSError) -> CbocError:
    return CbocError(f"cannot listen on {host}:{port} ({error.strerror}); choose another --port or --host.")


def server(file: FeedFile, say: Callable[[str], None]) -> uvicorn.Server:
    """The server of the site with this file of feeds; `say` is called with what happens, for people to read."""
    certificate, key = own_certificate(file)
    return over_tls(create_app(file, ssl.PEM_cert_to_DER_cert(certificate), sparing(say)), certificate, key)


def over_tls(app: ASGIApp, certificate: str, key: str) -> uvicorn.Server:
    """A server of an application over HTTPS, with a certificate and its key as PEM texts."""
    config = Serving(app, log_level="critical", lifespan="off")
    config.load()
    config.tls = tls(certificate, key)
    return uvicorn.Server(config)


def serve(file: FeedFile, listener: socket.socket, every: float, say: Callable[[str], None]) -> None:
    """Serve until interrupted, and ask the neighbours again and again."""
    stop = Event()
    asking = Thread(target=ask_around, args=(file, every, stop, say), daemon=True)
    asking.start()
    try:
        server(file, say).run([listener])
    finally:
        stop.set()
        asking.join(LAST_WORDS)


def ask_around(file: FeedFile, every: float, stop: Event, say: Callable[[str], None]) -> None:
    """Ask the neighbours for what is new until told to stop, and close rounds when it is this site's turn."""
    said: dict[str, str] = {}
    network: Feeds | None = None
    while not stop.is_set():
        try:
            if network is None or network.feed.last is None:  # at first it may not know the version of its study
                network = between_peers(file)
            network.follow()
            peers = network.standing().peers
            troubles = {peer.site: peer.trouble or peer.silence for peer in peers}
        except CbocError as error:
            troubles = {**said, "": str(error)}
        for site, trouble in troubles.items():
            if trouble != said.get(site, ""):
                say(trouble or f"'{site}' answers.")
        said = troubles
        stop.wait(every)


def sparing(say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> Callable[[str, str], None]:
    """Say a sentence; one about somebody, who may be a stranger and come often, once, and few of those in a minute."""
    known: dict[tuple[str, str], float] = {}  # when it was said; the latest is last

    def say_sparingly(sentence: str, about: str) -> None:
        if about:
            now = clock()
            recent = [who for (who, _), at in known.items() if now < at + PERIOD]
            if (about, sentence) in known or about in recent or len(recent) >= MOST_SENTENCES:
                return
            known[about, sentence] = now
            if len(known) > MOST_KNOWN:
                del known[next(iter(known))]
        say(sentence)

    return say_sparingly


def tls(certificate: str, key: str) -> ssl.SSLContext:
    """TLS with a certificate and its key, which Python reads from files only: they exist for a moment."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with TemporaryDirectory() as folder:
        pair = Path(folder) / "pair.pem"
        pair.touch(0o600)
        pair.write_text(key + certificate, encoding="ascii")
        context.load_cert_chain(pair)
    return context
