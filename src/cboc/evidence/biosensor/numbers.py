"""Numbers without a unit that say what limits a sensor: the flow past it, the way through the layer, or the binding."""

from __future__ import annotations

from cboc.evidence.biosensor.sensor import Sensor, Setting, layer


def peclet(sensor: Sensor, setting: Setting) -> float:
    """Pe = u_in H / D: the flow against diffusion across the channel."""
    return setting.inflow * sensor.channel.height / sensor.chemistry.diffusivity


def shear_peclet(sensor: Sensor, setting: Setting) -> float:
    """Pe_s = 6 (L/H)² Pe: the same along the sensor; the depleted layer is L / Pe_s^(1/3) thin."""
    return 6.0 * (sensor.channel.sensor / sensor.channel.height) ** 2 * peclet(sensor, setting)


def damkohler(sensor: Sensor, setting: Setting) -> float:
    """Da = k_on ρ_s δ / D: binding against the way through the layer; far above 1, the way is what limits."""
    chemistry = sensor.chemistry
    return chemistry.binding * setting.receptors * layer(sensor, setting.inflow) / chemistry.diffusivity
