"""What is wanted of an outcome, in words."""

import pytest

from cboc.data.goal import Aim, Goal
from cboc.site.outcomes import wish

GOAL = Goal.of(
    {"yield": Aim("max", target=95), "cost": "min", "pH": Aim("near", target=7)},
    ("yield", "cost", "pH"),
    ["impurity <= 5", "yield >= 30", "water >= 1", "water <= 2"],
)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("yield", "to maximise up to 95, >= 30"),
        ("cost", "to minimise"),
        ("pH", "to be near 7"),
        ("impurity", "to keep <= 5"),
        ("water", "to keep >= 1 and <= 2"),
    ],
)
def test_each_kind_of_wish_has_its_words(name, said):
    assert wish(GOAL, name) == said
