"""What `pip install .` brings is enough for the command, and for studies in one process."""

import subprocess
import sys

import pytest

EXTRAS = (
    *("matplotlib", "pandas", "torch", "botorch", "optuna", "joblib", "distributed", "dask", "ray", "skfem", "ngsolve"),
    *("httpx2", "cryptography", "fastapi", "starlette", "uvicorn", "jinja2", "multipart", "python_multipart"),
    *("sqlalchemy", "alembic", "psycopg", "argon2", "prometheus_client"),
)
COMMAND = f"""
import sys
sys.modules.update(dict.fromkeys({EXTRAS}))  # each is as if it were not installed
from cboc.cli.app import main
sys.argv = ["cboc", *sys.argv[1:]]
main()
"""


def cboc(folder, *arguments):
    return subprocess.run([sys.executable, "-c", COMMAND, *arguments], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("evidence", "--help"), ("join", "--help")])
def test_the_command_answers(tmp_path, arguments):
    result = cboc(tmp_path, *arguments)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_study_is_written_and_simulated(tmp_path):
    assert cboc(tmp_path, "init").returncode == 0
    result = cboc(tmp_path, "simulate", "study.toml", "--seeds", "1", "--out", "run")
    assert result.returncode == 0, result.stderr
    assert cboc(tmp_path, "best", "run").returncode == 0
    assert "pip install '.[plot]'" in cboc(tmp_path, "plot", "run").stderr


def test_the_demonstration_needs_no_more_than_its_pictures(tmp_path):
    result = cboc(tmp_path, "demo", "--out", "d")
    assert "Traceback" not in result.stderr and "coordinator" not in result.stderr


def test_what_needs_an_extra_names_it(tmp_path):
    result = cboc(tmp_path, "status", "--file", "site.db")
    assert result.returncode == 2 and len(result.stderr.strip().splitlines()) == 1
