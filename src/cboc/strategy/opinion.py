"""What a site thinks in one turn: the interface for other optimisers.

    strategy(situation, rng) -> opinion        fit, build a utility, and so on
    opinion.propose() -> x                     what the site would run by itself
    opinion.note(x) -> note                    plain data about that, kept with the trial
    opinion.judge(heard) -> verdict            follow the mix, or not

An opinion is not kept: after a restart the strategy makes it again from the same situation and the same randomness.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from cboc.arrays import Array
from cboc.errors import CbocError
from cboc.search.maximise import maximise_all
from cboc.space.space import Space
from cboc.strategy.situation import Situation
from cboc.strategy.verdict import Note, Verdict
from cboc.surrogate.gp import GP
from cboc.utility.utility import Utility

Generator = np.random.Generator
ROUNDING = 1e-6  # so far outside the unit cube may lie what was computed in single precision


@dataclass(frozen=True)
class Heard:
    """The answer that a site received in a turn, and what it had proposed."""

    mix: Array  # (D,), projected onto the designs that the site can run
    own: Array  # (D,)
    note: Note  # about the own proposal
    others: Array  # (m, S) best designs of the others, as they are now

    @property
    def is_own(self) -> bool:
        """Whether the mix is the site's own proposal."""
        return bool(np.array_equal(self.mix, self.own))


class Opinion(Protocol):
    """What a site thinks in one turn."""

    @property
    def utility(self) -> Utility | None:
        """The utility behind the opinion, if it has one to which a guide may add."""

    def with_utility(self, utility: Utility) -> Opinion:
        """The opinion with another utility, in place of this one."""

    def propose(self) -> Array:
        """The design x_k(t) that the site would run by itself, (D,)."""

    def note(self, x: Array) -> Note:
        """What to keep of the opinion, once x is proposed."""

    def judge(self, heard: Heard) -> Verdict:
        """Decide whether to follow the mix."""


class Strategy(ABC):
    """How a site thinks: a function from a situation to an opinion. To alter one, wrap it."""

    @abstractmethod
    def __call__(self, situation: Situation, rng: Generator) -> Opinion: ...

    @property
    def can_batch(self) -> bool:
        """Whether several situations on one space are cheaper together."""
        return False

    def batch(self, situations: Sequence[Situation], rngs: Sequence[Generator]) -> list[Opinion]:
        """The opinions of several sites, each the same as alone."""
        return [self(situation, rng) for situation, rng in zip(situations, rngs, strict=True)]

    def surrogate(self, situation: Situation) -> GP | None:  # noqa: ARG002
        """The model behind the opinions, if it is one of ours; advice and pictures use it."""
        return None


@dataclass(frozen=True)
class FromFunction(Strategy):
    """A strategy from any function of a situation and its randomness to an opinion."""

    function: Callable[[Situation, Generator], Opinion]

    def __call__(self, situation: Situation, rng: Generator) -> Opinion:
        return as_opinion(self.function(situation, rng))


def as_strategy(given: Any) -> Strategy:
    """The strategy given, or a function wrapped as a strategy."""
    if isinstance(given, type) or not callable(given):
        raise CbocError(f"a strategy is a function, such as Bayesian(); {given!r} is not.")
    return given if isinstance(given, Strategy) else FromFunction(given)  # from here on all are strategies


def as_opinion(given: Any) -> Opinion:
    """The opinion that a strategy returned; raises one sentence if it is none, as a user's may return anything."""
    for part in ("propose", "note", "judge", "utility"):
        if not hasattr(given, part):
            raise CbocError(
                f"a strategy has to return an opinion, with {part}; {given!r} has none. "
                "ByUtility makes one from a utility."
            )
    return given


def as_design(found: object, space: Space, site: str) -> Array:  # (D,)
    """The design that a site's strategy found, in the unit cube; raises one sentence if it is none."""
    try:
        x = np.asarray(found, dtype=float)
    except (TypeError, ValueError, OverflowError):
        x = np.empty(0)
    if x.shape != (space.dimension,) or not np.isfinite(x).all():
        raise CbocError(
            f"the strategy of site '{site}' has to find a design of {space.dimension} coordinates; "
            f"{found!r} is not one."
        )
    inside: Array = x.clip(0.0, 1.0)
    far = np.abs(x - inside)
    if far.max() > ROUNDING:
        j = int(far.argmax())
        raise CbocError(
            f"designs live in the unit cube; the strategy of site '{site}' found {space.coordinates[j]} = {x[j]:g}. "
            "Did you forget space.to_unit?"
        )
    return inside


class Searches:
    """The maximisers of several utilities on one space, found together when the first is requested."""

    def __init__(self, utilities: Sequence[Utility], space: Space, rngs: Sequence[Generator]) -> None:
        self._utilities, self._space, self._rngs = list(utilities), space, rngs
        self._found: list[Array] = []

    def replace(self, place: int, utility: Utility) -> None:
        """Replace the utility in this place; possible only before the search."""
        self._utilities[place] = utility

    def __getitem__(self, place: int) -> Array:
        if not self._found:
            self._found = [x for x, _ in maximise_all(self._utilities, self._space, self._rngs)]
        return self._found[place]


@dataclass(frozen=True)
class ByUtility:
    """An opinion from a utility: propose its maximiser, and judge a mix by its utility."""

    utility: Utility
    situation: Situation = field(repr=False)
    rng: Generator = field(repr=False)
    memory: tuple[float, ...] | None = None
    searches: Searches | None = field(default=None, repr=False)  # the search it shares with other opinions
    place: int = 0  # in that search
    finish: Callable[[Array], Array] | None = field(default=None, repr=False)  # what is left to decide of a proposal

    def __post_init__(self) -> None:
        for part in ("__call__", "with_gradient", "log_worth", "anchors"):
            if not hasattr(self.utility, part):  # a user's object, checked where it enters
                raise CbocError(
                    f"a strategy has to return a utility, with {part}; {self.utility!r} has none. "
                    "Wrap a function of designs in cboc.utility.Custom."
                )

    def with_utility(self, utility: Utility) -> ByUtility:
        """The opinion with another utility; this one must not be used any more."""
        if self.searches is not None:
            self.searches.replace(self.place, utility)
        return replace(self, utility=utility)

    def propose(self) -> Array:
        searches = self.searches or Searches([self.utility], self.situation.space, [self.rng])
        found = searches[self.place]
        return found if self.finish is None else self.finish(found)

    def note(self, x: Array) -> Note:
        return Note(float(self.utility.log_worth(x[None])[0]), memory=self.memory)

    def judge(self, heard: Heard) -> Verdict:
        worth = heard.note.log_worth if heard.is_own else float(self.utility.log_worth(heard.mix[None])[0])
        return Verdict(True, worth)


def by_utility(
    utilities: Sequence[Utility],
    situations: Sequence[Situation],
    rngs: Sequence[Generator],
    memories: Sequence[tuple[float, ...] | None],
) -> list[ByUtility]:
    """The opinions from several utilities on one space, with a joint search."""
    searches = Searches(utilities, situations[0].space, rngs)
    given = zip(utilities, situations, rngs, memories, strict=True)
    return [ByUtility(*each, searches=searches, place=place) for place, each in enumerate(given)]


@dataclass(frozen=True)
class Blind:
    """The opinion of a site that has not run anything: any design is as good as any other."""

    situation: Situation = field(repr=False)
    rng: Generator = field(repr=False)
    utility: None = None

    def with_utility(self, utility: Utility) -> Opinion:
        return ByUtility(utility, self.situation, self.rng)

    def propose(self) -> Array:
        return self.situation.space.sample(1, self.rng)[0]

    def note(self, x: Array) -> Note:  # noqa: ARG002
        return Note()

    def judge(self, heard: Heard) -> Verdict:
        return Verdict(True, heard.note.log_worth)


@dataclass(frozen=True)
class PassedOn:
    """An opinion that passes on what another one says: the base of wrappers, which say something else in places."""

    opinion: Opinion

    @property
    def utility(self) -> Utility | None:
        return self.opinion.utility

    def with_utility(self, utility: Utility) -> Opinion:
        return replace(self, opinion=self.opinion.with_utility(utility))

    def propose(self) -> Array:
        return self.opinion.propose()

    def note(self, x: Array) -> Note:
        return self.opinion.note(x)

    def judge(self, heard: Heard) -> Verdict:
        return self.opinion.judge(heard)
