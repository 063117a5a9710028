"""Draw the documentation's pictures from the commands that a reader can run:  make docs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

HERE = Path(__file__).parent
EVIDENCE, RESEARCH = HERE.parent / "evidence", HERE.parent / "research"
PICTURES = {
    "gains-default.png": "gains-default.png",
    "gains-paper.png": "gains-paper.png",
    "honest-default.png": "gains-displaced.png",
    "result.png": "result.png",
    "savings.png": "savings.png",
    "crowd.png": "crowd.png",
    "sites.png": "sites.png",
    "price.png": "price.png",
    "theory/theory.png": "theory.png",
}
REAL, DIAL = EVIDENCE / "real", EVIDENCE / "dial"
REAL_PICTURES = {"progress-4-rounds.png": "real-progress.png", "arrivals-4-rounds.png": "real-arrivals.png"}
REAL_TABLES = ("In short, 4 initial designs, in rounds", "In short, 10 initial designs, in rounds")
DIAL_PICTURES = {"when.png": "dial.png", "variants.png": "dial-variants.png"}
DIAL_TABLES = (
    *("What a neighbour's best design is worth here", "In short", "Clearly above, clearly below"),
    *("Area minus alone's: cboc", "Shifts, rotations, choices, groups"),
)
CBOC = Path(sys.executable).parent / "cboc"
PLATES = HERE.parent / "examples" / "plates"
BENCH = """from random import Random

from reader import activity

import cboc


def measure(lab, design):
    if design["temperature"] > 55:
        raise cboc.ExperimentFailed("the enzyme has precipitated")
    return activity(lab, **design) + Random(str(design)).gauss(0, 0.02)


def lab_a(design):
    return measure("lab-a", design)


def lab_b(design):
    return measure("lab-b", design)
"""  # the labs of examples/plates, one experiment at a time
LESSONS = {"slices.png": "learned-slices.png", "contours.png": "learned-contours.png"}


def main() -> None:
    lessons()
    subprocess.run([CBOC, "evidence", "show", EVIDENCE], check=True)
    subprocess.run([CBOC, "evidence", "theory", "--out", EVIDENCE / "theory"], check=True)
    for study, picture in {"alikeness.py": "when.png", "pace.py": "nobody-waits.png"}.items():
        subprocess.run([sys.executable, RESEARCH / study, "--show", "--picture", HERE / picture], check=True)
    for drawn, name in PICTURES.items():
        shutil.copy(EVIDENCE / drawn, HERE / name)
    if REAL.exists():
        fill("on-real-reactions.md", REAL, REAL_TABLES, REAL_PICTURES)
    if DIAL.exists():
        fill("when-does-it-help.md", DIAL, DIAL_TABLES, DIAL_PICTURES)


def lessons() -> None:
    """What lab-a has learned of its buffer after eight initial experiments and sixteen more."""
    with tempfile.TemporaryDirectory() as name:
        folder, text = Path(name), (PLATES / "study.toml").read_text(encoding="utf-8")
        text = text.replace("horizon = 600", "horizon = 16")
        for lab in ("lab-a", "lab-b"):
            bench = f'direction = "maximise"\nexperiment = "bench.py:{lab.replace("-", "_")}"'
            text = text.replace(f'name = "{lab}"', f'name = "{lab}"\n{bench}')
        (folder / "study.toml").write_text(text, encoding="utf-8")
        (folder / "bench.py").write_text(BENCH, encoding="utf-8")
        shutil.copy(PLATES / "reader.py", folder)
        subprocess.run([CBOC, "simulate", "study.toml", "--no-alone", "--out", "run"], check=True, cwd=folder)
        for drawn, picture in LESSONS.items():
            kind = drawn.removesuffix(".png")
            subprocess.run([CBOC, "plot", "run", "--kind", kind, "--site", "lab-a"], check=True, cwd=folder)
            shutil.copyfile(folder / "run" / "plots" / drawn, HERE / picture)  # and not who may read it


def fill(page_name: str, results: Path, tables: tuple[str, ...], pictures: dict[str, str]) -> None:
    """Make the tables and pictures of a directory of results, and put the short ones into their page."""
    subprocess.run([CBOC, "evidence", "show", results], check=True)
    pictures = {drawn: name for drawn, name in pictures.items() if (results / drawn).exists()}
    for drawn, name in pictures.items():
        shutil.copy(results / drawn, HERE / name)
    sections = (results / f"{results.name}.md").read_text(encoding="utf-8").split("### ")
    short = [wrapped(f"### {section.strip()}") for section in sections if section.startswith(tables)]
    images = [f"![{name.removesuffix('.png')}]({name})" for name in pictures.values()]
    page, end = HERE / page_name, "<!-- until here -->"
    begin = f"<!-- made by docs/draw.py from evidence/{results.name} -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    page.write_text(before + "\n\n".join([begin, *images, *short, end]) + after, encoding="utf-8")


def wrapped(section: str) -> str:
    """A section whose prose is wrapped; a row of a table stays a line."""
    return "\n".join(line if line.startswith("|") else textwrap.fill(line, 100) for line in section.splitlines())


if __name__ == "__main__":
    main()
