"""`cboc biosensor`: numbers, pictures, and one sentence for a mistake."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from cboc.cli.app import app
from cboc.cli.biosensor import FlowName
from cboc.evidence.biosensor.flow import Flow
from cboc.evidence.biosensor.response import Numerics, respond
from cboc.evidence.biosensor.sensor import Setting
from cboc.evidence.figures.biosensor.landscape import COARSE

QUICK = ("--fineness", "0.5", "--no-movie", "--format", "json")


def call(*arguments):
    return CliRunner().invoke(app, ["biosensor", *map(str, arguments)])


def test_it_prints_what_was_simulated_and_draws_it(tmp_path):
    result = call("--inflow", 0.005, "--pulse", 1, *QUICK, "--out", tmp_path / "new")
    assert result.exit_code == 0, result.output
    numbers = {row["quantity"]: row["value"] for row in json.loads(result.stdout)}
    response = respond(Setting(0.005, 1.8e-8, 60.0), numerics=Numerics(COARSE.fineness))
    assert numbers["largest coverage θ_max"] == pytest.approx(response.peak, rel=1e-3)
    assert numbers["reached after"] == pytest.approx(response.at, rel=1e-3)
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"field.png", "coverage.png"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--inflow", -1), "--inflow is a positive and finite number; got -1."),
        (("--pulse", "nan"), "--pulse is a positive and finite number; got nan."),
        (("--receptors", "inf"), "--receptors is a positive and finite number; got inf."),
        (("--fineness", 9), "a fineness is from 0.1 to 4"),
        (("--fineness", 0.2), "the mesh is too coarse"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path, arguments, words):
    result = call(*arguments, "--no-movie", "--out", tmp_path)
    assert result.exit_code == 2 and words in result.stderr
    assert result.stderr.count("\n") == 1 and result.stdout == ""


def test_the_flows_are_those_of_the_simulator():
    assert [str(flow) for flow in FlowName] == [str(flow) for flow in Flow]


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_without_scikit_fem_the_extra_is_named(tmp_path):
    code = "import sys; sys.modules['skfem'] = None; from cboc.cli.app import main; sys.argv = {}; main()"
    result = run(code.format(["cboc", "biosensor", "--out", str(tmp_path)]))
    assert result.returncode == 2 and "pip install '.[fem]'" in result.stderr and result.stderr.count("\n") == 1


def test_help_loads_neither_elements_nor_pictures():
    code = "import sys, cboc.cli.app; print({'skfem', 'matplotlib'} & set(sys.modules))"
    assert run(code).stdout.strip() == "set()"
