"""Strangers who connect to a peer and say nothing: its neighbour is answered as if they were not there."""

import socket
import ssl
from contextlib import ExitStack

from cboc.exchange.feeds.addresses import Addresses
from cboc.exchange.feeds.arrival import between_peers
from cboc.peer.serving import sparing

from ..exchange.test_network import proposal, study
from ..machine.peers import begun, code_of, serving

MANY = 550  # that have shaken hands; asyncio waits a minute for as many that have not


def test_a_neighbour_is_answered_among_hundreds_of_strangers(tmp_path):
    agreed = study(pace="free")
    x, y, _ = (begun(tmp_path, agreed, name) for name in agreed.sites)
    between_peers(x).submit(proposal("x"))
    anybody = ssl.create_default_context()
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
    with serving(x) as url, ExitStack() as stack:
        Addresses(x).add("y", "https://127.0.0.1:1", code_of(y))
        Addresses(y).add("x", url, code_of(x))
        port = int(url.rpartition(":")[2])
        for _ in range(MANY):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20.0))
            stack.enter_context(anybody.wrap_socket(line, server_hostname="x"))
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20.0))  # without a word
        network = between_peers(y)
        network.follow()
        (peer,) = [peer for peer in network.standing().peers if peer.site == "x"]
        assert not peer.silence and peer.entries == 2


def test_what_strangers_do_fills_no_terminal_and_hides_no_neighbour_for_ever():
    """Every line of a stranger may be another one, and come from elsewhere."""
    said, now = [], [1000.0]
    say = sparing(said.append, lambda: now[0])
    for k in range(5000):
        say(f"Refused a request from 192.0.2.1: {k}.", "192.0.2.1")
    assert len(said) == 1
    for k in range(5000):
        say(f"Refused a request from 192.0.2.{k}.", f"192.0.2.{k}")
    assert len(said) <= 10
    say("lab-b took 3 entries.", "")
    assert said[-1] == "lab-b took 3 entries.", "what neighbours take is always said"
    for _ in range(3):
        now[0] += 61.0
        say("lab-b has everything.", "lab-b")
    assert said.count("lab-b has everything.") == 1 and said[-1] == "lab-b has everything."
