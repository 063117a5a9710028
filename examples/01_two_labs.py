"""Two labs optimise their own process together, by hand: ask, run the experiment, tell. Outcomes stay in the lab.

Here both sites live in one process and share a `Ledger`. Between labs only the network is different.
"""

from cboc import Float, Ledger, Policy, Site, Space, Study

space = Space({"temperature": Float(20, 90, unit="°C"), "acid": Float(0, 1, unit="mol/L")})
study = Study(space, sites=["berlin", "boston"], horizon=12)
network, policy = Ledger(study), Policy(initial=4, seed=1)
labs = {name: Site(study, name, network, direction="maximise", policy=policy) for name in study.sites}


def measure(name: str, design: dict[str, float]) -> float:
    """The yield in percent. The labs' reactors differ a little, and so do their best conditions."""
    best = {"berlin": (62.0, 0.40), "boston": (66.0, 0.45)}[name]
    return 90 - ((design["temperature"] - best[0]) / 8) ** 2 - 60 * (design["acid"] - best[1]) ** 2


while not all(lab.is_finished for lab in labs.values()):
    for lab in labs.values():  # everybody proposes ...
        lab.propose()
    for lab in labs.values():  # ... and runs the mix, or its own proposal if that is clearly better for it
        trial = lab.ask()
        lab.tell(trial, measure(lab.name, trial.design(space)))
        if trial.turn is not None and trial.turn.number == 0:
            print(f"{lab.name}, first turn: {trial.explain(study.sites)}")

for lab in labs.values():
    design = ", ".join(f"{name} = {value:.2f}" for name, value in lab.best_design.items())
    print(f"{lab.name}: best yield {lab.best.y:.2f} % at {design}")
print(f"worst of the two: {min(lab.best.y for lab in labs.values()):.2f}")
