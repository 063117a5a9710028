"""One connection of a server, which gives a client no more time than its part takes.

Uvicorn waits for ever for a request that never comes whole and for a client that does not read its answer, and it does
not know of a connection before its TLS handshake is done. Here a clock runs whenever it is the client's turn:

    from the connection, or from the last answer, to the end of the next request    PATIENCE, with the handshake
    until it reads on in an answer                                                  READING

There is room for `most` connections. If there are more, the one that has kept us waiting the longest is cut off: so a
newcomer always gets in, and whoever only sits there gives way to it, however many there are.

TLS begins here and not in asyncio's server, so that a handshake is counted and limited like everything else.

What has arrived is passed on in pieces: h11 looks how long a head is only where it is cut.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

PATIENCE = 20.0  # seconds
PIECE = 4 * 1024  # bytes that h11 is given at once
HEAD = 16 * 1024  # bytes of a request before its body
READING = 3.0  # times that: a slow line holds back more of an answer than can be seen from here


class Limited(uvicorn.Config):
    """Uvicorn's settings, with the limits of its connections."""

    patience: float
    most: int
    tls: ssl.SSLContext | None


class Connection(H11Protocol):
    """Uvicorn's HTTP/1.1, with limits."""

    def __init__(
        self,
        config: Limited,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._patience, self._most, self._tls = config.patience, config.most, config.tls
        self._all: set[Connection] = server_state.connections  # type: ignore[assignment]  # there are no others
        self._greeting: asyncio.Task[None] | None = None
        self._early = b""  # what came right after the handshake
        self._since: float | None = None  # when it became the client's turn
        self._clock: asyncio.TimerHandle | None = None
        self._unsent = 0  # bytes of an answer when the clock began to run

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._line = self.transport = transport  # under TLS, if there is any
        self.connections.add(self)
        self._watch()
        self._make_room()
        if self._tls is None:
            super().connection_made(transport)
        else:
            self._greeting = self.loop.create_task(self._greet(self._tls))

    async def _greet(self, context: ssl.SSLContext) -> None:
        """Agree on keys with the client."""
        try:
            transport = await self.loop.start_tls(self._line, self, context, server_side=True)
        except OSError:  # of TLS or of the line
            transport = None
        if transport is None:
            self.cut()
            return
        super().connection_made(transport)
        if self._early:
            self.data_received(self._early)

    def _make_room(self) -> None:
        """Cut off the connection that has kept us waiting the longest, if there are too many."""
        if len(self.connections) > self._most:
            min((each._since, id(each), each) for each in self._all if each._since is not None)[-1].cut()

    def cut(self) -> None:
        """End the connection now, whatever is under way."""
        self._stop()
        self.connections.discard(self)
        self._line.abort()

    # ----------------------------------------------------------------------------------------------------- the clock

    @property
    def _is_theirs(self) -> bool:
        """Whether the client has to do something: send the rest of a request, read an answer, begin another."""
        cycle = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body or self.flow.write_paused

    def _watch(self) -> None:
        """Let the clock run while it is the client's turn."""
        if not self._is_theirs:
            self._stop()
        elif self._since is None:
            self._since = self.loop.time()
            self._wait()

    def _wait(self) -> None:
        self._unsent = self._rest()
        patience = self._patience * (READING if self._unsent else 1.0)
        self._clock = self.loop.call_later(patience, self._expire)

    def _stop(self) -> None:
        self._since = None
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _expire(self) -> None:
        """Cut off a client whose time is up, unless it goes on reading its answer."""
        if 0 < self._rest() < self._unsent:
            self._wait()
        else:
            self.cut()

    def _rest(self) -> int:
        """How many bytes of an answer the client has not taken."""
        above = 0 if self.transport is self._line else self.transport.get_write_buffer_size()
        return self._line.get_write_buffer_size() + above

    # ------------------------------------------------------------------------------------- what uvicorn is told

    def data_received(self, data: bytes) -> None:
        if self.flow is None:  # the handshake is done, and `_greet` does not know it yet
            self._early += data
            return
        for start in range(0, len(data), PIECE):
            if self.transport.is_closing():  # it was no HTTP, or too much
                return
            super().data_received(data[start : start + PIECE])

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; within an answer, or after the last one, there is nothing more to say."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def handle_events(self) -> None:
        super().handle_events()
        self._watch()

    def on_response_complete(self) -> None:
        self._watch()
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        if self.flow is None:
            self.connections.discard(self)
        else:
            super().connection_lost(exc)
