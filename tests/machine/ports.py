"""Free ports for processes that are told where to listen.

They lie below those that the system gives to outgoing connections, and every worker of the tests has its own: from the
moment when one is found to the moment when it is used, nobody else takes it.
"""

import os
import socket
from contextlib import suppress
from itertools import cycle

FIRST, SHARE, SHARES = 20_000, 1_000, 12  # up to 31,999: Linux gives from 32,768 on, Ray takes up to 19,999


def free_ports():
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = FIRST + SHARE * (worker % SHARES)
    shift = os.getpid()  # another run on the same machine begins elsewhere
    for k in cycle(range(SHARE)):
        port = first + (shift + k) % SHARE
        with suppress(OSError):
            socket.create_server(("127.0.0.1", port)).close()
            yield port


FREE = free_ports()


def free_port():
    return next(FREE)
