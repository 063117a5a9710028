"""Pictures of the evidence, each a function of rows that returns a matplotlib Figure; nothing is shown or saved.

path.py       two sites on their contours  (Sec. 5.2)
sites.py      the Gap with more and more sites  (Table 3)
crowd.py      the gain over working alone with more and more sites
published.py  the paper's tables beside ours  (Tables 1 to 4)
gains.py      the gain of every method over working alone, scenario by scenario
savings.py    how much sooner the sites reach together what they reach alone in the end
price.py      CPU time of a site and a round, together and alone
theory.py     regret, and the quantities that Assumptions 2 and 3 bound
casestudy.py  biosensors, together and alone  (Fig. 8)
real.py       real tables: progress, and experiments until a site has all but arrived
dial.py       when does it help: the gain against what sites have in common
demo.py       the one picture of `cboc demo`
biosensor/    the case study's sensor, and where its sites went
look.py       the name, colour and mark of every method in all of them
"""

from cboc.evidence.figures.casestudy import casestudy
from cboc.evidence.figures.crowd import crowd
from cboc.evidence.figures.demo import demo
from cboc.evidence.figures.dial import variants, when
from cboc.evidence.figures.gains import gains
from cboc.evidence.figures.path import path
from cboc.evidence.figures.price import price
from cboc.evidence.figures.published import published
from cboc.evidence.figures.real import arrivals, progress
from cboc.evidence.figures.savings import savings
from cboc.evidence.figures.sites import sites
from cboc.evidence.figures.theory import theory

__all__ = [
    "arrivals",
    "casestudy",
    "crowd",
    "demo",
    "gains",
    "path",
    "price",
    "progress",
    "published",
    "savings",
    "sites",
    "theory",
    "variants",
    "when",
]
