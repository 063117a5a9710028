"""Leaving a study by the page: behind a click, with a question; the page goes on trying to tell the others."""

import re

import cboc
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions

from .test_app import labs as labs
from .test_app import unescaped
from .test_app import visit as visit


def has_left(labs):
    return "lab-a" not in Transactions(labs.engine).standing(labs.study.name).missing


def test_a_site_leaves_by_a_button_and_what_is_open_is_still_told(labs, visit):
    page = visit("lab-a")
    text = page.ask()
    assert "Leave the study" in text and "the experiment that is open may still be told" in text
    page.post("/leave")  # without the tick
    assert not labs.site("lab-a").has_left
    text = page.post("/leave", data={"sure": "yes"}).text
    assert labs.site("lab-a").has_left and has_left(labs)
    assert "This site has left the study" in text and "a new invitation brings it back" in text
    assert "Trial 0 is ready to run" in text and "What happens then" not in text
    text = page.post("/result", data={"trial": "0", "y": "0,5"}).text
    assert labs.site("lab-a").best.y == 0.5
    text = page.ask()
    assert 'class="status left"' in text and "What was shared stays with the others" in text
    assert "hx-post" not in re.sub(r'hx-get="[^"]*"', "", text)  # the others know it: nothing more is said
    code = Tokens(labs.engine).invite(labs.study.name, "lab-a")
    url = labs.site("lab-a").network.client.url
    assert not cboc.join(url, code, storage=labs.file("lab-a")).has_left
    assert "Trial 1 is ready to run" in page.ask() and not has_left(labs)


def test_the_page_says_that_nobody_has_heard_it_and_goes_on_trying(labs, visit):
    page = visit("lab-b", patience=0.3)
    labs.stop_coordinator()
    text = unescaped(page.post("/leave", data={"sure": "yes"}))
    assert "The others have not heard it yet, and the page keeps trying: no coordinator answers" in text
    assert 'hx-post="/ask"' in text
    assert labs.site("lab-b", patience=0.3).has_left
