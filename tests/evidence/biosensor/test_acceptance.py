"""What the case study has to answer, whoever solves it: values that two independent solvers agreed on."""

from dataclasses import replace

import pytest

from cboc.evidence.biosensor.flow import Flow
from cboc.evidence.biosensor.response import Numerics, respond
from cboc.evidence.biosensor.sensor import Reading, Sample, Sensor

from .designs import COARSE, DESIGNS, peak

KNOWN = {"hi": (4.510e-3, 226.0), "mid": (1.579e-3, 693.0), "lo": (5.642e-4, 1546.0)}


@pytest.mark.parametrize("flow", Flow)
@pytest.mark.parametrize("name", DESIGNS)
def test_the_peak_has_its_known_height_and_time(name, flow, near):
    response = respond(DESIGNS[name], numerics=Numerics(flow=flow))
    height, time = KNOWN[name]
    near(f"known peak, {flow}", name, response.peak / height - 1, 2e-3)
    near(f"known time of the peak, {flow}", name, response.at / time - 1, 2e-2)


@pytest.mark.parametrize("name", DESIGNS)
def test_the_inlets_plug_is_forgotten_before_the_sensor(name, near):
    near("Navier-Stokes against Poiseuille", name, peak(name, flow=Flow.NAVIER_STOKES) / peak(name) - 1, 5e-4)


@pytest.mark.parametrize("name", DESIGNS)
def test_seconds_and_minutes_are_the_same_problem(name, near):
    in_seconds = Sensor(sample=Sample(reading=Reading.SECONDS))
    minutes, seconds = (respond(DESIGNS[name], sensor, COARSE).peak for sensor in (Sensor(), in_seconds))
    near("a pulse read in seconds, times 60", name, 60 * seconds / minutes - 1, 5e-3)


@pytest.mark.parametrize("name", DESIGNS)
def test_faster_flow_fewer_receptors_and_shorter_pulses_cover_more(name):
    def at(**change):
        return respond(replace(setting, **change), numerics=COARSE).peak

    setting = DESIGNS[name]
    here = at()
    assert at(inflow=0.8 * setting.inflow) < here
    assert at(receptors=1.25 * setting.receptors) < here
    assert at(width=1.25 * setting.width) < here
