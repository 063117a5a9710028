"""A web application on a real socket of this machine, in a thread."""

import socket
import threading
import time
from contextlib import contextmanager

import uvicorn

from cboc.web.serving import Serving


@contextmanager
def served(app, **options):
    """The address of an application, while it runs."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(Serving(app, log_level="critical", **options))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    while thread.is_alive() and not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:  # a test that fails must not leave a thread behind, for which the interpreter would wait
        server.should_exit = True
        thread.join()
        listening.close()
