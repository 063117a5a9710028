"""A strategy whose proposals are drawn to the others' best designs, as far as its guide says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import log

import numpy as np

from cboc.arrays import Array, is_number
from cboc.errors import CbocError
from cboc.strategy.guide.borrowing import to_borrow
from cboc.strategy.guide.decision import Counsel, Guide, GuideLike
from cboc.strategy.opinion import Generator, Heard, Opinion, Strategy, as_strategy
from cboc.strategy.situation import Situation
from cboc.strategy.verdict import Note, Stance, Verdict, as_note, as_verdict
from cboc.surrogate.gp import GP
from cboc.utility.utility import Utility


@dataclass(frozen=True)
class Guided(Strategy):
    """A strategy with a guide. In a study that shares no best designs it is the strategy alone."""

    strategy: Strategy  # or a function with the same signature
    guide: GuideLike = field(default_factory=Guide)

    def __post_init__(self) -> None:
        object.__setattr__(self, "strategy", as_strategy(self.strategy))
        if isinstance(self.guide, type) or not callable(self.guide):
            hint = f" Write Guide({self.guide!r})." if is_number(self.guide) else ""
            raise CbocError(f"a guide is a function, such as Guide(); {self.guide!r} is not.{hint}")

    @property
    def can_batch(self) -> bool:
        return self.strategy.can_batch

    def __call__(self, situation: Situation, rng: Generator) -> Opinion:
        return self._guided(self.strategy(situation, rng), situation)

    def batch(self, situations: Sequence[Situation], rngs: Sequence[Generator]) -> list[Opinion]:
        opinions = self.strategy.batch(situations, rngs)
        return [self._guided(*each) for each in zip(opinions, situations, strict=True)]

    def surrogate(self, situation: Situation) -> GP | None:
        return self.strategy.surrogate(situation)

    def _guided(self, opinion: Opinion, situation: Situation) -> Opinion:
        """The opinion combined with the guide's counsel."""
        if situation.others is None:
            return opinion
        counsel = self.guide(opinion.utility, situation)
        if not isinstance(counsel, Counsel):  # the guide may be a user's own
            raise CbocError(f"a guide has to return a Counsel; {counsel!r} is not one.")
        drawn = opinion
        if counsel.utility is not None and counsel.utility is not opinion.utility:
            drawn = opinion.with_utility(counsel.utility)
        return GuidedOpinion(opinion, drawn, counsel, situation)


@dataclass(frozen=True)
class GuidedOpinion:
    """An opinion, the same opinion drawn by the others, and the guide's counsel."""

    own: Opinion  # not drawn: it decides what a design is worth
    drawn: Opinion
    counsel: Counsel
    situation: Situation = field(repr=False)

    @property
    def utility(self) -> Utility | None:
        return self.counsel.utility

    def with_utility(self, utility: Utility) -> Opinion:
        return replace(self, drawn=self.drawn.with_utility(utility), counsel=replace(self.counsel, utility=utility))

    def propose(self) -> Array:
        return self.drawn.propose()

    def note(self, x: Array) -> Note:
        counsel = self.counsel
        return replace(
            as_note(self.own.note(x)),
            pull=counsel.pull(x),
            stance=counsel.stance,
            keeps=counsel.keeps,
            reason=counsel.reason,
            log_odds=counsel.log_odds,
            consistency=counsel.consistency,
        )

    def judge(self, heard: Heard) -> Verdict:
        """Follow no mix if alone; if in doubt borrow, or follow only what keeps the guide's share of the utility."""
        counsel, verdict, note = self.counsel, as_verdict(self.own.judge(heard)), heard.note
        verdict = replace(verdict, pull=counsel.pull(heard.mix))
        if counsel.stance is Stance.ALONE:
            return replace(verdict, follows=False, reason=counsel.reason)
        if counsel.borrows is not None and (borrowed := self._borrowed(heard, counsel.borrows)) is not None:
            return replace(verdict, follows=False, instead=tuple(borrowed.tolist()), borrows=True)
        mix, own = verdict.log_worth + verdict.pull, note.log_worth + note.pull
        if counsel.stance is Stance.DOUBT and counsel.keeps > 0.0 and not mix >= own + log(counsel.keeps):
            share = f"{100 * counsel.keeps:.0f} %"
            return replace(verdict, follows=False, reason=f"it keeps less than {share} of what your own promises")
        return verdict

    def _borrowed(self, heard: Heard, share: float) -> Array | None:  # (D,)
        """The others' best design that promises most here, of those that are new to the site.

        None if there is none, or if it promises less than this share of what the own proposal does: the site's outcomes
        then speak against an optimum there.
        """
        designs = to_borrow(self.situation, heard.others, heard.own)
        if not len(designs) or self.own.utility is None:
            return None
        promised = self.own.utility.log_worth(designs)
        best = int(np.argmax(promised))
        if share > 0.0 and not promised[best] >= heard.note.log_worth + log(share):
            return None
        return designs[best]
