"""A lab wants the highest yield whose impurity stays below 5 %; another one has no such limit, and need not know.

What only one lab measures, and what it may not exceed, stays there. The best is the best that keeps to the limit:
here 52.13 %, at 41 °C and 3.6 h.
"""

from cboc import Float, Ledger, Policy, Site, Space, Study

space = Space({"temperature": Float(20, 90, unit="°C"), "time": Float(1, 10, unit="h")})
study = Study(space, ["berlin", "boston"], horizon=14, objectives=("yield",), units=("%",))
network, policy = Ledger(study), Policy(initial=4, seed=2)
berlin = Site(study, "berlin", network, direction="max", limits=["impurity <= 5"], policy=policy)
boston = Site(study, "boston", network, direction="max", policy=policy)


def measure(design: dict[str, float]) -> dict[str, float]:
    """The hotter and the longer, the more of both; the best yield, 90 % at 75 °C, has an impurity of 9 %."""
    heat, time = design["temperature"], design["time"]
    return {"yield": 90 - ((heat - 75) / 6) ** 2 - (time - 6) ** 2, "impurity": 0.1 * heat + 0.25 * time}


while not (berlin.is_finished and boston.is_finished):
    for lab in (berlin, boston):
        trial = lab.ask()
        measured = measure(trial.design(space))
        lab.tell(trial, {name: measured[name] for name in lab.goal.measured})

kept = int(berlin.results.is_allowed.sum())
print(f"berlin: {kept} of {len(berlin.results)} experiments kept to {berlin.goal.limits[0]}")
print(f"boston: best yield {boston.best.y:.2f} %")
outcomes = dict(zip(berlin.goal.measured, berlin.results.Y[berlin.best.index].tolist(), strict=True))
print(f"berlin: impurity {outcomes['impurity']:.2f} %, best yield {outcomes['yield']:.2f}")
