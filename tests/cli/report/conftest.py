"""Results to report on: a short run of a study with hostile names, and accounts of the case study made up."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from cboc.cli.app import app
from cboc.evidence.biosensor.labs import biosensor
from cboc.evidence.casestudy import INITIAL, SETUPS, Account, Attempt, Setup
from cboc.evidence.figures import biosensor as draw
from cboc.evidence.figures.biosensor.landscape import COARSE, PAIRS, Landscape
from cboc.evidence.results import EDITION, libraries
from cboc.runs.run import Run

from ...storage.tampering import reseal_lines

EVIL = "<img src=x onerror=alert(1)>"
STUDY = f"""
[study]
name = "{EVIL}"
horizon = 3
initial = 3
[[site]]
name = "{EVIL}"
direction = "minimise"
problem = "levy-2"
[[site]]
name = "lab & co"
direction = "minimise"
problem = "levy-2"
scale = 2.0
"""


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """The directory of a run."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    _call("simulate", folder / "study.toml", "--out", folder / "run")
    return folder / "run"


@pytest.fixture(scope="session")
def lonely(study, tmp_path_factory):
    """The same run without the seeds of working alone, and with a failure in the second round of the first site."""
    folder = tmp_path_factory.mktemp("lonely")
    (folder / "run.json").write_bytes((study / "run.json").read_bytes())
    history = Run(study).history("together", 0)
    failed = next(trial for trial in history.of(EVIL) if trial.turn and trial.turn.number == 1)
    row = {**failed.to_row(), "status": "failed"}
    row.pop("outcomes")
    told, failure = (json.dumps(each)[:-1] for each in (failed.to_row(), row))  # a checksum follows
    journal = (study / "together-0.jsonl").read_text(encoding="utf-8")
    assert told in journal
    (folder / "together-0.jsonl").write_text(journal.replace(told, failure), encoding="utf-8")
    reseal_lines(folder / "together-0.jsonl")
    return folder


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    """A directory of the case study: two setups, two methods, one seed."""
    folder = tmp_path_factory.mktemp("results")
    lines = [_account(setup, method) for setup in ("paper", "labs") for method in ("individual", "cboc")]
    (folder / "biosensor.jsonl").write_text("".join(lines), encoding="utf-8")
    (folder / "edition.json").write_text(json.dumps({"edition": EDITION, **libraries()}), encoding="utf-8")
    return folder


def _account(setup, method):
    rng = np.random.default_rng(len(method))
    shape = (SETUPS[setup].sites, INITIAL + SETUPS[setup].rounds)
    account = Account(Attempt(setup, method, 0), rng.random((*shape, 3)), 1e-3 + 1e-3 * rng.random(shape))
    return json.dumps(account.to_json()) + "\n"


@pytest.fixture(scope="session")
def study_page(study):
    _call("report", study)
    return study / "report.html"


@pytest.fixture(scope="session")
def wide_page(tmp_path_factory):
    """The report on a run with long names and eight parameters."""
    folder = tmp_path_factory.mktemp("wide")
    name = " ".join(9 * ["long name"])
    sites = "".join(f'[[site]]\nname = "{k} {name}"\ndirection = "minimise"\nproblem = "levy-8"\n' for k in range(4))
    (folder / "study.toml").write_text(f'[study]\nname = "{"wide" * 25}"\nhorizon = 2\ninitial = 3\n{sites}')
    _call("simulate", folder / "study.toml", "--out", folder / "run")
    _call("report", folder / "run")
    return folder / "run" / "report.html"


@pytest.fixture(scope="session")
def results_page(results):
    """On a coarse mesh, the landscape made up."""
    lines = np.linspace(0.0, 1.0, 4)
    ground = Landscape(lines, {pair: np.add.outer(lines, lines) for pair in PAIRS})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Setup, "problems", lambda setup: [biosensor(COARSE)] * setup.sites)
        patch.setattr(draw, "landscape", lambda **_: ground)
        _call("report", results, "--out", results / "pages" / "case.html")
    return results / "pages" / "case.html"


def _call(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
