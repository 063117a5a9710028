"""The response of a sensor: its coverage while a sample passes, and the peak."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from cboc.arrays import Array, is_number
from cboc.errors import CbocError
from cboc.evidence.biosensor.advection import FINEST, STEPS, State, Transport, mesh_of
from cboc.evidence.biosensor.flow import Flow
from cboc.evidence.biosensor.sensor import Sensor, Setting, arrival

LONGEST = 400.0  # widths of a pulse: a sensor without a peak by then has no peak
AFTER = 2  # falling samples after which the peak is over


@dataclass(frozen=True)
class Response:
    """The mean coverage of the sensor over time, and its peak."""

    times: Array  # (n,)
    coverage: Array  # (n,), mean θ
    peak: float  # θ_max
    at: float  # s, the time of the peak


@dataclass(frozen=True)
class Numerics:
    """The accuracy of a simulation: cells are divided by `fineness`, and a pulse's width holds `steps` steps."""

    fineness: float = 1.0
    steps: int = STEPS
    flow: Flow = Flow.POISEUILLE

    def __post_init__(self) -> None:
        if not is_number(self.fineness) or not 0.1 <= self.fineness <= FINEST:
            raise CbocError(
                f"a fineness is from 0.1 to {FINEST:g}, where 1 is accurate to 0.03 %; got {self.fineness!r}."
            )
        if type(self.steps) is not int or not 2 <= self.steps <= 1000:
            raise CbocError(
                f"a pulse's width holds 2 to 1000 steps, where 8 are accurate to 0.01 %; got {self.steps!r}."
            )
        if not isinstance(self.flow, Flow):
            raise CbocError(f"a flow is Flow.POISEUILLE or Flow.NAVIER_STOKES; got {self.flow!r}.")


REFERENCE = Numerics()


def states(setting: Setting, sensor: Sensor = Sensor(), numerics: Numerics = REFERENCE) -> Iterator[State]:  # noqa: B008
    """The states of the channel step by step, without end."""
    return transport(setting, sensor, numerics).march()


def transport(setting: Setting, sensor: Sensor, numerics: Numerics) -> Transport:
    channel, mesh = sensor.channel, mesh_of(sensor.channel, numerics.fineness)
    reynolds = setting.inflow * channel.height / sensor.chemistry.viscosity
    stream = numerics.flow.stream(channel, reynolds, mesh.places)
    convection = mesh.convection(setting.inflow * channel.height * stream)
    return Transport(sensor, setting, mesh, convection, numerics.steps)


@lru_cache(maxsize=2**14)
def respond(setting: Setting, sensor: Sensor = Sensor(), numerics: Numerics = REFERENCE) -> Response:  # noqa: B008
    """Simulate the sensor until the peak is over."""
    if sensor.chemistry.release == 0.0:
        raise CbocError(
            "a sensor that never releases has no peak of coverage; look at `states` for as long as you like."
        )
    model = transport(setting, sensor, numerics)
    mean, arrives = model.mesh.weights / sensor.channel.sensor, arrival(sensor, setting)
    times, coverage = [], list[float]()
    for state in model.march():
        times.append(state.t)
        coverage.append(float(mean @ state.theta))
        if state.t > arrives and all(np.diff(coverage[-AFTER - 1 :]) < 0.0):
            return Response(np.array(times), np.array(coverage), *_top(np.array(times), np.array(coverage)))
        if state.t > LONGEST * setting.width:
            raise CbocError(
                f"the coverage has no peak within {state.t:.4g} s, {LONGEST:.0f} widths of the pulse; "
                "the flow is too slow for so short a pulse, or the sensor hardly ever releases what it binds."
            )
    raise AssertionError("a march has no end")


def _top(t: Array, y: Array) -> tuple[float, float]:
    """The peak of the parabola through the largest sample and its neighbours: (value, time)."""
    k = int(np.argmax(y))
    left, top, right = y[k - 1 : k + 2]
    off = 0.5 * (left - right) / (left - 2 * top + right)
    return float(top - 0.25 * (left - right) * off), float(t[k] + off * (t[k + 1] - t[k]))
