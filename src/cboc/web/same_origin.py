"""One rule against forms from other web sites, for all our pages."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request


def is_same_origin(request: Request) -> bool:
    """Does a form come from a page of ours?

    A browser says so by `Sec-Fetch-Site`, which no page can set, and is believed whatever a proxy calls us. An older
    one says it by `Origin` alone, of which only the host counts: behind a proxy that speaks HTTPS, ours is called http.
    What says neither is not a browser, or hides something.
    """
    said, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if said is not None:
        return said == "same-origin"
    return origin is not None and urlsplit(origin).netloc == request.headers.get("host")
