"""How near every claim of docs/biosensor.md is met: asserted, and printed as a table at the end of the run.

CBOC_VERIFY=long refines further, and asks another solver, NGSolve: pip install 'cboc[verify]'.
"""

import os

import pytest

from .designs import DESIGNS

collect_ignore = [] if os.environ.get("CBOC_VERIFY") == "long" else ["test_ngsolve.py"]
OFF = "off"


@pytest.fixture
def near(record_property):
    """near(claim, name, off, allowed): is it off by no more than is allowed, relative to what is known?"""

    def check(claim, name, off, allowed):
        record_property(OFF, (claim, name, float(off), allowed))
        assert abs(off) <= allowed

    return check


def pytest_terminal_summary(terminalreporter):
    claims = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for key, value in report.user_properties:
                if key == OFF:
                    claim, name, off, allowed = value
                    claims.setdefault((claim, allowed), {})[name] = f"{100 * off:+.4f} %"
    if claims:
        terminalreporter.section("off by")
        terminalreporter.write_line(" " * 42 + "".join(f"{head:>14}" for head in (*DESIGNS, "allowed")))
    for (claim, allowed), found in claims.items():
        cells = "".join(f"{found.get(name, ''):>14}" for name in DESIGNS)
        terminalreporter.write_line(f"{claim:<42}{cells}{f'{100 * allowed:g} %':>14}")
