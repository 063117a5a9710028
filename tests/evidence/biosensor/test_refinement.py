"""Finer meshes and shorter steps change nothing that matters; CBOC_VERIFY=long refines as far as there is memory."""

from itertools import pairwise

import numpy as np
import pytest

from cboc.evidence.biosensor.response import Numerics

from .designs import DESIGNS, IS_LONG, peak, state_at

CHANGES = {(0.5, 1.0): 1.3e-3} | ({(1.0, 2.0): 5e-4, (2.0, 4.0): 1e-4} if IS_LONG else {})
FINENESS = 1.0 if IS_LONG else 0.5


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("finenesses", CHANGES)
def test_a_finer_mesh_changes_little(name, finenesses, near):
    coarse, fine = (peak(name, fineness=fineness) for fineness in finenesses)
    near("fineness {:g} to {:g}".format(*finenesses), name, fine / coarse - 1, CHANGES[finenesses])


@pytest.mark.parametrize("name", DESIGNS)
def test_shorter_steps_change_little(name, near):
    long, short = (peak(name, fineness=FINENESS, steps=steps) for steps in (10, 20))
    near("10 to 20 steps in a pulse", name, short / long - 1, 2e-4)


@pytest.mark.parametrize("name", DESIGNS)
def test_the_whole_is_of_second_order_in_time(name):
    setting = DESIGNS[name]
    choices = [Numerics(fineness=0.5, steps=steps) for steps in (8, 16, 32)]
    values = [state_at(6 * setting.width, setting, numerics=choice).theta.mean() for choice in choices]
    first, second = np.abs(np.diff(values))
    assert np.log2(first / second) == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("name", DESIGNS if IS_LONG else ["hi"])
def test_richardsons_limit_is_near(name, near):
    """The order is below Q2's, for the flux is singular at the sensor's ends; the error it leaves is small."""
    finenesses = (0.5, 1.0, 2.0, 4.0) if IS_LONG else (0.5, 1.0, 2.0)
    values = [peak(name, fineness=fineness) for fineness in finenesses]
    assert all(finer < coarser for coarser, finer in pairwise(values))
    ratio = (values[-3] - values[-2]) / (values[-2] - values[-1])
    limit = values[-1] - (values[-2] - values[-1]) / (ratio - 1)
    assert 1.2 < np.log2(ratio) < 3.2
    near("fineness 1 against Richardson's limit", name, values[1] / limit - 1, 5e-4)
