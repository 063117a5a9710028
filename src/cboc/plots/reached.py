"""What a search reaches, in words: the best outcome so far, or the volume below the front."""

from __future__ import annotations

from cboc.data.goal import Goal
from cboc.plots import style
from cboc.runs.compare import reached
from cboc.runs.history import History

VOLUME = "volume that the front reaches"


def what_is_reached(history: History) -> str:
    """The name of an axis on which this is drawn."""
    what, objective = reached(history), history.study.objective
    if what == "volume":
        return f"{VOLUME}, so far"
    return (
        f"distance of {objective.head} from its target, so far" if what == "distance" else style.best_so_far(objective)
    )


def way(goal: Goal) -> str:
    """Beside the name of a site: which way its one outcome is better; nothing of several, whose volume only grows."""
    if len(goal.aims) > 1:
        return ""
    limits = ", ".join(map(str, goal.limits))
    first = next(iter(goal.aims.values()))
    return f" ({first}{f', {limits}' if limits else ''})"
