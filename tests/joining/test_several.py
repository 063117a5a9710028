"""Sites with several objectives and limits, through a folder: what they keep, and what never leaves them."""

import json
import sqlite3

import pytest

import cboc
from cboc import CbocError, Float, Policy, Study
from cboc.data.goal import Aim

STUDY = Study({"T": Float(20, 90), "c": Float(0, 1)}, ("a", "b"), 6, objectives=("yield", "cost"), units=("%", "EUR"))
WANTED = {"yield": "max", "cost": Aim("min", reference=90.0)}


def outcomes(design):
    return {
        "yield": 90.0 - 0.05 * (design["T"] - 61.0) ** 2 - 40.0 * (design["c"] - 0.4) ** 2,
        "cost": design["T"] + 20.0 * design["c"],
        "impurity": 8.0 - 10.0 * design["c"],
    }


def join(folder, name, **more):
    given = {"site": name, "direction": WANTED, "limits": ["impurity <= 6"], "policy": Policy(initial=3, seed=4)}
    return cboc.join(f"folder:{folder / 'ours'}", storage=folder / f"{name}.db", **(given | more))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "ours").mkdir()
    return tmp_path


def test_a_study_goes_on_in_another_process_where_it_was(folder):
    join(folder, "a", study=STUDY)
    join(folder, "b")
    ran = []
    for _ in range(9):
        for name in "ab":
            site = cboc.join(storage=folder / f"{name}.db")  # as in a new process
            trial = site.ask()
            ran.append(site.tell(trial, outcomes(trial.design(STUDY.space))).executed)
    site = cboc.join(storage=folder / "a.db")
    assert site.is_finished and len(set(ran[::2])) == 9
    assert site.goal.to_dict() == {
        "aims": {"yield": {"direction": "maximise"}, "cost": {"direction": "minimise", "reference": 90.0}},
        "limits": ["impurity <= 6"],
    }
    assert site.results.is_on_front.sum() > 1 and site.results.is_allowed[site.best.index]


def test_no_outcome_no_aim_and_no_limit_is_in_the_folder(folder):
    planted = {"yield": 77.1234567, "cost": 31.7654321, "impurity": 4.2424242}
    join(folder, "a", study=STUDY, limits=["impurity <= 5.4321987"])
    join(folder, "b", direction={"yield": Aim("max", target=88.7878781), "cost": Aim("min", reference=91.9191913)})
    for turn in range(5):
        for name in "ab":
            site = cboc.join(storage=folder / f"{name}.db")
            site.tell(site.ask(), {key: value + turn for key, value in planted.items()})
    travelled = b"".join(path.read_bytes() for path in (folder / "ours").rglob("*") if path.is_file())
    assert b'"bests"' in travelled or len(travelled) > 1000
    for value in ("77.123", "31.765", "4.2424", "5.4321", "88.787", "91.919", "maximise", "impurity"):
        assert value.encode() not in travelled


def test_how_good_is_good_enough_may_change_and_which_way_may_not(folder):
    site = join(folder, "a", study=STUDY)
    site.tell(site.ask(), {"yield": 1.0, "cost": 2.0, "impurity": 3.0})
    again = cboc.join(
        storage=folder / "a.db", limits=["impurity <= 2"], direction=WANTED | {"cost": Aim("min", weight=2)}
    )
    assert again.goal.limits[0].bound == 2.0 and not again.results.is_allowed.any()
    with pytest.raises(CbocError, match="began with direction = 'maximise, minimise', which cannot change"):
        cboc.join(storage=folder / "a.db", direction={"yield": "max", "cost": "max"})
    with pytest.raises(CbocError, match="a limit of something else cannot be added now"):
        cboc.join(storage=folder / "a.db", limits=["impurity <= 2", "waste <= 1"])


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        ({"yield": 1.0, "cost": 2.0}, "outcomes are expected for yield, cost, impurity; got yield, cost"),
        ({"yield": 1.0, "cost": 2.0, "impurity": float("nan")}, "an outcome is a finite number; this is nan"),
        (3.0, "outcomes are given by name, for yield, cost, impurity; got 3.0"),
    ],
)
def test_a_result_that_lacks_something_is_refused_in_one_sentence(folder, outcome, sentence):
    site = join(folder, "a", study=STUDY)
    with pytest.raises(CbocError, match=sentence):
        site.tell(site.ask(), outcome)


def test_a_file_with_a_damaged_goal_is_called_damaged(folder):
    join(folder, "a", study=STUDY)
    with sqlite3.connect(folder / "a.db") as file:
        tables = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            columns = [row[1] for row in file.execute(f"PRAGMA table_info({table})")]
            if {"key", "value"} <= set(columns):
                file.execute(f"UPDATE {table} SET value = ? WHERE key = 'direction'", (json.dumps({"yield": 7}),))
    with pytest.raises(CbocError, match="damaged"):
        cboc.join(storage=folder / "a.db")


def test_parameters_of_its_own_stay_in_the_file_and_never_travel(folder):
    study = Study(STUDY.space, ("a", "b"), 6)
    own = {"stirring": Float(100, 900), "vessel": ["steel", "glass"]}
    given = {"direction": "max", "limits": None}
    join(folder, "a", study=study, own=own, **given)
    join(folder, "b", **given)
    for _ in range(9):
        for name in "ab":
            site = cboc.join(storage=folder / f"{name}.db")
            design = site.ask().design(site.space)
            assert ("stirring" in design) == (name == "a")
            site.tell(site.to_run[0], outcomes(design)["yield"] - abs(design.get("stirring", 500.0) - 500.0) / 100)
    site = cboc.join(storage=folder / "a.db")
    assert site.is_finished and len(site.trials[-1].turn.bests[0]) == 2 and len(site.trials[-1].proposed) == 5
    travelled = b"".join(path.read_bytes() for path in (folder / "ours").rglob("*") if path.is_file())
    assert b"stirring" not in travelled and b"vessel" not in travelled
    with pytest.raises(CbocError, match="began with other parameters of its own"):
        cboc.join(storage=folder / "a.db", own={"stirring": Float(100, 800)})


def test_a_parameter_is_the_studys_or_ones_own(folder):
    with pytest.raises(CbocError, match="'T' is in both"):
        join(folder, "a", study=STUDY, own={"T": (0.0, 1.0)})
