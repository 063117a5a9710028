"""The binding of analyte to the sensor in one time step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array
from cboc.errors import CbocError
from cboc.evidence.biosensor.sensor import Chemistry

MOST = 50  # most Newton steps; three are usual
CLOSE = 1e-12  # tolerance, as a share of the sample's largest concentration
NEAREST = 0.1  # the share of the distance to the pole that one step leaves at least


@dataclass(frozen=True)
class Binding:
    """θ after a step of BDF2, and the flux ρ_s θ_t that left the channel for it.

    With a = 3/(2 dt) and h = (4 θⁿ - θⁿ⁻¹)/(2 dt), the kinetics a θ - h = k_on c (1 - θ) - k_off θ give

        θ(c) = (h + k_on c) / (a + k_off + k_on c),

    and c is what the channel would have had without binding, less what the flux takes: c = c₀ - G ρ_s (a θ(c) - h).
    θ(c) has a pole at c = -(a + k_off)/k_on, beyond which the roots have no meaning: Newton's steps stay above.
    Near saturation h > a would let θ exceed 1; a history never fills more than all receptors.
    """

    chemistry: Chemistry
    receptors: float  # ρ_s
    dt: float
    response: Array  # G, (n, n): how much c on the sensor a unit of flux takes
    strongest: float  # the sample's largest c, the scale of errors

    @np.errstate(over="ignore", invalid="ignore")  # NaN does not converge
    def __call__(self, unbound: Array, theta: Array, before: Array) -> tuple[Array, Array]:  # (n,) each
        """(θⁿ⁺¹, flux) from c₀, θⁿ and θⁿ⁻¹, by Newton's method."""
        rate, a = self.chemistry.binding, 1.5 / self.dt
        h = np.minimum((2.0 * theta - 0.5 * before) / self.dt, a)
        pole, c = -(a + self.chemistry.release) / rate, np.maximum(unbound, 0.0)
        for _ in range(MOST):
            below = a + self.chemistry.release + rate * c
            new = (h + rate * c) / below
            flux = self.receptors * (a * new - h)
            off = c + self.response @ flux - unbound
            if np.abs(off).max() <= CLOSE * self.strongest:
                return new, flux
            slope = self.receptors * a * rate * (1.0 - new) / below
            step = np.linalg.solve(np.eye(len(c)) + self.response * slope, off)
            c = np.maximum(c - step, pole + NEAREST * (c - pole))
        raise CbocError(
            f"binding did not converge in {MOST} Newton steps; use a setting closer to the case study's, or "
            "shorter time steps."
        )
