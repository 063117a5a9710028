"""One rule against forms from other web sites, for all our pages."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request


def is_same_origin(request: Request) -> bool:
    """Does a form come from one of our own pages?

    A browser says so in `Sec-Fetch-Site`, which no page can set; it is believed whatever a proxy calls us. An older
    browser sends only `Origin`, of which only the host counts: behind an HTTPS proxy, our own scheme is still http.
    A client that sends neither is not a browser, or hides something.
    """
    said, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if said is not None:
        return said == "same-origin"
    return origin is not None and urlsplit(origin).netloc == request.headers.get("host")
