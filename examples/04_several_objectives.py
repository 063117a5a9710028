"""Two labs want a high yield at a low cost: no design is best in both, so each lab finds a front of trade-offs.

The study agrees on the names of the objectives. Which way is better, and every number, stays in the lab.
"""

from cboc import Aim, Float, Policy, Space, Study, simulate
from cboc.data.results import Results

space = Space({"temperature": Float(20, 90, unit="°C"), "catalyst": Float(0, 1, unit="mol %")})
study = Study(space, ["berlin", "boston"], horizon=12, objectives=("yield", "cost"), units=("%", "EUR"))


def reactor(best: float):
    """A lab's reactor: more catalyst gives more, and costs more."""

    def measure(design: dict[str, float]) -> dict[str, float]:
        heat, catalyst = design["temperature"], design["catalyst"]
        return {
            "yield": 90 - ((heat - best) / 8) ** 2 - 40 * (1 - catalyst) ** 2,
            "cost": 10 + 0.2 * heat + 30 * catalyst,
        }

    return measure


wanted = {"yield": "max", "cost": Aim("min", reference=60)}  # from there on volumes are measured
experiments = {"berlin": reactor(62.0), "boston": reactor(66.0)}
history = simulate(study, experiments, direction=wanted, policy=Policy(initial=4, seed=1))

for name, goal in history.goals.items():
    trials = history.of(name)
    results = Results.of(goal, space.dimension, [t.x for t in trials], [t.outcomes for t in trials])
    front = sorted(results.Y[results.is_on_front].tolist())
    print(f"{name}: " + ", ".join(f"{y:.0f} % for {cost:.0f} EUR" for y, cost in front))
gains = [history.best_so_far(name)[[0, -1]] for name in study.sites]  # the volume below the front, first and last
print(f"the volume below the front grew at least by a factor of {min(after / before for before, after in gains):.2f}")
