"""What is drawn of a biosensor is what the simulation says."""

import io
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from PIL import Image

from cboc.evidence.biosensor.labs import BEST, SPACE, Worth, biosensor
from cboc.evidence.biosensor.numbers import damkohler, peclet, shear_peclet
from cboc.evidence.biosensor.sensor import MICRO, NANOMOLAR, Sample, Sensor, Setting, layer
from cboc.evidence.casestudy import INITIAL, SETUPS, Account, Attempt, Setup
from cboc.evidence.figures import biosensor as draw
from cboc.evidence.figures.biosensor.landscape import COARSE, PAIRS, Landscape

SETTING = Setting(1e-2, 1.8e-8, 30.0)


@pytest.fixture(scope="module")
def passage():
    shares = []
    kept = draw.record(SETTING, Sensor(), COARSE, shares.append)
    assert shares[-1] == 1.0 and len(shares) == len(kept.states)
    return kept


def test_the_numbers_are_those_of_the_text_book():
    sensor = Sensor()
    assert peclet(sensor, SETTING) == pytest.approx(1e6) and shear_peclet(sensor, SETTING) == pytest.approx(6e6)
    assert sensor.channel.sensor / np.cbrt(6e6) == pytest.approx(layer(sensor, SETTING.inflow))
    assert damkohler(sensor, SETTING) == pytest.approx(1e3 * 1.8e-8 * 5.503e-6 / 1e-11, rel=1e-3)


def test_the_field_is_c_in_every_node(passage):
    state = passage.moments["50 % of θ_max"]
    x, y = passage.grid
    shown = passage.field(state)
    for node in (0, 17, len(state.c) - 1):
        place = passage.mesh.places[:, node]
        column, row = (int(np.argmin(np.abs(lines - value))) for lines, value in zip((x, y), place, strict=True))
        assert shown[row, column] == pytest.approx(np.clip(state.c[node] / NANOMOLAR, 0.0, passage.strongest))


def test_the_moments_are_on_the_way_to_the_peak(passage):
    means = [np.interp(state.t, passage.times, passage.mean) for state in passage.moments.values()]
    np.testing.assert_allclose(np.array(means) / passage.response.peak, [0.1, 0.5, 0.9, 1.0], atol=0.1)
    assert passage.times[-1] > passage.response.at


def test_the_layer_is_depleted_and_as_thick_as_leveque_says(passage):
    figure = draw.field(passage)
    near = figure.axes[3]
    dashed = next(line for line in near.lines if line.get_linestyle() == "--")
    assert dashed.get_ydata()[-1] == pytest.approx(layer(passage.sensor, SETTING.inflow) / MICRO)
    shown, (x, y) = passage.field(passage.moments["50 % of θ_max"]), passage.grid
    above = shown[:, np.argmin(np.abs(x - 0.5e-3))]
    assert above[0] < 0.3 * above[np.searchsorted(y, 20e-6)]


def test_the_peak_is_marked_on_the_curve(passage):
    time, along = draw.coverage(passage).axes
    curve = max(time.lines, key=lambda line: len(line.get_xdata()))
    np.testing.assert_allclose(curve.get_ydata(), 1e3 * passage.mean)
    marks = [(line.get_xdata()[0], line.get_ydata()[0]) for line in time.lines if len(line.get_xdata()) == 1]
    assert (passage.response.at, pytest.approx(1e3 * passage.response.peak)) in marks
    assert len(along.lines) == len(passage.moments)


def test_the_name_of_the_sample_stands_over_its_middle_and_says_where_the_stock_ends(passage):
    def name(kept):
        return next(text for text in draw.coverage(kept).axes[0].texts if "inlet" in text.get_text())

    assert name(passage).get_position()[0] == 4 * SETTING.width and "stock" not in name(passage).get_text()
    weak = replace(passage, sensor=Sensor(sample=Sample(stock=0.3 * NANOMOLAR)))
    assert name(weak).get_position()[0] == 4 * SETTING.width and name(weak).get_text().endswith("limited by stock")


def test_the_movie_is_a_small_gif(passage, monkeypatch):
    monkeypatch.setattr(import_module("cboc.evidence.figures.biosensor.movie"), "FRAMES", 4)
    shares = []
    image = Image.open(io.BytesIO(draw.movie(passage, shares.append)))
    assert image.format == "GIF" and image.n_frames == 4 and shares[-1] == 1.0
    assert image.fp.getbuffer().nbytes / 4 * 48 < 2e6


def test_the_landscape_is_highest_at_the_corner():
    ground = draw.landscape(COARSE, np.array([0.0, 1.0]))
    top = Worth(numerics=COARSE)(np.array(BEST))[0]
    best = SPACE.to_unit(dict(zip(SPACE.names, BEST, strict=True)))
    for pair, values in ground.planes.items():
        corner = tuple(round(best[parameter]) for parameter in pair)
        assert values[corner] == top == values.max()


@pytest.mark.parametrize("setup", ["paper", "trouble"])
def test_the_paths_end_at_the_best_design(setup, monkeypatch):
    monkeypatch.setattr(Setup, "problems", lambda setup: [biosensor(COARSE)] * setup.sites)
    rng = np.random.default_rng(0)
    shape = (SETUPS[setup].sites, INITIAL + SETUPS[setup].rounds)
    designs, outcomes = rng.random((*shape, 3)), rng.random(shape)
    designs[1, -1] = outcomes[1, -1] = np.nan  # absent
    account = Account(Attempt(setup, "cboc", 0), designs, outcomes)
    lines = np.linspace(0.0, 1.0, 4)
    ground = Landscape(lines, {pair: np.add.outer(lines, lines) for pair in PAIRS}) if setup == "paper" else None
    figure = draw.designs({"cboc": account}, ground)
    ends = {tuple(np.round([line.get_xdata()[0], line.get_ydata()[0]], 6)) for line in figure.axes[0].lines}
    for site in range(shape[0]):
        inflow, _, pulse = SPACE.array_from_unit(designs[site, [np.nanargmax(outcomes[site])]])[0]
        assert tuple(np.round([1e3 * inflow, pulse], 6)) in ends
    assert ("contours" in figure.get_supxlabel()) == (setup == "paper")
    marks = [line for line in figure.axes[0].lines if line.get_marker() == "x"]
    assert min(mark.get_zorder() for mark in marks) == max(line.get_zorder() for line in figure.axes[0].lines)


def test_failed_experiments_are_hollow_and_every_lab_has_its_shape(monkeypatch):
    monkeypatch.setattr(Setup, "problems", lambda setup: [biosensor(COARSE)] * setup.sites)
    rng = np.random.default_rng(0)
    shape = (SETUPS["trouble"].sites, INITIAL + SETUPS["trouble"].rounds)
    designs, outcomes = rng.random((*shape, 3)), rng.random(shape)
    whole = draw.designs({"cboc": Account(Attempt("trouble", "cboc", 0), designs.copy(), outcomes.copy())})
    outcomes[2, INITIAL] = outcomes[2, INITIAL + 3] = np.nan  # failed
    designs[1, -1] = outcomes[1, -1] = np.nan  # absent
    figure = draw.designs({"cboc": Account(Attempt("trouble", "cboc", 0), designs, outcomes)})
    scatters = figure.axes[0].collections
    hollow = np.vstack([each.get_offsets() for each in scatters if len(each.get_facecolors()) == 0])
    full = np.vstack([each.get_offsets() for each in scatters if len(each.get_facecolors()) > 0])
    inflow, _, pulse = SPACE.array_from_unit(designs[2, [INITIAL, INITIAL + 3]]).T
    np.testing.assert_allclose(hollow, np.stack([1e3 * inflow, pulse], axis=1))
    assert len(full) == shape[0] * SETUPS["trouble"].rounds - 2 - 1
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {f"lab {k}" for k in range(1, 7)} | {"failed", "experiment of a round"} <= set(names)
    shapes = [line.get_marker() for line in figure.legends[0].get_lines() if line.get_label().startswith("lab ")]
    assert len(set(shapes)) == 6
    assert "failed" not in [text.get_text() for text in whole.legends[0].get_texts()]
