"""The page of a site that has joined no study yet: a file, the terms, and one question."""

import re
from html import unescape

import pytest

import cboc
from cboc.joining.sent import sent_by
from cboc.sitepage.app import create_page
from cboc.storage.sitefile import SiteFile

from ..machine import plain
from ..machine.served import served
from .conftest import SECRET

WATCH = """window.violations = [];
document.addEventListener('securitypolicyviolation', event => window.violations.push(event.violatedDirective));"""
REFUSED = "Failed to load resource: the server responded with a status of 422 (Unprocessable Entity)"


def text(page):
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.text)))


def hand_in(client, path):
    return client.post("/invitation", data={"invitation": path if isinstance(path, str) else path.read_text()})


def digest(page):
    return re.search(r'name="digest" value="(\w+)"', page.text)[1]


def test_every_address_leads_to_the_door_until_the_site_has_joined(door, client):
    for path in ("/", "/sheet.csv", "/advice", "/sent", "/charts/history", "/neighbours"):
        answer = client.get(path)
        assert answer.url.path == "/join" and answer.status_code == 200, path
    for path in ("/ask", "/result", "/failed", "/abandon", "/plate", "/sheet", "/alone", "/accept"):
        assert client.post(path, data={"y": "1", "trial": "0"}).url.path == "/join", path
    assert not door.storage.exists()


def test_the_terms_are_shown_before_anything_is_agreed(door, client):
    page = hand_in(client, door.file())
    said = text(page)
    assert "Join a study as lab-b" in said and "temperature 20 to 90 °C" in said and "lab-a" in said
    assert "the design of your best outcome so far, but not how good it is" in said and "Outcomes stay." in said
    assert door.absent() == ["lab-a", "lab-b"]
    assert {message.path for message in sent_by(SiteFile(door.storage))} == {"/v2/invitation"}
    assert door.storage.stat().st_mode & 0o777 == 0o600


def test_one_question_and_the_site_has_joined(door, client):
    page = hand_in(client, door.file())
    refused = client.post("/join", data={"digest": digest(page)})
    assert refused.status_code == 409 and "unknown direction" in text(refused) and door.absent() == ["lab-a", "lab-b"]
    joined = client.post("/join", data={"direction": "minimise", "digest": digest(page)})
    assert joined.url.path == "/" and "a study" in text(joined) and door.absent() == ["lab-a"]
    site = cboc.join(storage=door.storage)
    assert (site.name, str(site.direction)) == ("lab-b", "minimise")
    assert client.get("/join").url.path == "/" and client.post("/join").url.path == "/"


def test_terms_that_have_changed_since_they_were_shown_are_not_joined(door, client):
    hand_in(client, door.file())
    refused = client.post("/join", data={"direction": "minimise", "digest": "0" * 16})
    assert refused.status_code == 409 and "look at them again" in text(refused)
    assert door.absent() == ["lab-a", "lab-b"]


def test_a_file_that_is_no_good_is_one_sentence_and_another_may_follow(door, client):
    used = door.file()
    cboc.join(str(used), storage=door.folder / "other.db", direction="maximise")
    for content, said in (
        ("", "is not an invitation file"),
        ("y;0.5", "is not an invitation file"),
        (used.read_text().replace("a study", "b study"), "was damaged or altered"),
        (used, "this invitation has already been used"),
        (door.file("lab-a", 1e-6), "this invitation is too old"),
    ):
        page = hand_in(client, content)
        assert said in text(page) and "Choose the invitation file" in text(page)
    page = hand_in(client, door.file("lab-a"))
    assert "Join a study as lab-a" in text(page)
    client.post("/join", data={"direction": "maximise", "digest": digest(page)})
    assert cboc.join(storage=door.storage).name == "lab-a"


def test_a_page_that_was_started_again_still_has_the_invitation(door, client):
    hand_in(client, door.file())
    with served(create_page(door.storage, secret=SECRET)) as base:
        page = plain.get(f"{base}/join", headers={"Cookie": f"cboc_site_{base.rsplit(':')[-1]}={SECRET}"})
        assert "as lab-b" in text(page)


@pytest.mark.parametrize("width", [1280, 360])
def test_a_person_joins_with_a_file_and_sees_the_first_design(door, browser, width):
    from playwright.sync_api import expect

    complaints = []
    context = browser.new_context(base_url=door.page, viewport={"width": width, "height": 800})
    window = context.new_page()
    window.add_init_script(WATCH)
    window.on("console", lambda message: message.text == REFUSED or complaints.append(message.text))
    window.on("pageerror", lambda error: complaints.append(str(error)))
    window.set_default_timeout(60_000)
    window.goto(f"/?secret={SECRET}")
    assert window.evaluate("document.documentElement.scrollWidth") <= width
    (door.folder / "picture.cboc").write_bytes(b"\x89PNG\xff\xfe")
    window.set_input_files("#invitation-file", door.folder / "picture.cboc")
    window.wait_for_selector("text=is it the invitation?")
    window.set_input_files("#invitation-file", door.file())
    expect(window.locator("#invitation-text")).to_have_value(re.compile("cboc invitation"))
    window.click("text=Look at the terms")
    window.wait_for_selector("text=What will leave your lab")
    assert window.evaluate("document.documentElement.scrollWidth") <= width
    window.click("text=A large outcome")
    window.click("text=Join as lab-b")
    window.wait_for_selector("#enter-0")
    complaints += window.evaluate("window.violations")
    context.close()
    assert complaints == []
    assert cboc.join(storage=door.storage).to_run
