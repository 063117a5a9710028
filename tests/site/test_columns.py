"""The columns of a sheet: what is measured has its own, and nothing is there twice."""

import pytest

from cboc.exchange.objective import Objective
from cboc.site.columns import Columns
from cboc.space.space import Space

PLAIN = Space({"T": (0.0, 1.0)})


@pytest.mark.parametrize(
    ("space", "objectives", "columns"),
    [
        (PLAIN, [Objective()], ["y", "sem", "status", "cost"]),
        (PLAIN, [Objective("yield", "%")], ["yield (%)", "sem", "status", "cost"]),
        (PLAIN, [Objective("cost")], ["y", "sem", "status", "cost"]),
        (PLAIN, [Objective("a", "g"), Objective("b")], ["a (g)", "a sem", "b", "b sem", "status", "cost"]),
        (PLAIN, [Objective("a"), Objective("cost")], ["a", "a sem", "cost", "cost sem", "status"]),
        (
            PLAIN,
            [Objective("T"), Objective("status")],
            ["outcome T", "T sem", "outcome status", "status sem", "status", "cost"],
        ),
        (PLAIN, [Objective("a"), Objective("a sem")], ["a", "a sem", "a sem sem", "status", "cost"]),
        (Space({"cost": (0.0, 1.0)}), [Objective("a"), Objective("b")], ["a", "a sem", "b", "b sem", "status"]),
    ],
)  # fmt: skip
def test_every_outcome_has_a_column_of_its_own(space, objectives, columns):
    found = Columns(space, tuple(objectives))
    assert found.to_fill == columns
    assert len({*found.to_fill, *space.names}) == len(found.to_fill) + len(space.names)


def test_an_outcome_is_known_by_its_name_alone_unless_that_is_another_column():
    assert Columns(PLAIN, (Objective("a", "g"), Objective("T", "K"))).heads == {"a": "a (g)"}
    assert Columns(PLAIN, (Objective("a", "g"),)).heads == {"y": "a (g)", "a": "a (g)"}
