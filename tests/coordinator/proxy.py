"""A bad line: a TCP proxy before the coordinator, which does to every request what networks do to some.

    with Proxy(port, trouble=0.4, seed=1) as proxy:
        cboc.join(proxy.url, ...)
    proxy.done          # how often it did what
    proxy.traffic       # all bytes that passed, both ways

A request is one draw of its own, although a connection may carry many.
"""

import asyncio
import random
import re
import socket
import struct
import threading
from collections import Counter
from contextlib import suppress

RESET_BEFORE = "reset before the request reaches the server"
RESET_AFTER = "reset after the server has answered"
TRUNCATE = "truncate the answer"
DELAY = "delay"
DUPLICATE = "send the request twice"
PASS = "pass"
FAULTS = (RESET_BEFORE, RESET_AFTER, TRUNCATE, DELAY, DUPLICATE)

LONGEST_DELAY = 0.3  # seconds
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
GONE = (ConnectionError, asyncio.IncompleteReadError)


class Proxy:
    """Passes requests to a port of this machine; `trouble` is the share of them that meets a fault."""

    def __init__(self, port, trouble=0.0, seed=0):
        self.server_port, self.trouble = port, trouble
        self.done, self.traffic = Counter(), []
        self._random = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self):
        self._thread.start()
        self._server = self._run(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_):
        self._run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _stop(self):
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader, writer):
        with suppress(asyncio.CancelledError, *GONE):
            while await self._pass(reader, writer):
                pass
        writer.close()

    async def _pass(self, reader, writer):
        """One request and its answer; is the line good for another?"""
        request = await _message(reader)
        self.traffic.append(request)
        fault = self._random.choice(FAULTS) if self._random.random() < self.trouble else PASS
        self.done[fault] += 1
        if fault == RESET_BEFORE:
            return _reset(writer)
        if fault == DELAY:
            await asyncio.sleep(self._random.uniform(0.0, LONGEST_DELAY))
        copies = 2 if fault == DUPLICATE else 1
        answer = self._random.choice(await asyncio.gather(*[self._ask(request) for _ in range(copies)]))
        if fault == RESET_AFTER or not answer:
            return _reset(writer)
        is_whole = fault != TRUNCATE
        writer.write(answer if is_whole else answer[: self._random.randrange(1, len(answer))])
        await writer.drain()
        return is_whole

    async def _ask(self, request):
        """The answer of the server, over a connection of its own; nothing if it is down, or dies meanwhile."""
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.server_port)
        except ConnectionError:
            return b""
        try:
            writer.write(request)
            answer = await _message(reader)
        except GONE:
            return b""
        finally:
            writer.close()
        self.traffic.append(answer)
        return answer


async def _message(reader):
    """The bytes of one HTTP message: its head, and as much as that announces."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = LENGTH.search(head)
    return head + await reader.readexactly(int(length[1]) if length else 0)


def _reset(writer):
    """Hang up with RST, as a crash does, not with a goodbye."""
    no_lingering = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_lingering)
    writer.transport.abort()
    return False
