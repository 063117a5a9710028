"""`cboc site --open` as people run it: a program, a browser that it starts, and everybody else on the computer."""

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

from ..machine.needed import leave_out

LONGEST = 90.0  # seconds for a browser on a busy machine


class Onlooker:
    """Another user of the computer, who reads all command lines all the time."""

    def __init__(self):
        self.seen, self._is_over = set(), threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        self._thread.join()

    def _look(self):
        while not self._is_over.is_set():
            for place in Path("/proc").glob("[0-9]*/cmdline"):
                with suppress(OSError):
                    self.seen.add(place.read_bytes())
            time.sleep(0.01)


def until(found):
    begun = time.monotonic()
    while not (value := found()):
        assert time.monotonic() - begun < LONGEST, "it took too long"
        time.sleep(0.05)
    return value


@pytest.fixture
def start(tmp_path):
    """`start(file, browser)`: the program, with this command as its browser."""
    running = []

    def one(file, browser):
        program = tmp_path / "browser"
        program.write_text(f"#!/bin/sh\n{browser}\n")
        program.chmod(0o755)
        command = [sys.executable, "-m", "cboc", "site", "--file", str(file), "--open"]
        running.append(
            subprocess.Popen(
                command, stdout=subprocess.PIPE, text=True, env=os.environ | {"BROWSER": f"{program} %s &"}
            )
        )
        return running[-1]

    yield one
    for process in running:
        process.send_signal(signal.SIGINT)
        process.wait(30)
        process.stdout.close()


def address_of(process):
    return re.search(r"(http://127\.0\.0\.1:\d+)/\?secret=(\S+) ", process.stdout.readline()).groups()


def test_a_browser_is_opened_and_no_command_line_has_a_secret(laboratories, tmp_path, start):
    if shutil.which("chromium") is None:
        leave_out("Chromium is not here: apt-get install chromium")
    file, shown = laboratories().file("lab-a"), tmp_path / "shown.html"
    flags = f"--headless --no-sandbox --disable-gpu --user-data-dir={tmp_path}/profile --virtual-time-budget=20000"
    with Onlooker() as onlooker:
        process = start(
            file, f'sleep 1; chromium {flags} --dump-dom "$1" > {shown}.begun 2> /dev/null; mv {shown}.begun {shown}'
        )
        url, secret = address_of(process)
        leading = until(lambda: next(iter(file.parent.glob("*.html")), None))
        for_once = until(lambda: re.search(r"secret=([\w-]+)", leading.read_text()))[1]
        assert stat.S_IMODE(leading.stat().st_mode) == 0o600 and for_once != secret
        until(shown.exists)
    assert "lab-a" in shown.read_text() and "a study" in shown.read_text()
    assert any(leading.name.encode() in line for line in onlooker.seen), "the browser was started with the file"
    assert not [line for line in onlooker.seen if secret.encode() in line or for_once.encode() in line]
    assert not leading.exists(), "it has led somebody there"
    again = httpx2.get(f"{url}/", params={"secret": for_once})
    assert again.status_code == 403 and "open the address that cboc site printed" in again.text
    assert httpx2.get(f"{url}/", params={"secret": secret}).status_code == 303, "the printed one is good for ever"
    process.send_signal(signal.SIGINT)
    process.wait(30)


def test_a_page_that_no_browser_has_opened_leaves_nothing_behind(laboratories, start):
    file = laboratories().file("lab-a")
    process = start(file, "true")
    address_of(process)
    leading = until(lambda: next(iter(file.parent.glob("*.html")), None))
    process.send_signal(signal.SIGINT)
    process.wait(30)
    assert not leading.exists()


def test_whoever_takes_the_secret_for_a_single_time_takes_it_alone(laboratories, start):
    file = laboratories().file("lab-a")
    process = start(file, "true")
    url, _ = address_of(process)
    leading = until(lambda: next(iter(file.parent.glob("*.html")), None))
    for_once = until(lambda: re.search(r"secret=([\w-]+)", leading.read_text()))[1]
    assert httpx2.head(f"{url}/", params={"secret": for_once}).status_code == 403, "looking ahead uses nothing up"
    assert leading.exists()
    with httpx2.Client(base_url=url) as first, httpx2.Client(base_url=url) as second:
        assert first.get("/", params={"secret": for_once}).status_code == 303
        assert second.get("/", params={"secret": for_once}).status_code == 403
        assert (first.get("/").status_code, second.get("/").status_code) == (200, 403)
    assert not leading.exists()
    process.kill()  # nobody can clean up after that, and nothing is left to clean up
    process.wait(30)
    assert not list(file.parent.glob("*.html"))


def test_nonsense_from_others_on_the_computer_fills_no_terminal(laboratories, tmp_path):
    command = [sys.executable, "-m", "cboc", "site", "--file", str(laboratories().file("lab-a"))]
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True)
        url, _ = address_of(process)
        for _ in range(5):
            with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=20.0) as line:
                line.sendall(b"nonsense\r\n\r\n")
                assert b" 400 " in line.recv(100)
        assert httpx2.get(url).status_code == 403
        process.send_signal(signal.SIGINT)
        process.wait(30)
        process.stdout.close()
    assert (tmp_path / "said").read_text() == ""
