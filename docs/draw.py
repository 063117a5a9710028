"""Draw the documentation's pictures from the commands that a reader can run:  make docs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
CBOC = Path(sys.executable).parent / "cboc"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([CBOC, "demo", "--out", folder], check=True)
        (picture,) = Path(folder).glob("*.png")
        shutil.copy(picture, HERE / "demo.png")


if __name__ == "__main__":
    main()
