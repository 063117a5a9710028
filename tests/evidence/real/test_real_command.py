"""`cboc evidence real` on small tables: run, shown without the data, verified with it."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from cboc.cli.app import app

SMALL = ("--family", "aryl-halide", "--initial", 4, "--workers", 1)


def cboc(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def real(folder, out, *more):
    return cboc("evidence", "real", "--data", folder, "--out", out, *SMALL, *more)


def one_sentence(result):
    assert result.exit_code == 2 and isinstance(result.exception, SystemExit)
    (line,) = result.stderr.strip().splitlines()
    return line


@pytest.fixture(scope="module")
def ran(folder, tmp_path_factory):
    """A directory with results: two seeds of two methods in rounds, of both at the free pace."""
    out = tmp_path_factory.mktemp("real") / "o"
    result = real(folder, out, "--seeds", 2, "--method", "individual", "--method", "cboc")
    assert result.exit_code == 0, result.stderr
    return out, result.stdout


def test_a_run_leaves_rows_tables_and_pictures(ran):
    out, printed = ran
    assert "Area minus alone's, 4 initial designs, in rounds" in printed and "at the free pace" in printed
    assert len((out / "real.jsonl").read_text().splitlines()) == 8
    for name in ("progress-4-rounds", "arrivals-4-rounds", "progress-4-free", "arrivals-4-free"):
        assert (out / f"{name}.png").exists()
    assert "Amination of 8 of 15 aryl halides, 4 initial designs, in rounds" in (out / "real.md").read_text()


def test_a_run_goes_on_where_it_was_and_gives_the_same_bytes(ran, folder, tmp_path):
    out, _ = ran
    (tmp_path / "o").mkdir()
    (tmp_path / "o/edition.json").write_bytes((out / "edition.json").read_bytes())
    lines = (out / "real.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "o/real.jsonl").write_bytes(b"".join(reversed(lines[3:])) + lines[0][:50])  # a kill while writing
    assert real(folder, tmp_path / "o", "--seeds", 2, "--method", "individual", "--method", "cboc").exit_code == 0
    assert (tmp_path / "o/real.jsonl").read_bytes() == (out / "real.jsonl").read_bytes()
    assert len((tmp_path / "o/costs.jsonl").read_text().splitlines()) == 3


def test_tables_are_shown_again_without_the_data(ran):
    out, printed = ran
    (out / "real.md").unlink()
    shown = cboc("evidence", "show", out)
    assert shown.exit_code == 0 and shown.stdout == printed and (out / "real.md").exists()


def test_rows_are_verified_bit_for_bit_with_the_data(ran, folder, tmp_path):
    out, _ = ran
    same = cboc("evidence", "verify", out, "--data", folder, "--rows", 2, "--workers", 1)
    assert same.exit_code == 0 and "2 of 2 rows are the same bit for bit" in same.stdout
    assert "--data says where these tables are" in one_sentence(cboc("evidence", "verify", out, "--workers", 1))
    (tmp_path / "edition.json").write_bytes((out / "edition.json").read_bytes())
    row = json.loads((out / "real.jsonl").read_text().splitlines()[0])
    row["final"][0] -= 1e-6
    (tmp_path / "real.jsonl").write_text(json.dumps(row) + "\n")
    changed = cboc("evidence", "verify", tmp_path, "--data", folder, "--workers", 1)
    assert changed.exit_code == 1 and "differs: aryl-halide, 4 initial designs" in changed.stdout


def test_bad_input_is_one_sentence(folder, tmp_path):
    out = tmp_path / "o"
    assert "is a directory with the public tables" in one_sentence(real(tmp_path / "none", out))
    assert "has no aryl_halide.csv; it is" in one_sentence(real(tmp_path, out))
    assert "did you mean 'aryl-halide'?" in one_sentence(real(folder, out, "--family", "aryl-halid"))
    assert "takes its strangers from a problem of" in one_sentence(real(folder, out, "--method", "strangers"))
    assert "'rgpe' exists in rounds only" in one_sentence(real(folder, out, "--method", "rgpe", "--pace", "free"))
    assert not out.exists()


def copied(folder, to, change):
    """The tables in another directory, that of the aryl halides changed."""
    shutil.copytree(folder, to)
    path = to / "aryl_halide.csv"
    path.write_text(change(path.read_text()))
    return to


@pytest.mark.parametrize(
    ("sentence", "change"),
    [
        ("has more than one column 'yield'", lambda text: text.replace("additive,yield", "yield,yield")),
        ("yield is a number, but got '1e300'", lambda text: text + "B1,L1,iodide,a,1e300\n"),
        ("yield is a number, but got '5_0'", lambda text: text + "B1,L1,iodide,a,5_0\n"),
        ("is no table of cells (field larger than", lambda text: text + 'B1,"' + 200_000 * "x"),
        ("has no line that names its options", lambda text: text.splitlines()[0] + "\n"),
        (
            "a family has at most 100,000 for all",
            lambda text: text + "".join(f"B{k},L{k},x,a{k},5\n" for k in range(60)),
        ),
        ("at 5,003 sites, and a family has", lambda text: text + "".join(f"B1,L1,x{k},a,5\n" for k in range(5000))),
    ],
)
def test_a_damaged_table_is_one_sentence(folder, tmp_path, sentence, change):
    damaged, out = copied(folder, tmp_path / "damaged", change), tmp_path / "o"
    found = one_sentence(real(damaged, out))
    assert sentence in found or (sentence.startswith("has more") and "has no 'additive'" in found)
    assert not out.exists()


def test_results_remember_the_tables_that_they_were_made_from(ran, folder, tmp_path):
    out = tmp_path / "o"
    shutil.copytree(ran[0], out)
    other = copied(folder, tmp_path / "other", lambda text: text.replace("B1,L1,bromide,a,", "B1,L1,bromide,a,1"))
    for result in (real(other, out, "--seeds", 3), cboc("evidence", "verify", out, "--data", other, "--workers", 1)):
        assert "were made from another aryl_halide.csv" in one_sentence(result)
    assert "is not the published table" in cboc("evidence", "show", out).stderr
    (out / "tables.json").write_text("{")
    assert "tables.json is damaged" in cboc("evidence", "show", out).stderr


def test_a_file_that_a_kill_left_unsorted_is_put_in_order(ran, folder, tmp_path):
    out = tmp_path / "o"
    shutil.copytree(ran[0], out)
    lines = (out / "real.jsonl").read_bytes().splitlines(keepends=True)
    (out / "real.jsonl").write_bytes(b"".join(reversed(lines)))
    assert real(folder, out, "--seeds", 2, "--method", "individual", "--method", "cboc").exit_code == 0
    assert (out / "real.jsonl").read_bytes() == b"".join(lines)


def test_methods_without_a_free_pace_run_in_rounds_and_once(folder, tmp_path):
    result = real(folder, tmp_path / "o", "--seeds", 1, "--method", "warm-start", "--method", "warm-start")
    assert result.exit_code == 0
    (line,) = (tmp_path / "o/real.jsonl").read_text().splitlines()
    assert json.loads(line)["pace"] == "rounds"


def test_the_help_teaches():
    shown = cboc("evidence", "real", "--help").stdout
    assert "Example" in shown and "on-real-reactions.md" in shown and "others-best-first" in shown
