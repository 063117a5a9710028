"""Moving by commands: from a stick to a coordinator that takes over what was exported, and on to a folder."""

import socket
import subprocess
import sys
import time

import pytest

import cboc

from .test_feed import call, run
from .test_feed import labs as labs


@pytest.fixture
def serving(labs):
    """`serving(*words)`: a real coordinator, by its address."""
    processes = []

    def start(*words):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "cboc", "serve", *words, "--port", str(port)]
        process = subprocess.Popen(command, cwd=labs, stderr=subprocess.PIPE, text=True)
        processes.append(process)
        lines = []
        while "Coordinator on" not in (lines[-1] if lines else ""):
            lines.append(process.stderr.readline())
            assert lines[-1], "it has ended"
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return f"http://127.0.0.1:{port}", "".join(lines)
            except ConnectionRefusedError:
                time.sleep(0.05)

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def test_from_a_stick_to_a_coordinator_and_on_to_a_folder(labs, serving):
    for name in ("a", "b"):
        run(name, 5)
        call("feed", "export", f"{name}.cboc", "--file", f"{name}.db")
    said = call("serve", "study.toml", "--feeds", "nothing.cboc", code=2)
    assert "nothing.cboc cannot be read" in said and not (labs / "coordinator.db").exists()
    assert "--feeds is for one study" in call("serve", "--feeds", "a.cboc", code=2)
    url, said = serving("study.toml", "--feeds", "a.cboc", "--feeds", "b.cboc")
    assert "goes on after these turns: lab-a 1, lab-b 1; cboc invite" in " ".join(said.split())
    assert "has entries here already" in call("serve", "study.toml", "--feeds", "a.cboc", "--feeds", "b.cboc", code=2)
    for name in ("a", "b"):
        code = call("invite", f"lab-{name}", "--format", "csv").split(",")[2].split()[0]
        said = call("move", url, code, "--file", f"{name}.db")
        assert f"'lab-{name}' of 'by hand' has moved from stick: to {url}." in said
        run(name, 1)
    assert cboc.join(storage="b.db").trials[-1].answer.weights[0] > 0.0, "lab-a is heard"
    (labs / "shared").mkdir()
    said = call("move", "folder:shared", "--file", "b.db")
    assert f"has moved from {url} to folder:{labs / 'shared'}. Its code is" in said and "not yet lab-a" in said
    assert "1 neighbour there." in call("move", "folder:shared", "--file", "a.db")
    run("a", 1)
    status = call("status", "--file", "a.db")
    assert f"from stick: to {url}" in status and f"from {url} to folder:" in status
    audited = call("audit", "--file", "a.db")
    assert f"The site moved from {url} to folder:" in audited and "none of them has left" in audited
    assert audited.count("APPEND") == 6, (
        "a hello and a turn by stick; a hello, what has moved, and a turn in the folder"
    )
    assert "is at folder:" in call("move", "folder:shared", "--file", "a.db", code=2)
