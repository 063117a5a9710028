"""The feed of a site that comes from a coordinator: its hello, then the turns that the coordinator has answered.

The site signs them itself, each with the state in which it was answered. So whoever has the feeds knows the past of the
study as the coordinator did: rewards, experiments, and who was in a round or had arrived before whom.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cboc.errors import CbocError
from cboc.exchange.feeds.entry import Act, FeedEntry, greeting, write
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.messages import Proposal
from cboc.exchange.study import Study


@dataclass(frozen=True)
class Answered:
    """A proposal, and the state in which a coordinator has answered it: its round, or the number of its arrival."""

    proposal: Proposal
    state: int


def moved_feed(
    keys: Keys, study: Study, site: str, turns: list[Answered], spent: int = 0, *, has_left: bool = False
) -> list[FeedEntry]:
    """All entries of the new feed; `spent` are experiments that the coordinator knows and this site has lost."""
    parts: list[tuple[int, dict[str, Any], dict[str, Any] | None]] = []
    parts.append((0, greeting(keys.identity, study.agreement()) | {"moved": len(turns)}, None))
    for turn in turns:
        parts.append((turn.proposal.turn, *_said(turn, spent)))
        spent += len(turn.proposal.X)
    if has_left:
        parts.append((turns[-1].proposal.turn + 1 if turns else 0, {"act": Act.LEAVE}, None))
    entries: list[FeedEntry] = []
    for number, said, designs in parts:
        last = entries[-1] if entries else None
        entries.append(write(keys, study.digest, site, last, number, said, designs))
    _check(study, site, entries)
    return entries


def _said(turn: Answered, earlier: int) -> tuple[dict[str, Any], dict[str, Any]]:
    proposal = turn.proposal
    said: dict[str, Any] = {"act": Act.TURN, "state": turn.state, "earlier": earlier, "wells": len(proposal.X)}
    said |= {} if proposal.reward is None else {"reward": proposal.reward}
    return said, {"X": proposal.X} | ({"bests": proposal.bests} if proposal.bests else {})


def _check(study: Study, site: str, entries: Iterable[FeedEntry]) -> None:
    """Raise one sentence if others would not take these entries: before anybody gets them."""
    replica = Replica(study)
    replica.load(entries)
    if trouble := replica.feeds[site].trouble:
        raise CbocError(f"the past turns of '{site}' cannot be moved, since others would refuse them: {trouble}.")
