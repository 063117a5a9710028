"""Where something simpler is known: a perfect sink, a thin steady layer, no layer at all."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from cboc.evidence.biosensor.advection import mesh_of
from cboc.evidence.biosensor.response import respond
from cboc.evidence.biosensor.sensor import NANOMOLAR, Chemistry, Sample, Sensor

from . import volterra
from .designs import DESIGNS, peak, state_at


@pytest.mark.parametrize("name", DESIGNS)
def test_a_perfect_sink_captures_what_leveque_says(name, near):
    sensor = Sensor(chemistry=Chemistry(release=0.0))
    setting = replace(DESIGNS[name], receptors=1000 * DESIGNS[name].receptors)
    theta = state_at(16 * setting.width, setting, sensor).theta
    captured = setting.receptors * mesh_of(sensor.channel, 1.0).weights @ theta / sensor.channel.sensor
    near("Lévêque's perfect sink", name, captured / volterra.captured(sensor, setting) - 1, 5e-3)


@pytest.mark.parametrize("name", DESIGNS)
def test_the_peak_is_that_of_a_thin_steady_layer(name, near):
    near("integral equation (Volterra)", name, peak(name) / volterra.peak(Sensor(), DESIGNS[name]) - 1, 6e-3)


def test_and_is_so_where_receptors_get_scarce(near):
    sensor = Sensor(sample=Sample(100 * NANOMOLAR))
    response = respond(DESIGNS["hi"], sensor)
    assert response.peak > 0.4
    near("the same at 100 nM", "hi", response.peak / volterra.peak(sensor, DESIGNS["hi"]) - 1, 3e-3)


@pytest.mark.parametrize(("concentration", "covered"), [(1 * NANOMOLAR, 6e-5), (3e4 * NANOMOLAR, 0.75)])
def test_a_well_mixed_channel_follows_langmuir(concentration, covered, near):
    sensor = Sensor(chemistry=Chemistry(diffusivity=1e-9, binding=1.0), sample=Sample(concentration))
    setting = DESIGNS["hi"]

    def rate(t, theta):
        return sensor.sample.at(t, setting.width) * (1 - theta) - sensor.chemistry.release * theta

    times = np.linspace(0.0, 10 * setting.width, 3001)
    known = solve_ivp(rate, times[[0, -1]], [0.0], t_eval=times, rtol=1e-9, atol=1e-14, max_step=1.0).y[0].max()
    assert known == pytest.approx(covered, rel=0.15)
    near(f"well mixed, θ = {covered:g}", "hi", respond(setting, sensor).peak / known - 1, 2e-3)
