"""How long ago the others were heard, in words."""

from __future__ import annotations

import time

UNITS = (("day", 86400.0), ("hour", 3600.0), ("minute", 60.0))  # with their seconds


def ago(at: float) -> str:
    """A time in the past as people say it; a clock that was set back makes it now."""
    passed = time.time() - at
    name, seconds = next((unit for unit in UNITS if passed >= unit[1]), ("", 0.0))
    if not name:
        return "just now"
    count = int(passed / seconds)
    return f"{count} {name}{'' if count == 1 else 's'} ago"
