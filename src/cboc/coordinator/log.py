"""The coordinator's log: lines of JSON, few enough that nobody can fill a disk with them.

What sites with a token do is logged line by line. Everything else may come from strangers, who send as much as they
like: of each kind there is one line a minute, which says how many like it were left out since the one before.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

PERIOD = 60.0  # seconds
SITES = "/v2/"  # the beginning of the addresses of sites' messages
OTHER = {"s"}  # what differs between lines of one kind


class Sparing(logging.Filter):
    """Lets one line of a kind pass in a period; a kind is a place in the program, and what was done there."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._last: dict[object, float] = {}  # of the kinds there are, not of what was sent: it stays small
        self._left_out: dict[object, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log this; if lines like it were left out, it says how many."""
        of: dict[str, Any] = getattr(record, "of", {})
        if of.get("status", 500) < 400 and of.get("address", "").startswith(SITES):
            return True
        what = tuple(value for name, value in of.items() if name not in OTHER)
        kind, now = (record.pathname, record.lineno, what), self._clock()
        if now < self._last.get(kind, -PERIOD) + PERIOD:
            self._left_out[kind] = self._left_out.get(kind, 0) + 1
            return False
        self._last[kind] = now
        if left_out := self._left_out.pop(kind, 0):
            record.of = of | {"left_out": left_out}
        return True


class Lines(logging.Formatter):
    """Formats a log record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"at": at, "level": record.levelname.lower(), "event": record.getMessage()}
        line |= getattr(record, "of", {})
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line)


LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"sparing": {"()": "cboc.coordinator.log.Sparing"}},
    "formatters": {"lines": {"()": "cboc.coordinator.log.Lines"}},
    "handlers": {
        "errors": {
            "class": "logging.StreamHandler",
            "formatter": "lines",
            "filters": ["sparing"],
            "stream": "ext://sys.stderr",
        }
    },
    "loggers": {
        "cboc.coordinator": {"handlers": ["errors"], "level": "INFO", "propagate": False},
        "uvicorn": {"handlers": ["errors"], "level": "WARNING", "propagate": False},
    },
    "root": {"handlers": ["errors"], "level": "WARNING"},  # messages of other libraries
}
