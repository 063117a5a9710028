"""The three array types of the library, and what counts as a number."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Owners = NDArray[np.int_]


def is_number(value: object) -> bool:
    """One of Python's or NumPy's, NaN and infinity among them; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)
