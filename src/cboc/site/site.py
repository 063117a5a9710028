"""A site: one lab, robot or simulation team, with its private data. The one stateful class.

    trial = site.ask()          # proposes, waits for the round to close, passes the gate
    site.tell(trial, y)         # the outcome stays here

Everything a site does follows from its trials and its seed: given the same trials it asks for the same design, in this
process or the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from math import exp, isnan, log
from typing import Any, cast
from zlib import crc32

import numpy as np

from cboc.arrays import Array, one_thread
from cboc.consensus.matrix import quantise
from cboc.data.dataset import Best, Dataset, Direction
from cboc.errors import CbocError, at
from cboc.exchange.ledger import Final, Network, RoundClosed, Unreachable
from cboc.exchange.messages import Design, Proposal
from cboc.exchange.study import Study
from cboc.experiment.experiment import Outcome
from cboc.search.grouping import by_group
from cboc.search.maximise import maximise_all
from cboc.site.logbook import Logbook
from cboc.site.trial import Decision, Status, Trial
from cboc.strategy.bayesian import default
from cboc.strategy.gate import Gate, GateLike
from cboc.strategy.guide.guide import ALONE, TOGETHER, Counsel, Guide, GuideLike
from cboc.strategy.situation import Situation, Strategy
from cboc.utility.utility import Utility

LARGEST = 700.0  # whose exponential is still a number
TRIES = 5  # to hand a proposal in while rounds close meanwhile


class Waiting(CbocError):
    """The round is still open; ask again when the others have proposed."""


class Taken(Waiting):
    """The round is open with another proposal of this site."""


class Finished(CbocError):
    """The budget is used, or the utility fell below the site's own threshold."""


class Site:
    """One participant of a study.

    `direction` says whether outcomes are to be maximised or minimised. `data` are results from before the study; with
    less than `initial` of them the site starts with space-filling designs of its own (default: 5 per parameter, as in
    the paper). `gate` decides whether an agreed design is run, `guide` how far the others' best designs draw the own
    proposals, where the study shares them. `stop_below` ends the site's part when its largest utility falls below it
    (the theory's kappa; 0 is never). With `goes_on_alone` it runs its own proposals while nobody answers, instead of
    raising `Unreachable`. `trials` continues where an earlier process stopped; `save` is called with every trial that
    changes, before it counts.
    """

    def __init__(
        self,
        study: Study,
        name: str,
        network: Network,
        *,
        direction: Direction | str,
        data: Dataset | None = None,
        initial: int | None = None,
        strategy: Strategy | None = None,
        gate: GateLike = Gate(),  # noqa: B008 - frozen
        guide: GuideLike = Guide(),  # noqa: B008 - frozen
        seed: int = 0,
        stop_below: float = 0.0,
        goes_on_alone: bool = False,
        trials: Iterable[Trial] = (),
        save: Callable[[Trial], None] | None = None,
    ) -> None:
        study.index(name)
        with at(f"site '{name}'"):
            self.direction = Direction.of(direction)
        self.study, self.name, self.network = study, name, network
        self.strategy = default() if strategy is None else strategy
        self.gate, self.guide, self.seed, self.stop_below = gate, guide, seed, stop_below
        self.goes_on_alone = goes_on_alone
        self.data = Dataset.empty(study.space.dimension, direction=direction) if data is None else data
        wanted = 5 * len(study.space.names) if initial is None else initial
        self._check(wanted)
        self.initial = max(0, wanted - len(self.data))
        self.log = Logbook(name, study.space, self.data, trials, save)
        self._utility: tuple[tuple[int, int], Utility] | None = None  # of a proposal, by the past that it was made from
        self._thought: tuple[int, Thought] | None = None  # of the logbook's revision with this number

    def _check(self, initial: object) -> None:
        """One sentence for whatever is wrong with the site's settings."""
        who, space = f"site '{self.name}'", self.study.space
        functions = {
            "gate": (self.gate, "Gate(0.5)"),
            "guide": (self.guide, "Guide()"),
            "strategy": (self.strategy, "Bayesian()"),
        }
        for what, (value, example) in functions.items():
            if isinstance(value, type) or not callable(value):
                raise CbocError(f"{who}: a {what} is a function, such as {example}; {value!r} is not.")
        for what, number in (("seed", self.seed), ("initial", initial)):
            if not isinstance(number, int | np.integer) or number < 0:
                raise CbocError(f"{who}: {what} is a whole number from 0; this is {number!r}.")
        if not isinstance(self.stop_below, int | float) or not self.stop_below >= 0.0:
            raise CbocError(f"{who}: stop_below is a number from 0; this is {self.stop_below!r}.")
        if self.data.direction != self.direction:
            raise CbocError(f"{who} is to {self.direction}, but its data say {self.data.direction}; make them agree.")
        if self.data.dimension != space.dimension:
            raise CbocError(f"{who} has data with {self.data.dimension} coordinates; the study has {space.dimension}.")

    # ------------------------------------------------------------------------------------------ what the site knows

    @property
    def trials(self) -> list[Trial]:
        """All that it has asked for, in order."""
        return self.log.trials

    @property
    def dataset(self) -> Dataset:
        """All outcomes so far; private."""
        return self.log.dataset

    @property
    def _has_data(self) -> bool:
        return len(self.dataset) + len(self.dataset.failures) > 0

    @property
    def best(self) -> Best:
        return self.dataset.best

    @property
    def best_design(self) -> dict[str, Any]:
        return self.study.space.from_unit(self.best.x)

    @property
    def rounds(self) -> int:
        """Rounds entered so far."""
        return self.log.rounds

    @property
    def is_finished(self) -> bool:
        """Nothing left to ask for: the budget is spent, or the utility fell below the threshold."""
        if self.open_trial is not None:
            return False
        is_stopped = bool(self.trials) and self.trials[-1].status == Status.STOPPED
        return is_stopped or self.rounds >= self.study.budget(self.name)

    def trial(self, number: int) -> Trial:
        """One that was asked for, by its number."""
        return self.log.trial(number)

    @property
    def open_trial(self) -> Trial | None:
        """The trial that is proposed or to be run, if there is one."""
        return self.log.open_trial

    def twin(self) -> Site:
        """A copy that saves nothing: on it a mistake is found before anything has happened."""
        twin = copy(self)
        twin.log = self.log.twin()
        return twin

    # ------------------------------------------------------------------------------------------------- asking

    def ask(self) -> Trial:
        """The next experiment. The same one again until it is told, failed or abandoned.

        Raises `Waiting` while other sites have not proposed yet, `Finished` when there is nothing left to do.
        """
        try:
            trial = self.propose()
            return trial if trial.status == Status.PENDING else self._agree(trial)
        except Unreachable:
            proposed = self.open_trial
            if proposed is None or not self.goes_on_alone:
                raise
            return self.log.keep(replace(proposed, status=Status.PENDING, decision=Decision.SOLO))

    def propose(self) -> Trial:
        """Compute this round's proposal and hand it in: done by `ask`, or before it where sites share a process."""
        trial = self.open_trial
        if trial is None:
            if self.is_finished:
                self._say_goodbye()
                raise Finished(
                    f"site '{self.name}' has finished its {self.rounds} of {self.study.budget(self.name)} rounds."
                )
            trial = self._initial_trial() if len(self.trials) < self.initial else self._proposed_trial()
        if trial.status == Status.STOPPED:
            self._say_goodbye()
            raise Finished(f"site '{self.name}' stops: its largest utility fell below {self.stop_below:g}.")
        return self._hand_in(trial) if trial.status == Status.PROPOSED else trial

    @property
    def _is_due(self) -> bool:
        """Does the next proposal have to be thought about?"""
        is_idle = self.open_trial is None and not self.is_finished and len(self.trials) >= self.initial
        return is_idle and not self._has_thought

    @property
    def _has_thought(self) -> bool:
        return self._thought is not None and self._thought[0] == self.log.revision

    def _initial_trial(self) -> Trial:
        number = len(self.trials)
        spread = self.study.space.sample(self.initial, self._rng(0))[number]
        x = tuple(self.study.space.project(quantise(spread)).tolist())
        return self.log.keep(Trial(self.name, number, Status.PENDING, decision=Decision.INITIAL, proposed=x))

    def _proposed_trial(self) -> Trial:
        """x_k(t) = argmax U_k, and what the strategy wants to remember."""
        if not self._has_thought:
            think([self])
        space, (_, thought) = self.study.space, cast(tuple[int, Thought], self._thought)
        x = quantise(np.clip(thought.x, 0.0, 1.0))
        x = x if space.is_box and space.is_continuous else quantise(space.project(x))
        return self.log.keep(
            Trial(
                self.name,
                len(self.trials),
                Status.STOPPED if exp(min(thought.log_most, LARGEST)) < self.stop_below else Status.PROPOSED,
                round=self.log.next_round,
                proposed=tuple(x.tolist()),
                log_worth=thought.log_worth,
                pull=thought.pull,
                keeps=thought.keeps,
                reason=thought.reason,
                evidence=thought.evidence,
                agreement=thought.agreement,
                best=tuple(self.best.x.tolist()) if self.study.shares_best and len(self.dataset) else None,
                warm_start=thought.memory,
            )
        )

    def _situation(self, number: int) -> Situation:
        """What the site knew before trial `number`."""
        memory = next((t.warm_start for t in reversed(self.trials[:number]) if t.warm_start is not None), None)
        return Situation(self.dataset, self.study.space, self.log.pending(number), memory)

    def _build(self, number: int) -> Utility:
        """The utility behind trial `number`; rebuilt after a restart."""
        past = (number, self.log.amendments)
        if self._utility is None or self._utility[0] != past:
            utility = self.strategy(self._situation(number), self._rng(number))
            self._utility = (past, self._counsel(utility, number).utility)
        return self._utility[1]

    def _counsel(self, utility: Utility, number: int) -> Counsel:
        """What the guide makes of the others' best designs, as they were when the last round closed."""
        utility = self._checked("strategy", utility)
        if not self.study.shares_best:
            return Counsel(utility, TOGETHER)
        if not len(self.dataset):
            return Counsel(utility, ALONE, "you have no outcome yet")
        earlier, D = self.trials[:number], self.study.space.dimension
        others = next((t.others for t in reversed(earlier) if t.others is not None), ())
        progress = sum(t.round is not None for t in earlier) / self.study.budget(self.name)
        counsel = self.guide(utility, self.dataset, np.array(others).reshape(-1, D), progress, self.study.space)
        if not isinstance(counsel, Counsel):
            raise CbocError(f"the guide of site '{self.name}' has to return a Counsel; {counsel!r} is none.")
        self._checked("guide", counsel.utility)
        return counsel

    def _checked(self, source: str, utility: Utility) -> Utility:
        for part in ("__call__", "with_gradient", "log_worth", "anchors"):
            if not hasattr(utility, part):
                raise CbocError(
                    f"the {source} of site '{self.name}' has to return a utility, with {part}; {utility!r} has none. "
                    "Wrap a function of designs in cboc.utility.Custom."
                )
        return utility

    def _say_goodbye(self) -> None:
        """The others may not know of all its rounds, those spent alone for instance, and would wait for this site.

        A courtesy: whoever does not hear it, or knows the site no more, changes nothing about its having finished.
        """
        with suppress(CbocError):
            self.network.leave(self.name)

    def _hand_in(self, trial: Trial) -> Trial:
        """A closed round is frozen: a proposal that comes too late for it counts for the one that is open."""
        for _ in range(TRIES):
            try:
                self.network.submit(self.proposal(trial))
            except RoundClosed as closed:
                trial = self.log.keep(replace(trial, round=closed.current))
            except Final:
                raise Taken(self._proposed_before(trial)) from None
            else:
                return trial
        raise CbocError(
            f"site '{self.name}' has proposed {TRIES} times, each time for the round that was said to be open, and was "
            "too late each time; ask again later, and if that does not help, ask who runs the coordinator."
        )

    def _proposed_before(self, trial: Trial) -> str:
        """By an earlier trial, which was then run alone; or by another file: a lost one, or a copy that is in use."""
        if any(t.round == trial.round for t in self.trials[: trial.number]):
            return f"round {trial.round} is open with what this site proposed for it before."
        return (
            f"round {trial.round} is open with another design that site '{self.name}' proposed for it. "
            "Is a copy of this site's file in use on another computer? Only one may be. "
            "Otherwise ask again when the round has closed."
        )

    def proposal(self, trial: Trial) -> Proposal:
        """All that leaves the site for this trial: the design; S_k where the rule compares rewards; the best design so
        far where the study shares it."""
        reward = exp(min(cast(float, trial.log_worth), LARGEST)) if self.study.needs_rewards else None
        return Proposal(self.name, cast(int, trial.round), cast(tuple[float, ...], trial.proposed), reward, trial.best)

    def _agree(self, trial: Trial) -> Trial:
        """The consensus comes back; project it, and let the gate decide."""
        design = self.network.design(self.name, cast(int, trial.round))
        if design is None:
            raise Waiting(f"round {trial.round} is still open: other sites have yet to propose; ask again later.")
        self._check_designs(design)
        if design.x == trial.proposed:
            agreed, worth = design.array, cast(float, trial.log_worth)
        else:
            agreed = self.study.space.project(design.array)
            worth = self._worth(trial, agreed)
        return self.log.keep(
            replace(
                trial,
                status=Status.PENDING,
                decision=self._decide(trial, agreed, worth),
                agreed=tuple(agreed.tolist()),
                weights=design.weights,
                leader=design.leader,
                others=design.others or None,
                log_worth_agreed=worth,
            )
        )

    def _check_designs(self, design: Design) -> None:
        """Whatever the network: what does not lie in the cube is not kept."""
        D = self.study.space.dimension
        for what, point in (("the agreed design", design.x), *(("a best design", other) for other in design.others)):
            if len(point) != D or not all(0.0 <= value <= 1.0 for value in point):
                raise CbocError(
                    f"designs have {D} coordinates from 0 to 1; the network of site '{self.name}' gave {what} "
                    f"{point!r}. Ask who runs it."
                )

    def _decide(self, trial: Trial, agreed: Array, worth: float) -> Decision:
        """By the gate, which compares what the proposal was chosen by: the utility and what the others add to it.

        In doubt the mix has to keep what the guide asks for, too.
        """
        if self.study.shares_best and trial.pull is None:
            return Decision.ALONE
        own = cast(float, trial.log_worth)
        if trial.pull is not None:
            own += trial.pull
            worth += self._pull(trial, agreed)
        is_enough = trial.keeps is None or worth >= own + log(trial.keeps)
        return Decision.FOLLOWED if is_enough and self.gate(worth, own) else Decision.DECLINED

    def _pull(self, trial: Trial, x: Array) -> float:
        """What the others add at a design, as it looked when the trial was proposed."""
        with one_thread():
            return _pull(self._build(trial.number), x)

    def _worth(self, trial: Trial, x: Array) -> float:
        """log utility of a design, as it looked when the trial was proposed."""
        if not self._has_data:
            return cast(float, trial.log_worth)
        with one_thread():
            return float(self._build(trial.number).log_worth(x[None])[0])

    # ------------------------------------------------------------------------------------------------- telling

    def tell(
        self, trial: Trial, y: Outcome, *, ran: Mapping[str, Any] | None = None, is_correction: bool = False
    ) -> Trial:
        """The outcome of a trial: a number, or (mean, standard error). `ran` is the design if another one was run.

        A correction takes the place of what was told before; designs that were found with that stay as they are.
        """
        return self.log.tell(trial, y, ran=ran, is_correction=is_correction)

    def fail(self, trial: Trial, reason: str = "", *, ran: Mapping[str, Any] | None = None) -> Trial:
        """The experiment gave no result. Its design counts as a bad one; `tell` it later if a repeat succeeds.

        `ran` is the design if another one was run. Said again without a reason or a design, the first ones stay.
        """
        return self.log.fail(trial, reason, ran=ran)

    def abandon(self, trial: Trial) -> Trial:
        """Never mind: the trial is not run, and nothing is learned from it."""
        return self.log.abandon(trial)

    def _rng(self, number: int) -> np.random.Generator:
        """The randomness of one trial: a function of seed, site and number alone."""
        return np.random.default_rng([self.seed, crc32(self.name.encode()), number])


@dataclass(frozen=True)
class Thought:
    """What a site is about to propose."""

    x: Array  # argmax U_k
    log_worth: float
    memory: tuple[float, ...] | None = None  # of the strategy
    pull: float | None = None  # of the others; None: it works alone
    keeps: float | None = None  # what a mix has to keep of the utility, while in doubt
    reason: str = ""
    evidence: float | None = None
    agreement: float | None = None

    @property
    def log_most(self) -> float:
        """What the largest utility anywhere cannot exceed: a pull was worth it to x only because that is so."""
        return self.log_worth + (self.pull or 0.0)


def think(sites: Sequence[Site]) -> None:
    """Find what these sites are about to propose, together where they are alike.

    The designs are bit for bit those that each would find alone. `ask` and `propose` do it for one site; where several
    share a process, thinking first costs them a fraction.
    """
    due = [site for site in sites if site._is_due]
    with one_thread():
        thoughts = by_group(_think_alike, due, key=_likeness)
    for site, thought in zip(due, thoughts, strict=True):
        site._thought = (site.log.revision, thought)


def _likeness(site: Site) -> object:
    """Sites for which it is equal think together: those with data, the same space and a strategy that can."""
    can_join = hasattr(site.strategy, "batch") and site._has_data
    return (site.strategy, site.study.space) if can_join else object()


def _think_alike(sites: list[Site]) -> list[Thought]:
    first, space = sites[0], sites[0].study.space
    rngs = [site._rng(len(site.trials)) for site in sites]
    if not first._has_data:
        return [Thought(space.sample(1, rngs[0])[0], 0.0)]
    situations = [site._situation(len(site.trials)) for site in sites]
    if hasattr(first.strategy, "batch"):
        utilities = first.strategy.batch(situations, rngs)
    else:
        utilities = [first.strategy(situations[0], rngs[0])]
    counsels = [site._counsel(utility, len(site.trials)) for site, utility in zip(sites, utilities, strict=True)]
    for site, counsel in zip(sites, counsels, strict=True):
        site._utility = ((len(site.trials), site.log.amendments), counsel.utility)
    found = maximise_all([counsel.utility for counsel in counsels], space, rngs)
    return [
        _thought(counsel, x, bool(site.study.shares_best))
        for site, counsel, (x, _) in zip(sites, counsels, found, strict=True)
    ]


def _thought(counsel: Counsel, x: Array, is_guided: bool) -> Thought:
    utility = counsel.utility
    warm_start = getattr(utility, "warm_start", None)
    memory = None if warm_start is None else tuple(np.asarray(warm_start).tolist())
    thought = Thought(x, float(utility.log_worth(x[None])[0]), memory)
    if not is_guided:
        return thought
    return replace(
        thought,
        pull=None if counsel.is_alone else _pull(utility, x),
        keeps=float(counsel.keeps) if counsel.is_in_doubt else None,
        reason=counsel.reason,
        evidence=None if counsel.evidence is None else float(counsel.evidence),
        agreement=None if isnan(counsel.agreement) else float(counsel.agreement),
    )


def _pull(utility: Utility, x: Array) -> float:
    """What the others add at a design, where they add anything."""
    return float(utility.bonus(x[None])[0]) if hasattr(utility, "bonus") else 0.0
