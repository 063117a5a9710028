"""What the documentation promises is there."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

import cboc
from cboc.cli.app import app
from cboc.studyfile import read_terms

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def read(name):
    return (ROOT / name).read_text()


@pytest.mark.parametrize("name", sorted(set(cboc.__all__) - {"CbocError", "Finished", "Waiting"}))
def test_every_public_name_is_explained(name):
    assert f"`{name}" in read("docs/nouns.md") + read("docs/extending.md") + read("README.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_is_named_exists(page):
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text())
    missing = [link for link in links if not (page.parent / link).exists()]
    assert missing == []


def test_every_file_of_the_notation_table_exists():
    named = set(re.findall(r"`([\w/]+\.py)`", read("docs/notation.md")))
    assert named and all((ROOT / "src/cboc" / name).exists() for name in named)


def test_every_make_target_of_the_readme_exists():
    targets = set(re.findall(r"(?:^ *|`)make ([a-z-]+)", read("README.md"), re.MULTILINE))
    assert {"demo", "test"} <= targets
    defined = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    assert targets <= defined


def test_the_study_of_the_page_between_organisations_is_one(tmp_path):
    (block,) = re.findall(r"```toml\n(.*?)```", read("docs/between-organisations.md"), re.DOTALL)
    (tmp_path / "study.toml").write_text(block, encoding="utf-8")
    assert read_terms(tmp_path / "study.toml").study.sites == ("lab-a", "lab-b")


def test_every_command_that_a_page_shows_exists():
    commands = set(get_command(app).commands)
    shown = {
        word for page in PAGES for word in re.findall(r"(?:`|^    |\$ )cboc ([a-z][a-z-]*)", page.read_text(), re.M)
    }
    assert {"site", "simulate", "tell"} <= shown and shown <= commands


def test_of_a_first_plate_all_but_the_initial_experiments_count_as_the_pages_say():
    study = cboc.Study({"a": (0.0, 1.0)}, ["x"], 20)
    site = cboc.Site(study, "x", cboc.Ledger(study), direction="minimise")
    site.ask(8)
    assert site.turns == 8 - 2
    for trial in site.to_run:
        site.tell(trial, float(trial.x[0]))
    site.ask(8)
    assert site.turns == 8 - 2 + 8


def test_every_import_that_a_page_shows_works():
    code = "\n".join(
        block for page in PAGES for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    )
    lines = sorted(
        {line.strip() for line in code.splitlines() if re.match(r" *(from cboc[\w.]* import \w|import cboc)", line)}
    )
    assert lines
    for line in lines:
        exec(line, {})


def test_the_python_of_the_readme_runs(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", read("README.md"), re.DOTALL)
    assert blocks
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(blocks)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr


def test_every_selection_of_tests_that_contributing_shows_finds_some():
    commands = re.findall(r"python -m (pytest [^#\n]* -k [^#\n]*)", read("CONTRIBUTING.md"))
    assert commands
    for command in commands:
        words = [sys.executable, "-m", *shlex.split(command), "--collect-only"]
        result = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, f"{command}: {result.stdout}"  # pytest ends with 5 if nothing is selected
