"""What a site has learned, by its own surrogate. None of it leaves the site.

learned.py      all of it for one outcome of a site; or a sentence, if there is too little to learn from
outcome.py      one outcome as if it were all that counts
found.py        the results: which are on the front, which break a limit, how far behind each is
prospect.py     what is expected of one design: each outcome, and whether it keeps to the limits
surface.py      the outcome that is expected at any design, with an interval, in the outcome's own units
moved.py        designs that differ from another one in some parameters, as far as the constraints allow
measured.py     the experiments so far, as they are drawn
slices.py       one parameter varies, the others stay
contours.py     two parameters vary
importance.py   which parameter matters
predicted.py    each outcome, predicted from all others
"""

from cboc.insight.learned import Learned, lack
from cboc.insight.prospect import Prospect

__all__ = ["Learned", "Prospect", "lack"]
