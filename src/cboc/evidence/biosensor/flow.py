"""The flow in the channel as a stream function ψ, u = (∂ψ/∂y, -∂ψ/∂x): steady, since it starts in a tenth of a second.

It is either Poiseuille's flow, whose profile the inflow takes within a fraction of the way to the sensor, or the
solution of the Navier-Stokes equations with a plug of speed u_in at the inlet, no slip at the walls and no pressure at
the outlet.
Lengths are in units of the height, speeds in units of the inflow, ψ in units of their product.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import bmat, csr_matrix
from scipy.sparse.linalg import splu
from skfem import Basis, BilinearForm, ElementQuad1, ElementQuad2, ElementVector, MeshQuad

from cboc.arrays import Array
from cboc.errors import CbocError
from cboc.evidence.biosensor.mesh import flow_lines
from cboc.evidence.biosensor.sensor import Channel

MOST = 20  # most Newton steps; four are usual
CLOSE = 1e-8  # tolerance, as a share of the inflow


class Flow(StrEnum):
    """The flow in the channel: Poiseuille's, or a solution of the Navier-Stokes equations."""

    POISEUILLE = "poiseuille"
    NAVIER_STOKES = "navier-stokes"

    def stream(self, channel: Channel, reynolds: float, places: Array) -> Array:
        """ψ at places (2, n) in metres."""
        if self == Flow.POISEUILLE:
            return poiseuille(places[1] / channel.height)
        return laminar(channel, reynolds).stream(places / channel.height)


def poiseuille(y: Array) -> Array:
    """Poiseuille's flow: u_x = 6 y (1 - y), so ψ = 3 y² - 2 y³."""
    return y**2 * (3.0 - 2.0 * y)


class Laminar:
    """Laminar flow, (u·∇)u + ∇p = ∇²u / Re,  ∇·u = 0, by Taylor-Hood elements and Newton's method."""

    def __init__(self, channel: Channel, reynolds: float) -> None:
        self.x, self.y = (values / channel.height for values in flow_lines(channel))
        mesh = MeshQuad.init_tensor(self.x, self.y)
        basis = Basis(mesh, ElementVector(ElementQuad2()), intorder=5)
        u = _newton(basis, reynolds, self._boundary(basis))
        along, _ = basis.split_indices()  # the unknowns of u_x
        x, y = basis.doflocs[:, along]
        self.along = np.empty((2 * len(self.x) - 1, 2 * len(self.y) - 1))  # u_x, in columns from floor to ceiling
        self.along[_number(self.x, x), _number(self.y, y)] = u[along]

    def _boundary(self, basis: Any) -> tuple[Any, Array]:
        """The unknowns with given values, and the first guess, which has these values: a plug, at rest at the walls."""
        x, y = basis.doflocs
        is_wall, is_inlet = (y == self.y[0]) | (y == self.y[-1]), x == self.x[0]
        guess = np.zeros(basis.N)
        along, _ = basis.split_indices()
        guess[along] = np.where(is_wall[along], 0.0, 1.0)
        return np.flatnonzero(is_wall | is_inlet), guess

    def stream(self, places: Array) -> Array:
        """ψ(x, y) = ∫₀ʸ u_x dy', exactly for these elements, at places (2, n).

        ψ is scaled to the same flow through every cross-section: some is lost in the corners of the inlet, where u_in
        meets no slip.
        """
        columns = _quadratic(self.x, places[0]) @ self.along
        below = (columns * _integral(self.y, places[1])).sum(axis=1)
        through = (columns * _integral(self.y, self.y[-1:])).sum(axis=1)
        return below / through


@lru_cache(maxsize=64)
def laminar(channel: Channel, reynolds: float) -> Laminar:
    """Solve for the laminar flow in a channel at a Reynolds number."""
    return Laminar(channel, reynolds)


def _newton(basis: Any, reynolds: float, boundary: tuple[Any, Array]) -> Array:
    given, u = boundary
    pressure = basis.with_element(ElementQuad1())
    viscous = BilinearForm(lambda u, v, _: _inner(u.grad, v.grad) / reynolds).assemble(basis)
    continuity = BilinearForm(lambda u, q, _: -(u.grad[0, 0] + u.grad[1, 1]) * q).assemble(basis, pressure)
    carried = BilinearForm(lambda u, v, w: _along(w.u, u.grad, v))  # (w·∇)u
    carrying = BilinearForm(lambda u, v, w: _along(u, w.u.grad, v))  # (u·∇)w
    free = np.setdiff1d(np.arange(basis.N + pressure.N), given)
    state = np.concatenate([u, np.zeros(pressure.N)])
    for _ in range(MOST):
        now = basis.interpolate(state[: basis.N])
        left = viscous + carried.assemble(basis, u=now)
        residual = _saddle(left, continuity) @ state
        jacobian = _saddle(left + carrying.assemble(basis, u=now), continuity)
        step = splu(jacobian[free][:, free].tocsc()).solve(residual[free])
        state[free] -= step
        if np.abs(step[: len(free) - pressure.N]).max() <= CLOSE:
            return state[: basis.N]
    raise CbocError(
        f"the flow did not converge in {MOST} Newton steps at a Reynolds number of {reynolds:.3g}; "
        "it is laminar and steady only at much lower ones."
    )


def _saddle(momentum: Any, continuity: Any) -> Any:
    return bmat([[momentum, continuity.T], [continuity, None]], format="csr")


def _inner(a: Array, b: Array) -> Array:
    """Σ a_ij b_ij."""
    return np.einsum("ij...,ij...", a, b)


def _along(u: Array, gradient: Array, v: Array) -> Array:
    """Σ u_j ∂_j w_i v_i."""
    return np.einsum("j...,ij...,i...", u, gradient, v)


def _quadratic(lines: Array, x: Array) -> Any:
    """(n, 2 cells + 1): interpolates at x what is given at the lines and half-way between them."""
    cell, s = _cell(lines, x)
    shapes = np.array([(1 - s) * (1 - 2 * s), 4 * s * (1 - s), s * (2 * s - 1)])
    rows = np.repeat(np.arange(len(x))[None], 3, axis=0)
    columns = 2 * cell + np.arange(3)[:, None]
    return csr_matrix((shapes.ravel(), (rows.ravel(), columns.ravel())), shape=(len(x), 2 * len(lines) - 1))


def _integral(lines: Array, x: Array) -> Array:
    """(n, 2 cells + 1): integrates from the first line to x what is given at the lines and half-way between them."""
    cell, s = _cell(lines, x)
    size = np.diff(lines)
    whole = np.zeros((len(lines), 2 * len(lines) - 1))
    for k, h in enumerate(size):  # Simpson's rule, cell by cell
        whole[k + 1] = whole[k]
        whole[k + 1, 2 * k : 2 * k + 3] += h / 6 * np.array([1.0, 4.0, 1.0])
    part = size[cell] * np.array([s - 1.5 * s**2 + 2 / 3 * s**3, 2 * s**2 - 4 / 3 * s**3, -0.5 * s**2 + 2 / 3 * s**3])
    weights = whole[cell]
    for j in range(3):
        weights[np.arange(len(x)), 2 * cell + j] += part[j]
    return weights


def _number(lines: Array, x: Array) -> Any:
    """Numbers of places: 0, 2, 4, ... on the lines, and the odd numbers half-way between them."""
    return np.rint(2 * np.interp(x, lines, np.arange(len(lines)))).astype(int)


def _cell(lines: Array, x: Array) -> tuple[Any, Array]:
    """The cell of each place, and how far into it the place lies, from 0 to 1."""
    cell = np.clip(np.searchsorted(lines, x, side="right") - 1, 0, len(lines) - 2)
    return cell, (x - lines[cell]) / np.diff(lines)[cell]
