"""For a busy machine: linear algebra in one thread, as two that wait for each other take minutes, and no deadlines.

And for a run in the background, whose Ctrl-C a shell turns off: what the tests start would ignore it, too.
"""

import os
import signal

import pytest
from hypothesis import settings

from .machine.chromium import browser as browser
from .machine.postgresql import mortal as mortal
from .machine.postgresql import postgres as postgres

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def tally(record_property):
    """`tally("flipped bits in a journal", refused=3, unchanged=1)`: a line at the end says how often what was tried."""

    def note(what, **counts):
        said = ", ".join(f"{many:,} {how.replace('_', ' ')}" for how, many in counts.items())
        record_property("tried", f"{sum(counts.values()):6,} {what}: {said}")

    return note


def pytest_terminal_summary(terminalreporter):
    reports = [report for how in ("passed", "failed") for report in terminalreporter.stats.get(how, [])]
    lines = [line for report in reports for name, line in report.user_properties if name == "tried"]
    if lines:
        terminalreporter.section("tried")
        for line in lines:
            terminalreporter.write_line(line)
