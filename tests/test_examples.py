"""Every example runs as a script, and a number that it prints is true."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
CLAIMS = {
    "01_two_labs.py": lambda yield_: 89.9 < yield_ <= 90.0,  # 90 % is the best there is
    "02_simulate.py": lambda gap: 0.8 < gap <= 1.0,
    "03_your_own_rule.py": lambda best: 0.397887 <= best < 0.45,  # the optimum, and close to it
    "04_several_objectives.py": lambda factor: 1.2 < factor < 10.0,
    "05_limits.py": lambda best: 51.5 < best <= 52.14,  # the best that keeps to the limit
}


def test_every_example_is_tested_and_short():
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == sorted(CLAIMS)
    assert all(len(path.read_text().splitlines()) < 50 for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", CLAIMS)
def test_the_last_number_that_an_example_prints_is_true(name):
    command = [sys.executable, "-W", "error", str(EXAMPLES / name)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert result.returncode == 0, result.stderr
    assert CLAIMS[name](float(result.stdout.split()[-1])), result.stdout
