"""Dimensionless numbers that show what limits a sensor: flow, diffusion through the layer, or binding."""

from __future__ import annotations

from cboc.evidence.biosensor.sensor import Sensor, Setting, layer


def peclet(sensor: Sensor, setting: Setting) -> float:
    """Pe = u_in H / D: the flow against diffusion across the channel."""
    return setting.inflow * sensor.channel.height / sensor.chemistry.diffusivity


def shear_peclet(sensor: Sensor, setting: Setting) -> float:
    """Pe_s = 6 (L/H)² Pe: the flow against diffusion along the sensor; the depleted layer is L / Pe_s^(1/3) thin."""
    return 6.0 * (sensor.channel.sensor / sensor.channel.height) ** 2 * peclet(sensor, setting)


def damkohler(sensor: Sensor, setting: Setting) -> float:
    """Da = k_on ρ_s δ / D: binding against diffusion through the layer; far above 1, diffusion limits."""
    chemistry = sensor.chemistry
    return chemistry.binding * setting.receptors * layer(sensor, setting.inflow) / chemistry.diffusivity
