"""Sites that ask each other over HTTPS, on real sockets: what they hear, from whom, and whom they do not believe."""

import shutil
import socket
import ssl
import threading
import time
from contextlib import ExitStack, suppress

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cboc import CbocError, Study, Unreachable
from cboc.consensus.matrix import quantise
from cboc.exchange.certificate import self_signed
from cboc.exchange.feeds import introduction
from cboc.exchange.feeds.addresses import Addresses, as_address
from cboc.exchange.feeds.arrival import between_peers
from cboc.exchange.feeds.entry import write
from cboc.exchange.feeds.feedfile import ENTRIES, FeedFile
from cboc.exchange.feeds.keys import Keys, as_code
from cboc.exchange.feeds.network import Feeds
from cboc.exchange.feeds.peers import Peers
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.feeds.request import Request
from cboc.exchange.feeds.visit import Visit
from cboc.exchange.messages import Proposal
from cboc.exchange.network import Conflict, Waiting
from cboc.peer.serving import listening, over_tls, tls

from ...machine.peers import add_neighbours, all_serving, begun, code_of, running, serving
from ...storage.tampering import reseal
from ..test_network import SITES, NetworkContract, proposal, study

PLANTED = tuple(quantise(np.array([0.123456789, 0.987654321])).tolist())
WRONG = "00000-00000-00000-00000-00000-00000"


class Prompt(Feeds):
    """A site whose peers' servers have all just asked around, when it asks."""

    servers = ()

    def sync(self):
        for other in self.servers:
            other.sync()
        super().sync()


class TestPeers(NetworkContract):
    @pytest.fixture
    def networks(self, tmp_path, clock):
        with ExitStack() as stack:

            def begin(agreed):
                files = {name: begun(tmp_path, agreed, name) for name in agreed.sites}
                stack.enter_context(all_serving(files))
                networks = {}
                for name, file in files.items():
                    carrier = Peers(name, file.keys, Addresses(file))
                    networks[name] = Prompt(Replica(agreed, file.keep), name, file.keys, carrier, file, clock)
                    networks[name].reload()
                    if agreed.graph != "complete":
                        networks[name].servers = [between_peers(files[other]) for other in SITES if other != name]
                return networks

            yield begin


@pytest.fixture
def files(tmp_path):
    """The files of feeds of three sites at the free pace, which know nothing of each other."""
    agreed = study(pace="free")
    return {name: begun(tmp_path, agreed, name) for name in SITES}


def test_one_that_does_not_answer_does_not_stop_the_others_and_is_named(files):
    with serving(files["y"]) as y, serving(files["z"]) as z:
        urls = {"x": "https://127.0.0.1:1", "y": y, "z": z}
        for site in SITES:
            add_neighbours(site, files, urls)
        between_peers(files["y"]).submit(proposal("y"))
        network = between_peers(files["z"])
        peers = {peer.site: peer for peer in network.standing().peers}
        assert peers["y"].entries == 2 and not peers["y"].silence and not network.trouble
        assert "'x' does not answer at https://127.0.0.1:1" in peers["x"].silence
    gone = network.standing()
    assert "'y' does not answer" in gone.trouble and "'x' does not answer" in gone.trouble
    network.submit(proposal("z"))  # nothing is lost: it is in the own feed
    assert network.mix("z", 0).turn == 0


def test_what_a_silent_neighbour_has_proposed_comes_from_a_common_one(files):
    urls = {name: f"https://127.0.0.1:{k}" for k, name in enumerate(SITES, 1)}
    with all_serving(files):
        between_peers(files["x"]).submit(proposal("x", x=PLANTED))
        between_peers(files["y"]).sync()
    with serving(files["y"]) as y:
        Addresses(files["z"]).add("x", urls["x"], code_of(files["x"]))
        Addresses(files["z"]).add("y", y, code_of(files["y"]))
        network = between_peers(files["z"])
        network.sync()
        assert network.replica.feeds["x"].turns[0].proposal.X == (PLANTED,)


@pytest.mark.parametrize(("rule", "entries"), [("uniform", 0), ("leader", 2)])
def test_no_peer_ever_holds_a_design_of_a_site_that_is_no_neighbour(tmp_path, rule, entries):
    """On a star y and z are no neighbours: with the leader rule x passes on z's rewards, without its designs."""
    agreed = study(pace="free", graph="star", rule=rule)
    files = {name: begun(tmp_path, agreed, name) for name in SITES}
    with all_serving(files):
        reward = {"reward": 0.5} if agreed.needs_rewards else {}
        between_peers(files["z"]).submit(proposal("z", x=PLANTED, bests=[PLANTED[::-1]], **reward))
        for site in "xyxy":
            between_peers(files[site]).sync()
    content = {name: (tmp_path / f"{name}.feeds").read_bytes() for name in SITES}
    designs = [repr(number).encode() for number in PLANTED]
    assert all(number in content["x"] and number in content["z"] for number in designs)
    assert not any(number in content["y"] for number in designs)
    heard = between_peers(files["y"])
    heard.reload()
    assert len(heard.replica.feeds["z"].entries) == entries


def test_whoever_answers_with_other_keys_is_not_believed(files):
    with serving(files["y"]) as url:
        Addresses(files["x"]).add("y", url, WRONG)
        network = between_peers(files["x"])
        assert "is not 'y': its code is" in network.standing().trouble
        assert not network.replica.feeds["y"].entries


def test_a_certificate_that_changes_is_taken_from_the_same_site_and_from_nobody_else(files):
    Addresses(files["y"]).add("x", "https://127.0.0.1:1", code_of(files["x"]))
    with serving(files["y"]) as url:
        Addresses(files["x"]).add("y", url, code_of(files["y"]))
        network = between_peers(files["x"])
        network.sync()
        first = Addresses(files["x"]).all()["y"].certificate
        assert network.carrier.silent.keys() == {"z"} and first is not None
    port, asked = int(url.rpartition(":")[2]), []

    async def replayed(_):
        """A man in the middle shows what the site has said about itself, over a certificate of its own."""
        return JSONResponse(introduction.introduce(files["y"].keys, ssl.PEM_cert_to_DER_cert(first)))

    async def curious(request):
        asked.append(await request.body())
        return JSONResponse({})

    app = Starlette(routes=[Route(introduction.PATH, replayed), Route("/{path:path}", curious, methods=["POST"])])
    own = [text.decode() for text in self_signed("cboc", introduction.BEGINS, introduction.ENDS)]
    with running(over_tls(app, *own), port):
        assert "its keys do not vouch for its certificate" in network.standing().trouble
        assert not asked and Addresses(files["x"]).all()["y"].certificate == first
    del files["y"].about["tls"]  # the site itself makes a new one
    between_peers(files["y"]).submit(proposal("y"))
    with serving(files["y"], port=port):
        network.sync()
        assert not network.trouble and len(network.replica.feeds["y"].entries) == 2
        assert Addresses(files["x"]).all()["y"].certificate not in (None, first)


@pytest.mark.parametrize("answer", [b"", b"<html>", b"[]", b"{}", b"x" * 100_000], ids=len)
def test_what_is_no_peer_is_told_in_one_sentence(files, answer):
    app = Starlette(routes=[Route("/{path:path}", lambda _: Response(answer))])
    own = [text.decode() for text in self_signed("cboc", introduction.BEGINS, introduction.ENDS)]
    with running(over_tls(app, *own)) as url:
        Addresses(files["x"]).add("y", url, code_of(files["y"]))
        assert f"what answers at {url} is not a peer" in between_peers(files["x"]).standing().trouble


def test_another_study_is_told_at_the_first_contact(files, tmp_path):
    (tmp_path / "other").mkdir()
    other = begun(tmp_path / "other", study(pace="free", quorum=1, name="another"), "y")
    Addresses(other).add("x", "https://127.0.0.1:1", code_of(files["x"]))
    with serving(other) as url:
        Addresses(files["x"]).add("y", url, code_of(other))
        said = between_peers(files["x"]).standing().trouble
        assert "'y' has another study than this site: name" in said


def test_who_was_not_added_there_is_told_so(files):
    with serving(files["y"]) as url:
        Addresses(files["x"]).add("y", url, code_of(files["y"]))
        assert "'y' refuses this site: there it was not added" in between_peers(files["x"]).standing().trouble


def test_nothing_of_a_neighbour_is_taken_before_it_was_added(files):
    """Otherwise whoever passes its feed on could pass on another one under its name."""
    with serving(files["y"]) as y, serving(files["z"]) as z:
        urls = {"x": "https://127.0.0.1:1", "y": y, "z": z}
        add_neighbours("y", files, urls)
        add_neighbours("z", files, urls)
        between_peers(files["y"]).sync()
        Addresses(files["x"]).add("y", y, code_of(files["y"]))
        network = between_peers(files["x"])
        network.sync()
        assert len(network.replica.feeds["y"].entries) == 1 and not network.replica.feeds["z"].entries
        Addresses(files["x"]).add("z", "https://127.0.0.1:1", code_of(files["z"]))
        network.sync()
        assert len(network.replica.feeds["z"].entries) == 1  # by way of y


def test_a_hello_with_other_keys_than_those_that_were_added_is_refused(files):
    replica = Replica(study(pace="free"), pinned=lambda: {"y": WRONG})
    replica.take(files["y"].written("y")[0][1])
    assert not replica.feeds["y"].entries
    assert "somebody else calls itself 'y'" in " ".join(replica.refused.values())


def test_a_feed_that_has_split_is_shown_to_whoever_has_the_other_end(files):
    with all_serving(files):
        own = between_peers(files["y"])
        own.submit(proposal("y"))
        heard = between_peers(files["x"])
        heard.sync()
        hello = own.feed.entries[0]
        said = {"act": "turn", "seen": {}, "earlier": 0, "wells": 1}
        other = write(files["y"].keys, study(pace="free").digest, "y", hello, 0, said, {"X": [PLANTED]})
        reseal(files["y"].path, [ENTRIES], "DELETE FROM entries WHERE site = 'y' AND number = 1")
        files["y"].keep(other)
    with all_serving(files):  # an old copy of y has gone another way
        heard.sync()
        assert "there are two entries 1 of 'y', both signed" in heard.replica.feeds["y"].trouble
    with serving(files["x"]) as url:
        Addresses(files["z"]).add("x", url, code_of(files["x"]))
        third = between_peers(files["z"])
        third.sync()  # y is silent, and x has the proof
        assert "there are two entries 1 of 'y', both signed" in third.replica.feeds["y"].trouble


def test_an_old_copy_is_told_so_by_the_neighbours_and_does_not_fork(files, tmp_path):
    shutil.copy(tmp_path / "y.feeds", tmp_path / "old.feeds")
    with all_serving(files):
        between_peers(files["y"]).submit(proposal("y"))
        between_peers(files["x"]).sync()
        shutil.copy(tmp_path / "old.feeds", tmp_path / "y.feeds")
        old = FeedFile(tmp_path / "y.feeds")
        add_neighbours("y", files | {"y": old}, {name: each.address for name, each in _addresses(files).items()})
        with pytest.raises(Conflict, match="entry 1 of 'y' is known to others and not in this file"):
            between_peers(old).submit(proposal("y", x=PLANTED))


def _addresses(files):
    return Addresses(files["x"]).all() | {"x": Addresses(files["z"]).all()["x"]}


def test_many_entries_come_in_several_answers(files, monkeypatch):
    monkeypatch.setattr("cboc.peer.answers.MOST_ENTRIES", 2)
    with all_serving(files):
        own = between_peers(files["y"])
        for turn in range(4):
            own.submit(proposal("y", turn))
        heard = between_peers(files["x"])
        heard.sync()
        assert len(heard.replica.feeds["y"].entries) == 5


def test_two_processes_of_a_site_append_at_once(files):
    """The server of a site closes a round while somebody asks for an experiment: both are in the feed."""
    one, other = between_peers(files["x"]), between_peers(files["x"])
    one.reload(), other.reload()
    one.submit(proposal("x"))
    other.leave("x")  # it did not know of entry 1
    assert [entry.act for _, entry in files["x"].written("x")] == ["hello", "turn", "leave"]


def test_a_round_is_closed_by_the_site_whose_turn_it_is_also_where_it_is_heard_of_by_others_only(tmp_path):
    agreed = Study({"a": (0.0, 1.0)}, SITES, 3, graph="star", pace="rounds", deadline=0.001)
    files = {name: begun(tmp_path, agreed, name) for name in SITES}
    with all_serving(files):
        between_peers(files["y"]).submit(Proposal("y", 0, [(0.5,)]))
        closer = between_peers(files["x"])
        closer.standing()
        time.sleep(0.01)
        assert closer.standing().round == 1  # without z
        assert between_peers(files["z"]).standing().round == 1
        assert between_peers(files["y"]).mix("y", 0).weights == (0.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("site", "url", "code", "sentence"),
    [
        ("x", "https://127.0.0.1:1", WRONG, "'x' is this site itself"),
        ("q", "https://127.0.0.1:1", WRONG, "'q' is not a site"),
        ("z", "https://127.0.0.1:1", WRONG, "'z' is no neighbour of 'y' in the study's graph"),
        ("x", "http://127.0.0.1:1", WRONG, "a peer's address looks like"),
        ("x", "https://", WRONG, "a peer's address looks like"),
        ("x", "https://a b:1", WRONG, "a peer's address looks like"),
        ("x", "https://host:99999", WRONG, "a peer's address looks like"),
        ("x", "https://me@host:1", WRONG, "a peer's address looks like"),
        ("x", "https://host:1/there", WRONG, "a peer's address looks like"),
        ("x", "https://127.0.0.1:1", "12345", "a code has 30 digits"),
        ("x", "https://127.0.0.1:1", "x" * 30, "a code has 30 digits"),
        ("x", "https://127.0.0.1:1", "²" * 30, "a code has 30 digits"),
    ],
)
def test_what_cannot_be_added(tmp_path, site, url, code, sentence):
    own = "x" if site == "x" and "itself" in sentence else "y"
    file = begun(tmp_path, study(graph="star"), own)
    with pytest.raises(CbocError, match=sentence):
        Addresses(file).add(site, url, code)
    assert not Addresses(file).all()


def test_adding_again_moves_a_neighbour_and_another_code_has_to_be_meant(files):
    book = Addresses(files["x"])
    book.add("y", "https://one.example.org:8443", WRONG)
    book.add("y", "https://two.example.org", WRONG.replace("-", " "))
    assert book.all()["y"].address == "https://two.example.org"
    code = code_of(files["y"])
    with pytest.raises(CbocError, match="'y' was added with the code 00000-.*add it with --again"):
        book.add("y", "https://two.example.org", code)
    book.add("y", "https://two.example.org", code, is_correction=True)
    files["x"].keep(files["y"].written("y")[0][1])  # its hello has come
    with pytest.raises(CbocError, match="'y' is known here by its first keys.*cannot come back under its name"):
        book.add("y", "https://two.example.org", WRONG, is_correction=True)


def test_codes_and_addresses_are_read_as_people_write_them():
    code = Keys.make().identity.fingerprint
    assert (
        len(code.replace("-", "")) == 30 and as_code(code.replace("-", " ")) == as_code(code.replace("-", "")) == code
    )
    assert as_address(" https://lab-a.example.org:8443/ ") == "https://lab-a.example.org:8443"
    assert as_address("https://[::1]:8443") == "https://[::1]:8443"


def test_in_rounds_nobody_goes_on_alone_because_no_neighbour_was_added_yet(tmp_path):
    file = begun(tmp_path, study(), "x")
    network = between_peers(file)
    network.submit(proposal("x"))
    with pytest.raises(Waiting):
        network.mix("x", 0)
    assert "'y' has not been added here yet" in network.standing().peers[0].silence


def test_one_that_answers_drop_by_drop_does_not_hold_up_the_others(files):
    """It is given up after a while, and spared for some time."""
    stop = threading.Event()

    def drip(listener):
        while not stop.is_set():
            with suppress(OSError), context.wrap_socket(listener.accept()[0], server_side=True) as client:
                for _ in range(1000):
                    if stop.wait(0.05):
                        return
                    client.sendall(b"H")

    context = tls(*introduction.own_certificate(files["y"]))
    listener = listening("127.0.0.1", 0)
    thread = threading.Thread(target=drip, args=(listener,))
    thread.start()
    try:
        with serving(files["z"]) as z:
            Addresses(files["z"]).add("x", "https://127.0.0.1:1", code_of(files["x"]))
            Addresses(files["x"]).add("y", f"https://127.0.0.1:{listener.getsockname()[1]}", code_of(files["y"]))
            Addresses(files["x"]).add("z", z, code_of(files["z"]))
            network = between_peers(files["x"])
            network.carrier = Peers("x", files["x"].keys, Addresses(files["x"]), patience=0.3)
            peers = {peer.site: peer for peer in network.standing().peers}
            assert peers["z"].entries == 1 and peers["y"].silence
            began = time.monotonic()
            assert {peer.site: peer for peer in network.standing().peers}["y"].silence == peers["y"].silence
            assert time.monotonic() - began < 3.0
    finally:
        stop.set()
        socket.create_connection(listener.getsockname()).close()
        thread.join()
        listener.close()


def test_nothing_is_asked_of_whoever_is_not_known(files):
    """Also not the second time, on the same visit."""
    asked = []

    async def curious(request):
        asked.append(await request.body())
        return JSONResponse({})

    own = [text.decode() for text in self_signed("cboc", introduction.BEGINS, introduction.ENDS)]
    with running(over_tls(Starlette(routes=[Route("/{path:path}", curious, methods=["POST", "GET"])]), *own)) as url:
        neighbour, agreed = Addresses(files["x"]).add("y", url, code_of(files["y"])), study(pace="free")
        with Visit(files["x"].keys, Addresses(files["x"]), neighbour) as visit:
            for _ in range(2):
                with pytest.raises(Unreachable, match="is not a peer"):
                    visit.ask(agreed, Request(agreed.digest, "x", neighbour.code, {"y": (0, "")}))
    assert asked == [b"", b""]  # who are you?


def test_what_has_counted_counts_no_more_if_another_code_was_added(files):
    entries = [entry for _, entry in files["y"].written("y")]
    for code, number in ((code_of(files["y"]), len(entries)), (WRONG, 0)):
        replica = Replica(study(pace="free"), pinned={"y": code}.copy)
        replica.restore(entries, {"y": len(entries)})
        assert len(replica.feeds["y"].entries) == number
