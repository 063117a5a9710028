"""Strangers who connect to a peer and say nothing: its neighbour is answered as if they were not there."""

import socket
import ssl
from contextlib import ExitStack

from cboc.exchange.feeds.addresses import Addresses
from cboc.exchange.feeds.arrival import between_peers

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
