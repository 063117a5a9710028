"""What options are like: a table of numbers, standardised and reduced to a few coordinates of the unit cube.

    Z = (table - mean)/sd of its columns = U S Vᵀ        the points are the leading columns of U S, which keep most of Z

All coordinates are divided by the same number, so that a direction in which options hardly differ stays a short one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from cboc.arrays import Array
from cboc.errors import CbocError, listed, short
from cboc.names import check_name
from cboc.space.parameters import as_number

Table = tuple[tuple[str, tuple[float, ...]], ...]  # a name, and a number for every option

MOST_DESCRIPTORS = 100
MOST_COORDINATES = 5
KEPT = 0.95  # of the variance of the table
APART = 0.01  # the least distance of two options, of which the farthest are about 1 apart
DIGITS = 9  # of a point: rounding on other machines does not reach them


def as_table(given: Any, options: tuple[object, ...]) -> Table:
    """The descriptors that a user gave, checked: a number for every option under each name."""
    if isinstance(given, tuple):
        given = dict(given) if all(isinstance(each, tuple) and len(each) == 2 for each in given) else given
    if not isinstance(given, Mapping):
        raise CbocError(f"descriptors are a table such as {{'polarity': [10.2, 5.2]}}; this is {short(given)}.")
    if len(given) > MOST_DESCRIPTORS:
        raise CbocError(f"options have at most {MOST_DESCRIPTORS} descriptors; these are {len(given)}.")
    return tuple((_name(name), _column(name, values, options)) for name, values in given.items())


def _name(name: object) -> str:
    if not isinstance(name, str) or not name.strip():
        raise CbocError(f"a descriptor has a name, such as 'polarity'; this is {short(name)}.")
    check_name("a descriptor's name", name)
    return name


def _column(name: object, values: Any, options: tuple[object, ...]) -> tuple[float, ...]:
    if isinstance(values, Mapping):
        known = {str(option) for option in options}
        if strange := [key for key in values if str(key) not in known]:
            raise CbocError(f"descriptor '{name}' is given for {short(strange[0])}, which is not an option.")
        by_name = {str(key): value for key, value in values.items()}
        values = [by_name.get(str(option)) for option in options]
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise CbocError(f"descriptor '{name}' has a number for every option; this is {short(values)}.")
    numbers = [as_number(value) for value in values]
    if len(numbers) != len(options):
        raise CbocError(
            f"descriptor '{name}' has a number for every option; there are {len(options)} options and {len(numbers)} "
            "numbers."
        )
    if gaps := [option for option, number in zip(options, numbers, strict=True) if number is None]:
        raise CbocError(f"descriptor '{name}' has no number for {listed(gaps)}; fill the gap, or leave it out.")
    return tuple(number for number in numbers if number is not None)


def places(table: Table, options: tuple[object, ...]) -> Array:  # (m, q)
    """The points of the options; raises one sentence if the descriptors do not tell two of them apart."""
    columns = np.array([values for _, values in table]).T
    spread = np.ptp(columns, axis=0)
    told = columns[:, spread > 0.0]
    if told.shape[1] == 0:
        raise CbocError("the descriptors are the same for all options, and so say nothing; leave them out.")
    told = told / np.abs(told).max(axis=0)  # squares of large numbers stay finite
    Z = (told - told.mean(axis=0)) / told.std(axis=0)
    U, S, Vt = np.linalg.svd(Z, full_matrices=False)
    signs = np.sign(Vt[np.arange(len(Vt)), np.abs(Vt).argmax(axis=1)])
    scores = U * S * signs
    share = np.cumsum(S**2) / (S**2).sum()
    for count in range(1, len(S) + 1):
        points = scores[:, :count] - scores[:, :count].min(axis=0)
        points = points / points.max()
        if (share[count - 1] >= KEPT or count >= MOST_COORDINATES) and _nearest(points)[0] >= APART:
            break
    apart, one, other = _nearest(points)
    if apart < APART:
        raise CbocError(
            f"the descriptors do not tell '{options[one]}' from '{options[other]}'; add one in which they differ, or "
            "leave the descriptors out."
        )
    return np.round(points, DIGITS)


def _nearest(points: Array) -> tuple[float, int, int]:
    """The least distance between two points, and which they are."""
    squared = ((points[:, None] - points) ** 2).sum(axis=2) + 4.0 * len(points[0]) * np.eye(len(points))
    place = int(squared.argmin())
    return float(np.sqrt(squared.min())), *divmod(place, len(points))
