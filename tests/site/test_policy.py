import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from cboc import CbocError, Dataset, Gate, Guide, Ledger, Policy, Site, Study, collaborative
from cboc.strategy.bayesian import Bayesian, paper
from cboc.strategy.opinion import FromFunction
from cboc.utility.improvement import EI


def test_the_default_is_our_own_strategy_and_goes_on_alone():
    policy = Policy()
    assert policy.strategy == collaborative() == collaborative(Bayesian(), Gate(0.1), Guide())
    assert (policy.initial, policy.seed, policy.stop_below, policy.goes_on_alone) == (None, None, 0.0, True)
    assert policy.known_seed == 0 and policy.to_dict()["seed"] == 0  # in one process; joining draws one
    with pytest.raises(FrozenInstanceError):
        policy.seed = 1


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"strategy": "ei"}, "a strategy is a function, such as Bayesian"),
        ({"strategy": Bayesian}, "a strategy is a function, such as Bayesian"),
        ({"strategy": None}, "a strategy is a function, such as Bayesian"),
        ({"seed": -1}, "seed is a whole number from 0; this is -1"),
        ({"seed": "x"}, "seed is a whole number from 0; this is 'x'"),
        ({"seed": True}, "seed is a whole number from 0; this is True"),
        ({"initial": 2.5}, "initial is a whole number from 0 to 100,000; this is 2.5"),
        ({"initial": float("nan")}, "initial is a whole number from 0 to 100,000; this is nan"),
        ({"initial": float("inf")}, "initial is a whole number from 0 to 100,000; this is inf"),
        ({"initial": "4"}, "initial is a whole number from 0 to 100,000; this is '4'"),
        ({"stop_below": float("nan")}, "stop_below is a number from 0; this is nan"),
        ({"initial": 10**30}, "initial is a whole number from 0 to 100,000; this is 1000"),
        ({"seed": 10**400}, "seed is a whole number from 0; this is 1000"),
        ({"goes_on_alone": "no"}, "goes_on_alone is True or False; this is 'no'"),
        ({"goes_on_alone": 0}, "goes_on_alone is True or False; this is 0"),
        ({"stop_below": -0.1}, "stop_below is a number from 0; this is -0.1"),
    ],
)
def test_wrong_settings_are_refused_in_one_sentence(settings, complaint):
    with pytest.raises(CbocError, match=complaint):
        Policy(**settings)


def test_a_function_counts_as_a_strategy():
    def mine(situation, rng):
        return Bayesian()(situation, rng)

    assert Policy(mine).strategy == FromFunction(mine)


def test_whole_numbers_of_any_kind_are_plain_ones_afterwards():
    policy = Policy(initial=np.int64(4), seed=3.0)
    assert policy == Policy(initial=4, seed=3) and type(policy.initial) is type(policy.seed) is int


@pytest.mark.parametrize(("given", "initial"), [(None, 4), (0, 0), (7, 7)])
def test_without_a_number_there_are_two_initial_designs_per_parameter(given, initial):
    study = Study({"a": (0.0, 1.0), "b": ["x", "y", "z"]}, ["x"], 3)
    earlier = Dataset(study.space.sample(3, np.random.default_rng(0)), [1.0, 2.0, 3.0], direction="maximise")
    for data, known in ((None, 0), (earlier, 3)):
        site = Site(study, "x", Ledger(study), direction="maximise", policy=Policy(initial=given), data=data)
        assert site.initial == max(0, initial - known)


def lambda_gate(ratio):
    return lambda mix, own: mix >= own + ratio


def test_as_plain_data_policies_are_told_apart_and_known_again():
    policies = {
        "default": Policy,
        "seed": lambda: Policy(seed=1),
        "initial": lambda: Policy(initial=1),
        "threshold": lambda: Policy(stop_below=1.0),
        "stubborn": lambda: Policy(goes_on_alone=False),
        "paper": lambda: Policy(paper()),
        "utility": lambda: Policy(collaborative(Bayesian(EI.on))),
        "gate": lambda: Policy(collaborative(gate=Gate(0.5))),
        "guide": lambda: Policy(collaborative(guide=Guide(0.5))),
        "own gate": lambda: Policy(collaborative(gate=lambda_gate(-1.0))),
        "other gate": lambda: Policy(collaborative(gate=lambda_gate(-2.0))),
        "own function": lambda: Policy(lambda situation, rng: Bayesian()(situation, rng)),
        "other function": lambda: Policy(lambda situation, rng: paper()(situation, rng)),
    }
    plain = {name: json.dumps(make().to_dict(), allow_nan=False) for name, make in policies.items()}
    assert len(set(plain.values())) == len(policies)
    assert plain == {name: json.dumps(make().to_dict(), allow_nan=False) for name, make in policies.items()}
    assert json.loads(plain["seed"])["seed"] == 1
