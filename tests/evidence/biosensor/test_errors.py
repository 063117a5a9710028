"""One sentence for what cannot be computed, and no wrong number instead."""

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest

from cboc import CbocError
from cboc.evidence.biosensor.response import Numerics, respond
from cboc.evidence.biosensor.sensor import MILLI, NANOMOLAR, Channel, Chemistry, Sample, Sensor, Setting

from . import volterra
from .designs import COARSE, DESIGNS

BAD = (-1.0, nan, inf, -inf, "1", True, None)
NUMBERS = [(DESIGNS["mid"], name) for name in ("inflow", "receptors", "width")]
NUMBERS += [(Channel(), name) for name in ("height", "sensor", "before", "after")]
NUMBERS += [(Chemistry(), name) for name in ("diffusivity", "binding", "release", "viscosity")]
NUMBERS += [(Sample(), "concentration"), (Sample(), "stock")]


@pytest.mark.parametrize(("value", "name"), NUMBERS, ids=[name for _, name in NUMBERS])
def test_numbers_are_positive_and_finite(value, name):
    for bad in (*BAD, 0.0):
        if (name, bad) in {("release", 0.0), ("stock", inf)}:
            continue
        with pytest.raises(CbocError, match=f"the {name} of a {type(value).__name__.lower()} is .*number; got .*"):
            replace(value, **{name: bad})


@pytest.mark.parametrize("bad", [*BAD, 0.0, 0.05, 8.0])
def test_a_fineness_is_within_reason(bad):
    with pytest.raises(CbocError, match="a fineness is from 0.1 to 4"):
        Numerics(fineness=bad)


@pytest.mark.parametrize("bad", [*BAD, 0, 1, 2.5, 8.0, 1001])
def test_steps_are_a_whole_number(bad):
    with pytest.raises(CbocError, match="holds 2 to 1000 steps"):
        Numerics(steps=bad)


def test_flows_and_readings_are_those_that_there_are():
    with pytest.raises(CbocError, match=r"a flow is Flow.POISEUILLE or Flow.NAVIER_STOKES; got 'turbulent'"):
        Numerics(flow="turbulent")
    with pytest.raises(CbocError, match=r"a pulse is read in Reading.MINUTES or Reading.SECONDS; got 60.0"):
        Sample(reading=60.0)


def test_numbers_of_numpy_are_numbers():
    assert Setting(*np.array([1e-2, 1.8e-8, 30.0])) == DESIGNS["hi"]


def test_a_mesh_that_does_not_see_the_layer_is_refused():
    thin = Sensor(chemistry=Chemistry(diffusivity=1e-12))
    with pytest.raises(CbocError, match="the mesh is too coarse: .* use a fineness of 1.1"):
        respond(DESIGNS["hi"], thin, COARSE)
    with pytest.raises(CbocError, match="no mesh here resolves it; slow the flow down"):
        respond(replace(DESIGNS["hi"], inflow=1e3))


def test_what_overflows_does_not_converge():
    with pytest.raises(CbocError, match="binding did not converge in 50 Newton steps; use a setting closer"):
        respond(replace(DESIGNS["hi"], receptors=1e300), numerics=COARSE)


def test_what_is_not_refused_is_within_a_percent():
    """First cells of 0.63 of the layer, as high as they may be; the reference is no mesh's."""
    thin = Sensor(chemistry=Chemistry(diffusivity=1e-12))
    assert respond(DESIGNS["hi"], thin).peak == pytest.approx(volterra.peak(thin, DESIGNS["hi"]), rel=3e-3)


def test_what_never_releases_has_no_peak():
    with pytest.raises(CbocError, match="a sensor that never releases has no peak of coverage"):
        respond(DESIGNS["hi"], Sensor(chemistry=Chemistry(release=0.0)), COARSE)


def test_a_sample_that_does_not_arrive_is_no_peak(monkeypatch):
    monkeypatch.setattr("cboc.evidence.biosensor.response.LONGEST", 40.0)
    with pytest.raises(CbocError, match="the coverage has no peak within 40.12 s, 40 widths of the pulse"):
        respond(Setting(inflow=1e-6, receptors=2.5e-8, width=1.0), numerics=COARSE)


def test_noise_before_the_sample_arrives_is_no_peak():
    """A pulse so short is a dose: what comes of it is little more than of half a minute's."""
    short = respond(replace(DESIGNS["hi"], width=0.5), numerics=COARSE)
    assert short.at > 10.0
    assert short.peak == pytest.approx(respond(DESIGNS["hi"], numerics=COARSE).peak, rel=1e-2)


@pytest.mark.parametrize("name", DESIGNS)
def test_extremes_have_sensible_answers(name):
    def at(setting=DESIGNS[name], **parts):
        return respond(setting, Sensor(**parts), COARSE).peak

    many = replace(DESIGNS[name], receptors=1000 * DESIGNS[name].receptors)
    sink = 1000 * at(many)  # all that the layer lets through
    assert at() < sink
    assert at(chemistry=Chemistry(binding=1e8)) == pytest.approx(sink, rel=3e-3)
    assert 0.5 < at(sample=Sample(1000 * NANOMOLAR)) < 1.0
    assert 0.999 < at(sample=Sample(1e6 * NANOMOLAR)) < 1.0
    assert at(sample=Sample(stock=0.1 * NANOMOLAR)) < at()
    assert at(sample=Sample(stock=1e-6 * NANOMOLAR)) < 1e-4 * at()


def test_a_low_channel_has_a_thinner_layer_and_more_comes_of_it():
    low = Sensor(channel=Channel(height=0.25 * MILLI))
    here, there = (respond(DESIGNS["mid"], sensor, COARSE).peak for sensor in (Sensor(), low))
    assert there / here == pytest.approx(4 ** (1 / 3), rel=0.03)  # the layer is as thin as H^(1/3)
