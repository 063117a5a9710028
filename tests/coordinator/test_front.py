"""What a coordinator is called, who stands before it, and whom it believes about who asks."""

import re
import socket
import ssl
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cboc
from cboc import CbocError, Study
from cboc.cli import coordinator
from cboc.cli.app import app as commands
from cboc.coordinator import app as application
from cboc.coordinator.addresses import Proxies, block, is_own_machine
from cboc.coordinator.app import create_app
from cboc.coordinator.certificate import make, names_in
from cboc.coordinator.front import Front, own_names
from cboc.coordinator.tokens import Tokens, new_secret
from cboc.coordinator.transactions import Transactions

from ..machine import plain
from ..machine.served import served
from .conftest import prepared

STUDY = Study({"a": (0.0, 1.0)}, ("x", "y"), 4, name="trial run")
TOKEN = new_secret()
GUESSES = 20  # of a token, from one address in a minute
OWN = own_names()[0]


@pytest.fixture
def engine(tmp_path):
    """One kind of database is enough here: nothing of this reaches it."""
    with prepared(f"sqlite:///{tmp_path / 'coordinator.db'}") as engine:
        Transactions(engine).create(STUDY)
        Tokens(engine).join(Tokens(engine).invite(STUDY.name, "x"), TOKEN)
        yield engine


@contextmanager
def behind(engine, *names, proxies=(), **options):
    with served(create_app(engine, front=Front.of(names, proxies)), **options) as base:
        yield base


def bearer(token=TOKEN, **more):
    return {"Authorization": f"Bearer {token}"} | {name.replace("_", "-"): value for name, value in more.items()}


# ------------------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [
        ("localhost", True),
        ("LocalHost:8000", True),
        ("localhost.", True),
        ("127.0.0.1:8000", True),
        ("[::1]:8000", True),
        ("192.0.2.7", True),  # nobody can make an address lead elsewhere
        ("[2001:db8::1]", True),
        (OWN, True),
        (f"{OWN.partition('.')[0]}.local:443", True),
        ("cboc.example.org", True),
        ("CBOC.example.org:8443", True),
        ("a.lab.example.org", True),
        ("b.a.lab.example.org", False),
        ("lab.example.org", False),
        ("evil.example", False),
        ("cboc.example.org.evil.example", False),
        ("evil-cboc.example.org", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("127.1", False),
        ("0x7f.1", False),
        ("2130706433", False),
        ("evil.example:80@localhost", False),
        ("localhost evil.example", False),
        ("[::1].evil.example", False),
        ("", False),
        (":8000", False),
    ],
)
def test_which_names_are_answered(host, is_ours):
    assert Front.of(["cboc.example.org, *.lab.example.org"]).answers_to(host) == is_ours


def test_without_a_name_given_a_coordinator_has_those_of_its_machine():
    front = Front()
    assert all(front.answers_to(name) for name in ("localhost", OWN, "10.0.0.5"))
    assert not front.answers_to("cboc.example.org")
    assert Front.of(["*"]).answers_to("cboc.example.org")


@pytest.mark.parametrize(
    "name", ["https://cboc.example.org", "cboc.example.org:8000", "a/b", "a..b", "*.*", "é", "[::1]"]
)
def test_what_is_no_name_is_refused(name):
    with pytest.raises(CbocError, match="a name is written as cboc.example.org, without https:// and without a port"):
        Front.of([name])


@pytest.mark.parametrize("path", ["/v2/study", "/v2/standing", "/", "/login", "/metrics", "/healthz", "/openapi.json"])
def test_who_calls_it_by_another_name_gets_a_sentence(engine, path):
    """As a web site does whose own name leads here: the browser is on this machine, and the token does not help."""
    with behind(engine, "cboc.example.org") as base:
        for host in ("localhost", "cboc.example.org:443"):
            assert plain.get(base + path, headers=bearer(Host=host)).status_code in (200, 303)
        answer = plain.get(base + path, headers=bearer(Host="evil.example:8000"))
        assert answer.status_code == 421 and answer.headers["content-security-policy"]
        assert answer.json()["error"].startswith("this coordinator does not answer to the name by which it was called")
        page = plain.get(base + path, headers=bearer(Host="<b>evil</b>", Accept="text/html,*/*"))
        assert page.status_code in (400, 421) and "evil" not in page.text and "{" not in page.text


def test_nothing_is_taken_in_under_another_name(engine):
    with behind(engine) as base:
        proposal = {"url": f"{base}/v2/turns/0/proposal", "json": {"X": [[0.5]]}}
        assert plain.put(**proposal, headers=bearer(Host="evil.example")).status_code == 421
        with pytest.raises(CbocError):
            Transactions(engine).mix(STUDY.name, "x", 0)
        assert plain.put(**proposal, headers=bearer()).status_code == 204


def test_who_says_no_name_is_not_answered(engine):
    with behind(engine) as base, socket.create_connection(("127.0.0.1", int(base.rpartition(":")[2]))) as line:
        line.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert b" 421 " in line.recv(1000).splitlines()[0]


# ------------------------------------------------------------------------------------------------------------ proxies


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("10.0.0.7", ["192.0.2.1"], "192.0.2.1"),
        ("10.0.0.7", ["1.1.1.1", "192.0.2.1"], "192.0.2.1"),  # what stands before it was made up
        ("10.0.0.7", ["1.1.1.1", "192.0.2.1", "10.9.0.3"], "192.0.2.1"),  # two proxies, both named
        ("10.0.0.7", ["1.1.1.1", "192.0.2.1:4711"], "192.0.2.1"),
        ("10.0.0.7", [" [2001:db8::1]:4711 "], "2001:db8::1"),
        ("10.0.0.7", ["2001:db8::1"], "2001:db8::1"),
        ("10.0.0.7", ["::ffff:192.0.2.1"], "192.0.2.1"),
        ("::ffff:10.0.0.7", ["192.0.2.1"], "192.0.2.1"),
        ("10.0.0.7", ["10.9.0.3"], "10.9.0.3"),
        ("10.0.0.7", ["192.0.2.1", "unknown"], None),
        ("10.0.0.7", ["192.0.2.1", ""], None),
        ("10.0.0.8", ["192.0.2.1"], "10.0.0.8"),  # not named: it is who asks
        ("192.0.2.1", ["127.0.0.1"], "192.0.2.1"),
        ("127.0.0.1", ["192.0.2.1"], "127.0.0.1"),
        ("", ["192.0.2.1"], ""),
    ],
)
def test_who_asks_is_the_last_of_whom_a_named_proxy_has_heard(peer, forwarded, client):
    assert Proxies.named(["10.0.0.7, 10.9.0.0/16"]).client(peer, forwarded) == client


def test_if_anybody_is_a_proxy_only_its_own_word_counts():
    assert Proxies.named(["*"]).client("203.0.113.5", ["127.0.0.1", "192.0.2.1"]) == "192.0.2.1"


@pytest.mark.parametrize("name", ["proxy.example.org", "10.0.0.7/8", "10.0.0", "10.0.0.7:80"])
def test_a_proxy_is_named_by_address_or_network(name):
    with pytest.raises(CbocError, match=re.escape(f"such as 10.0.0.7 or 10.0.0.0/24; '{name}' is neither")):
        Proxies.named([name])


def guesses(base, forwarded):
    """The statuses of one guess after another, each of them as for another address."""
    return [
        plain.get(f"{base}/v2/study", headers=bearer(new_secret(), X_Forwarded_For=said)).status_code
        for said in forwarded
    ]


def test_a_proxy_that_is_named_is_believed_about_who_asks(engine):
    with behind(engine, proxies=["127.0.0.1"]) as base:
        assert guesses(base, [f"192.0.2.{k}" for k in range(GUESSES + 5)]) == [401] * (GUESSES + 5)
        made_up = [f"192.0.2.{k}, 198.51.100.1" for k in range(GUESSES + 5)]
        assert guesses(base, made_up) == [401] * GUESSES + [429] * 5


def test_nobody_else_is_believed_about_who_asks(engine):
    with behind(engine, proxies=["10.0.0.7"]) as base:
        assert guesses(base, [f"192.0.2.{k}" for k in range(GUESSES + 5)]) == [401] * GUESSES + [429] * 5


def test_metrics_are_for_programs_here_that_ask_by_themselves(engine):
    for proxies in (["127.0.0.1"], ["10.0.0.7"], ["*"]):
        with behind(engine, proxies=proxies) as base:
            assert plain.get(f"{base}/metrics").status_code == 200
            for headers in ({"X-Forwarded-For": "127.0.0.1"}, {"X-Real-IP": "127.0.0.1"}, {"Via": "1.1 proxy"}):
                assert plain.get(f"{base}/metrics", headers=headers).status_code == 303  # to the login


# --------------------------------------------------------------------------------------------------------- limits


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("2001:db8:0:1:ffff:ffff:ffff:ffff", "2001:db8:0:1::/64"),
        ("2001:0db8:0000:0002::1", "2001:db8:0:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("somewhere", "somewhere"),
    ],
)
def test_limits_count_an_ipv4_address_and_an_ipv6_network(address, counted):
    assert block(address) == counted


def test_one_ipv6_network_guesses_as_often_as_one_address(engine):
    with behind(engine) as base:  # a proxy on this machine is believed unless another is named
        assert guesses(base, [f"2001:db8::{k:x}" for k in range(1, GUESSES + 6)]) == [401] * GUESSES + [429] * 5
        assert guesses(base, ["2001:db8:0:1::1"]) == [401]


@pytest.mark.parametrize(
    ("address", "is_own"),
    [("127.0.0.1", True), ("::1", True), ("::ffff:127.0.0.1", True), ("10.0.0.1", False), ("", False), ("x", False)],
)
def test_which_addresses_are_this_machines(address, is_own):
    assert is_own_machine(address) == is_own


# --------------------------------------------------------------------------------------------------------- HTTPS


def kept(answer):
    """Whether the browser is told to stay with HTTPS."""
    return answer.headers.get("strict-transport-security") == "max-age=31536000"


def test_browsers_are_told_to_stay_with_https_behind_a_named_proxy_that_speaks_it(engine):
    name = {"Host": "cboc.example.org"}
    with behind(engine, "cboc.example.org", proxies=["127.0.0.1"]) as base:
        for path in ("/login", "/v2/study", "/nosuch"):
            assert kept(plain.get(base + path, headers={**name, "X-Forwarded-Proto": "https"}))
            assert kept(plain.get(base + path, headers={**name, "X-Forwarded-Proto": "http, https"}))
            for said in ({}, {"X-Forwarded-Proto": "http"}, {"X-Forwarded-Proto": "https, http"}):
                assert not kept(plain.get(base + path, headers={**name, **said}))
        assert not kept(plain.get(base, headers={"Host": "localhost", "X-Forwarded-Proto": "https"}))
    with behind(engine, "cboc.example.org", proxies=["10.0.0.7"]) as base:
        assert not kept(plain.get(f"{base}/login", headers={**name, "X-Forwarded-Proto": "https"}))


def test_a_coordinator_with_a_certificate_answers_to_its_names_and_keeps_browsers_with_https(engine, tmp_path):
    pair = tmp_path / "own.pem", tmp_path / "own.key"
    make(["cboc.example.org", "127.0.0.1"], *pair)
    assert names_in(pair[0]) == ["cboc.example.org"]
    trust = ssl.create_default_context(cafile=pair[0])
    trust.check_hostname = False
    with behind(engine, *names_in(pair[0]), ssl_certfile=pair[0], ssl_keyfile=pair[1]) as base:
        port = int(base.rpartition(":")[2])
        for host, status, is_kept in (("cboc.example.org", 200, True), ("127.0.0.1", 200, False), ("evil.org", 421, 0)):
            with socket.create_connection(("127.0.0.1", port)) as line, trust.wrap_socket(line) as safe:
                safe.sendall(f"GET /login HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
                said = b"".join(iter(lambda safe=safe: safe.recv(2**16), b"")).lower()
            assert int(said.split(b" ")[1]) == status
            assert (b"strict-transport-security: max-age=31536000" in said) == is_kept


# --------------------------------------------------------------------------------------------------- the command


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """`cboc serve` up to where it would serve, and the application that it would serve then."""
    monkeypatch.chdir(tmp_path)
    for name in ("CBOC_DATABASE", "CBOC_CERTIFICATE"):  # what serving puts there is gone after the test
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setattr(coordinator, "_run", lambda *_: None)

    def serving(*options, code=0, **environment):
        for name in ("CBOC_NAMES", "FORWARDED_ALLOW_IPS"):
            monkeypatch.setenv(name, environment.get(name, ""))
        database = f"sqlite:///{tmp_path / 'own.db'}"
        result = CliRunner().invoke(commands, ["serve", "--database", database, "--port", "8765", *options])
        assert result.exit_code == code, result.output
        return " ".join(result.stderr.split())

    return serving


def front_of_the_workers():
    """What every server process makes of its environment."""
    made = application.from_environment()
    (found,) = [each.kwargs["front"] for each in made.user_middleware if "front" in each.kwargs]
    return found


def test_serve_says_its_names_and_hands_them_to_its_processes(serve):
    said = serve("--name", "cboc.example.org", "--name", "other.example.org", "--proxy", "10.0.0.0/24")
    assert "It answers to its addresses and to localhost" in said and "cboc.example.org, other.example.org;" in said
    front = front_of_the_workers()
    assert front.answers_to("other.example.org") and not front.answers_to("evil.example")
    assert front.proxies.believes("10.0.0.9") and not front.proxies.believes("127.0.0.1")


def test_names_and_proxies_come_from_the_environment_as_well(serve):
    serve(CBOC_NAMES="cboc.example.org other.example.org", FORWARDED_ALLOW_IPS="10.0.0.7,10.0.0.8")
    front = front_of_the_workers()
    assert front.answers_to("other.example.org") and front.proxies.believes("10.0.0.8")
    serve()
    assert front_of_the_workers() == Front()


def test_the_names_of_the_certificate_are_answered(serve):
    make(["cboc.example.org"], Path("own.pem"), Path("own.key"))
    assert "cboc.example.org;" in serve("--certificate", "own.pem", "--key", "own.key")
    assert front_of_the_workers().answers_to("cboc.example.org")


def test_what_is_careless_is_said(serve):
    assert "Everybody who connects is taken for a proxy ('*'): who reaches this port may claim" in serve("--proxy", "*")
    assert "Everybody who connects is taken for a proxy" in serve(FORWARDED_ALLOW_IPS="*")
    assert "Any name is answered ('*'): a web site that somebody has open" in serve("--name", "*")
    assert "*" not in serve("--name", "cboc.example.org", "--proxy", "10.0.0.7")


def test_a_start_with_a_wrong_name_or_proxy_begins_nothing(serve, tmp_path):
    assert "a name is written as cboc.example.org" in serve("--name", "https://cboc.example.org", code=2)
    assert "a proxy is named by its address" in serve("--proxy", "caddy", code=2)
    assert not (tmp_path / "own.db").exists()


def test_a_site_is_told_what_to_do_about_a_wrong_name(engine, tmp_path):
    code = Tokens(engine).invite(STUDY.name, "y")
    with behind(engine) as base:
        elsewhere = base.replace("127.0.0.1", "127.1")  # another name of this machine, which nobody has given
        with pytest.raises(
            CbocError, match=r"does not answer to the name .* can add that name with cboc serve --name\."
        ):
            cboc.join(elsewhere, code, storage=tmp_path / "y.db", direction="minimise", patience=5.0)
        assert cboc.join(base, code, storage=tmp_path / "y.db", direction="minimise").name == "y"
