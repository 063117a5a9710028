"""The exact Gaussian process, one idea per file.

kernels.py   Matern-5/2 and squared exponential, as functions of r²
priors.py    priors of the hyper-parameters
transforms.py  from outcomes to the standardised scale, and back
fitting.py   hyper-parameters by maximum a posteriori; the paper's model as a preset
looks.py     how often a fit also begins anew
plausible.py  surrogates with other hyper-parameters that the data leave plausible: honest intervals
gp.py        the posterior and its moments, of one process or of a stack of them
algebra.py   linear algebra of small symmetric matrices
"""

from cboc.surrogate.fitting import PAPER, Model, build, fit
from cboc.surrogate.gp import GP
from cboc.surrogate.kernels import matern52, squared_exponential
from cboc.surrogate.transforms import compressed, raw, standardised

__all__ = [
    "GP",
    "PAPER",
    "Model",
    "build",
    "compressed",
    "fit",
    "matern52",
    "raw",
    "squared_exponential",
    "standardised",
]
