"""Thinking together: sites of one process find the same designs as alone, at lower cost."""

from __future__ import annotations

from collections.abc import Sequence

from cboc.arrays import one_thread
from cboc.search.grouping import by_group
from cboc.site.site import Site
from cboc.strategy.situation import Situation


def think(sites: Sequence[Site]) -> None:
    """Find what these sites are about to propose, together where they are alike.

    The designs are bit for bit those that each would find alone. `ask` and `propose` think for one site; if several
    share a process, thinking together first costs a fraction.
    """
    due = [(site, site.mind.situation()) for site in sites if site.is_due]
    with one_thread():
        by_group(_think_alike, due, key=_likeness)


def _likeness(due: tuple[Site, Situation]) -> object:
    """A key, equal for sites that can think together: they have data, the same spaces and a batching strategy."""
    site, situation = due
    strategy = site.policy.strategy
    can_join = strategy.can_batch and situation.has_data
    return (strategy, situation.space, situation.shared, situation.others is None) if can_join else object()


def _think_alike(due: list[tuple[Site, Situation]]) -> list[None]:
    strategy = due[0][0].policy.strategy
    rngs = [site.mind.rng(len(site.trials)) for site, _ in due]
    situations = [situation for _, situation in due]
    opinions = strategy.batch(situations, rngs) if len(due) > 1 else [strategy(situations[0], rngs[0])]
    for (site, situation), opinion in zip(due, opinions, strict=True):
        site.mind.hold(len(site.trials), situation, opinion)
    return [None] * len(due)
