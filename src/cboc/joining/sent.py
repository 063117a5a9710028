"""Everything that ever left a site: its messages to a coordinator, and its own feed.

37-8f3a91c204d7aa01 is the code of a record of 37 messages: the beginning of the last one's checksum, which goes on from
those before. A site that has had feeds has a part for each: 37-8f3a91c204d7aa01.12-0c5e...
"""

from __future__ import annotations

import re
from itertools import accumulate, zip_longest
from typing import TYPE_CHECKING

from cboc.checked_rows import checksum
from cboc.errors import CbocError
from cboc.joining import feeds
from cboc.storage.sitefile import Sent, SiteFile

if TYPE_CHECKING:
    from cboc.exchange.feeds.entry import FeedEntry

SHOWN = 16  # hexadecimal digits of a checksum in a code: nobody finds another record for it
PART = re.compile(rf"0|([1-9][0-9]{{0,9}})-([0-9a-f]{{{SHOWN}}})")


def sent_by(file: SiteFile) -> list[Sent]:
    """All that ever left, in order; what left without a coordinator is the site's own feed."""
    return sorted([*file.sent(), *_feed(file)], key=lambda message: message.at)


def sent_count(file: SiteFile) -> int:
    """How many messages and entries of the own feed ever left."""
    return file.sent_count() + len(_feed(file))


def code_of(file: SiteFile) -> str:
    """The code of all that ever left: whoever has noted it can tell later whether that was changed."""
    return ".".join(f"{len(record)}-{record[-1][:SHOWN]}" if record else "0" for record in _records(file))


def check_code(file: SiteFile, code: str) -> None:
    """Raise one sentence unless what has left begins as it did when this code was noted."""
    parts = [PART.fullmatch(part) for part in code.strip().lower().split(".")]
    if not all(parts):
        raise CbocError(f"a code of cboc audit looks like 37-{'8f3a91c204d7aa01'}; '{code[:60]}' does not.")
    for part, record in zip_longest(parts, _records(file)):
        noted = 0 if part is None or part[1] is None else int(part[1])
        if noted > len(record or ()):
            raise CbocError(
                f"{noted} messages had left when the code was noted, and {file.path} has {len(record or ())} of them: "
                "some were taken out, or it is an earlier copy. Ask who has had the file since then."
            )
        if part is not None and record and noted and record[noted - 1][:SHOWN] != part[2]:
            raise CbocError(
                f"the first {noted} messages in {file.path} are not those of which the code was noted: the record was "
                "rewritten since then, or the code is of another file. Ask who has had the file since then."
            )


def _records(file: SiteFile) -> list[list[str]]:
    """The checksums of all messages, and of the entries of each feed that the site has had, the oldest first."""
    hashes = [[entry.hash for _, entry in written] for written in _feeds(file)]
    return [file.sent_checksums(), *(list(accumulate(each, checksum)) for each in hashes)]


def _feed(file: SiteFile) -> list[Sent]:
    """The own feed; a site that has moved between coordinators and feeds may have had several."""
    url = file.about.get("url")
    address = url if feeds.is_address(url) else "the other sites"
    written = [each for one in _feeds(file) for each in one]
    return [Sent(at, address, "APPEND", f"/feed/{entry.number}", entry.in_words()) for at, entry in written]


def _feeds(file: SiteFile) -> list[list[tuple[float, FeedEntry]]]:
    """The entries of every feed that the site has had, the one of today last."""
    from cboc.exchange.feeds.feedfile import FeedFile

    place = feeds.feeds_path(file.path)
    has_one = feeds.is_address(file.about.get("url")) or place.exists()  # raises one sentence if it is missing
    kept = [FeedFile(path) for path in (*feeds.put_aside(place), *([place] if has_one else []))]
    return [one.written(str(file.about.get("site"))) for one in kept]
