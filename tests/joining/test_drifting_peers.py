"""A site between peers that drifts: its server, which reads the file of feeds alone, goes on for it."""

import time

import cboc
from cboc import Policy, Study
from cboc.exchange.feeds.addresses import Addresses
from cboc.exchange.feeds.arrival import between_peers

from ..machine.peers import code_of, feeds_beside, serving


def test_the_server_of_a_site_goes_on_if_whose_turn_it_is_does_not_close_a_round(tmp_path):
    study = Study({"a": (0.0, 1.0)}, ("x", "y"), 3, pace="rounds", deadline=0.01)
    given = {"direction": "maximise", "study": study, "policy": Policy(initial=0)}
    for site in study.sites:
        cboc.join("peers:", site=site, storage=tmp_path / f"{site}.db", **given)
    x, y = (feeds_beside(tmp_path / f"{site}.db") for site in study.sites)
    Addresses(x).add("y", "https://127.0.0.1:1", code_of(y))
    with serving(x) as url:
        Addresses(y).add("x", url, code_of(x))
        cboc.join(storage=tmp_path / "y.db").propose()
        server = between_peers(y)
        server.standing()
        time.sleep(0.03)
        assert not server.standing().drifts  # it waits for x, which has to close round 0
        cboc.join(storage=tmp_path / "y.db", drifts=True)
        server.follow()
        (drift,) = server.standing().drifts
        assert (drift.site, drift.round, drift.awaited) == ("y", 0, "x")
        cboc.join(storage=tmp_path / "y.db", drifts=False)
        server.follow()
        assert not server._drifts
