"""Binding alone: one point of the sensor, where everything is known."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from cboc import CbocError
from cboc.evidence.biosensor.binding import Binding
from cboc.evidence.biosensor.sensor import Chemistry, Sample

WIDTH, RECEPTORS = 30.0, 2e-8
SAMPLE = Sample(concentration=3e-4)  # strong enough that receptors get scarce
CHEMISTRY = Chemistry()


def marched(steps, takes, chemistry=CHEMISTRY, sample=SAMPLE):
    """θ of one point at all times, where a flux q takes `takes`·q of the sample's c."""
    dt = WIDTH / steps
    binding = Binding(chemistry, RECEPTORS, dt, np.array([[takes]]), sample.strongest(WIDTH))
    before, theta, path = np.zeros(1), np.zeros(1), []
    for n in range(1, 8 * steps + 1):
        before, (theta, _) = theta, binding(np.array([sample.at(n * dt, WIDTH)]), theta, before)
        path.append(theta[0])
    return np.array(path)


def solved(takes):
    """θ' = k_on (c₀ - takes ρ_s θ') (1 - θ) - k_off θ, for θ'; after one width, two, and so on."""

    def rate(t, theta):
        free = CHEMISTRY.binding * (1 - theta)
        return (free * SAMPLE.at(t, WIDTH) - CHEMISTRY.release * theta) / (1 + free * takes * RECEPTORS)

    times = WIDTH * np.arange(1, 9)
    return solve_ivp(rate, (0.0, times[-1]), [0.0], t_eval=times, rtol=1e-10, atol=1e-13, max_step=1.0).y[0]


@pytest.mark.parametrize("takes", [0.0, 1e6])
def test_it_is_of_second_order(takes):
    """Down to 1e-5: the sample starts at exp(-8) of its strongest, and of that jump a trace of first order stays."""
    known = solved(takes)
    errors = [np.abs(marched(steps, takes)[steps - 1 :: steps] - known).max() for steps in (10, 20, 40)]
    assert known[-1] > 0.5
    assert errors[-1] < 1e-4
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx(2.0, abs=0.25)


@pytest.mark.parametrize("strength", [1e-2, 1.0, 1e2, 1e6])
@pytest.mark.parametrize("steps", [2, 8])
def test_never_more_than_all_receptors_are_taken(strength, steps):
    path = marched(steps, 1e6, sample=Sample(concentration=strength))
    assert (path >= 0).all() and (path <= 1).all()


@pytest.mark.parametrize("rate", [1e3, 1e6, 1e9, 1e12])
def test_whatever_comes_is_bound_where_binding_is_quick(rate):
    """c₀ = takes ρ_s θ' then, and θ grows by what is injected; beyond its pole the equation has other roots."""
    takes, weak = 1e9, Sample()
    theta = marched(8, takes, Chemistry(binding=rate, release=1e-12), weak)[-1]
    dose = weak.concentration * weak.reading.value
    assert theta == pytest.approx(dose / (takes * RECEPTORS), rel=2e-3 if rate > 1e3 else 0.1)


def test_a_little_less_than_nothing_is_no_reason_to_stumble():
    """Galerkin's method leaves small negative values; the quicker the binding, the nearer is the pole."""
    binding = Binding(Chemistry(binding=1e9), RECEPTORS, 1.0, np.array([[1e6]]), 1e-6)
    theta, flux = binding(np.array([-1e-9]), np.zeros(1), np.zeros(1))
    assert abs(theta[0]) < 1e-6
    assert -1e-9 - 1e6 * flux[0] == pytest.approx(0.0, abs=1e-8)


def test_what_does_not_converge_says_so(monkeypatch):
    monkeypatch.setattr("cboc.evidence.biosensor.binding.MOST", 1)
    with pytest.raises(CbocError, match="binding did not converge in 1 Newton steps; use a setting closer"):
        marched(8, 1e6)
