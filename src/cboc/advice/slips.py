"""Outcomes that are likely slips, as 89 in place of 0.89: they are asked about before they are kept.

    z = asinh((y - m) / s)    m the median of the other outcomes' distinct values, s their median distance from it
    y is far outside if z lies beyond all of theirs by more than (0.5 + 5 / n) of their range, of n distinct values

The scale is linear near the middle and logarithmic far away: outcomes that span decades have a wide range on it, and so
has noise with heavy tails. With few outcomes the range says little, so 5 / n is large. The same is asked of how many
standard deviations an outcome lies from what the site's own surrogate expects, beside that of each other outcome, which
is predicted from all but itself. Surrogates are often too sure; beside their own errors that does not matter.

How often this asks about honest outcomes, and how many slips it finds: docs/decisions/slips.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cboc.arrays import Array, one_thread
from cboc.data.numbers import written
from cboc.insight.learned import lack, surrogate
from cboc.insight.outcome import dataset_of
from cboc.insight.surface import Surface
from cboc.site.site import Site
from cboc.site.trial import TOLD

LEAST, FEW = 0.5, 5.0
FEWEST = 3  # distinct outcomes from which one can lie far outside
MOST = 200  # outcomes up to which a surrogate is asked, too: it takes a moment


@dataclass(frozen=True)
class Told:
    """What somebody is about to tell of a trial: its number, the design that was run (D,), and an outcome."""

    number: int
    x: Array
    y: float
    name: str | None = None  # of the outcome; None: the first


def slips(site: Site, told: Sequence[Told]) -> dict[int, str]:
    """A question for every outcome that is likely a slip, by the number of its trial: '89? The others are ...'.

    Of several outcomes each is judged by its own, and by the surrogate of its own.
    """
    first, questions = site.goal.measured[0], dict[int, str]()
    for name in site.goal.measured:
        of_it = [each for each in told if (first if each.name is None else each.name) == name]
        for number, question in _of_one(site, of_it, name).items():
            said = question if len(site.goal.measured) == 1 else f"{name}: {question}"
            questions[number] = " ".join(filter(None, [questions.get(number), said]))
    return questions


def _of_one(site: Site, told: Sequence[Told], name: str) -> dict[int, str]:
    news = [each for each in told if _known(site, each.number, name) != each.y]
    if not news:
        return {}
    before = _without(site, [each.number for each in news])
    accepted, asked = _seen(site, dataset_of(before, name).y, news, name)
    rest = [each for each in accepted if each.number not in asked]
    return asked | _unexpected(before, rest, name)


def _known(site: Site, number: int, name: str) -> float | None:
    """What was told of a trial before."""
    measured = site.trial(number).outcomes.get(name)
    return None if measured is None else measured.mean


def is_far_outside(others: Array, y: float) -> bool:
    """Whether an outcome lies far outside the others; see the head of this file."""
    values = np.unique(others)
    if len(values) < FEWEST:
        return False
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers near the largest that there are, nothing is asked
        middle = np.median(values)
        scale = np.median(np.abs(values - middle))
        low, *_, high = np.arcsinh((values - middle) / scale)
        z = np.arcsinh((y - middle) / scale)
        return bool(max(z - high, low - z) > (LEAST + FEW / len(values)) * (high - low))


def _without(site: Site, numbers: Iterable[int]) -> Site:
    """The site as it would be if nothing had been told of these trials yet."""
    twin = site.twin()
    for number in numbers:
        if twin.trial(number).status in TOLD:
            twin.reopen(twin.trial(number))
    return twin


def _seen(site: Site, known: Array, news: Sequence[Told], name: str) -> tuple[Sequence[Told], dict[int, str]]:
    """The outcomes, and a question for those far outside all others: the known ones, and those told with them.

    Those near the middle are judged first, and join the others if they are not far outside; so two slips in one sheet
    do not hide each other. With too few known outcomes, half of the new ones are taken for granted.
    """
    middle = float(np.median([*known, *(each.y for each in news)]))
    ordered = sorted(news, key=lambda each: abs(each.y - middle))
    granted = 0 if len(np.unique(known)) >= FEWEST else len(news) // 2
    others, asked = np.append(known, [each.y for each in ordered[:granted]]), {}
    for each in ordered[granted:]:
        if is_far_outside(others, each.y):
            low, high = written(others.min()), _shown(site, float(others.max()), name)
            asked[each.number] = f"{_shown(site, each.y, name)}? The others are {low} to {high}."
        else:
            others = np.append(others, each.y)
    return ordered, asked


def _unexpected(site: Site, news: Sequence[Told], name: str) -> dict[int, str]:
    """A question for those far from what the site's own surrogate expects, by how well it expects the others."""
    data = dataset_of(site, name)
    y = data.y
    if not news or lack(site, name) or len(np.unique(y)) < FEWEST or len(y) > MOST:
        return {}
    designs, told = np.array([each.x for each in news]), np.array([each.y for each in news])
    with one_thread(), np.errstate(over="ignore", invalid="ignore"):
        surface = Surface(site.space, data, surrogate(site, name))
        others, surprise, expected = surface.surprises(), surface.surprise(designs, told), surface.expected(designs)
    return {
        each.number: f"{_shown(site, each.y, name)}? {_shown(site, expected[k], name)} was expected of this design."
        for k, each in enumerate(news)
        if is_far_outside(others, surprise[k]) and not expected[k].holds(each.y)
    }


def _shown(site: Site, value: object, name: str) -> str:
    """An outcome, or an interval of them, with its unit."""
    return site.study.objective_called(name).of(written(value) if isinstance(value, float) else value)
