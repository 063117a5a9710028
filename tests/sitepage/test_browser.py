"""The page of a site as a person meets it: in a real browser, by keyboard, on a phone, in the dark."""

import re

import pytest

import cboc
from cboc import Study
from cboc.site.trial import Status

WATCH = """window.violations = [];
document.addEventListener('securitypolicyviolation', event => window.violations.push(event.violatedDirective));"""
REFUSED = re.compile("Failed to load resource: the server responded with a status of (409|422) ")  # a form
HAS_COLOURS = """canvas => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
    copy.drawImage(canvas, 0, 0);
    const pixels = copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer;
    return new Set(new Uint32Array(pixels)).size > 5;
}"""


@pytest.fixture
def labs(laboratories):
    return laboratories()


@pytest.fixture
def visit(browser):
    """`visit(labs, "lab-a")`: its page in a window of its own, which at the end has complained about nothing."""
    windows, complaints = [], []

    def one(labs, site, *, page=None, **look):
        base = labs.page(site, **(page or {}))
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | look), base_url=base)
        window = context.new_page()
        window.add_init_script(WATCH)
        window.on("console", lambda message: REFUSED.match(message.text) or complaints.append(message.text))
        window.on("pageerror", lambda error: complaints.append(str(error)))
        window.on("dialog", lambda dialog: complaints.append(dialog.message))
        window.on("request", lambda sent: sent.url.startswith((base, "data:")) or complaints.append(sent.url))
        window.set_default_timeout(60_000)
        window.goto(f"/?secret={labs.secret}")
        windows.append((context, window))
        return window

    yield one
    for context, window in windows:
        complaints += window.evaluate("window.violations")
        context.close()
    assert complaints == []


def ready(window, number):
    window.wait_for_selector(f"#enter-{number}")


def tab_to(window, selector):
    """Tab until it has the focus, which can be seen."""
    for _ in range(60):
        window.keyboard.press("Tab")
        if window.evaluate("selector => document.activeElement.matches(selector)", selector):
            shown = window.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert shown != "none"
            return
    raise AssertionError(f"the keyboard does not reach {selector}")


def enter(window, number, y):
    ready(window, number)
    tab_to(window, f"#y-{number}")
    window.keyboard.type(y)
    window.keyboard.press("Enter")


def after_polls(window, count=2):
    """So many answers to the page's own questions later."""
    for _ in range(count):
        with window.expect_response(
            lambda answer: answer.request.method == "GET" and re.search(r"/(\?trial=\d+)?$", answer.url)
        ):
            pass
    window.wait_for_timeout(200)


def test_a_study_of_two_sites_by_keyboard(labs, visit):
    a, b = (visit(labs, name) for name in labs.study.sites)
    assert "secret" not in a.url
    enter(a, 0, "0,5")

    ready(a, 1)  # fails
    tab_to(a, "#enter-1 summary")
    a.keyboard.press("Enter")
    tab_to(a, "#reason-1")
    a.keyboard.type("the pump stopped")
    a.keyboard.press("Enter")
    a.wait_for_selector("text=Waiting for the others: lab-b has not proposed yet.")

    ready(b, 0)  # something else was run
    assert not b.is_visible("#ran-0-temperature")
    tab_to(b, "#y-0")
    b.keyboard.type("0.25")
    tab_to(b, "#enter-0 [name=other]")
    b.keyboard.press("Space")
    tab_to(b, "#ran-0-temperature")
    b.keyboard.press("Control+a")
    b.keyboard.type("44.4")
    tab_to(b, "#ran-0-solvent")
    b.keyboard.type("dm")
    b.keyboard.press("Shift+Tab")
    b.keyboard.press("Enter")
    enter(b, 1, "0.75")

    for number in (2, 3, 4):  # the pages go on by themselves, each when the other has proposed
        enter(a, number, f"0.{number}")
        enter(b, number, f"0.{number}1")
    for window in (a, b):
        window.wait_for_selector("text=Finished.")

    first, second = (labs.site(name).trials for name in labs.study.sites)
    assert [trial.y for trial in first] == [0.5, None, 0.2, 0.3, 0.4] and first[1].note == "the pump stopped"
    assert [trial.y for trial in second] == [0.25, 0.75, 0.21, 0.31, 0.41]
    ran = second[0].design(labs.study.space)
    assert (ran["temperature"], ran["solvent"]) == (pytest.approx(44.4), "dmso")
    assert a.locator("#trials tbody tr").count() == 5
    assert a.locator("#picture canvas").first.evaluate(HAS_COLOURS)
    a.click("text=Read them all")
    a.wait_for_selector("text=Proposed a design for turn 2")


def test_what_is_being_typed_survives_the_pages_own_questions(labs, visit):
    window = visit(labs, "lab-a")
    ready(window, 0)
    window.fill("#sem-0", "0.0")
    window.check("#enter-0 [name=other]")
    window.select_option("#ran-0-solvent", "dmso")
    window.focus("#y-0")
    window.keyboard.type("0.1")
    after_polls(window)
    window.keyboard.type("25")
    kept = [window.input_value(field) for field in ("#y-0", "#sem-0", "#ran-0-solvent")]
    assert kept == ["0.125", "0.0", "dmso"] and window.is_checked("#enter-0 [name=other]")


def test_a_mistake_stays_beside_the_form_until_it_is_mended(labs, visit):
    window = visit(labs, "lab-a")
    enter(window, 0, "0.1.2")
    window.wait_for_selector("#mistake")
    assert window.evaluate("document.activeElement.id") == "y-0"
    after_polls(window)
    assert "'0.1.2' is not one" in window.inner_text("#mistake") and window.input_value("#y-0") == "0.1.2"
    window.fill("#y-0", "0.12")
    window.keyboard.press("Enter")
    ready(window, 1)
    assert labs.site("lab-a").trials[0].y == 0.12


def test_what_was_typed_for_one_trial_is_never_found_in_the_next(labs, visit):
    window = visit(labs, "lab-a")
    ready(window, 0)
    window.focus("#y-0")
    window.keyboard.type("0.3")
    site = labs.site("lab-a")  # another program enters the result
    site.tell(site.ask(), 0.7)
    site.ask()
    ready(window, 1)
    window.keyboard.type("33")
    window.keyboard.press("Enter")
    after_polls(window, 1)
    assert window.input_value("#y-1") == "" and labs.site("lab-a").trials[1].status == Status.PENDING


def test_a_double_click_enters_one_result(labs, visit):
    window = visit(labs, "lab-a")
    ready(window, 0)
    window.fill("#y-0", "0.5")
    window.dblclick("text=Enter the result")
    ready(window, 1)
    window.go_back()
    window.wait_for_selector("#y-1")
    assert [trial.y for trial in labs.site("lab-a").trials] == [0.5, None]


def test_going_on_alone_while_nobody_answers(labs, visit):
    window = visit(labs, "lab-a", page={"patience": 0.5})
    enter(window, 0, "1")
    ready(window, 1)
    labs.stop_coordinator()
    enter(window, 1, "2")
    window.wait_for_selector("text=The coordinator cannot be reached.")
    tab_to(window, "[action='/alone'] button")
    window.keyboard.press("Enter")
    ready(window, 2)
    assert "the others could not be reached" in window.inner_text("#live")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone(labs, visit, scheme):
    window = visit(labs, "lab-a", viewport={"width": 390, "height": 844}, color_scheme=scheme)
    enter(window, 0, "1")
    ready(window, 1)
    window.check("#enter-1 [name=other]")
    window.click("text=There is no result")
    fits = "document.documentElement.scrollWidth <= window.innerWidth"
    assert window.evaluate(fits)
    background = window.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, background[4:-1].split(","))) < 200) == (scheme == "dark")
    window.goto("/sent")
    assert window.evaluate(fits)


def test_hostile_words_are_words(laboratories, visit):
    evil = '<img src=x onerror="alert(1)"><script>alert(2)</script>' + "x" * 40
    labs = laboratories(Study({"a": (0.0, 1.0)}, (evil, "<b>b</b>"), 2, name=evil, pace="rounds"), initial=1)
    window = visit(labs, evil, viewport={"width": 390, "height": 844})
    ready(window, 0)
    window.click("text=There is no result")
    window.fill("#reason-0", evil)
    window.keyboard.press("Enter")
    window.wait_for_selector("text=Waiting for the others: <b>b</b> has not proposed yet.")
    assert window.locator("h1").inner_text().startswith(evil)
    assert evil in window.inner_text("#trials")
    assert window.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert window.locator("main img, main script").count() == 0


def test_what_changes_is_said_aloud_and_every_field_has_a_label(labs, visit):
    window = visit(labs, "lab-a")
    ready(window, 0)
    window.check("#enter-0 [name=other]")
    assert window.get_by_role("status").inner_text() == "Trial 0 is ready to run."
    for label in ("Outcome, to maximise", "Standard error, if known", "I ran something else", "temperature", "solvent"):
        assert window.get_by_label(label, exact=True).is_visible()
    assert window.title() == "lab-a: run trial 0 · cboc"


@pytest.fixture
def plates(laboratories):
    """A site with six open experiments."""
    space = {"temperature": (20.0, 90.0), "time": (1.0, 5.0)}
    labs = laboratories(Study(space, ("lab-a", "lab-b"), 20, name="plates", pace="free"), initial=6)
    labs.site("lab-a").ask(6)
    return labs


def test_a_filled_in_sheet_is_chosen_handed_in_and_found_in_the_history(plates, visit, tmp_path):
    window = visit(plates, "lab-a")
    ready(window, 0)
    with window.expect_download() as download:
        window.click("text=Download them as a sheet")
    header, *lines = download.value.path().read_text().splitlines()
    file = tmp_path / "sheet.csv"

    def choose(*outcomes):
        """Fill in the first lines, save the file, and choose it."""
        told = [line.replace(",,,,", f",{y},,,") for line, y in zip(lines, outcomes, strict=False)]
        text = "\n".join([header, *told, *lines[len(told) :]])
        file.write_text(text, encoding="utf-8-sig")
        with window.expect_file_chooser() as chooser:
            window.click("#sheet-file")
        chooser.value.set_files(file)
        window.wait_for_function("text => document.getElementById('sheet-text').value === text", arg=text)

    window.click("text=Hand in a filled-in sheet")
    choose("0.5", "much", "0.75")
    after_polls(window)
    window.click("#sheet button")
    assert "The sheet, line 3, column y:" in window.inner_text("main > .error")
    assert ",much," in window.input_value("#sheet-text") and window.is_visible("#sheet-text")
    choose("0.5", "nothing", "0.75")
    choose("0.5", "", "0.75")  # the same file, changed
    window.click("#sheet button")
    window.wait_for_selector("text=2 lines were read from the sheet and told.")
    assert window.locator("#trials tbody tr td:nth-child(2)").all_inner_texts() == ["0.75", "0.5"]
    assert [trial.y for trial in plates.site("lab-a").trials] == [0.5, None, 0.75, None, None, None]


def test_a_file_that_is_not_text_is_not_handed_in(plates, visit):
    window = visit(plates, "lab-a")
    ready(window, 0)
    window.click("text=Hand in a filled-in sheet")
    for content, sentence in ((b"PK\x03\x04\xff", "is not UTF-8 text"), (b"x" * 2**21, "less than 1,048,576 bytes")):
        window.set_input_files("#sheet-file", {"name": "plate.xlsx", "mimeType": "text/csv", "buffer": content})
        window.wait_for_selector(f"#sheet-trouble:has-text('{sentence}')")
        assert window.input_value("#sheet-text") == ""


def test_what_is_ticked_for_a_plate_survives_the_pages_own_questions(plates, visit):
    window = visit(plates, "lab-a")
    ready(window, 0)
    window.fill("#count", "4")
    window.get_by_label("each design").fill("2")
    window.click("text=Same in all wells")
    window.get_by_label("temperature, the same in all wells").check()
    after_polls(window)
    window.click("[data-form=plate] button")
    window.wait_for_selector("text=10 experiments are ready to run.")
    plate = [trial.design(plates.study.space) for trial in plates.site("lab-a").trials[6:]]
    assert len({design["temperature"] for design in plate}) == 1
    assert sorted(plate.count(design) for design in plate) == [2, 2, 2, 2]


def test_another_program_that_finishes_the_study(labs, visit):
    window = visit(labs, "lab-a")
    sites = [labs.site(name) for name in labs.study.sites]
    while not all(site.is_finished for site in sites):
        for site in sites:
            try:
                site.tell(site.ask(), 1.0)
            except (cboc.Waiting, cboc.Finished):
                continue
    window.wait_for_selector("text=All done")
