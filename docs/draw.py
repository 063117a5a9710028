"""Draw the documentation's pictures from the commands that a reader can run:  make docs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
EVIDENCE = HERE.parent / "evidence"
PICTURES = ("gains-default.png", "theory/theory.png")
CBOC = Path(sys.executable).parent / "cboc"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([CBOC, "demo", "--out", folder], check=True)
        (picture,) = Path(folder).glob("*.png")
        shutil.copy(picture, HERE / "demo.png")
    subprocess.run([CBOC, "bench", "show", EVIDENCE], check=True)
    subprocess.run([CBOC, "bench", "theory", "--out", EVIDENCE / "theory"], check=True)
    for name in PICTURES:
        shutil.copy(EVIDENCE / name, HERE)


if __name__ == "__main__":
    main()
