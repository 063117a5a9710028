"""How often to ask while waiting for others: the longer it takes, the more rarely.

Every message that leaves a site is kept in its file, and a wait may take days.
"""

from __future__ import annotations

SHORTEST_PAUSE = 2.0  # seconds
PATIENT_FOR = 20.0  # a pause is the time waited so far, divided by this


def pause(waited: float, longest: float, shortest: float = SHORTEST_PAUSE) -> float:
    """The pause before the next message of a site that has waited this long; all in seconds."""
    return min(max(waited / PATIENT_FOR, shortest), longest)
