"""Borrowing: a site runs another one's best design, to see whether it is good here as well.

    new     further than 0.02 in some coordinate from everything that the site has run or is running
    pays    if fewer than a fifth of the outcomes until then are better
    goes on while those that did not pay, and those under way, are fewer than those that paid plus the patience
    hopeful if its utility is at least a small share of that of the own proposal (`guided.py`)

It is for turns in which it is not evident that best designs lie together. One that pays is followed by others, and a
site to which the others mean nothing loses a few experiments. What was borrowed says nothing about where optima lie,
since it was copied: evidence comes from originals.
"""

from __future__ import annotations

import numpy as np

from cboc.arrays import Array, Mask
from cboc.data.dataset import Dataset
from cboc.strategy.situation import Situation

APART = 0.02  # in some coordinate: what is closer in all of them is a copy
GOOD = 0.2  # the best fifth
FEW = 5  # outcomes, of which one is a fifth


def is_new(X: Array, known: Array) -> Mask:  # (n,)
    """Which designs (n, S) are no copies of known ones (m, S or more)."""
    if not len(known):
        return np.ones(len(X), dtype=bool)
    apart = np.abs(X[:, None] - known[:, : X.shape[1]]).max(axis=2)
    return np.asarray((apart > APART).all(axis=1))


def has_patience(situation: Situation, patience: float) -> bool:
    """Whether the site may borrow once more."""
    data, borrowed = situation.dataset, situation.borrowed
    paid = sum(_has_paid(x, data) for x in borrowed)
    return len(borrowed) - paid < paid + patience


def _has_paid(x: Array, data: Dataset) -> bool:
    """Whether a borrowed design was among the best fifth when its outcome came; one that failed was not."""
    places = np.flatnonzero((x == data.X).all(axis=1))
    if not len(places):
        return False
    until = data.score[: max(int(places[0]) + 1, FEW)]
    return bool(np.sum(until > data.score[places[0]]) < GOOD * len(until))


def originals(situation: Situation, others: Array) -> Array:  # (m, S)
    """The others' best designs that are no copies of what the site has run, or of each other."""
    found = others[is_new(others, _run(situation))]
    keep = [j for j in range(len(found)) if is_new(found[j : j + 1], found[:j])[0]]
    return found[keep]


def own_best(situation: Situation) -> Array:  # (D,)
    """The site's best design of those that it did not borrow, if there is one."""
    data = situation.dataset
    is_own = is_new(data.X, situation.borrowed)
    return data.X[np.argmax(np.where(is_own, data.score, -np.inf))] if is_own.any() else data.best.x


def to_borrow(situation: Situation, others: Array, own: Array) -> Array:  # (n, D)
    """The others' best designs that are new to the site, as it can run them; its own parameters are those of `own`."""
    theirs = originals(situation, others)
    whole = np.hstack([theirs, np.tile(own[theirs.shape[1] :], (len(theirs), 1))])
    runnable = np.array([situation.space.project(x) for x in whole]).reshape(-1, situation.space.dimension)
    return runnable[is_new(runnable, _run(situation))]


def _run(situation: Situation) -> Array:  # (n, D)
    """All that the site has run or is running."""
    data, D = situation.dataset, situation.space.dimension
    return np.vstack([data.X, data.failures, situation.pending.reshape(-1, D)])
