"""How the sample moves through the channel and onto the sensor, by finite elements in space and BDF2 in time.

    c_t + ∇·(u c - D ∇c) = 0             in the channel
    c = c_0(t)                           at the inlet;  no diffusive flux at the outlet, no flux through walls
    -D ∂c/∂n = ρ_s θ_t                   on the sensor, n pointing out
    θ_t = k_on c (1 - θ) - k_off θ

Q2 elements, Galerkin, convection in conservative form: what one element loses another gains. u is the curl of a stream
function in the same space, so ∇·u = 0 holds exactly. θ lives in the nodes on the sensor, and integrals over it are
Simpson's. A BDF2 step is linear except at those few nodes: with A the matrix of the linear part, G = A⁻¹ restricted to
the sensor, and q the flux that binds,

    c = A⁻¹ r - A⁻¹ q(c),    so that on the sensor    c + G q(c) = (A⁻¹ r),

which is solved there by Newton's method; one factorisation and one backward substitution a step are all that is large.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count
from typing import Any

import numpy as np
from scipy.sparse.linalg import splu
from skfem import Basis, BilinearForm, ElementQuad2, FacetBasis, MeshQuad
from skfem.helpers import dot, grad

from cboc.arrays import Array
from cboc.errors import CbocError
from cboc.evidence.biosensor.binding import Binding
from cboc.evidence.biosensor.mesh import transport_lines
from cboc.evidence.biosensor.sensor import MICRO, Channel, Sensor, Setting, layer

STEPS = 8  # steps in a pulse's width
FINEST = 4.0  # largest fineness: a simulation takes half a minute and 2 GB
COARSEST = 0.65  # the largest first cell, as a share of the depleted layer
NEAR = 1e-12  # m: places this close are the same
EXACT = 6  # the degree up to which integrals are exact


@dataclass(frozen=True)
class State:
    """The state at one time: c in the nodes of the mesh, θ in the nodes on the sensor."""

    t: float
    c: Array
    theta: Array


class Mesh:
    """The channel in elements, and all integrals that do not depend on the setting."""

    def __init__(self, channel: Channel, fineness: float) -> None:
        self.channel, self.fineness = channel, fineness
        self.x, self.y = transport_lines(channel, fineness)
        mesh = MeshQuad.init_tensor(self.x, self.y)
        self.basis = Basis(mesh, ElementQuad2(), intorder=EXACT)
        outlet = mesh.facets_satisfying(lambda place: np.abs(place[0] - self.x[-1]) < NEAR)
        self._outlet = FacetBasis(mesh, ElementQuad2(), facets=outlet, intorder=EXACT)
        self.mass = BilinearForm(lambda c, v, _: c * v).assemble(self.basis)
        self.diffusion = BilinearForm(lambda c, v, _: dot(grad(c), grad(v))).assemble(self.basis)
        self.places = self.basis.doflocs  # (2, N)
        is_inlet, is_floor = self._is_at(0, self.x[0]), self._is_at(1, 0.0)
        self.inlet, self.free = np.flatnonzero(is_inlet), np.flatnonzero(~is_inlet)
        floor = np.flatnonzero(is_floor)
        floor = floor[np.argsort(self.places[0, floor])]
        first, last = (int(np.searchsorted(self.places[0, floor], end - NEAR)) for end in (0.0, channel.sensor))
        self.sensor = floor[first : last + 1]  # from its beginning to its end

    def _is_at(self, axis: int, value: float) -> Any:
        return np.abs(self.places[axis] - value) < NEAR

    @property
    def first_cell(self) -> float:
        return float(self.y[1])

    @cached_property
    def weights(self) -> Array:
        """Simpson's weights of the nodes on the sensor; they sum to its length."""
        ends = self.places[0, self.sensor][::2]
        sixth = np.diff(ends) / 6
        weights = np.zeros(len(self.sensor))
        weights[:-1:2] += sixth
        weights[1::2] += 4 * sixth
        weights[2::2] += sixth
        return weights

    def convection(self, stream: Array) -> Any:
        """-∫ u c · ∇v, and the outflow at the outlet, for u = (∂ψ/∂y, -∂ψ/∂x) with ψ given in the nodes."""

        def inside(c: Any, v: Any, w: Any) -> Any:
            return -c * (w.stream.grad[1] * v.grad[0] - w.stream.grad[0] * v.grad[1])

        def leaving(c: Any, v: Any, w: Any) -> Any:
            return c * v * w.stream.grad[1]

        within = BilinearForm(inside).assemble(self.basis, stream=self.basis.interpolate(stream))
        out = BilinearForm(leaving).assemble(self._outlet, stream=self._outlet.interpolate(stream))
        return within + out


@lru_cache(maxsize=8)
def mesh_of(channel: Channel, fineness: float) -> Mesh:
    """The mesh of a channel, cached."""
    return Mesh(channel, fineness)


class Transport:
    """One setting of one sensor, ready to be simulated over time."""

    def __init__(self, sensor: Sensor, setting: Setting, mesh: Mesh, convection: Any, steps: int = STEPS) -> None:
        thickness = layer(sensor, setting.inflow)
        if mesh.first_cell > COARSEST * thickness:
            needed = mesh.fineness * mesh.first_cell / (COARSEST * thickness)
            advice = (
                f"use a fineness of {needed:.2g}" if needed < FINEST else "no mesh here resolves it; slow the flow down"
            )
            raise CbocError(
                f"the mesh is too coarse: its first cell is {mesh.first_cell / MICRO:.2g} µm high, but the depleted "
                f"layer {thickness / MICRO:.2g} µm; {advice}."
            )
        self.sensor, self.setting, self.mesh = sensor, setting, mesh
        self.dt = setting.width / steps
        flux = sensor.chemistry.diffusivity * mesh.diffusion + convection
        self.matrix = (1.5 / self.dt * mesh.mass + flux).tocsr()

    def march(self) -> Iterator[State]:
        """The states after each step, starting from an empty channel; the caller decides when to stop."""
        mesh, dt = self.mesh, self.dt
        inner = self.matrix[mesh.free]
        factors = splu(inner[:, mesh.free].tocsc())
        from_inlet = np.asarray(inner[:, mesh.inlet].sum(axis=1)).ravel()
        mass = mesh.mass[mesh.free].tocsr()
        where = np.searchsorted(mesh.free, mesh.sensor)  # of the sensor's nodes among the free ones
        unit = np.zeros((len(mesh.free), len(where)))
        unit[where, np.arange(len(where))] = mesh.weights
        response = factors.solve(unit)  # A⁻¹ of one unit of flux in each node of the sensor
        strongest = self.sensor.sample.strongest(self.setting.width)
        binding = Binding(self.sensor.chemistry, self.setting.receptors, dt, response[where], strongest)

        before = c = np.zeros(mesh.basis.N)
        theta_before = theta = np.zeros(len(where))
        for step in count(1):
            t = step * dt
            inlet = self.sensor.sample.at(t, self.setting.width)
            unbound = factors.solve(mass @ (2.0 * c - 0.5 * before) / dt - from_inlet * inlet)
            bound, flux = binding(unbound[where], theta, theta_before)
            before, theta_before, theta = c, theta, bound
            c = np.full(mesh.basis.N, inlet)
            c[mesh.free] = unbound - response @ flux
            yield State(t, c, theta)
