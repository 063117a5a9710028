"""Between peers sites run the designs that they run in one process, bit for bit."""

import numpy as np
import pytest

import cboc
from cboc import Ledger, Policy, Study, simulate
from cboc.exchange.feeds.record import Record
from cboc.exchange.feeds.replica import Replica
from cboc.joining.sent import sent_by
from cboc.storage.sitefile import SiteFile

from ..machine.peers import all_serving, feeds_beside
from .test_folder_trajectory import FIXED, RANDOM, SITES, SPACE, designs, experiment, take_part


def joined(study, path, policy):
    given = {"direction": "minimise", "policy": policy, "study": study}
    return [cboc.join("peers:", site=name, storage=path / f"{name}.db", **given) for name in SITES]


def serving(path):
    return all_serving({name: feeds_beside(path / f"{name}.db") for name in SITES})


@pytest.mark.parametrize("graph", ["complete", "ring", "star", RANDOM], ids=["complete", "ring", "star", "random"])
@pytest.mark.parametrize(
    "rule", ["identity", "uniform", "leader", FIXED], ids=["identity", "uniform", "leader", "fixed"]
)
def test_in_rounds_the_designs_are_those_of_a_simulation(tmp_path, rule, graph):
    study = Study(SPACE, SITES, 3, rule=rule, graph=graph, pace="rounds")
    policy = Policy(initial=3, seed=5)
    expected = simulate(study, {name: experiment(name) for name in SITES}, direction="minimise", policy=policy)
    sites = joined(study, tmp_path, policy)
    with serving(tmp_path):
        take_part(sites)
    for site in sites:
        assert designs(site.trials) == designs(expected.of(site.name))


@pytest.mark.parametrize("rule", ["uniform", "leader"])
def test_at_the_free_pace_every_answer_equals_its_replay_from_the_feeds_of_another_site(tmp_path, rule):
    study, policy = Study(SPACE, SITES, 3, rule=rule), Policy(initial=3, seed=5)
    sites = joined(study, tmp_path, policy)
    with serving(tmp_path):
        take_part(sites)
        sites[0].network.sync()
    replica = Replica(study)
    replica.load(feeds_beside(tmp_path / f"{SITES[0]}.db").entries()[0])
    for site in sites:
        ledger = Ledger(study, Record(replica, site.name))
        answered = [trial for trial in site.trials if trial.answer is not None]
        assert len(answered) == 3 and any(min(trial.answer.weights) > 0.0 for trial in answered)
        for trial in answered:
            again = ledger.mix(site.name, trial.turn.number)
            assert (again.weights, again.leader) == (trial.answer.weights, trial.answer.leader)
            assert again.X[0] == trial.answer.mix


def test_no_outcome_is_in_any_file_of_feeds_and_the_audit_shows_the_own_feed(tmp_path):
    study, policy = Study(SPACE, SITES, 2), Policy(initial=3, seed=5)
    sites = joined(study, tmp_path, policy)
    with serving(tmp_path):
        take_part(sites)
    content = b"".join(file.read_bytes() for file in tmp_path.glob("*.feeds"))
    for y in (y for site in sites for y in site.dataset.y):
        assert repr(float(y)).encode() not in content and np.float64(y).tobytes() not in content
    for site in sites:
        sent = sent_by(SiteFile(tmp_path / f"{site.name}.db"))
        assert [message.content["act"] for message in sent] == ["hello", "turn", "turn"]
