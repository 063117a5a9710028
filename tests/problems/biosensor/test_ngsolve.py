"""Another solver, from other people, on other meshes, says the same. Only where CBOC_VERIFY=long; see conftest.py."""

import pytest

from cboc.problems.biosensor.flow import Flow
from cboc.problems.biosensor.sensor import Sensor

from . import ngsolve_reference
from .designs import DESIGNS, peak


@pytest.mark.parametrize("name", DESIGNS)
def test_two_solvers_agree(name):
    other = ngsolve_reference.peak(Sensor(), DESIGNS[name])
    assert peak(name, flow=Flow.NAVIER_STOKES) == pytest.approx(other, rel=2e-3)
