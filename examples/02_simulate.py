"""A whole study in one call, together and alone, on test problems with a known optimum.

The optimum of Levy's function lies near the centre of the box, which flatters averaging; `cboc demo` moves it away.
"""

import numpy as np

from cboc import Policy, Study, simulate
from cboc.problems.synthetic import levy, sites_of
from cboc.runs.metrics import area, gap_curves

problems = sites_of(levy(4), sites=4, rng=np.random.default_rng(0))  # a1 f(x + a3) + a2 for each site  (Sec. 5.1)
experiments = dict(zip(("north", "east", "south", "west"), problems, strict=True))
optima = {site: problem.optimum for site, problem in experiments.items()}

curves = {}
for name, rule in (("together", "uniform"), ("alone", "identity")):
    study = Study(levy(4).space, sites=list(experiments), horizon=15, rule=rule)
    history = simulate(study, experiments, direction="minimise", policy=Policy(seed=0))
    curves[name] = gap_curves([history], optima)[0]  # (sites, rounds + 1)

for name, gaps in curves.items():
    print(f"{name}: Gap after 5 rounds {gaps[:, 5].mean():.3f}, area under the curve {area(gaps).mean():.3f}")
print(f"Gap at the end, together: {curves['together'][:, -1].mean():.3f}")
