"""What is played: a study, how its sites behave, and what is done to them."""

import json
from dataclasses import asdict, dataclass

import cboc
from cboc import Policy, Study

POLICY = Policy(initial=2, seed=5)
DIRECTION = "minimise"


@dataclass(frozen=True)
class Setting:
    """One play. All that is diced is diced from `seed`."""

    pace: str = "rounds"
    rule: str = "uniform"
    graph: str = "complete"
    sealed: bool = False
    sites: int = 3
    turns: int = 6
    kills: int = 4
    delay: float = 0.05  # seconds that a copy takes, on average
    patience: float = 120.0  # seconds, after which the play counts as stuck
    seed: int = 0

    @property
    def study(self):
        names = [f"site-{k}" for k in range(self.sites)]
        return Study(
            {"a": (0.0, 1.0)}, names, self.turns, rule=self.rule, graph=self.graph, pace=self.pace, name="chaos"
        )

    def __str__(self):
        return f"{self.pace}, {self.rule}, {self.graph}{', sealed' if self.sealed else ''}"

    def to_text(self):
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text):
        return cls(**json.loads(text))


def outcome(name, design):
    """A bowl whose lowest point is a little elsewhere at every site."""
    centre = 0.3 + sum(map(ord, name)) % 7 / 50
    return cboc.Measurement(sum((value - centre) ** 2 for value in design.values()) + 0.123456789 / 7)
