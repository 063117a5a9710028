"""What the page of a site says where there is no coordinator: who closes, who drifts, who is silent, what changes."""

import time
from contextlib import contextmanager
from dataclasses import replace

import httpx2

import cboc
from cboc import Policy, Study
from cboc.exchange.amendment import successor
from cboc.exchange.feeds.addresses import Addresses
from cboc.sitepage.app import create_page

from ..machine.peers import code_of, feeds_beside, serving
from ..machine.served import served
from .conftest import SECRET

SITES = ("lab-a", "lab-b", "lab-c")


@contextmanager
def page(path):
    with (
        served(create_page(path, secret=SECRET)) as url,
        httpx2.Client(base_url=url, follow_redirects=True, timeout=20.0) as client,
    ):
        client.get(f"/?secret={SECRET}")
        yield client


def joined(path, study, url, **options):
    given = {"direction": "maximise", "study": study, "policy": Policy(initial=0), **options}
    return [cboc.join(url, site=site, storage=path / f"{site}.db", **given) for site in study.sites]


def test_who_has_to_close_a_round_and_who_went_on_without(tmp_path):
    (tmp_path / "shared").mkdir()
    study = Study({"a": (0.0, 1.0)}, SITES[:2], 3, pace="rounds", deadline=0.01)
    _, b = joined(tmp_path, study, f"folder:{tmp_path / 'shared'}")
    b.propose()
    b.network.standing()
    time.sleep(0.03)
    with page(tmp_path / "lab-b.db") as client:
        assert "Round 0 is due, and waits for lab-a to close it." in client.get("/").text
        cboc.join(storage=tmp_path / "lab-b.db", drifts=True).ask()
        assert "lab-b went on without lab-a in round 0." in client.get("/").text


def test_peers_that_do_not_answer(tmp_path):
    joined(tmp_path, Study({"a": (0.0, 1.0)}, SITES, 3), "peers:")
    files = {site: feeds_beside(tmp_path / f"{site}.db") for site in SITES}
    Addresses(files["lab-b"]).add("lab-a", "https://127.0.0.1:1", code_of(files["lab-a"]))
    with serving(files["lab-b"]) as url, page(tmp_path / "lab-a.db") as client:
        Addresses(files["lab-a"]).add("lab-b", url, code_of(files["lab-b"]))
        assert "lab-c&#39; has not been added here yet" in client.get("/neighbours").text


def test_a_site_that_has_finished_sees_a_change_and_accepts_it(tmp_path):
    (tmp_path / "shared").mkdir()
    study = Study({"a": (0.0, 1.0)}, SITES[:2], 1, stewards=("lab-a",))
    a, b = joined(tmp_path, study, f"folder:{tmp_path / 'shared'}")
    for site in (a, b):
        site.tell(site.ask(), 1.0)
    a.network.amend(successor(study, replace(study, horizon=2)))
    with page(tmp_path / "lab-b.db") as client:
        client.get("/neighbours")
        assert "the horizon grows from 1 to 2" in client.get("/").text
