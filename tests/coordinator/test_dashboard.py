import re
import time
from hashlib import sha256
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import cboc.web.layout
from cboc import Study
from cboc.coordinator.dashboard import charts
from cboc.coordinator.dashboard.overview import Attendance, Overview
from cboc.coordinator.dashboard.pages import COOKIE, duration
from cboc.coordinator.people import People
from cboc.coordinator.rights import Roles
from cboc.coordinator.tokens import Tokens, new_secret
from cboc.coordinator.transactions import Transactions
from cboc.errors import CbocError
from cboc.exchange.messages import Proposal
from cboc.space.choice import Choice
from cboc.space.parameters import Float, Int

from ..machine import plain

PASSWORD = "correct horse"
HOSTILE = [
    "<script>alert(1)</script>",
    "\"quoted\" and 'quoted'",
    "a/../b",
    "..",
    "/",
    "100 %41 %2F",
    "a?b=c&d#e",
    "{{ 7 * 7 }} {a} {% raw %}",
    "caffè 🧪",
]
RING_OF_FOUR = [("w", "x"), ("x", "y"), ("y", "z"), ("z", "w")]
STATIC = Path(cboc.web.layout.__file__).parent / "static"

pytestmark = pytest.mark.usefixtures("cheap")


@pytest.fixture
def base(engine, serving):
    People(engine).add("ada", PASSWORD)
    Roles(engine).make_admin("ada")
    with serving(engine) as base:
        yield base


def send(base, path, person="ada", password=PASSWORD, **headers):
    return plain.post(base + path, data={"person": person, "password": password}, headers={"Origin": base} | headers)


@pytest.fixture
def ada(base):
    """Somebody who has logged in."""
    with plain.Client(base_url=base, headers={"Origin": base}) as client:
        assert client.post("/login", data={"person": "ada", "password": PASSWORD}).status_code == 303
        yield client


def played(engine, study, rounds, present=0):
    """A study of which some rounds are closed and some sites are in."""
    exchange, rng = Transactions(engine), np.random.default_rng(0)
    exchange.create(study)
    for round in range(rounds + 1):
        for site in study.sites if round < rounds else study.sites[:present]:
            exchange.submit(study.name, Proposal(site, round, [rng.random(study.space.dimension)]))
    return exchange


def study_of(name="trial", sites=("x", "y", "z"), horizon=4, **more):
    return Study(
        {"T": Float(20.0, 90.0, unit="°C"), "c": Float(1e-4, 0.1, log=True)},
        sites,
        horizon,
        name=name,
        **({"pace": "rounds"} | more),
    )


def text(page):
    """What a person reads, without tags and runs of blanks."""
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.text)))


# The door


def test_pages_send_strangers_to_the_door_and_charts_refuse_them(base):
    for path in ("/", "/study?name=trial"):
        answer = plain.get(base + path)
        assert answer.status_code == 303 and answer.headers["Location"] == "/login"
        refreshed = plain.get(base + path, headers={"HX-Request": "true"})
        assert refreshed.status_code == 401 and refreshed.headers["HX-Redirect"] == "/login"
    for chart in ("matrix?name=trial&round=0", "path?name=trial&parameter=0", "plane?name=trial"):
        answer = plain.get(f"{base}/charts/{chart}")
        assert answer.status_code == 401 and set(answer.json()) == {"error"}


def test_logging_in_and_out(base):
    answer = send(base, "/login")
    assert answer.status_code == 303 and answer.headers["Location"] == "/"
    said = answer.headers["Set-Cookie"].lower()
    assert "httponly" in said and "samesite=strict" in said and "path=/" in said and "secure" not in said
    cookies = {"Cookie": f"{COOKIE}={answer.cookies[COOKIE]}"}
    assert "ada" in text(plain.get(base, headers=cookies))
    assert plain.post(f"{base}/logout", headers={"Origin": base} | cookies).headers["Location"] == "/login"
    assert plain.get(base, headers=cookies).status_code == 303


def test_behind_tls_the_cookie_is_for_tls_only(base):
    answer = send(base, "/login", **{"X-Forwarded-Proto": "https"})  # as a proxy on this machine says it
    assert "secure" in answer.headers["Set-Cookie"].lower()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_form_of_another_page_does_nothing(base, headers):
    for path in ("/login", "/logout"):
        answer = send(base, path, **headers)
        assert answer.status_code == 403 and "Set-Cookie" not in answer.headers


def test_a_browser_that_says_same_origin_is_believed_whatever_the_proxy_calls_us(base):
    assert send(base, "/login", **{"Sec-Fetch-Site": "same-origin", "Origin": "https://dashboard"}).status_code == 303


def test_a_wrong_password_and_then_too_many(base):
    for _ in range(5):
        answer = send(base, "/login", password="wrong horse")
        assert answer.status_code == 401 and "do not match" in text(answer)
        assert "wrong horse" not in answer.text and 'value="ada"' in answer.text
    answer = send(base, "/login")
    assert answer.status_code == 429 and 0 < int(answer.headers["Retry-After"]) <= 60
    assert "too many attempts" in text(answer) and "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("person", ["", "a\0b", "<b>x</b>", "x" * 30_000])
def test_names_that_nobody_has_are_refused_like_any_other(base, person):
    answer = send(base, "/login", person=person)
    assert answer.status_code == 401 and "<b>" not in answer.text


def test_before_anybody_may_log_in_the_page_says_how_to_add_somebody(engine, serving):
    with serving(engine) as base:
        assert "cboc people add NAME" in plain.get(f"{base}/login").text
        People(engine).add("ada", PASSWORD)
        assert "cboc people add" not in plain.get(f"{base}/login").text


# What every answer says


def test_every_answer_has_the_headers(base, ada):
    for answer in (ada.get("/"), ada.get("/login"), ada.get("/nowhere"), plain.get(f"{base}/charts/plane?name=x")):
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe" not in policy and "http" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "same-origin"
        assert answer.headers["Cache-Control"] == "no-store"


def test_pages_hold_no_code_and_no_style_of_their_own_and_nothing_from_elsewhere(engine, ada):
    played(engine, study_of(), 2)
    for path in ("/login", "/", "/study?name=trial"):
        page = ada.get(path).text
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|hx-on|javascript:|js:", page)
        assert not re.findall(r"<script(?![^>]* src=)", page) and "//" not in page.replace("<!doctype html>", "")


def test_static_files_are_kept_by_the_browser_under_their_version(ada):
    page = ada.get("/").text
    addresses = re.findall(r'"(/static/[^"]+)"', page)
    assert {re.sub(r"\?.*", "", address) for address in addresses} >= {"/static/style.css", "/static/htmx.min.js"}
    for address in addresses:
        answer = ada.get(address)
        assert answer.status_code == 200 and "immutable" in answer.headers["Cache-Control"]
    assert ada.get("/static/style.css").headers["Cache-Control"] == "no-store"
    assert ada.get("/static/../layout.py").status_code == 404 and ada.get("/static/%2e%2e/layout.py").status_code == 404


def test_the_libraries_of_others_are_as_they_came():
    listed = re.findall(r"`([a-z.]+\.js)`.*`([0-9a-f]{64})`", (STATIC / "README.md").read_text())
    assert {name for name, _ in listed} == {"htmx.min.js", "echarts.min.js"}
    for name, digest in listed:
        assert sha256((STATIC / name).read_bytes()).hexdigest() == digest
        assert (STATIC / f"{name.split('.')[0]}.LICENSE.txt").stat().st_size > 300


def test_a_static_file_that_is_not_there_is_a_mistake_of_ours():
    with pytest.raises(CbocError, match="no static file 'nothing.css'"):
        cboc.web.layout.static("nothing.css")


def test_the_interface_of_sites_does_not_list_the_pages(base):
    paths = plain.get(f"{base}/openapi.json").json()["paths"]
    assert paths and all(path.startswith("/v2/") or path == "/healthz" for path in paths)


# The studies


def test_all_studies_at_a_glance(engine, ada):
    assert "no study here yet" in text(ada.get("/"))
    played(engine, study_of("first", deadline=7300.0), 2, present=1)
    played(engine, study_of("second", ("a", "b"), 1), 1)
    said = text(ada.get("/"))
    assert "first rounds 2 of 4 rounds 1 of 3 y, z in 2 h 1 min" in said
    assert "second rounds 1 of 1 rounds 2 nobody finished" in said


def test_a_study_page_says_where_it_stands_and_what_was_agreed(engine, ada):
    study = study_of(quorum=2, graph="ring", deadline=7300.0)
    exchange = played(engine, study, 2, present=1)
    exchange.leave("trial", "z")
    door = Tokens(engine)
    door.join(door.invite("trial", "x"), new_secret())
    said = text(ada.get("/study?name=trial"))
    assert "Round 2 2 of 4 closed" in said and "1 of 3 waits for y" in said and "in 2 h 1 min" in said
    assert "1 of 3 have joined" in said
    rows = r"x in 2 of 4 \d+ s ago y has not joined yet waited for 2 of 4 \d+ s ago z has not joined yet left 2 of 4"
    assert re.search(rows, said)
    assert "T 20 to 90 °C linear" in said and "c 0.0001 to 0.1 logarithmic" in said
    for agreed in ("uniform", "ring", "4 rounds", "2 of 3 sites", study.digest):
        assert agreed in said


def test_the_history_of_an_agreement_and_the_matrix_of_before(engine, ada):
    study = study_of(pace="rounds", sites=("x", "y"))
    exchange = played(engine, study, rounds=2)
    assert "How it has changed" not in ada.get("/study", params={"name": "trial"}).text
    exchange.amend(study_of(pace="rounds", sites=("x", "y", "<z>"), horizon=6))
    page = unescape(ada.get("/study", params={"name": "trial"}).text)
    assert "How it has changed" in page and "'<z>' is admitted; the horizon grows from 4 to 6" in page
    cells = ada.get("/charts/matrix", params={"name": "trial", "round": 1}).json()
    assert cells["xAxis"]["data"] == ["x", "y"]
    assert ada.get("/charts/path", params={"name": "trial", "parameter": 0}).status_code == 200


def test_a_page_polls_until_the_study_is_finished(engine, ada):
    exchange = played(engine, study_of(horizon=2), 1)
    assert 'hx-trigger="every 2s"' in ada.get("/study?name=trial").text
    for site in "xyz":
        exchange.submit("trial", Proposal(site, 1, [(0.5, 0.5)]))
    page = ada.get("/study?name=trial")
    assert "every" not in page.text and "Round finished 2 of 2 closed" in text(page)


def test_the_round_that_was_chosen_stays_chosen(engine, ada):
    played(engine, study_of(), 3)
    page = ada.get("/study?name=trial&round=1").text
    assert re.findall(r'<option value="(-?\d+)" selected>', page) == ["1"]
    assert "/charts/matrix?name=trial&amp;round=1" in page
    for path in ("/study?name=trial", "/study?name=trial&round=3"):  # the last one is not closed
        page = ada.get(path).text
        assert re.findall(r'<option value="(-?\d+)" selected>', page) == ["-1"]
        assert "/charts/matrix?name=trial&amp;round=2" in page


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text(engine, ada, name):
    study = Study({"a": Float(0.0, 1.0, unit=name), "b": (0.0, 1.0)}, (name, "y"), 4, name=name, pace="rounds")
    played(engine, study, 1)
    link = unescape(re.search(r'<th scope="row"><a href="([^"]+)"', ada.get("/").text)[1])
    page = ada.get(link)
    assert page.status_code == 200 and name in unescape(page.text) and "<script>alert" not in page.text
    drawn = [unescape(found) for found in re.findall(r'data-chart="([^"]+)"', page.text)]
    assert len(drawn) == 5  # W, the timeline, the plane, and either parameter
    for chart in drawn:
        answer = ada.get(chart)
        assert answer.status_code == 200 and answer.headers["Content-Type"] == "application/json"
    for chart in drawn[1:3]:
        assert [series["name"] for series in ada.get(chart).json()["series"]] == [name, "y"]


def test_what_is_not_here_is_said_and_never_a_failure_of_ours(engine, ada):
    played(engine, study_of(), 1)
    assert ada.get("/study", params={"name": "none"}).status_code == 404
    for path, params, status in (
        ("/study", {"name": "a\0b"}, 404),
        ("/study", {"name": "x" * 101}, 422),
        ("/study", {"name": "trial", "round": 2**70}, 422),
        ("/study", {}, 422),
        ("/charts/matrix", {"name": "trial", "round": 1}, 409),
        ("/charts/matrix", {"name": "trial", "round": -1}, 409),
        ("/charts/path", {"name": "trial", "parameter": 2}, 409),
        ("/charts/path", {"name": "none", "parameter": 0}, 409),
    ):
        assert ada.get(path, params=params).status_code == status, (path, params)


def test_best_designs_are_shown_as_far_as_every_site_may_see_them(engine, ada):
    exchange = Transactions(engine)
    exchange.create(study_of("open", pace="free"))
    exchange.create(study_of("neighbours", graph=[("x", "y"), ("y", "z")], pace="free"))
    exchange.create(study_of("in rounds"))
    for study in ("open", "neighbours", "in rounds"):
        exchange.submit(study, Proposal("x", 0, [(0.5, 0.5)], [(0.271828, 0.271828)]))
    best = f"{20.0 + 70.0 * 0.271828:.4g}"
    assert best in ada.get("/study?name=open").text
    page = ada.get("/study?name=neighbours")
    assert best not in page.text and "between neighbours only" in text(page)
    page = ada.get("/study?name=in rounds")  # not before its round is closed
    assert best not in page.text and "No site has shared one yet" in text(page)


def test_a_site_that_only_waits_was_heard_all_the_same(engine, base, ada):
    Transactions(engine).create(study_of())
    token = new_secret()
    Tokens(engine).join(Tokens(engine).invite("trial", "x"), token)
    assert " ago" not in text(ada.get("/study?name=trial"))
    for _ in range(2):
        plain.get(f"{base}/v2/standing", headers={"Authorization": f"Bearer {token}"})
    page = text(ada.get("/study?name=trial"))
    assert page.count(" s ago") == 1 and "invited until" not in page
    Tokens(engine).invite("trial", "y")
    assert "has not joined yet, invited until" in text(ada.get("/study?name=trial"))


def test_rewards_and_best_designs_that_are_not_shared_stay_where_they_are(engine, ada):
    """What a site says beside its design is for the rule, not for people."""
    exchange = Transactions(engine)
    exchange.create(study_of(rule="leader", graph=RING_OF_FOUR, sites=tuple("wxyz")))
    for k, site in enumerate("wxyz"):
        exchange.submit("trial", Proposal(site, 0, [(0.5, 0.5)], [(0.271828, 0.271828)], 31.4159 + k))
    page = ada.get("/study?name=trial").text
    charts = [ada.get(unescape(found)).text for found in re.findall(r'data-chart="([^"]+)"', page)]
    best = 20.0 + 70.0 * 0.271828
    for shown in (page, *charts):
        assert "31.4" not in shown and f"{best:.4g}" not in shown
        assert not re.search(r"outcome|reward|\bresult|\bloss\b|\bscore|\byield", shown, re.IGNORECASE)


# Behind the pages


def test_an_overview_follows_the_exchange(engine):
    now = [100.0]
    study = study_of(budgets={"y": 1}, quorum=2, deadline=60.0)
    overview, exchange = Overview(engine, lambda: now[0]), Transactions(engine, lambda: now[0])
    exchange.create(study)
    expected = []
    for round in range(3):
        state, seen = exchange.standing("trial"), overview.study("trial")
        assert (seen.closed, seen.missing, seen.closes_at) == (state.round, state.missing, state.closes_at)
        rows = dict.fromkeys(study.sites, (np.nan, np.nan))
        for site in state.missing:
            rows[site] = (0.25 * round, 0.5)
            exchange.submit("trial", Proposal(site, round, [rows[site]]))
        expected.append(list(rows.values()))
    assert np.array_equal(overview.designs("trial")[1], expected, equal_nan=True)
    seen = overview.study("trial")
    assert [site.attendance for site in seen.sites] == [Attendance.AWAITED, Attendance.SPENT, Attendance.AWAITED]
    assert [site.proposed for site in seen.sites] == [3, 1, 3] and not seen.is_finished
    exchange.submit("trial", Proposal("x", 3, [(0.5, 0.5)]))
    now[0] += 61.0
    seen = overview.study("trial")
    assert [site.attendance for site in seen.sites] == [Attendance.IN, Attendance.SPENT, Attendance.LATE]
    assert seen.closes_at == 160.0 and overview.study("trial").closed == 3  # looking closes nothing
    exchange.leave("trial", "z")
    exchange.leave("trial", "x")
    seen = overview.study("trial")
    assert [site.attendance for site in seen.sites] == [Attendance.SPENT, Attendance.SPENT, Attendance.LEFT]
    assert seen.is_finished and seen.closed == 4


def test_w_on_the_page_is_that_of_the_ledger(engine, ada):
    played(engine, study_of(sites=("x", "y")), 2)
    cells = ada.get("/charts/matrix?name=trial&round=1").json()["series"][0]["data"]
    assert [cell["value"] for cell in cells] == [[0, 0, 0.625], [1, 0, 0.375], [0, 1, 0.375], [1, 1, 0.625]]
    assert cells[1]["name"] == "x hears y: 0.375"  # (1 - 1/4) / 2


def test_paths_are_in_natural_units():
    space = {
        "T": Float(20.0, 90.0, unit="°C"),
        "c": Float(1e-4, 1.0, log=True),
        "n": Int(1, 9),
        "s": Choice(("water", "oil")),
    }
    study = Study(space, ("x", "y"), 4, pace="rounds")
    X = np.array([[[0.5, 0.5, 0.49, 0.9, 0.1], [np.nan] * 5], [[0.123456, 0.0, 1.0, 0.2, 0.8], [0.0] * 5]])
    drawn = [charts.path(study, X, parameter) for parameter in range(4)]
    assert [option["series"][0]["data"] for option in drawn] == [[55.0, 28.64], [0.01, 1e-4], [5, 9], ["water", "oil"]]
    assert [option["series"][1]["data"] for option in drawn] == [[None, 20.0], [None, 1e-4], [None, 1], [None, "water"]]
    assert [option["yAxis"]["type"] for option in drawn] == ["value", "log", "value", "category"]
    assert "°C" in drawn[0]["tooltip"]["formatter"]


def test_of_very_many_rounds_the_last_are_drawn():
    study = study_of(sites=("x",), horizon=1000)
    option = charts.path(study, np.full((1000, 1, 2), 0.5), 0)
    assert option["xAxis"]["data"] == list(range(800, 1000)) and len(option["series"][0]["data"]) == 200
    plane = charts.plane(study, np.full((1000, 1, 2), 0.5))["series"][0]["data"]
    assert len(plane) == 200 and plane[-1]["name"] == "999" and "symbolSize" in plane[-1]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "0 s"), (59.9, "59 s"), (80, "1 min 20 s"), (7200, "2 h"), (7530, "2 h 5 min"), (273_630, "3 d 4 h")],
)
def test_a_duration_is_said_in_its_two_largest_units(seconds, said):
    assert duration(seconds) == said


# ------------------------------------------------------------------------------------------------- the free pace


def free(engine):
    """Three sites at the free pace: x has proposed twice, y a plate of three, z nothing."""
    exchange = Transactions(engine)
    exchange.create(study_of(pace="free"))
    exchange.submit("trial", Proposal("x", 0, [(0.1, 0.2)]))
    exchange.submit("trial", Proposal("y", 0, [(0.3, 0.4), (0.5, 0.6), (0.7, 0.8)]))
    exchange.submit("trial", Proposal("x", 1, [(0.9, 0.2)]))
    return exchange


def test_at_the_free_pace_a_page_says_who_is_how_far_and_was_heard_when(engine, ada):
    exchange = free(engine)
    said = text(ada.get("/study?name=trial"))
    assert "Experiments proposed 5 of 12, in 3 proposals" in said and "Pace free" in said
    assert re.search(r"x has not joined yet active 2 of 4 \d+ s ago y has not joined yet active 3 of 4", said)
    assert "z has not joined yet active 0 of 4 –" in said
    assert "Deadline" not in said and "Quorum" not in said and "4 experiments of each site" in said
    assert "free 5 of 12 experiments 2 of 3 nobody never: nobody waits" in text(ada.get("/"))
    exchange.leave("trial", "z")
    assert "z has not joined yet left" in text(ada.get("/study?name=trial"))


def test_the_timeline_shows_who_proposed_when(engine, ada):
    free(engine)
    chart = ada.get("/charts/timeline?name=trial").json()
    series = chart["series"]
    assert chart["useUTC"] and chart["xAxis"]["max"] >= max(each["value"][0] for row in series for each in row["data"])
    assert series[1]["data"][0]["symbolSize"] > series[0]["data"][0]["symbolSize"], "a plate is a larger dot"
    assert {row["name"]: len(row["data"]) for row in series} == {"x": 2, "y": 1, "z": 0}
    point = series[1]["data"][0]
    assert point["name"] == "y, turn 0: 3 designs, arrival 1"
    assert point["value"][1] == "y" and abs(point["value"][0] / 1000.0 - time.time()) < 600.0


def test_the_timeline_of_a_study_that_is_over_ends_with_its_last_proposal(engine, ada):
    """Else its dots would move together to the left, month by month."""
    exchange = free(engine)
    running = ada.get("/charts/timeline?name=trial").json()["xAxis"]["max"]
    for site in ("x", "y", "z"):
        exchange.leave("trial", site)
    chart = ada.get("/charts/timeline?name=trial").json()
    last = max(dot["value"][0] for row in chart["series"] for dot in row["data"])
    assert chart["xAxis"]["max"] == last < running


def test_at_the_free_pace_charts_go_by_arrival(engine, ada):
    free(engine)
    path = ada.get("/charts/path?name=trial&parameter=0").json()
    assert path["xAxis"]["data"] == [0, 1, 2] and path["series"][0]["connectNulls"]
    assert [value is None for value in path["series"][0]["data"]] == [False, True, False]
    cells = ada.get("/charts/matrix?name=trial&round=1").json()["series"][0]["data"]
    assert len(cells) == 9 and cells[0]["value"][2] == pytest.approx(2 / 3, abs=1e-3)
