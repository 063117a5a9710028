"""`cboc demo-service --keep`: the dashboard stays up after the study, and nothing is left when it is stopped."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest

END = 30.0  # seconds for processes to end
NEEDS_PROC = pytest.mark.skipif(not os.path.exists("/proc"), reason="needs a list of processes")


@pytest.fixture
def start(tmp_path):
    """`start(words)`: a rehearsal that has said these words; the process, and all that it has said."""
    started = []

    def rehearsal(words):
        log = tmp_path / "said"
        command = [sys.executable, "-m", "cboc", "demo-service", "--out", str(tmp_path / "service"), "--keep"]
        with log.open("w") as file:
            look = {"stdout": file, "stderr": file, "stdin": subprocess.DEVNULL}
            process = subprocess.Popen([*command, "--experiments", "1"], **look)
        started.append(process)
        while words not in log.read_text():
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        return process, log.read_text()

    yield rehearsal
    for process in started:
        process.kill()
        process.wait()


def ours(folder):
    """The processes that were started with files of this folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in place.read_bytes():
                found.append(int(place.parent.name))
        except OSError:  # it has just ended
            continue
    return found


def wait_until_nothing_is_left(folder):
    end = time.monotonic() + END
    while (left := ours(folder)) and time.monotonic() < end:
        time.sleep(0.1)
    assert left == []


@NEEDS_PROC
def test_it_stays_until_ctrl_c_and_leaves_nothing_behind(start, tmp_path):
    process, said = start("They stay until Ctrl-C.")
    assert re.search(r"lab-c +6 ", said), "the study is over"
    dashboard, password = re.findall(r"Dashboard: (\S+)  \(log in as guest, password (\S+)\)", said)[-1]
    with httpx2.Client(base_url=dashboard, follow_redirects=True) as visitor:
        form = {"person": "guest", "password": password}
        assert "rehearsal" in visitor.post("/login", data=form, headers={"Origin": dashboard}).text
    (page,) = re.findall(r"Page of lab-a: (\S+)", said)
    assert "What was learned" in httpx2.get(page, follow_redirects=True).text
    assert len(ours(tmp_path)) == 3, "the rehearsal, its coordinator and a page"
    process.send_signal(signal.SIGINT)
    assert process.wait(END) == 0
    wait_until_nothing_is_left(tmp_path)


@NEEDS_PROC
def test_a_kill_in_the_middle_leaves_nothing_behind(start, tmp_path):
    process, _ = start("Dashboard:")
    while len(ours(tmp_path)) < 5:  # itself, the coordinator, three sites
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    wait_until_nothing_is_left(tmp_path)
