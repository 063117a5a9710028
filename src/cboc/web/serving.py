"""Our servers: uvicorn, with connections that are limited in number and in time.

run(Serving(app, host="127.0.0.1", port=8000))
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.supervisors import Multiprocess

from cboc.web.connection import HEAD, PATIENCE, PIECE, Connection, Limited

MOST = 1000  # connections at a time: a site needs one, for some milliseconds
ARRIVING = 128  # connections that asyncio takes from the system in one go
GOES = 4  # how often it does that before one of the first is cut off: some turns of its loop lie in between
OWN = 128  # descriptors for everything else: the database, logs, modules
FEW = 512  # descriptors where the system does not say how many there are
LAST_WORDS = 5  # seconds for what is under way when the server stops


class Serving(Limited):
    """Uvicorn's settings for a server of ours. `most` connections fit into the descriptors that the process has."""

    def __init__(
        self, app: ASGIApp | Callable[..., Any] | str, *, patience: float = PATIENCE, most: int = MOST, **options: Any
    ) -> None:
        descriptors = _descriptors(most + GOES * ARRIVING + OWN)
        arriving = min(ARRIVING, descriptors // (2 * GOES))
        self.patience, self.most = patience, max(1, min(most, descriptors - GOES * arriving - OWN))
        self.tls = None
        super().__init__(
            app,
            http=Connection,
            ws="none",
            access_log=False,
            server_header=False,
            proxy_headers=False,  # the coordinator knows its proxies, nobody else has any
            backlog=arriving,
            h11_max_incomplete_event_size=HEAD - PIECE,
            limit_concurrency=self.most + GOES * arriving,  # uvicorn also counts what was cut off just now
            timeout_graceful_shutdown=LAST_WORDS,
            **options,
        )

    def load(self) -> None:
        """Load the application; TLS is left to the connections."""
        super().load()
        self.tls, self.ssl = self.ssl, None


def run(config: Serving) -> None:
    """Serve until interrupted, in as many processes as the settings say."""
    with suppress(KeyboardInterrupt):
        if config.workers > 1:
            Multiprocess(config, sockets=[config.bind_socket()]).run()
        else:
            uvicorn.Server(config).run()


def _descriptors(wanted: int) -> int:
    """How many files and sockets this process may have open, after asking the system for as many as are wanted."""
    try:
        import resource
    except ImportError:  # Windows
        return FEW
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
