"""Climb from many starts at once: projected BFGS on a box, one batched evaluation per step for all of them.

Every start has its own dense inverse Hessian H and its own step length a, so that each converges as if alone, while the
objective sees one matrix of points:

    free    coordinates not pressed against their bound by the gradient
    p       = H g on the free coordinates, 0 elsewhere              (Bertsekas 1982: a descent direction on the box)
    trial   = clip(x + a p), no coordinate moving by more than LONGEST_STEP: on a plateau H g can cross the whole box
    accept  if f(trial) >= f + 1e-4 gᵀ(trial - x), then BFGS update of H with s = trial - x and y = g - g(trial) on the
            free coordinates: what the gradient does at the bounds tells nothing about the face that is walked on
    reject  otherwise, a to the maximum of the parabola through f, its slope and f(trial)

`benchmarks/ascent.py` measures it against SciPy's L-BFGS-B on the same starts, jointly and one by one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cboc.arrays import Array, Mask

Objective = Callable[[Array], tuple[Array, Array]]  # (b, D) -> values (b,), gradients (b, D)

FIRST_STEP = 0.1  # of the longest component, in units of the box
LONGEST_STEP = 0.3  # likewise
SUFFICIENT = 1e-4  # Armijo


@np.errstate(invalid="ignore", divide="ignore")
def ascend(
    objective: Objective,
    starts: Array,
    lower: Array,
    upper: Array,
    *,
    tolerance: float = 1e-3,
    race: float = np.inf,
    steps: int = 60,
) -> tuple[Array, Array]:
    """The points (B, D) that the starts (B, D) climb to, and their values (B,).

    `lower` and `upper` are (D,) or (B, D). A start stops when its next step promises less than `tolerance`, or when
    `race` times that promise would not take it to the best value so far.
    """
    points = np.clip(starts, lower, upper)
    values, g = _look(objective, points)
    low, high = np.atleast_2d(lower), np.atleast_2d(upper)
    live, x, f = np.arange(len(points)), points.copy(), values.copy()
    H, a, is_fresh = _first_metric(g), np.ones(len(x)), np.ones(len(x), dtype=bool)
    best = np.fmax.reduce(f, initial=-np.inf)
    for _ in range(steps):
        free = ((x > low) | (g > 0.0)) & ((x < high) | (g < 0.0))
        uphill = g * free
        p = np.matmul(H, uphill[:, :, None])[:, :, 0] * free
        promise = (uphill * p).sum(axis=1)
        moving = (promise * a > tolerance) & (is_fresh | (f + race * promise >= best))  # False where anything is NaN
        if not moving.all():
            points[live], values[live] = x, f
            if len(low) > 1:
                low, high = low[moving], high[moving]
            live, x, f, g, H, a, p, is_fresh, free = (part[moving] for part in (live, x, f, g, H, a, p, is_fresh, free))
            if len(live) == 0:
                break
        a = np.minimum(a, LONGEST_STEP / np.abs(p).max(axis=1))
        trial = np.clip(x + a[:, None] * p, low, high)
        f_trial, g_trial = _look(objective, trial)
        s = trial - x
        promised = (g * s).sum(axis=1)
        accepted = f_trial >= f + SUFFICIENT * promised
        _update_metric(H, s, (g - g_trial) * free, accepted, is_fresh)
        best = np.fmax.reduce(f_trial, initial=best)
        if accepted.all():
            x, f, g, a = trial, f_trial, g_trial, np.ones(len(x))
            is_fresh[:] = False
            continue
        is_fresh &= ~accepted
        shrink = 0.5 * promised / (promised - (f_trial - f))
        a = np.where(accepted, 1.0, a * np.clip(np.where(shrink > 0.1, shrink, 0.1), 0.1, 0.5))
        x[accepted], f[accepted], g[accepted] = trial[accepted], f_trial[accepted], g_trial[accepted]
    points[live], values[live] = x, f
    return points, values


def _look(objective: Objective, points: Array) -> tuple[Array, Array]:
    """Values and gradients, ours to change; a gradient that is not finite points nowhere."""
    values, gradients = objective(points)
    return np.array(values), np.where(np.isfinite(gradients), gradients, 0.0)


def _first_metric(g: Array) -> Array:
    """A multiple of the identity whose first step is FIRST_STEP long."""
    longest = np.maximum(np.abs(g).max(axis=1), 1e-300)
    metric: Array = (FIRST_STEP / longest)[:, None, None] * np.eye(g.shape[1])
    return metric


def _update_metric(H: Array, s: Array, y: Array, accepted: Mask, is_fresh: Mask) -> None:
    """BFGS:  H <- (I - ρ s yᵀ) H (I - ρ y sᵀ) + ρ s sᵀ,  ρ = 1/sᵀy; on convex ground (sᵀy <= 0) steps double."""
    sy, yy = (s * y).sum(axis=1), (y * y).sum(axis=1)
    curved = accepted & (sy > 1e-10 * yy)
    if not curved.all():
        H[accepted & ~curved] *= 2.0
        if not curved.any():
            return
    if (first := curved & is_fresh).any():
        H[first] = (sy[first] / yy[first])[:, None, None] * np.eye(s.shape[1])
    rho = np.where(curved, 1.0 / sy, 0.0)
    Hy = np.matmul(H, y[:, :, None])[:, :, 0]
    bend = rho * (1.0 + rho * (y * Hy).sum(axis=1))
    # ρ(1 + ρ yᵀHy) ssᵀ - ρ(s (Hy)ᵀ + (Hy) sᵀ), as s uᵀ + u sᵀ
    u = (0.5 * bend)[:, None] * s - rho[:, None] * Hy
    cross = (s * curved[:, None])[:, :, None] * u[:, None, :]
    H += cross
    H += cross.transpose(0, 2, 1)
