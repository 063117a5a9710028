"""Mending in the history: correct, take back, un-fail, annotate; what was there stays visible."""

import getpass
import html
import re
from contextlib import closing

import pytest

import cboc
from cboc import Measurement, Study
from cboc.site.trial import Status
from cboc.storage.sitefile import SiteFile

from .conftest import SITES, SPACE
from .test_app import Visitor
from .test_browser import after_polls, ready, tab_to, visit  # noqa: F401 - a fixture

STUDY = Study(SPACE, SITES, 20, name="a study", objectives="yield", units="%")


@pytest.fixture
def labs(laboratories):
    """lab-a: trial 0 has an outcome, 1 has failed, 2 was abandoned, 3 is to be run."""
    labs = laboratories(STUDY, initial=4)
    site = labs.site("lab-a")
    site.tell(site.ask(), Measurement(89.0, 0.5), cost=3.0)
    site.fail(site.ask(), "the column clogged", cost=1.0)
    site.abandon(site.ask())
    site.ask()
    return labs


@pytest.fixture
def page(labs):
    with closing(Visitor(labs.page("lab-a"), labs.secret)) as page:
        yield page


def send(page, number, form, **fields):
    """Fill in a form of a trial's page, and send it."""
    shown = page.get(f"/trials/{number}").text
    seen = re.search(r'name="seen" value="(\w+)"', shown)[1]
    return page.post(f"/trials/{number}/{form}", data={"seen": seen} | fields)


def words(answer):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", answer.text)).split())


def test_an_outcome_is_corrected_and_what_was_told_stays_visible(labs, page):
    answer = send(page, 0, "outcome", y="0,89", sem="0.01", cost="4")
    trial = labs.site("lab-a").trials[0]
    assert answer.status_code == 200 and "This is kept now." in answer.text
    assert (trial.y, trial.sem, trial.cost, trial.note) == (0.89, 0.01, 4.0, "corrected, it was 89 ± 0.5")
    said = words(answer)
    assert "corrected: 0.89 ± 0.01 % in place of 89 ± 0.5 %; cost 4 in place of 3" in said
    assert said.index("corrected: 0.89") < said.index("told 89 ± 0.5 %, cost 3") < said.index("ready to run")
    assert f"{getpass.getuser()}, page" in said and f"{getpass.getuser()}, python" in said
    assert words(page.get("/trials/0/past")).startswith("corrected: 0.89 ± 0.01 % in place of 89 ± 0.5 %")
    assert "corrected, it was 89 ± 0.5" in page.get("/").text


def test_what_was_really_run_is_corrected(labs, page):
    design = labs.site("lab-a").trials[0].design(SPACE)
    ran = {f"ran.{name}": SPACE.parameters[name].shown(value) for name, value in design.items()}
    answer = send(page, 0, "outcome", y="89", sem="0.5", cost="3", other="yes", **(ran | {"ran.temperature": "44"}))
    assert labs.site("lab-a").trials[0].design(SPACE) == pytest.approx(design | {"temperature": 44.0})
    assert "corrected: run at temperature 44.00 °C in place of" in words(answer)


def test_only_what_was_changed_changes(labs, page):
    site = labs.site("lab-a")
    site.tell(site.trial(0), Measurement(1 / 3, 1e-7), cost=1e6, is_correction=True)
    fields = dict(re.findall(r'<input id="\S+" name="(y|sem|cost)" .*?value="(.*?)"', page.get("/trials/0").text))
    send(page, 0, "outcome", **(fields | {"cost": "2"}))
    trial = labs.site("lab-a").trials[0]
    assert (trial.y, trial.sem, trial.cost) == (1 / 3, 1e-7, 2.0)


def test_a_result_a_failure_and_an_abandoned_trial_are_taken_back(labs, page):
    for number, said in ((0, "it was 89 ± 0.5"), (1, "it was failed (the column clogged)"), (2, "it was abandoned")):
        answer = send(page, number, "undo")
        trial = labs.site("lab-a").trials[number]
        assert (trial.status, trial.cost, trial.note) == (Status.PENDING, None, f"taken back, {said}")
        assert f"Trial {number} waits for a result again." in answer.text and f"Result of trial {number}" in answer.text
        assert f"taken back, {said} . What it was" in words(answer) and f'href="/trials/{number}"' in answer.text
    assert "taken back: it waits for a result again" in words(page.get("/trials/0"))


def test_a_failed_trial_has_a_result_after_all_or_another_reason(labs, page):
    answer = send(page, 1, "reason", reason="the pump leaked", cost="1")
    assert labs.site("lab-a").trials[1].note == "the pump leaked"
    assert "corrected: why it failed: the pump leaked" in words(answer)
    assert "a reason is changed, and not taken away" in send(page, 1, "reason", reason=" ", cost="1").text
    send(page, 1, "outcome", y="12", sem="", cost="1")
    trial = labs.site("lab-a").trials[1]
    assert (trial.status, trial.y) == (Status.COMPLETE, 12.0)
    assert "is complete, and not failed" in send(page, 1, "reason", reason="late").text


def test_a_remark_is_written_changed_and_taken_away(labs, page):
    for text, said in (
        ("sample was <brown>\r\nweighed twice", "remark: “sample was <brown> weighed twice”"),
        ("brown", "remark: “brown”"),
        ("", "the remark was taken away"),
    ):
        answer = send(page, 3, "remark", remark=text)
        assert labs.site("lab-a").trials[3].remark == text.replace("\r", "") and said in words(answer)
    send(page, 0, "remark", remark="lamp <flickered>")
    assert "<q>lamp &lt;flickered&gt;</q>" in page.get("/").text
    wrong = send(page, 0, "remark", remark="bell\x07")
    assert wrong.status_code == 409 and "a remark has letters, signs and line breaks" in wrong.text
    assert "bell" in re.search(r"<textarea id=\"remark\".*?</textarea>", wrong.text, re.DOTALL)[0]


def test_a_form_that_is_sent_twice_counts_once(labs, page):
    seen = re.search(r'name="seen" value="(\w+)"', page.get("/trials/0").text)[1]
    forms = [("outcome", {"y": "0.89", "sem": "", "cost": "3"}), ("remark", {"remark": "brown"}), ("undo", {})]
    for form, fields in forms:
        before = len(SiteFile(labs.file("lab-a")).history(0))
        seen = re.search(r'name="seen" value="(\w+)"', page.get("/trials/0").text)[1]
        for _ in range(3):
            assert page.post(f"/trials/0/{form}", data=fields | {"seen": seen}).status_code == 200
        assert len(SiteFile(labs.file("lab-a")).history(0)) == before + 1


@pytest.mark.parametrize(
    ("form", "fields"), [("outcome", {"y": "0.89"}), ("undo", {}), ("remark", {"remark": "brown"})]
)
def test_a_form_that_is_out_of_date_changes_nothing_and_shows_what_is_there(labs, page, form, fields):
    seen = re.search(r'name="seen" value="(\w+)"', page.get("/trials/0").text)[1]
    site = labs.site("lab-a")  # the command line was faster
    told = site.tell(site.trial(0), 0.77, is_correction=True)
    answer = page.post(f"/trials/0/{form}", data={"seen": seen, "sem": "", "cost": "3"} | fields)
    assert answer.status_code == 409 and "trial 0 has changed since this form was made" in answer.text
    assert "<dd>0.77</dd>" in answer.text and labs.site("lab-a").trials[0] == told
    assert all(f'value="{text}"' in answer.text or f"\n{text}</textarea>" in answer.text for text in fields.values())
    again = re.search(r'name="seen" value="(\w+)"', answer.text)[1]
    assert page.post(f"/trials/0/{form}", data={"seen": again, "sem": "", "cost": "3"} | fields).status_code == 200
    assert labs.site("lab-a").trials[0] != told


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"y": "much"}, "the outcome is a number such as 0.25; 'much' is not one."),
        ({"y": "1", "cost": ""}, "the cost was 3, and is changed, not taken away; write another one, or 0."),
        ({"y": "1", "cost": "3", "other": "yes"}, "temperature: expected a value, but the field is empty."),
    ],
)
def test_a_mistake_is_one_sentence_and_what_was_typed_stays(labs, page, fields, sentence):
    answer = send(page, 0, "outcome", **fields)
    assert answer.status_code == 422 and sentence in html.unescape(answer.text)
    assert f'value="{fields["y"]}"' in answer.text and labs.site("lab-a").trials[0].y == 89.0


def test_a_trial_that_is_to_be_run_is_told_on_the_bench_and_there_is_no_trial_99(labs, page):
    text = page.get("/trials/3").text
    assert 'href="/?trial=3"' in text and "/trials/3/outcome" not in text and "/trials/3/undo" not in text
    assert page.get("/trials/99").status_code == 409 and "has no trial 99" in page.get("/trials/99").text
    assert page.get("/trials/x").status_code == 404
    assert page.post("/trials/99/undo", data={"seen": ""}).status_code == 409
    assert labs.site("lab-a").trials[3].status is Status.PENDING


def test_what_the_others_were_given_stays_with_them(labs, page):
    assert "stays with" not in page.get("/trials/0").text
    site = labs.site("lab-a")
    site.tell(site.trial(3), 20.0)
    site.ask()  # hands in a proposal with the best design
    assert "The design of trial 0 was given to the others as a best one" in page.get("/trials/0").text
    assert "What has left this site since it was told stays with the others." in page.get("/trials/1").text
    send(page, 0, "undo")
    assert labs.site("lab-a").trials[0].status is Status.PENDING


@pytest.mark.parametrize("path", ["outcome", "undo", "remark", "reason"])
def test_a_form_of_another_page_is_refused(labs, page, path):
    answer = page.post(f"/trials/0/{path}", data={"y": "1"}, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403 and labs.site("lab-a").trials[0].y == 89.0


@pytest.mark.usefixtures("labs")
def test_notes_times_costs_and_units_are_in_the_history(page):
    text = words(page.get("/"))
    assert "Trial yield (%) Cost Kind temperature / °C" in text and "Begun, told Why, and notes" in text
    assert "89 ± 0.5" in text and "the column clogged" in text
    assert len(re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d ", text)) >= 5
    assert "yield (%), to maximise" in text


# ------------------------------------------------------------------------------------------------- in a real browser


@pytest.mark.parametrize("look", [{}, {"viewport": {"width": 390, "height": 844}}, {"java_script_enabled": False}])
def test_a_typing_slip_is_mended_by_keyboard(labs, visit, look):  # noqa: F811
    window = visit(labs, "lab-a", **look)
    tab_to(window, "[href='/trials/0']")
    window.keyboard.press("Enter")
    window.wait_for_url("**/trials/0")
    tab_to(window, "#y-0")
    window.keyboard.press("Control+a")
    window.keyboard.type("0.89")
    window.keyboard.press("Enter")
    window.wait_for_url("**/trials/0?kept=outcome")
    assert "In place of 89" not in window.inner_text("#past") and "0.89" in window.inner_text("#now dd >> nth=0")
    assert "in place of 89 ± 0.5 %" in window.inner_text("#past")
    assert window.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert labs.site("lab-a").trials[0].y == 0.89


def test_what_a_trial_was_is_folded_out_from_its_row_and_polls_leave_it_open(labs, visit):  # noqa: F811
    window = visit(labs, "lab-a")
    ready(window, 3)
    site = labs.site("lab-a")
    site.tell(site.trial(0), 0.89, is_correction=True)
    window.wait_for_selector("text=corrected, it was 89")
    tab_to(window, "#trials tbody tr:last-child summary")
    window.keyboard.press("Enter")
    window.wait_for_selector("#trials .steps >> text=told 89")
    after_polls(window)
    assert window.is_visible("#trials .steps >> text=told 89")


def test_what_is_typed_into_a_remark_is_there_after_another_program_has_changed_the_trial(labs, visit):  # noqa: F811
    window = visit(labs, "lab-a")
    window.goto("/trials/0")
    window.fill("#remark", "the lamp flickered")
    site = labs.site("lab-a")
    site.tell(site.trial(0), 0.77, is_correction=True)
    window.wait_for_timeout(3500)
    assert window.input_value("#remark") == "the lamp flickered"
    with window.expect_response(lambda answer: answer.status == 409):
        window.click("text=Keep the remark")
    assert "has changed since" in window.inner_text("#mistake")
    assert window.input_value("#remark") == "the lamp flickered"
    window.click("text=Keep the remark")
    window.wait_for_selector("text=The remark is kept.")
    trial = cboc.join(storage=labs.file("lab-a")).trials[0]
    assert (trial.y, trial.remark) == (0.77, "the lamp flickered")
