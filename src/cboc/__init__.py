"""Collaborative Bayesian optimisation by consensus: better designs in fewer experiments, without sharing outcomes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cboc.consensus import Fixed, Gate, Identity, Leader, Uniform
from cboc.data import Dataset
from cboc.errors import CbocError
from cboc.history import History
from cboc.network.ledger import Ledger
from cboc.parameters import Choice, Float, Int
from cboc.space import Space
from cboc.study import Study
from cboc.trial import Trial

if TYPE_CHECKING:
    from cboc.loop import ExperimentFailed, simulate
    from cboc.membership import join as join
    from cboc.program import Program
    from cboc.site import Finished, Site, Waiting
    from cboc.utility.guide import Counsel, Guide

__version__ = "0.1.0"

__all__ = [
    "CbocError",
    "Choice",
    "Counsel",
    "Dataset",
    "ExperimentFailed",
    "Finished",
    "Fixed",
    "Float",
    "Gate",
    "Guide",
    "History",
    "Identity",
    "Int",
    "Leader",
    "Ledger",
    "Program",
    "Site",
    "Space",
    "Study",
    "Trial",
    "Uniform",
    "Waiting",
    "simulate",
]  # `join` is there too, where its extra is

_LATER = {
    "ExperimentFailed": "cboc.loop",
    "simulate": "cboc.loop",
    "join": "cboc.membership",
    "Program": "cboc.program",
    "Finished": "cboc.site",
    "Site": "cboc.site",
    "Waiting": "cboc.site",
    "Counsel": "cboc.utility.guide",
    "Guide": "cboc.utility.guide",
}


def __getattr__(name: str) -> Any:
    """Load what needs SciPy, or an extra, when it is first asked for, so that `import cboc` stays quick."""
    if name not in _LATER:
        raise AttributeError(f"module 'cboc' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
