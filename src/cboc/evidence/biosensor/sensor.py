"""The paper's biosensor in numbers, in SI units: the channel, the chemistry in it, and the sample sent through it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import Enum
from math import exp, inf, pi, sqrt
from typing import Any

from cboc.arrays import is_number
from cboc.errors import CbocError

MILLI, MICRO, NANOMOLAR = 1e-3, 1e-6, 1e-6  # of a metre, of a metre, and 1 nmol/l in mol/m³
MINUTE = 60.0
DELAY = 4.0  # widths of the pulse from the start to its centre: the first sample is exp(-8) of the peak


def _check(value: Any, may_be_zero: tuple[str, ...] = (), may_be_endless: tuple[str, ...] = ()) -> None:
    """Check that every number of a frozen dataclass is positive and finite."""
    for entry in fields(value):
        if entry.type != "float":
            continue
        name, number = entry.name, getattr(value, entry.name)
        is_positive = is_number(number) and (number > 0.0 or (number == 0.0 and name in may_be_zero))
        if not is_positive or (number == inf and name not in may_be_endless):
            zero = "zero or " if name in may_be_zero else ""
            owner = type(value).__name__.lower()
            raise CbocError(f"the {name} of a {owner} is {zero}a positive and finite number; got {number!r}.")


@dataclass(frozen=True)
class Channel:
    """A rectangle with the sensor on its floor, which begins at x = 0."""

    height: float = 1 * MILLI  # H
    sensor: float = 1 * MILLI  # L
    before: float = 3 * MILLI  # from the inlet to the sensor
    after: float = 2 * MILLI  # from the sensor to the outlet

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True)
class Chemistry:
    """The analyte in water, and how it binds: θ' = k_on c (1 - θ) - k_off θ."""

    diffusivity: float = 1e-11  # D, m²/s
    binding: float = 1e3  # k_on, m³/mol/s: 1e6 l/mol/s
    release: float = 1e-3  # k_off, 1/s
    viscosity: float = 1e-6  # ν, m²/s: water

    def __post_init__(self) -> None:
        _check(self, may_be_zero=("release",))


class Reading(Enum):
    """The paper's pulse has "integral value of unity" and no unit of time; see docs/decisions/biosensor.md."""

    MINUTES = MINUTE
    SECONDS = 1.0


@dataclass(frozen=True)
class Sample:
    """What is injected: a Gaussian pulse c_in T/(σ √2π) exp(-(t - 4σ)²/2σ²), at most as strong as the stock."""

    concentration: float = 1 * NANOMOLAR  # c_in, mol/m³
    reading: Reading = Reading.MINUTES  # T
    stock: float = inf  # the largest concentration available, mol/m³

    def __post_init__(self) -> None:
        _check(self, may_be_endless=("stock",))
        if not isinstance(self.reading, Reading):
            raise CbocError(f"a pulse is read in Reading.MINUTES or Reading.SECONDS; got {self.reading!r}.")

    def at(self, t: float, width: float) -> float:
        """The concentration at the inlet at time t."""
        return min(self._peak(width) * exp(-0.5 * (t / width - DELAY) ** 2), self.stock)

    def strongest(self, width: float) -> float:
        """The largest concentration that the sample reaches."""
        return min(self._peak(width), self.stock)

    def _peak(self, width: float) -> float:
        return self.concentration * self.reading.value / (width * sqrt(2 * pi))


@dataclass(frozen=True)
class Sensor:
    """Everything that an engineer does not choose."""

    channel: Channel = field(default_factory=Channel)
    chemistry: Chemistry = field(default_factory=Chemistry)
    sample: Sample = field(default_factory=Sample)


@dataclass(frozen=True)
class Setting:
    """Everything that an engineer chooses: the paper's x1, x2, x3."""

    inflow: float  # u_in, m/s
    receptors: float  # ρ_s, mol/m²
    width: float  # of the pulse, s: the paper's GP_std is in minutes

    def __post_init__(self) -> None:
        _check(self)


def shear(sensor: Sensor, inflow: float) -> float:
    """The shear rate of Poiseuille's flow at the wall: γ = 6 u_in / H."""
    return 6.0 * inflow / sensor.channel.height


def layer(sensor: Sensor, inflow: float) -> float:
    """The thickness of the depleted layer above the sensor: δ = (D L / γ)^(1/3), after Lévêque."""
    return float((sensor.chemistry.diffusivity * sensor.channel.sensor / shear(sensor, inflow)) ** (1 / 3))


def arrival(sensor: Sensor, setting: Setting) -> float:
    """When the middle of the pulse reaches the sensor, at the speed γ δ of the layer; no peak of θ is earlier."""
    speed = shear(sensor, setting.inflow) * layer(sensor, setting.inflow)
    return DELAY * setting.width + sensor.channel.before / speed
