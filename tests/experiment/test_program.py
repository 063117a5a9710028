"""Programs are real processes here: small shell scripts."""

import os
import re
import select
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cboc import CbocError, ExperimentFailed, Measurement, Policy, Program, Study, simulate
from cboc.site.trial import Status

DESIGN = {"inflow": 80.5, "coolant": 312.0}
PATIENCE = 30.0  # seconds, after which something that should be dead counts as alive


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """`shell(text, ...)`: a program of this text, in the current directory."""
    monkeypatch.chdir(tmp_path)

    def shell(text, *arguments, name="solver", **options):
        path = tmp_path / name
        path.write_text("#!/bin/sh\n" + textwrap.dedent(text))
        path.chmod(0o755)
        return Program([f"./{name}", *arguments], **({"timeout": 60.0} | options))

    return shell


def reason(program, design=DESIGN):
    with pytest.raises(ExperimentFailed) as failure:
        program(design)
    return str(failure.value)


def kept(program, design=DESIGN):
    """The directory that the reason names."""
    return Path(reason(program, design).rpartition("; see ")[2])


def lines(path):
    return Path(path).read_text().splitlines() if Path(path).exists() else []


# ------------------------------------------------------------------------------------------------ from design to number


def test_a_program_may_say_what_it_cost(shell):
    words = shell("echo yield 0.5, hours 12; echo yield 0.8, hours 14.5", "{inflow}", pattern="yield ([0-9.]+)")
    assert words({"inflow": 1}) == 0.8
    costly = replace(words, cost_pattern=r"hours (\S+)")
    assert costly({"inflow": 1}) == Measurement(0.8, cost=14.5)
    assert shell('echo \'{"y": 2, "paid": {"eur": 3}}\'', "{inflow}", key="y", cost_key="paid.eur")(
        {"inflow": 1}
    ) == Measurement(2.0, cost=3.0)
    assert "cost_pattern" not in words.to_row() and costly.to_row()["cost_pattern"] == r"hours (\S+)"


def test_attempts_that_fail_cost_too(shell):
    text = "echo hours 3; test -e ../../second && echo 7; test -e ../../second || { touch ../../second; exit 2; }"
    program = shell(text, "{inflow}", cost_pattern=r"hours (\S+)", retries=1)
    assert program({"inflow": 1}) == Measurement(7.0, cost=6.0)
    for said, cost in (("hours 3; exit 2", 3.0), ("nothing; exit 2", None)):
        with pytest.raises(ExperimentFailed) as failure:
            replace(shell(f"echo {said}", "{inflow}"), cost_pattern=r"hours (\S+)")({"inflow": 1})
        assert failure.value.cost == cost


@pytest.mark.parametrize(
    ("text", "options", "complaint"),
    [
        ("echo 1", {"cost_pattern": r"hours (\S+)"}, "does not say what it cost: nothing in its output matches"),
        ("echo hours -2", {"cost_pattern": r"hours (\S+)"}, "a cost is a number from 0; a run of ./solver said -2"),
        ("echo 1", {"cost_pattern": "hours"}, "the cost: a pattern has one group"),
        ("echo 1", {"cost_pattern": "(x)", "cost_key": "x"}, "the cost: a number is found by a pattern or by a key"),
    ],
)
def test_a_cost_that_cannot_be_read_is_a_mistake_and_no_failed_experiment(shell, text, options, complaint):
    with pytest.raises(CbocError, match=complaint):
        shell(text, "{inflow}", **options)({"inflow": 1})


def test_the_design_is_json_and_the_number_is_on_standard_output(shell):
    program = shell("cat $1 >&2; echo done; grep inflow $1", "{input}")
    assert program(DESIGN) == 80.5
    both = shell("cp $1 $2", "{input}", "{output}", key="coolant")
    assert both(DESIGN) == 312.0


def test_a_template_is_the_input_file_under_any_name(shell):
    text = "FLOW {inflow:.1f}\r\nT {coolant}\r\n"
    program = shell("cp case/deck.in result.txt", template=text, input="case/deck.in", output="result.txt")
    assert program(DESIGN) == 312.0
    Path("deck").write_bytes(text.encode())
    from_file = shell("cat input; exit 1", template=Path("deck"))
    assert (kept(from_file) / "input").read_bytes() == b"FLOW 80.5\r\nT 312.0\r\n"  # with the file's own line ends


def test_parameters_may_be_arguments_and_no_shell_reads_them(shell):
    program = shell('test "$1" = "a b; exit 9" && echo $2$3', "{word}", "{inflow}", "e{n}")
    assert program({"word": "a b; exit 9", "inflow": 2.5, "n": 2}) == 250.0


def test_a_program_of_the_path_its_folder_and_its_environment(shell, tmp_path):
    shell("echo $WEIGHT", name="weigh")
    program = Program(["sh", "{folder}/weigh", "{x}"], 60.0, folder=tmp_path, environment={"WEIGHT": "1.25"})
    assert program({"x": 1}) == 1.25


def test_every_run_starts_in_an_empty_directory_and_leaves_nothing(shell):
    program = shell("ls -A | wc -l; touch litter", "{inflow}", "{coolant}")
    assert program(DESIGN) == program(DESIGN) == 2  # stdout and stderr
    assert list(Path("work").iterdir()) == []


@pytest.mark.parametrize(("end", "why"), [("exit 3", "exit code 3"), ("true", "it wrote nothing to standard output")])
def test_a_program_that_removes_its_directory_has_failed(shell, end, why):
    assert why in reason(shell(f'rm -r "$PWD"; {end}', "{inflow}", "{coolant}"))


def test_of_a_long_output_the_end_counts(shell, monkeypatch):
    monkeypatch.setattr("cboc.experiment.program.MOST_BYTES", 20)
    arguments = ("{inflow}", "{coolant}")
    assert shell("seq 1000; echo y = 7", *arguments, pattern="^y = (.+)")(DESIGN) == 7.0
    assert "nothing in its output matches" in reason(shell("seq 1000", *arguments, pattern="^(1)$"))


# ---------------------------------------------------------------------------------------------------------- failures


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("echo 5; echo no steady state >&2; exit 3", "it ended with exit code 3, saying 'no steady state'"),
        ("echo it clogged; exit 1", "it ended with exit code 1, saying 'it clogged'"),
        ("kill -9 $$", "it ended with signal 9 (Killed)"),
        ("true", "it wrote nothing to standard output"),
        ("echo converged", "its output holds no number"),
        ("echo nan", "its number is nan"),
    ],
)
def test_a_failure_says_why_and_where_to_look(shell, text, why):
    program = shell(text, "{inflow}", "{coolant}")
    assert reason(program) == f"{why}; see {kept(program)}"
    said = {line for name in ("stdout", "stderr") for line in lines(kept(program) / name)}
    assert said == set(re.findall("echo ([a-z0-9 ]+)", text.replace(" >", ";")))
    assert [path.name for path in Path("work").iterdir()] == [kept(program).name]  # of many failures of one design, one


def test_an_output_file_that_is_missing_is_named(shell):
    assert "it wrote nothing to 'result.txt'" in reason(shell("echo 5", "{inflow}{coolant}", output="result.txt"))


def test_retries_are_counted_and_the_first_that_succeeds_ends_them(shell):
    text = 'echo x >> "$1/tries"; test $(wc -l < "$1/tries") -ge 3 && echo 7'
    patient = shell(text, "{folder}", "{input}", retries=3)
    assert patient(DESIGN) == 7.0 and len(lines("tries")) == 3
    Path("tries").unlink()
    assert "exit code 1" in reason(shell(text, "{folder}", "{input}", retries=1)) and len(lines("tries")) == 2


@pytest.fixture
def fifo(tmp_path):
    """`fifo()`: all that was written, once nobody who could write is alive."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def read():
        said = b""
        while True:
            assert select.select([descriptor], [], [], PATIENCE)[0], "somebody is still alive"
            news = os.read(descriptor, 100)
            if not news:
                return said
            said += news

    yield read
    os.close(descriptor)


CHILDREN = """
exec 9> "$1/fifo"
sh -c 'trap "" TERM HUP INT; echo child >&9; touch "$0/begun"; sleep 300' "$1" &
{}
"""


def test_a_timeout_kills_the_program_and_its_children(shell, fifo):
    for timeout in (0.5, 2.0, 8.0):  # a busy machine may take its time to begin
        program = shell(CHILDREN.format("wait"), "{folder}", "{input}", timeout=timeout)
        assert f"it did not end within {timeout:g} s" in reason(program)
        if Path("begun").exists():
            assert fifo().startswith(b"child\n")
            return
    pytest.fail("it never began")


def test_children_that_a_program_leaves_behind_are_killed(shell, fifo):
    text = CHILDREN.format('while ! test -e "$1/begun"; do sleep 0.02; done; echo 1')
    assert shell(text, "{folder}", "{input}")(DESIGN) == 1.0
    assert fifo() == b"child\n"


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_program_ends_with_who_has_started_it(shell, fifo, by):
    shell(CHILDREN.format("wait"))
    code = """if True:
    from cboc import Program
    Program(["./solver", "{folder}", "{x}"], None)({"x": 1})
    """
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        until = time.monotonic() + PATIENCE
        while not Path("begun").exists() and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(by)
    assert process.returncode != 0
    assert fifo() == b"child\n"


def test_a_failed_run_is_a_failed_trial_and_the_study_goes_on(shell, tmp_path):
    text = "awk '{ if ($1 > 0.5) exit 3; print $1 * $1 }' input"
    program = shell(text, template="{x}\n")
    study = Study({"x": (0.0, 1.0)}, ["plant"], horizon=3)
    history = simulate(
        study, {"plant": program}, direction="maximise", policy=Policy(initial=6), journal=tmp_path / "one.jsonl"
    )
    assert {(trial.status, trial.x[0] > 0.5) for trial in history.trials} == {
        (Status.COMPLETE, False),
        (Status.FAILED, True),
    }
    failed = next(trial for trial in history.trials if trial.status == Status.FAILED)
    assert failed.note.startswith("it ended with exit code 3; see work/failed-")
    simulate(study, {"plant": program}, direction="maximise", policy=Policy(initial=6), journal=tmp_path / "two.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


# ---------------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"command": "solver {input}"}, "a command is a list of strings.*not a shell line; got 'solver {input}'"),
        ({"command": []}, "a command is a list of strings"),
        ({"command": ["sh", 5]}, "a command is a list of strings"),
        ({"command": ["sh", "1\0"]}, "a command may not contain a zero byte"),
        ({"timeout": -1.0}, "a timeout is a number of seconds above 0, or None; got -1.0"),
        ({"timeout": "1 h"}, "a timeout is a number of seconds"),
        ({"timeout": float("nan")}, "a timeout is a number of seconds"),
        ({"retries": -1}, "retries is a whole number from 0; got -1"),
        ({"retries": 1.5}, "retries is a whole number"),
        ({"pattern": "yield"}, "a pattern has one group"),
        ({"template": 5}, "a template is a string, or the Path of a file; got 5"),
        ({"template": __file__}, r"for the file of that name write Path\('"),
        ({"environment": {"LICENCE": 1234}}, "an environment is a dictionary of strings"),
        ({"environment": "LICENCE=1234"}, "an environment is a dictionary of strings"),
        ({"timeout": True}, "a timeout is a number of seconds above 0"),
        ({"retries": True}, "retries is a whole number from 0"),
        ({"environment": {"A=B": "c"}}, "a variable's name may not contain '='"),
        ({"environment": {"A": "b\0"}}, "nor name or value a zero byte"),
        ({"output": "/etc/passwd"}, "files lie in the directory of its run; '/etc/passwd' does not"),
        ({"input": "../deck"}, "'../deck' does not"),
    ],
)
def test_a_mistake_in_the_settings_is_one_sentence(settings, sentence):
    with pytest.raises(CbocError, match=sentence):
        Program(**({"command": ["sh", "{input}"], "timeout": 1.0} | settings))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"command": ["no-such-solver", "{input}"]}, "no program 'no-such-solver' on the path; install it"),
        ({"command": ["./missing", "{input}"]}, "no program .*missing; paths are relative to the program's folder"),
        ({"command": ["./plain", "{input}"]}, "is not executable; run chmod"),
        ({"command": ["./nonsense", "{input}"]}, "cannot start .*nonsense: .*; a script begins with"),
        ({"command": ["sh", "{inflo}", "{input}"]}, "the command: the field {inflo} is not a parameter; did you"),
        ({"template": "{inflow} {coolant} {heat}"}, "the template: the field {heat} is not a parameter; known: in"),
        ({"template": "{inflow}"}, "the program never receives 'coolant'; put {coolant} into its template or command"),
        ({"command": ["sh", "{inflow}"]}, "the program never receives 'coolant'"),
        ({"template": Path("missing.deck")}, "cannot read .*missing.deck: No such file"),
        ({"template": Path("latin.deck")}, "latin.deck is not UTF-8 text"),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_design_or_the_machine_is_one_sentence(settings, sentence, tmp_path):
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    (tmp_path / "nonsense").write_bytes(b"\0\1\2")
    (tmp_path / "nonsense").chmod(0o755)
    (tmp_path / "latin.deck").write_bytes("{inflow} {coolant} °C".encode("latin-1"))
    program = Program(**({"command": ["sh", "{input}"], "timeout": 60.0, "folder": tmp_path} | settings))
    with pytest.raises(CbocError, match=sentence):
        program(DESIGN)


def test_a_parameter_may_not_have_the_name_of_a_file():
    with pytest.raises(CbocError, match="give parameter 'output' another name"):
        Program(["sh", "{input}"], 60.0).check(["output"])


def test_of_several_outcomes_each_has_its_place_and_the_cost_is_told_once(shell):
    said = """echo '{"yield": 83.5, "inner": {"cost": 12}, "price": 2.5}'"""
    keys = {"yield": "yield", "cost": "inner.cost"}
    arguments = ("{inflow}", "{coolant}")
    assert shell(said, *arguments, key=keys)(DESIGN) == {"yield": 83.5, "cost": 12.0}
    with_cost = shell(said, *arguments, key=keys, cost_key="price")(DESIGN)
    assert with_cost == {"yield": Measurement(83.5, cost=2.5), "cost": Measurement(12.0)}
    assert shell(said, *arguments, key=keys).reading(("cost",))(DESIGN) == {"cost": 12.0}


def test_a_run_that_lacks_an_outcome_has_failed_and_says_which(shell):
    patterns = {"yield": r"yield (\S+)", "waste": r"waste (.+)"}
    program = shell("echo 'yield 83.5'", "{inflow}", "{coolant}", pattern=patterns)
    assert "it gave no 'waste': nothing in its output matches 'waste (.+)'" in reason(program)


def test_a_program_that_does_not_say_where_an_outcome_is_does_not_fit(shell):
    program = shell("echo 83.5", "{inflow}", "{coolant}")
    assert program.reading(("y",)) is program
    sentence = 'measures yield and cost; say where the program has yield and cost, as in key = {"yield" = "...", "cost"'
    with pytest.raises(CbocError, match=re.escape(sentence)):
        program.reading(("yield", "cost"))
