"""Through a coordinator sites run the designs that they run in one process, bit for bit."""

import pytest

import cboc
from cboc import Policy, Study, simulate
from cboc.coordinator.database import open_database
from cboc.coordinator.schema import upgrade
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions

from .test_folder_trajectory import FIXED, ONE_WAY, RANDOM, SITES, SPACE, designs, experiment, take_part

POLICY = Policy(initial=3, seed=5)


@pytest.fixture
def joined(tmp_path, serving):
    """`joined(study)`: its sites, which have joined at a real coordinator."""
    engine = open_database(f"sqlite:///{tmp_path / 'coordinator.db'}")
    upgrade(engine)

    def start(study):
        Transactions(engine).create(study)
        codes = {name: Tokens(engine).invite(study.name, name) for name in study.sites}
        given = {"direction": "minimise", "policy": POLICY}
        return [cboc.join(url, code, storage=tmp_path / f"{name}.db", **given) for name, code in codes.items()]

    with serving(engine) as url:
        yield start
    engine.dispose()


@pytest.mark.parametrize("graph", ["complete", "ring", "star", RANDOM], ids=["complete", "ring", "star", "random"])
@pytest.mark.parametrize(
    "rule",
    ["identity", "uniform", "metropolis", "leader", FIXED, ONE_WAY],
    ids=["identity", "uniform", "metropolis", "leader", "fixed", "one-way"],
)
def test_in_rounds_the_designs_are_those_of_a_simulation(joined, rule, graph):
    study = Study(SPACE, SITES, 3, rule=rule, graph=graph, pace="rounds")
    expected = simulate(study, {name: experiment(name) for name in SITES}, direction="minimise", policy=POLICY)
    sites = joined(study)
    take_part(sites)
    for site in sites:
        assert designs(site.trials) == designs(expected.of(site.name))
