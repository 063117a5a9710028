"""A sample that passes the sensor, kept step by step to be drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cboc.arrays import Array
from cboc.evidence.biosensor.advection import NEAR, Mesh, State, mesh_of
from cboc.evidence.biosensor.response import REFERENCE, Numerics, Response, respond, states
from cboc.evidence.biosensor.sensor import NANOMOLAR, Sensor, Setting

BEYOND = 1.25  # the end of the simulation, in times of the peak
SHARES = (0.1, 0.5, 0.9)  # shares of the largest coverage at which states are shown


@dataclass(frozen=True, eq=False)
class Passage:
    """Every state of one simulation until well after the peak of the coverage."""

    setting: Setting
    sensor: Sensor
    mesh: Mesh
    response: Response
    states: tuple[State, ...]

    def at(self, t: float) -> State:
        """The state at a time, interpolated linearly between two states of the simulation."""
        later = int(np.clip(np.searchsorted(self.times, t), 1, len(self.states) - 1))
        one, other = self.states[later - 1 : later + 1]
        share = float(np.clip((t - one.t) / (other.t - one.t), 0.0, 1.0))
        return State(t, *((1 - share) * a + share * b for a, b in ((one.c, other.c), (one.theta, other.theta))))

    @cached_property
    def times(self) -> Array:
        return np.array([state.t for state in self.states])

    @cached_property
    def mean(self) -> Array:
        """θ̄ at all times."""
        return np.array([state.theta for state in self.states]) @ self.mesh.weights / self.sensor.channel.sensor

    @cached_property
    def along(self) -> Array:
        """x of the nodes on the sensor."""
        return self.mesh.places[0, self.mesh.sensor]

    @cached_property
    def strongest(self) -> float:
        """The largest concentration of the sample, nM."""
        return self.sensor.sample.strongest(self.setting.width) / NANOMOLAR

    @cached_property
    def moments(self) -> dict[str, State]:
        """Four states that tell the story: from a tenth of the largest coverage to all of it."""
        rising = self.times <= self.response.at
        shares = self.mean[rising] / self.response.peak
        by_share = {f"{100 * share:.0f} % of θ_max": np.interp(share, shares, self.times[rising]) for share in SHARES}
        times = {**by_share, "θ_max": self.response.at}
        return {name: self.at(float(t)) for name, t in times.items()}

    @cached_property
    def grid(self) -> tuple[Array, Array]:
        """x and y of the lines on which the nodes lie."""
        x, y = (np.unique(np.rint(values / NEAR)) * NEAR for values in self.mesh.places)
        return x, y

    def field(self, state: State) -> Array:
        """c on the grid, (rows in y, columns in x), nM.

        Values below zero or above the sample are cut off: Galerkin's ripples before the sensor (docs/biosensor.md).
        """
        x, y = self.grid
        column, row = (np.rint(values / NEAR) for values in self.mesh.places)
        c = state.c[np.lexsort((column, row))].reshape(len(y), len(x)) / NANOMOLAR
        return np.clip(c, 0.0, self.strongest)


def record(
    setting: Setting,
    sensor: Sensor = Sensor(),  # noqa: B008
    numerics: Numerics = REFERENCE,
    on_step: Callable[[float], None] | None = None,
) -> Passage:
    """Simulate, and keep every state; `on_step` is told the share done."""
    response = respond(setting, sensor, numerics)
    end, kept = BEYOND * response.at, list[State]()
    for state in states(setting, sensor, numerics):
        kept.append(state)
        if on_step is not None:
            on_step(min(state.t / end, 1.0))
        if state.t >= end:
            break
    return Passage(setting, sensor, mesh_of(sensor.channel, numerics.fineness), response, tuple(kept))
