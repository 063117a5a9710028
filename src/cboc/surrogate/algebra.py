"""Linear algebra of small symmetric matrices."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from cboc.arrays import Array


def diagonal(K: Array) -> Array:
    """The diagonal of a C-ordered matrix, or the diagonals of a stack (..., n), as a view."""
    n = K.shape[-1]
    return K.reshape(*K.shape[:-2], n * n)[..., :: n + 1]


def add_to_diagonal(K: Array, values: Array) -> None:
    """K += diag(values), in place."""
    diagonal(K)[...] += values


def cholesky(K: Array) -> Array:
    """The lower factor of a symmetric matrix, with the least jitter that makes it exist."""
    root, info = dpotrf(K.T, lower=1, clean=1)
    jitter = 1e-12 * float(K.diagonal().max())
    while info != 0:
        jitter *= 10.0
        root, info = dpotrf(K + jitter * np.eye(len(K)), lower=1, clean=1)
    lower: Array = root
    return lower


def invert_root(root: Array) -> Array:
    """L⁻¹, the inverse of a lower Cholesky factor."""
    return np.ascontiguousarray(dtrtri(root, lower=1)[0])
