"""Pictures of a study, each a function of histories that returns a matplotlib Figure; nothing is shown or saved.

progress.py  the Gap, or the best outcome so far, against experiments
calendar.py  the same against time
paths.py     where the sites went, on the contours of their functions  (Fig. 5)
matrix.py    W(t)
moves.py     proposed, mixed, executed
gain.py      what each site gains by working together
terrain.py   the ground that designs are drawn on
style.py     what they have in common
"""

from cboc.plots.calendar import calendar
from cboc.plots.gain import gain
from cboc.plots.matrix import matrix
from cboc.plots.moves import moves
from cboc.plots.paths import paths
from cboc.plots.progress import progress

__all__ = ["calendar", "gain", "matrix", "moves", "paths", "progress"]
