"""A coordinator that may lie: a real web server before an honest one, which changes some of its answers.

with lying(url) as liar:
    cboc.join(liar.url, ...)
    liar.tell("/v2/join", lambda said: said | {"turn": 7})     # from now on, to every question there
    liar.tell(None)                                            # honest again
"""

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2

PASSED = ("Authorization", "Content-Type")


class Liar:
    """Answers as the coordinator at `honest` does, but for one path, a pattern."""

    def __init__(self, honest):
        self.honest, self.url, self.lied = honest, "", 0
        self._path, self._change = None, None

    def tell(self, path, change=None):
        """Change the answers there: a function of the fields, or a status and fields whatever was asked."""
        self._path, self._change = path, change

    def answer(self, method, path, body, headers):
        if self._path is not None and re.fullmatch(self._path, path) and not callable(self._change):
            status, said = self._change
            self.lied += 1
            return status, json.dumps(said).encode()
        honest = httpx2.request(method, self.honest + path, content=body, headers=headers, timeout=60)
        if self._path is None or not re.fullmatch(self._path, path) or honest.status_code != 200:
            return honest.status_code, honest.content
        self.lied += 1
        return 200, json.dumps(self._change(honest.json())).encode()


@contextmanager
def lying(honest):
    """The liar, on a real socket, while it runs."""
    liar = Liar(honest)

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: self.headers[name] for name in PASSED if name in self.headers}
            status, content = liar.answer(self.command, self.path, body, headers)
            self.send_response(status)
            if status != 204:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PUT = do_POST = answer  # noqa: N815

        def log_message(self, *_):
            """Quietly."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        liar.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield liar
        finally:
            server.shutdown()
            thread.join()
