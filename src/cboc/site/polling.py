"""How often to ask while others are awaited: the more rarely the longer it takes.

Every message that leaves a site is kept in its file, and others wait for days.
"""

from __future__ import annotations

SHORTEST_PAUSE = 2.0  # seconds
PATIENT_FOR = 20.0  # a pause is this part of the time that was waited


def pause(waited: float, longest: float, shortest: float = SHORTEST_PAUSE) -> float:
    """The time until the next message, for a site that has waited so long; all in seconds."""
    return min(max(waited / PATIENT_FOR, shortest), longest)
