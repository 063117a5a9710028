"""Draw the documentation's pictures from the commands that a reader can run:  make docs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
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
BEGIN, END = "<!-- made by docs/draw.py from evidence/real -->", "<!-- until here -->"
REAL = EVIDENCE / "real"
REAL_PICTURES = {"progress-4-rounds.png": "real-progress.png", "arrivals-4-rounds.png": "real-arrivals.png"}
REAL_TABLES = ("In short, 4 initial designs, in rounds", "In short, 10 initial designs, in rounds")
CBOC = Path(sys.executable).parent / "cboc"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([CBOC, "demo", "--out", folder], check=True)
        (picture,) = Path(folder).glob("*.png")
        shutil.copy(picture, HERE / "demo.png")
    subprocess.run([CBOC, "evidence", "show", EVIDENCE], check=True)
    subprocess.run([CBOC, "evidence", "theory", "--out", EVIDENCE / "theory"], check=True)
    for study, picture in {"alikeness.py": "when.png", "pace.py": "nobody-waits.png"}.items():
        subprocess.run([sys.executable, RESEARCH / study, "--show", "--picture", HERE / picture], check=True)
    for drawn, name in PICTURES.items():
        shutil.copy(EVIDENCE / drawn, HERE / name)
    if REAL.exists():
        draw_real()


def draw_real() -> None:
    """Make the tables and pictures of the campaigns on real tables, and put the short ones into their page."""
    subprocess.run([CBOC, "evidence", "show", REAL], check=True)
    for drawn, name in REAL_PICTURES.items():
        shutil.copy(REAL / drawn, HERE / name)
    sections = (REAL / "real.md").read_text(encoding="utf-8").split("### ")
    short = [f"### {section.strip()}" for section in sections if section.startswith(REAL_TABLES)]
    pictures = [f"![{name.removesuffix('.png')}]({name})" for name in REAL_PICTURES.values()]
    page = HERE / "on-real-reactions.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(before + "\n\n".join([BEGIN, *short, *pictures, END]) + after, encoding="utf-8")


if __name__ == "__main__":
    main()
