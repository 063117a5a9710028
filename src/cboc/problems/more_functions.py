"""Test functions that are not in the paper: natural units in, values out, all to be minimised.

They follow the Virtual Library of Simulation Experiments (Surjanovic and Bingham, 2013). Each takes X of shape (n, D)
and returns (n,).
"""

from __future__ import annotations

import numpy as np

from cboc.arrays import Array

STEEPNESS = 10  # m, of Michalewicz's valleys


def rosenbrock(X: Array) -> Array:
    """Σ_{d<D} 100 (x_{d+1} - x_d²)² + (1 - x_d)²."""
    return (100 * (X[:, 1:] - X[:, :-1] ** 2) ** 2 + (1 - X[:, :-1]) ** 2).sum(axis=1)


def styblinski_tang(X: Array) -> Array:
    """½ Σ_d (x_d⁴ - 16 x_d² + 5 x_d)."""
    return (X**4 - 16 * X**2 + 5 * X).sum(axis=1) / 2


def rastrigin(X: Array) -> Array:
    """10 D + Σ_d (x_d² - 10 cos 2πx_d)."""
    return (10 + X**2 - 10 * np.cos(2 * np.pi * X)).sum(axis=1)


def michalewicz(X: Array) -> Array:
    """-Σ_d sin(x_d) sin²ᵐ(d x_d²/π), m = 10: valleys so steep that most of the box is a plain."""
    return michalewicz_terms(X).sum(axis=1)


def michalewicz_terms(X: Array) -> Array:  # (n, D)
    """The contribution of each dimension to the Michalewicz function."""
    d = np.arange(1, X.shape[1] + 1)
    return -np.sin(X) * np.sin(d * X**2 / np.pi) ** (2 * STEEPNESS)
