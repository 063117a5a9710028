"""Lines where they have to be, as fine as asked."""

import numpy as np
import pytest

from cboc.evidence.biosensor.advection import mesh_of
from cboc.evidence.biosensor.mesh import Grading, lines, transport_lines
from cboc.evidence.biosensor.sensor import MICRO, Channel


def test_cells_have_the_size_of_the_grading():
    x = lines(0.0, 1.0, [Grading(0.0, 0.01, 0.2)], largest=0.1)
    middles, sizes = 0.5 * (x[1:] + x[:-1]), np.diff(x)
    assert sizes == pytest.approx(np.minimum(0.01 + 0.2 * middles, 0.1), rel=0.1)


def test_places_of_gradings_are_lines_and_ends_are_exact():
    x = lines(-1.0, 2.0, [Grading(0.0, 0.01, 0.2), Grading(1.0, 0.01, 0.2)], largest=0.3)
    assert {-1.0, 0.0, 1.0, 2.0} <= set(x)
    assert (np.diff(x) > 0).all()


@pytest.mark.parametrize("fineness", [0.5, 2.0])
def test_fineness_divides_every_cell(fineness):
    for base, fine in zip(transport_lines(Channel(), 1.0), transport_lines(Channel(), fineness), strict=True):
        assert len(fine) - 1 == pytest.approx(fineness * (len(base) - 1), abs=3)


@pytest.mark.parametrize("channel", [Channel(), Channel(0.25e-3), Channel(sensor=MICRO), Channel(before=MICRO)])
def test_the_sensors_nodes_reach_from_end_to_end(channel):
    mesh = mesh_of(channel, 0.5)
    x, y = mesh.places[:, mesh.sensor]
    assert (x[0], x[-1]) == (0.0, channel.sensor)
    assert (y == 0.0).all() and (np.diff(x) > 0).all()
    assert mesh.weights.sum() == pytest.approx(channel.sensor, rel=1e-12)
    assert mesh.weights @ x**3 == pytest.approx(channel.sensor**4 / 4, rel=1e-12)  # Simpson's rule is exact for cubics


def test_the_integrals_are_those_of_the_channel():
    channel = Channel()
    mesh = mesh_of(channel, 0.5)
    x, y = mesh.places
    length = channel.before + channel.sensor + channel.after
    assert np.ones_like(x) @ mesh.mass @ np.ones_like(x) == pytest.approx(length * channel.height)
    assert y @ mesh.diffusion @ y == pytest.approx(length * channel.height)


def test_what_flows_in_flows_out_and_nothing_through_walls():
    mesh = mesh_of(Channel(), 0.5)
    x, y = mesh.places
    leaves = mesh.convection(y).T @ np.ones_like(x)  # of a plug, per concentration in a node
    is_outlet = x == x.max()
    assert leaves[~is_outlet] == pytest.approx(0.0, abs=1e-15)
    assert leaves.sum() == pytest.approx(y.max())
