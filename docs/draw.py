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


if __name__ == "__main__":
    main()
