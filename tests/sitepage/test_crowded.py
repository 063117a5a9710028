"""Long names and eight parameters: on a phone nothing scrolls sideways, numbers stay whole, and paper has it all."""

import math

import pytest

from cboc import Choice, Float, Int, Space, Study

from ..machine import paper
from .test_browser import visit  # noqa: F401

LONG = "concentration_of_the_catalyst_in_the_mixture_before_it_is_heated"
SPACE = Space(
    {
        "temperature": Float(20, 90, unit="°C"),
        LONG: Float(1e-4, 0.1, log=True, unit="mol/L of the whole mixture"),
        "solvent": Choice(["water", "N,N-dimethylformamide (anhydrous, 99.8 %)"]),
        "cycles": Int(1, 12),
        **dict.fromkeys("abcd", (0.0, 1.0)),
    }
)
SITES = (
    "Laboratory for long names of the University of Somewhere, Departments of Chemistry and of Physics 01",
    "b" * 99,
)
WHOLE_OF = """parts => parts.map(part => {
    const text = document.createRange();
    text.selectNodeContents(part);
    return new Set([...text.getClientRects()].map(r => Math.round(r.top))).size;
})"""
WHOLE = """[...document.querySelectorAll('.design .value:not(.option)')].map(cell => {
    const text = document.createRange();
    text.selectNodeContents(cell);
    return text.getClientRects().length;
})"""


@pytest.fixture
def labs(laboratories):
    """The first site has run nine experiments, and is asked for a tenth."""
    labs = laboratories(Study(SPACE, SITES, 20, name="a long study" * 8), initial=6)
    site = labs.site(SITES[0])
    for number in range(9):
        trial = site.ask()
        design = trial.design(SPACE)
        outcome = math.log10(design[LONG]) - ((design["temperature"] - 60.0) / 80.0) ** 2
        _ = site.fail(trial, "it boiled over") if number == 2 else site.tell(trial, outcome, cost=2.5)
    site.ask()
    return labs


def lines(window, selector):
    """Of each such part of the page, in how many lines its text is."""
    return window.locator(selector).evaluate_all(WHOLE_OF)


def test_one_long_remark_leaves_the_numbers_their_room(laboratories, visit):  # noqa: F811
    """Clipped on the screen, whole on paper; dates and short names stay in one line."""
    enzyme, solvent = Float(1e-3, 0.5, log=True, unit="g/l"), Choice(["water", "ethanol"])
    space = {"temperature": Float(20, 90, unit="°C"), "enzyme": enzyme, "cycles": Int(1, 12), "solvent": solvent}
    labs = laboratories(Study(space, ("lab-a", "lab-b"), 20, name="a study", objectives="yield", units="%"))
    site = labs.site("lab-a")
    for _ in range(3):
        site.tell(site.ask(), 0.5, cost=2.5)
    site.annotate(site.trial(1), "long" * 500)
    site.fail(site.ask(), "w" * 500)
    site.ask()
    window = visit(labs, "lab-a")
    window.wait_for_selector("#trials")
    remark = "#trials q"
    assert window.locator(remark).bounding_box()["height"] < 200
    with paper.printed(window):
        paper.check(window)
        assert window.locator(remark).evaluate("q => q.scrollHeight <= q.clientHeight || q.clientHeight === 0")
        assert set(lines(window, "#trials .times span")) == {1}
        short = "#trials th:is(:text-is('Trial'), :text-is('Cost'), :text-is('cycles'), :text-is('solvent'))"
        assert lines(window, short) == [1, 1, 1, 1]
    assert window.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_on_a_phone_and_on_paper(labs, visit):  # noqa: F811
    window = visit(labs, SITES[0], viewport={"width": 390, "height": 844}, color_scheme="dark")
    for path in ("/", "/learned"):
        window.goto(path)
        window.wait_for_function("() => [...document.querySelectorAll('.chart')].every(e => e.querySelector('canvas'))")
        window.wait_for_load_state("networkidle")
        window.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
        assert window.evaluate("document.documentElement.scrollWidth") <= 390
        assert set(window.evaluate(WHOLE)) <= {1}, "a number is one line"
        with paper.printed(window):
            paper.check(window)
        assert window.locator(".paper").count() == 0
        assert window.locator(".chart canvas").first.is_visible()
