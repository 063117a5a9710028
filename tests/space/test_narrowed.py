import numpy as np
import pytest

from cboc import CbocError, Choice, Float, Int, Ledger, Policy, Site, Space, Study
from cboc.space.narrowed import narrowed

SPACE = Space({"T": Float(20, 90), "solvent": Choice(("water", "ethanol")), "n": Int(1, 6), "a": Float(0, 1)})


def test_what_is_fixed_keeps_its_place_and_has_one_value():
    here = narrowed(SPACE, {"T": 25, "solvent": "ethanol"})
    assert here.coordinates == SPACE.coordinates
    for x in (*here.sample(20, np.random.default_rng(0)), here.project(np.full(5, 0.9))):
        design = here.from_unit(x)
        assert (design["T"], design["solvent"]) == (25.0, "ethanol") and here.contains(x)
        assert SPACE.from_unit(x) == design
    assert {here.from_unit(x)["n"] for x in here.sample(50, np.random.default_rng(0))} == {1, 2, 3, 4, 5, 6}


def test_constraints_still_hold():
    mixture = Space({"a": (0.0, 1.0), "b": (0.0, 1.0), "c": (0.0, 1.0)}, ["a + b + c == 1"])
    here = narrowed(mixture, {"b": 0.25})
    for x in here.sample(20, np.random.default_rng(0)):
        assert x.sum() == pytest.approx(1.0) and x[1] == 0.25
    with pytest.raises(CbocError, match="no design within the bounds satisfies"):
        narrowed(Space({"a": (0.0, 1.0), "b": (0.0, 1.0)}, ["a + b >= 1.5"]), {"b": 0.25})
    with pytest.raises(CbocError, match="b = 0.250 violates the constraint 'b >= 0.5'"):
        narrowed(Space({"a": (0.0, 1.0), "b": (0.0, 1.0)}, ["b >= 0.5"]), {"b": 0.25})
    assert narrowed(Space({"a": (0.0, 1.0), "b": (0.0, 1.0)}, ["b >= 0.5"]), {"b": 0.75}).is_box


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"t": 25}, "unknown parameter 't'; known: T, solvent, n, a"),
        ({"T": 200}, "T: expected a number from 20 to 90"),
        ({"solvent": "wine"}, "solvent: unknown option 'wine'"),
        ({"T": 25, "solvent": "water", "n": 2, "a": 0.5}, "all parameters are fixed"),
        ("T", "parameters are fixed by name"),
    ],
)
def test_what_cannot_be_fixed_is_said_in_one_sentence(values, sentence):
    with pytest.raises(CbocError, match=sentence):
        narrowed(SPACE, values)


def study(**more):
    return Study(SPACE, ("a", "b"), 6, fixed={"b": {"T": 25.0}}, **more)


def test_a_study_agrees_on_what_a_site_cannot_vary():
    agreed = study()
    assert agreed.agreement()["fixed"] == {"b": {"T": 25.0}}
    assert Study.from_agreement(agreed.agreement()).digest == agreed.digest
    assert "fixed" not in Study(SPACE, ("a", "b"), 6).agreement()
    assert agreed.digest != Study(SPACE, ("a", "b"), 6).digest
    with pytest.raises(CbocError, match="'c' is not a site"):
        Study(SPACE, ("a", "b"), 6, fixed={"c": {"T": 25}})
    with pytest.raises(CbocError, match="site 'b': T: expected a number"):
        Study(SPACE, ("a", "b"), 6, fixed={"b": {"T": 2500}})


@pytest.mark.parametrize("pace", ["free", "rounds"])
def test_the_others_designs_are_projected(pace):
    agreed = study(pace=pace)
    ledger = Ledger(agreed)
    sites = [Site(agreed, name, ledger, direction="max", policy=Policy(initial=3)) for name in agreed.sites]
    seen = {"a": set(), "b": set()}
    while not all(site.is_finished for site in sites):
        for site in sites:
            if not site.is_finished:
                site.propose()
        for site in sites:
            if site.open_trials:
                trial = site.ask()
                design = trial.design(site.space)
                seen[site.name].add(design["T"])
                site.tell(trial, -((design["T"] - 60.0) ** 2) / 100 - (design["a"] - 0.4) ** 2 - abs(design["n"] - 3))
    assert seen["b"] == {25.0} and len(seen["a"]) > 5
