"""A person who has never seen a terminal: joins, runs five experiments, mends one and takes the results away.

All of it in a real browser, with what the page shows and nothing else: at a desk, on a phone, and without JavaScript.
"""

import csv
import io
import re

import openpyxl
import pytest

import cboc
from cboc.site.trial import Status

from .conftest import SECRET, SPACE
from .test_browser import REFUSED, WATCH

DESK = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
NO_SCRIPTS = {"viewport": {"width": 390, "height": 844}, "java_script_enabled": False}


class Person:
    """Reads what is on the screen, presses what can be seen, and types."""

    def __init__(self, window, has_touch):
        self.window, self.has_touch, self.complaints = window, has_touch, []
        window.on("console", lambda said: REFUSED.match(said.text) or self.complaints.append(said.text))
        window.on("pageerror", lambda error: self.complaints.append(str(error)))
        window.set_default_timeout(60_000)

    def press(self, words):
        parts = self.window.locator("button, a, summary, label").locator("visible=true")
        part = parts.filter(has_text=re.compile(rf"^\s*{words}")).first
        part.tap() if self.has_touch else part.click()

    def type(self, label, text):
        self.window.get_by_label(label, exact=True).locator("visible=true").fill(text)

    def sees(self, words):
        """This stands on the page, and nothing of the page lies beyond the screen."""
        self.window.wait_for_selector(f"text={words}")
        width, screen = self.window.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert width <= screen, f"{self.window.url} scrolls sideways"

    def design(self):
        """The design as it stands on the page, in words and numbers."""
        rows = self.window.locator(".design.large tr").all()
        return {row.locator("th").inner_text(): row.locator(".value").inner_text() for row in rows}

    def download(self, words):
        with self.window.expect_download() as download:
            self.press(words)
        return download.value.suggested_filename, download.value.path().read_bytes()


@pytest.fixture(params=[DESK, PHONE, NO_SCRIPTS], ids=["desk", "phone", "without JavaScript"])
def person(request, browser, door):
    context = browser.new_context(**request.param, base_url=door.page)
    window = context.new_page()
    window.add_init_script(WATCH)
    person = Person(window, "has_touch" in request.param)
    person.has_scripts = request.param.get("java_script_enabled", True)
    yield person
    if person.has_scripts:
        person.complaints += window.evaluate("window.violations")
    context.close()
    assert person.complaints == []


def join(person, door):
    person.window.goto(f"/?secret={SECRET}")
    if person.has_scripts:
        person.window.set_input_files("#invitation-file", door.file())
        person.window.wait_for_function("document.getElementById('invitation-text').value !== ''")
    else:
        person.press("Or paste its text")
        person.type("The text of the invitation file", door.file().read_text())
    person.press("Look at the terms")
    person.sees("What will leave your lab")
    person.press("A large outcome")
    person.press("Join as lab-b")


def next_design(person, number):
    """The design of this trial as the page shows it."""
    if not person.has_scripts:
        person.press("Think")
    person.sees(f"initial {number + 1} of 8")
    return person.design()


def run(person, number, outcome, remark=""):
    """One experiment; returns its design."""
    design = next_design(person, number)
    person.type("Outcome, to maximise", outcome)
    if remark:
        person.type("Remark, if you like; it stays here", remark)
    person.press("Enter the result")
    return design


def test_a_person_joins_runs_five_experiments_mends_one_and_takes_the_results_away(person, door):
    join(person, door)
    designs = [run(person, 0, "0,5"), run(person, 1, "0.41", remark="a <brown> sample"), run(person, 2, "0.0062")]

    designs.append(run(person, 3, "89"))  # a slip that is asked about
    person.sees("89? The others are 0.0062 to 0.5.")
    person.press("Mend it")
    assert person.window.get_by_label("Outcome, to maximise").input_value() == "89"
    person.type("Outcome, to maximise", "0.89")
    person.press("Enter the result")

    designs.append(next_design(person, 4))
    person.press("There is no result")
    person.type("Why it failed, if you like", "the pump stopped")
    person.press("It failed")

    person.window.click("[aria-label='Mend trial 2']")  # a slip that is found in the history
    person.sees("What is kept now")
    person.type("Outcome, to maximise", "0.62")
    person.press("Keep it so")
    person.sees("0.62 in place of 0.0062")
    person.press("Back to the history")
    person.sees("corrected, it was 0.0062")
    person.sees("the pump stopped")

    named, text = person.download("as CSV")
    rows = list(csv.DictReader(io.StringIO(text.decode("utf-8-sig"))))
    assert named == "lab-b-results.csv" and [row["y"] for row in rows[:5]] == ["0.5", "0.41", "0.62", "0.89", ""]
    assert rows[4]["status"] == "failed" and rows[1]["remark"] == "a <brown> sample"
    for design, row in zip(designs, rows, strict=False):
        run_at = {name: row[next(head for head in row if re.match(rf"{name}\b", head))] for name in SPACE.names}
        assert run_at["solvent"] == design["solvent"] and run_at["cycles"] == design["cycles"]
        assert float(run_at["temperature"]) == pytest.approx(float(design["temperature"]), abs=0.01)
    named, book = person.download("as a spreadsheet")
    head, *lines = openpyxl.load_workbook(io.BytesIO(book)).active.values
    assert named == "lab-b-results.xlsx"
    assert [line[head.index("y")] for line in lines[:5]] == [0.5, 0.41, 0.62, 0.89, None]

    person.press("What was learned")
    person.sees("From 4 outcomes and 1 failure")
    trials = cboc.join(storage=door.storage).trials
    assert [trial.y for trial in trials[:5]] == [0.5, 0.41, 0.62, 0.89, None]
    assert trials[4].status is Status.FAILED and trials[1].remark == "a <brown> sample"
