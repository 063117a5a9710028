"""What a site has learned, by its own surrogate. None of it leaves the site.

learned.py      all of it for one site; or a sentence, if there is too little to learn from
surface.py      the outcome that is expected at any design, with an interval, in the outcome's own units
moved.py        designs that differ from another one in some parameters, as far as the constraints allow
measured.py     the experiments so far, as they are drawn
slices.py       one parameter varies, the others stay
contours.py     two parameters vary
importance.py   which parameter matters
predicted.py    each outcome, predicted from all others
"""

from cboc.insight.learned import Learned, lack

__all__ = ["Learned", "lack"]
