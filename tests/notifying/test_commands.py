"""`cboc notify`, and the commands that tell people: ask --wait, work."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cboc
from cboc import Policy, Study
from cboc.cli.app import app
from cboc.coordinator.app import create_app
from cboc.coordinator.database import open_database
from cboc.coordinator.schema import upgrade
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.notifying.settings import Settings, Webhook, keep, settings_in
from cboc.storage.sitefile import SiteFile

from ..machine.served import served
from ..machine.smtp import mail_server
from .conftest import PLANTED
from .test_sending import hook

WAITING = Study({"pH": (2.0, 9.0)}, ("x", "y"), 3, name="waiting", pace="rounds")
SCREEN = """#!/bin/sh
printf '%s\\n' "$@" > "$SHOWN"
"""


def call(*words, code=0, given=None):
    result = CliRunner().invoke(app, [str(word) for word in words], input=given)
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


@pytest.fixture
def here(path, monkeypatch):
    """The folder of a site, whose file the commands take by themselves."""
    monkeypatch.chdir(path.parent)
    monkeypatch.setenv("CBOC_SITE", "x.db")
    return path


def told(server):
    return [json.loads(body)["text"] for _, _, body in server.got]


def test_mail_and_webhook_are_set_shown_tested_and_removed(here, certificate):
    assert "Nobody is notified; cboc notify mail and cboc notify webhook change that." in call("notify")
    assert "nobody is notified" in call("notify", "test", code=2)
    with mail_server(certificate) as post, hook() as server:
        given = ("--user", "anna", "--certificate", certificate[0], "--encryption", "starttls")
        call("notify", "mail", "anna@lab.org", "--server", f"127.0.0.1:{post.port}", *given, given="right\n")
        url = f"http://127.0.0.1:{server.server_port}/hush"
        said = call("notify", "webhook", given=f"{url}\n")
        assert "Without HTTPS anybody on the way can read the sentences." in said and "hush" not in said
        said = call("notify") + call("notify", "--format", "json")
        assert "mailto:anna@lab.org" in said and f"127.0.0.1:{post.port}" in said and "stay here" in said
        assert "right" not in said and "hush" not in said
        said = call("notify", "test")
        assert said.count("the server has taken it") == 2
        assert len(post.mails) == 1 and "This is a test" in told(server)[0] and server.got[0][0] == "/hush"
    said = call("notify", "test", code=1)
    assert said.count("BAD") == 2 and "Connection refused" in said
    call("notify", "off", "mail")
    assert [channel.address for channel in settings_in(SiteFile(here)).channels] == [url.removesuffix("/hush")]
    call("notify", "off")
    assert settings_in(SiteFile(here)).channels == [] and b"right" not in here.read_bytes()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("mail", "anna", "--server", "h"), "looks like anna@lab.org"),
        (("mail", "a@b", "--server", "h:x y"), "a mail server looks like smtp.lab.org:587"),
        (("mail", "a@b", "--server", "h", "--encryption", "some"), "--encryption is one of starttls, tls, none"),
        (("mail", "a@b", "--server", "h", "--encryption", "none", "--user", "u"), "not sent without encryption"),
        (("webhook",), "the address of a webhook looks like"),
        (("off", "pigeon"), "go by mail or webhook; 'pigeon' is neither"),
    ],
)
def test_mistakes_get_one_sentence_and_change_nothing(here, words, complaint):
    assert complaint in call("notify", *words, code=2, given="secret\n")
    assert "notify" not in SiteFile(here).about


@pytest.mark.parametrize(
    ("server", "encryption", "found"),
    [
        ("smtp.lab.org", None, ("smtp.lab.org", 587, "starttls")),
        ("smtp.lab.org:465", None, ("smtp.lab.org", 465, "tls")),
        ("smtp.lab.org:2525", None, ("smtp.lab.org", 2525, "starttls")),
        ("smtp.lab.org", "tls", ("smtp.lab.org", 465, "tls")),
        ("[::1]:25", "none", ("::1", 25, "none")),
    ],
)
def test_the_port_says_how_a_server_is_reached_and_the_other_way_round(here, server, encryption, found):
    call("notify", "mail", "a@b.org", "--server", server, *(["--encryption", encryption] if encryption else []))
    mail = settings_in(SiteFile(here)).mail
    assert (mail.server, mail.port, str(mail.encryption)) == found and mail.sender == "a@b.org"


def test_a_password_is_in_no_command_line(here):
    """While the command runs, everybody on the computer can read its arguments."""
    command = [sys.executable, "-m", "cboc", "notify", "mail", "a@b.org", "--server", "h", "--user", "anna"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seen = ""
    if Path("/proc").is_dir():
        time.sleep(0.2)
        seen = Path(f"/proc/{process.pid}/cmdline").read_text()
    _, said = process.communicate("hush\n", timeout=60)
    assert process.returncode == 0 and "hush" not in seen + said
    assert settings_in(SiteFile(here)).mail.password == "hush"


def test_the_audit_lists_notifications_and_looks_for_outcomes_in_them(here):
    with hook() as server:
        keep(SiteFile(here), Settings(webhook=Webhook(f"http://127.0.0.1:{server.server_port}/hush")))
        call("ask", "--wait")
        call("ask", "--wait")  # nothing new
        assert len(told(server)) == 1
    said = call("audit", "--format", "json")
    assert "NOTIFY" in said and "/webhook/run" in said and "trial 1 is ready to run" in said and "hush" not in said
    assert "none of them has left" in said
    SiteFile(here).record("mailto:a@b", "NOTIFY", "/mail/run", f"It was {PLANTED}.".encode())
    assert f"1 of them is among the numbers that left: [{PLANTED}]" in call("audit")


@pytest.fixture
def coordinator(tmp_path, monkeypatch):
    """Two sites in rounds; commands are about x, which has proposed and waits for y."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CBOC_SITE", "x.db")
    engine = open_database("sqlite:///coordinator.db")
    upgrade(engine)
    Transactions(engine).create(WAITING)
    with served(create_app(engine)) as url:
        for name in WAITING.sites:
            code = Tokens(engine).invite("waiting", name)
            cboc.join(url, code, storage=f"{name}.db", direction="maximise", policy=Policy(initial=0, seed=1))
        yield engine
    engine.dispose()


def test_who_waits_is_told_when_there_is_something_to_run(coordinator, monkeypatch):
    assert coordinator
    Path("bin").mkdir()
    Path("bin/notify-send").write_text(SCREEN)
    Path("bin/notify-send").chmod(0o755)
    monkeypatch.setenv("PATH", f"{Path('bin').absolute()}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SHOWN", str(Path("shown").absolute()))
    with hook() as server:
        keep(SiteFile("x.db"), Settings(webhook=Webhook(f"http://127.0.0.1:{server.server_port}")))
        assert "--notify is for --wait" in call("ask", "--notify", code=2)
        call("ask", code=3)
        other = threading.Timer(1.0, lambda: cboc.join(storage="y.db").propose())
        other.start()
        said = call("ask", "--wait", "--notify")
        other.join()
        assert "It waits for y" in said and told(server) == [
            "Site 'x' in study 'waiting': trial 0 is ready to run. Look at it with cboc status --file x.db, or on the "
            "site's page (cboc site --file x.db)."
        ]
    shown = Path("shown").read_text().splitlines()
    assert shown[:3] == ["--app-name=cboc", "--", "cboc: trial 0 to run (x)"] and "trial 0 is ready to run" in shown[3]


def test_who_waits_is_told_that_the_study_has_changed(coordinator):
    call("ask", code=3)
    cboc.join(storage="y.db").propose()
    site = cboc.join(storage="x.db")
    site.tell(site.ask(), PLANTED)
    Transactions(coordinator).amend(Study({"pH": (2.0, 9.0)}, ("x", "y"), 9, name="waiting", pace="rounds"))
    with hook() as server:
        keep(SiteFile("x.db"), Settings(webhook=Webhook(f"http://127.0.0.1:{server.server_port}")))
        for _ in range(2):
            assert "has changed" in call("ask", "--wait", code=2)
        assert len(told(server)) == 1 and "somebody accepts that" in told(server)[0]


def test_where_a_system_has_nothing_to_show_it_says_so(coordinator, monkeypatch):
    assert coordinator
    cboc.join(storage="y.db").propose()
    monkeypatch.setenv("PATH", str(Path("nothing").absolute()))
    said = call("ask", "--wait", "--notify")
    assert "No notification on the screen: this system has no command that shows notifications" in said
    assert "Trial 0, experiment 1 of 3" in said


def test_a_screen_that_fails_is_said(monkeypatch, coordinator):
    assert coordinator
    cboc.join(storage="y.db").propose()
    Path("bin").mkdir()
    shutil.copy(shutil.which("false"), "bin/notify-send")
    monkeypatch.setenv("PATH", str(Path("bin").absolute()))
    assert "notify-send has failed, with code 1" in call("ask", "--wait", "--notify")


@pytest.mark.parametrize(("program", "event"), [("echo {pH}", "done"), ("echo {pH}; exit 3", "stopped")])
def test_a_program_that_is_done_or_has_stopped_is_told(tmp_path, monkeypatch, program, event):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CBOC_SITE", "x.db")
    Path("study.toml").write_text(
        '[study]\nname = "s"\nhorizon = 2\n[space]\npH = {low = 2, high = 9}\n[[site]]\nname = "x"\n'
        f'[site.program]\ncommand = ["sh", "-c", "{program}"]\ntimeout = "none"\n'
    )
    call("join", "stick:", "--site", "x", "--study", "study.toml", "--direction", "max")
    with hook() as server:
        keep(SiteFile("x.db"), Settings(webhook=Webhook(f"http://127.0.0.1:{server.server_port}")))
        call("work", "study.toml", code=0 if event == "done" else 2)
        (text,) = told(server)
    words = {"done": "All experiments that were to be run are done", "stopped": "The first experiments all failed"}
    assert words[event] in text and "code" not in text
    outcomes = [repr(trial.y)[:6] for trial in SiteFile("x.db").trials() if trial.y is not None]
    assert not any(y in text for y in outcomes)
