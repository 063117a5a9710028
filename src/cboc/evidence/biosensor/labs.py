"""The problems of the case study: the paper's sensor, and six constructed labs whose sensors and means differ."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cboc.arrays import Array
from cboc.data.dataset import Direction
from cboc.evidence.biosensor.response import REFERENCE, Numerics, respond
from cboc.evidence.biosensor.sensor import MILLI, MINUTE, NANOMOLAR, Channel, Chemistry, Sample, Sensor, Setting
from cboc.problems.problem import Problem
from cboc.space.parameters import Float
from cboc.space.space import Space

SPACE = Space(
    {
        "inflow": Float(1e-4, 1e-2, unit="m/s"),  # u_in
        "receptors": Float(1.8e-8, 3.3e-8, unit="mol/m²"),  # ρ_s
        "pulse": Float(0.5, 3.0, unit="min"),  # GP_std
    }
)
BEST = (1e-2, 1.8e-8, 0.5)  # of the paper's sensor: more flow, fewer receptors, a shorter pulse are always better
FASTEST, FEWEST = 1e-2, 1.8e-8  # m/s, mol/m²: ends of the box
UNIT = 4.5e-3  # the paper's best coverage


@dataclass(frozen=True)
class Worth:
    """The objective of a lab: θ_max minus the cost of the sample, a price times u_in in units of the fastest."""

    sensor: Sensor = field(default_factory=Sensor)
    price: float = 0.0  # in units of coverage
    numerics: Numerics = REFERENCE

    def __call__(self, X: Array) -> Array:  # (n, 3) in natural units -> (n,)
        return np.array([self._of(*row) for row in np.atleast_2d(X).tolist()])

    def _of(self, inflow: float, receptors: float, pulse: float) -> float:
        peak = respond(Setting(inflow, receptors, pulse * MINUTE), self.sensor, self.numerics).peak
        return peak - self.price * inflow / FASTEST


def biosensor(numerics: Numerics = REFERENCE) -> Problem:
    """The paper's problem. Its optimum is a corner of the box (docs/biosensor.md)."""
    worth = Worth(numerics=numerics)
    best = float(worth(np.array(BEST))[0])
    return Problem("biosensor", SPACE, worth, Direction.MAXIMISE, known_optimum=best, optimisers=np.array([BEST]))


@dataclass(frozen=True)
class Lab:
    """The properties of a lab: its channel, its chemistry, its cost of sample, and the strength of its stock."""

    height: float  # mm
    diffusivity: float  # m²/s
    binding: float  # m³/mol/s
    release: float  # 1/s
    price: float  # of the fastest inflow, in units of the paper's best coverage
    stock: float  # nM
    best: tuple[float, float]  # inflow and pulse of its optimum; receptors are best at their fewest

    def worth(self, numerics: Numerics = REFERENCE) -> Worth:
        chemistry = Chemistry(self.diffusivity, self.binding, self.release)
        sample = Sample(stock=self.stock * NANOMOLAR)
        sensor = Sensor(Channel(height=self.height * MILLI), chemistry, sample)
        return Worth(sensor, self.price * UNIT, numerics)


LABS = (
    Lab(1.00, 1.0e-11, 1.0e3, 1.0e-3, 0.50, 0.30, best=(4.997e-3, 1.330)),
    Lab(0.80, 1.2e-11, 0.8e3, 1.5e-3, 0.40, 0.35, best=(7.840e-3, 1.140)),
    Lab(1.20, 0.8e-11, 1.2e3, 0.8e-3, 0.60, 0.25, best=(3.011e-3, 1.596)),
    Lab(1.10, 1.0e-11, 1.5e3, 1.0e-3, 0.35, 0.28, best=(8.472e-3, 1.425)),
    Lab(0.90, 1.5e-11, 0.7e3, 2.0e-3, 0.70, 0.32, best=(3.847e-3, 1.247)),
    Lab(1.00, 0.9e-11, 1.0e3, 1.2e-3, 0.45, 0.22, best=(5.168e-3, 1.813)),
)
"""Six constructed labs, not real ones, chosen to have different optima, with inflow and pulse inside the box."""


def labs(numerics: Numerics = REFERENCE) -> list[Problem]:
    """The problems of the six constructed labs."""
    return [_problem(f"lab {k + 1}", lab, numerics) for k, lab in enumerate(LABS)]


def _problem(name: str, lab: Lab, numerics: Numerics) -> Problem:
    worth, (inflow, pulse) = lab.worth(numerics), lab.best
    best = np.array([[inflow, FEWEST, pulse]])
    return Problem(name, SPACE, worth, Direction.MAXIMISE, known_optimum=float(worth(best)[0]), optimisers=best)
