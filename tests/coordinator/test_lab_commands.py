"""What a site's commands promise to somebody at a bench, with a real coordinator on a real socket."""

import re
import signal
import socket
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import cboc
from cboc import Bayesian, Policy, Study
from cboc.cli import lab
from cboc.cli.app import app
from cboc.coordinator.database import open_database
from cboc.coordinator.schema import upgrade
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.exchange.http import Client
from cboc.site.polling import pause
from cboc.sitepage.app import create_page
from cboc.sitepage.session import Session
from cboc.storage.sitefile import SiteFile

STUDY = Study({"pH": (2.0, 9.0)}, ("x", "y"), 2, name="buffer study", pace="rounds")


def call(*command, code=0):
    result = CliRunner().invoke(app, [str(part) for part in command])
    assert result.exit_code == code, result.output
    return result.stderr


@pytest.fixture
def labs(tmp_path, monkeypatch, serving):
    """`url, door = labs`: a coordinator with two sites, each with its file; commands are about x.db."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CBOC_SITE", "x.db")
    engine = open_database(f"sqlite:///{tmp_path / 'coordinator.db'}")
    upgrade(engine)
    Transactions(engine).create(STUDY)
    door = Tokens(engine)
    with serving(engine) as url:
        for name in STUDY.sites:
            code = door.invite("buffer study", name)
            cboc.join(url, code, storage=f"{name}.db", direction="maximise", policy=Policy(initial=1))
        yield url, door
    engine.dispose()


def test_a_sheet_that_was_filled_in_and_not_told_is_not_written_over(labs):
    assert labs
    call("ask", "--format", "csv", "--output", "bench.csv")
    call("ask", "--format", "csv", "--output", "bench.csv")  # nothing is lost by that
    sheet = Path("bench.csv")
    sheet.write_text(sheet.read_text().replace(",,,", ",0.5,,"))
    filled = sheet.read_text()
    for format in ("csv", "json", "table"):
        said = call("ask", "--format", format, "--output", "bench.csv", code=2)
        assert "bench.csv is there already, and holds results that were not told or something else; cboc tell" in said
    assert sheet.read_text() == filled
    assert "Told 1 line of bench.csv." in call("tell", "bench.csv")
    call("ask", "--format", "csv", "--output", "bench.csv", code=3)  # waits for y
    y = cboc.join(storage="y.db")
    y.abandon(y.ask())
    y.propose()
    call("ask", "--format", "csv", "--output", "bench.csv")
    assert sheet.read_text().startswith("trial,pH,y,sem,status,cost\n1,")


def test_words_after_a_result(labs):
    assert labs
    call("ask", "--format", "csv", "--output", "bench.csv")
    assert "Nothing was told: no line of bench.csv has an outcome, or a status" in call("tell", "bench.csv")
    assert "1 experiment, best so far 0.5. Next: cboc ask." in call("tell", "0.5")
    refused = call("tell", "0.6", "--trial", "0", code=2)
    assert "was told 0.5 before, and 0.6 now" in refused and "cboc tell 0.6 --trial 0 --again" in refused
    sheet = Path("bench.csv")
    sheet.write_text(sheet.read_text().replace(",,,", ",0.7,,"))
    refused = call("tell", "bench.csv", code=2)
    assert "cboc tell 0.7 --trial 0 --again" in refused and "Nothing in the sheet was told." in refused
    call("tell", "0.6", "--trial", "0", "--again")
    for _ in range(2):
        for name in ("x", "y"):
            site = cboc.join(storage=f"{name}.db")
            if name == "y" and not site.trials:
                site.abandon(site.ask())
            site.propose()
        y = cboc.join(storage="y.db")
        y.tell(y.ask(), 1.0)
        call("ask")
        said = call("tell", "0.1")
    assert "3 experiments, best so far 0.6. The study is over for this site: run cboc ask once more to tell" in said
    assert said.endswith("the coordinator that you are done. cboc best shows what was found.\n")
    assert "has finished: 2 of 2 experiments" in call("ask", code=4)


def test_hints_name_the_file_unless_it_is_the_usual_one(labs, monkeypatch):
    url, door = labs
    monkeypatch.delenv("CBOC_SITE")
    code = door.invite("buffer study", "x")
    joining = ("join", url, code, "--direction", "maximise", "--initial", 1)
    assert call(*joining, "--file", "plant a.db").endswith("Next: cboc ask --file 'plant a.db'.\n")
    assert "no result yet; cboc ask --file y.db gives" in call("best", "--file", "y.db", code=2)
    assert "no experiment waits for a result; cboc ask --file y.db gives one" in call("tell", "1", "-f", "y.db", code=2)
    call("ask", "-f", "y.db")
    assert call("tell", "0.5", "-f", "y.db").endswith("Next: cboc ask --file y.db.\n")
    monkeypatch.setenv("CBOC_SITE", "y.db")
    assert call("tell", "0.5", "--trial", 0).endswith("Next: cboc ask.\n")


def test_best_and_advise_take_the_file_as_the_other_commands_do(labs):
    assert labs
    for name in ("x", "y"):
        site = cboc.join(storage=f"{name}.db")
        site.tell(site.ask(), 0.25)
    for command in ("best", "advise"):
        by_option, by_place = (CliRunner().invoke(app, [command, *place]) for place in (["--file", "y.db"], ["y.db"]))
        assert by_option.exit_code == 0 and by_option.stdout == by_place.stdout and "y" in by_option.stdout
        assert "there is no site file nowhere.db" in call(command, "-f", "nowhere.db", code=2)
        assert "give one place, runs/a or --file y.db, not both" in call(command, "runs/a", "-f", "y.db", code=2)
    assert "--site and --seed are for the directory of a run" in call("advise", "-f", "y.db", "--seed", 1, code=2)


def test_without_its_extra_a_site_is_told_how_to_install_it(labs, monkeypatch):
    assert labs
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert "run: pip install '.[page]'." in call("join", "http://127.0.0.1:9", "code", code=2)


def test_the_site_s_page_is_announced_with_how_to_stop_it(labs):
    """In a process of its own, which is stopped as a person would stop it."""
    assert labs
    command = [sys.executable, "-m", "cboc", "site", "--file", "x.db"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        said = process.stdout.readline()
        process.send_signal(signal.SIGINT)
    assert re.fullmatch(r"Your page: http://127\.0\.0\.1:\d+/\?secret=\S+ \(Ctrl-C stops it\)\n", said)


def test_waiting_is_quiet_and_ends(labs, monkeypatch):
    """Three hours of it, on a clock of the test's own: now and then one message, which asks for the mix."""
    assert labs
    x, y = cboc.join(storage="x.db"), cboc.join(storage="y.db")
    x.tell(x.ask(), 1.0)
    y.tell(y.ask(), 1.0)
    now, pauses = [0.0], []

    def sleep(seconds):
        pauses.append(seconds)
        now[0] += seconds
        if now[0] > 3 * 3600.0 and y.turns == 0:
            y.propose()

    monkeypatch.setattr(lab, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    before = len(SiteFile("x.db").sent())
    said = call("ask", "--wait")
    assert said.count("It waits for y") == 1
    sent = Counter(f"{message.method} {message.path}" for message in SiteFile("x.db").sent()[before:])
    once = {"GET /v2/news": 1, "PUT /v2/turns/0/proposal": 1}
    assert sent == once | {"GET /v2/turns/0/mix": len(pauses) + 1} and len(pauses) < 300
    assert pauses[0] == 0.1 and max(pauses) == 300.0 and pauses == sorted(pauses)
    assert cboc.join(storage="x.db").trials[1].status == "pending"


def _waiting_ends_after_one_question(monkeypatch):
    def sleep(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(lab, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=sleep))
    call("ask", "--wait", code=130)


QUESTIONS = {
    "ask": lambda _: call("ask", code=3),
    "ask --wait": _waiting_ends_after_one_question,
    "page": lambda _: Session("x.db").ask(at_once=True),
}


@pytest.mark.parametrize("how", QUESTIONS)
def test_a_question_while_others_are_awaited_is_one_message(labs, monkeypatch, how):
    """It asks for the mix; the proposal was handed in by the first, and is not sent again."""
    assert labs
    call("ask")
    call("tell", "0.5")
    call("ask", code=3)
    before = SiteFile("x.db").sent_count()
    for _ in range(2):
        QUESTIONS[how](monkeypatch)
    with closing(sqlite3.connect("x.db")) as connection:
        sent = connection.execute("SELECT method, path, body FROM sent ORDER BY id").fetchall()
    assert sent[before - 2][:2] == ("PUT", "/v2/turns/0/proposal")
    assert sent[before - 1 :] == 3 * [("GET", "/v2/turns/0/mix", b"")]


def test_a_strategy_that_was_given_in_python_is_missed_aloud(labs):
    """It is code, and not in the file: the command line thinks with the default one, and says so once."""
    assert labs
    note = "The strategy given in Python is not in x.db; this command uses the default one instead."
    assert note not in call("ask")
    own = Policy(Bayesian(), initial=1)
    drawn = cboc.join(storage="x.db", policy=own).policy.seed
    assert cboc.join(storage="x.db", policy=own).policy == replace(own, seed=drawn)
    assert call("ask").count(note) == 1 and call("status") == ""
    assert cboc.join(storage="x.db").policy == Policy(initial=1, seed=drawn)
    cboc.join(storage="x.db", policy=Policy(initial=1))
    assert note not in call("ask")


def test_waiting_goes_on_where_another_file_has_proposed(labs, monkeypatch):
    url, door = labs
    x, y = cboc.join(storage="x.db"), cboc.join(storage="y.db")
    x.tell(x.ask(), 1.0)
    y.tell(y.ask(), 1.0)
    x.propose()
    door.revoke("buffer study", "x")
    cboc.join(url, door.invite("buffer study", "x"), storage="new.db", direction="maximise", policy=Policy(initial=0))
    steps = iter([lambda: y.tell(y.ask(), 1.0), y.propose])
    monkeypatch.setattr(lab, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda _: next(steps)()))
    said = call("ask", "--wait", "--file", "new.db")
    assert "round 0 is open, and 'x' has proposed for it already." in said
    assert cboc.join(storage="new.db").trials[0].turn.number == 1


def test_pauses_grow_and_have_a_bound():
    assert [pause(waited, 300.0) for waited in (0.0, 40.0, 100.0, 6000.0, 1e6)] == [2.0, 2.0, 5.0, 300.0, 300.0]


def test_the_page_says_that_another_file_has_proposed_as_long_as_it_waits(labs):
    url, door = labs
    x = cboc.join(storage="x.db")
    x.tell(x.ask(), 1.0)
    x.propose()
    cboc.join(url, door.invite("buffer study", "x"), storage="new.db", direction="maximise", policy=Policy(initial=0))
    bench = Session("new.db")
    for _ in range(3):
        bench.ask(at_once=True)
        assert "is open, and 'x' has proposed for it already" in bench.news(bench.open()).sentence
    assert create_page("new.db") is not None


def test_messages_are_counted_without_being_read(labs):
    assert labs
    file = SiteFile("x.db")
    assert file.sent_count() == len(file.sent()) > 0


def test_the_warning_comes_before_the_secrets(tmp_path, monkeypatch):
    """On an address of this machine that is not the loopback's name."""
    monkeypatch.chdir(tmp_path)
    said = []
    monkeypatch.setattr(lab.notes, "print", lambda text, **_: said.append(text))
    monkeypatch.setattr(Client, "_request", lambda *_: said.append("sent"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    CliRunner().invoke(app, ["join", f"http://127.0.0.2:{port}", "code", "--direction", "maximise"])
    assert "is not HTTPS" in said[0] and said[1] == "sent"
    said.clear()
    CliRunner().invoke(app, ["join", f"http://127.0.0.1:{port}", "code", "--direction", "maximise", "--file", "b.db"])
    assert said[0] == "sent"


def test_while_the_coordinator_is_down_ask_says_so_at_once(labs, monkeypatch):
    assert labs
    SiteFile("x.db").remember(url="http://127.0.0.1:1")
    call("ask")
    call("tell", "0.5")
    monkeypatch.setattr(lab, "LONG", 1.0)
    said = call("ask").splitlines()
    assert said[0].startswith("No answer from the coordinator (") and said[0].endswith("; trying again.")
    assert "Your own proposal: the others could not be reached." in said[-1]
