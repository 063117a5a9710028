"""The page of a site with several objectives and limits: told, seen, mended, traded off; and nothing of it leaves."""

import re
from contextlib import closing, contextmanager
from html import unescape

import pytest

import cboc
from cboc import Float, Policy, Study
from cboc.data.goal import Aim
from cboc.insight.found import by_weights, found
from cboc.sitepage.app import create_page

from ..machine import plain
from ..machine.served import served
from .conftest import SECRET
from .test_browser import WATCH

SPACE = {"T": Float(20, 90, unit="°C"), "c": Float(0, 1)}
STUDY = Study(SPACE, ("a", "b"), 20, name="a study", objectives=("yield", "cost"), units=("%", "EUR"))
WANTED = {"yield": "max", "cost": Aim("min", weight=2.0)}


def outcomes(design):
    return {
        "yield": 90.0 - 0.05 * (design["T"] - 61.0) ** 2 - 40.0 * (design["c"] - 0.4) ** 2,
        "cost": design["T"] + 20.0 * design["c"],
        "impurity": 8.0 - 10.0 * design["c"],
    }


class Lab:
    """Site a, which shares a folder with nobody yet."""

    def __init__(self, folder, study=STUDY, direction=WANTED, limits=("impurity <= 5",)):
        (folder / "ours").mkdir()
        self.folder, self.file = folder, folder / "a.db"
        given = {"site": "a", "study": study, "direction": direction, "limits": limits}
        cboc.join(f"folder:{folder / 'ours'}", storage=self.file, policy=Policy(initial=5, seed=4), **given)

    @property
    def site(self):
        return cboc.join(storage=self.file)

    def run(self, count, function=outcomes):
        for _ in range(count):
            site = self.site
            trial = site.ask()
            told = function(trial.design(site.space))
            site.tell(trial, {name: told[name] for name in site.goal.measured})
        self.site.ask()
        return self

    @contextmanager
    def visited(self):
        with (
            served(create_page(self.file, secret=SECRET)) as url,
            closing(plain.Client(base_url=url, headers={"Origin": url}, follow_redirects=True, timeout=60)) as page,
        ):
            page.get("/", params={"secret": SECRET})
            yield page


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path)


def words(text):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_each_outcome_has_its_fields_and_is_told_by_its_name(lab):
    lab.site.ask()
    with lab.visited() as page:
        text = words(page.get("/").text)
        for label in ("yield (%), to maximise", "cost (EUR), to minimise", "impurity, to keep <= 5"):
            assert label in text
        fields = {"trial": 0, "y.0": "83,5", "sem.0": "0.5", "y.1": "12", "y.2": "3.1", "cost": "40"}
        page.post("/result", data=fields)
        trial = lab.site.trial(0)
        assert {name: str(each) for name, each in trial.outcomes.items()} == {
            "yield": "83.5 ± 0.5",
            "cost": "12",
            "impurity": "3.1",
        }
        assert trial.cost == 40.0
        text = words(page.get("/").text)
        assert "83.5 %" in text and "12 EUR" in text and "on the front" in text
        assert "told yield 83.5 ± 0.5 %, cost 12 EUR, impurity 3.1, cost 40" in words(page.get("/trials/0").text)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"y.0": "1", "y.2": "3"}, "cost is missing; write a number such as 0.25"),
        ({"y.0": "1", "y.1": "many", "y.2": "3"}, "cost is a number such as 0.25; 'many' is not one."),
        ({"y.0": "1", "y.1": "2", "y.2": "3", "sem.1": "-1"}, "the standard error of cost is not negative"),
        ({"y": "1"}, "yield is missing"),
    ],
)
def test_a_result_that_lacks_something_is_shown_again_with_what_was_typed(lab, fields, said):
    lab.site.ask()
    with lab.visited() as page:
        answer = page.post("/result", data={"trial": 0, **fields})
    assert answer.status_code == 422 and said in unescape(answer.text)
    assert all(f'value="{value}"' in answer.text for name, value in fields.items() if name != "y")
    assert lab.site.trial(0).outcomes == {}


def test_a_trial_is_mended_outcome_by_outcome(lab):
    lab.run(2)
    with lab.visited() as page:
        text = page.get("/trials/1").text
        seen = re.search(r'name="seen" value="(\w+)"', text)[1]
        told = {name: each.mean for name, each in lab.site.trial(1).outcomes.items()}
        assert all(f'value="{value!r}"'.replace(".0&", "&") in text for value in told.values())
        fields = {"y.0": told["yield"], "y.1": "50.5", "y.2": "99", "seen": seen}
        page.post("/trials/1/outcome", data=fields)
        assert {name: each.mean for name, each in lab.site.trial(1).outcomes.items()} == told | {
            "cost": 50.5,
            "impurity": 99.0,
        }
        now = words(page.get("/trials/1").text)
        assert "breaks impurity <= 5" in now and "cost 50.5 EUR, impurity 99 in place of yield" in now


def test_an_outcome_far_outside_is_asked_about_by_its_name(lab):
    lab.run(4)
    with lab.visited() as page:
        fields = {"trial": 4, "y.0": "60", "y.1": "6000", "y.2": "3"}
        text = words(page.post("/result", data=fields).text)
        assert "Is that right?" in text and "cost: 6000 EUR? The others are" in text and "yield:" not in text
        assert not lab.site.trial(4).outcomes
        page.post("/result", data={**fields, "sure": "yes"})
    assert lab.site.trial(4).outcomes["cost"].mean == 6000.0


def test_the_history_says_what_is_on_the_front_and_what_breaks_a_limit(lab):
    site = lab.run(9).site
    with lab.visited() as page:
        table = page.get("/").text.partition('id="trials"')[2].partition("</table>")[0]
        rows = {int(row.split()[0]): row for row in map(words, re.findall(r"<tr>(.*?)</tr>", table, re.S)[1:])}
        for each in found(site):
            assert ("on the front" in rows[each.number]) == each.is_on_front
            assert ("breaks impurity <= 5" in rows[each.number]) == bool(each.broken)
        for k, name in enumerate(site.goal.measured):
            drawn = page.get("/charts/history", params={"outcome": k}).json()
            shown = [point["value"][1] for series in drawn["series"] for point in series["data"]]
            assert sorted(shown) == sorted(site.results.outcome(name))
        assert page.get("/charts/history?outcome=3").status_code == 404
        assert [line["yAxis"] for line in drawn["series"][-1]["markLine"]["data"]] == [5.0]


def test_the_next_design_has_an_expectation_of_everything_and_a_chance(lab):
    lab.run(6)
    with lab.visited() as page:
        text = words(page.get("/expected/6").text)
        assert re.search(r"yield \S+ to \S+ %\s?; cost \S+ to \S+ EUR\s?; impurity \S+ to", text)
        assert "The chance of impurity <= 5 :" in text
        for k, head in enumerate(("yield (%), to maximise", "cost (EUR), to minimise", "impurity, to keep <= 5")):
            assert head in words(page.get("/learned", params={"outcome": k}).text)
            for chart in ("slice/0", "contours", "importance", "predicted"):
                assert page.get(f"/charts/learned/{chart}", params={"outcome": k}).status_code == 200
        assert page.get("/learned?outcome=3").status_code == 404
        front = page.get("/charts/front/0").json()
        counts = {each.get("name"): len(each.get("data", ())) for each in front["series"][:5]}
        assert sum(counts.values()) == 6 + 1 and counts["next design"] == 1
        assert page.get("/charts/front/1").status_code == 404


def test_before_there_is_a_result_and_while_all_break_a_limit_the_page_says_so(lab):
    lab.site.ask()
    with lab.visited() as page:
        assert "No result yet." in words(page.get("/").text)
        page.post("/result", data={"trial": 0, "y.0": "1", "y.1": "2", "y.2": "30"})
        assert "The one result so far breaks a limit." in words(page.get("/").text)
        lab.run(3, lambda design: outcomes(design) | {"impurity": 30.0 + design["T"]})
        text = words(page.get("/").text)
        assert "Every result so far breaks a limit, so nothing is on the front yet." in text
        assert "this one comes nearest to keeping them" in text
        assert page.get("/charts/front/0").status_code == 200


@pytest.mark.parametrize(
    "function",
    [
        lambda design: outcomes(design) | {"cost": 7.0},
        lambda design: outcomes(design) | {"cost": -outcomes(design)["yield"]},
    ],
    ids=["a constant objective", "two that are the same"],
)
def test_objectives_that_leave_no_choice_are_shown_all_the_same(lab, function):
    lab.run(7, function)
    with lab.visited() as page:
        assert page.get("/").status_code == page.get("/charts/front/0").status_code == 200
        assert page.get("/expected/7").status_code == page.get("/learned?outcome=1").status_code == 200


def test_a_sheet_has_a_column_for_each_outcome(lab):
    lab.site.ask(2)
    with lab.visited() as page:
        sheet = page.get("/sheet.csv").text
        head, first, second = sheet.splitlines()
        columns = head.split(",")
        assert {"yield (%)", "cost (EUR)", "impurity"} <= set(columns)
        cells = first.split(",")
        for name, value in (("yield (%)", "50"), ("cost (EUR)", "60"), ("impurity", "3")):
            cells[columns.index(name)] = value
        page.post("/sheet", data={"sheet": "\n".join([head, ",".join(cells), second])})
    assert {name: each.mean for name, each in lab.site.trial(0).outcomes.items()} == {
        "yield": 50.0,
        "cost": 60.0,
        "impurity": 3.0,
    }
    assert not lab.site.trial(1).outcomes


def test_nothing_of_it_leaves(lab):
    lab.site.ask()
    planted = {"y.0": "77.1234567", "y.1": "31.7654321", "y.2": "4.2424242"}
    with lab.visited() as page:
        for number in range(7):
            page.post("/result", data={"trial": number, "sure": "yes", **planted})
            lab.site.ask()
        for path in ("/", "/learned?outcome=1", f"/expected/{number + 1}", "/charts/front/0", "/advice"):
            page.get(path)
    travelled = b"".join(path.read_bytes() for path in (lab.folder / "ours").rglob("*") if path.is_file())
    assert len(travelled) > 1000
    for value in (*(text.encode()[:6] for text in planted.values()), b"impurity", b"maximise"):
        assert value not in travelled


def test_a_site_with_one_outcome_and_a_limit_has_no_front(tmp_path):
    lab = Lab(tmp_path, Study(SPACE, ("a", "b"), 20, objectives=("yield",)), "max").run(5)
    with lab.visited() as page:
        text = page.get("/").text
        assert 'id="front"' not in text and "tradeoff.js" not in text and "breaks impurity" in unescape(text)
        assert page.get("/charts/front/0").status_code == 404


# ------------------------------------------------------------------------------------------------------- in a browser


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_sliders_move_the_best_along_the_front(tmp_path, browser, width, scheme):
    lab = Lab(tmp_path, limits=("impurity <= 7",)).run(12)
    site, complaints = lab.site, []
    front = [each for each in found(site) if each.is_on_front]
    with served(create_page(lab.file, secret=SECRET)) as base:
        look = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
        context = browser.new_context(**look, base_url=base)
        window = context.new_page()
        window.add_init_script(WATCH)
        window.on("pageerror", lambda error: complaints.append(str(error)))
        window.on("request", lambda sent: sent.url.startswith((base, "data:")) or complaints.append(sent.url))
        window.set_default_timeout(60_000)
        window.goto(f"/?secret={SECRET}")
        window.wait_for_selector("#front canvas")
        assert shown(window) == by_weights(front, site.goal.weights.tolist()).name
        seen = set()
        for weights in ((100, 0), (60, 40), (40, 100), (0, 100), (0, 0)):
            for k, weight in enumerate(weights):
                slider = window.locator(f'#front [data-weight="{k}"]')
                slider.evaluate(
                    f"it => {{ it.value = {weight}; it.dispatchEvent(new Event('input', {{bubbles: true}})) }}"
                )
            best = by_weights(front, weights if any(weights) else (1, 1))
            assert shown(window) == best.name
            mark = window.locator("#front [data-pair]").get_attribute("data-mark")
            assert mark == window.evaluate("v => JSON.stringify(v)", [best.outcomes["yield"], best.outcomes["cost"]])
            seen.add(best.name)
        assert len(seen) > 1
        window.wait_for_timeout(4000)  # a poll does not move them back
        assert window.locator('#front [data-weight="0"]').input_value() == "0"
        assert window.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert complaints == window.evaluate("window.violations") == []
        context.close()


def shown(window):
    (name,) = [each.inner_text() for each in window.locator("#front .choice h3").all() if each.is_visible()]
    return name.partition(" on the front")[0].rpartition(" ")[0].rpartition(" ")[0].lower().strip()


# ------------------------------------------------------------------------------------------------------------ joining


@pytest.fixture
def newcomer(tmp_path):
    from cboc.coordinator.app import create_app
    from cboc.coordinator.database import open_database
    from cboc.coordinator.schema import upgrade
    from cboc.coordinator.tokens import Tokens
    from cboc.coordinator.transactions import Transactions
    from cboc.exchange.invitation import Invitation

    engine = open_database(f"sqlite:///{tmp_path / 'coordinator.db'}")
    upgrade(engine)
    Transactions(engine).create(STUDY)
    with served(create_app(engine)) as url, served(create_page(tmp_path / "site.db", secret=SECRET)) as base:
        path = tmp_path / "b.cboc"
        Invitation("a study", "b", url, Tokens(engine).invite("a study", "b"), None, 4e9).write(path)
        with plain.Client(base_url=base, headers={"Origin": base}, follow_redirects=True, timeout=60) as page:
            page.get("/", params={"secret": SECRET})
            page.post("/invitation", data={"invitation": path.read_text()})
            yield page, tmp_path / "site.db"
    engine.dispose()


GIVEN = {"direction.0": "maximise", "direction.1": "near", "target.1": "12,5", "limits": "impurity <= 5\n\nwaste < 1"}


def test_joining_asks_what_is_wanted_of_every_objective(newcomer):
    page, file = newcomer
    text = page.get("/join").text
    assert "What is better for yield (%)?" in text and "What is better for cost (EUR)?" in text
    digest = re.search(r'name="digest" value="(\w+)"', text)[1]
    page.post("/join", data={"digest": digest, **GIVEN})
    site = cboc.join(storage=file)
    assert site.goal.to_dict() == {
        "aims": {"yield": {"direction": "maximise"}, "cost": {"direction": "near", "target": 12.5}},
        "limits": ["impurity <= 5", "waste <= 1"],
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"direction.1": ""}, "say what is better for cost: large, small, or near a value."),
        ({"target.1": ""}, "an outcome that is to be near a value needs that value"),
        ({"limits": "impurity"}, "a limit is written as 'impurity <= 5'"),
        ({"limits": "w <= 1\nw >= 2"}, "no outcome can meet 'w >= 2' and 'w <= 1' together"),
        ({"direction.0": "up"}, "unknown direction 'up'"),
    ],
)
def test_what_cannot_be_wanted_is_refused_and_stays_in_the_form(newcomer, change, said):
    page, file = newcomer
    digest = re.search(r'name="digest" value="(\w+)"', page.get("/join").text)[1]
    answer = page.post("/join", data={"digest": digest, **GIVEN, **change})
    text = unescape(answer.text)
    assert answer.status_code == 409 and said in text
    assert (GIVEN | change)["limits"] in text and (GIVEN | change)["target.1"] in text
    assert "agreement" not in cboc.storage.sitefile.SiteFile(file).about
