"""Several objectives and limits in a study file: what is read, what is refused, and what a simulation makes of them."""

import json

import pytest
from typer.testing import CliRunner

import cboc
from cboc import CbocError
from cboc.cli.app import app
from cboc.data.goal import Aim
from cboc.data.results import Results
from cboc.studyfile import read, template

TOP = """
[study]
name = "two"
horizon = 3
objectives = ["yield", "cost"]
units = ["%", "EUR"]
initial = 3
[space]
T = {low = 20, high = 90}
c = {low = 0, high = 1}
"""
A = """
[[site]]
name = "a"
direction = {yield = "max", cost = {direction = "min", reference = 100}}
limits = ["impurity <= 5"]
experiment = "lab.py:measure"
"""
B = """
[[site]]
name = "b"
direction = {yield = "max", cost = "min"}
experiment = "lab.py:measure"
"""
LAB = """
def measure(design):
    T, c = design["T"], design["c"]
    return {"yield": 90 - 0.05 * (T - 61) ** 2, "cost": T + 20 * c, "impurity": 8 - 10 * c}

def forgets(design):
    return {"yield": 3.0, "impurity": 2.0}

def breaks(design):
    return {"yield": 3.0, "cost": float("nan"), "impurity": 2.0}

def plain(design):
    return 3.0
"""
TESTS = """
[study]
name = "tests"
horizon = 2
objectives = ["f1", "f2"]
[[site]]
name = "a"
direction = {f1 = "min", f2 = "min"}
problem = "branin-currin"
[[site]]
name = "b"
direction = {f1 = "min", f2 = "min"}
problem = "branin-currin"
shift = 0.1
"""


@pytest.fixture
def write(tmp_path):
    (tmp_path / "lab.py").write_text(LAB, encoding="utf-8")

    def write(text):
        path = tmp_path / "study.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def run(*command, code=0):
    result = CliRunner().invoke(app, [str(part) for part in command])
    assert result.exit_code == code, result.output
    return result


def test_objectives_units_aims_and_limits_are_read(write):
    file = read(write(TOP + A + B))
    assert file.study.objectives == ("yield", "cost") and file.study.units == ("%", "EUR")
    assert file.study.objective_called("cost").label == "cost (EUR)"
    assert dict(file.goals["a"].aims) == {"yield": Aim("max"), "cost": Aim("min", reference=100)}
    assert file.goals["a"].measured == ("yield", "cost", "impurity") and file.goals["b"].limits == ()
    assert file.experiments["b"]({"T": 61.0, "c": 0.5}) == {"yield": 90.0, "cost": 71.0}  # the rest is not b's


def test_the_template_mentions_several():
    assert "objectives = [" in template() and 'limits = ["impurity <= 5"]' in template()


BAD = [
    ('cost = "min"}', 'cst = "min"}', r"\[\[site\]\] 'b': 'cst' is no objective of the study; did you mean 'cost'"),
    (', cost = "min"}', "}", r"'b': every objective needs a direction; cost has none"),
    ('direction = {yield = "max", cost = "min"}', 'direction = "max"', "direction is a direction for each objective"),
    ('cost = "min"}', 'cost = "down"}', "unknown direction 'down'"),
    ("reference = 100", "refrence = 100", "unknown part 'refrence' of an aim; did you mean 'reference'"),
    ("reference = 100", "weight = -1", "an aim's weight is a number from 0"),
    ('["impurity <= 5"]', '["impurity under 5"]', "a limit is written as 'impurity <= 5'"),
    ('["impurity <= 5"]', '"impurity <= 5"', "limits is a list of strings"),
    ("limits", "limit", "unknown key 'limit'; did you mean 'limits'"),
    ('units = ["%", "EUR"]', 'units = ["%"]', "units has 1 entries for 2 objectives"),
    ('units = ["%", "EUR"]', 'objective = "y"', "objective is for one objective, objectives for several"),
    ('["yield", "cost"]', '["yield", "yield"]', "the names of objectives must differ"),
    ('["yield", "cost"]', "[]", "a study has objectives"),
    ('experiment = "lab.py:measure"', 'problem = "levy-2"', "problem 'levy-2' has one outcome, and this site measures"),
    ('experiment = "lab.py:measure"', 'problem = "zdt1-4"', "problem 'zdt1-4' has the parameters x1, x2, x3, x4"),
]


@pytest.mark.parametrize(("before", "after", "sentence"), BAD)
def test_what_does_not_fit_is_one_sentence_with_its_place(write, before, after, sentence):
    text = (TOP + A + B).replace(before, after)
    with pytest.raises(CbocError, match=sentence):
        read(write(text))


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        ("forgets", "site 'a': lab.py:forgets returned no 'cost' at .* but yield and impurity; return an outcome for"),
        ("breaks", "site 'a': lab.py:breaks returned nan for 'cost' at"),
        ("plain", "site 'a': lab.py:plain returned 3.0 at .* return a dictionary with a number for each"),
    ],
)
def test_a_function_that_lacks_an_outcome_ends_the_simulation_in_one_sentence(write, function, sentence):
    file = read(write((TOP + A + B).replace("lab.py:measure", f"lab.py:{function}", 1)))
    with pytest.raises(CbocError, match=sentence):
        cboc.simulate(**file.arguments)


def test_a_problem_with_several_objectives_is_each_sites_own(write):
    file = read(write(TESTS))
    design = {"x1": 0.3, "x2": 0.6}
    a, b = (file.experiments[name](design) for name in "ab")
    assert list(a) == ["f1", "f2"] and a != b
    assert b == pytest.approx(file.experiments["a"]({"x1": 0.4, "x2": 0.7}))
    assert not file.problems
    for line, sentence in (
        ("noise = 0.1", "'noise' is for test problems with one outcome"),
        ('limits = ["f3 <= 2"]', "problem 'branin-currin' has no outcome f3; limit one of f1 and f2"),
    ):
        with pytest.raises(CbocError, match=sentence):
            read(write(TESTS + line))
    with pytest.raises(CbocError, match="'branin-currin' has 2 outcomes, and the study has 1"):
        read(write(TESTS.replace('["f1", "f2"]', '["f1"]').replace(', f2 = "min"', "")))


def test_a_simulation_compares_volumes_and_shows_fronts(write, tmp_path):
    out = tmp_path / "run"
    result = run("simulate", write(TOP + A + B), "--out", out)
    header = result.stdout.splitlines()[0].split("  ")
    assert "volume alone" in header and "volume together" in header
    assert "volume: below the front" in result.stdout
    front = json.loads(run("best", out, "--format", "json").stdout)
    ours = [row for row in front if (row["site"], row["how"]) == ("a", "together")]
    exported = json.loads(run("export", out, "--format", "json").stdout)
    told = [row for row in exported if (row["site"], row["how"]) == ("a", "together")]
    kept = [row for row in told if row["impurity"] <= 5]
    beaten = [
        one for one in kept if any(o["yield"] >= one["yield"] and o["cost"] <= one["cost"] and o != one for o in kept)
    ]
    assert len(ours) == len(kept) - len(beaten) and {row["yield"] for row in ours} <= {row["yield"] for row in kept}
    (one,) = [
        row
        for row in json.loads(run("best", out, "--weights", "yield=1,cost=99", "--format", "json").stdout)
        if (row["site"], row["how"]) == ("a", "together")
    ]
    assert one["cost"] == min(row["cost"] for row in ours)
    assert "is estimated for one objective" in run("advise", out).stdout.replace("\n", " ")
    again = run("simulate", write(TOP + A + B), "--out", out, "--resume")
    assert again.stdout == result.stdout


def test_with_a_limit_the_table_has_the_best_that_keeps_to_it(write, tmp_path):
    text = TOP.replace('objectives = ["yield", "cost"]\nunits = ["%", "EUR"]', 'objective = "yield"')
    site = '[[site]]\nname = "a"\ndirection = "max"\nlimits = ["cost <= 30"]\nexperiment = "lab.py:measure"\n'
    out = tmp_path / "run"
    (row,) = json.loads(run("simulate", write(text + site), "--out", out, "--format", "json").stdout)
    exported = json.loads(run("export", out, "--format", "json").stdout)
    allowed = [each["yield"] for each in exported if each["cost"] <= 30 and each["how"] == "together"]
    assert row["best together"] == max(allowed) < max(each["yield"] for each in exported)
    none = site.replace("cost <= 30", "cost <= -1")
    (row,) = json.loads(run("simulate", write(text + none), "--out", tmp_path / "no", "--format", "json").stdout)
    assert row["best together"] is None
    assert "a, together: no result keeps to cost <= -1; this one is nearest" in run("best", tmp_path / "no").stderr


def test_of_an_outcome_near_a_value_the_table_has_the_distance(write, tmp_path):
    text = TOP.replace('objectives = ["yield", "cost"]\nunits = ["%", "EUR"]', 'objective = "yield"')
    site = '[[site]]\nname = "a"\ndirection = {direction = "near", target = 70}\nexperiment = "lab.py:measure"\n'
    result = run("simulate", write(text + site), "--out", tmp_path / "run")
    assert "distance together" in result.stdout and "distance: of the best outcome" in result.stdout
    (best,) = [
        row for row in json.loads(run("best", tmp_path / "run", "--format", "json").stdout) if row["how"] == "together"
    ]
    exported = json.loads(run("export", tmp_path / "run", "--format", "json").stdout)
    together = [abs(row["y"] - 70) for row in exported if row["how"] == "together"]
    assert abs(best["yield"] - 70) == min(together)


def test_two_objectives_with_the_same_numbers_and_one_that_never_varies_run(write, tmp_path):
    (tmp_path / "lab.py").write_text(
        "def measure(design):\n    return {'yield': design['T'], 'cost': design['T'], 'impurity': 1.0}\n"
    )
    text = TOP + A.replace("cost = {", "cost = {weight = 2, ") + B.replace('cost = "min"', 'cost = "max"')
    run("simulate", write(text), "--out", tmp_path / "run", "--no-alone")
    history = cboc.simulate(**read(write(text)).arguments)
    told = history.of("b")
    results = Results.of(history.goals["b"], 2, [t.x for t in told], [t.outcomes for t in told])
    assert results.is_on_front.sum() == 1  # of equal objectives one result is the best
