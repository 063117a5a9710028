import pickle

import numpy as np
import pytest

from cboc import CbocError, Choice, Float, Ledger, Policy, Site, Space, Study

RNG = np.random.default_rng(0)
SHELF = [
    {"T": float(T), "solvent": s}
    for T, s in zip(RNG.uniform(20, 90, 40).round(1), 20 * ["water", "ethanol"], strict=True)
]
PARAMETERS = {"T": Float(20, 90), "solvent": Choice(("water", "ethanol"))}
SPACE = Space(PARAMETERS, candidates=SHELF)


def test_only_candidates_are_feasible_and_whatever_is_mixed_goes_to_one():
    for x in RNG.random((50, 3)):
        nearest = SPACE.project(x)
        assert SPACE.contains(nearest) and SPACE.from_unit(nearest) in SHELF and not SPACE.contains(x)
        distances = [np.linalg.norm(SPACE.to_unit(design) - x) for design in SHELF]
        assert np.linalg.norm(nearest - x) == pytest.approx(min(distances))


def test_each_is_drawn_before_one_is_drawn_twice():
    X = SPACE.sample(60, np.random.default_rng(1))
    assert len(np.unique(X[:40], axis=0)) == 40 and len(X) == 60


def test_plain_data_and_copies():
    again = Space.from_dict(SPACE.to_dict())
    assert again == SPACE and hash(again) == hash(SPACE) and pickle.loads(pickle.dumps(SPACE)) == SPACE
    assert again != Space(PARAMETERS) and SPACE.most_designs == 40
    assert "candidates" not in Space(PARAMETERS).to_dict()


def test_two_sites_run_nothing_but_candidates_alone_and_together():
    study = Study(SPACE, ("a", "b"), 8)
    ledger = Ledger(study)
    sites = [Site(study, name, ledger, direction="min", policy=Policy(initial=3)) for name in study.sites]
    for _ in range(11):
        for site in sites:
            trial = site.ask()
            assert trial.design(SPACE) in SHELF
            site.tell(trial, abs(trial.design(SPACE)["T"] - 60.0))
    assert all(site.is_finished for site in sites)
    assert min(site.best.y for site in sites) == min(abs(design["T"] - 60.0) for design in SHELF)


def test_a_plate_has_candidates_that_share_a_value():
    shelf = [{"T": T, "solvent": s} for T in (30.0, 50.0, 70.0) for s in ("water", "ethanol")]
    study = Study(Space(PARAMETERS, candidates=shelf), ("a",), 6)
    site = Site(study, "a", Ledger(study), direction="max", policy=Policy(initial=0))
    plate = site.ask(2, same=["T"])
    assert len({trial.design(study.space)["T"] for trial in plate}) == 1
    assert all(trial.design(study.space) in shelf for trial in plate)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([], "at least one design; this one is empty"),
        (
            [{"T": 30.0, "solvent": "water"}, {"T": 99.0, "solvent": "water"}],
            "candidate 2: T: expected a number from 20 to 90",
        ),
        ([{"T": 30.0, "solvent": "water"}, {"T": 30.0}], "candidate 2: the design lacks parameter 'solvent'"),
        (2 * [{"T": 30.0, "solvent": "water"}], "candidates 1 and 2 are the same design"),
        ("shelf.csv", "candidates are a list of designs"),
    ],
)
def test_a_wrong_list_is_refused_in_one_sentence(given, sentence):
    with pytest.raises(CbocError, match=sentence):
        Space(PARAMETERS, candidates=given)


def test_nothing_can_be_added_to_a_list():
    with pytest.raises(CbocError, match="cannot be added to a list of candidates"):
        _ = SPACE + Space({"own": (0.0, 1.0)})
