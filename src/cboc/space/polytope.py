"""The part P of the unit cube that satisfies linear constraints, and the point of P nearest to any x.

    P = {x in [0, 1]^d : A x <= b, E x = e, x_j on its grid}

The rows of A and E have unit norm, so every residual is a distance in the unit cube. The relaxation of P ignores the
grids. G x <= h gathers A x <= b, x <= 1 and -x <= 0; Q x = q is E x = e with orthonormal rows.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np

from cboc.arrays import Array, Mask
from cboc.errors import CbocError
from cboc.space.parameters import TOLERANCE, nearest_level

MOST_NODES = 500  # nodes of branch and bound; after that the best point so far, or the nearest in L1, is good enough
LONGEST = 60.0  # seconds for a linear program: with whole numbers some take years, and cannot be interrupted
STOPPED = 1  # the status of a linear program that has reached a limit


class Undecided(CbocError):
    """A linear program took too long."""


@dataclass(frozen=True, eq=False)
class Polytope:
    """The set P = {x in [0, 1]^d : A x <= b, E x = e, x_j on its grid}; grids begin at 0 and are evenly spaced."""

    A: Array  # (m, d)
    b: Array  # (m,)
    E: Array  # (k, d)
    e: Array  # (k,)
    grid: tuple[Array | None, ...]  # d of them

    @property
    def dimension(self) -> int:
        """d, the number of coordinates."""
        return len(self.grid)

    def satisfies(self, X: Array, tolerance: float = TOLERANCE) -> Mask:  # (..., d) -> (...)
        """Do the linear constraints hold?"""
        excess = np.concatenate([X @ self.A.T - self.b, abs(X @ self.E.T - self.e)], axis=-1)
        holds: Mask = np.all(excess <= tolerance, axis=-1)
        return holds

    def snapped(self, X: Array) -> Array:  # (..., d)
        """The nearest point of the cube and the grids, ignoring the linear constraints."""
        snapped = X.clip(0.0, 1.0)
        for j, grid in self.grids:
            snapped[..., j] = grid[nearest_level(grid, snapped[..., j])]
        return snapped

    @cached_property
    def anchor(self) -> Array:  # (d,)
        """Some point of P."""
        point = self._nearest_in_l1(np.full(self.dimension, 0.5))
        if point is None:
            raise CbocError("the constraints leave no point of the unit cube.")
        return point

    def nearest(self, x: Array) -> Array:  # (d,)
        """argmin ‖y - x‖ over P, by branch and bound: solve the relaxation, split it where it misses the grid."""
        snapped = self.snapped(x)
        if self.satisfies(snapped):
            return snapped
        scale = max(1.0, float(abs(x).max()))  # keeps the distance to a far-away x from overflowing
        best, best_distance, order = None, np.inf, count()
        nodes = [(0.0, next(order), np.zeros_like(x), self.top)]
        for _ in range(MOST_NODES):
            if not nodes or nodes[0][0] >= best_distance:
                break
            _, _, low, high = heapq.heappop(nodes)
            relaxed = self._nearest_relaxed(x, low, high)
            if relaxed is None:
                continue
            rounded = self._rounded(x, relaxed)
            if rounded is not None and (distance := _norm((rounded - x) / scale)) < best_distance:
                best, best_distance = rounded, distance
            j, below, above = self._widest_gap(relaxed)
            if below < above:
                bound = _norm((relaxed - x) / scale)
                heapq.heappush(nodes, (bound, next(order), low, _replaced(high, j, below)))
                heapq.heappush(nodes, (bound, next(order), _replaced(low, j, above), high))
        if best is None:
            best = self._nearest_in_l1(x)
        return self.anchor if best is None else best

    def _nearest_relaxed(self, x: Array, low: Array, high: Array) -> Array | None:
        """argmin ‖y - x‖ over the points low <= y <= high of the relaxation; None if there are none."""
        G, h = self.faces[0], np.concatenate([self.b, high, -low])
        y = nearest_point(x, G, h, *self.flat)
        if y is not None and not self.satisfies(y.clip(low, high), TOLERANCE / 10):
            y = nearest_point(y, G, h, *self.flat)  # removes the rounding error of a far-away x
        return None if y is None else y.clip(low, high)

    def _rounded(self, x: Array, relaxed: Array) -> Array | None:
        """The relaxed point on its nearest levels, with the best other coordinates for these; None if outside P."""
        y: Array | None
        y = levels = self.snapped(relaxed)
        if 0 < len(self.grids) < self.dimension:
            is_free = np.array([grid is None for grid in self.grid])
            y = self._nearest_relaxed(x, np.where(is_free, 0.0, levels), np.where(is_free, 1.0, levels))
        return y if y is not None and self.satisfies(y) else None

    def _widest_gap(self, y: Array) -> tuple[int, float, float]:
        """The coordinate furthest from its grid, with the levels around it; equal levels if all are on their grids."""
        widest, result = TOLERANCE, (0, 0.0, 0.0)
        for j, grid in self.grids:
            k = int(np.searchsorted(grid, y[j]).clip(1, len(grid) - 1))
            gap = min(y[j] - grid[k - 1], grid[k] - y[j])
            if gap > widest:
                widest, result = gap, (j, float(grid[k - 1]), float(grid[k]))
        return result

    def _nearest_in_l1(self, x: Array) -> Array | None:  # (d,)
        """argmin Σ t over (y, t) with y in P and |y - x| <= t, a mixed-integer linear program; None if P is empty."""
        d = self.dimension
        spacing = np.array([1.0 if grid is None else grid[1] for grid in self.grid])
        highest = [1 if grid is None else len(grid) - 1 for grid in self.grid]
        scale, one = np.diag(spacing), np.eye(d)
        solution = linear_program(
            np.repeat([0.0, 1.0], d),
            np.block([[self.A @ scale, np.zeros_like(self.A)], [scale, -one], [-scale, -one]]),
            np.concatenate([self.b, x, -x]),
            np.hstack([self.E @ scale, np.zeros_like(self.E)]),
            self.e,
            bounds=[*((0, k) for k in highest), *[(0, None)] * d],
            integrality=[*(int(grid is not None) for grid in self.grid), *[0] * d],
        )
        return None if solution is None else self._rounded(x, solution[:d] * spacing)

    @cached_property
    def top(self) -> Array:  # (d,)
        """The largest value of every coordinate: a grid may end below 1."""
        return np.array([1.0 if grid is None else grid[-1] for grid in self.grid])

    @cached_property
    def grids(self) -> tuple[tuple[int, Array], ...]:
        """The coordinates that have a grid, with their grids."""
        return tuple((j, grid) for j, grid in enumerate(self.grid) if grid is not None)

    @cached_property
    def faces(self) -> tuple[Array, Array]:  # (m + 2d, d), (m + 2d,)
        """G and h of the relaxation."""
        d = self.dimension
        return np.vstack([self.A, np.eye(d), -np.eye(d)]), np.concatenate([self.b, np.ones(d), np.zeros(d)])

    @cached_property
    def flat(self) -> tuple[Array, Array]:  # (r, d), (r,)
        """Q and q of the relaxation."""
        return orthonormal(self.E, self.e)


def nearest_point(x: Array, G: Array, h: Array, Q: Array, q: Array) -> Array | None:
    """argmin ½‖y - x‖² subject to G y <= h and Q y = q, or None if no y satisfies these.

    The dual active-set method of Goldfarb and Idnani (1983). At all times y = x - Gᵃᵀu - Qᵀv is the nearest point to x
    for the active rows Gᵃ, with u >= 0. The most violated row g becomes active by a move along -z, the part of g that
    these do not span: g = Gᵃᵀr + Qᵀs + z. On the way u falls with slope r, and a row whose u reaches 0 is let go.
    """
    y = x - Q.T @ (Q @ x - q)
    active: list[int] = []
    u = np.empty(0)
    rounding = 1e-12 * max(1.0, float(abs(x).max(initial=0.0)))
    for _ in range(20 * len(h)):
        violation = G @ y - h
        violation[active] = 0.0
        worst = int(np.argmax(violation))
        if violation[worst] <= rounding:
            return y
        g, u_worst = G[worst], 0.0
        while True:
            rows = np.vstack([G[active], Q])
            r, *_ = np.linalg.lstsq(rows.T, g, rcond=None)
            z = g - rows.T @ r
            r = r[: len(active)]
            full = (g @ y - h[worst]) / (z @ z) if z @ z > 1e-18 else np.inf
            until_zero = np.append(np.divide(u, r, where=r > 1e-12, out=np.full(len(u), np.inf)), np.inf)
            first = int(np.argmin(until_zero))
            length = min(full, until_zero[first])
            if length == np.inf:
                return None
            u, u_worst = u - length * r, u_worst + length
            if full < np.inf:
                y = y - length * z
            if length == full:
                active, u = [*active, worst], np.append(u, u_worst)
                break
            active, u = active[:first] + active[first + 1 :], np.delete(u, first)
    return None


def orthonormal(E: Array, e: Array) -> tuple[Array, Array]:
    """Orthonormal rows Q and q with the same solutions, Q x = q, as E x = e."""
    U, s, Vt = np.linalg.svd(E, full_matrices=False)
    rank = int((s > 1e-10).sum())
    return Vt[:rank], (U.T @ e)[:rank] / s[:rank]


def linear_program(c: Array, A: Array, b: Array, E: Array, e: Array, **options: Any) -> Array | None:
    """argmin c·x subject to A x <= b and E x = e, None if there is no such x; raises `Undecided` after a while."""
    from scipy.optimize import linprog  # here, because a space without constraints never needs it

    result = linprog(c, A, b, E, e, options={"time_limit": LONGEST}, **options)
    if result.status == STOPPED:
        raise Undecided(
            f"whether the constraints leave any design was not found out in {LONGEST:g} seconds; use fewer of them, or "
            "numbers without steps."
        )
    return np.asarray(result.x) if result.success else None


def _norm(x: Array) -> float:
    return float(np.linalg.norm(x))


def _replaced(x: Array, j: int, value: float) -> Array:
    changed = x.copy()
    changed[j] = value
    return changed
