"""The same equations in another solver: NGSolve, on triangles without order, with a flow and time steps of its own.

Cubic elements; the Navier-Stokes equations (cubic speeds, quadratic pressure) by Newton's method; the
convective form u·∇c; the rule of Crank and Nicolson, in which the product c θ of the kinetics is extrapolated from the
two steps before. Nothing is shared with `cboc.evidence.biosensor` but the numbers of `Sensor` and `Setting`. Lengths
are in mm, since meshes like numbers of order one, and c is in units of the strongest that the sample gets.
"""

import ngsolve as ng
import numpy as np
from netgen.geom2d import SplineGeometry

ORDER = 3
STEPS = 20  # in a pulse's width


def graded(low, high, first, last, largest):
    """Where to cut [low, high] so that cells grow by three tenths from either end, up to the largest."""
    x = np.linspace(low, high, 200_001)
    size = np.minimum(np.minimum(first + 0.3 * (x - low), last + 0.3 * (high - x)), largest)
    number = np.concatenate([[0.0], np.cumsum(np.diff(x) / size[1:])])
    return np.interp(np.linspace(0.0, number[-1], int(number[-1]) + 2), number, x)


def mesh(channel, layer, size, blur):
    """Triangles as small as the depleted layer along the sensor, smaller at its two ends, and as the blur before it."""
    H, L, before, after = (1e3 * length for length in (channel.height, channel.sensor, channel.before, channel.after))
    thin = 1e3 * layer
    upstream = graded(-before, 0.0, 0.004, 0.05 * thin, 1e3 * blur)
    sensor = graded(0.0, L, 0.05 * thin, 0.05 * thin, size * thin)
    downstream = graded(L, L + after, 0.05 * thin, 0.1, 0.1)
    floor = [(x, 0.0) for x in np.concatenate([upstream, sensor[1:], downstream[1:]])]
    inlet = [(-before, y) for y in graded(0.0, H, 0.004, 0.004, 0.05)[:0:-1]]
    names = ["wall"] * (len(upstream) - 1) + ["sensor"] * (len(sensor) - 1) + ["wall"] * (len(downstream) - 1)
    names += ["outlet", "wall"] + ["inlet"] * len(inlet)
    geometry = SplineGeometry()
    points = [geometry.AppendPoint(*place) for place in [*floor, (L + after, H), *inlet]]
    for name, first, second in zip(names, points, points[1:] + points[:1], strict=True):
        geometry.Append(["line", first, second], bc=name)
    return ng.Mesh(geometry.GenerateMesh(maxh=0.15, grading=0.15))


def flow(domain, channel, inflow, viscosity):
    """u in mm/s: a plug at the inlet, at rest at the walls, no stress at the outlet; scaled for what corners lose."""
    speeds = ng.VectorH1(domain, order=ORDER, dirichlet="inlet|wall|sensor")
    both = speeds * ng.H1(domain, order=ORDER - 1)
    (u, p), (v, q) = both.TnT()
    state = ng.GridFunction(both)
    now = state.components[0]
    now.Set(ng.CoefficientFunction((1e3 * inflow, 0.0)), definedon=domain.Boundaries("inlet"))
    now.vec.FV().NumPy()[list(speeds.GetDofs(domain.Boundaries("wall|sensor")))] = 0.0
    viscous = 1e6 * viscosity * ng.InnerProduct(ng.Grad(u), ng.Grad(v)) - ng.div(u) * q - ng.div(v) * p
    carried, carrying = ng.InnerProduct(ng.Grad(u) * now, v), ng.InnerProduct(ng.Grad(now) * u, v)
    for _ in range(12):
        residual = (ng.BilinearForm((viscous + carried) * ng.dx).Assemble().mat * state.vec).Evaluate()
        slope = ng.BilinearForm((viscous + carried + carrying) * ng.dx).Assemble().mat
        step = (slope.Inverse(both.FreeDofs(), "umfpack") * residual).Evaluate()
        state.vec.data -= step
        if step.Norm() < 1e-8 * state.vec.Norm():
            through = ng.Integrate(now[0], domain, definedon=domain.Boundaries("outlet"))
            return 1e6 * inflow * channel.height / through * now
    raise AssertionError("the reference's flow did not converge")


def peak(sensor, setting, size=1.0):
    """θ_max, of the parabola through the largest of the samples and its neighbours."""
    times, means = [0.0], [0.0]
    for t, mean in march(sensor, setting, size):
        times.append(t)
        means.append(mean)
        if t > 5 * setting.width and means[-1] < means[-2] < means[-3]:
            break
    k = int(np.argmax(means))
    a, b, c = np.polyfit(np.array(times[k - 1 : k + 2]) - times[k], means[k - 1 : k + 2], 2)
    return c - b**2 / (4 * a)


def march(sensor, setting, size):
    """(t, mean θ) for ever: with M the matrix of what changes and F of the rates, M Δ = -dt F (now + Δ/2) + dt cθ."""
    channel, dt = sensor.channel, setting.width / STEPS
    domain, both, M, F, product = system(sensor, setting, size)
    implicit = M.CreateMatrix()
    implicit.AsVector().data = M.AsVector() + 0.5 * dt * F.AsVector()
    inverse = implicit.Inverse(both.FreeDofs(), "umfpack")
    state, inlet = ng.GridFunction(both), ng.GridFunction(both)
    inlet.components[0].Set(1.0, definedon=domain.Boundaries("inlet"))
    before, last = state.vec.CreateVector(), 0.0
    before[:] = 0.0
    for t in dt * np.arange(1, 400 * STEPS):
        now = product(*state.components)
        inflow = sensor.sample.at(t, setting.width) / sensor.sample.strongest(setting.width)
        step = ((inflow - last) * inlet.vec).Evaluate()
        right = (dt * (1.5 * now - 0.5 * before) - dt * (F * state.vec) - implicit * step).Evaluate()
        step.data += inverse * right
        state.vec.data += step
        before.data, last = now, inflow
        mean = ng.Integrate(state.components[1], domain, definedon=domain.Boundaries("sensor"))
        yield t, mean / (1e3 * channel.sensor)


def system(sensor, setting, size):
    """The mesh, the space of (c, θ), M, F, and what the product c θ adds."""
    channel, chemistry, width = sensor.channel, sensor.chemistry, setting.width
    layer = (chemistry.diffusivity * channel.sensor * channel.height / (6 * setting.inflow)) ** (1 / 3)
    domain = mesh(channel, layer, size, 0.5 * (chemistry.diffusivity * width) ** 0.5)
    u = flow(domain, channel, setting.inflow, chemistry.viscosity)
    strongest, wall = sensor.sample.strongest(width), ng.ds("sensor")
    on, off, D = chemistry.binding * strongest, chemistry.release, 1e6 * chemistry.diffusivity
    takes = 1e3 * setting.receptors / strongest  # ρ_s in mm of the sample
    thetas = ng.Compress(ng.H1(domain, order=ORDER, definedon=domain.Boundaries("sensor")))
    both = ng.H1(domain, order=ORDER, dirichlet="inlet") * thetas
    (c, theta), (v, w) = both.TnT()
    changes = c * v * ng.dx + takes * theta * v * wall + theta * w * wall
    rates = (D * ng.grad(c) * ng.grad(v) + (u * ng.grad(c)) * v) * ng.dx + (off * theta - on * c) * w * wall
    M, F = (ng.BilinearForm(form).Assemble().mat for form in (changes, rates))
    return domain, both, M, F, lambda c, theta: ng.LinearForm(-on * c * theta * w * wall).Assemble().vec
