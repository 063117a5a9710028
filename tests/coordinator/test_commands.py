"""The command line, from `serve` to `best`: a coordinator process, and sites that know no Python."""

import csv
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from typer.testing import CliRunner

from cboc.cli.app import app
from cboc.cli.coordinator import opened
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.studyfile import read_terms

from ..machine.ports import free_port

STUDY = """
[study]
name = "buffer study"
horizon = 2
initial = 2
deadline = "36 h"
pace = "rounds"
[space]
pH = {low = 2, high = 9}
solvent = {options = ["water", "ethanol"]}
[[site]]
name = "lab-a"
[[site]]
name = "lab-b"
"""


class Bench:
    """Commands in a folder of their own."""

    def __init__(self, folder):
        self.folder = folder
        self.database = f"sqlite:///{folder / 'coordinator.db'}"
        (folder / "study.toml").write_text(STUDY)

    def __call__(self, *command, code=0, **environment):
        result = CliRunner().invoke(app, [str(part) for part in command], env=environment or None)
        assert result.exit_code == code, result.output
        return result

    def at(self, site, *command, code=0):
        return self(*command, "--file", self.folder / f"{site}.db", code=code)


@pytest.fixture
def bench(tmp_path, monkeypatch):
    bench = Bench(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CBOC_DATABASE", bench.database)
    return bench


def answers(address):
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, ConnectionError):
        return False


@pytest.fixture
def coordinator(bench):
    """`cboc serve` as a process of its own; ended by Ctrl-C, which is not an error."""
    port = free_port()
    command = [sys.executable, "-m", "cboc", "serve", "study.toml", "--port", str(port)]
    with subprocess.Popen(command, cwd=bench.folder, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(600):
            if answers(f"http://127.0.0.1:{port}/healthz") or process.poll() is not None:
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait(20) == 0, said
    assert "Study 'buffer study' begins with lab-a, lab-b" in said
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert {"GET /healthz 200", "POST /v2/join 200"} <= {
        f"{line.get('method')} {line.get('address')} {line.get('status')}" for line in lines
    }


def invitations(bench):
    rows = csv.DictReader(io.StringIO(bench("invite", "--format", "csv").stdout))
    return {row["site"]: row["code"] for row in rows}


def filled_in(sheet, y, status=""):
    """What a person makes of a sheet."""
    rows = list(csv.DictReader(io.StringIO(sheet)))
    for row in rows:
        row["y"], row["status"] = y(row), status
    file = io.StringIO()
    writer = csv.DictWriter(file, rows[0], delimiter=";", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: value.replace(".", ",") for name, value in row.items()} for row in rows)
    return file.getvalue()


def bowl(row):
    return repr((float(row["pH"]) - 5.0) ** 2 + (row["solvent"] == "ethanol"))


def test_a_study_by_two_people_and_a_shell(bench, coordinator):
    for site, code in invitations(bench).items():
        joined = bench.at(site, "join", coordinator, code, "--direction", "minimise", "--initial", "2")
        assert "solvent" in joined.stdout and f"as '{site}'" in joined.stderr
    audit = bench.at("lab-a", "audit")
    assert '{"code": "***", "token": "***"}' in audit.stdout and "0 different outcomes" in audit.stderr
    assert "all sites of 'buffer study' have joined" in bench("invite", code=2).stderr
    is_over = dict.fromkeys(("lab-a", "lab-b"), False)
    for _ in range(30):
        for site in is_over:
            sheet = bench.folder / f"{site}.csv"
            result = CliRunner().invoke(
                app, ["ask", "--format", "csv", "--output", str(sheet), "--file", str(bench.folder / f"{site}.db")]
            )
            if result.exit_code == 0:
                sheet.write_text(filled_in(sheet.read_text(), bowl))
                told = bench.at(site, "tell", sheet)
                assert "1 line of" in told.stderr and "best so far" in told.stderr
                bench.at(site, "tell", sheet)  # once more is fine
            elif result.exit_code == 3:
                assert "It waits for lab-" in result.stderr and "at the latest" in result.stderr
            else:
                assert result.exit_code == 4, result.output
                is_over[site] = True
        if all(is_over.values()):
            break
    assert all(is_over.values())
    best = next(csv.DictReader(io.StringIO(bench("best", bench.folder / "lab-a.db", "--format", "csv").stdout)))
    assert best["site"] == "lab-a" and float(best["y"]) < 10.0
    status = {row["what"]: row["is"] for row in json.loads(bench.at("lab-a", "status", "--format", "json").stdout)}
    assert status["budget used"].startswith("2 of 2") and status["experiments"] == 4 and "over" in status["to be run"]
    audit = bench.at("lab-a", "audit")
    assert '{"code": "***", "token": "***"}' in audit.stdout and "none of them has left" in audit.stderr
    assert "BAD" not in bench.at("lab-b", "doctor").stdout
    assert "lab-b: " in bench("advise", bench.folder / "lab-b.db").stdout
    with urllib.request.urlopen(f"{coordinator}/metrics") as page:
        text = page.read().decode()
    assert "cboc_rounds_closed 2.0" in text and 'address="/v2/turns/{turn}/mix"' in text and "lab-a" not in text


def test_results_by_hand(bench, coordinator):
    code = invitations(bench)["lab-a"]
    bench.at("lab-a", "join", coordinator, code, "--direction", "maximise", "--initial", "4", "--study", "study.toml")
    assert "no experiment waits" in bench.at("lab-a", "tell", "1", code=2).stderr
    shown = bench.at("lab-a", "ask")
    assert "Trial 0" in shown.stdout and "Initial design" in shown.stderr
    assert shown.stdout == bench.at("lab-a", "ask").stdout
    bench.at("lab-a", "tell", "0,25", "--sem", "0.01", "--ran", "pH=5.5")
    bench.at("lab-a", "ask")
    bench.at("lab-a", "fail", "--reason", "it clogged")
    bench.at("lab-a", "tell", "0.5", "--trial", "1")  # a repeat went well
    bench.at("lab-a", "ask")
    bench.at("lab-a", "abandon")
    best = json.loads(bench("best", "--format", "json", CBOC_SITE=str(bench.folder / "lab-a.db")).stdout)
    assert best[0]["y"] == 0.5
    bench.at("lab-a", "tell", "0.25", "--trial", "9", code=2)
    bench.at("lab-a", "tell", "nan", "--trial", "0", code=2)
    bench.at("lab-a", "tell", "much", code=2)
    bench.at("lab-a", "tell", "1_000", "--trial", "0", code=2)
    assert "may mean thousands or decimals" in bench.at("lab-a", "tell", "1,000", "--trial", "0", code=2).stderr
    correction = "correct it, use cboc tell -0.5 --trial 1 --again"
    assert correction in bench.at("lab-a", "tell", "-0.5", "--trial", "1", code=2).stderr
    assert "Trial 1: -0.5" in bench.at("lab-a", "tell", "-0.5", "--trial", "1", "--again").stderr
    assert json.loads(bench("best", bench.folder / "lab-a.db", "--format", "json").stdout)[0]["y"] == 0.25
    assert (
        "with a name of pH, solvent" in bench.at("lab-a", "tell", "1", "--ran", "PH=3", "--trial", "1", code=2).stderr
    )
    assert "--ran pH=acid" in bench.at("lab-a", "tell", "1", "--ran", "pH=acid", "--trial", "1", code=2).stderr
    bench("revoke", "lab-a")
    assert "BAD  token" in bench.at("lab-a", "doctor", code=1).stdout
    again = bench("invite", "lab-a", "--format", "json")
    bench.at("lab-a", "join", coordinator, json.loads(again.stdout)[0]["code"])
    assert "BAD" not in bench.at("lab-a", "doctor").stdout
    bench("revoke", "lab-a", "--for-good")
    nonsense = bench.at("lab-b", "join", coordinator, "nonsense", "--direction", "maximise", code=2)
    assert "this invitation is unknown or too old" in nonsense.stderr


def test_a_sheet_with_a_mistake_says_where(bench, coordinator):
    bench.at("lab-a", "join", coordinator, invitations(bench)["lab-a"], "--direction", "maximise", "--initial", "3")
    good = bench.at("lab-a", "ask", "--format", "csv").stdout
    sheet = bench.folder / "sheet.csv"
    for wrong, sentence in {
        good.replace("\n0,", "\nzero,", 1).replace(
            ",,,", ",1,,"
        ): "line 2, column trial: expected the number of a trial",
        good.replace(",,,", ",much,,"): "line 2, column y: expected a number",
        good.replace(",,,", ",1,,broken"): "unknown status 'broken'",
        good.replace(",,,", ",1,,failed"): "'failed' does not go with the outcome '1'",
        good.replace("\n0,", "\n7,", 1).replace(",,,", ",1,,"): "has no trial 7",
        good.replace("pH", "Ph").replace(",,,", ",1,,"): "column 'pH' is missing",
    }.items():
        sheet.write_text(wrong)
        assert sentence in bench.at("lab-a", "tell", sheet, code=2).stderr
    sheet.write_text(good)
    assert "Nothing was told" in bench.at("lab-a", "tell", sheet).stderr  # nothing is filled in yet
    sheet.write_text(good.replace(",,,", ",,,failed"))
    bench.at("lab-a", "tell", sheet)


def test_mistakes_of_an_operator_get_one_sentence(bench):
    assert "there is no database" in bench("invite", code=2).stderr
    assert "there is no file nothing.toml" in bench("serve", "nothing.toml", code=2).stderr
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert f"cannot listen on 127.0.0.1:{port}" in bench("serve", "study.toml", "--port", port, code=2).stderr
    with opened(bench.database, is_made=True) as engine:
        Transactions(engine).create(read_terms(bench.folder / "study.toml").study)
        Tokens(engine).join(Tokens(engine).invite("buffer study", "lab-a"), 43 * "a")
    (bench.folder / "study.toml").write_text(STUDY.replace("high = 9", "high = 10"))
    refused = bench("serve", "study.toml", "--port", port, code=2).stderr
    assert "has begun with other terms: parameter 'pH', high is 10 here and 9 there" in refused
    assert "--workers above 1" in bench("serve", "--workers", "2", code=2).stderr
    assert "a certificate needs its key" in bench("serve", "--certificate", "a.pem", code=2).stderr
    missing = bench("serve", "--certificate", "a.pem", "--key", "a.key", code=2).stderr
    assert "are not a certificate and its key" in missing
    assert "there is no site 'lab-z'" in bench("invite", "lab-z", code=2).stderr
    assert "there is no site 'lab-z'" in bench("revoke", "lab-z", code=2).stderr
    assert "there is no study 'other'" in bench("invite", "--study", "other", code=2).stderr
    assert "is neither" in bench("invite", "--database", "mysql://x", code=2).stderr
    assert "deadline is a time" in _with_deadline(bench, '"soon"')
    assert "deadline is a time" in _with_deadline(bench, "-1")


def _with_deadline(bench, deadline):
    (bench.folder / "late.toml").write_text(STUDY.replace('"36 h"', deadline))
    return bench("serve", "late.toml", code=2).stderr


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_who_is_stopped_leaves_one_file_and_lines_of_json(bench, by):
    port = free_port()
    command = [sys.executable, "-m", "cboc", "serve", "study.toml", "--port", str(port)]
    with subprocess.Popen(command, cwd=bench.folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            while not answers(f"http://127.0.0.1:{port}/healthz") and process.poll() is None:
                time.sleep(0.05)
            form = {"Content-Type": "multipart/form-data; boundary=abc", "Origin": f"http://127.0.0.1:{port}"}
            with pytest.raises(urllib.error.HTTPError):
                urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/login", b"--nonsense", form))
            assert (bench.folder / "coordinator.db-wal").exists()
        finally:
            process.send_signal(by)
            said = process.stderr.read()
    assert not list(bench.folder.glob("coordinator.db-*"))
    events = [json.loads(line)["event"] for line in said.partition("Ctrl-C stops it.\n")[2].splitlines()]
    assert "message" in events and any("boundary" in event for event in events)


@pytest.mark.parametrize(
    "host",
    ["", "bad host", "http://cboc.example.org", "cboc.example.org:8000", "192.168.1.1/24", "192.168.1", "a..b", "-a",
     f"{'a' * 64}.org", ".".join(130 * ["a"]), "bücher.example", "*.example.org"],
)  # fmt: skip
def test_a_certificate_is_for_a_host(bench, host):
    said = bench("certificate", "--out", "own.pem", "--", "cboc.example.org", host, code=2).stderr
    assert "a host is a name such as cboc.example.org or an address" in said
    assert not list(bench.folder.glob("own.*"))


def test_a_certificate_does_not_overwrite_its_key(bench):
    assert "c.key cannot be both" in bench("certificate", "localhost", "--out", "c.key", code=2).stderr
    assert not (bench.folder / "c.key").exists()
    bench("certificate", "cboc-1.example.org", "localhost", "192.168.1.7", "::1")


def test_over_https_with_a_certificate_of_its_own(bench):
    bench("certificate", "127.0.0.1", "localhost", "--out", "own.pem")
    assert os.stat("own.key").st_mode & 0o777 == 0o600
    assert "exists already" in bench("certificate", "127.0.0.1", "--out", "own.pem", code=2).stderr
    port = free_port()
    command = [sys.executable, "-m", "cboc", "serve", "study.toml", "--port", str(port)]
    with subprocess.Popen(
        [*command, "--certificate", "own.pem", "--key", "own.key"], stderr=subprocess.PIPE
    ) as process:
        try:
            url = f"https://127.0.0.1:{port}"
            for _ in range(600):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0 or process.poll() is not None:
                        break
                time.sleep(0.05)
            code = invitations(bench)["lab-a"]
            stranger = bench.at("other", "join", url, code, "--direction", "maximise", code=2).stderr
            assert "certificate" in stranger.lower()
            bench.at("lab-a", "join", url, code, "--direction", "maximise", "--certificate", "own.pem")
            assert "BAD" not in bench.at("lab-a", "doctor").stdout
        finally:
            process.send_signal(signal.SIGINT)
            process.stderr.read()
