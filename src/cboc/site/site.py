"""A site: one lab, robot or simulation team, with its private data. The one stateful class.

    trial = site.ask()          # proposes, hears the others, judges what comes back
    site.tell(trial, y)         # the outcome stays here
    plate = site.ask(8)         # eight new ones at once, whatever is still open
    site.leave()                # the others go on without it

Everything a site does follows from its trials and its seed: given the same trials it asks for the same design, in this
process or the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from copy import copy
from dataclasses import replace
from math import exp, fsum
from typing import Any, cast, overload

from cboc.data.dataset import Best, Dataset, Direction
from cboc.data.fidelity import Fidelity
from cboc.data.goal import Aim, Goal
from cboc.data.objective import Outcome
from cboc.data.results import Results
from cboc.errors import CbocError, at, check_kind, whole
from cboc.exchange.amendment import check_successor
from cboc.exchange.messages import Proposal
from cboc.exchange.network import (
    Amendable,
    Changed,
    Conflict,
    Counting,
    Network,
    NotSubmitted,
    Unreachable,
    WithoutCentre,
    as_network,
)
from cboc.exchange.study import Study, check_names
from cboc.site.copies import check_newest
from cboc.site.ending import Departure, Finished, Left, Unwritten, say_left
from cboc.site.logbook import Logbook
from cboc.site.mind import LARGEST, Mind
from cboc.site.plate import Plate, Same
from cboc.site.policy import Policy
from cboc.site.trial import UNANSWERED, Status, Trial
from cboc.site.turn import Decision, Turn
from cboc.space.space import Space


class Site:
    """One participant of a study.

    `direction` says whether outcomes are to be maximised or minimised, or what is wanted of each objective, by name:
    {"yield": "max", "cost": Aim("min", reference=50)}. `limits` are what outcomes may not exceed: ["impurity <= 5"].
    `policy` is how the site behaves. `data` are results from before the study. `own` are parameters that only this
    site has; they are never mixed and never leave. `trials` continues where an earlier process stopped; `save` is
    called with every trial that changes, before it counts. `claim` keeps other processes of this site from asking at
    the same time, and gives the trials if others have changed them. `first_turn` is its first turn: above 0 if the
    site has lost trials that the others know, and `spent` says how many experiments of its budget these were. With a
    `clock`, every trial keeps when it began and when it ended. `settle` is called with a version of the study that
    the site accepts, before it counts, and refuses one that may not follow; `departure` keeps whether it has left.
    """

    def __init__(
        self,
        study: Study,
        name: str,
        network: Network,
        *,
        direction: Direction | str | Aim | Goal | Mapping[str, Any],
        limits: Iterable[str] = (),
        policy: Policy | None = None,
        data: Dataset | Results | None = None,
        own: Space | Mapping[str, Any] | None = None,
        fidelity: Fidelity | None = None,
        trials: Iterable[Trial] = (),
        save: Callable[[Trial], Trial | None] | None = None,
        first_turn: int = 0,
        spent: int = 0,
        claim: Callable[[], AbstractContextManager[Iterable[Trial] | None]] | None = None,
        clock: Callable[[], float] | None = None,
        settle: Callable[[Study], None] | None = None,
        departure: Departure | None = None,
    ) -> None:
        study.index(name)
        with at(f"site '{name}'"):
            self.goal = Goal.of(direction, study.objectives, limits)
        self.study, self.name, self.network, self._settle = study, name, as_network(network), settle
        self._departure = Unwritten() if departure is None else departure
        self.policy = Policy() if policy is None else policy
        check_kind("a site's policy", self.policy, Policy, "a Policy(...)")
        here = study.space_of(name)
        self.space = here if own is None else here + (own if isinstance(own, Space) else Space(own))
        if fidelity is not None:
            check_kind("a site's fidelity", fidelity, Fidelity, "a Fidelity(...)")
            self.space = self.space + fidelity.space
        check_names(self.space)
        _check_data(self, data)
        with at(f"site '{name}'"):
            before = Results.before(data, self.space.dimension, self.goal, fidelity)
        self.data = before.dataset()
        first_turn, self.spent = whole("first_turn", first_turn, least=0), whole("spent", spent, least=0)
        self.initial = max(0, self.policy.begins_with(len(self.space.names)) - len(self.data))
        self.log = Logbook(name, self.space, self.goal, before, trials, save, first_turn, claim, clock, fidelity)
        self.mind = Mind(study, name, self.space, self.policy, self.log)

    # ------------------------------------------------------------------------------------------ what the site knows

    @property
    def trials(self) -> list[Trial]:
        """All trials that the site has asked for, in order."""
        return self.log.trials

    @property
    def direction(self) -> Direction:
        """Whether the first objective is to be maximised or minimised."""
        return self.goal.direction

    @property
    def dataset(self) -> Dataset:
        """All outcomes so far, or if several count one number for each result: how good it is; private."""
        return self.log.dataset

    @property
    def results(self) -> Results:
        """All results so far, with a column for every outcome; private."""
        return self.log.results

    @property
    def best(self) -> Best:
        """The best measurement so far; of several objectives, by the weights of the site's goal."""
        return self.dataset.best

    @property
    def best_design(self) -> dict[str, Any]:
        """The best design so far, in natural units."""
        return self.space.from_unit(self.best.x)

    @property
    def turns(self) -> int:
        """The experiments that count against the budget: all but the initial ones that a site begins with."""
        initial = sum(trial.turn is None for trial in self.trials)
        return self.spent + self.log.turns + max(0, initial - self.initial)

    @property
    def cost(self) -> float:
        """What the experiments have cost, as far as that was told."""
        return fsum(trial.cost or 0.0 for trial in self.trials)

    @property
    def open_trials(self) -> list[Trial]:
        """The trials that wait for an answer or a result, the oldest first."""
        return self.log.open_trials

    @property
    def to_run(self) -> list[Trial]:
        """The trials that have a design to run and no result, the oldest first."""
        return [trial for trial in self.trials if trial.status is Status.PENDING]

    @property
    def has_left(self) -> bool:
        """Whether the site has left its study; what it has to run may still be told."""
        return self._departure.is_kept

    @property
    def is_finished(self) -> bool:
        """Whether the budget is spent, in experiments or in cost, the utility fell below the threshold, or it left."""
        return not (self.to_run if self.has_left else self.open_trials) and self._is_over

    @property
    def _is_over(self) -> bool:
        if self.has_left:
            return True
        is_stopped = bool(self.trials) and self.trials[-1].status is Status.STOPPED
        is_spent = self.policy.most_cost is not None and self.cost >= self.policy.most_cost
        return is_stopped or is_spent or self.turns >= self.study.budget(self.name)

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
        is_idle = len(self.trials) >= self.initial and not self.open_trials and not self._is_over
        return is_idle and not self.mind.is_made_up

    # -------------------------------------------------------------------------------------- a study that is amended

    def offered(self) -> Study | None:
        """The newest version of the study, if this site has not accepted it yet; one that has left is not asked.

        A coordinator may also have taken back what this site had accepted: it has an earlier version then, or another.
        """
        if self.has_left or not isinstance(self.network, Amendable):
            return None
        newest, number = self.network.agreed(), self.study.version
        is_taken_back = (
            not isinstance(self.network, WithoutCentre) and number > 0 and newest.digest != self.study.digest
        )
        return newest if newest.version > number or is_taken_back else None

    def accept(self) -> Study:
        """Accept the newest version of the study: kept first, then told to the others. Doing it again is fine.

        What is open goes on: a proposal that was handed in before is answered as it was agreed then.
        """
        newest = self.offered() or self.study
        with self.log.claimed():
            self._check_here()
            if newest is not self.study:
                if self._settle is None:
                    check_successor(self.study, newest)
                else:
                    self._settle(newest)
                self.study = self.mind.study = newest
            if isinstance(self.network, Amendable):
                self.network.accept(self.name, self.study)
        return self.study

    # ------------------------------------------------------------------------------------------------- leaving

    def leave(self) -> str:
        """Leave the study: the others go on without this site. Kept first, then told; doing it again is fine.

        What the site has shared stays with the others, and what is in its own data stays there. It takes no more
        turns; what it has to run may still be told. If the others cannot be told now, this returns why, and they are
        told when the site asks again.
        """
        with self.log.claimed():
            self._departure.keep()
        return say_left(self.network, self.name)

    def _check_here(self) -> None:
        """Raise `Left` if the site has left its study; the others are told once more if they have not heard it."""
        if self.has_left:
            raise Left(self.name, self.study.name, self.network, say_left(self.network, self.name))

    # ------------------------------------------------------------------------------------------------- asking

    @overload
    def ask(self) -> Trial: ...

    @overload
    def ask(self, count: int, *, replicates: int = 1, same: Same = (), wells: Sequence[str] = ()) -> list[Trial]: ...

    def ask(
        self, count: int | None = None, *, replicates: int = 1, same: Same = (), wells: Sequence[str] = ()
    ) -> Trial | list[Trial]:
        """The next experiment; the same one until it is told, failed or abandoned. With a count: a plate.

        A plate is that many new experiments, whatever else is open; fewer if the budget has fewer left. With
        `replicates` each of its designs is there that many times. The parameters `same` have one value in all its
        wells, such as the temperature of a block, or the value given, as in {"temperature": 37}; the mix does not move
        them. `wells` names the wells, for sheets and pages. Raises `Waiting` while other sites have not proposed yet,
        `Finished` when there is nothing left to do.
        """
        if count is None and (replicates != 1 or same or wells):
            raise CbocError("replicates, same and wells are for a plate; say how many experiments it has: ask(8, ...).")
        plate = self._asked_for(1 if count is None else count, replicates, same, wells)
        with self.log.claimed():
            if count is not None:
                return self._plate(plate)
            if self.has_left and self.to_run:
                say_left(self.network, self.name)
            elif not self.to_run or self.log.is_torn:
                self._plate(plate)
            return self.to_run[0]

    def _asked_for(self, count: int, replicates: int, same: Same, wells: Sequence[str] = ()) -> Plate:
        with at(f"site '{self.name}'"):
            return Plate.asked(self.space, count, replicates, same, wells)

    def _plate(self, plate: Plate) -> list[Trial]:
        try:
            trials = self._proposed(plate)
            return self._receive(trials) if trials[0].status in UNANSWERED else trials
        except Unreachable:
            if not self.log.unanswered or not self.policy.goes_on_alone:
                raise
            alone = {"status": Status.PENDING, "decision": Decision.UNREACHABLE}
            return [self.log.keep(replace(trial, **alone)) for trial in self.log.unanswered]  # type: ignore[arg-type]

    def propose(self, count: int = 1, *, same: Same = ()) -> Trial:
        """Find the next proposals, hand them in, and return the first; the oldest open trial if there is one.

        `ask` does this; call it before `ask` if sites share a process.
        """
        plate = self._asked_for(count, 1, same)
        with self.log.claimed():
            if self.open_trials and not self.log.unanswered and not self.log.is_torn:
                return self.open_trials[0]
            return self._proposed(plate)[0]

    def _proposed(self, plate: Plate) -> list[Trial]:
        """The trials of a turn, handed in; or initial trials, which nobody hears of."""
        self._check_here()
        begun = self.log.unanswered
        if not begun:
            if (torn := self.log.begun_plate) is not None:
                return self._initial(*torn)
            rest = self.study.budget(self.name) - self.turns
            if rest <= 0 or self._is_over:
                self._look_for_more()
                self._say_goodbye()
                raise Finished(f"site '{self.name}' has finished: {self._spent}.")
            if len(self.trials) < self.initial:
                return self._initial(plate.cut(self.initial - len(self.trials) + rest), 0)
            self._listen()
            begun = [self._think(plate.cut(rest))]
        turn = cast(Turn, begun[-1].turn)
        whole = cast(Turn, self.log.wells(turn.number)[0].turn).plate
        begun += [self._think(whole) for _ in range(turn.well + 1, turn.wells)]
        try:
            return self._submit(begun)
        except Conflict:
            if turn.number >= self.log.first_turn:
                raise
            self.log.abandon(begun[0])  # a copy that is lost has taken that turn, and the site goes on after it
            return self._proposed(plate)

    def _look_for_more(self) -> None:
        """Raise `Changed` if the study was amended: it may have given this site more to do."""
        newest = None
        with suppress(CbocError):
            newest = self.offered()
        if newest is not None:
            raise Changed(self.study, newest)

    def _initial(self, plate: Plate, done: int) -> list[Trial]:
        """The open trials of an initial plate, of which so many wells are there already."""
        if self.mind.is_newcomer:
            self._listen()
        for well in range(done, plate.wells):
            self.log.keep(self.mind.initial_trial(self.initial, plate, well))
        return [trial for trial in self.trials[-plate.wells :] if trial.status is Status.PENDING]

    @property
    def _spent(self) -> str:
        """What of its budget the site has spent, in words."""
        most, waiting = self.policy.most_cost, len(self.open_trials)
        cost = "" if most is None else f", {self.cost:g} of {most:g} spent"
        rest = f"; {waiting} of them {'is' if waiting == 1 else 'are'} still open" if waiting else ""
        return f"{self.turns} of {self.study.budget(self.name)} experiments{cost}{rest}"

    def _think(self, plate: Plate) -> Trial:
        """Find the next trial of a plate, and save it."""
        trial = self.log.keep(self.mind.next_trial(plate))
        if trial.status is Status.STOPPED:
            self._say_goodbye()
            raise Finished(f"site '{self.name}' stops: its largest utility fell below {self.policy.stop_below:g}.")
        return trial

    def _listen(self) -> None:
        """Hear what the others have found, where a site does not have to wait for that, and look for other copies."""
        if self.study.pace.waits or not self.study.shares_best:
            if isinstance(self.network, Counting):
                check_newest(self.name, self.log.next_turn, self.network.next_turn(self.name))
            return
        try:
            news = self.network.news(self.name)
        except Unreachable:
            if not self.policy.goes_on_alone:
                raise
            return
        self.study.check_news(news, self.name)
        check_newest(self.name, self.log.next_turn, news.turn)
        self.mind.heard = news.others

    def proposal(self, trial: Trial) -> Proposal:
        """All that leaves the site for the turn of this trial.

        The designs, S_k if the rule compares rewards, and the best design so far if the study shares it.
        """
        if trial.turn is None:
            raise CbocError(f"trial {trial.number} of '{self.name}' is an initial one, which is not handed in.")
        wells, shared = self.log.wells(trial.turn.number), self.study.space.dimension
        turn = cast(Turn, wells[0].turn)
        reward = exp(min(turn.note.log_worth, LARGEST)) if turn.note.reward is None else turn.note.reward
        return Proposal(
            self.name,
            turn.number,
            tuple(well.proposed[:shared] for well in wells),
            turn.bests,
            reward if self.study.needs_rewards else None,
        )

    def _submit(self, trials: list[Trial]) -> list[Trial]:
        """Hand a plate in; after that, asking for its answer takes one message."""
        if all(trial.status is Status.SUBMITTED for trial in trials):
            return trials
        self._hand_in(self.proposal(trials[0]))
        return [self.log.keep(replace(trial, status=Status.SUBMITTED)) for trial in trials]

    def _hand_in(self, proposal: Proposal) -> None:
        try:
            self.network.submit(proposal)
        except Changed as changed:
            if changed.study.digest != self.study.digest or not isinstance(self.network, Amendable):
                raise
            self.network.accept(self.name, self.study)  # accepted here, and stopped before the others were told
            self.network.submit(proposal)

    def _receive(self, trials: list[Trial]) -> list[Trial]:
        """Receive the consensus on a plate, and judge it well by well; the open trials of the plate."""
        turn = cast(Turn, trials[0].turn)  # only proposals get answers
        try:
            mix = self.network.mix(self.name, turn.number)
        except NotSubmitted:  # the others lost it: they were restored from a backup
            self._hand_in(self.proposal(trials[0]))
            mix = self.network.mix(self.name, turn.number)
        self.study.check_mix(mix, self.name, turn.number, turn.wells)
        for trial in trials:
            self.log.keep(self.mind.judged(trial, mix))
        return [well for well in self.log.wells(turn.number) if well.status is Status.PENDING]

    def _say_goodbye(self) -> None:
        """Tell the others that this site has finished: they may not know of turns spent alone, and would wait.

        A courtesy: if it is not heard, the site has finished all the same. Where nobody waits nobody has to know, and a
        site that gets a larger budget goes on.
        """
        if self.study.pace.waits:
            with suppress(CbocError):
                self.network.leave(self.name)

    # ------------------------------------------------------------------------------------------------- telling

    def tell(
        self,
        trial: Trial,
        outcome: Outcome,
        *,
        ran: Mapping[str, Any] | None = None,
        cost: float | None = None,
        is_correction: bool = False,
    ) -> Trial:
        """Tell the outcome of a trial: a number, or a Measurement. `ran` is the design if another one was run.

        `cost` is what the experiment cost, in a unit of your own: money, hours, grams. A correction replaces what was
        told before; designs found from the old outcome stay as they are.
        """
        return self.log.tell(trial, outcome, ran=ran, cost=cost, is_correction=is_correction)

    def fail(
        self, trial: Trial, reason: str = "", *, ran: Mapping[str, Any] | None = None, cost: float | None = None
    ) -> Trial:
        """Mark a trial as failed. Its design counts as a bad one; `tell` it later if a repeat succeeds.

        `ran` is the design if another one was run, `cost` what it cost. A repeated call keeps what it does not give.
        """
        return self.log.fail(trial, reason, ran=ran, cost=cost)

    def abandon(self, trial: Trial, *, cost: float | None = None) -> Trial:
        """Abandon a trial: it is not run, and nothing is learned from it. `cost` is what it cost all the same."""
        return self.log.abandon(trial, cost=cost)

    def reopen(self, trial: Trial) -> Trial:
        """Take back what was told of a trial, an outcome, a failure or that it was abandoned: it is to be run again.

        Its cost is taken back with it. What has left the site since then, such as a best design, is known to the
        others and stays so.
        """
        return self.log.reopen(trial)

    def annotate(self, trial: Trial, text: str) -> Trial:
        """Write a remark beside a trial, in place of the one before; an empty text takes it away. It stays here."""
        return self.log.annotate(trial, text)


def _check_data(site: Site, data: Dataset | Results | None) -> None:
    """Raise one sentence if a site's data from before the study are not of its kind."""
    if data is None:
        return
    kinds = "a Dataset; Dataset.from_frame and cboc.preview(...).dataset make one"
    check_kind("a site's data", data, Dataset | Results, kinds)
    who = f"site '{site.name}'"
    if isinstance(data, Dataset) and data.direction != site.direction:
        raise CbocError(f"{who} is to {site.direction}, but its data say {data.direction}; make them agree.")
    if data.dimension != site.space.dimension:
        raise CbocError(f"{who} has data with {data.dimension} coordinates; its space has {site.space.dimension}.")
