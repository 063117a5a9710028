"""Cheap and costly experiments: only those at the level that counts are the best, and are shared."""

import numpy as np
import pytest

from cboc import CbocError, Float, Ledger, Policy, Site, Study
from cboc.data.fidelity import Fidelity

LEVELS = Fidelity("mesh", ("coarse", "fine"), costs=(1, 8))
STUDY = Study({"T": Float(20, 90), "c": Float(0, 1)}, ("a", "b"), 30)


def run(site, trial):
    design = trial.design(site.space)
    y = -(((design["T"] - 60.0) / 30.0) ** 2) - (design["c"] - 0.4) ** 2
    return y + (0.5 + 0.1 * design["c"] if design.get("mesh") == "coarse" else 0.0)  # the coarse mesh flatters


def played(most_cost=120.0):
    ledger = Ledger(STUDY)
    a = Site(STUDY, "a", ledger, direction="max", fidelity=LEVELS, policy=Policy(initial=6, most_cost=most_cost))
    b = Site(STUDY, "b", ledger, direction="max", policy=Policy(initial=4))
    while not (a.is_finished and b.is_finished):
        for site in (a, b):
            if not site.is_finished:
                trial = site.ask()
                site.tell(trial, run(site, trial))
    return a, b


@pytest.fixture(scope="module")
def sites():
    return played()


def test_only_the_level_that_counts_is_the_best_and_is_shared(sites):
    a, _ = sites
    levels = [trial.design(a.space)["mesh"] for trial in a.trials]
    assert {"coarse", "fine"} == set(levels)
    fine = [(trial.y, trial.x[:2]) for trial, level in zip(a.trials, levels, strict=True) if level == "fine"]
    assert a.best.y == max(y for y, _ in fine) < max(trial.y for trial in a.trials)
    shared = [best for trial in a.trials if trial.turn is not None for best in trial.turn.bests]
    assert shared and all(len(best) == 2 and any(np.allclose(best, x, atol=1e-9) for _, x in fine) for best in shared)


def test_costs_are_those_of_the_levels_where_nobody_tells_them_and_end_the_search(sites):
    a, _ = sites
    for trial in a.trials:
        assert trial.cost == (1.0 if trial.design(a.space)["mesh"] == "coarse" else 8.0)
    assert 120.0 <= a.cost < 128.0


def test_a_site_without_levels_is_as_it_was(sites):
    _, b = sites
    assert len(b.trials) == 34 and all(trial.cost is None for trial in b.trials)


def test_the_same_again():
    first, second = (played(60.0)[0] for _ in range(2))
    assert [trial.executed for trial in first.trials] == [trial.executed for trial in second.trials]


@pytest.mark.parametrize(
    ("levels", "costs", "sentence"),
    [
        (("coarse",), (1,), "a fidelity has 2 to 10 levels"),
        (("coarse", "fine"), (1, 2, 3), "2 levels and 3 costs"),
        (("coarse", "fine"), (8, 1), "from the cheapest to the one that counts"),
        (("coarse", "fine"), (1, 1), "from the cheapest to the one that counts"),
        (("coarse", "fine"), (0, 1), "a level costs a number above 0"),
        ("coarse", (1, 2), "the levels of a fidelity are a list"),
        (("fine", "fine"), (1, 2), "options must differ"),
    ],
)
def test_what_no_fidelity_is_is_said_in_one_sentence(levels, costs, sentence):
    with pytest.raises(CbocError, match=sentence):
        Fidelity("mesh", levels, costs)
