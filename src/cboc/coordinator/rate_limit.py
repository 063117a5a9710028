"""A few tries in a while, counted before they are made: checking a password is dear, and so is guessing one."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from threading import Lock

from cboc.errors import CbocError


class TooMany(CbocError):
    """One try too many; the next may come in `wait` whole seconds."""

    def __init__(self, wait: float) -> None:
        self.wait = max(1, math.ceil(wait))
        super().__init__(f"too many tries; the next may come in {self.wait} s.")


class RateLimit:
    """At most `tries` in `period` seconds for any key. It remembers the `most` keys that came last, in this process."""

    def __init__(self, clock: Callable[[], float], tries: int = 5, period: float = 60.0, most: int = 10_000) -> None:
        self._clock, self._tries, self._period, self._most = clock, tries, period, most
        self._times: dict[str, deque[float]] = {}  # of the tries in the period; the key that came last is the last
        self._lock = Lock()

    def count(self, *keys: str) -> None:
        """One try in the name of all keys, or `TooMany` and none."""
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
        """The last try was a good one and does not count."""
        with self._lock:
            for key in keys:
                if self._times.get(key):
                    self._times[key].pop()

    def _wait(self, key: str, now: float) -> float:
        times = self._times.get(key, deque())
        while times and times[0] <= now - self._period:
            times.popleft()
        return times[0] + self._period - now if len(times) >= self._tries else 0.0
