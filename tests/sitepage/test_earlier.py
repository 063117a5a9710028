"""Results from before the study, by the page: a file is chosen, seen as a table, mended, and agreed to."""

import io
import re
from html import unescape

import openpyxl
import pytest

import cboc
from cboc.storage.sitefile import SiteFile

from .conftest import SECRET

OLD = "May;;;;;;\nTemperature;Time (h);cycles;Solvent;Yield;SD;Who\n62,5;1,25;3;Water;0,5;0,1;Eve\n70;2;4;dmso;;;\n"
OLD += "95;2;4;dmso;0,75;;<script>alert(1)</script>\n40;2;4;dmso;0,25;;\n"
WATCH = """window.violations = [];
document.addEventListener('securitypolicyviolation', event => window.violations.push(event.violatedDirective));"""


def text(page):
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.text)))


def hidden(page, name):
    found = re.search(rf'name="{name}" value="(\w+)"', page.text)
    return found[1] if found else ""


def selected(page):
    """What each column is, by its header, as the page shows it."""
    table = page.text.partition('id="columns"')[2]
    rows = re.findall(r'<th scope="row">([^<]*)</th>.*?<select name="(column\.\d+)"(.*?)</select>', table, re.DOTALL)
    return {
        unescape(header): (name, re.search(r'value="([^"]*)" selected', options)[1]) for header, name, options in rows
    }


def fields(page, **said):
    """What a browser sends of the form about the columns, with some changed by hand."""
    return {name: said.get(header, use) for header, (name, use) in selected(page).items()}


@pytest.fixture
def terms(door, client):
    """The page with the terms, and no table yet."""
    client.post("/invitation", data={"invitation": door.file().read_text()})
    return client


def choose(client, content, name="old.csv"):
    data = content.encode() if isinstance(content, str) else content
    return client.post("/earlier", files={"table": (name, data, "text/csv")})


def join(client, page, direction="maximise"):
    said = {"direction": direction, "digest": hidden(page, "digest"), "earlier": hidden(page, "earlier")}
    return client.post("/join", data=said)


def test_a_table_is_seen_mended_and_joined_with(door, terms):
    page = choose(terms, OLD)
    said = text(page)
    assert page.url.path == "/join" and "old.csv : 2 rows are taken; 1 left out." in said
    assert {header: use for header, (_, use) in selected(page).items()} == {
        "Temperature": "temperature", "Time (h)": "time", "cycles": "cycles", "Solvent": "solvent", "Yield": "y",
        "SD": "", "Who": "ignore",
    }  # fmt: skip
    assert "Column 'SD' looks like a standard deviation" in said and "1 row has no outcome (line 4)" in said
    assert "line 5: temperature: expected a number from 20 to 90 °C, but got 95.0." in said
    assert "62.50 1.25 3 water 0.5" in said and "Decimal commas in" in said and "<script>alert" not in page.text
    refused = join(terms, page)
    assert refused.status_code == 409 and "answer the questions about your table, or leave it out" in text(refused)
    page = terms.post("/earlier/answers", data=fields(page, SD="sem") | {"answer.empty": "failed"})
    assert "Join as lab-b with 3 results from before" in text(page) and "Column 'SD'" not in text(page)
    assert {message.path for message in SiteFile(door.storage).sent()} == {"/v2/invitation"}
    page = terms.post("/earlier/answers", data=fields(page, SD="ignore") | {"answer.empty": "drop"})
    assert "Join as lab-b with 2 results from before" in text(page) and "you said so" in text(page)
    assert join(terms, page).url.path == "/"
    data = cboc.join(storage=door.storage).data
    assert data.y.tolist() == [0.5, 0.25] and not len(data.failures) and all(sem != sem for sem in data.sem)


def test_of_books_a_sheet_is_chosen_and_may_be_mended_by_its_line(door, terms):
    book, file = openpyxl.Workbook(), io.BytesIO()
    for title, y in (("One", 1.0), ("Two", 2.0)):
        sheet = book.create_sheet(title)
        sheet.append(("temperature", "time", "cycles", "solvent", "y"))
        for outcome in (y, 5.0):
            sheet.append((50, 2, 3, "water", outcome))
    book.save(file)
    page = choose(terms, file.getvalue(), "old.xlsx")
    assert "old.xlsx has several sheets; which one is it?" in text(page) and 'value="Two"' in page.text
    page = terms.post("/earlier/answers", data={"answer.sheet": "Two"})
    assert "old.xlsx, sheet 'Two'" in text(page) and "2 rows are taken" in text(page)
    page = terms.post("/earlier/answers", data=fields(page) | {"answer.sheet": "Two", "answer.header": "2"})
    assert "No column is called 'temperature'" in text(page)
    page = terms.post("/earlier/answers", data=fields(page) | {"answer.sheet": "Two", "answer.header": ""})
    assert join(terms, page).url.path == "/" and cboc.join(storage=door.storage).data.y.tolist() == [2, 5]


def test_a_table_is_left_out_or_replaced_and_an_old_page_joins_with_nothing_unseen(door, terms):
    first = choose(terms, OLD)
    second = choose(terms, OLD.replace(";;Eve", ";;Eva").replace("0,5;0,1", "0,5;"))
    refused = join(terms, first)
    assert refused.status_code == 409 and "the table has changed since this page was shown" in text(refused)
    assert "old.csv" in text(second)
    page = terms.post("/earlier/without")
    assert "old.csv" not in text(page) and "Experiments that your lab has run already" in text(page)
    assert join(terms, page).url.path == "/" and len(cboc.join(storage=door.storage).data) == 0


@pytest.mark.parametrize(
    ("content", "name", "status", "said"),
    [
        (b"\x89PNG\r\n\x1a\n\x00", "picture.csv", 422, "picture.csv is no table of text; save it as 'CSV UTF-8'"),
        (b"PK\x03\x04 no book", "old.xlsx", 422, "old.xlsx cannot be read as XLSX"),
        (b"", "old.csv", 422, "old.csv has nothing in it"),
        (b"x" * 2**20, "old.csv", 413, "a table has less than 1,048,576 bytes here; cboc join --data reads larger"),
        (b"a", "", 422, "choose a file first, CSV or XLSX"),
    ],
)
def test_what_is_no_table_is_one_sentence_and_another_may_follow(terms, content, name, status, said):
    page = choose(terms, content, name)
    assert page.status_code == status and said in text(page) and "Join a study as lab-b" in text(page)
    assert "old.csv : 2 rows" in text(choose(terms, OLD))


def test_an_answer_that_cannot_be_leaves_the_table_as_it_is(terms):
    page = choose(terms, OLD)
    for said, sentence in (
        (fields(page, SD="time", Yield="time"), "two columns cannot both be 'time'"),
        (fields(page, SD="nothing"), "column 'SD' cannot be 'nothing'"),
        (fields(page) | {"answer.empty": "perhaps"}, "'empty' is answered by failed or drop"),
        (fields(page) | {"answer.header": "many"}, "'header' is the number of a line"),
        (fields(page) | {"answer.header": "77"}, "old.csv has nothing in line 77"),
    ):
        refused = terms.post("/earlier/answers", data=said)
        assert refused.status_code == 422 and sentence in text(refused), said
        assert selected(refused) == selected(page)


def test_before_an_invitation_and_after_joining_there_is_no_table(door, client):
    assert choose(client, OLD).status_code in (409, 422) and not door.storage.exists()
    client.post("/invitation", data={"invitation": door.file().read_text()})
    join(client, client.get("/join"))
    assert choose(client, OLD).url.path == "/" and len(cboc.join(storage=door.storage).data) == 0


@pytest.mark.parametrize(("width", "is_scripted"), [(1280, True), (360, False)])
def test_a_person_who_has_never_seen_a_terminal(door, browser, width, is_scripted):
    complaints = []
    context = browser.new_context(
        base_url=door.page, viewport={"width": width, "height": 800}, java_script_enabled=is_scripted
    )
    window = context.new_page()
    if is_scripted:
        window.add_init_script(WATCH)
    window.on("console", lambda message: complaints.append(message.text))
    window.set_default_timeout(60_000)
    window.goto(f"/?secret={SECRET}")
    window.click("text=Or paste its text")
    window.fill("#invitation-text", door.file().read_text())
    window.click("text=Look at the terms")
    (door.folder / "old.csv").write_text(OLD)
    window.set_input_files("#table-file", door.folder / "old.csv")
    window.click("text=Look at it")
    window.wait_for_selector("#columns")
    window.select_option("select[aria-label='What SD is']", "ignore")
    window.click("text=They were not run: leave them out.")
    window.click("text=Look again")
    window.wait_for_selector("text=Join as lab-b with 2 results from before")
    assert window.evaluate("document.documentElement.scrollWidth") <= width
    window.click("text=A large outcome")
    window.click("text=Join as lab-b with 2 results")
    window.wait_for_selector("text=Think" if not is_scripted else "#enter-0")
    complaints += window.evaluate("window.violations") if is_scripted else []
    context.close()
    assert complaints == []
    assert cboc.join(storage=door.storage).data.y.tolist() == [0.5, 0.25]
