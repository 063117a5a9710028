"""A site: one lab, robot or simulation team, with its private data. The one stateful class.

    trial = site.ask()          # proposes, waits for the others, judges what comes back
    site.tell(trial, y)         # the outcome stays here

Everything a site does follows from its trials and its seed: given the same trials it asks for the same design, in this
process or the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import replace
from math import exp
from typing import Any

import numpy as np

from cboc.arrays import Array, one_thread
from cboc.consensus.matrix import quantise
from cboc.data.dataset import Best, Dataset, Direction
from cboc.data.objective import Outcome
from cboc.errors import CbocError, at
from cboc.exchange.messages import Mix, Point, Proposal
from cboc.exchange.network import Network, NotSubmitted, Unreachable
from cboc.exchange.study import Study, check_names
from cboc.site.logbook import Logbook
from cboc.site.mind import Mind
from cboc.site.policy import INITIAL, Policy
from cboc.site.trial import Answer, Decision, Status, Trial, Turn
from cboc.space.space import Space
from cboc.strategy.opinion import Heard
from cboc.strategy.verdict import Note, Stance, Verdict

LARGEST = 700.0  # its exponential is still finite


class Finished(CbocError):
    """The budget is used, or the utility fell below the site's own threshold."""


class Site:
    """One participant of a study.

    `direction` says whether outcomes are to be maximised or minimised, `policy` how the site behaves. `data` are
    results from before the study. `own` are parameters that only this site has; they are never mixed and never leave.
    `trials` continues where an earlier process stopped; `save` is called with every trial that changes, before it
    counts. `first_turn` is its first turn: above 0 if the site has lost trials that the others know.
    """

    def __init__(
        self,
        study: Study,
        name: str,
        network: Network,
        *,
        direction: Direction | str,
        policy: Policy | None = None,
        data: Dataset | None = None,
        own: Space | None = None,
        trials: Iterable[Trial] = (),
        save: Callable[[Trial], Trial | None] | None = None,
        first_turn: int = 0,
    ) -> None:
        study.index(name)
        with at(f"site '{name}'"):
            self.direction = Direction.of(direction)
        self.study, self.name, self.network = study, name, network
        self.policy = Policy() if policy is None else policy
        self.space = study.space if own is None else study.space + own
        check_names(self.space)
        self.data = Dataset.empty(self.space.dimension, direction=self.direction) if data is None else data
        self._check_data()
        wanted = INITIAL * len(self.space.names) if self.policy.initial is None else self.policy.initial
        self.initial = max(0, wanted - len(self.data))
        self.log = Logbook(name, self.space, study.objectives, self.data, trials, save, first_turn)
        self.mind = Mind(study, name, self.space, self.policy, self.log)

    def _check_data(self) -> None:
        who, data = f"site '{self.name}'", self.data
        if data.direction != self.direction:
            raise CbocError(f"{who} is to {self.direction}, but its data say {data.direction}; make them agree.")
        if data.dimension != self.space.dimension:
            raise CbocError(f"{who} has data with {data.dimension} coordinates; its space has {self.space.dimension}.")

    # ------------------------------------------------------------------------------------------ what the site knows

    @property
    def trials(self) -> list[Trial]:
        """All trials that the site has asked for, in order."""
        return self.log.trials

    @property
    def dataset(self) -> Dataset:
        """All outcomes so far; private."""
        return self.log.dataset

    @property
    def best(self) -> Best:
        """The best measurement so far."""
        return self.dataset.best

    @property
    def best_design(self) -> dict[str, Any]:
        """The best design so far, in natural units."""
        return self.space.from_unit(self.best.x)

    @property
    def turns(self) -> int:
        """The number of turns taken so far."""
        return self.log.turns

    @property
    def open_trial(self) -> Trial | None:
        """The trial that waits for an answer or a result, if there is one."""
        return self.log.open_trial

    @property
    def is_finished(self) -> bool:
        """Whether the budget is spent, or the utility fell below the threshold."""
        return self.open_trial is None and self._is_over

    @property
    def _is_over(self) -> bool:
        is_stopped = bool(self.trials) and self.trials[-1].status is Status.STOPPED
        return is_stopped or self.turns >= self.study.budget(self.name)

    def trial(self, number: int) -> Trial:
        """A trial that was asked for, by its number."""
        return self.log.trial(number)

    def twin(self) -> Site:
        """A copy that saves nothing: used to find a mistake before anything happens."""
        twin = copy(self)
        twin.log = self.log.twin()
        twin.mind = Mind(self.study, self.name, self.space, self.policy, twin.log)
        return twin

    @property
    def is_due(self) -> bool:
        """Whether the site still has to think about its next proposal."""
        is_idle = len(self.trials) >= self.initial and self.open_trial is None and not self._is_over
        return is_idle and not self.mind.is_made_up

    # ------------------------------------------------------------------------------------------------- asking

    def ask(self) -> Trial:
        """The next experiment; the same one until it is told, failed or abandoned.

        Raises `Waiting` while other sites have not proposed yet, `Finished` when there is nothing left to do.
        """
        try:
            trial = self.propose()
            return trial if trial.status is Status.PENDING else self._receive(trial)
        except Unreachable:
            trial_or_none = self.open_trial
            if trial_or_none is None or not self.policy.goes_on_alone:
                raise
            return self.log.keep(replace(trial_or_none, status=Status.PENDING, decision=Decision.UNREACHABLE))

    def propose(self) -> Trial:
        """Find the next proposal and hand it in. `ask` does this; call it before `ask` if sites share a process."""
        trial = self.open_trial
        if trial is None:
            if self._is_over:
                self._say_goodbye()
                done = f"{self.turns} of {self.study.budget(self.name)} turns"
                raise Finished(f"site '{self.name}' has finished: {done}.")
            trial = self._initial_trial() if len(self.trials) < self.initial else self._next_trial()
        if trial.status is Status.STOPPED:
            self._say_goodbye()
            raise Finished(f"site '{self.name}' stops: its largest utility fell below {self.policy.stop_below:g}.")
        return self._submit(trial) if trial.status is Status.PROPOSED else trial

    def _initial_trial(self) -> Trial:
        number = len(self.trials)
        x = self.space.project(quantise(self.space.sample(self.initial, self.mind.rng(0))[number]))
        return self.log.keep(Trial(self.name, number, Status.PENDING, _point(x), decision=Decision.INITIAL))

    def _next_trial(self) -> Trial:
        """The trial of x_k(t) = argmax U_k, with the note of the opinion behind it."""
        number = len(self.trials)
        opinion = self.mind.new_opinion(number)
        with one_thread():
            found = self._checked(opinion.propose())
            note = opinion.note(found)
        x = quantise(np.clip(found, 0.0, 1.0))
        x = x if self.space.is_box and self.space.is_continuous else quantise(self.space.project(x))
        is_enough = exp(min(note.log_worth + note.pull, LARGEST)) >= self.policy.stop_below
        turn = Turn(self.log.next_turn, note, self._bests())
        status = Status.PROPOSED if is_enough else Status.STOPPED
        return self.log.keep(Trial(self.name, number, status, _point(x), turn))

    def _checked(self, found: object) -> Array:
        """The design that the strategy found; raises if it is not one, as a user's strategy may return anything."""
        x = np.asarray(found, dtype=float)
        if x.shape != (self.space.dimension,) or not np.isfinite(x).all():
            raise CbocError(
                f"the strategy of site '{self.name}' has to find a design of {self.space.dimension} coordinates; "
                f"{found!r} is not one."
            )
        return x

    def _bests(self) -> tuple[Point, ...]:
        """The best design so far if the study shares it, without parameters that only this site has."""
        if not self.study.shares_best or not len(self.dataset):
            return ()
        return (_point(self.best.x[: self.study.space.dimension]),)

    def proposal(self, trial: Trial) -> Proposal:
        """All that leaves the site for this trial.

        The design, S_k if the rule compares rewards, and the best design so far if the study shares it.
        """
        if trial.turn is None:
            raise CbocError(f"trial {trial.number} of '{self.name}' is an initial one, which is not handed in.")
        note, shared = trial.turn.note, self.study.space.dimension
        reward = exp(min(note.log_worth, LARGEST)) if note.reward is None else note.reward
        design = trial.proposed[:shared]
        return Proposal(
            self.name, trial.turn.number, (design,), trial.turn.bests, reward if self.study.needs_rewards else None
        )

    def _submit(self, trial: Trial) -> Trial:
        """Hand a proposal in; after that, asking for its answer takes one message."""
        self.network.submit(self.proposal(trial))
        return self.log.keep(replace(trial, status=Status.SUBMITTED))

    def _receive(self, trial: Trial) -> Trial:
        """Receive the consensus, project it, and judge it."""
        turn = trial.turn
        assert turn is not None  # only proposals get answers
        try:
            mix = self.network.mix(self.name, turn.number)
        except NotSubmitted:  # the others lost it: they were restored from a backup
            self.network.submit(self.proposal(trial))
            mix = self.network.mix(self.name, turn.number)
        self.study.check_mix(mix)
        x = self._completed(mix, trial)
        heard = Heard(x, np.array(trial.proposed), turn.note, np.array(mix.others).reshape(-1, len(mix.X[0])))
        with one_thread():
            verdict = self.mind.opinion(trial.number).judge(heard)
        if verdict.instead is not None:
            verdict = replace(verdict, instead=_point(self.space.project(self._checked(verdict.instead))))
        answer = Answer(_point(x), mix.weights, mix.snapshot, verdict, mix.leader, mix.others)
        return self.log.keep(
            replace(
                trial,
                status=Status.PENDING,
                decision=_decision(verdict, turn.note),
                turn=replace(turn, answer=answer),
            )
        )

    def _completed(self, mix: Mix, trial: Trial) -> Array:
        """The mixed design, with the site's own parameters as proposed, projected onto what it can run."""
        own = trial.proposed[self.study.space.dimension :]
        if (*mix.X[0], *own) == trial.proposed:
            return np.array(trial.proposed)
        return self.space.project(np.array([*mix.X[0], *own]))

    def _say_goodbye(self) -> None:
        """Tell the others that this site has finished: they may not know of turns spent alone, and would wait.

        A courtesy: if it is not heard, the site has finished all the same.
        """
        with suppress(CbocError):
            self.network.leave(self.name)

    # ------------------------------------------------------------------------------------------------- telling

    def tell(
        self, trial: Trial, outcome: Outcome, *, ran: Mapping[str, Any] | None = None, is_correction: bool = False
    ) -> Trial:
        """Tell the outcome of a trial: a number, or a Measurement. `ran` is the design if another one was run.

        A correction replaces what was told before; designs found from the old outcome stay as they are.
        """
        return self.log.tell(trial, outcome, ran=ran, is_correction=is_correction)

    def fail(self, trial: Trial, reason: str = "", *, ran: Mapping[str, Any] | None = None) -> Trial:
        """Mark a trial as failed. Its design counts as a bad one; `tell` it later if a repeat succeeds.

        `ran` is the design if another one was run. A repeated call without reason or design keeps the first ones.
        """
        return self.log.fail(trial, reason, ran=ran)

    def abandon(self, trial: Trial) -> Trial:
        """Abandon a trial: it is not run, and nothing is learned from it."""
        return self.log.abandon(trial)


def _decision(verdict: Verdict, note: Note) -> Decision:
    if verdict.instead is not None:
        return Decision.OTHER
    if verdict.follows:
        return Decision.FOLLOWED
    return Decision.CONTRADICTED if note.stance is Stance.ALONE else Decision.DECLINED


def _point(x: Array) -> Point:
    return tuple(x.tolist())
