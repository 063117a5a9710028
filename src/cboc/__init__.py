"""Collaborative Bayesian optimisation by consensus: better designs in fewer experiments, without sharing outcomes."""

from cboc.consensus import Fixed, Gate, Identity, Leader, Uniform
from cboc.data import Dataset
from cboc.errors import CbocError
from cboc.history import History
from cboc.loop import ExperimentFailed, simulate
from cboc.network.ledger import Ledger
from cboc.parameters import Choice, Float, Int
from cboc.site import Finished, Site, Waiting
from cboc.space import Space
from cboc.study import Study
from cboc.trial import Trial

__version__ = "0.1.0"

__all__ = [
    "CbocError",
    "Choice",
    "Dataset",
    "ExperimentFailed",
    "Finished",
    "Fixed",
    "Float",
    "Gate",
    "History",
    "Identity",
    "Int",
    "Leader",
    "Ledger",
    "Site",
    "Space",
    "Study",
    "Trial",
    "Uniform",
    "Waiting",
    "simulate",
]
