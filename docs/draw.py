"""Draw the documentation's pictures from the commands that a reader can run:  make docs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
EVIDENCE, BENCHMARKS = HERE.parent / "evidence", HERE.parent / "benchmarks"
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
    subprocess.run([CBOC, "bench", "show", EVIDENCE], check=True)
    subprocess.run([CBOC, "bench", "theory", "--out", EVIDENCE / "theory"], check=True)
    subprocess.run([sys.executable, BENCHMARKS / "alikeness.py", "--show", "--picture", HERE / "when.png"], check=True)
    for drawn, name in PICTURES.items():
        shutil.copy(EVIDENCE / drawn, HERE / name)


if __name__ == "__main__":
    main()
