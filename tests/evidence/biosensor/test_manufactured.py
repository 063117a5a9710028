"""A solution is made up, and what would have to be put in for it: elements of degree two find it with order three.

With x and y in units of the channel's height, c = 1 + Y(y) B(x), Y = y (1 - y)², and B = sin⁴ πx above the sensor, zero
elsewhere. Nothing passes the walls but D ∂c/∂y = D B through the sensor; c = 1 at the inlet; ∂c/∂x = 0 at the outlet.
The matrix is that of one time step: 1.5/dt c + ∇·(u c - D ∇c) = s.
"""

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve
from skfem import Basis, ElementQuad2, LinearForm

from cboc.evidence.biosensor.response import Numerics, transport
from cboc.evidence.biosensor.sensor import MICRO, Channel, Sensor, Setting

H = 40 * MICRO
SENSOR = Sensor(channel=Channel(height=H, sensor=H, before=H, after=H))
SETTING = Setting(inflow=2e-6, receptors=1e-8, width=400.0)


def along(x):
    """B, B', B''."""
    s, c = (np.where((x > 0) & (x < 1), value, 0.0) for value in (np.sin(np.pi * x), np.cos(np.pi * x)))
    return s**4, 4 * np.pi * s**3 * c, 4 * np.pi**2 * (3 * s**2 * c**2 - s**4)


def across(y):
    """Y, Y', Y''."""
    return y * (1 - y) ** 2, (1 - y) * (1 - 3 * y), 6 * y - 4


def exact(place):
    x, y = place / H
    return 1.0 + across(y)[0] * along(x)[0]


def source(place, dt):
    (x, y), D = place / H, SENSOR.chemistry.diffusivity
    (B, Bx, Bxx), (Y, _, Yyy) = along(x), across(y)
    u = 6 * SETTING.inflow * y * (1 - y)
    return 1.5 / dt * (1.0 + Y * B) + u * Y * Bx / H - D * (Y * Bxx + Yyy * B) / H**2


def error(fineness):
    """‖c - exact‖ in L2, against the exact one's."""
    model = transport(SETTING, SENSOR, Numerics(fineness=fineness))
    mesh = model.mesh
    right = LinearForm(lambda v, w: source(w.x, model.dt) * v).assemble(mesh.basis)
    x = mesh.places[0, mesh.sensor] / H
    right[mesh.sensor] -= mesh.weights * SENSOR.chemistry.diffusivity * along(x)[0] / H
    c = np.ones(mesh.basis.N)
    inner = model.matrix[mesh.free]
    known = inner[:, mesh.inlet] @ c[mesh.inlet]
    c[mesh.free] = spsolve(inner[:, mesh.free].tocsc(), right[mesh.free] - known)
    fine = Basis(mesh.basis.mesh, ElementQuad2(), intorder=10)
    off = fine.interpolate(c) - exact(fine.global_coordinates())
    return float(np.sqrt((off**2 * fine.dx).sum() / fine.dx.sum()))


def test_the_error_falls_with_the_third_power_of_the_cells():
    errors = np.array([error(fineness) for fineness in (1.0, 2.0, 4.0)])
    assert errors[-1] < 2e-5
    orders = np.log2(errors[:-1] / errors[1:])
    assert orders.min() > 2.7
    assert orders[-1] == pytest.approx(3.0, abs=0.15)
