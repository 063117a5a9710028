"""A question before something is kept that is likely a mistake: on the bench, in the history, for a sheet."""

import html
import re
from contextlib import closing

import pytest

from cboc import Study
from cboc.site.trial import Status

from .conftest import SITES, SPACE
from .test_app import Visitor
from .test_browser import enter, ready, tab_to, visit  # noqa: F401 - a fixture

STUDY = Study(SPACE, SITES, 20, name="a study", objectives="yield", units="%")
QUESTION = "89 %? The others are 0.02 to 0.91 %."


@pytest.fixture
def labs(laboratories):
    """lab-a has three outcomes; trials 3 and 4 are to be run."""
    labs = laboratories(STUDY, initial=9)
    site = labs.site("lab-a")
    for y in (0.02, 0.91, 0.4):
        site.tell(site.ask(), y)
    site.ask(2)
    return labs


@pytest.fixture
def page(labs):
    with closing(Visitor(labs.page("lab-a"), labs.secret)) as page:
        yield page


def press(page, answer, button):
    """Press a button of a question, with all that its form holds."""
    form = re.search(r'<form method="post" action="(.*?)">', answer.text)[1]
    fields = re.findall(r'<input type="hidden" name="(.*?)" value="(.*?)">', answer.text, re.DOTALL)
    return page.post(form, data={name: html.unescape(value) for name, value in fields} | {button: "yes"})


def test_a_likely_slip_is_asked_about_before_it_is_kept(labs, page):
    answer = page.post("/result", data={"trial": 3, "y": "89", "sem": "0,5", "cost": "2"})
    assert answer.status_code == 200 and QUESTION in answer.text and "Nothing is kept yet." in answer.text
    assert labs.site("lab-a").trials[3].status is Status.PENDING
    for _ in range(2):
        press(page, answer, "sure")
    trial = labs.site("lab-a").trials[3]
    assert (trial.y, trial.sem, trial.cost) == (89.0, 0.5, 2.0)


def test_mending_it_shows_what_was_typed_again(labs, page):
    ran = {f"ran.{name}": "1" for name in SPACE.names} | {"ran.solvent": "dmso", "ran.temperature": "44"}
    typed = {"trial": 4, "y": "89", "sem": "0,5", "cost": "2", "other": "yes", **ran}
    answer = press(page, page.post("/result", data=typed), "mend")
    assert answer.status_code == 200 and "Result of trial 4" in answer.text
    for value in ("89", "0,5", "44"):
        assert f'value="{value}"' in answer.text
    assert "checked" in answer.text and labs.site("lab-a").trials[4].status is Status.PENDING


def test_what_is_likely_right_is_kept_at_once_and_a_mistake_comes_first(labs, page):
    page.post("/result", data={"trial": 3, "y": "1.2"})
    assert labs.site("lab-a").trials[3].y == 1.2
    answer = page.post("/result", data={"trial": 1, "y": "89"})
    assert answer.status_code == 409 and "trial 1 has changed since this form" in answer.text
    assert "The others are" not in answer.text and labs.site("lab-a").trials[1].y == 0.91


def test_a_correction_is_compared_with_the_other_outcomes(labs, page):
    seen = re.search(r'name="seen" value="(\w+)"', page.get("/trials/1").text)[1]
    labs.site("lab-a").tell(labs.site("lab-a").trial(3), 0.6)
    answer = page.post("/trials/1/outcome", data={"seen": seen, "y": "91", "sem": "", "cost": ""})
    assert "91 %? The others are 0.02 to 0.6 %." in answer.text
    again = press(page, answer, "mend")
    assert 'value="91"' in again.text and "What is kept now" in again.text
    press(page, answer, "sure")
    assert labs.site("lab-a").trials[1].y == 91.0


def test_a_third_failure_in_a_row_and_giving_up_are_asked_about(labs, page):
    site = labs.site("lab-a")
    for number in (1, 2):
        site.reopen(site.trial(number))
        site.fail(site.trial(number))
    answer = page.post("/failed", data={"trial": 3, "reason": "the pump <stopped>", "cost": "1"})
    assert "Trials 1, 2 and 3 failed, 3 in a row?" in answer.text and "Yes, it failed" in answer.text
    assert "the pump &lt;stopped&gt;" in press(page, answer, "mend").text
    press(page, answer, "sure")
    answer = page.post("/abandon", data={"trial": 4})
    assert "Abandon trial 4?" in answer.text and "Yes, abandon it" in answer.text
    assert "Result of trial 4" in press(page, answer, "mend").text
    assert labs.site("lab-a").trials[4].status is Status.PENDING
    press(page, answer, "sure")
    failed, abandoned = labs.site("lab-a").trials[3:5]
    assert (failed.note, failed.cost, abandoned.status) == ("the pump <stopped>", 1.0, Status.ABANDONED)


def test_the_doubtful_lines_of_a_sheet_are_one_question(labs, page):
    header, *lines = page.get("/sheet.csv").text.splitlines()
    sheet = "\r\n".join([header, *(line.replace(",,,,", ",89,,,") for line in lines)])
    answer = page.post("/sheet", data={"sheet": sheet})
    assert answer.text.count(QUESTION) == 2 and "the sheet, line 2, trial 3" in answer.text
    assert f">\n{sheet}</textarea>" in press(page, answer, "mend").text.replace("\n\n", "\n")
    assert labs.site("lab-a").trials[3].status is Status.PENDING
    assert "2 lines were read from the sheet and told." in press(page, answer, "sure").text
    assert [trial.y for trial in labs.site("lab-a").trials[3:]] == [89.0, 89.0]


@pytest.mark.parametrize("look", [{}, {"viewport": {"width": 390, "height": 844}}, {"java_script_enabled": False}])
def test_the_question_in_a_browser(labs, visit, look):  # noqa: F811
    window = visit(labs, "lab-a", **look)
    enter(window, 3, "89")
    window.wait_for_selector(f"text={QUESTION}")
    assert window.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    tab_to(window, "#question [name=mend]")
    window.keyboard.press("Enter")
    ready(window, 3)
    assert window.input_value("#y-3") == "89"
    window.fill("#y-3", "0.89")
    window.keyboard.press("Enter")
    ready(window, 4)
    enter(window, 4, "91")
    window.wait_for_selector("text=91 %? The others are 0.02 to 0.91 %.")
    tab_to(window, "#question [name=sure]")
    window.keyboard.press("Enter")
    window.wait_for_selector("#trials td.number >> text=/^91$/")
    assert [trial.y for trial in labs.site("lab-a").trials[3:5]] == [0.89, 91.0]
