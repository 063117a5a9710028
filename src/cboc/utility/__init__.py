"""What an experiment at x would bring, and where that is largest.

utility.py      what a utility is; any function of the user's as one
improvement.py  EI, LogEI, PI
noisy.py        EI where the best so far is itself uncertain
confidence.py   UCB
thompson.py     one draw from the posterior
knowledge.py    the knowledge gradient
guide.py        what a site makes of the others' best designs
guided.py       a utility drawn to where these lie
maximise.py     x_k = argmax U_k, on any space, of one site or of several at once
joint.py        the utilities of several sites as one
discrete.py     moves between grid points and options
"""

from cboc.utility.confidence import UCB
from cboc.utility.guide import Counsel, Guide
from cboc.utility.guided import Guided
from cboc.utility.improvement import EI, PI, LogEI
from cboc.utility.knowledge import KnowledgeGradient
from cboc.utility.maximise import Effort, maximise
from cboc.utility.noisy import NoisyEI
from cboc.utility.thompson import Thompson
from cboc.utility.utility import Custom, Utility

__all__ = [
    "EI",
    "PI",
    "UCB",
    "Counsel",
    "Custom",
    "Effort",
    "Guide",
    "Guided",
    "KnowledgeGradient",
    "LogEI",
    "NoisyEI",
    "Thompson",
    "Utility",
    "maximise",
]
