"""BoTorch as everybody runs it: SingleTaskGP, LogExpectedImprovement, optimize_acqf (10 restarts, 512 raw samples)."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from botorch.acquisition.analytic import LogExpectedImprovement
from botorch.acquisition.logei import qLogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from gpytorch.mlls import ExactMarginalLogLikelihood

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
warnings.filterwarnings("ignore")

RESTARTS, RAW_SAMPLES = 10, 512


def fit(X: np.ndarray, y: np.ndarray) -> SingleTaskGP:
    """The default model, fitted cold; X in the unit cube, y to be maximised (the model standardises it)."""
    model = SingleTaskGP(torch.from_numpy(X), torch.from_numpy(y)[:, None])
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def utility(model: SingleTaskGP, y: np.ndarray) -> LogExpectedImprovement:
    return LogExpectedImprovement(model, best_f=float(y.max()))


def maximise(acquisition, dimension: int) -> tuple[np.ndarray, float]:
    bounds = torch.tensor([[0.0] * dimension, [1.0] * dimension])
    x, value = optimize_acqf(acquisition, bounds, q=1, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES)
    return x.numpy()[0], float(value)


def step(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return maximise(utility(fit(X, y), y), X.shape[1])[0]


def plate(X: np.ndarray, y: np.ndarray, wells: int) -> np.ndarray:
    """A plate by sequential-greedy qLogEI, with 256 common draws."""
    model = fit(X, y)
    sampler = SobolQMCNormalSampler(torch.Size([256]))
    acquisition = qLogExpectedImprovement(model, best_f=float(y.max()), sampler=sampler)
    bounds = torch.tensor([[0.0] * X.shape[1], [1.0] * X.shape[1]])
    found, _ = optimize_acqf(
        acquisition, bounds, q=wells, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES, sequential=True
    )
    return found.numpy()
