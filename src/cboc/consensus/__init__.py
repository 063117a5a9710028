"""The method of the paper, one idea per file.

rules.py        W(t): identity, uniform, leader, fixed          (Sec. 4.3)
matrix.py       what makes W valid, rebalancing, the mix        (Sec. 4.2, eq. 3)
graph.py        who may talk to whom                            (Sec. 4.3)
gate.py         a site's own last word                          (ours)
whereabouts.py  where the sites' optima seem to lie             (ours)
birkhoff.py     W as an average of allocations                  (Sec. 4.2)
"""

from cboc.consensus.birkhoff import decompose
from cboc.consensus.gate import Gate, always_follow
from cboc.consensus.matrix import is_doubly_stochastic, mix, rebalance
from cboc.consensus.rules import Fixed, Identity, Leader, Round, Rule, Uniform
from cboc.consensus.whereabouts import Whereabouts, locate

__all__ = [
    "Fixed",
    "Gate",
    "Identity",
    "Leader",
    "Round",
    "Rule",
    "Uniform",
    "Whereabouts",
    "always_follow",
    "decompose",
    "is_doubly_stochastic",
    "locate",
    "mix",
    "rebalance",
]
