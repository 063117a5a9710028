"""Everything that ever left a site: its messages to a coordinator, and its own feed."""

from __future__ import annotations

from cboc.joining import feeds
from cboc.storage.sitefile import Sent, SiteFile


def sent_by(file: SiteFile) -> list[Sent]:
    """All that ever left, in order; what left without a coordinator is the site's own feed."""
    return sorted([*file.sent(), *_feed(file)], key=lambda message: message.at)


def sent_count(file: SiteFile) -> int:
    """How many messages and entries of the own feed ever left."""
    return file.sent_count() + len(_feed(file))


def _feed(file: SiteFile) -> list[Sent]:
    """The own feed; a site that has moved between coordinators and feeds may have had several."""
    from cboc.exchange.feeds.feedfile import FeedFile

    url, place = file.about.get("url"), feeds.feeds_path(file.path)
    address = url if feeds.is_address(url) else "the other sites"
    has_one = feeds.is_address(url) or place.exists()  # raises one sentence if it is missing
    kept = [FeedFile(path) for path in (*([place] if has_one else []), *feeds.put_aside(place))]
    written = [each for one in kept for each in one.written(str(file.about.get("site")))]
    return [Sent(at, address, "APPEND", f"/feed/{entry.number}", entry.in_words()) for at, entry in written]
