"""Writes the ends of the frozen studies anew, when a site thinks in another way than then. In the project's folder:

    python -m tests.frozen.again

The files of version 0.1.0 stay as they are. Their sites go on with this version and the outcomes of then; what they
design from there on takes the place of what they designed then, in expected.json and expected-alone.json.
"""

import json
import shutil
import tempfile
from pathlib import Path

import cboc

from ..joining.test_frozen import FROZEN, SITES, as_then, go_on, seen, thawed_coordinator, wanted


def again(folder, lab_a, end):
    expected = json.loads((FROZEN / end).read_text())
    files = [Path(shutil.copy(FROZEN / name, folder)) for name in (lab_a, "lab-b.db", "lab-c.db")]
    with thawed_coordinator(folder) as url:
        go_on([cboc.join(url, storage=file, policy=as_then(file)) for file in files], expected)
        for name, file in zip(SITES, files, strict=True):
            for row, trial in zip(expected[name], cboc.join(storage=file).trials, strict=True):
                found = json.loads(json.dumps(seen(trial)))
                row |= {key: value for key, value in found.items() if value != wanted(row)[key]}
    parts = (f'"{name}": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]" for name, rows in expected.items())
    (FROZEN / end).write_text("{" + ",\n".join(parts) + "}\n")


if __name__ == "__main__":
    for lab_a, end in {"lab-a.db": "expected.json", "alone.db": "expected-alone.json"}.items():
        with tempfile.TemporaryDirectory() as folder:
            again(Path(folder), lab_a, end)
