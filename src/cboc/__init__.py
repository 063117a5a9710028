"""Collaborative Bayesian optimisation by consensus: better designs in fewer experiments, without sharing outcomes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cboc.consensus import Fixed, Identity, Leader, Uniform
from cboc.data.dataset import Dataset
from cboc.errors import CbocError
from cboc.exchange.ledger import Ledger
from cboc.exchange.study import Study
from cboc.runs.history import History
from cboc.site.trial import Trial
from cboc.space.parameters import Choice, Float, Int
from cboc.space.space import Space
from cboc.strategy.gate import Gate

if TYPE_CHECKING:
    from cboc.experiment import Program
    from cboc.experiment.experiment import ExperimentFailed
    from cboc.joining import join as join
    from cboc.runs.simulation import simulate
    from cboc.site.site import Finished, Site, Waiting
    from cboc.strategy.guide.guide import Counsel, Guide

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
    "ExperimentFailed": "cboc.runs.simulation",
    "simulate": "cboc.runs.simulation",
    "join": "cboc.joining",
    "Program": "cboc.experiment",
    "Finished": "cboc.site.site",
    "Site": "cboc.site.site",
    "Waiting": "cboc.site.site",
    "Counsel": "cboc.strategy.guide.guide",
    "Guide": "cboc.strategy.guide.guide",
}


def __getattr__(name: str) -> Any:
    """Load what needs SciPy, or an extra, when it is first asked for, so that `import cboc` stays quick."""
    if name not in _LATER:
        raise AttributeError(f"module 'cboc' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
