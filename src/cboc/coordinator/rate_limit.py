"""A limit on tries within a period, counted before they are made: checking a password is costly, as is guessing."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from threading import Lock

from cboc.errors import CbocError


class TooMany(CbocError):
    """Raised for one try too many; the next is allowed after `wait` whole seconds."""

    def __init__(self, wait: float) -> None:
        self.wait = max(1, math.ceil(wait))
        super().__init__(f"too many attempts; try again in {self.wait} s.")


class RateLimit:
    """At most `tries` in `period` seconds for any key. It remembers the `most` latest keys, in this process."""

    def __init__(self, clock: Callable[[], float], tries: int = 5, period: float = 60.0, most: int = 10_000) -> None:
        self._clock, self._tries, self._period, self._most = clock, tries, period, most
        self._times: dict[str, deque[float]] = {}  # times of the tries in the period; the latest key is last
        self._lock = Lock()

    def count(self, *keys: str) -> None:
        """Count one try for every key, or raise `TooMany` and count none."""
        with self._lock:
            now = self._clock()
            if (wait := max(self._wait(key, now) for key in keys)) > 0.0:
                raise TooMany(wait)
            for key in keys:
                times = self._times.pop(key, deque())
                times.append(now)
                self._times[key] = times
            while len(self._times) > self._most:
                del self._times[next(iter(self._times))]

    def excuse(self, *keys: str) -> None:
        """Uncount the last try, because it succeeded."""
        with self._lock:
            for key in keys:
                if self._times.get(key):
                    self._times[key].pop()

    def _wait(self, key: str, now: float) -> float:
        times = self._times.get(key, deque())
        while times and times[0] <= now - self._period:
            times.popleft()
        return times[0] + self._period - now if len(times) >= self._tries else 0.0
