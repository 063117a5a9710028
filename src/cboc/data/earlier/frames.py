"""Tables as frames of pandas and polars; neither has to be there."""

from __future__ import annotations

import sys
from typing import Any

from cboc.data.earlier.grid import Grid, Line, cell_of

LIBRARIES = ("pandas", "polars")


def is_frame(value: object) -> bool:
    """Whether a value is a frame of one of the libraries."""
    there = [sys.modules[name] for name in LIBRARIES if name in sys.modules]
    return any(isinstance(value, library.DataFrame) for library in there)


def read_frame(frame: Any) -> Grid:
    """The table in a frame; its index is a column if it has a name."""
    if hasattr(frame, "itertuples"):  # pandas
        named = frame.reset_index() if any(name is not None for name in frame.index.names) else frame
        header, rows = list(named.columns), named.astype(object).where(named.notna(), None).itertuples(False, None)
    else:
        header, rows = frame.columns, frame.iter_rows()
    names = [" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in header]
    lines = [Line(number, tuple(map(cell_of, row))) for number, row in enumerate(rows)]
    return Grid("the frame", (Line(-1, tuple(map(cell_of, names))), *lines), "row", has_header=True)
