import threading
from functools import partial

import pytest

from cboc import CbocError, Ledger, Policy, Site, Study, Unreachable, Waiting, collaborative
from cboc.coordinator.tokens import Tokens, new_secret
from cboc.coordinator.transactions import Transactions
from cboc.exchange.http import Client
from cboc.exchange.rest import Membership, Refused, Rest
from cboc.strategy.gate import Gate

from ..exchange.test_network import CentralContract, proposal

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
NAMES = ("x", "y", "z")


def study(**options):
    return Study(SPACE, NAMES, 4, **({"pace": "rounds"} | {"name": "trial run"} | options))


def bowl(design, centre):
    return (design["a"] - centre) ** 2 + (design["b"] - 0.4) ** 2


def take_part(site, centre):
    while not site.is_finished:
        try:
            trial = site.ask()
        except Waiting:
            continue
        site.tell(trial, bowl(trial.design(site.study.space), centre))


def found(engine, url, agreed):
    """A new study in which everybody has joined: the network of each site."""
    Transactions(engine).create(agreed)
    door, networks = Tokens(engine), {}
    for name in agreed.sites:
        networks[name] = Rest(Client(url, new_secret()))
        door.join(door.invite(agreed.name, name), networks[name].client.token)
    return networks


@pytest.fixture
def coordinator(engine, serving):
    with serving(engine) as url:
        yield partial(found, engine, url)


class TestRest(CentralContract):
    """Through a coordinator on a real socket."""

    @pytest.fixture
    def networks(self, engine, serving, clock, monkeypatch):
        monkeypatch.setattr("cboc.coordinator.app.Transactions", partial(Transactions, clock=clock))
        with serving(engine) as url:
            yield partial(found, engine, url)


@pytest.mark.parametrize("rule", ["uniform", "leader"])
def test_a_study_over_the_network_is_that_of_one_process_bit_by_bit(coordinator, rule):
    agreed = study(rule=rule)
    networks, ledger = coordinator(agreed), Ledger(agreed)
    policy = Policy(collaborative(gate=Gate(0.1)), initial=3, seed=5)
    options = {"direction": "minimise", "policy": policy}
    centres = dict(zip(NAMES, (0.3, 0.35, 0.4), strict=True))
    apart = [Site(agreed, name, networks[name], **options) for name in NAMES]
    threads = [threading.Thread(target=take_part, args=(site, centres[site.name])) for site in apart]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = [Site(agreed, name, ledger, **options) for name in NAMES]
    while not all(site.is_finished for site in together):
        for site in together:
            site.propose()
        for site in together:
            trial = site.ask()
            site.tell(trial, bowl(trial.design(agreed.space), centres[site.name]))
    for one, other in zip(apart, together, strict=True):
        assert one.trials == other.trials and len(one.trials) == 7


def test_a_token_stands_for_a_site_of_an_agreement(coordinator):
    agreed = study(deadline=60.0)
    networks = coordinator(agreed)
    networks["y"].submit(proposal("y", 4))
    for name, known in zip(NAMES, ((0, 0), (5, 1), (0, 0)), strict=True):  # the next turn, and experiments so far
        assert networks[name].membership() == Membership(agreed.agreement(), agreed.digest, name, *known)


def test_what_is_refused_says_by_whom(coordinator):
    client = coordinator(study())["x"].client
    with pytest.raises(Refused, match="the coordinator at http.* refused: this token is unknown or was revoked"):
        Rest(Client(client.url, "guess")).standing()


def test_who_has_left_says_so_once(coordinator):
    sent, told = [], []
    client = coordinator(study())["x"].client
    client.record = lambda *message: sent.append(message)
    network = Rest(client, on_leaving=lambda: told.append("left"))
    for _ in range(3):
        network.leave("x")
    Rest(client, has_left=True).leave("x")
    assert len(sent) == len(told) == 1 and network.has_left


def test_every_message_is_recorded_before_it_leaves():
    sent = []
    network = Rest(Client("http://127.0.0.1:9", "token", patience=0.1, record=lambda *message: sent.append(message)))
    with pytest.raises(Unreachable):
        network.submit(proposal("x", 3))
    assert sent and set(sent) == {("http://127.0.0.1:9", "PUT", "/v2/turns/3/proposal", b'{"X": [[0.5, 0.5]]}')}


def test_a_coordinator_that_does_not_answer_is_given_up_after_a_while():
    with pytest.raises(Unreachable, match="no coordinator answers at http://127.0.0.1:9"):
        Rest(Client("http://127.0.0.1:9", "token", patience=0.5)).standing()


@pytest.mark.parametrize("address", ["lab.example", "ftp://lab.example", ""])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(CbocError, match="a coordinator's address looks like https://host:8000"):
        Client(address, "token", patience=0.2)


def test_the_token_is_not_shown():
    assert "secret" not in repr(Rest(Client("http://127.0.0.1:9", "secret")))
