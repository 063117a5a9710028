"""Neighbours whose best designs the site's own outcomes contradict.

    μ(z) + 2 σ(z) < median of the own outcomes       z the neighbour's best design, μ and σ of the own surrogate

A neighbour finds best what is surely worse here than half of what was run: its problem is another one in that place, or
what it sends is not true.
"""

from __future__ import annotations

import numpy as np

from cboc.arrays import Array
from cboc.site.site import Site
from cboc.surrogate.gp import GP

SURE = 2.0  # standard deviations


def contradicted(site: Site, gp: GP) -> tuple[str, ...]:
    """The neighbours whose last known best designs the site's own surrogate contradicts, in the order of the study."""
    bests = _bests(site)
    if not bests:
        return ()
    X = np.array(list(bests.values()))
    whole = np.hstack([X, np.tile(site.best.x[X.shape[1] :], (len(X), 1))])  # the site's own parameters as at its best
    mean, sd = gp.moments(whole)
    is_poor = mean + SURE * sd < np.median(gp.y)
    return tuple(name for name, poor in zip(bests, is_poor, strict=True) if poor)


def _bests(site: Site) -> dict[str, Array]:
    """The neighbours' best designs, as last heard with an answer; none if it cannot be told whose they are."""
    k, heard = site.study.index(site.name), (t.answer.others for t in reversed(site.trials) if t.answer is not None)
    names = [name for j, name in enumerate(site.study.sites) if j != k and site.study.links[k, j]]
    others = next((each for each in heard if each), ())
    return dict(zip(names, map(np.array, others), strict=True)) if len(names) == len(others) else {}
