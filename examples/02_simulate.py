"""A whole study in one call, together and alone, on test problems with a known optimum."""

import numpy as np

from cboc import Gate, Study, simulate
from cboc.metrics import area, gap_curves
from cboc.problems.synthetic import levy, sites_of

problems = sites_of(levy(2), sites=4, rng=np.random.default_rng(0))  # a1 f(x + a3) + a2 for each site  (Sec. 5.1)
sites = ["north", "east", "south", "west"]
experiments = dict(zip(sites, problems, strict=True))
optima = {site: problem.optimum for site, problem in experiments.items()}

curves = {}
for name, rule in (("together", "leader"), ("alone", "identity")):
    study = Study(levy(2).space, sites, horizon=15, rule=rule)
    runs = [
        simulate(study, experiments, direction="minimise", gate=Gate(0.5), initial=4, seed=seed) for seed in range(3)
    ]
    curves[name] = gap_curves(runs, optima)  # (seeds, sites, rounds + 1)

for name, gaps in curves.items():
    print(f"{name:9s} Gap at the end {gaps[..., -1].mean():.3f}, area under its curve {area(gaps).mean():.3f}")
print(f"Gap of the worst site, together: {curves['together'][..., -1].min():.3f}")
