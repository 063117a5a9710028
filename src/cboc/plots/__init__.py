"""Pictures of a study, each a function of histories that returns a matplotlib Figure; nothing is shown or saved.

progress.py  the Gap, or the best outcome so far, or the volume below the front, against experiments
calendar.py  the same against time; reached.py says what is drawn
paths.py     where the sites went, on the contours of their functions  (Fig. 5); strips.py, walk.py
matrix.py    W(t)
moves.py     proposed, mixed, executed
gain.py      what each site gains by working together
terrain.py   the ground that designs are drawn on
style.py     what they have in common

and of what one site has learned:

front.py        two objectives against each other: the front
importance.py   which parameter matters
predicted.py    each outcome, predicted from all others
slices.py       the expected outcome along each parameter
contours.py     the expected outcome over two parameters
experiments.py  the shapes of experiments
"""

from cboc.plots.calendar import calendar
from cboc.plots.contours import contours
from cboc.plots.front import front
from cboc.plots.gain import gain
from cboc.plots.importance import importance
from cboc.plots.matrix import matrix
from cboc.plots.moves import moves
from cboc.plots.paths import paths
from cboc.plots.predicted import predicted
from cboc.plots.progress import progress
from cboc.plots.slices import slices
from cboc.plots.terrain import grounds

__all__ = [
    "calendar",
    "contours",
    "front",
    "gain",
    "grounds",
    "importance",
    "matrix",
    "moves",
    "paths",
    "predicted",
    "progress",
    "slices",
]
