"""`cboc evidence dial`: run, shown, verified; tuning seeds apart from reported ones."""

import json

import pytest
from typer.testing import CliRunner

from cboc.cli.app import app
from cboc.evidence.dial import REPORTED, TUNING

SMALL = ("--dimension", 1, "--r", 0, "--r", 1, "--sites", 2, "--world", "dial", "--workers", 1, "--method", "cboc")


def cboc(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def one_sentence(result):
    assert result.exit_code == 2 and isinstance(result.exception, SystemExit)
    (line,) = result.stderr.strip().splitlines()
    return line


def seeds(out):
    return {json.loads(line)["seed"] for line in (out / "dial.jsonl").read_text().splitlines()}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    out = tmp_path_factory.mktemp("dial") / "o"
    result = cboc("evidence", "dial", "--out", out, *SMALL, "--tuning", "--seeds", 2)
    assert result.exit_code == 0, result.stderr
    return out, result.stdout


def test_a_run_leaves_rows_tables_and_a_picture(ran):
    out, printed = ran
    assert "Area minus alone's: cboc (tuning seeds)" in printed and "comparisons" in printed
    assert len((out / "dial.jsonl").read_text().splitlines()) == 2 * 2 * 2 and (out / "when.png").exists()
    assert "Harmed / helped" in (out / "dial.md").read_text() and not (out / "variants.png").exists()


def test_tuning_seeds_are_others_than_those_that_are_reported(ran, tmp_path):
    assert seeds(ran[0]) == {TUNING, TUNING + 1}
    result = cboc("evidence", "dial", "--out", tmp_path / "o", *SMALL, "--seeds", 1)
    assert result.exit_code == 0 and seeds(tmp_path / "o") == {REPORTED} and "tuning" not in result.stdout


def test_tables_are_shown_again_and_rows_verified(ran):
    out, printed = ran
    (out / "dial.md").unlink()
    shown = cboc("evidence", "show", out)
    assert shown.exit_code == 0 and shown.stdout == printed and (out / "dial.md").exists()
    same = cboc("evidence", "verify", out, "--rows", 3, "--workers", 1)
    assert same.exit_code == 0 and "3 of 3 rows are the same bit for bit" in same.stdout


def test_a_run_goes_on_where_it_was(ran, tmp_path):
    out, _ = ran
    (tmp_path / "o").mkdir()
    (tmp_path / "o/edition.json").write_bytes((out / "edition.json").read_bytes())
    lines = (out / "dial.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "o/dial.jsonl").write_bytes(b"".join(lines[2:]))
    assert cboc("evidence", "dial", "--out", tmp_path / "o", *SMALL, "--tuning", "--seeds", 2).exit_code == 0
    assert (tmp_path / "o/dial.jsonl").read_bytes() == (out / "dial.jsonl").read_bytes()
    assert len((tmp_path / "o/costs.jsonl").read_text().splitlines()) == 2


def test_bad_input_is_one_sentence(tmp_path):
    def dial(*more):
        return one_sentence(cboc("evidence", "dial", "--out", tmp_path / "o", *more))

    assert "did you mean 'groups'?" in dial("--world", "group")
    assert "did you mean 'groups'?" in dial("--world", "group", "--r", 0.5)
    assert "from 0 to 1; this is 2.0" in dial("--r", 2)
    assert "from 1 to 8; this is 9" in dial("--dimension", 9)
    assert "from 2 to 100; this is 1" in dial("--sites", 1)
    assert "did you mean 'cboc-u'?" in dial("--method", "cboc-uu")
    assert "--r turns the dial, and has no effect on groups" in dial("--r", 0.5, "--world", "groups")
    assert "the world 'rotated': the number of parameters of this world is" in dial("--dimension", 1)
    assert not (tmp_path / "o").exists()


def test_any_method_has_its_picture_and_worlds_of_one_kind_differ_in_parameters(tmp_path):
    out = tmp_path / "o"

    def dial(*more):
        some = ("--seeds", 1, "--workers", 1, "--tuning", "--sites", 2, "--out", out)
        result = cboc("evidence", "dial", *some, *more)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    dial("--world", "dial", "--r", 1, "--dimension", 1, "--method", "random")
    assert (out / "when.png").exists()
    assert "2 parameters" in dial("--world", "groups", "--dimension", 1, "--dimension", 2, "--method", "random")
    dial("--world", "shifted", "--dimension", 1, "--method", "individual")  # nothing to compare yet: no panel


def test_who_asks_for_tuning_seeds_beside_reported_ones_is_told_which_are_shown(tmp_path):
    assert cboc("evidence", "dial", "--out", tmp_path / "o", *SMALL, "--seeds", 1).exit_code == 0
    both = cboc("evidence", "dial", "--out", tmp_path / "o", *SMALL, "--seeds", 1, "--tuning")
    assert both.exit_code == 0 and "holds reported seeds, too" in both.stderr


def test_the_help_teaches():
    shown = cboc("evidence", "dial", "--help").stdout
    assert "Example" in shown and "--tuning" in shown and "others-best-first" in shown
