import threading

import pytest

from cboc import CbocError, Gate, Ledger, Site, Study, Waiting
from cboc.coordinator.tokens import Tokens, new_secret
from cboc.coordinator.transactions import Transactions
from cboc.exchange.ledger import RoundClosed
from cboc.exchange.messages import Proposal
from cboc.exchange.rest import Rest, Unreachable

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
NAMES = ("x", "y", "z")


def study(**options):
    return Study(SPACE, NAMES, 4, **({"name": "trial run"} | options))


def bowl(design, centre):
    return (design["a"] - centre) ** 2 + (design["b"] - 0.4) ** 2


def take_part(site, centre):
    while not site.is_finished:
        try:
            trial = site.ask()
        except Waiting:
            continue
        site.tell(trial, bowl(trial.design(site.study.space), centre))


@pytest.fixture
def coordinator(engine, serving):
    door = Tokens(engine)
    with serving(engine) as url:

        def found(agreed):
            Transactions(engine).create(agreed)
            tokens = {name: new_secret() for name in agreed.sites}
            for name, token in tokens.items():
                door.join(door.invite(agreed.name, name), token)
            return {name: Rest(url, token) for name, token in tokens.items()}

        yield found


@pytest.mark.parametrize("rule", ["uniform", "leader"])
def test_a_study_over_the_network_is_that_of_one_process_bit_by_bit(coordinator, rule):
    agreed = study(rule=rule)
    networks, ledger = coordinator(agreed), Ledger(agreed)
    options = {"direction": "minimise", "initial": 3, "seed": 5, "gate": Gate(0.1)}
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


def test_refusals_are_told_apart(coordinator):
    networks = coordinator(study(shares_best=False))
    network = networks["x"]
    assert network.standing()["site"] == "x" and network.design("x", 0) is None
    network.submit(Proposal("x", 0, (0.5, 0.5)))
    with pytest.raises(CbocError, match="site 'x' has proposed another design"):
        network.submit(Proposal("x", 0, (0.1, 0.5)))
    networks["y"].leave("y")
    networks["z"].leave("z")
    with pytest.raises(RoundClosed) as late:
        networks["y"].submit(Proposal("y", 0, (0.5, 0.5)))
    assert late.value.current == 1
    with pytest.raises(CbocError, match="this token is unknown or was revoked"):
        Rest(network.url, "guess").standing()


def test_a_coordinator_that_does_not_answer_is_given_up_after_a_while():
    with pytest.raises(Unreachable, match="no coordinator answers at http://127.0.0.1:9"):
        Rest("http://127.0.0.1:9", "token", patience=0.5).standing()


@pytest.mark.parametrize("address", ["lab.example", "ftp://lab.example", ""])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(CbocError, match="a coordinator's address looks like https://host:8000"):
        Rest(address, "token", patience=0.2).standing()


def test_the_token_is_not_shown():
    assert "secret" not in repr(Rest("http://127.0.0.1:9", "secret"))
