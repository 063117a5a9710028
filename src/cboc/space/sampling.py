"""Uniform samples of a polytope P: by rejection if that keeps enough points, else by hit-and-run.

Rejection draws the coordinates that the equalities leave free, solves the equalities for the others, and keeps the
points in P. The map from free coordinates to points is affine, so these are uniform on P, grids included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cboc.arrays import Array, Mask
from cboc.space.parameters import TOLERANCE
from cboc.space.polytope import Polytope, linear_program, orthonormal

FAIR_SHARE = 1 / 300  # if rejection keeps less than this, hit-and-run is cheaper
FLAT = 1e-7  # linear programs cannot tell a thinner set from one of lower dimension


@dataclass(frozen=True, eq=False)
class Sampler:
    """Draws uniform samples of a polytope that is not empty."""

    polytope: Polytope

    def sample(self, n: int, rng: np.random.Generator, cube: Callable[[int, int], Array]) -> Array:  # (n, d)
        """n points of P; cube(n, f) gives the (n, f) numbers in [0, 1) that rejection starts from."""
        kept, drawn, size = np.empty((0, self.polytope.dimension)), 0, max(1024, n)
        while len(kept) < n:
            if drawn >= 2048 and len(kept) < FAIR_SHARE * drawn:
                return np.vstack([kept, self._settled(self._hit_and_run(n - len(kept), rng))])
            points, is_inside = self._completed(self._spread(cube(size, len(self._free))))
            kept, drawn, size = np.vstack([kept, points[is_inside]]), drawn + size, min(2 * size, max(16384, n))
        return kept[:n]

    def _spread(self, u: Array) -> Array:  # (n, f) -> (n, d)
        """Points with uniform free coordinates within their ranges; the others are not yet known."""
        X = np.zeros((len(u), self.polytope.dimension))
        for i, (j, (low, high)) in enumerate(self._free.items()):
            grid = self.polytope.grid[j]
            if grid is None:
                X[:, j] = low + u[:, i] * (high - low)
            else:
                levels = grid[(grid >= low - FLAT) & (grid <= high + FLAT)]
                X[:, j] = levels[(u[:, i] * len(levels)).astype(int)]
        return X

    def _completed(self, X: Array) -> tuple[Array, Mask]:  # (n, d) -> (n, d), (n,)
        """The points with these free coordinates, the others solved from Q x = q; and whether they are in P."""
        (Q, q), free, solved = self._hull, list(self._free), self._solved
        X[:, solved] = np.linalg.solve(Q[:, solved], (q - X[:, free] @ Q[:, free].T).T).T
        snapped = self.polytope.snapped(X)
        return snapped, (abs(snapped - X) <= TOLERANCE).all(axis=1) & self.polytope.satisfies(snapped)

    def _settled(self, X: Array) -> Array:  # (n, d)
        """Move points of the relaxation into P: free coordinates to their levels; if that fails, the nearest point."""
        points, is_inside = self._completed(self.polytope.snapped(X))
        for i in np.flatnonzero(~is_inside):
            points[i] = self.polytope.nearest(X[i])
        return points

    def _hit_and_run(self, n: int, rng: np.random.Generator) -> Array:  # (n, d)
        """One point each from n chains: z <- uniform on the chord of the relaxation through z in a random direction."""
        (G, h), (centre, axes) = self.polytope.faces, self._round_frame
        is_face = _steepness(G, self._hull[0]) > 0
        rows, slack = G[is_face] @ axes.T, (h - G @ centre)[is_face]
        Z = np.zeros((n, len(axes)))
        for _ in range(20 + 2 * len(axes) ** 2):  # measured: the extremes of a simplex are right from here on
            directions = rng.standard_normal(Z.shape)
            speed, room = directions @ rows.T, (slack - Z @ rows.T).clip(min=0.0)
            time = room / abs(speed).clip(min=1e-300)
            ahead = np.where(speed > 0, time, np.inf).min(axis=1)
            behind = np.where(speed < 0, time, np.inf).min(axis=1)
            Z += rng.uniform(-behind, ahead)[:, None] * directions
        points: Array = centre + Z @ axes
        return points

    @cached_property
    def _round_frame(self) -> tuple[Array, Array]:  # (d,), (f, d)
        """Centre and axes, x = centre + z·axes, in which the relaxation is round: neither long nor narrow.

        The centre maximises Σ log slack (by Newton's method); the axes are those of the ellipsoid Σ (g·Δx / slack)² = 1
        around it, which lies in the relaxation and, blown up by the number of faces, holds it.
        """
        (G, h), (Q, q) = self.polytope.faces, self._hull
        basis = np.linalg.svd(Q)[2][len(Q) :]  # (f, d), of the null space of Q
        centre, _ = self._largest_ball(Q, q)
        is_face = _steepness(G, Q) > 0
        for _ in range(100):
            scaled = G[is_face] @ basis.T / (h - G @ centre)[is_face, None]
            hessian = scaled.T @ scaled
            step = -np.linalg.solve(hessian, scaled.sum(axis=0))
            decrement = float(np.sqrt(step @ hessian @ step))
            centre = centre + step @ basis / (1 + decrement)
            if decrement < 1e-6:
                break
        return centre, np.linalg.cholesky(np.linalg.inv(hessian)).T @ basis

    @cached_property
    def _hull(self) -> tuple[Array, Array]:
        """Q and q of the smallest flat that holds the relaxation: its equalities, and inequalities without slack."""
        P = self.polytope
        G, h = P.faces
        if self._largest_ball(*P.flat)[1] > FLAT:
            return P.flat
        is_tight = np.array([bound - row @ self._lowest(row) <= FLAT for row, bound in zip(G, h, strict=True)])
        return orthonormal(np.vstack([P.E, G[is_tight]]), np.concatenate([P.e, h[is_tight]]))

    def _largest_ball(self, Q: Array, q: Array) -> tuple[Array, float]:
        """Centre and radius of the largest ball in the relaxation, as far as it lies in the flat Q x = q."""
        G, h = self.polytope.faces
        widened = np.column_stack([G, _steepness(G, Q)])  # g·x + ‖g‖ radius <= h
        largest = np.append(np.zeros(self.polytope.dimension), -1.0)
        solution = linear_program(largest, widened, h, np.column_stack([Q, np.zeros(len(Q))]), q, bounds=(None, None))
        return (self.polytope.anchor, 0.0) if solution is None else (solution[:-1], float(solution[-1]))

    def _lowest(self, direction: Array) -> Array:  # (d,)
        """argmin direction·x over the relaxation."""
        P = self.polytope
        solution = linear_program(direction, P.A, P.b, *P.flat, bounds=(0, 1))
        return P.anchor if solution is None else solution

    @cached_property
    def _solved(self) -> list[int]:
        """The coordinates that Q x = q is solved for: continuous ones while possible, by Gram-Schmidt with pivoting."""
        rest = self._hull[0].copy()
        solved: list[int] = []
        is_grid = np.array([grid is not None for grid in self.polytope.grid])
        while len(solved) < len(rest):
            norms = np.linalg.norm(rest, axis=0)
            candidates = np.where(is_grid & (norms[~is_grid] > 1e-9).any(), 0.0, norms)
            j = int(np.argmax(candidates))
            unit = rest[:, j] / norms[j]
            rest -= np.outer(unit, unit @ rest)
            solved.append(j)
        return solved

    @cached_property
    def _free(self) -> dict[int, tuple[float, float]]:
        """The other coordinates, with their ranges in the relaxation."""
        axes = np.eye(self.polytope.dimension)
        free = sorted(set(range(self.polytope.dimension)) - set(self._solved))
        return {j: (self._lowest(axes[j])[j], self._lowest(-axes[j])[j]) for j in free}


def _steepness(G: Array, Q: Array) -> Array:  # (m,)
    """Norm of every row within the flat Q x = q; 0 for a row that is constant on the flat."""
    norms = np.linalg.norm(G - G @ Q.T @ Q, axis=1)
    return np.where(norms > FLAT, norms, 0.0)
