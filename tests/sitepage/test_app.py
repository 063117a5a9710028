"""The page of a site as a program sees it: what it shows, what it takes, and whom it lets in."""

import json
import re
import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import replace

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cboc
import cboc.sitepage.app
from cboc import CbocError, Float, Measurement, Policy, Space, Study
from cboc.coordinator.transactions import Transactions
from cboc.data.numbers import GROUPED
from cboc.site import worksheet
from cboc.site.trial import Decision, Status
from cboc.sitepage.app import LARGEST
from cboc.sitepage.form import read_entry
from cboc.sitepage.history import picture
from cboc.sitepage.outbox import lines
from cboc.sitepage.session import Session, Stage
from cboc.storage.sitefile import Sent, SiteFile

from ..machine import plain

PRIVATE = "private; open the address that cboc site printed"


class Visitor(httpx2.Client):
    """A browser without a screen, let in with the secret."""

    def __init__(self, url, secret):
        super().__init__(base_url=url, follow_redirects=True, headers={"Origin": url}, timeout=60, verify=False)
        self.get("/", params={"secret": secret})

    def ask(self):
        return self.post("/ask", data={"at_once": "yes"}).text


def unescaped(answer):
    return answer.text.replace("&#39;", "'").replace("&lt;", "<")


@pytest.fixture
def labs(laboratories):
    return laboratories()


@pytest.fixture
def visit(labs):
    """`visit("lab-a")`: the page of a site."""
    visitors = []

    def one(site, **options):
        visitors.append(Visitor(labs.page(site, **options), labs.secret))
        return visitors[-1]

    yield one
    for visitor in visitors:
        visitor.close()


@pytest.fixture(scope="module")
def calm(everywhere):
    """`labs, page = calm`: one that all tests share which change nothing; trial 0 of lab-a is to be run."""
    with closing(Visitor(everywhere.page("lab-a"), everywhere.secret)) as page:
        page.ask()
        yield everywhere, page


# ---------------------------------------------------------------------------------------------------- who may look


def test_the_secret_is_exchanged_for_a_cookie_and_leaves_the_address(calm):
    labs, url = calm[0], str(calm[1].base_url)
    answer = plain.get(url, params={"secret": labs.secret})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Domain" not in cookie
    seen = plain.get(url, headers={"Cookie": cookie.partition(";")[0]})
    assert seen.status_code == 200 and "lab-a" in seen.text


def test_a_link_from_elsewhere_starts_anew_because_a_redirect_would_lose_the_cookie(calm):
    labs, url = calm[0], str(calm[1].base_url)
    answer = plain.get(url, params={"secret": labs.secret}, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 200 and 'content="0; url=/"' in answer.text and labs.secret not in answer.text
    assert labs.secret in answer.headers["set-cookie"]


@pytest.mark.parametrize(
    "path", ["/", "/?secret=guess", "/sent", "/charts/history", "/advice", "/static/style.css", "/x"]
)
def test_without_the_cookie_nothing_is_shown(calm, path):
    answer = plain.get(calm[1].base_url.join(path))
    assert answer.status_code == 403 and PRIVATE in answer.text and "lab-a" not in answer.text


@pytest.mark.parametrize("cookie", ["", "guess", "a-secret-of-the-testsx", "é"])
def test_a_wrong_cookie_is_none(calm, cookie):
    url = calm[1].base_url
    name = f"cboc_site_{url.port}"
    assert plain.get(url, headers={"Cookie": f"{name}={cookie}".encode()}).status_code == 403


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "evil.example:8000", "localhost.evil", "127.0.0.2", "127.0.0.1:", ""],
)
def test_a_foreign_name_that_leads_here_is_refused(calm, host):
    answer = calm[1].get("/", headers={"Host": host})
    assert answer.status_code == 403 and "this computer only" in answer.text


def test_the_names_of_this_computer_are_fine(calm):
    labs, url = calm[0], str(calm[1].base_url)
    port = calm[1].base_url.port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}", "LOCALHOST"):
        assert plain.get(url, params={"secret": labs.secret}, headers={"Host": host}).status_code == 303


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:1", "null", None])
@pytest.mark.parametrize("path", ["/result", "/failed", "/abandon", "/ask", "/alone", "/leave", "/plate", "/sheet"])
def test_a_form_of_another_page_is_refused(calm, origin, path):
    labs, page = calm
    form = page.build_request("POST", path, data={"trial": "0", "y": "1"}, headers={"Origin": origin or ""})
    if origin is None:
        del form.headers["origin"]
    answer = page.send(form)
    assert answer.status_code == 403 and "from itself only" in answer.text
    assert labs.site("lab-a").trials[0].status == Status.PENDING


def test_answers_are_for_this_page_alone(calm):
    headers = calm[1].get("/").headers
    assert headers["cross-origin-resource-policy"] == "same-origin" and headers["cache-control"] == "no-store"
    assert "default-src 'none'" in headers["content-security-policy"]


def test_a_secret_is_made_where_none_is_given(calm):
    first, second = (cboc.sitepage.app.create_page(calm[0].file("lab-a")).state.secret for _ in range(2))
    assert first != second and len(first) > 40


def test_a_file_that_is_none_of_ours_is_refused_at_once(tmp_path):
    (tmp_path / "note.txt").write_text("a note")
    with pytest.raises(CbocError, match="is not a site file"):
        cboc.sitepage.app.create_page(tmp_path / "note.txt")


# ------------------------------------------------------------------------------------------------------- one study


def test_a_study_of_two_sites_through_their_pages(labs, visit):
    pages = {name: visit(name) for name in labs.study.sites}
    for _ in range(30):
        for name, page in pages.items():
            page.ask()
            site = labs.site(name)
            if site.trials[-1].status == Status.PENDING:
                page.post("/result", data={"trial": len(site.trials) - 1, "y": f"0,{len(site.trials)}"})
        if all(labs.site(name).is_finished for name in pages):
            break
    for name, page in pages.items():
        site = labs.site(name)
        assert [trial.y for trial in site.trials] == [0.1, 0.2, 0.3, 0.4, 0.5]
        assert "Finished" in page.get("/").text and "hx-post" not in page.ask()


def test_the_page_shows_the_design_and_why(labs, visit):
    text = visit("lab-a").ask()
    trial = labs.site("lab-a").trials[0]
    for name, value in trial.design(labs.study.space).items():
        assert f">{labs.study.space.parameters[name].shown(value)}<" in text
    assert trial.explain(labs.study.sites) in text and "°C" in text


def test_another_design_that_was_run(labs, visit):
    page = visit("lab-a")
    page.ask()
    design = labs.site("lab-a").trials[0].design(labs.study.space)
    fields = {f"ran.{name}": labs.study.space.parameters[name].shown(value) for name, value in design.items()}
    changed = fields | {"ran.temperature": "33,5", "ran.solvent": "dmso"}
    page.post("/result", data={"trial": 0, "y": "1", "sem": "0.1", "other": "yes", **changed})
    told = labs.site("lab-a").trials[0]
    assert told.design(labs.study.space) == pytest.approx(design | {"temperature": 33.5, "solvent": "dmso"})
    assert (told.y, told.sem, told.note) == (1.0, 0.1, "another design was run")


def test_without_the_tick_the_fields_of_another_design_count_for_nothing(labs, visit):
    page = visit("lab-a")
    page.ask()
    page.post("/result", data={"trial": 0, "y": "1", "ran.temperature": "33.5"})
    told = labs.site("lab-a").trials[0]
    assert told.executed == told.proposed


def test_failed_and_abandoned(labs, visit):
    page = visit("lab-a")
    page.ask()
    page.post("/failed", data={"trial": 0, "reason": " the pump stopped "})
    page.ask()
    page.post("/abandon", data={"trial": 1, "sure": "yes"})
    trials = labs.site("lab-a").trials
    assert [trial.status for trial in trials[:2]] == [Status.FAILED, Status.ABANDONED]
    assert trials[0].note == "the pump stopped" and "the pump stopped" in page.get("/").text


# ------------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"y": ""}, "the outcome is missing"),
        ({"y": "high"}, "the outcome is a number such as 0.25; 'high' is not one."),
        ({"y": "1.234,5"}, "'1.234,5' is not one."),
        ({"y": "1 000"}, "'1 000' is not one."),
        ({"y": "1,234"}, "the outcome: '1,234' may mean thousands or decimals; write 1234 or 1.234."),
        ({"y": "nan"}, "'nan' is not one."),
        ({"y": "1e999"}, "'1e999' is not one."),
        ({"y": "0.25", "sem": "-1"}, "the standard error is not negative"),
        ({"y": "0.25", "sem": "small"}, "the standard error is a number"),
        ({"y": "0.25", "cost": "-1"}, "the cost is not negative; got '-1'"),
        ({"y": "0.25", "cost": "dear"}, "the cost is a number such as 0.25; 'dear' is not one."),
        ({"y": "0.25", "other": "yes", "ran.temperature": "95"}, "temperature: expected a number from 20 to 90 °C"),
        (
            {"y": "0.25", "other": "yes", "ran.temperature": ""},
            "temperature: expected a value, but the field is empty.",
        ),
        ({"y": "0.25", "other": "yes", "ran.cycles": "2.5"}, "cycles: expected a whole number from 1 to 12"),
        ({"y": "0.25", "other": "yes", "ran.solvent": "wine"}, "solvent: unknown option 'wine'"),
        ({"y": "0.25", "other": "yes", "ran.solvent": "wine", "ran.temperature": '"><b>'}, "temperature: expected"),
    ],
)
def test_a_mistake_is_one_sentence_and_what_was_typed_stays(calm, typed, sentence):
    labs, page = calm
    design = labs.site("lab-a").trials[0].design(labs.study.space)
    fields = {f"ran.{name}": labs.study.space.parameters[name].shown(value) for name, value in design.items()}
    answer = page.post("/result", data={"trial": 0, **fields, **typed})
    assert answer.status_code == 422 and sentence in unescaped(answer)
    assert f'name="y" inputmode="decimal" required value="{typed["y"]}"' in answer.text
    assert ("checked" in answer.text) == ("other" in typed)
    assert "<b>" not in answer.text
    assert labs.site("lab-a").trials[0].status == Status.PENDING


@pytest.mark.parametrize("trial", ["", "1", "-1", "x", "999999999999", "٣"])
def test_a_form_about_no_trial_is_refused(calm, trial):
    labs, page = calm
    for path in ("/result", "/failed", "/abandon"):
        assert page.post(path, data={"trial": trial, "y": "1"}).status_code == 409
    assert len(labs.site("lab-a").trials) == 1 and labs.site("lab-a").trials[0].status == Status.PENDING


def test_a_form_sent_twice_counts_once(labs, visit):
    page = visit("lab-a")
    page.ask()
    for _ in range(2):
        assert page.post("/result", data={"trial": 0, "y": "0.5"}).status_code == 200
    page.ask()
    assert page.post("/result", data={"trial": 0, "y": "0.5"}).status_code == 200
    assert [trial.y for trial in labs.site("lab-a").trials] == [0.5, None]


def test_another_result_for_the_same_trial_waits_in_its_own_form_and_not_in_the_next(labs, visit):
    page = visit("lab-a")
    page.ask()
    page.post("/result", data={"trial": 0, "y": "0.5"})
    page.ask()
    answer = page.post("/result", data={"trial": 0, "y": "0.7654"})
    assert answer.status_code == 409 and "trial 0 has changed since this form was made" in answer.text
    assert 'id="y-0" name="y" inputmode="decimal" required value="0.7654"' in answer.text
    assert "cboc tell" not in answer.text and labs.site("lab-a").trials[0].y == 0.5
    assert 'id="y-1" name="y" inputmode="decimal" required value=""' in page.get("/").text
    for path in ("/failed", "/abandon"):
        late = page.post(path, data={"trial": 0, "reason": "the pump stopped"})
        assert late.status_code == 409 and 'id="y-0" name="y" inputmode="decimal" required value="0.5"' in late.text
    seen = re.search(r'name="seen" value="(\w+)"', answer.text)[1]
    page.post("/trials/0/outcome", data={"seen": seen, "y": "0.7654", "sem": "", "cost": ""})
    assert [trial.y for trial in labs.site("lab-a").trials] == [0.7654, None]


def test_a_remark_is_written_with_the_result_and_sent_twice_it_is_one(labs, visit):
    page = visit("lab-a")
    page.ask()
    wrong = page.post("/result", data={"trial": 0, "y": "0.5", "remark": "bell\x07"})
    assert wrong.status_code == 409 and "bell" in wrong.text and labs.site("lab-a").trials[0].y is None
    for _ in range(2):
        page.post("/result", data={"trial": 0, "y": "0.5", "remark": "a <brown> sample\r\n"})
    trial = labs.site("lab-a").trials[0]
    assert (trial.y, trial.remark) == (0.5, "a <brown> sample")
    assert len(SiteFile(labs.file("lab-a")).history(0)) == 3, "ready, told, remark"
    assert "<q>a &lt;brown&gt; sample</q>" in page.get("/").text


def test_an_outcome_keeps_the_digits_in_which_it_was_typed(labs, visit):
    page = visit("lab-a")
    page.ask()
    page.post("/result", data={"trial": 0, "y": "-76.026748", "sem": "0.0000025"})
    assert '<td class="number">-76.026748 ± 2.5e-06</td>' in page.get("/").text
    seen = re.search(r'name="seen" value="(\w+)"', page.get("/trials/0").text)[1]
    answer = page.post("/trials/0/outcome", data={"seen": seen, "y": "-76.026749", "sem": "0.0000025", "cost": ""})
    assert "-76.026749 ± 2.5e-06 in place of -76.026748 ± 2.5e-06" in answer.text
    assert labs.site("lab-a").trials[0].note == "corrected, it was -76.026748 ± 2.5e-06"


@pytest.mark.parametrize("path", ["/?trial=abc", "/?told=x", "/expected/x", "/trials/x", "/learned/x"])
def test_a_mistyped_address_is_one_sentence(calm, path):
    answer = calm[1].get(path)
    assert answer.status_code == 404 and "there is no such page here." in answer.text.lower()


def test_many_at_the_same_moment(labs, visit):
    page = visit("lab-a")
    page.ask()
    answers = []

    def send(y):
        answers.append(page.post("/result", data={"trial": 0, "y": str(y)}, follow_redirects=False).status_code)

    threads = [threading.Thread(target=send, args=(y,)) for y in (1, 1, 1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(set(answers)) == [303, 409]
    assert sum(trial.y is not None for trial in labs.site("lab-a").trials) == 1


def test_what_another_process_does_is_seen(labs, visit):
    page = visit("lab-a")
    page.ask()
    site = labs.site("lab-a")
    site.tell(site.ask(), 0.125)
    site.ask()
    assert "Trial 1 is ready" in page.get("/").text and ">0.125<" in page.get("/").text


def test_addresses_of_forms_and_of_nothing(calm):
    page = calm[1]
    assert page.get("/result", follow_redirects=False).headers["location"] == "/"
    assert page.get("/nothing").status_code == 404 and "no such page" in page.get("/nothing").text


# ------------------------------------------------------------------------------------- waiting, and nobody answering


def after_initial(page):
    """Both initial designs are told; the next one is to be agreed on."""
    for number in range(2):
        page.ask()
        page.post("/result", data={"trial": number, "y": str(number)})


def test_the_page_says_whom_it_waits_for(visit):
    page = visit("lab-a")
    after_initial(page)
    assert "Thinking" in page.get("/").text
    assert "Waiting for the others: lab-b has not proposed yet." in page.ask()
    other = visit("lab-b")
    after_initial(other)
    other.ask()
    assert "Trial 2 is ready" in page.ask()


def test_while_it_waits_a_question_is_one_message(labs, visit):
    page = visit("lab-a")
    after_initial(page)
    page.ask()
    before = len(SiteFile(labs.file("lab-a")).sent())
    page.ask()
    (sent,) = SiteFile(labs.file("lab-a")).sent()[before:]
    assert (sent.method, sent.path, sent.body) == ("GET", "/v2/turns/0/mix", b"")


def test_however_many_windows_are_open_the_coordinator_is_asked_now_and_then(labs):
    now = [0.0]
    bench = Session(labs.file("lab-a"), clock=lambda: now[0])
    for number in range(2):
        bench.ask()
        site = bench.open()
        site.tell(site.trials[number], 1.0)
    bench.ask()

    def messages(first, last):
        """Sent between two moments, while three windows look every second."""
        before = len(bench.file.sent())
        for second in range(first, last):
            now[0] = float(second)
            for _ in range(3):
                bench.ask()
        return len(bench.file.sent()) - before

    assert messages(0, 20) == 9  # every other second at first, but not at once
    now[0] = 3600.0
    bench.ask()
    assert messages(3601, 3661) == 2  # twice a minute after an hour
    assert bench.news(bench.open()).stage == Stage.WAITING


def test_nobody_answers(labs, visit):
    page = visit("lab-a", patience=0.3)
    after_initial(page)
    labs.stop_coordinator()
    text = page.ask()
    assert "The coordinator cannot be reached." in text and "Run my own proposal meanwhile" in text
    assert labs.site("lab-a").trials[2].status == Status.PROPOSED  # it does not go on alone by itself
    page.post("/alone", data={"trial": 1})  # an old form
    assert labs.site("lab-a").trials[2].status == Status.PROPOSED
    for _ in range(2):
        text = page.post("/alone", data={"trial": 2}).text
    assert "the others could not be reached" in text and "Trial 2 is ready" in text
    assert labs.site("lab-a").trials[2].decision == Decision.UNREACHABLE
    page.post("/result", data={"trial": 2, "y": "3"})
    assert labs.site("lab-a").trials[2].y == 3.0


def test_a_silent_coordinator_does_not_keep_the_page_waiting(labs, visit):
    page = visit("lab-a", patience=2.0)
    after_initial(page)
    labs.stop_coordinator()
    asking = threading.Thread(target=page.ask)
    asking.start()
    time.sleep(0.3)
    begun = time.monotonic()
    assert "Thinking" in page.get("/").text or "cannot be reached" in page.get("/").text
    assert time.monotonic() - begun < 1.0
    asking.join()


def test_a_refusal_is_shown(labs, visit):
    page = visit("lab-a")
    after_initial(page)
    SiteFile(labs.file("lab-a")).remember(token="another")
    text = page.ask()
    assert "could not be agreed on" in text and "refused" in text


def test_a_strategy_that_breaks_down_is_shown(visit):
    def broken(*_):
        raise RuntimeError("no <more> ideas")

    page = visit("lab-a", policy=Policy(broken, initial=2, seed=5))
    after_initial(page)
    page.ask()
    assert "RuntimeError: no <more> ideas" in unescaped(page.get("/")).replace("&gt;", ">")


def test_a_file_that_another_program_holds(labs, visit):
    page = visit("lab-a")
    page.ask()
    with closing(sqlite3.connect(labs.file("lab-a"), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        answer = page.post("/result", data={"trial": 0, "y": "1"})
        assert answer.status_code == 409 and "another program is writing to it; try again" in answer.text
    assert page.post("/result", data={"trial": 0, "y": "1"}).status_code == 200


# ----------------------------------------------------------------------------------------- history, advice, messages


def test_the_picture_tells_kinds_apart(labs):
    a, b = (labs.site(name) for name in labs.study.sites)
    for site in (a, b):
        for y in (1.0, 3.0):
            site.tell(site.ask(), y)
    a.fail(_asked(a, b))
    option = picture(a)
    series = {one["name"]: one for one in option["series"]}
    assert [point["value"] for point in series["initial"]["data"]] == [[0, 1.0], [1, 3.0]]
    assert [point["value"] for point in series["best so far"]["data"]] == [[0, 1.0], [1, 3.0], [2, 3.0]]
    assert [point["value"][0] for point in series["failed"]["data"]] == [2]
    assert len({one["symbol"] for one in option["series"]}) == 5
    json.dumps(option)


def _asked(site, *others):
    while True:
        for one in (site, *others):
            try:
                trial = one.ask()
            except cboc.Waiting:
                continue
            if one is site:
                return trial


def test_advice_is_thought_about_once(visit):
    page = visit("lab-a")
    page.ask()
    assert "Judging" in page.get("/").text
    assert "Nothing to judge by yet" in page.get("/advice").text
    assert "Nothing to judge by yet" in page.get("/").text


def test_the_gain_over_working_alone_is_estimated(labs, visit):
    a, b = (labs.site(name) for name in labs.study.sites)
    while not a.is_finished:
        for site, other in ((a, b), (b, a)):
            trial = _asked(site, other)
            site.tell(trial, -float(((trial.x - 0.4) ** 2).sum()))
    assert "By your own model, compared with working alone: " in visit("lab-a").get("/advice").text


def test_all_that_left_is_listed_without_secrets(labs, visit):
    page = visit("lab-a")
    after_initial(page)
    page.ask()
    page.ask()
    text = unescaped(page.get("/sent"))
    for said in ("joined the study", "proposed a design for turn 0", "asked which design to run in turn 0", "2 times"):
        assert said in text
    assert re.search(r"proposed design: temperature = \S+ °C, time = ", text)
    about = SiteFile(labs.file("lab-a")).about
    assert about["token"] not in text and about["code"] not in text


def test_no_outcome_leaves(labs, visit):
    page = visit("lab-a")
    for number, y in enumerate(("0.8675309", "0.7734451")):
        page.ask()
        page.post("/result", data={"trial": number, "y": y, "sem": "0.0918273"})
    page.ask()
    left = b"".join(sent.path.encode() + sent.body for sent in SiteFile(labs.file("lab-a")).sent())
    for digits in (b"8675309", b"7734451", b"0918273"):
        assert digits not in left


def test_hostile_words_are_words(laboratories):
    evil = '<img src=x onerror="alert(1)">{{7*7}}'
    labs = laboratories(Study({"a": (0.0, 1.0)}, (evil, "lab-b"), 2, name=evil, pace="rounds"), initial=1)
    with closing(Visitor(labs.page(evil), labs.secret)) as page:
        page.ask()
        page.post("/failed", data={"trial": 0, "reason": evil})
        text = page.ask()
    assert "<img src=x" not in text and "{{7*7}}" in text


def test_a_message_that_is_no_json_is_shown_as_it_is():
    (line,) = lines([Sent(0.0, "http://lab", "POST", "/elsewhere", b"\xff\xfe")], Space({"a": (0.0, 1.0)}))
    assert line.purpose == "POST /elsewhere" and line.designs == {}


# ------------------------------------------------------------------------------------------------- digits and fields


@given(u=st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_fields_left_as_they_were_mean_the_design_itself(u):
    space = Space({"a": (0.0, 1.0), "b": Float(1e-3, 1e3, log=True), "c": (-50, 50)}, ["a <= 0.01 * c + 0.5"])
    design = space.from_unit(space.project(u))
    fields = {f"ran.{name}": parameter.shown(design[name]) for name, parameter in space.parameters.items()}
    entry = read_entry({"y": "1", "other": "yes", **fields}, space, design)
    assert entry.ran == design


@given(y=st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_with_point_or_comma(y):
    space = Space({"a": (0.0, 1.0)})
    for text in (repr(y), repr(y).replace(".", ","), f" {y!r} ", repr(y).replace("-", "\N{MINUS SIGN}")):
        if not GROUPED.fullmatch(text):
            assert read_entry({"y": text}, space, {"a": 0.5}).outcome == Measurement(y)


# --------------------------------------------------------------------------------------------------- several at once


PLATES = Study({"temperature": (20.0, 90.0), "time": (1.0, 5.0)}, ("lab-a", "lab-b"), 20, name="plates", pace="free")


def test_a_plate_is_asked_for_listed_and_entered_in_any_order(laboratories):
    labs = laboratories(PLATES)
    page = Visitor(labs.page("lab-a"), labs.secret)
    for y in (1, 2):
        page.ask()
        page.post("/result", data={"trial": y - 1, "y": str(y)})
    page.ask()
    page.post("/plate", data={"count": "3"})
    text = page.get("/").text
    assert "4 experiments are ready to run." in text and 'href="/?trial=4"' in text
    assert "Result of trial 2" in text and "Result of trial 4" in page.get("/?trial=4").text
    page.post("/result", data={"trial": 4, "y": "0.5"})
    assert [trial.number for trial in labs.site("lab-a").open_trials] == [2, 3, 5]
    sheet = page.get("/sheet.csv").text.splitlines()
    assert sheet[0].startswith("trial,") and [line.split(",")[0] for line in sheet[1:]] == ["2", "3", "5"]
    wrong = page.post("/result", data={"trial": 5, "y": "much"})
    assert wrong.status_code == 422 and "Result of trial 5" in wrong.text  # the form that was typed into
    page.close()


@pytest.fixture
def bench(laboratories):
    """`labs, page = bench`: a site that asks for plates; trial 0 of lab-a is to be run."""
    labs = laboratories(PLATES)
    with closing(Visitor(labs.page("lab-a"), labs.secret)) as page:
        page.ask()
        yield labs, page


def designs(labs, first):
    """The designs of lab-a's trials, from this one on."""
    return [tuple(trial.design(PLATES.space).values()) for trial in labs.site("lab-a").trials[first:]]


def test_the_wells_of_a_plate_share_what_is_ticked(bench):
    labs, page = bench
    page.post("/result", data={"trial": 0, "y": "1"})
    page.ask()
    page.post("/result", data={"trial": 1, "y": "2"})
    page.post("/plate", data={"count": "4", "replicates": "1", "same.temperature": "yes"})
    temperatures, times = zip(*designs(labs, 2), strict=True)
    assert len(set(temperatures)) == 1 and len(set(times)) == 4


def test_each_design_of_a_plate_is_there_as_often_as_asked(bench):
    labs, page = bench
    page.post("/plate", data={"count": "6", "replicates": "3"})
    asked = designs(labs, 1)
    assert len(asked) == 6 and sorted(asked.count(design) for design in set(asked)) == [3, 3]


@pytest.mark.parametrize("number", ["", "0", "385", "x", "-1", "9" * 40])
def test_a_plate_has_some_wells(bench, number):
    labs, page = bench
    for field, sentence in (("count", "1 to 384 experiments"), ("replicates", "each design 1 to 384 times")):
        answer = page.post("/plate", data={"count": "8", "replicates": "2", field: number})
        assert answer.status_code == 409 and f"a plate has {sentence}; got &#39;{number[:20]}&#39;." in answer.text
    assert len(labs.site("lab-a").trials) == 1


def test_a_plate_that_nothing_fulfils_is_one_sentence_and_what_was_ticked_stays(bench):
    labs, page = bench
    assert "<details >" in page.get("/").text and "checked" not in page.get("/").text
    both = {"same.temperature": "yes", "same.time": "yes"}
    answer = page.post("/plate", data={"count": "6", "replicates": "2", **both})
    assert answer.status_code == 409
    assert "with the same temperature and time in all wells there is at most 1 design; 3 different" in answer.text
    assert 'size="3" value="6"' in answer.text and 'size="2" value="2"' in answer.text
    assert answer.text.count("checked") == 2 and "<details open>" in answer.text
    answer = page.post("/plate", data={"count": "5", "same.tmie": "yes"})
    assert answer.status_code == 409 and "tmie" in answer.text
    assert len(labs.site("lab-a").trials) == 1


def filled_in(page, *outcomes):
    """The lines of the sheet of all open experiments, the first ones with these outcomes."""
    header, *rows = page.get("/sheet.csv").text.splitlines()
    told = [f"{row.removesuffix(',,,,')},{y},,," for row, y in zip(rows, outcomes, strict=False)]
    return [header, *told, *rows[len(told) :]]


def hand_in(page, lines):
    return page.post("/sheet", data={"sheet": "\r\n".join(lines)})


def test_a_sheet_is_handed_in_partly_filled_in(bench):
    labs, page = bench
    assert "Download trial 0 as a sheet" in page.get("/").text and 'action="/sheet"' in page.get("/").text
    page.post("/plate", data={"count": "3"})
    sheet = filled_in(page, "0.5", "", "1.5")
    answer = hand_in(page, sheet)
    assert answer.status_code == 200 and "2 lines were read from the sheet and told." in answer.text
    assert [trial.y for trial in labs.site("lab-a").trials] == [0.5, None, 1.5, None]
    assert ">1.5<" in answer.text and "2 experiments are ready to run." in answer.text
    assert "were read" not in page.get("/").text
    before, again = labs.site("lab-a").trials, hand_in(page, sheet)
    assert again.status_code == 200 and labs.site("lab-a").trials == before  # it counts once
    assert "2 lines of it were told before." in again.text and "and told" not in again.text
    assert "1 line was read from the sheet and told. 2 lines of it were told before." in (
        hand_in(page, [*sheet[:4], sheet[4].replace(",,,,", ",2,,,")]).text
    )


def test_fewer_experiments_than_asked_for_are_said_to_be_so(bench):
    labs, page = bench
    for trial in (0, 1):
        page.post("/result", data={"trial": trial, "y": "1"})
        page.ask()
    answer = page.post("/plate", data={"count": "30"})
    assert "19 experiments. The budget has no more: 30 were asked for." in answer.text
    assert len(labs.site("lab-a").to_run) == 20 and "no more" not in page.get("/").text


def test_costs_are_entered_and_shown_with_their_limit(bench):
    labs, page = bench
    assert "Cost so far" not in page.get("/").text
    page.post("/result", data={"trial": 0, "y": "1", "cost": "2,5"})
    assert labs.site("lab-a").trials[0].cost == 2.5 and "<dt>Cost so far</dt><dd>2.5</dd>" in page.get("/").text
    labs.site("lab-a", policy=Policy(initial=2, seed=5, most_cost=8))
    page.ask()
    wrong = page.post("/failed", data={"trial": 1, "reason": "spilled", "cost": "much"})
    assert wrong.status_code == 422 and "the cost is a number such as 0.25; 'much' is not one." in unescaped(wrong)
    page.post("/failed", data={"trial": 1, "reason": "spilled", "cost": "3.5"})
    assert "<dt>Cost so far</dt><dd>6 of 8</dd>" in page.get("/").text
    answer = page.post("/plate", data={"count": "3"}).text
    assert "3 open experiments would cost about 9, by the mean so far; 2 of the limit of 8 are left." in answer


def test_a_sheet_pasted_from_a_spreadsheet_has_tabs_and_decimal_commas(bench):
    labs, page = bench
    sheet = [line.replace(",", "\t").replace(".", ",") for line in filled_in(page, "0.25")]
    assert "1 line was read from the sheet" in hand_in(page, sheet).text
    trial = labs.site("lab-a").trials[0]
    assert (trial.y, trial.note) == (0.25, "")


def test_a_sheet_of_another_site_is_seen_to_be_one(bench):
    labs, page = bench
    other = labs.site("lab-b")
    other.ask()
    answer = hand_in(page, worksheet.write(other.to_run, other.space).replace(",,,,", ",0.5,,,").splitlines())
    assert labs.site("lab-a").trials[0].executed == pytest.approx(other.trials[0].proposed, abs=1e-3)
    assert "another design was run" in answer.text


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("time", "tmie"), "the sheet, line 1: column 'time' is missing; did you mean 'tmie'?"),
        ((",0.5,", ",much,"), "the sheet, line 2, column y: expected a number or an empty cell, but found 'much'."),
        ((",0.5,", ",,"), "no line of the sheet has an outcome, or a status; nothing was told."),
        (("0,", "7,"), "site 'lab-a' has no trial 7; its last is 1. Nothing in the sheet was told."),
        ((",0.5,,,", ",0.5,,lost,"), "the sheet, line 2, column status: unknown status 'lost'"),
        ((",0.5,,,", ",0.5,,,,"), "the sheet, line 2: expected 7 cells as in the header, but found 8."),
    ],
)
def test_a_sheet_with_a_mistake_is_one_sentence_and_stays_to_be_mended(bench, change, sentence):
    labs, page = bench
    page.post("/plate", data={"count": "1"})
    header, first, second = filled_in(page, "0.5")
    before = labs.site("lab-a").trials
    sheet = [header.replace(*change), first.replace(*change, 1), second]
    answer = hand_in(page, sheet)
    assert answer.status_code == 422 and sentence in unescaped(answer)
    assert "required>\n{}</textarea>".format("\r\n".join(sheet)) in answer.text
    assert '<details id="sheet" hx-morph-skip open>' in answer.text
    assert labs.site("lab-a").trials == before


def test_a_line_that_differs_from_what_was_told_is_asked_about_before_anything_is_told(bench):
    labs, page = bench
    page.post("/plate", data={"count": "2"})
    sheet = filled_in(page, "0.5", "0.6", "3")
    page.post("/result", data={"trial": 2, "y": "2"})
    before = labs.site("lab-a").trials
    answer = hand_in(page, sheet)
    assert answer.status_code == 200 and "the sheet, line 4, trial 2: 3 in place of 2?" in answer.text
    assert "line 2" not in answer.text and labs.site("lab-a").trials == before
    fields = re.findall(r'<input type="hidden" name="(\w+)" value="(.*?)">', answer.text, re.DOTALL)
    mended = page.post("/sheet", data=dict(fields) | {"mend": "yes"})
    assert ",3,,," in mended.text and 'name="again"' not in mended.text and labs.site("lab-a").trials == before
    told = page.post("/sheet", data=dict(fields) | {"sure": "yes"})
    assert "3 lines were read from the sheet and told." in told.text
    assert [trial.y for trial in labs.site("lab-a").trials] == [0.5, 0.6, 3.0]
    assert labs.site("lab-a").trials[2].note == "corrected, it was 2"


def test_words_in_a_sheet_are_words(bench):
    answer = hand_in(bench[1], ["</textarea><script>alert(1)</script>"])
    assert answer.status_code == 422 and "<script>alert" not in answer.text


@pytest.mark.parametrize("size", [LARGEST + 1, 20 * LARGEST])
def test_a_form_that_is_too_large_is_refused_in_one_sentence(bench, size):
    labs, page = bench
    answer = page.post("/sheet", data={"sheet": "x" * size})
    assert answer.status_code == 413 and "at most 1,048,576 bytes; cboc tell sheet.csv reads larger" in answer.text
    assert hand_in(page, ["x" * (LARGEST - 100)]).status_code == 422
    assert labs.site("lab-a").trials[0].status == Status.PENDING


def test_a_plate_that_is_asked_for_twice_by_one_form_counts_once(bench):
    _, page = bench
    form = {"count": "2", "replicates": "1", "after": re.search(r'name="after" value="(\d+)"', page.get("/").text)[1]}
    for _ in range(3):
        assert page.post("/plate", data=form).status_code in (200, 303)
    after = re.search(r'name="after" value="(\d+)"', page.get("/").text)[1]
    assert int(after) == int(form["after"]) + 2


def test_wells_of_a_layout_are_on_the_page_and_in_its_sheet(bench):
    _, page = bench
    assert page.post("/plate", data={"count": "3", "replicates": "1", "layout": "24"}).status_code in (200, 303)
    assert "<td>A1</td>" in page.get("/").text and "<td>A3</td>" in page.get("/").text
    header, *lines = page.get("/sheet.csv").text.splitlines()
    assert header.startswith("trial,well,") and [line.split(",")[1] for line in lines][-3:] == ["A1", "A2", "A3"]
    assert "a plate has 6, 12, 24, 48, 96, 384 wells" in page.post("/plate", data={"count": "3", "layout": "7"}).text


def test_a_change_of_the_study_is_shown_and_accepted_by_a_button(labs, visit):
    page = visit("lab-a")
    Transactions(labs.engine).amend(replace(labs.study, horizon=labs.study.horizon + 3))
    for trial in labs.site("lab-a").trials or range(2):
        site = labs.site("lab-a")
        site.tell(site.ask(), 1.0)
        assert trial is not None
    text = page.ask()
    assert "The study has changed." in text and "the horizon grows from" in text and "Accept</button>" in text
    page.post("/accept", data={"version": "7"})  # of another window, which has shown something else
    assert labs.site("lab-a").study.version == 0
    text = page.post("/accept", data={"version": "1"}).text
    assert "The study has changed." not in text and labs.site("lab-a").study.version == 1
    page.post("/accept", data={"version": "nonsense"})


# ------------------------------------------------------------------------------------------------------ plain words


def test_bench_words_are_behind_a_click_and_a_trial_says_its_place(labs, visit):
    """Outside <details>, a page with own, shared and initial designs has no word that only the method has."""
    pages = {name: visit(name) for name in labs.study.sites}
    for _ in range(8):
        for name, page in pages.items():
            page.ask()
            number = len(labs.site(name).trials) - 1
            if labs.site(name).trials[-1].status == Status.PENDING:
                place = f"initial {number + 1} of 2" if number < 2 else f"experiment {number - 1} of 3"
                assert f"trial {number}, {place}" in page.get("/").text
                page.post("/result", data={"trial": number, "y": f"0.{number}"})
    page = pages["lab-a"]
    page.get("/advice")
    text = page.get("/").text
    assert {str(trial.kind) for trial in labs.site("lab-a").trials} >= {"initial"}
    seen = re.sub(r"<details.*?</details>|<script.*?</script>|<[^>]*>", " ", text, flags=re.DOTALL)
    found = re.findall(r"\b(nats|Q²|gate|mix|mixed|log odds|turn|turns|stance|rank correlation)\b", seen)
    assert found == [] and "nats" in text
