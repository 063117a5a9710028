"""The velocity that the transport step really uses. A slip at the wall would survive every refinement of the rest."""

import numpy as np
import pytest

from cboc import CbocError
from cboc.evidence.biosensor.advection import mesh_of
from cboc.evidence.biosensor.flow import Flow, laminar, poiseuille
from cboc.evidence.biosensor.sensor import MILLI, Channel, Sensor

from .designs import DESIGNS

CHANNEL = Channel()
NU = Sensor().chemistry.viscosity


def reynolds(setting):
    return setting.inflow * CHANNEL.height / NU


def speeds(flow, setting, fineness, heights):
    """u_x / u_in at the middle of the sensor."""
    mesh = mesh_of(CHANNEL, fineness)
    stream = flow.stream(CHANNEL, reynolds(setting), mesh.places) * CHANNEL.height
    cells, where = mesh.basis.mesh.element_finder(), np.array([np.full_like(heights, 0.5 * MILLI), heights])
    cell = cells(*where)
    local = mesh.basis.mapping.invF(where[:, :, None], tind=cell)
    slope = np.zeros(len(heights))
    for k in range(mesh.basis.Nbfun):
        shape = mesh.basis.elem.gbasis(mesh.basis.mapping, local, k, tind=cell)[0]
        slope += stream[mesh.basis.element_dofs[k, cell]] * shape.grad[1, :, 0]
    return slope


@pytest.mark.parametrize("flow", Flow)
@pytest.mark.parametrize("name", DESIGNS)
def test_there_is_no_slip_and_the_shear_is_poiseuilles(name, flow):
    first = mesh_of(CHANNEL, 1.0).first_cell
    slip, top = speeds(flow, DESIGNS[name], 1.0, first * np.array([1e-9, 1 - 1e-9]))
    assert abs(slip) <= 1e-5
    shear = (top - slip) / first * CHANNEL.height
    assert shear == pytest.approx(6 * (1 - first / CHANNEL.height), rel=1e-3)


@pytest.mark.parametrize("name", DESIGNS)
def test_navier_and_stokes_come_to_poiseuille_before_the_sensor(name):
    y = np.linspace(0.0, 1.0, 41)
    places = np.array([np.zeros_like(y), y])
    assert laminar(CHANNEL, reynolds(DESIGNS[name])).stream(places) == pytest.approx(poiseuille(y), abs=2e-4)


def test_the_inlet_is_a_plug():
    y = np.linspace(0.1, 0.9, 9)
    inlet = np.array([np.full_like(y, -CHANNEL.before / CHANNEL.height), y])
    assert laminar(CHANNEL, reynolds(DESIGNS["mid"])).stream(inlet) == pytest.approx(y, abs=5e-3)


def test_as_much_flows_through_every_section():
    x = np.linspace(-3.0, 3.0, 50)
    flow = laminar(CHANNEL, reynolds(DESIGNS["hi"]))
    assert flow.stream(np.array([x, np.zeros_like(x)])) == pytest.approx(0.0, abs=1e-14)
    assert flow.stream(np.array([x, np.ones_like(x)])) == pytest.approx(1.0, abs=1e-14)


def test_a_flow_that_does_not_converge_says_so(monkeypatch):
    monkeypatch.setattr("cboc.evidence.biosensor.flow.MOST", 1)
    with pytest.raises(CbocError, match="the flow did not converge in 1 Newton steps at a Reynolds number of 7"):
        laminar(CHANNEL, 7.0)
