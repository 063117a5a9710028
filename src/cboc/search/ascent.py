"""Climb from many starts at once: projected BFGS on a box, one batched evaluation per step for all of them.

Every start has its own dense inverse Hessian H and its own step length a, so each converges as if alone, while the
objective sees one matrix of points. The starts may even climb different landscapes: each has an owner, and only
starts of one owner race each other. Other owners do not change a bit of an owner's climbs.

    free    coordinates not pressed against their bound by the gradient
    p       = H g on the free coordinates, 0 elsewhere              (Bertsekas 1982: a descent direction on the box)
    trial   = clip(x + a p), no coordinate moving by more than LONGEST_STEP units: on a plateau H g can cross the box
    accept  if f(trial) >= f + 1e-4 gᵀ(trial - x), then BFGS update of H with s = trial - x and y = g - g(trial) on the
            free coordinates: what the gradient does at the bounds tells nothing about the face that is walked on
    reject  otherwise, a to the maximum of the parabola through f, its slope and f(trial)

Two things that a landscape may know save half of the steps: the units in which it changes, coordinate by coordinate
(a Gaussian process: its lengthscales), and an estimate of H at every point, which the update then corrects.

`benchmarks/ascent.py` measures it against SciPy's L-BFGS-B on the same starts, jointly and one by one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cboc.arrays import Array, Mask, Owners

Objective = Callable[[Array], tuple[Array, Array]]  # (b, D) -> values (b,), gradients (b, D)
Landscapes = Callable[[Array, Owners], tuple[Array, ...]]  # given the owner (b,) of each row; perhaps H (b, D, D), too

FIRST_STEP = 0.1  # length of the longest component, in units of the landscape
LONGEST_STEP = 0.3  # in the same units
SUFFICIENT = 1e-4  # Armijo's constant


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
    """Climb one landscape from the starts (B, D): the points (B, D) reached, and their values (B,)."""
    return ascend_all(
        lambda X, _: objective(X),
        starts,
        lower,
        upper,
        owners=np.zeros(len(starts), dtype=int),
        tolerance=tolerance,
        race=race,
        steps=steps,
    )


@np.errstate(invalid="ignore", divide="ignore")
def ascend_all(
    landscapes: Landscapes,
    starts: Array,
    lower: Array,
    upper: Array,
    *,
    owners: Owners,
    tolerance: float | Array = 1e-3,
    race: float = np.inf,
    steps: int = 60,
    units: float | Array = 1.0,
) -> tuple[Array, Array]:
    """Climb from the starts (B, D), each on its owner's landscape: the points (B, D) reached, and their values (B,).

    `owners` (B,) count from 0; `lower`, `upper` and `units` are (D,) or (B, D), `tolerance` a number or (B,). A start
    stops when its next step promises less than `tolerance`, or when `race` times that promise would not take it to the
    best value of its owner so far.
    """
    points = np.clip(starts, lower, upper)
    values, g, known = _look(landscapes, points, owners)
    low, high, unit = (np.broadcast_to(part, points.shape) for part in (lower, upper, units))
    least = np.broadcast_to(tolerance, values.shape)
    best = np.full(owners.max(initial=-1) + 1, -np.inf)  # of each owner
    np.fmax.at(best, owners, values)
    live, x, f = np.arange(len(points)), points.copy(), values.copy()
    H = _first_metric(g, unit) if known is None else known
    a, is_fresh = np.ones(len(x)), np.full(len(x), known is None)
    for _ in range(steps):
        free = np.where(g > 0.0, x < high, x > low)
        uphill = g * free
        p = np.matmul(H, uphill[:, :, None])[:, :, 0] * free
        promise = (uphill * p).sum(axis=1)
        moving = promise * a > least  # False where anything is NaN
        moving &= is_fresh | (f + race * promise >= best[owners])
        if not moving.all():
            points[live], values[live] = x, f
            live, owners, low, high, unit, least = (part[moving] for part in (live, owners, low, high, unit, least))
            x, f, g, H, a, p, is_fresh, free = (part[moving] for part in (x, f, g, H, a, p, is_fresh, free))
            if len(live) == 0:
                break
        a = np.minimum(a, LONGEST_STEP / np.abs(p / unit).max(axis=1))
        trial = np.minimum(np.maximum(x + a[:, None] * p, low), high)
        f_trial, g_trial, known = _look(landscapes, trial, owners)
        s = trial - x
        promised = (g * s).sum(axis=1)
        accepted = f_trial >= f + SUFFICIENT * promised
        if known is not None:
            H = np.where(accepted[:, None, None], known, H)
        _update_metric(H, s, (g - g_trial) * free, unit, accepted, is_fresh)
        np.fmax.at(best, owners, f_trial)
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


def _look(landscapes: Landscapes, points: Array, owners: Owners) -> tuple[Array, Array, Array | None]:
    """Values and gradients as copies that may be changed, and H if it is known; an infinite gradient becomes 0."""
    values, gradients, *metrics = landscapes(points, owners)
    return np.array(values), np.where(np.isfinite(gradients), gradients, 0.0), metrics[0] if metrics else None


def _first_metric(g: Array, unit: Array) -> Array:
    """A multiple of diag(unit²) whose first step is FIRST_STEP units long."""
    longest = np.maximum(np.abs(g * unit).max(axis=1), 1e-300)
    metric: Array = (FIRST_STEP / longest)[:, None, None] * (unit[:, :, None] ** 2 * np.eye(g.shape[1]))
    return metric


def _update_metric(H: Array, s: Array, y: Array, unit: Array, accepted: Mask, is_fresh: Mask) -> None:
    """BFGS:  H <- (I - ρ s yᵀ) H (I - ρ y sᵀ) + ρ s sᵀ,  ρ = 1/sᵀy; on convex ground (sᵀy <= 0) steps double."""
    sy = (s * y).sum(axis=1)
    curved = accepted & (sy > 1e-10 * (y * y).sum(axis=1))
    if (first := curved & is_fresh).any():
        squared = unit[first] ** 2
        scale = sy[first] / (y[first] ** 2 * squared).sum(axis=1)
        H[first] = scale[:, None, None] * (squared[:, :, None] * np.eye(s.shape[1]))
    Hy = np.matmul(H, y[:, :, None])[:, :, 0]
    # ρ(1 + ρ yᵀHy) ssᵀ - ρ(s (Hy)ᵀ + (Hy) sᵀ), as s uᵀ + u sᵀ
    u = ((0.5 + 0.5 * (y * Hy).sum(axis=1) / sy)[:, None] * s - Hy) / sy[:, None]
    cross = s[:, :, None] * u[:, None, :]
    if not curved.all():
        H[accepted & ~curved] *= 2.0
        cross[~curved] = 0.0
    H += cross
    H += cross.transpose(0, 2, 1)
