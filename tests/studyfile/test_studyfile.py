import re
import textwrap

import numpy as np
import pytest

from cboc.consensus import Identity, Leader, Uniform
from cboc.errors import CbocError
from cboc.experiment.durations import LogNormal
from cboc.problems.synthetic import levy
from cboc.runs.simulation import simulate
from cboc.strategy.bayesian import UTILITIES
from cboc.studyfile import read, read_terms, template

MINIMAL = """
[study]
horizon = 3

[[site]]
name = "a"
direction = "minimise"
problem = "levy-2"

[[site]]
name = "b"
direction = "minimise"
problem = "levy-2"
shift = 2.0
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes study.toml into an empty current directory."""
    monkeypatch.chdir(tmp_path)

    def write(text, **files):
        for name, content in files.items():
            (tmp_path / name.replace("_", ".")).write_text(textwrap.dedent(content))
        path = tmp_path / "study.toml"
        path.write_text(textwrap.dedent(text))
        return "study.toml"

    return write


def test_the_template_is_a_study_of_four_labs_with_different_problems(write):
    file = read(write(template()))
    assert file.study.sites == ("lab-a", "lab-b", "lab-c", "lab-d")
    assert file.gate.ratio == 0.1 and file.study.shares_best and isinstance(file.study.rule, Uniform)
    design = {"x1": 0.3, "x2": -1.0, "x3": 2.0, "x4": 0.0}
    assert len({file.experiments[site](design) for site in file.study.sites}) == 4


def test_what_the_template_shows_in_comments_is_understood(write):
    shown = re.sub(r"^# (?=\w+ = |\[space\])", "", template(), flags=re.MULTILINE)
    own = re.sub(r"^(problem|scale|offset|shift|noise) = .*$", "", shown, flags=re.MULTILINE)
    with pytest.raises(CbocError, match="at the free pace there are no rounds"):
        read(write(own))
    file = read(write(own.replace('pace = "free"', 'pace = "rounds"')))
    assert file.study.space.names == ("temperature", "enzyme", "buffer", "salt", "cycles", "solvent")
    assert file.study.space.constraints == ("buffer + salt <= 1",)
    assert (file.initial, file.study.quorum, file.stop_below) == (10, 2, 0.001)
    assert file.study.objective.label == "yield (%)"


BAD_TIMES = [
    ("duration = 0", "duration is a time such as 2.5"),
    ('duration = "long"', "duration is a time such as 2.5"),
    ("duration = {median = -1}", "the median of a duration is a number above 0"),
    ("duration = {mean = 1}", "unknown key 'mean'"),
    ("duration = {spread = 0.1}", "the key 'median' is missing"),
]


@pytest.mark.parametrize(("line", "sentence"), BAD_TIMES)
def test_a_duration_is_a_time(write, line, sentence):
    site = '[[site]]\nname = "a"\ndirection = "minimise"\nproblem = "levy-2"\n'
    with pytest.raises(CbocError, match=sentence):
        read(write(f"[study]\nhorizon = 3\n{site}{line}"))


def test_durations_are_those_of_all_sites_or_of_none(write):
    site = '[[site]]\nname = "{}"\ndirection = "minimise"\nproblem = "levy-2"\n'
    with pytest.raises(CbocError, match="'b': other sites have a duration, and this one has none"):
        read(write(f"[study]\nhorizon = 3\n{site.format('a')}duration = 2\n{site.format('b')}"))


@pytest.mark.parametrize("line", ['pace = "quick"', "pace = 3", "plate = 0", "plate = 2.5", "same = 3", 'same = "T"'])
def test_a_pace_is_known_and_a_plate_has_wells(write, line):
    site = '[[site]]\nname = "a"\ndirection = "minimise"\nproblem = "levy-2"\n'
    with pytest.raises(CbocError, match=line.split(" = ")[0]):
        read(write(f"[study]\nhorizon = 3\n{line}\n{site}"))


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ('same = ["x1"]', "same is for plates; say how many experiments one has, as in plate = 8"),
        ('plate = 4\nsame = ["T"]', "[study], same: unknown parameter 'T'"),
        ('plate = 4\nsame = ["x1", "x2"]', "with the same x1 and x2 in all wells there is at most 1 design"),
    ],
)
def test_what_a_plate_has_to_share(write, lines, complaint):
    site = '[[site]]\nname = "a"\ndirection = "minimise"\nproblem = "levy-2"\n'
    with pytest.raises(CbocError) as refusal:
        read(write(f"[study]\nhorizon = 3\n{lines}\n{site}"))
    assert complaint in str(refusal.value)


def test_all_settings_arrive(write):
    file = read(
        write(
            """
            [study]
            name = "buffers"
            horizon = 7
            rule = "leader"
            pace = "rounds"
            plate = 8
            same = ["T", "solvent"]
            graph = [["a", "b"]]
            gate = 0.1
            initial = 4
            seed = 3
            quorum = 2
            stop_below = 0.01
            most_cost = 250
            surrogate = "paper"
            constraints = ["acid + base <= 1"]
            [space]
            T = {low = 20, high = 90, unit = "°C"}
            acid = {low = 0, high = 1}
            base = [0, 1]
            n = {type = "int", low = 1, high = 5}
            solvent = {options = ["water", "ethanol"]}
            [[site]]
            name = "a"
            direction = "maximise"
            budget = 5
            duration = 3
            [[site]]
            name = "b"
            direction = "minimise"
            duration = {median = 2.5, spread = 0.2}
            """
        )
    )
    study = file.study
    assert (study.name, study.horizon, study.graph, study.quorum) == ("buffers", 7, (("a", "b"),), 2)
    assert isinstance(study.rule, Leader) and study.budgets == {"a": 5}
    assert study.space.names == ("T", "acid", "base", "n", "solvent") and study.space.constraints == (
        "acid + base <= 1",
    )
    assert (file.seed, file.initial, file.gate.ratio, file.stop_below, file.surrogate) == (3, 4, 0.1, 0.01, "paper")
    assert dict(file.directions) == {"a": "maximise", "b": "minimise"}
    assert study.pace.name == "rounds" and file.plate == 8
    assert file.same == ("T", "solvent")
    assert file.most_cost == file.policy.most_cost == 250
    assert file.durations == {"a": LogNormal(3), "b": LogNormal(2.5, 0.2)}


def test_a_site_of_a_problem_is_scale_times_f_of_x_plus_shift_plus_offset(write):
    text = MINIMAL.replace("shift = 2.0", "scale = 3\noffset = 10\nshift = 2.0")
    value = read(write(text)).experiments["b"]({"x1": -1.5, "x2": 4.0})
    assert value == pytest.approx(3 * levy(2)({"x1": 0.5, "x2": 6.0}) + 10)


def test_noise_depends_on_seed_site_and_design_and_on_nothing_else(write):
    file = read(write(MINIMAL.replace('problem = "levy-2"', 'problem = "levy-2"\nnoise = 0.5', 1)))
    design = {"x1": 1.0, "x2": 2.0}
    first, again = file.experiments["a"](design), read("study.toml").experiments["a"](design)
    assert first == again != file.problems["a"](design)
    assert file.with_seed(1).experiments["a"](design) != first
    draws = [
        file.experiments["a"]({"x1": x, "x2": 0.0}) - file.problems["a"]({"x1": x, "x2": 0.0})
        for x in np.linspace(-9, 9, 400)
    ]
    assert np.std(draws) == pytest.approx(0.5, rel=0.15) and np.mean(draws) == pytest.approx(0.0, abs=0.1)


def test_a_maximised_problem_has_its_optimum_at_the_largest_value(write):
    file = read(write(MINIMAL.replace('"minimise"', '"maximise"', 1)))
    corner = max(file.problems["a"]({"x1": x, "x2": y}) for x in (-10.0, 10.0) for y in (-10.0, 10.0))
    assert file.problems["a"].optimum >= corner > 0.0 == levy(2).optimum


FUNCTION = """
[study]
horizon = 2
initial = 3
[space]
T = [20, 90]
[[site]]
name = "a"
direction = "maximise"
experiment = "{}"
"""


def test_an_experiment_is_a_function_of_a_file_beside_the_study(write):
    path = write(
        FUNCTION.format("lab.py:measure"),
        lab_py="from scale import k\ndef measure(x): return k * x['T'], 0.1",
        scale_py="k = 2",
    )
    assert read(path).experiments["a"]({"T": 30.0}) == (60.0, 0.1)


def test_an_experiment_is_a_function_of_a_module(write):
    assert read(
        write(FUNCTION.format("lab_module:measure"), lab_module_py="")
    ).sources  # read only; imported when it is run
    (read("study.toml").path.parent / "lab_module.py").write_text("def measure(x): return -x['T']")
    assert read("study.toml").experiments["a"]({"T": 30.0}) == -30.0


def test_earlier_results_replace_initial_designs_and_count_as_the_start(write):
    text = FUNCTION.format("lab.py:measure") + 'data = "old.csv"\noutcome = "yield"\n'
    file = read(write(text, lab_py="def measure(x): return -abs(x['T'] - 50)", old_csv="T,yield\n30,-20\n60,-10\n"))
    history = simulate(**file.arguments)
    assert [trial.turn and trial.turn.number for trial in history.of("a")] == [None, 0, 1]
    assert history.best_so_far("a")[0] >= -10.0


def test_alone_is_the_same_study_with_the_identity(write):
    file = read(write(MINIMAL))
    assert isinstance(file.alone().study.rule, Identity)
    assert file.alone().study.sites == file.study.sites


MISTAKES = {
    "unknown key": (
        MINIMAL.replace("horizon", "horizn"),
        "study.toml, [study]: unknown key 'horizn'; did you mean 'horizon'?",
    ),
    "unknown site key": (
        MINIMAL.replace("shift", "shfit"),
        "study.toml, [[site]] 'b': unknown key 'shfit'; did you mean 'shift'?",
    ),
    "unknown section": (
        MINIMAL + "[spaces]\nx = [0, 1]",
        "study.toml: unknown section [spaces]; did you mean 'space'?",
    ),
    "missing horizon": (
        MINIMAL.replace("horizon = 3", ""),
        "study.toml, [study]: the key 'horizon' is missing; it is a whole number.",
    ),
    "missing study": (MINIMAL.replace("[study]\nhorizon = 3", ""), "study.toml: the key 'study' is missing"),
    "missing site": ("[study]\nhorizon = 3", "study.toml: the section [[site]] is missing"),
    "missing direction": (
        MINIMAL.replace('direction = "minimise"', "", 1),
        "study.toml, [[site]] 'a': the key 'direction' is missing; it is \"maximise\" or \"minimise\".",
    ),
    "wrong direction": (
        MINIMAL.replace('"minimise"', '"minimice"', 1),
        "[[site]] 'a': unknown direction 'minimice'; did you mean 'minimise'?",
    ),
    "wrong type": (MINIMAL.replace("= 3", '= "3"'), 'study.toml, [study]: horizon is a whole number, but got "3".'),
    "wrong truth": (MINIMAL.replace("= 3", "= true"), "horizon is a whole number, but got true."),
    "negative gate": (
        MINIMAL.replace("horizon = 3", "horizon = 3\ngate = -1"),
        "gate is a number from 0, but got -1.",
    ),
    "no rounds": (
        MINIMAL.replace("= 3", "= 0"),
        "study.toml, [study]: horizon: a number of experiments is a whole number from 1",
    ),
    "unknown rule": (
        MINIMAL.replace("horizon = 3", 'horizon = 3\nrule = "leeder"'),
        "rule = \"leeder\" is unknown; did you mean 'leader'?",
    ),
    "unknown graph": (
        MINIMAL.replace("horizon = 3", 'horizon = 3\ngraph = "rign"'),
        "[study]: 'rign' is not a graph; did you mean 'ring'?",
    ),
    "graph of no pairs": (
        MINIMAL.replace("horizon = 3", 'horizon = 3\ngraph = [["a"]]'),
        "or a list of pairs of sites, but got [['a']].",
    ),
    "graph by neighbours": (
        MINIMAL.replace("horizon = 3", 'horizon = 3\ngraph = {a = ["b"]}'),
        'graph is "complete", "ring", "star" or a list of pairs of sites, but got {\'a\': [\'b\']}.',
    ),
    "graph in two parts": (
        MINIMAL.replace("horizon = 3", "horizon = 3\ngraph = []"),
        "the graph has to connect all sites, but no path leads from a to b; add an edge, or make two studies.",
    ),
    "unknown utility": (MINIMAL.replace("horizon = 3", 'horizon = 3\nutility = "ucp"'), "did you mean 'ucb'?"),
    "unknown surrogate": (MINIMAL.replace("horizon = 3", 'horizon = 3\nsurrogate = "papr"'), "did you mean 'paper'?"),
    "unknown problem": (
        MINIMAL.replace("levy-2", "levi-2"),
        "[[site]] 'a': 'levi-2' is not a problem of this library; did you mean 'levy-2'?",
    ),
    "one bracket": (MINIMAL.split("[[site]]")[0] + '[site]\nname = "a"', "[[site]] with two brackets; found [site]."),
    "the same name twice": (MINIMAL.replace('"b"', '"a"'), "[[site]] 'a': the names of sites must differ"),
    "a nameless site": (MINIMAL.replace('name = "b"', ""), "[[site]] number 2: the key 'name' is missing"),
    "two sources": (
        MINIMAL + 'experiment = "x.py:f"',
        "'problem' is for test problems only; leave out 'problem' or 'experiment'.",
    ),
    "a scale of nothing": (
        MINIMAL.replace('problem = "levy-2"\nshift', "shift"),
        "[[site]] 'b': the key 'problem' is missing",
    ),
    "two problems, two spaces": (
        MINIMAL.replace('"levy-2"\nshift', '"hartmann-6"\nshift'),
        "[[site]] 'b': problem 'hartmann-6' has the parameters x1, x2, x3, x4, x5, x6, but the study has x1, x2; all",
    ),
    "no space": (
        FUNCTION.format("x.py:f").replace("[space]\nT = [20, 90]", ""),
        "study.toml: the section [space] is missing",
    ),
    "constraints in the space": (
        MINIMAL + '[space]\nx1 = [0, 1]\nconstraints = ["x1 <= 1"]',
        "'constraints' belongs in [study].",
    ),
    "a typo in a parameter": (
        MINIMAL + "[space]\nx1 = {low = 0, hihg = 1}",
        "study.toml, [space]: x1: unknown key 'hihg' for type float",
    ),
    "a syntax error": (
        "[study]\nhorizon 3",
        "study.toml is not valid TOML: Expected '=' after a key in a key/value pair (at line 2",
    ),
    "missing data": (MINIMAL + 'data = "old.csv"', "[[site]] 'b': cannot read old.csv: No such file or directory."),
}


MISTAKES |= {
    "no sites": ("site = []\n[study]\nhorizon = 3", "study.toml: the section [[site]] is missing; add one"),
    "constraints of another kind": (
        MINIMAL.replace("horizon = 3", "horizon = 3\nconstraints = 3"),
        "study.toml, [study]: constraints is a list of strings",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence_with_file_section_and_key(write, mistake):
    text, sentence = MISTAKES[mistake]
    with pytest.raises(CbocError) as error:
        read(write(text))
    assert sentence in str(error.value)
    assert "\n" not in str(error.value) and str(error.value).startswith("study.toml")
    assert str(error.value).count("study.toml") == 1


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    (tmp_path / "study.toml").write_bytes(MINIMAL.replace("\n", "\r\n").encode("utf-8-sig"))
    assert read(tmp_path / "study.toml").study.sites == ("a", "b")


EXPERIMENTS = {
    "no such file": ("lap.py:measure", "there is no file", ""),
    "no such module": ("no_such_module:f", "cannot import no_such_module: it raised ModuleNotFoundError", ""),
    "no such function": (
        "lab.py:mesure",
        "lab.py has no function 'mesure'; did you mean 'measure'?",
        "def measure(x): return 1",
    ),
    "no function at all": ("lab.py:measure", "lab.py has no function 'measure'; it holds no function.", "measure = 3"),
    "no colon": ("lab.py", "an experiment is 'file.py:function' or 'module:function', but got 'lab.py'.", ""),
    "a broken file": ("lab.py:measure", "cannot import lab.py: it raised SyntaxError", "def measure(x) return 1"),
}


@pytest.mark.parametrize("mistake", EXPERIMENTS)
def test_a_wrong_experiment_is_one_sentence_with_file_and_site(write, mistake):
    reference, sentence, code = EXPERIMENTS[mistake]
    file = read(write(FUNCTION.format(reference), lab_py=code))
    with pytest.raises(CbocError) as error:
        _ = file.experiments
    assert str(error.value).startswith("study.toml, [[site]] 'a': ") and sentence in str(error.value)


def test_an_error_inside_an_experiment_names_the_line_and_the_design(write):
    file = read(write(FUNCTION.format("lab.py:measure"), lab_py="def measure(x):\n    return 1 / (x['T'] - 30)"))
    with pytest.raises(
        CbocError, match=r"raised ZeroDivisionError: .* \(lab.py, line 2\) at {'T': 30.0}; raise cboc.Exp"
    ):
        file.experiments["a"]({"T": 30.0})


def test_a_failed_experiment_is_recorded_and_the_study_goes_on(write):
    code = "import cboc\ndef measure(x):\n    if x['T'] > 55: raise cboc.ExperimentFailed('too hot')\n    return x['T']"
    history = simulate(**read(write(FUNCTION.format("lab.py:measure"), lab_py=code)).arguments)
    failed = [trial for trial in history.trials if trial.status == "failed"]
    assert failed and all(trial.note == "too hot" for trial in failed) and len(history.trials) == 5


def test_a_study_without_sources_is_read_but_cannot_be_simulated(write):
    file = read(write(FUNCTION.format("").replace('experiment = ""', "")))
    with pytest.raises(CbocError, match="it has to say where outcomes come from"):
        simulate(**file.arguments)


def test_an_unreadable_file_is_one_sentence(tmp_path):
    with pytest.raises(CbocError, match=r"there is no file .*nothing.toml; `cboc init .*` writes one to start from\."):
        read(tmp_path / "nothing.toml")
    with pytest.raises(CbocError, match="cannot read"):
        read(tmp_path)
    (tmp_path / "latin.toml").write_bytes("[study]\nname = 'über'".encode("latin-1"))
    with pytest.raises(CbocError, match="is not UTF-8 text"):
        read(tmp_path / "latin.toml")


@pytest.mark.parametrize("name", UTILITIES)
def test_every_utility_runs_by_its_name(tmp_path, name):
    path = tmp_path / "study.toml"
    path.write_text(MINIMAL.replace("horizon = 3", f'horizon = 3\ninitial = 4\nutility = "{name}"'))
    history = simulate(**read(path).arguments)
    assert all(np.isfinite(history.best_so_far(site)).all() for site in history.study.sites)


PROGRAM = """
[study]
horizon = 2
[space]
T = [20, 90]
[[site]]
name = "a"
direction = "maximise"
[site.program]
command = ["sh", "-c", "echo $0", "{T}"]
timeout = "1 min"
"""


def test_an_experiment_is_a_program(write):
    every = (
        'template = "deck"\ninput = "in"\noutput = "out"\nkey = "y"\nretries = 2\nwork = "w"\nenvironment = {A = "b"}'
    )
    program = read(write(PROGRAM + every, deck="{T}")).experiments["a"]
    assert (program.timeout, program.retries, program.key, program.environment) == (60.0, 2, "y", {"A": "b"})
    assert (program.input, program.output, str(program.template), program.work) == ("in", "out", "deck", "w")
    file = read(write(PROGRAM.replace("1 min", "none")))
    assert file.experiments["a"].timeout is None and file.experiments["a"]({"T": 30.5}) == 30.5


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('timeout = "1 min"', "", "'a', program: the key 'timeout' is missing; it is a time such as"),
        ('"1 min"', "60", "'a', program: timeout is a time such as"),
        ("timeout", "time_out", "unknown key 'time_out'; did you mean 'timeout'?"),
        ('["sh", "-c", "echo $0", "{T}"]', '"sh"', "'a', program: command is a list of strings in quotes"),
        ("[site.program]", 'pattern = "y"\n[site.program]', "unknown key 'pattern'"),
        ("[site.program]", 'experiment = "a.py:b"\n[site.program]', "from an experiment or from a program; leave one"),
        (
            "[site.program]",
            "noise = 1\n[site.program]",
            "'noise' is for test problems only; leave out 'noise' or 'program'",
        ),
        ('"1 min"', '"1 min"\npattern = "y"', "'a', program: a pattern has one group"),
    ],
)
def test_a_mistake_in_a_program_is_one_sentence(write, old, new, sentence):
    with pytest.raises(CbocError, match=re.escape(sentence)):
        read(write(PROGRAM.replace(old, new)))


def test_whoever_coordinates_needs_no_program(write):
    """The terms of a study file are read on a machine that has none of it."""
    path = write(PROGRAM.replace('"sh"', '"no-such-program"') + 'template = "missing"')
    assert read_terms(path).study.sites == ("a",)
    with pytest.raises(CbocError, match="'a': the template: cannot read .*missing"):
        _ = read(path).experiments


@pytest.mark.parametrize("said", ["minimize", "min", "MIN", "Minimise"])
def test_a_direction_may_be_said_in_several_ways(write, said):
    file = read(write(MINIMAL.replace('"minimise"', f'"{said}"')))
    assert file.directions == {"a": "minimise", "b": "minimise"}
