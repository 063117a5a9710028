"""A site's mind: what it knows before a trial, and the opinion that its strategy forms from that."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from cboc.arrays import one_thread
from cboc.exchange.study import Study
from cboc.site.logbook import Logbook
from cboc.site.policy import Policy
from cboc.site.trial import Turn
from cboc.space.space import Space
from cboc.strategy.opinion import Opinion
from cboc.strategy.situation import Situation


class Mind:
    """The thoughts of one site. They follow from its logbook and its seed, in this process or the next."""

    def __init__(self, study: Study, name: str, space: Space, policy: Policy, log: Logbook) -> None:
        self.study, self.name, self.space, self.policy, self.log = study, name, space, policy, log
        self._opinion: tuple[tuple[int, int], int, Opinion] | None = None  # key: trial and past; when formed

    def situation(self, number: int | None = None) -> Situation:
        """What the site knew before a trial; by default, what it knows now."""
        earlier = self.log.trials[:number]
        turns = [trial.turn for trial in earlier if trial.turn is not None]
        heard = next((turn.answer for turn in reversed(turns) if turn.answer and turn.answer.others), None)
        others = np.array(() if heard is None else heard.others).reshape(-1, self.study.space.dimension)
        return Situation(
            self.log.dataset,
            self.space,
            self.log.pending(len(earlier)),
            next((memory for turn in reversed(turns) if (memory := _memory(turn)) is not None), None),
            others if self.study.shares_best else None,
            len(turns) / self.study.budget(self.name),
            None if self.space is self.study.space else self.study.space,
        )

    def rng(self, number: int) -> np.random.Generator:
        """The random generator of one trial: a function of seed, site and number alone."""
        return np.random.default_rng([self.policy.seed, crc32(self.name.encode()), number])

    def opinion(self, number: int) -> Opinion:
        """What the site thinks about a trial; formed again after a restart, or if the past was changed."""
        held = self._opinion
        if held is not None and held[0] == (number, self.log.amendments):
            return held[2]
        with one_thread():
            opinion = self.policy.strategy(self.situation(number), self.rng(number))
        return self.hold(number, opinion)

    def new_opinion(self, number: int) -> Opinion:
        """What the site thinks about a trial, from all that it knows now."""
        if not self.is_made_up:
            self._opinion = None
        return self.opinion(number)

    def hold(self, number: int, opinion: Opinion) -> Opinion:
        """Keep this opinion about a trial until the past changes."""
        self._opinion = ((number, self.log.amendments), self.log.revision, opinion)
        return opinion

    @property
    def is_made_up(self) -> bool:
        """Whether there is an opinion that was formed from what is known now."""
        return self._opinion is not None and self._opinion[1] == self.log.revision


def _memory(turn: Turn) -> tuple[float, ...] | None:
    """What the strategy last wanted to remember: its verdict's memory, else its note's."""
    late = None if turn.answer is None else turn.answer.verdict.memory
    return turn.note.memory if late is None else late
