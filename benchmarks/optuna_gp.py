"""Optuna's own Gaussian process as everybody runs it: GPSampler with its defaults, in one study that goes on."""

from __future__ import annotations

import warnings

import numpy as np
import optuna
import torch
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState, create_trial

torch.set_num_threads(1)
warnings.filterwarnings("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)


class Sampled:
    """A study of Optuna over the unit cube; like ours, its fits start warm from the last one."""

    def __init__(self, dimension: int, seed: int = 0) -> None:
        self.space = {f"x{d}": FloatDistribution(0.0, 1.0) for d in range(dimension)}
        self.study = optuna.create_study(sampler=optuna.samplers.GPSampler(seed=seed), direction="maximize")
        self.known = 0

    def learn(self, X: np.ndarray, y: np.ndarray) -> None:
        """All outcomes so far, to be maximised: the study is given those that it does not know."""
        for x, value in zip(X[self.known :].tolist(), y[self.known :].tolist(), strict=True):
            params = dict(zip(self.space, x, strict=True))
            self.study.add_trial(create_trial(params=params, distributions=self.space, value=value))
        self.known = len(X)

    def step(self) -> np.ndarray:
        """The design that it would run; the study hears no more of it."""
        trial = self.study.ask(self.space)
        self.study.tell(trial, state=TrialState.FAIL)
        return np.array([trial.params[name] for name in self.space])
