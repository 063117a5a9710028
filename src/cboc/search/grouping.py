"""Process similar items together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from cboc.arrays import Owners

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST = 16  # items in a group: beyond it the overhead of a call is negligible, and its arrays leave the cache


def by_group(
    function: Callable[[list[Item]], Sequence[Result]], items: Sequence[Item], key: Callable[[Item], Any]
) -> list[Result]:
    """Call the function on groups of items with equal keys; one result per item, in the order of the items."""
    groups: list[tuple[Any, list[int]]] = []
    for i, item in enumerate(items):
        here = key(item)
        group = next((group for there, group in groups if there == here and len(group) < MOST), None)
        if group is None:
            groups.append((here, [i]))
        else:
            group.append(i)
    results: dict[int, Result] = {}
    for _, group in groups:
        results.update(zip(group, function([items[i] for i in group]), strict=True))
    return [results[i] for i in range(len(items))]


def spans(owners: Owners, items: Sequence[Item]) -> list[tuple[Item, slice]]:
    """Every item that owns rows, with its rows; owners (b,) are the item numbers of the rows, in order."""
    ends = np.searchsorted(owners, np.arange(len(items)), side="right").tolist()
    starts = [0, *ends[:-1]]
    return [(item, slice(a, b)) for item, a, b in zip(items, starts, ends, strict=True) if a < b]
