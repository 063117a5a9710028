"""The same physics without finite elements: a layer so thin that its flow is a shear, and so quick that it is steady.

After Lévêque, a flux q into the sensor lowers the concentration above it, downstream of where it flows, by

    c(x) = c₀ - K ∫₀ˣ q(s) (x - s)^(-2/3) ds,    K = (9 D / γ)^(1/3) / (3 D Γ(2/3)),    γ = 6 u_in / H,

and with q = ρ_s θ_t the kinetics θ_t = k_on c (1 - θ) - k_off θ are an equation for θ(x, t) alone.
"""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import gamma

CELLS = 160


def shear(sensor, setting):
    return 6.0 * setting.inflow / sensor.channel.height


def captured(sensor, setting):
    """By a sensor that takes whatever comes, per area: 0.8075 D^(2/3) γ^(1/3) L^(-1/3) c_in T."""
    D, L = sensor.chemistry.diffusivity, sensor.channel.sensor
    dose = sensor.sample.concentration * sensor.sample.reading.value
    return 1.5 / (9 ** (1 / 3) * gamma(4 / 3)) * D ** (2 / 3) * (shear(sensor, setting) / L) ** (1 / 3) * dose


def taken(sensor, setting):
    """(weights of the cells' means, (n, n): how much c a flux that is constant in each cell takes in their middles)."""
    D = sensor.chemistry.diffusivity
    ends = np.linspace(0.0, 1.0, CELLS + 1) ** 3 * sensor.channel.sensor  # small where the flux is singular
    middles = 0.5 * (ends[1:] + ends[:-1])
    powers = np.maximum(middles[:, None] - ends[None], 0.0) ** (1 / 3)
    K = (9 * D / shear(sensor, setting)) ** (1 / 3) / (3 * D * gamma(2 / 3))
    return np.diff(ends) / ends[-1], K * 3.0 * (powers[:, :-1] - powers[:, 1:])


def peak(sensor, setting):
    """θ_max: (I + k_on (1 - θ) ρ_s K) θ_t = k_on c₀ (1 - θ) - k_off θ."""
    on, off = sensor.chemistry.binding, sensor.chemistry.release
    weights, kernel = taken(sensor, setting)

    def rate(t, theta):
        free = on * (1.0 - theta)
        left = np.eye(CELLS) + free[:, None] * setting.receptors * kernel
        return np.linalg.solve(left, free * sensor.sample.at(t, setting.width) - off * theta)

    times = np.linspace(0.0, 12.0 * setting.width, 2401)
    solution = solve_ivp(
        rate, times[[0, -1]], np.zeros(CELLS), t_eval=times, rtol=1e-6, atol=1e-12, max_step=setting.width / 2
    )
    return float((weights @ solution.y).max())
