"""Another solver, from other people, on other meshes, says the same. Only where CBOC_VERIFY=long; see conftest.py."""

import pytest

from cboc.evidence.biosensor.flow import Flow
from cboc.evidence.biosensor.sensor import Sensor

from . import ngsolve_reference
from .designs import DESIGNS, peak


@pytest.mark.parametrize("name", DESIGNS)
def test_two_solvers_agree(name, near):
    other = ngsolve_reference.peak(Sensor(), DESIGNS[name])
    near("NGSolve against it", name, other / peak(name, flow=Flow.NAVIER_STOKES) - 1, 2e-3)
