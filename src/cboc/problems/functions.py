"""The test functions of Sec. 5 and Appendix 3, as published: natural units in, values out, all to be minimised.

Each takes X of shape (n, D) and returns (n,). Shekel and Hartmann are written with the minus sign that makes "minimise"
true for all of them (the paper maximises -f for the first and f for the second).
"""

from __future__ import annotations

import numpy as np

from cboc.arrays import Array


def levy(X: Array) -> Array:
    """sin²(πω₁) + Σ_{d<D} (ω_d - 1)²[1 + 10 sin²(πω_d + 1)] + (ω_D - 1)²[1 + sin²(2πω_D)],  ω = 1 + (x - 1)/4."""
    w = 1 + (X - 1) / 4
    head = np.sin(np.pi * w[:, 0]) ** 2
    body = ((w[:, :-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:, :-1] + 1) ** 2)).sum(axis=1)
    tail = (w[:, -1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[:, -1]) ** 2)
    return head + body + tail


SHEKEL_WIDTHS = np.array([1, 2, 2, 4, 4, 6, 3, 7, 5, 5]) / 10  # ξ, (10,)
SHEKEL_CENTRES = np.array(  # F, (4, 10)
    [
        [4, 1, 8, 6, 3, 2, 5, 8, 6, 7],
        [4, 1, 8, 6, 7, 9, 3, 1, 2, 3.6],
        [4, 1, 8, 6, 3, 2, 5, 8, 6, 7],
        [4, 1, 8, 6, 7, 9, 3, 1, 2, 3.6],
    ]
)


def shekel(X: Array) -> Array:
    """-Σᵢ (Σ_d (x_d - F_di)² + ξᵢ)⁻¹, ten wells of different depth."""
    squared = ((X[:, :, None] - SHEKEL_CENTRES) ** 2).sum(axis=1)  # (n, 10)
    return -(1 / (squared + SHEKEL_WIDTHS)).sum(axis=1)


def branin(X: Array) -> Array:
    """(x₂ - 5.1/(4π²) x₁² + 5/π x₁ - 6)² + 10(1 - 1/(8π)) cos x₁ + 10."""
    x1, x2 = X[:, 0], X[:, 1]
    valley = x2 - 5.1 / (4 * np.pi**2) * x1**2 + 5 / np.pi * x1 - 6
    return valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x1) + 10


def ackley(X: Array) -> Array:
    """-20 exp(-0.2 √(mean x²)) - exp(mean cos 2πx) + 20 + e: nearly flat, with one narrow well at the origin."""
    radius = np.sqrt((X**2).mean(axis=1))
    ripple = np.cos(2 * np.pi * X).mean(axis=1)
    return -20 * np.exp(-0.2 * radius) - np.exp(ripple) + 20 + np.e


HARTMANN_HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])  # α, (4,)
HARTMANN_RATES = np.array(  # A, (4, 6)
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
)
HARTMANN_CENTRES = np.array(  # P, (4, 6)
    [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
)


def hartmann(X: Array) -> Array:
    """-Σᵢ αᵢ exp(-Σ_d A_id (x_d - P_id)²)."""
    exponents = (HARTMANN_RATES * (X[:, None, :] - HARTMANN_CENTRES) ** 2).sum(axis=2)  # (n, 4)
    return -(HARTMANN_HEIGHTS * np.exp(-exponents)).sum(axis=1)
