"""Utilities: how much an experiment at x is expected to bring.

utility.py      what a utility is; a user's function as a utility
gp_based.py     what utilities on a Gaussian process share
improvement.py  EI, LogEI, PI
averaged.py     EI where some outcomes are not known: its mean over draws of these
pending.py      of experiments under way
noisy.py        of the best so far, where outcomes are noisy
normal.py       the normal distribution in EI
hypervolume.py  expected hypervolume improvement, of several objectives
limited.py      where outcomes have limits
thorough.py     where only the most thorough experiments count
confidence.py   UCB
thompson.py     one draw from the posterior
knowledge.py    the knowledge gradient
"""

from cboc.utility.confidence import UCB
from cboc.utility.improvement import EI, PI, LogEI
from cboc.utility.knowledge import KnowledgeGradient
from cboc.utility.noisy import NoisyEI
from cboc.utility.thompson import Thompson
from cboc.utility.utility import Custom, Utility

__all__ = ["EI", "PI", "UCB", "Custom", "KnowledgeGradient", "LogEI", "NoisyEI", "Thompson", "Utility"]
