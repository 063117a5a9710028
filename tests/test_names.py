"""Names are short, can be seen, and are no formulas; a study that was begun with others goes on."""

import csv
import io
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cboc
from cboc import CbocError, Choice, Float, Policy, Space, Study
from cboc.cli.show import Format, write
from cboc.coordinator.app import create_app
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.exchange.amendment import successor
from cboc.names import FORMULA, as_agreed, as_cell, from_cell
from cboc.site import worksheet
from cboc.studyfile import read_terms

from .coordinator.conftest import prepared
from .machine.served import served

SPACE = {"a": (0.0, 1.0)}
MISLEADING = {
    "a control character": "lab\x1b[2J",
    "a line end": "lab\nb",
    "another direction": "lab\u202eb",
    "an isolated direction": "\u2067lab",
    "a mark of direction": "lab\u200e",
    "nothing to be seen": "lab\u200b",
    "half a character": "lab\ud800",
    "a formula": "=1+1",
    "a formula as of old": "@SUM(A1)",
}
PLACES = {
    "a site": lambda name: Study(SPACE, (name, "y"), 3),
    "a study": lambda name: Study(SPACE, ("x", "y"), 3, name=name),
    "an objective": lambda name: Study(SPACE, ("x", "y"), 3, objectives=(name,)),
    "an option": lambda name: Choice([name, "water"]),
    "a unit": lambda name: Float(0.0, 1.0, unit=name),
    "a unit of a choice": lambda name: Choice(["ice", "water"], unit=name),
    "a site that is admitted": lambda name: successor(Study(SPACE, ("x", "y"), 3), Study(SPACE, ("x", "y", name), 3)),
    "all of it, as it is sent": lambda name: Study.from_agreement(
        Study(SPACE, ("x", "y"), 3).agreement() | {"name": name}, is_new=True
    ),
}
LABELS = {"an objective", "an option", "a unit", "a unit of a choice"}  # which nobody has to type


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", MISLEADING.values(), ids=MISLEADING)
def test_a_name_that_misleads_is_refused_in_one_sentence_that_does_not(place, name):
    with pytest.raises(CbocError, match="change") as told:
        PLACES[place](name)
    assert str(told.value).isascii() and len(str(told.value)) < 250


@pytest.mark.parametrize("place", PLACES)
def test_a_long_name_is_refused_by_its_length(place):
    with pytest.raises(CbocError, match=r"has at most (100|500) characters.* of 100000, does not fit") as told:
        PLACES[place]("x" * 100_000)
    assert len(str(told.value)) < 250


@pytest.mark.parametrize(
    "name", ["-OH", "+", "-", "-80 °C", "µg/mL", "m\u00b2 s⁻¹", "5\u00a0%", "CC(=O)OC1", "λ 🧪", "'quoted'"]
)
def test_names_of_scientists_are_fine(name):
    for place in PLACES if name.isprintable() else LABELS:
        PLACES[place](name)


@pytest.mark.parametrize("name", ["lab\u00a0b", "lab\u3000b", " lab-b", "lab-b "])
def test_a_blank_that_nobody_sees_or_types_is_not_in_a_name_that_travels(name):
    """A coordinator and feeds refused it, and nobody could join a study that was made with it."""
    for place in PLACES.keys() - LABELS:
        with pytest.raises(CbocError, match="has no blank at either end and none that cannot be typed; change") as told:
            PLACES[place](name)
        assert str(told.value).isascii()
    with as_agreed():
        assert Study(SPACE, (name, "y"), 3, name=name).name == name


def test_a_study_file_with_a_misleading_name_says_where(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text('[study]\nhorizon = 3\n[space]\na = {low = 0, high = 1}\n[[site]]\nname = "lab\\u202eb"\n')
    with pytest.raises(CbocError, match=r"study.toml, \[\[site\]\] number 1: a site's name has at most 100 characters"):
        read_terms(path)


# ------------------------------------------------------------------------------------------------------ spreadsheets


def test_what_a_spreadsheet_would_run_has_a_quote_in_front_and_numbers_have_none():
    for text in ("=1+1", "+x", "-OH", "@SUM(A1)", "\tx", " =1", "-", "'=1"):
        assert as_cell(text) == f"'{text}" and from_cell(as_cell(text)) == text
    for value in ("-80", "+2.5", "-1e-6", "-0,5", -80, -0.5, "water", "'x'", None, True):
        assert as_cell(value) == value


@given(st.text(alphabet="'=+-@\t x1.,e", max_size=8))
def test_a_cell_comes_back_as_it_was_and_runs_nowhere(text):
    cell = as_cell(text)
    assert from_cell(cell) == text or cell == text  # '-1 may also be what a person has typed to say text
    assert not cell.startswith(FORMULA) or cell.lstrip("+-").replace(",", ".")[0] in ".0123456789"


def test_a_sheet_with_options_like_formulas_is_read_back():
    space = Space({"group": Choice(["-OH", "+NH3", "-80"]), "a": Float(-1.0, 1.0)})
    site = cboc.Site(Study(space, ("x",), 9), "x", cboc.Ledger(Study(space, ("x",), 9)), direction="minimise",
                     policy=Policy(initial=6, seed=1))  # fmt: skip
    trials = site.ask(6)
    sheet = worksheet.write(trials, space)
    header, *lines = csv.reader(io.StringIO(sheet))
    groups = {line[header.index("group")] for line in lines}
    assert groups == {"'-OH", "'+NH3", "-80"} and any(line[header.index("a")].startswith("-") for line in lines)
    filled = sheet.replace(",,,,\n", ",0.5,,,\n").splitlines()
    assert worksheet.enter_all(site, worksheet.read_text("\n".join(filled), space)).new == 6
    assert all(trial.note == "" for trial in site.trials), "each was run as asked"


def test_an_export_runs_nothing():
    rows = [{"why": "=HYPERLINK(1)", "y": -0.5}, {"why": "-OH", "y": None}]
    assert write(rows, Format.CSV).splitlines() == ["why,y", "'=HYPERLINK(1),-0.5", "'-OH,"]
    assert '"=HYPERLINK(1)"' in write(rows, Format.JSON)
    assert "\x1b" not in write([{"why": "a\x1b[2J"}], Format.TABLE)


# ------------------------------------------------------------------------------------------- what was agreed before


def test_a_study_that_was_begun_with_other_names_goes_on(tmp_path):
    """Until 0.1.0 anything was a unit, an option or an objective: a file, a database and an answer keep them."""
    with as_agreed():
        space = {"a": Float(0.0, 1.0, unit="\u202em"), "b": Choice(["=1+1", "x" * 501])}
        old = Study(space, ("@x", "y"), 3, name="trial run", objectives=("=y",))
    with prepared(f"sqlite:///{tmp_path / 'coordinator.db'}") as engine, served(create_app(engine)) as url:
        Transactions(engine).create(old)
        given = {"direction": "minimise", "policy": Policy(initial=1, seed=5)}
        code = Tokens(engine).invite("trial run", "@x")
        with pytest.raises(CbocError, match="is not a coordinator .it sends an agreement that cannot be read"):
            cboc.join(url, code, storage=tmp_path / "x.db", **given)
        with as_agreed():
            cboc.join(url, code, storage=tmp_path / "x.db", **given)
        for _ in range(3):
            site = cboc.join(storage=tmp_path / "x.db")
            site.tell(site.ask(), 0.5)
        cboc.join(storage=tmp_path / "x.db", url=url, code=Tokens(engine).invite("trial run", "@x"))
        sheet = worksheet.write(site.trials, site.space)
        assert "=" not in sheet.replace("'=1+1", ""), "no cell begins so"
        Transactions(engine).check()
        assert Study.from_agreement(old.agreement()).digest == old.digest
        engine.dispose()


# --------------------------------------------------------------------------------------------------------- sizes

MANY = 100_000
NAMES = [f"s{number}" for number in range(MANY)]
HUGE = {
    "sites": lambda: Study(SPACE, NAMES, 3),
    "options": lambda: Choice(NAMES),
    "parameters": lambda: Space(dict.fromkeys(NAMES, (0.0, 1.0))),
    "coordinates": lambda: Space({f"p{i}": Choice(NAMES[:999]) for i in range(100)}),
    "constraints": lambda: Space(SPACE, ["a <= 1"] * MANY),
    "a constraint": lambda: Space(SPACE, ["+".join(["a"] * MANY) + " <= 1"]),
    "names in constraints": lambda: Space(SPACE, ["+".join(chr(0x4E00 + i) for i in range(2400)) + " <= 1"] * 20),
    "pairs of a graph": lambda: Study(SPACE, ("x", "y"), 3, graph=[("x", "y")] * MANY),
    "budgets": lambda: Study(SPACE, ("x", "y"), 3, budgets=dict.fromkeys(NAMES, 3)),
    "stewards": lambda: Study(SPACE, ("x", "y"), 3, stewards=["x"] * MANY),
    "objectives": lambda: Study(SPACE, ("x", "y"), 3, objectives=NAMES),
    "a matrix": lambda: Study(SPACE, ("x", "y"), 3, rule=[[0.5] * MANY] * 10),
    "a graph's name": lambda: Study(SPACE, ("x", "y"), 3, graph="x" * MANY),
    "a parameter's name": lambda: Space({"x" * MANY: (0.0, 1.0)}),
    "a type": lambda: Space({"a": {"type": "x" * MANY}}),
    "a key": lambda: Space({"a": {"low": 0.0, "high": 1.0, "x" * MANY: 1}}),
    "a value": lambda: Space({"a": {"low": NAMES, "high": 1.0}}),
}


@pytest.mark.parametrize("what", HUGE)
def test_what_is_larger_than_any_study_is_refused_at_once(what):
    began = time.process_time()
    with pytest.raises(CbocError) as told:
        HUGE[what]()
    assert time.process_time() - began < 20.0, "quadratic checks took minutes"
    assert len(str(told.value)) < 6000


def test_a_huge_study_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text("[study]\nhorizon = 3\n" + "".join(f'[[site]]\nname = "{name}"\n' for name in NAMES))
    began = time.process_time()
    with pytest.raises(CbocError, match="a study file has at most 1,000,000 bytes"):
        read_terms(path)
    assert time.process_time() - began < 0.5


def test_the_largest_studies_are_made_quickly():
    began = time.process_time()
    agreed = Study(Space({"a": Choice(NAMES[:1000])}), NAMES[:2000], 3, graph="ring")
    assert Study.from_agreement(agreed.agreement()).digest == agreed.digest
    assert time.process_time() - began < 2.0
