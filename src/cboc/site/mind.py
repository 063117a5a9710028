"""A site's mind: what it knows before a trial, and the opinion that its strategy forms from that."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from cboc.arrays import Array, one_thread
from cboc.exchange.messages import Point
from cboc.exchange.study import Study
from cboc.site.logbook import Logbook
from cboc.site.policy import Policy
from cboc.site.trial import Turn
from cboc.space.space import Space
from cboc.strategy.opinion import Opinion, as_opinion
from cboc.strategy.situation import Situation


@dataclass(frozen=True)
class Held:
    """An opinion, and the situation that it was formed in."""

    situation: Situation
    opinion: Opinion


class Mind:
    """The thoughts of one site. They follow from its logbook and its seed, in this process or the next."""

    def __init__(self, study: Study, name: str, space: Space, policy: Policy, log: Logbook) -> None:
        self.study, self.name, self.space, self.policy, self.log = study, name, space, policy, log
        self.heard: tuple[Point, ...] = ()  # news for the next turn: the others' best designs
        self._held: dict[int, Held] = {}  # by trial

    def situation(self, number: int | None = None) -> Situation:
        """What the site knows about a trial; by default, about its next one.

        Earlier trials of the same turn count as experiments under way. What the others answered to them does not count:
        it came after the proposals of this turn.
        """
        number = len(self.log.trials) if number is None else number
        turn = self.log.turn_of(number)
        earlier = [trial.turn for trial in self.log.trials[:number] if trial.turn is not None]
        past = [each for each in earlier if each.number < turn]
        return Situation(
            self.log.dataset,
            self.space,
            self.log.under_way(number),
            next((memory for each in reversed(earlier) if (memory := _memory(each, turn)) is not None), None),
            self._others(past, turn) if self.study.shares_best else None,
            len(past) / self.study.budget(self.name),
            None if self.space is self.study.space else self.study.space,
        )

    def _others(self, past: list[Turn], turn: int) -> Array:
        """The others' best designs (m, S): the news of this turn, or if there are none what was heard last."""
        first = self.log.first_of(turn)
        news = self.heard if first is None or first.turn is None else first.turn.heard
        answers = (each.answer.others for each in reversed(past) if each.answer is not None and each.answer.others)
        return np.array(news or next(answers, ())).reshape(-1, self.study.space.dimension)

    def rng(self, number: int) -> np.random.Generator:
        """The random generator of one trial: a function of seed, site and number alone."""
        return np.random.default_rng([self.policy.seed, crc32(self.name.encode()), number])

    def opinion(self, number: int) -> Opinion:
        """What the site thinks about a trial; formed again after a restart, or if it knows something new."""
        held, situation = self._held.get(number), self.situation(number)
        if held is not None and held.situation.is_same(situation):
            return held.opinion
        with one_thread():
            return self.hold(number, situation, self.policy.strategy(situation, self.rng(number)))

    def hold(self, number: int, situation: Situation, opinion: Opinion) -> Opinion:
        """Keep this opinion about a trial until the site knows something new."""
        self._held = {n: held for n, held in self._held.items() if n >= self.log.first_undecided}
        self._held[number] = Held(situation, as_opinion(opinion))
        return opinion

    @property
    def is_made_up(self) -> bool:
        """Whether there is an opinion about the next trial that was formed from what is known now."""
        held = self._held.get(len(self.log.trials))
        return held is not None and held.situation.is_same(self.situation())


def _memory(turn: Turn, now: int) -> tuple[float, ...] | None:
    """What the strategy wanted to remember: its verdict's memory if the turn is over, else its note's."""
    late = None if turn.answer is None or turn.number == now else turn.answer.verdict.memory
    return turn.note.memory if late is None else late
