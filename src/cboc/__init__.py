"""Collaborative Bayesian optimisation by consensus: better designs in fewer experiments, without sharing outcomes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cboc.consensus import Fixed, Identity, Leader, Metropolis, Uniform
from cboc.data.dataset import Dataset, Direction
from cboc.data.goal import Aim
from cboc.data.objective import Measurement
from cboc.errors import CbocError
from cboc.exchange.ledger import Ledger
from cboc.exchange.network import Changed, Unreachable, Waiting
from cboc.exchange.study import Study
from cboc.experiment.experiment import ExperimentFailed
from cboc.runs.history import History
from cboc.site.trial import Trial
from cboc.space.choice import Choice
from cboc.space.parameters import Float, Int
from cboc.space.space import Space

if TYPE_CHECKING:
    from cboc.data.earlier.preview import preview
    from cboc.experiment import Program
    from cboc.experiment.durations import LogNormal
    from cboc.joining import join as join
    from cboc.runs.simulation import simulate
    from cboc.site.ending import Finished
    from cboc.site.policy import Policy
    from cboc.site.site import Site
    from cboc.strategy.bayesian import Bayesian
    from cboc.strategy.collaborative import collaborative
    from cboc.strategy.gate import Gate, Gated
    from cboc.strategy.guide.decision import Counsel, Guide
    from cboc.strategy.guide.guided import Guided

__version__ = "0.2.0"

__all__ = [
    "Aim",
    "Bayesian",
    "CbocError",
    "Changed",
    "Choice",
    "Counsel",
    "Dataset",
    "Direction",
    "ExperimentFailed",
    "Finished",
    "Fixed",
    "Float",
    "Gate",
    "Gated",
    "Guide",
    "Guided",
    "History",
    "Identity",
    "Int",
    "Leader",
    "Ledger",
    "LogNormal",
    "Measurement",
    "Metropolis",
    "Policy",
    "Program",
    "Site",
    "Space",
    "Study",
    "Trial",
    "Uniform",
    "Unreachable",
    "Waiting",
    "collaborative",
    "preview",
    "simulate",
]  # `join` is there too, where its extra is

_LATER = {
    "Bayesian": "cboc.strategy.bayesian",
    "Counsel": "cboc.strategy.guide.decision",
    "Finished": "cboc.site.ending",
    "Gate": "cboc.strategy.gate",
    "Gated": "cboc.strategy.gate",
    "Guide": "cboc.strategy.guide.decision",
    "Guided": "cboc.strategy.guide.guided",
    "LogNormal": "cboc.experiment.durations",
    "Policy": "cboc.site.policy",
    "Program": "cboc.experiment",
    "Site": "cboc.site.site",
    "collaborative": "cboc.strategy.collaborative",
    "join": "cboc.joining",
    "preview": "cboc.data.earlier.preview",
    "simulate": "cboc.runs.simulation",
}


def __getattr__(name: str) -> Any:
    """Load what needs SciPy, or an extra, when it is first asked for, so that `import cboc` stays quick."""
    if name not in _LATER:
        raise AttributeError(f"module 'cboc' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
