"""The page of a site without a coordinator: its neighbours, how fresh each is, and a folder that is away or hangs."""

import os
import shutil
import time
from contextlib import ExitStack

import httpx2
import pytest

import cboc
from cboc import Policy, Study
from cboc.exchange.feeds.feedfile import ENTRIES, FeedFile
from cboc.exchange.feeds.folder import STUDY
from cboc.sitepage import session
from cboc.sitepage.app import create_page
from cboc.sitepage.neighbours import ago

from ..machine.served import served
from ..storage.tampering import reseal
from .conftest import SECRET

FITS = "document.documentElement.scrollWidth <= window.innerWidth"


@pytest.fixture
def labs(tmp_path):
    """Two of three sites have joined through a folder, and taken a turn."""
    study = Study({"a": (0.0, 1.0), "b": (0.0, 1.0)}, ("lab-a", "lab-b", "Zürich"), 6, name="ours")
    (tmp_path / "shared").mkdir()
    for site in study.sites[:2]:
        given = {"direction": "maximise", "study": study, "policy": Policy(initial=1)}
        joined = cboc.join(f"folder:{tmp_path / 'shared'}", site=site, storage=tmp_path / f"{site}.db", **given)
        joined.tell(joined.ask(), 0.5)
        joined.ask()
    return tmp_path


@pytest.fixture
def page(labs):
    """The page of lab-a, as a client that has its cookie."""
    with ExitStack() as opened:
        url = opened.enter_context(served(create_page(labs / "lab-a.db", secret=SECRET)))
        client = opened.enter_context(httpx2.Client(base_url=url, follow_redirects=True, timeout=20.0))
        client.get(f"/?secret={SECRET}")
        yield client


def code(labs, site):
    return FeedFile(labs / f"{site}.db.feeds").keys.identity.fingerprint


@pytest.mark.parametrize("look", [{"width": 1280, "height": 900}, {"width": 390, "height": 844}], ids=["desk", "phone"])
def test_neighbours_their_freshness_and_their_codes_are_seen(labs, page, browser, look, monkeypatch):
    monkeypatch.setattr(session, "FRESH", 0.0)  # the page would look again by itself, a little later
    context = browser.new_context(viewport=look, base_url=str(page.base_url))
    window = context.new_page()
    window.set_default_timeout(60_000)
    window.goto(f"/?secret={SECRET}")
    window.wait_for_selector(f"#neighbours tr:has-text('lab-b'):has-text('{code(labs, 'lab-b')}')")
    b, zurich = window.locator("#neighbours tbody tr").all()
    assert [cell.inner_text() for cell in b.locator("td").all()] == ["just now", "2"]
    assert [cell.inner_text() for cell in zurich.locator("td").all()] == ["not yet", "0"]
    assert code(labs, "lab-a") in window.inner_text("#neighbours .note")
    earlier = "UPDATE entries SET at = ? WHERE site = 'lab-b'"
    reseal(labs / "lab-a.db.feeds", [ENTRIES], earlier, time.time() - 200.0)
    window.wait_for_selector("#neighbours tr:has-text('lab-b'):has-text('3 minutes ago')")  # by itself
    shutil.move(labs / "shared", labs / "away")
    window.reload()
    window.wait_for_selector("#neighbours .status:has-text('Nothing is lost: go on working.')")
    assert "is the drive connected" in window.inner_text("#neighbours .status") and window.evaluate(FITS)
    context.close()


def test_a_neighbour_of_whom_there_are_two_copies_is_shown_in_red(labs, page):
    for name in ("lab-b.db", "lab-b.db.feeds"):
        shutil.copy(labs / name, labs / f"copy-{name}")
    site, copy = (cboc.join(storage=labs / name) for name in ("lab-b.db", "copy-lab-b.db"))
    site.tell(site.ask(), 0.7)
    shutil.copytree(labs / "shared", labs / "elsewhere")
    copy.tell(copy.ask(), 0.9)
    copy = cboc.join(f"folder:{labs / 'elsewhere'}", storage=labs / "copy-lab-b.db")
    site.ask()
    copy.ask()
    shutil.copytree(labs / "elsewhere", labs / "shared", dirs_exist_ok=True)
    shown = page.get("/neighbours").text
    assert '<p class="error">there are two entries 2 of &#39;lab-b&#39;, both signed' in shown


def test_a_folder_that_hangs_does_not_keep_the_page_waiting(labs, page):
    agreed = (labs / "shared" / STUDY).read_bytes()
    (labs / "shared" / STUDY).unlink()
    os.mkfifo(labs / "shared" / STUDY)  # whoever reads it waits
    with pytest.raises(httpx2.ReadTimeout):
        page.get("/neighbours", timeout=4.0)
    started = time.monotonic()
    page.get("/neighbours")  # another window
    shown = page.get("/").text
    assert time.monotonic() - started < 3.0, "it waits for nobody"
    assert "has not answered for" in shown and "Nothing is lost" in shown
    (labs / "shared" / STUDY).rename(labs / "pipe")
    (labs / "shared" / STUDY).write_bytes(agreed)
    with open(labs / "pipe", "wb") as gone_on:
        gone_on.write(agreed)


def test_with_a_coordinator_nothing_is_said_of_neighbours(everywhere):
    with httpx2.Client(base_url=everywhere.page("lab-a"), follow_redirects=True) as client:
        assert "neighbours" not in client.get(f"/?secret={SECRET}").text
        assert "neighbours" not in client.get("/neighbours").text


def test_a_time_in_words():
    now = time.time()
    for passed, words in (
        (-50.0, "just now"),
        (59.0, "just now"),
        (61.0, "1 minute ago"),
        (7300.0, "2 hours ago"),
        (3e5, "3 days ago"),
    ):
        assert ago(now - passed) == words
