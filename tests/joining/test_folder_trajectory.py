"""Through a shared folder sites run the designs that they run in one process, bit for bit."""

import shutil

import numpy as np
import pytest

import cboc
from cboc import Finished, Policy, Study, Waiting, simulate

SITES = ("w", "x", "y", "z")
SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
FIXED = [[0.4, 0.3, 0.0, 0.3], [0.3, 0.4, 0.3, 0.0], [0.0, 0.3, 0.4, 0.3], [0.3, 0.0, 0.3, 0.4]]
ONE_WAY = [[0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 0.5, 0.5], [0.5, 0.0, 0.0, 0.5]]
RANDOM = [("w", "x"), ("x", "y"), ("y", "z"), ("w", "y")]
CENTRES = dict(zip(SITES, (0.3, 0.35, 0.4, 0.45), strict=True))


def experiment(name):
    return lambda design: (design["a"] - CENTRES[name]) ** 2 + (design["b"] - 0.4) ** 2


def joined(study, path, policy, **options):
    (path / "shared").mkdir(exist_ok=True)
    given = {"direction": "minimise", "policy": policy, "study": study} | options
    return [cboc.join(f"folder:{path / 'shared'}", site=name, storage=path / f"{name}.db", **given) for name in SITES]


def take_part(sites):
    """Let everybody ask and tell by turns, until all have finished."""
    while not all(site.is_finished for site in sites):
        for site in sites:
            try:
                trial = site.ask()
            except (Waiting, Finished):
                continue
            site.tell(trial, experiment(site.name)(trial.design(site.study.space)))


def designs(trials):
    return [(trial.number, trial.proposed, trial.executed, trial.y) for trial in trials]


@pytest.mark.parametrize("graph", ["complete", "ring", "star", RANDOM], ids=["complete", "ring", "star", "random"])
@pytest.mark.parametrize(
    "rule",
    ["identity", "uniform", "metropolis", "leader", FIXED, ONE_WAY],
    ids=["identity", "uniform", "metropolis", "leader", "fixed", "one-way"],
)
def test_in_rounds_the_designs_are_those_of_a_simulation(tmp_path, rule, graph):
    study = Study(SPACE, SITES, 3, rule=rule, graph=graph, pace="rounds")
    policy = Policy(initial=3, seed=5)
    expected = simulate(study, {name: experiment(name) for name in SITES}, direction="minimise", policy=policy)
    sites = joined(study, tmp_path, policy, sealed=graph == "ring")
    take_part(sites)
    for site in sites:
        assert designs(site.trials) == designs(expected.of(site.name))


def test_at_the_free_pace_a_restart_in_between_changes_nothing(tmp_path):
    study, policy = Study(SPACE, SITES, 4), Policy(initial=3, seed=5)
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    plain, restarted = joined(study, tmp_path / "a", policy), joined(study, tmp_path / "b", policy)
    take_part(plain)
    while not all(site.is_finished for site in restarted):
        for name in SITES:
            site = cboc.join(storage=tmp_path / "b" / f"{name}.db")
            try:
                trial = site.ask()
            except Finished:
                continue
            cboc.join(storage=tmp_path / "b" / f"{name}.db").tell(trial, experiment(name)(trial.design(study.space)))
        restarted = [cboc.join(storage=tmp_path / "b" / f"{name}.db") for name in SITES]
    for one, other in zip(plain, restarted, strict=True):
        assert designs(one.trials) == designs(other.trials)


def test_no_outcome_is_in_any_byte_that_leaves_or_in_the_file_of_feeds(tmp_path):
    study, policy = Study(SPACE, SITES, 3), Policy(initial=3, seed=5)
    sites = joined(study, tmp_path, policy)
    take_part(sites)
    public = [*(tmp_path / "shared").rglob("*"), *tmp_path.glob("*.feeds")]
    content = b"".join(file.read_bytes() for file in public if file.is_file())
    outcomes = [y for site in sites for y in site.dataset.y]
    for y in outcomes:
        for form in (repr(float(y)), f"{y:.6g}", np.float64(y).tobytes(), np.float32(y).tobytes()):
            assert (form.encode() if isinstance(form, str) else form) not in content


def test_an_old_copy_of_both_files_is_told_so_and_does_not_fork(tmp_path):
    study, policy = Study(SPACE, SITES, 4), Policy(initial=1, seed=5)
    sites = joined(study, tmp_path, policy)
    x = sites[1]
    x.tell(x.ask(), 1.0)
    for name in ("x.db", "x.db.feeds"):
        shutil.copy(tmp_path / name, tmp_path / f"old-{name}")
    x.tell(x.ask(), 2.0)
    for name in ("x.db", "x.db.feeds"):
        shutil.copy(tmp_path / f"old-{name}", tmp_path / name)
    with pytest.raises(cboc.CbocError, match="entry 1 of 'x' is known to others and not in this file: it is an older"):
        cboc.join(storage=tmp_path / "x.db").ask()
