"""The method of the paper, and nothing else: one idea per file.

rules.py     W(t): identity, uniform, metropolis, leader, fixed  (Sec. 4.3)
matrix.py    what makes W valid, rebalancing, the mix            (Sec. 4.2, eq. 3)
graph.py     who may talk to whom                                (Sec. 4.3)
birkhoff.py  W as an average of allocations                      (Sec. 4.2)
"""

from cboc.consensus.birkhoff import decompose
from cboc.consensus.matrix import is_doubly_stochastic, mix, rebalance
from cboc.consensus.rules import Fixed, Identity, Leader, Metropolis, Rule, Snapshot, Uniform

__all__ = [
    "Fixed",
    "Identity",
    "Leader",
    "Metropolis",
    "Rule",
    "Snapshot",
    "Uniform",
    "decompose",
    "is_doubly_stochastic",
    "mix",
    "rebalance",
]
