"""The array types of the library, what counts as a number, a median, and the one thread that computes with them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Owners = NDArray[np.int_]


def is_number(value: object) -> bool:
    """Whether a value is a Python or NumPy number, including NaN and infinity, but not True or False.

    A number such as 10**400, which no float can hold, does not count.
    """
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def median(values: Array) -> float:
    """The median of finite numbers, at least one; NumPy's takes ten times as long for the few that we have."""
    ordered, half = np.sort(values), len(values) // 2
    return float(ordered[half]) if len(values) % 2 else float(0.5 * (ordered[half - 1] + ordered[half]))


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # imported here: it searches for every loaded BLAS

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread inside the block, and restore it afterwards.

    A site's matrices are small: on busy cores several threads made a study five times slower, and they round
    differently from one machine to the next. Parallelism belongs across processes.
    """
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit
