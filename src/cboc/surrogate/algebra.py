"""Linear algebra of small symmetric matrices."""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dpotrf, dtrtri

from cboc.arrays import Array

SMALL = 64  # rows


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
    """L⁻¹, the inverse of a lower Cholesky factor, in Fortran's order.

    By halves, [A 0; B C]⁻¹ = [A⁻¹ 0; -C⁻¹BA⁻¹ C⁻¹]: from SMALL on, LAPACK takes up to twice as long.
    """
    n = len(root)
    if n <= SMALL:
        inverse: Array = dtrtri(root, lower=1)[0]
        return inverse
    first, last = slice(n // 2), slice(n // 2, n)
    inverse = np.zeros((n, n), order="F")
    inverse[first, first] = A = invert_root(root[first, first])
    inverse[last, last] = C = invert_root(root[last, last])
    inverse[last, first] = dtrmm(-1.0, C, dtrmm(1.0, A, root[last, first], side=1, lower=1), lower=1)
    return inverse
