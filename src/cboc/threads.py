"""One BLAS thread while a site thinks.

Its matrices are small: on busy cores several threads made a study five times slower, and they round differently from
one machine to the next. Parallelism belongs across processes.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread inside the block, and set it back after."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit
