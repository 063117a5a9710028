"""The normal distribution in expected improvement: φ(z), and h(z) = φ(z) + z Φ(z) as a logarithm.

Far from the incumbent h underflows; with Mills' ratio m = Φ/φ = √(π/2) erfcx(-z/√2) it is φ(z)(1 + z m), whose
logarithm does not (Ament et al., NeurIPS 2023).
"""

from __future__ import annotations

from math import log, pi, sqrt

import numpy as np
from scipy.special import erfcx, ndtr

from cboc.arrays import Array

HALF_LOG_TAU = 0.5 * log(2 * pi)


def phi(z: Array) -> Array:
    """The standard normal density φ."""
    density: Array = np.exp(-0.5 * z * z - HALF_LOG_TAU)
    return density


def log_h(z: Array) -> tuple[Array, Array]:
    """log h(z) and its derivative h'/h = Φ/h, for any z."""
    is_near = z > -1.0
    if is_near.all():
        return _log_h_near(z)
    if not is_near.any():
        return _log_h_far(z)
    near, far = _log_h_near(np.maximum(z, -1.0)), _log_h_far(np.minimum(z, -1.0))
    return np.where(is_near, near[0], far[0]), np.where(is_near, near[1], far[1])


def _log_h_near(z: Array) -> tuple[Array, Array]:
    cdf = ndtr(z)
    h = phi(z) + z * cdf
    return np.log(h), cdf / h


def _log_h_far(z: Array) -> tuple[Array, Array]:
    mills = sqrt(pi / 2) * erfcx(z * -sqrt(0.5))
    square = z * z
    # 1 + z m cancels like 1/z²; past z = -1e4 its expansion is exact to machine precision
    rest = np.where(z > -1e4, 1.0 + z * mills, (1.0 - 3.0 / square) / square)
    return -0.5 * square - HALF_LOG_TAU + np.log(rest), mills / rest
