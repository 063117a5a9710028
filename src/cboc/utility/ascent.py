"""Climb from many starts at once: projected BFGS on a box, one batched evaluation per step for all of them.

Every start has its own dense inverse Hessian H and its own step length a, so that each converges as if alone, while the
objective sees one matrix of points:

    free    coordinates not pressed against their bound by the gradient
    p       = H g on the free coordinates, 0 elsewhere              (Bertsekas 1982: a descent direction on the box)
    trial   = clip(x + a p)
    accept  if f(trial) >= f + 1e-4 gᵀ(trial - x), then BFGS update of H with s = trial - x, y = g - g(trial)
    reject  otherwise, a to the maximum of the parabola through f, its slope and f(trial)

`benchmarks/ascent.py` measures it against SciPy's L-BFGS-B on the same starts, jointly and one by one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cboc.arrays import Array, Mask

Objective = Callable[[Array], tuple[Array, Array]]  # (b, D) -> values (b,), gradients (b, D)

FIRST_STEP = 0.1  # of the longest component, in units of the box
SUFFICIENT = 1e-4  # Armijo


def ascend(
    objective: Objective, starts: Array, lower: Array, upper: Array, *, tolerance: float = 1e-4, steps: int = 100
) -> tuple[Array, Array]:
    """The points (B, D) that the starts (B, D) climb to, and their values (B,).

    `lower` and `upper` are (D,) or (B, D); a start stops when the next step promises less than `tolerance`.
    """
    points = np.clip(starts, lower, upper)
    values, gradients = objective(points)
    lower, upper = np.broadcast_to(lower, points.shape), np.broadcast_to(upper, points.shape)
    live = np.arange(len(points))
    x, f, g, low, high = points.copy(), values.copy(), gradients, lower, upper
    H = _first_metric(g)
    is_fresh = np.ones(len(x), dtype=bool)
    a = np.ones(len(x))
    for _ in range(steps):
        free = ((x > low) | (g > 0.0)) & ((x < high) | (g < 0.0))
        uphill = g * free
        p = np.matmul(H, uphill[:, :, None])[:, :, 0] * free
        slope = np.einsum("bd,bd->b", uphill, p)
        moving = (slope * a > tolerance) & np.isfinite(f)
        if not moving.all():
            points[live], values[live] = x, f
            live, x, f, g, H, a, p, slope, low, high, is_fresh = (
                part[moving] for part in (live, x, f, g, H, a, p, slope, low, high, is_fresh)
            )
            if len(live) == 0:
                break
        trial = np.clip(x + a[:, None] * p, low, high)
        f_trial, g_trial = objective(trial)
        s = trial - x
        promised = np.einsum("bd,bd->b", g, s)
        with np.errstate(invalid="ignore"):
            accepted = f_trial >= f + SUFFICIENT * promised
        _update_metric(H, s, g - g_trial, accepted, is_fresh)
        is_fresh &= ~accepted
        with np.errstate(invalid="ignore", divide="ignore"):
            shrink = 0.5 * promised / (promised - (f_trial - f))
        a = np.where(accepted, 1.0, a * np.clip(np.nan_to_num(shrink, nan=0.1), 0.1, 0.5))
        taken = accepted[:, None]
        x, f, g = np.where(taken, trial, x), np.where(accepted, f_trial, f), np.where(taken, g_trial, g)
    points[live], values[live] = x, f
    return points, values


def _first_metric(g: Array) -> Array:
    """A multiple of the identity whose first step is FIRST_STEP long."""
    longest = np.maximum(np.abs(g).max(axis=1), 1e-300)
    return (FIRST_STEP / longest)[:, None, None] * np.eye(g.shape[1])


def _update_metric(H: Array, s: Array, y: Array, accepted: Mask, is_fresh: Mask) -> None:
    """BFGS:  H <- (I - ρ s yᵀ) H (I - ρ y sᵀ) + ρ s sᵀ,  ρ = 1/sᵀy; on convex ground (sᵀy <= 0) steps double instead."""
    sy = np.einsum("bd,bd->b", s, y)
    yy = np.einsum("bd,bd->b", y, y)
    curved = accepted & (sy > 1e-10 * yy) & (sy > 0.0)
    H[accepted & ~curved] *= 2.0
    first = curved & is_fresh
    H[first] = (sy[first] / yy[first])[:, None, None] * np.eye(s.shape[1])
    if not curved.any():
        return
    rho = np.where(curved, 1.0, 0.0) / np.where(curved, sy, 1.0)
    Hy = np.matmul(H, y[:, :, None])[:, :, 0]
    yHy = np.einsum("bd,bd->b", y, Hy)
    cross = s[:, :, None] * Hy[:, None, :]
    H -= rho[:, None, None] * (cross + cross.transpose(0, 2, 1))
    H += (rho * (1.0 + rho * yHy))[:, None, None] * (s[:, :, None] * s[:, None, :])
