"""How a reader knows that outcomes cannot leave: what travels never imports what holds them."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def lint(config):
    command = [Path(sys.executable).parent / "lint-imports", "--no-cache", "--config", str(config)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_the_import_contracts_are_kept():
    result = lint(ROOT / "pyproject.toml")
    assert result.returncode == 0, result.stdout


def test_the_contracts_can_break(tmp_path):
    """A contract that forbids what the site must do fails: the linter does look."""
    config = tmp_path / "broken.toml"
    config.write_text(
        '[tool.importlinter]\nroot_package = "cboc"\n\n[[tool.importlinter.contracts]]\nname = "no data in sites"\n'
        'type = "forbidden"\nsource_modules = ["cboc.site.site"]\nforbidden_modules = ["cboc.data.dataset"]\n'
    )
    assert lint(config).returncode == 1


def test_importing_cboc_loads_nothing_slow():
    slow = ("scipy.linalg", "scipy.optimize", "scipy.stats", "matplotlib", "pandas", "rich", "typer")
    code = f"import sys, cboc; print([name for name in {slow} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert result.stdout.strip() == "[]", result.stdout + result.stderr


def test_the_map_of_every_room_names_what_is_there():
    """The docstring of a folder lists its files; one that is left out, or gone, misleads."""
    for path in (ROOT / "src" / "cboc").rglob("__init__.py"):
        text, folder = path.read_text(encoding="utf-8"), path.parent
        named = set(re.findall(r"^(\w+\.py|\w+/)\s", text, flags=re.MULTILINE))
        if named:
            files = {file.name for file in folder.glob("*.py")} - {"__init__.py"}
            assert {name for name in files if name not in text} == set(), folder
            assert {name for name in named if not (folder / name).exists()} == set(), folder
