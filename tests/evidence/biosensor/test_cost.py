"""What an answer costs, in yardsticks: one factorisation of a Laplacian and a hundred solutions, in the same run."""

import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import diags_array, eye_array, kron
from scipy.sparse.linalg import splu

from cboc.evidence.biosensor.advection import mesh_of
from cboc.evidence.biosensor.flow import Flow
from cboc.evidence.biosensor.response import Numerics, respond

from .designs import DESIGNS

SIDE = 120
YARDSTICKS = {Flow.POISEUILLE: 8.0, Flow.NAVIER_STOKES: 25.0}
KEPT = 8.0  # where the flow has been computed before


def seconds(work):
    started = time.process_time()
    work()
    return time.process_time() - started


def yardstick():
    line = diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(SIDE, SIDE))
    factors = splu((kron(line, eye_array(SIDE)) + kron(eye_array(SIDE), line)).tocsc())
    for _ in range(100):
        factors.solve(np.ones(SIDE**2))


@pytest.mark.parametrize("flow", Flow)
def test_an_answer_is_cheap(flow):
    mesh_of.cache_clear()
    setting = replace(DESIGNS["hi"], inflow=0.9e-2)  # whose flow no other test has kept
    first, again = (
        seconds(lambda setting=setting: respond(setting, numerics=Numerics(flow=flow)))
        for setting in (setting, replace(setting, width=35.0))
    )
    unit = seconds(yardstick)
    assert first <= YARDSTICKS[flow] * unit
    assert again <= KEPT * unit
