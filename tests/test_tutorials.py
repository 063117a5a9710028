"""Every command of a tutorial is run, in order, in one folder; what it shows is what comes out."""

import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import ExitStack, chdir
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cboc
from cboc.cli.app import app

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATIENCE = 300.0  # seconds


class Terminals:
    """Runs the commands of a page; `cboc serve` and `cboc work` in terminals of their own."""

    def __init__(self, folder, stack):
        self.folder, self.stack = folder, stack
        self.codes, self.workers = {}, []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = str(free.getsockname()[1])

    def __call__(self, command):
        """What it prints."""
        if command.startswith("cd "):
            self.folder /= command.removeprefix("cd ")
            return ""
        command = command.replace("8000", self.port)
        for site, code in self.codes.items():
            command = command.replace(f"CODE-OF-{site.upper()}", code)
        if command.startswith("cboc serve"):
            return self.serve(command)
        if command.startswith("cboc work") and "--most" not in command:
            self.workers.append(self.start(command))
            return ""
        for worker in self.workers if command.startswith("cboc best plant") else []:
            assert worker.wait(PATIENCE) == 0
        return self.here(shlex.split(command)) if command.startswith("cboc") else self.shell(command)

    def here(self, words):
        """A command of ours, without the second that a process of its own would take to start."""
        with chdir(self.folder):
            result = CliRunner().invoke(app, words[1:])
        has_failed = "--most" in words and "the relief valve opens" in result.output  # by the seed, drawn at joining
        assert result.exit_code == 0 or has_failed, result.output
        if words[1] == "invite":
            self.codes = dict(line.split() for line in result.stdout.splitlines()[1:])
        return result.output

    def shell(self, command):
        options = {"cwd": self.folder, "stderr": subprocess.STDOUT, "text": True, "timeout": PATIENCE}
        return subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, check=True, **options).stdout

    def start(self, command):
        words = [sys.executable, "-W", "error", "-m", *shlex.split(command)]
        process = self.stack.enter_context(subprocess.Popen(words, cwd=self.folder, stderr=subprocess.DEVNULL))
        self.stack.callback(process.send_signal, signal.SIGINT)
        return process

    def serve(self, command):
        process, until = self.start(f"{command} --port {self.port}"), time.monotonic() + PATIENCE
        while time.monotonic() < until and process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=5):
                    return ""
            except OSError:
                time.sleep(0.1)
        pytest.fail("the coordinator did not start")


def scenes(block):
    """The commands of a console, each with what it prints."""
    for scene in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = scene.partition("\n")
        yield command, shown


def walk(page, example, folder):
    """Run a page from its top to its end; returns the terminals."""
    text = (ROOT / "docs/tutorials" / page).read_text()
    examples = [path.read_text() for path in (ROOT / "examples" / example).iterdir()]
    shutil.copytree(ROOT / "examples", folder / "examples")
    printed = ""
    with ExitStack() as stack:
        run = Terminals(folder, stack)
        for kind, block in BLOCK.findall(text):
            if kind == "console":
                for command, shown in scenes(block):
                    said = run(command)
                    assert not shown or said == shown, command
            elif kind == "python":
                script = [sys.executable, "-W", "error", "-c", block]
                result = subprocess.run(script, cwd=run.folder, capture_output=True, text=True, timeout=PATIENCE)
                assert result.returncode == 0, result.stderr
                printed = re.sub("failed-[0-9a-f]{8}", "failed-DIGEST", result.stdout)
            elif kind == "text":
                assert printed.startswith(block)
            else:
                assert any(block in text for text in examples), block
    return run


def test_your_own_simulator(tmp_path):
    run = walk("your-own-simulator.md", "reactor", tmp_path)
    assert len(run.workers) == 2
    assert {path.name[:7] for path in (run.folder / "work").iterdir()} == {"failed-"}


def test_a_plate_every_tuesday(tmp_path):
    run = walk("a-plate-every-tuesday.md", "plates", tmp_path)
    site = cboc.join(storage=run.folder / "lab-a.db", patience=0.1)
    plates = [site.trials[first : first + 96] for first in (0, 96, 192, 288)]
    for plate in plates:
        assert len({trial.design(site.space)["temperature"] for trial in plate}) == 1
    assert [len({tuple(trial.x) for trial in plate}) for plate in plates] == [96, 96, 96, 32]
    assert {trial.status for trial in site.trials} == {"complete", "failed"}
