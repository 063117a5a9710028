"""The dashboard as a person meets it: in a real browser, by keyboard, on a phone, in the dark."""

import numpy as np
import pytest

from cboc import Study
from cboc.coordinator.people import People
from cboc.coordinator.rights import Roles
from cboc.coordinator.transactions import Transactions
from cboc.exchange.messages import Proposal
from cboc.space.parameters import Float

from ..machine import paper

PASSWORD = "correct horse"
NAME = '<script>alert(1)</script> "trial" a/../b 🧪'
SPACE = {"T": Float(20.0, 90.0, unit="°C"), "c": Float(1e-4, 0.1, log=True, unit="mol/l")}
HAS_COLOURS = """canvas => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
    copy.drawImage(canvas, 0, 0);
    const pixels = copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer;
    return new Set(new Uint32Array(pixels)).size > 5;
}"""
WATCH = """window.violations = [];
document.addEventListener('securitypolicyviolation', event => window.violations.push(event.violatedDirective));"""


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'coordinator.db'}"


@pytest.fixture
def exchange(engine, cheap):  # noqa: ARG001
    People(engine).add("ada", PASSWORD)
    Roles(engine).make_admin("ada")
    exchange = Transactions(engine)
    exchange.create(Study(SPACE, ("north", "south", "<b>east</b>"), 4, name=NAME, pace="rounds"))
    return exchange


def propose(exchange, round, *sites):
    rng = np.random.default_rng(round)
    for site in sites or exchange.study(NAME).sites:
        exchange.submit(NAME, Proposal(site, round, [rng.random(2)]))


@pytest.fixture
def complaints():
    """Whatever a browser complains about; none is left at the end of a test."""
    complaints = []
    yield complaints
    assert complaints == []


@pytest.fixture
def page(browser, engine, exchange, serving, complaints):  # noqa: ARG001
    """A tab at the coordinator's door."""
    with serving(engine) as base:
        context = browser.new_context(viewport={"width": 1280, "height": 900}, base_url=base)
        page = context.new_page()
        page.add_init_script(WATCH)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: request.url.startswith((base, "data:")) or complaints.append(request.url))
        page.set_default_timeout(60_000)
        page.goto("/")
        yield page
        complaints += page.evaluate("window.violations")
        context.close()


def enter(page):
    """By keyboard alone: the door, the list of studies, the study."""
    page.wait_for_function("document.activeElement.id === 'person'")  # without a click
    page.keyboard.type("ada")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/")
    link = page.get_by_role("link", name=NAME)
    for _ in range(10):
        page.keyboard.press("Tab")
        if link.evaluate("element => element === document.activeElement"):
            break
    outline = link.evaluate("element => getComputedStyle(element).outlineWidth")
    assert outline == "3px"  # one sees where one is
    page.keyboard.press("Enter")
    page.get_by_role("heading", level=1, name=NAME).wait_for()


def wait_until_drawn(page, element):
    """A picture with some colours in it, not an empty canvas."""
    page.wait_for_function(f"id => [...document.querySelectorAll(`#${{id}} canvas`)].some({HAS_COLOURS})", arg=element)


def test_a_person_follows_a_study_by_keyboard_and_the_page_follows_the_sites(page, exchange):
    enter(page)
    assert page.get_by_text("No round is closed yet.").count() == 2
    propose(exchange, 0, "north")
    page.get_by_text("waits for south, <b>east</b>").wait_for()
    propose(exchange, 0, "south", "<b>east</b>")
    page.get_by_text("1 of 4 closed").wait_for()
    for element in ("matrix", "plane", "path-0", "path-1"):
        wait_until_drawn(page, element)
    assert page.evaluate("window.violations") == []


def test_the_chosen_round_the_place_and_the_focus_survive_a_refresh(page, exchange):
    propose(exchange, 0)
    propose(exchange, 1)
    enter(page)
    wait_until_drawn(page, "matrix")
    chooser = page.get_by_label("Round", exact=True)
    chooser.focus()
    page.keyboard.press("ArrowDown")  # from the latest to round 0
    page.get_by_text("Round 0: a row is a site").wait_for()
    page.evaluate("window.scrollTo(0, 300)")
    before = page.locator("#matrix .canvas").element_handle()
    propose(exchange, 2)
    page.get_by_text("3 of 4 closed").wait_for()
    assert chooser.input_value() == "0" and page.get_by_text("Round 0: a row is a site").is_visible()
    assert chooser.evaluate("element => element === document.activeElement")
    assert page.evaluate("window.scrollY") == 300
    assert before.evaluate("element => element.isConnected")  # nothing was drawn again
    assert chooser.locator("option").all_inner_texts() == ["latest", "0", "1", "2"]


def test_a_finished_study_asks_no_more(page, exchange):
    for round in range(3):
        propose(exchange, round)
    enter(page)
    wait_until_drawn(page, "path-0")
    propose(exchange, 3)
    page.get_by_text("finished").wait_for()
    wait_until_drawn(page, "matrix")
    page.wait_for_load_state("networkidle")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(4500)
    assert asked == []
    page.get_by_label("Round", exact=True).select_option("1")  # one may still look back
    page.get_by_text("Round 1: a row is a site").wait_for()


def test_who_is_logged_out_elsewhere_ends_at_the_door(page, engine, complaints):
    enter(page)
    People(engine).add("ada", "another horse")
    page.wait_for_url("**/login")
    assert all("401" in complaint for complaint in complaints)
    complaints.clear()


def test_a_phone_shows_everything_without_scrolling_sideways(page, exchange):
    propose(exchange, 0)
    page.set_viewport_size({"width": 390, "height": 844})
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) <= 390
    enter(page)
    wait_until_drawn(page, "path-1")
    assert page.evaluate(width) <= 390
    page.goto("/")
    assert page.evaluate(width) <= 390


def test_a_phone_shows_who_was_heard_when_and_whom_a_study_waits_for(page, exchange):
    """Whole tables, without scrolling in them either, and every number with what it is."""
    propose(exchange, 0)
    page.set_viewport_size({"width": 390, "height": 844})
    enter(page)
    inside = "[...document.querySelectorAll('.stacked')].map(table => table.scrollWidth - table.parentNode.clientWidth)"
    assert page.evaluate(inside) == [0]
    heard = page.locator("#sites-table tbody td").last
    assert heard.evaluate("cell => getComputedStyle(cell, '::before').content") == '"Last heard: "'
    page.goto("/")
    assert page.evaluate(inside) == [0]
    page.set_viewport_size({"width": 1280, "height": 844})
    assert page.get_by_role("columnheader", name="Waits for").is_visible()


def test_pictures_follow_the_colours_of_the_evening(page, exchange):
    propose(exchange, 0)
    enter(page)
    wait_until_drawn(page, "matrix")
    ground = "getComputedStyle(document.body).backgroundColor"
    picture = "document.querySelector('#matrix canvas').toDataURL()"
    light, by_day = page.evaluate(ground), page.evaluate(picture)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"before => {picture} !== before", arg=by_day)
    assert light == "rgb(245, 246, 247)" and page.evaluate(ground) == "rgb(18, 23, 26)"
    wait_until_drawn(page, "matrix")


def test_thirty_sites_with_long_names_on_a_phone_and_on_paper(page, exchange):
    name = "many, many labs" * 6
    sites = tuple(f"{number} Laboratory of the University of Somewhere, Department {'x' * 40}" for number in range(30))
    space = {f"parameter_with_a_long_name_{number}": Float(0.0, 1.0, unit="mmol/L") for number in range(8)}
    exchange.create(Study(space, sites, 9, name=name))
    rng = np.random.default_rng(0)
    for site in sites[:28]:
        exchange.submit(name, Proposal(site, 0, [rng.random(8)], bests=[rng.random(8)]))
    enter(page)
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    for address in ("/", f"/study?name={name}", f"/site?name={name}&site={sites[0]}"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto(f"/study?name={name}")
    for element in ("matrix", "when", "path-0"):
        wait_until_drawn(page, element)
    page.wait_for_load_state("networkidle")
    with paper.printed(page):
        paper.check(page)
        assert page.locator("#sites-table tbody tr").last.is_visible()
        table = page.locator("#sites-table").evaluate("e => [e.scrollHeight, e.clientHeight]")
        assert table[0] == table[1], "all thirty, not a window of them"
