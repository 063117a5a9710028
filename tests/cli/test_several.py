"""Several objectives and limits on the command line: how people say them, and what they are shown."""

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cboc.cli.app import app

STUDY = """
[study]
name = "coupling"
horizon = 6
objectives = ["yield", "cost"]
units = ["%", "EUR"]
[space]
T = {low = 20, high = 90, unit = "°C"}
c = {low = 0, high = 1}
[[site]]
name = "lab-a"
[[site]]
name = "lab-b"
"""
WAYS = ("--direction", "yield=max", "--direction", "cost=min,reference=50", "--limit", "impurity <= 5")
RESULTS = [(83, 40, 3.1), (60, 12, 4.0), (95, 60, 9.0), (50, 30, 2.0)]  # two on the front, one not allowed, one beaten


def call(*command, code=0):
    result = CliRunner().invoke(app, [str(part) for part in command])
    assert result.exit_code == code, result.output
    return result


def rows(*command):
    return json.loads(call(*command, "--format", "json").stdout)


def status():
    return {row["what"]: row["is"] for row in rows("status")}


def join(*ways, code=0):
    return call(
        "join", f"folder:{Path('shared').absolute()}", "--site", "lab-a", "--study", "study.toml", *ways, code=code
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CBOC_SITE", "lab-a.db")
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    (tmp_path / "shared").mkdir()
    return tmp_path


@pytest.fixture
def joined(folder):
    join(*WAYS, "--initial", 6)
    return folder


@pytest.fixture
def told(joined):
    for y, cost, impurity in RESULTS:
        call("ask")
        call("tell", f"yield={y}", f"cost={cost}", f"impurity={impurity}", "--yes")
    return joined


@pytest.mark.usefixtures("joined")
def test_what_a_site_wants_is_shown_to_it_and_what_was_measured_has_its_name():
    known = status()
    assert known["goal, private"] == "yield (%), to maximise; cost (EUR), to minimise, reference 50"
    assert known["limits, private"] == "impurity <= 5"
    assert "measure yield (%), cost (EUR) and impurity" in call("ask").stdout
    assert rows("ask")["measure"] == ["yield (%)", "cost (EUR)", "impurity"]
    said = call("tell", "cost=12", "yield=83", "impurity=3.1", "--sem", "yield=0.5", "--sem", "cost=1").stderr
    assert "Trial 0: yield 83 ± 0.5 %, cost 12 ± 1 EUR, impurity 3.1." in said
    assert "best so far yield 83 %, cost 12 EUR, impurity 3.1" in said
    (change,) = [row for row in rows("history") if row["status"] == "complete"]
    assert (change["yield (%)"], change["cost (EUR)"], change["impurity"]) == ("83 ± 0.5", "12 ± 1", "3.1")


@pytest.mark.usefixtures("told")
def test_the_best_are_all_that_none_beats_or_one_by_weights():
    front = rows("best")
    assert [(row["yield (%)"], row["cost (EUR)"]) for row in front] == [(83, 40), (60, 12)]  # not what breaks a limit
    assert [row["trial"] for row in front] == [0, 1] and {"T", "c"} <= front[0].keys()
    for weights, cost in ((("yield=20,cost=1",), 40), (("yield=1", "cost=20"), 12)):
        (one,) = rows("best", *(part for each in weights for part in ("--weights", each)))
        assert one["cost (EUR)"] == cost
    assert status()["results that none beats"] == 2 and status()["results within the limits"] == "3 of 4"


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ("yield=0,cost=0", "all of them are 0"),
        ("yeild=1", "there is no outcome 'yeild'; did you mean 'yield'?"),
        ("yield=much", "expected a number, but got 'much'"),
        ("yield=-1", "a weight is a number from 0"),
        ("yield=1,yield=2", "'yield' is given twice"),
        ("impurity=1", "there is no outcome 'impurity'"),
        ("2", "expected NAME=VALUE"),
    ],
)
def test_weights_that_are_none_are_refused(weights, sentence):
    assert sentence in call("best", "--weights", weights, code=2).stderr


@pytest.mark.usefixtures("told")
def test_a_limit_that_nothing_meets_is_said():
    join(*WAYS[:-1], "impurity <= 1")
    result = call("best")
    assert "No result keeps to impurity <= 1; this one is nearest to that." in result.stderr
    assert len(rows_of(result.stdout)) == 2 and " 50 " in result.stdout  # the one with an impurity of 2
    assert status()["best"] == "none, as no result keeps to impurity <= 1"


def rows_of(text):
    return text.strip().splitlines()


@pytest.mark.usefixtures("told")
def test_what_a_person_corrects_and_takes_back_has_its_names():
    wrong = call("tell", "yield=83", "cost=41", "impurity=3.1", "--trial", 0, code=2).stderr
    assert "was told yield 83, cost 40, impurity 3.1 before, and yield 83, cost 41, impurity 3.1 now" in wrong
    command = wrong.split("use cboc ")[1].split(", or")[0]
    assert command == "tell yield=83 cost=41 impurity=3.1 --trial 0 --again"
    call(*command.split())
    assert rows("best")[0]["cost (EUR)"] == 41
    assert "(taken back, it was yield 83, cost 41, impurity 3.1)" in call("undo", "--trial", 0).stderr
    assert "already has a result, yield 60, cost 12, impurity 4;" in call("fail", "--trial", 1, code=2).stderr


BAD = [
    (("yield=83", "cost=12"), "measures yield, cost and impurity; impurity is missing"),
    (("yield=83", "cost=12", "impurity=nan"), "expected a number, but got 'nan'"),
    (("yield=83", "cost=12", "impurty=3"), "there is no outcome 'impurty'; did you mean 'impurity'?"),
    (("yield=83", "yield=84", "cost=12", "impurity=3"), "'yield' is given twice"),
    (("83",), "has 3 outcomes, each by its name: cboc tell yield=OUTCOME cost=OUTCOME impurity=OUTCOME; got '83'"),
    (("yield=83", "cost=12", "impurity=3", "--sem", "0.5"), "--sem: expected NAME=VALUE"),
    (("yield=83", "cost=12", "impurity=3", "--sem", "cost=-1"), "a standard error is not negative"),
    (("yield=83", "cost=12", "impurity=3", "--sme", "1"), "got '--sme'"),
]


@pytest.mark.usefixtures("joined")
@pytest.mark.parametrize(("words", "sentence"), BAD)
def test_a_result_that_is_none_is_refused_and_nothing_is_kept(words, sentence):
    call("ask")
    said = call("tell", *words, code=2).stderr
    assert sentence in said and "Traceback" not in said
    assert status()["experiments"] == 0


@pytest.mark.parametrize(
    ("ways", "sentence"),
    [
        (("max",), "the study has the objectives yield and cost; say of each which way is better"),
        (("yield=max",), "every objective needs a direction; cost has none"),
        (("yield=max", "cst=min"), "'cst' is no objective of the study; did you mean 'cost'?"),
        (("yield=up", "cost=min"), "unknown direction 'up'"),
        (("yield=max", "yield=min"), "'yield' has two directions"),
        (("yield=max", "cost"), "NAME=max or NAME=min"),
        (("yield=max,refrence=5", "cost=min"), "did you mean 'reference'?"),
        (("yield=max,reference=much", "cost=min"), "expected a number, but got 'much'"),
        (("yield=max,weight=0", "cost=min,weight=0"), "the weights of all objectives are 0"),
        (("yield=near", "cost=min"), "needs that value"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_goal_that_is_none_is_refused_and_may_be_given_again(ways, sentence):
    assert sentence in join(*(part for way in ways for part in ("--direction", way)), code=2).stderr
    join("--direction", "yield=near:80", "--direction", "cost=min,weight=2")
    assert status()["goal, private"] == "yield (%) near 80; cost (EUR), to minimise, weight 2"


@pytest.mark.usefixtures("folder")
def test_a_limit_that_is_none_is_refused():
    said = join(*WAYS[:4], "--limit", "impurity below 5", code=2).stderr
    assert "a limit is written as 'impurity <= 5'" in said
    said = join(*WAYS[:4], "--limit", "impurity <= 5", "--limit", "impurity >= 6", code=2).stderr
    assert "no outcome can meet 'impurity >= 6' and 'impurity <= 5' together" in said
    join(*WAYS)
    join(*WAYS[:4], "--limit", "none")
    assert "limits, private" not in status()


def sheet(folder):
    call("ask", "--count", 2, "--format", "csv", "--output", "bench.csv")
    return list(csv.reader(io.StringIO((folder / "bench.csv").read_text())))


def filled(header, lines, **cells):
    """A sheet with these outcomes in each line; the columns are the keys."""
    rows = [[*header, *(name for name in cells if name not in header)]]
    for line in lines:
        given = dict(zip(header, line, strict=True)) | cells
        rows.append([str(given[name]) for name in rows[0]])
    return "\n".join(",".join(row) for row in rows) + "\n"


def test_a_sheet_has_a_column_for_every_outcome_and_its_standard_error(joined):
    header, *lines = sheet(joined)
    assert header == [
        "trial", "T", "c", "yield (%)", "yield sem", "cost (EUR)", "cost sem", "impurity", "impurity sem", "status",
    ]  # fmt: skip
    outcomes = {"yield (%)": 83, "yield sem": 0.5, "cost (EUR)": 12, "impurity": 3}
    Path("bench.csv").write_text(filled(header, lines, **outcomes), encoding="utf-8")
    assert "Told 2 lines of bench.csv." in call("tell", "bench.csv", "--yes").stderr
    assert "2 lines of bench.csv were told before" in call("tell", "bench.csv").stderr
    assert rows("best")[0] | {"yield (%)": 83, "impurity": 3} == rows("best")[0]
    exported = rows("export")
    assert [row["yield sem"] for row in exported] == [0.5, 0.5] and exported[0]["cost of the trial"] is None
    call("tell", "bench.csv", "--again")
    corrected = (joined / "bench.csv").read_text().replace(",83,", ",84,")
    Path("bench.csv").write_text(corrected, encoding="utf-8")
    assert "--again the lines that differ are corrections" in call("tell", "bench.csv", code=2).stderr
    assert "Changed 2 lines" in call("tell", "bench.csv", "--again", "--yes").stderr


def test_a_sheet_may_say_cost_without_its_unit(joined):
    header, *lines = sheet(joined)
    written = [name.removesuffix(" (%)").removesuffix(" (EUR)") for name in header]
    Path("bench.csv").write_text(filled(written, lines, **{"yield": 83, "cost": 12, "impurity": 3}), encoding="utf-8")
    call("tell", "bench.csv", "--yes")
    assert [row["cost (EUR)"] for row in rows("export")] == [12, 12]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda text: text.replace(",cost (EUR)", ",price"), "column 'cost (EUR)' is missing"),
        (lambda text: text.replace("yield sem", "yield"), "column 'yield (%)' is there twice; keep one"),
        (lambda text: text.replace(",83,", ",,"), "yield (%) is empty, and other outcomes are filled in"),
        (lambda text: text.replace(",83,", ",nan,"), "column yield (%): expected a number"),
        (lambda text: text.replace("yield sem", "sem"), "column 'sem' does not say of which outcome"),
        (lambda text: text.replace("complete", "failed"), "'failed' does not go with the outcome '83, 12, 3'"),
        (lambda _: "trial,T,c,yield (%),sem,status,cost\n0,40,0.5,83,,,\n", "column 'impurity' is missing"),
    ],
)
def test_a_sheet_that_lacks_something_is_refused_and_nothing_of_it_is_told(joined, change, sentence):
    header, *lines = sheet(joined)
    text = filled(header, lines, **{"yield (%)": 83, "cost (EUR)": 12, "impurity": 3, "status": "complete"})
    Path("bench.csv").write_text(change(text), encoding="utf-8")
    said = call("tell", "bench.csv", code=2).stderr
    assert sentence in said and status()["experiments"] == 0


def test_outcomes_that_are_called_oddly_keep_their_names(folder):
    odd = STUDY.replace('["yield", "cost"]', '["space yield, t = 0", "T"]').replace('["%", "EUR"]', '["", "K"]')
    (folder / "study.toml").write_text(odd, encoding="utf-8")
    join("--direction", "space yield, t = 0=max", "--direction", "T=min", "--limit", "a=b <= 3")
    call("ask")
    call("tell", "space yield, t = 0=5", "T=300", "a=b=2")
    (best,) = rows("best", "--weights", "space yield, t = 0=1,T=2")
    assert (best["space yield, t = 0"], best["T (K)"], best["a=b"]) == (5, 300, 2) and best["T"] < 100
    header, *_ = sheet(folder)
    assert header[3:9:2] == ["space yield, t = 0", "T (K)", "a=b"]
    assert rows("export")[0]["T (°C)"] < 100


@pytest.mark.usefixtures("joined")
def test_two_objectives_with_the_same_numbers_are_no_obstacle():
    for k in range(8):
        call("ask")
        call("tell", f"yield={k}", f"cost={k}", "impurity=3", "--yes")
    assert len(rows("best")) == 8 and "(7 more as good in their way)" in status()["best"]
    said = call("advise").stdout.replace("\n", " ")
    assert "is estimated for one objective without limits" in said or "nothing of the others was run" in said


def test_with_a_limit_on_one_objective_the_best_is_the_best_within_it(folder):
    plain = STUDY.replace('objectives = ["yield", "cost"]\nunits = ["%", "EUR"]', 'objective = "yield"')
    (folder / "study.toml").write_text(plain, encoding="utf-8")
    join("--direction", "max", "--limit", "impurity <= 5", "--initial", 4)
    for y, impurity in ((50, 2), (83, 3), (95, 9)):
        call("ask")
        call("tell", f"yield={y}", f"impurity={impurity}", "--yes")
    (best,) = rows("best")
    assert (best["yield"], best["impurity"]) == (83, 3)
    assert "--weights says how much each of several objectives" in call("best", "--weights", "yield=1", code=2).stderr
    assert "best so far" not in call("status").stdout and status()["best"] == "yield 83, impurity 3"


def test_a_program_of_several_outcomes_works_and_one_that_lacks_one_fails(folder):
    (folder / "run.sh").write_text('#!/bin/sh\n[ "$1" = 1 ] && echo "yield $1" || echo "yield 80, cost 12"\n')
    (folder / "run.sh").chmod(0o755)
    pattern = "{yield = 'yield ([0-9.]+)', cost = 'cost ([0-9.]+)'}"
    program = f'program = {{command = ["./run.sh", "{{n}}", "{{T}}"], timeout = "1 min", pattern = {pattern}}}\n'
    text = STUDY.replace("c = {low = 0, high = 1}", 'n = {options = ["1", "2"]}')
    (folder / "study.toml").write_text(text.replace('name = "lab-a"\n', f'name = "lab-a"\n{program}'), encoding="utf-8")
    join(*WAYS[:4])
    said = call("work", "study.toml", "--keep-going").stderr
    assert "yield 80 %, cost 12 EUR, best so far yield 80 %, cost 12 EUR" in said
    assert "failed, it gave no 'cost': nothing in its output matches 'cost ([0-9.]+)'" in said
    (folder / "study.toml").write_text(
        text.replace('name = "lab-a"\n', f'name = "lab-a"\n{program}direction = {{yield = "min", cost = "min"}}\n')
    )
    assert (
        "the site has joined to maximise 'yield'; correct its direction here"
        in call("work", "study.toml", code=2).stderr
    )


def test_no_name_of_a_limit_no_outcome_and_no_aim_leaves_the_site(told):
    travelled = b"".join(path.read_bytes() for path in (told / "shared").rglob("*") if path.is_file())
    assert b"lab-a" in travelled
    for planted in (b"impurity", b"maximise", b"reference", b"3.1", b"95.0"):
        assert planted not in travelled
