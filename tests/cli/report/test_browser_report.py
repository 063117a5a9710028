"""The report in a real browser: it stands alone, on a screen and on a phone, light and dark."""

import pytest

WATCH = """window.violations = [];
document.addEventListener('securitypolicyviolation', event => window.violations.push(event.violatedDirective));"""


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
@pytest.mark.parametrize("which", ["study_page", "results_page"])
def test_it_makes_no_request_and_shows_its_tables_and_pictures(browser, request, which, width, scheme):
    path = request.getfixturevalue(which)
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    window = context.new_page()
    asked, complaints = [], []
    window.add_init_script(WATCH)
    window.on("request", lambda sent: sent.url.startswith("data:") or asked.append(sent.url))
    window.on("console", lambda message: complaints.append(message.text))
    window.goto(path.as_uri())
    assert asked == [path.as_uri()] and complaints == window.evaluate("window.violations") == []
    assert window.locator("table").first.is_visible() and window.locator("tbody tr").count() >= 4
    drawn = window.evaluate("[...document.images].map(image => image.naturalWidth > 500 && image.alt.length > 10)")
    assert drawn and all(drawn)
    assert window.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    background = window.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, background[4:-1].split(","))) < 200) == (scheme == "dark")
    context.close()


def test_on_paper_nothing_is_cut_off(browser, wide_page):
    context = browser.new_context(viewport={"width": 690, "height": 980}, color_scheme="dark")  # A4 without its margins
    window = context.new_page()
    window.goto(wide_page.as_uri())
    window.emulate_media(media="print", color_scheme="dark")
    too_wide = "[...document.querySelectorAll('table, img')].filter(e => e.getBoundingClientRect().right > 690).length"
    too_high = "[...document.images].filter(e => e.getBoundingClientRect().height > 980).length"
    assert window.evaluate(too_wide) == window.evaluate(too_high) == 0
    assert window.evaluate("getComputedStyle(document.body).color") == "rgb(27, 34, 38)"
    context.close()
