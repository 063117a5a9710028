"""What was learned, on the site's page: the same as in Python, computed once, and nothing of it leaves."""

import json
from contextlib import contextmanager

import numpy as np
import pytest
from matplotlib.collections import PathCollection, QuadMesh

from cboc import Study, plots
from cboc.insight import Learned
from cboc.joining.sent import sent_count
from cboc.sitepage.learned.pages import Lessons
from cboc.storage.sitefile import SiteFile

from ..machine import plain
from .conftest import SITES, SPACE
from .test_browser import HAS_COLOURS, WATCH, after_polls

CHARTS = ("slice/0", "slice/3", "contours", "importance", "predicted")


def outcome(design):
    return 0.9 - ((design["temperature"] - 60.0) / 80.0) ** 2 - 0.02 * design["cycles"] + 0.1 * len(design["solvent"])


@pytest.fixture
def labs(laboratories):
    """lab-a has run nine experiments, of which the third has failed; the tenth is to be run."""
    labs = laboratories(Study(SPACE, SITES, 20, name="a study"), initial=6)
    run(labs, 9)
    return labs


def run(labs, count):
    site = labs.site("lab-a")
    for _ in range(count):
        trial = site.ask()
        if trial.number == 2:
            site.fail(trial)
        else:
            site.tell(trial, outcome(trial.design(SPACE)))
    site.ask()


@contextmanager
def visiting(labs):
    """A browser without a screen, let in with the secret."""
    with plain.Client(base_url=labs.page("lab-a"), follow_redirects=True, timeout=60) as page:
        page.get("/", params={"secret": labs.secret})
        yield page


def option(page, chart):
    answer = page.get(f"/charts/learned/{chart}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def data(drawn, name):
    return [point for series in drawn["series"] if series.get("name") == name for point in series["data"]]


def expected(drawn):
    """The points of the line; the interval around it has no names."""
    return [point for point in data(drawn, "expected") if isinstance(point, dict)]


def test_the_page_says_what_python_says(labs):
    site = labs.site("lab-a")
    learned = Learned.of(site)
    with visiting(labs) as page:
        text = page.get("/learned").text
        assert learned.importance.sentence in text and learned.predicted.sentence in text
        assert "From 8 outcomes and 1 failure" in text
        (trial,) = site.to_run
        assert f"<strong>{learned.expected(trial.x)}</strong>" in page.get(f"/expected/{trial.number}").text
        first = learned.slices()[0]
        line = [each["value"] for each in expected(option(page, "slice/0"))]
        assert line[7] == pytest.approx([first.places[7], first.expected.middle[7]], rel=1e-5)
        through = learned.slices(learned.next)[0]
        line = [each["value"] for each in expected(option(page, "slice/0?at=next"))]
        assert line[7] == pytest.approx([through.places[7], through.expected.middle[7]], rel=1e-5)


def test_every_experiment_is_in_the_pictures_in_its_kind(labs):
    with visiting(labs) as page:
        for chart in ("slice/0", "slice/3", "contours"):
            drawn = option(page, chart)
            found = {name: len(data(drawn, name)) for name in ("initial", "own", "shared", "failed")}
            kinds = [trial.kind for trial in labs.site("lab-a").trials if trial.number > 5 and trial.y is not None]
            assert found == {"initial": 5, "own": kinds.count("own"), "shared": kinds.count("shared"), "failed": 1}
            assert data(drawn, "failed")[0]["name"] == "trial 2: failed"
        predicted = option(page, "predicted")
        assert len(data(predicted, "inside")) + len(data(predicted, "outside")) == 8
        assert len(data(option(page, "importance"), "importance")) == 2 * len(SPACE.names)
        assert option(page, "slice/1")["xAxis"]["type"] == "log"
        assert option(page, "slice/1")["xAxis"]["name"] == "time / h"
        assert option(page, "slice/3")["xAxis"]["data"] == ["water", "ethanol", "dmso"]


def test_the_page_and_the_pictures_of_cboc_plot_show_the_same_numbers(labs):
    site = labs.site("lab-a")
    learned = Learned.of(site)
    with visiting(labs) as page:
        for number, ax in enumerate(plots.slices(learned).axes[:3]):
            line = [point["value"] for point in expected(option(page, f"slice/{number}"))]
            (drawn,) = [each.get_xydata() for each in ax.lines if len(each.get_xdata()) > 2]
            np.testing.assert_allclose(drawn, line, rtol=1e-5)
        (mesh,) = [each for each in plots.contours(learned).axes[0].collections if isinstance(each, QuadMesh)]
        cells = [value for *_, value in option(page, "contours")["series"][0]["data"]]
        np.testing.assert_allclose(mesh.get_array().compressed(), cells, rtol=1e-5)
        bars = [bar.get_width() for bar in plots.importance(learned).axes[0].patches]
        shares = [bar["value"] for series in option(page, "importance")["series"] for bar in series["data"][::-1]]
        np.testing.assert_allclose(bars, shares, atol=0.05)
        ax = plots.predicted(learned).axes[0]
        dots = [dot for each in ax.collections if isinstance(each, PathCollection) for dot in each.get_offsets()]
        shown = option(page, "predicted")
        told = [dot["value"] for name in ("inside", "outside") for dot in data(shown, name)]
        np.testing.assert_allclose(sorted(map(tuple, dots)), sorted(map(tuple, told)), rtol=1e-5)


def test_before_there_is_enough_a_sentence_says_so(laboratories):
    labs = laboratories(Study(SPACE, SITES, 20, name="a study"), initial=6)
    run(labs, 2)
    with visiting(labs) as page:
        assert "2 outcomes are too little to learn from; from 3 on" in page.get("/learned").text
        assert page.get("/expected/2").text == ""
        assert {page.get(f"/charts/learned/{chart}").status_code for chart in CHARTS} == {404}


def test_what_is_not_there_is_not_found(labs):
    with visiting(labs) as page:
        assert page.get("/charts/learned/slice/4").status_code == 404
        assert page.get("/charts/learned/slice/-1").status_code == 404
        assert page.get("/expected/99").text == ""
        assert page.get("/learned?at=nowhere").status_code == 200


def test_without_the_cookie_nothing_is_shown(labs):
    base = labs.page("lab-a")
    for path in ("/learned", "/expected/9", *(f"/charts/learned/{chart}" for chart in CHARTS)):
        assert plain.get(f"{base}{path}").status_code == 403


def test_it_is_computed_once_for_each_state_of_the_trials(labs):
    lessons, site = Lessons(), labs.site("lab-a")
    first = lessons.of(site)
    assert lessons.of(labs.site("lab-a")) is first
    part = lessons.part(site, ("slices",), lambda learned: learned.slices())
    assert lessons.part(site, ("slices",), lambda learned: learned.slices()) is part
    site.tell(site.ask(), 0.5)
    assert lessons.of(site) is not first and len(lessons.of(site).points) == 10


def test_looking_sends_nothing_and_changes_nothing(labs):
    file = SiteFile(labs.file("lab-a"))
    before, trials = sent_count(file), labs.site("lab-a").trials
    with visiting(labs) as page:
        page.get("/learned")
        for chart in CHARTS:
            json.dumps(option(page, chart))
    assert sent_count(file) == before and labs.site("lab-a").trials == trials


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_in_a_browser_the_pictures_are_drawn_and_nothing_overflows(labs, browser, width, scheme):
    base, complaints = labs.page("lab-a"), []
    look = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    context = browser.new_context(**look, base_url=base)
    window = context.new_page()
    window.add_init_script(WATCH)
    window.on("console", lambda message: complaints.append(message.text))
    window.on("pageerror", lambda error: complaints.append(str(error)))
    window.on("request", lambda sent: sent.url.startswith((base, "data:")) or complaints.append(sent.url))
    window.set_default_timeout(60_000)
    window.goto(f"/?secret={labs.secret}")
    window.wait_for_selector("text=Expected outcome:")
    after_polls(window)
    assert window.locator("[id^=expected-]").inner_text().startswith("Expected outcome:")
    window.click("nav >> text=What was learned")
    assert window.locator(".chart").count() == 3 + len(SPACE.names)
    for canvas in window.locator(".chart").all():
        canvas.scroll_into_view_if_needed()
        canvas.locator("canvas").first.wait_for()
        window.wait_for_timeout(300)
        assert canvas.locator("canvas").first.evaluate(HAS_COLOURS)
    assert window.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    window.click("text=Through the next design instead")
    window.wait_for_selector("text=the others stay as in the next design")
    assert complaints == window.evaluate("window.violations") == []
    context.close()
