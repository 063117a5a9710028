"""A site's mind: what it knows before a trial, the opinion that its strategy forms, and the trial that follows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, log
from typing import cast
from zlib import crc32

import numpy as np

from cboc.arrays import Array, one_thread
from cboc.consensus.matrix import quantise
from cboc.exchange.messages import Mix, Point
from cboc.exchange.study import Study
from cboc.search.maximise import maximise
from cboc.search.within import maximise_within
from cboc.site.logbook import Logbook
from cboc.site.plate import Plate
from cboc.site.policy import Policy
from cboc.site.trial import Status, Trial
from cboc.site.turn import Answer, Decision, Turn
from cboc.space.slice import Slice
from cboc.space.space import Space
from cboc.strategy.opinion import Heard, Opinion, as_design, as_opinion
from cboc.strategy.situation import Situation
from cboc.strategy.verdict import Note, Stance, Verdict, as_note, as_verdict
from cboc.surrogate.gp import GP
from cboc.utility.confidence import UCB

ONE = Plate()
LARGEST = 700.0  # its exponential is still finite
MANY = 256  # designs near the best, and as many anywhere, among which another one is looked for
FAR = 0.2  # how far from the best they reach, per coordinate
CLOSE = 0.01  # the least distance, per coordinate, of two wells of a plate
APART = 0.02  # the least distance, per coordinate, of a borrowed design from what the site has run
TAKEN = "another well of the plate is close to it"


@dataclass(frozen=True)
class Held:
    """An opinion, and the situation that it was formed in."""

    situation: Situation
    opinion: Opinion


class Mind:
    """The thoughts of one site. They follow from its logbook and its seed, in this process or the next."""

    def __init__(self, study: Study, name: str, space: Space, policy: Policy, log: Logbook) -> None:
        self.study, self.name, self.space, self.policy, self.log = study, name, space, policy, log
        self.heard: tuple[Point, ...] = ()  # news for the next trial: the others' best designs
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
            self.log.judged_by(self._weights(turn)),
            self.space,
            self.log.under_way(number),
            next((memory for each in reversed(earlier) if (memory := _memory(each, turn)) is not None), None),
            self._others(past, turn) if self.study.shares_best else None,
            len(past) / self.study.budget(self.name),
            None if self.space is self.study.space else self.study.space,
            self._lent(number),
            None if self.log.goal.is_plain and self.log.fidelity is None else self.log.results,
        )

    def _weights(self, turn: int) -> Array:  # (m,)
        """The trade-off of a turn, which is the same at all sites, by the site's own weights of the objectives."""
        return self.log.goal.weighing(self.study.tradeoff(turn))

    def _lent(self, number: int) -> Array:  # (n, D)
        """The designs that the site has run, or is running, because others found them best."""
        trials = [trial for trial in self.log.trials[:number] if trial.decision is Decision.BORROWED]
        return np.array([trial.x for trial in trials]).reshape(-1, self.space.dimension)

    def _others(self, past: list[Turn], turn: int) -> Array:
        """The others' best designs (m, S): the news of this turn, or if there are none what was heard last."""
        first = self.log.first_of(turn)
        news = self.heard if first is None or first.turn is None else first.turn.heard
        answers = (each.answer.others for each in reversed(past) if each.answer is not None and each.answer.others)
        others = np.array(news or next(answers, ())).reshape(-1, self.study.space.dimension)
        others.setflags(write=False)  # a strategy or a guide may be a user's own
        return others

    def rng(self, number: int) -> np.random.Generator:
        """The random generator of one trial: a function of seed, site and number alone."""
        return np.random.default_rng([self.policy.known_seed, crc32(self.name.encode()), number])

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

    # ------------------------------------------------------------------------------------------- from thought to trial

    def initial_trial(self, count: int, plate: Plate = ONE, well: int = 0) -> Trial:
        """The next one of so many space-filling designs, or of more if a plate wants them; or a replicate.

        Whoever joins when others have found something begins with that: with one best design per parameter at most.
        """
        number = len(self.log.trials)
        if well % plate.copies:
            last = self.log.trials[-1]
            design, decision = last.proposed, last.decision
        else:
            design, decision = self._initial_design(count, plate, well)
        whole = plate if well == 0 and plate.wells > 1 else None
        return Trial(self.name, number, Status.PENDING, design, decision=decision, place=plate.place(well), plate=whole)

    def _initial_design(self, count: int, plate: Plate, well: int) -> tuple[Point, Decision]:
        """A space-filling design that is new, or at least new to its plate, if there is one; or a borrowed one."""
        number = len(self.log.trials)
        first = self.log.trials[number - well] if well else None
        sample = np.roll(self._sample(max(count, number + 1)), -number, axis=0)
        if (borrowed := self._borrowed(plate, first, sample[0])) is not None:
            return _point(borrowed), Decision.BORROWED
        known = [trial.proposed for trial in self.log.trials]
        on_plate, before = set(known[number - well :]), set(known)
        designs = [_point(self._on(plate, first, quantise(x))) for x in sample]
        if not any(design not in before for design in designs):
            more = self.space.sample(MANY, self.rng(number))
            designs += [_point(self._on(plate, first, quantise(x))) for x in more]
        new = (design for taken in (before, on_plate, ()) for design in designs if design not in taken)
        return next(new), Decision.INITIAL

    def _sample(self, count: int) -> Array:  # (count, D)
        """Space-filling designs; where experiments have levels, each at the one that counts and at a cheaper one."""
        fidelity = self.log.fidelity
        if fidelity is None:
            return self.space.sample(count, self.rng(0))
        pairs = np.arange(count) // 2
        sample = self.space.sample(-(-count // 2), self.rng(0))[pairs]
        sample[:, -1] = np.where(np.arange(count) % 2, 1.0, fidelity.places[pairs % (len(fidelity.places) - 1)])
        return sample

    @property
    def is_newcomer(self) -> bool:
        """Whether the site has run nothing yet but what it has borrowed."""
        return all(trial.decision is Decision.BORROWED for trial in self.log.trials)

    def _borrowed(self, plate: Plate, first: Trial | None, own: Array) -> Array | None:  # (D,)
        """The best design of another site that lies nearest to all of theirs, of those that are new to this site.

        It has to fit on the plate as it is. Parameters that only this site has are those of the design `own`.
        """
        theirs = np.array(self.heard).reshape(-1, self.study.space.dimension)
        borrowed = {trial.proposed for trial in self.log.trials}
        if not len(theirs) or not self.is_newcomer or len(borrowed) >= len(self.study.space.names):
            return None
        S = theirs.shape[1]
        designs = np.array([self._on(plate, first, quantise(np.append(x, own[S:]))) for x in theirs])
        ran = np.array([*self.log.dataset.X, *(trial.x for trial in self.log.trials)]).reshape(-1, self.space.dimension)
        is_new = (_distances(designs[:, :S], ran[:, :S]) >= APART).all(axis=1)
        is_theirs = _distances(designs[:, :S], theirs).diagonal() < CLOSE
        far = np.where(is_new & is_theirs, _distances(theirs, theirs).sum(axis=1), np.inf)
        return designs[far.argmin()] if np.isfinite(far).any() else None

    def next_trial(self, plate: Plate = ONE) -> Trial:
        """The trial of x_k(t) = argmax U_k, with the opinion's note on it; or a replicate of the one before."""
        number, turn = len(self.log.trials), self.log.turn_of(len(self.log.trials))
        first, last = self.log.first_of(turn), self.log.trials[-1] if self.log.trials else None
        well = 0 if first is None else number - first.number
        if well % plate.copies and last is not None and last.turn is not None:
            return replace(last, number=number, turn=replace(last.turn, well=well, places=()), place=plate.place(well))
        opinion = self.opinion(number)
        with one_thread():
            found = as_design(self._proposal(opinion, plate, first, number), self.space, self.name)
            note = as_note(opinion.note(found))
        x = quantise(found)
        x = x if self.space.is_box and self.space.is_continuous else quantise(self._on(plate, first, x))
        if first is not None and self._is_close(x, taken := self._designs(self.log.wells(turn))):
            x = self._another(x, taken, opinion, number, plate)
            note = as_note(opinion.note(x))
        shared = (self._bests(), self.heard) if first is None else ((), ())
        status = Status.PROPOSED
        if first is None and not exp(min(note.log_worth + note.pull, LARGEST)) >= self.policy.stop_below:
            status = Status.STOPPED
        places = plate.places if first is None else ()
        part = Turn(turn, note, shared[0], None, well, plate.wells, shared[1], plate.copies, plate.same, places)
        return Trial(self.name, number, status, _point(x), part, place=plate.place(well))

    def _proposal(self, opinion: Opinion, plate: Plate, first: Trial | None, number: int) -> Array:
        """What the opinion proposes for a well; the first one decides for all in what they have to agree."""
        if not plate.same:
            return opinion.propose()
        shared = first.proposed if first is not None else plate.held or self._shared(plate, opinion, number)
        if shared is None:
            return opinion.propose()
        within = Slice(self.space, shared, plate.same)
        if opinion.utility is None:
            return within.project(opinion.propose())
        return maximise_within(opinion.utility, within, self.rng(number))

    def _shared(self, plate: Plate, opinion: Opinion, number: int) -> Point | None:
        """A design whose values all wells share; None: what the opinion proposes.

        With so many wells a plate finds about the best that is plausible there, μ + √(2 log q) σ: the value is chosen
        by that. A site that stands together with others goes by its proposal, which is drawn to theirs.
        """
        gp = getattr(opinion.utility, "gp", None)
        is_drawn = as_note(opinion.note(self.space.sample(1, self.rng(0))[0])).stance is Stance.TOGETHER
        if is_drawn or not isinstance(gp, GP):
            return None
        return _point(maximise(UCB(gp, 2.0 * log(plate.designs)), self.space, self.rng(number))[0])

    @staticmethod
    def _is_close(x: Array, others: Array) -> bool:
        """Whether a design is nearly one of the others (n, D)."""
        return bool(len(others)) and bool((_distances(x[None], others) < CLOSE).any())

    def _designs(self, trials: list[Trial]) -> Array:  # (n, D)
        return np.array([trial.proposed for trial in trials]).reshape(-1, self.space.dimension)

    def _on(self, plate: Plate, first: Trial | None, x: Array) -> Array:
        """The design nearest to x that the site can run on a plate with this first trial; None: x is the first."""
        held = plate.held if first is None else first.proposed
        return Slice(self.space, held, plate.same).project(x) if held and plate.same else self.space.project(x)

    def _another(self, x: Array, taken: Array, opinion: Opinion, number: int, plate: Plate) -> Array:
        """The best of many designs, near x and anywhere, that are not on the plate yet; if there is none, the farthest.

        A design counts as being on the plate if another one is close to it.
        """
        rng = self.rng(number)
        radii = np.exp(rng.uniform(np.log(CLOSE), np.log(FAR), (MANY, 1)))
        around = np.clip(x + radii * rng.standard_normal((MANY, self.space.dimension)), 0.0, 1.0)
        many = np.vstack([self.space.sample(MANY, rng), around])
        if plate.same or not (self.space.is_box and self.space.is_continuous):
            first = self.log.first_of(self.log.turn_of(number))
            many = np.array([self._on(plate, first, z) for z in many])
        many = quantise(many)
        nearest = _distances(many, taken).min(axis=1)
        free = many[nearest >= min(CLOSE, nearest.max())]
        return free[0] if opinion.utility is None else free[int(np.argmax(opinion.utility(free)))]

    def _bests(self) -> tuple[Point, ...]:
        """The best design so far by every trade-off, if the study shares it, without parameters of the site's own."""
        if not self.study.shares_best or not self.log.results.counts.any():
            return ()
        views = (self.log.judged_by(self.log.goal.weighing(each)) for each in self.study.tradeoffs)
        return tuple(_point(view.best.x[: self.study.space.dimension]) for view in views)

    def judged(self, trial: Trial, mix: Mix) -> Trial:
        """A trial with its verdict on the mix, and so with a design to run."""
        turn = cast(Turn, trial.turn)
        before = self.log.trials[trial.number - 1] if turn.well % turn.copies else None
        if before is not None and before.turn is not None:  # a replicate
            part = replace(before.turn, well=turn.well, places=())
            return replace(trial, status=Status.PENDING, decision=before.decision, turn=part)
        x = self._completed(mix.X[turn.well], trial)
        heard = Heard(x, np.array(trial.proposed), turn.note, np.array(mix.others).reshape(-1, len(mix.X[0])))
        with one_thread():
            verdict = as_verdict(self.opinion(trial.number).judge(heard))
        if verdict.instead is not None:
            verdict = self._placed(verdict, as_design(verdict.instead, self.space, self.name), trial)
        verdict = self._apart(verdict, x, trial)
        others = mix.others if turn.well == 0 else ()
        answer = Answer(_point(x), mix.weights, mix.snapshot, verdict, mix.leader, others)
        decision = _decision(verdict, turn.note)
        return replace(trial, status=Status.PENDING, decision=decision, turn=replace(turn, answer=answer))

    def _placed(self, verdict: Verdict, instead: Array, trial: Trial) -> Verdict:
        """The verdict with a third design that fits on the plate; one that would not be another site's any more, or is
        close to an earlier well, is not borrowed."""
        turn = cast(Turn, trial.turn)
        x = self._on(turn.plate, self.log.first_of(turn.number), instead)
        wells = [well.x for well in self.log.wells(turn.number)[: turn.well]]
        is_taken = self._is_close(x, np.array(wells).reshape(-1, self.space.dimension))
        if verdict.borrows and (is_taken or not self._is_close(x, instead[None])):
            return replace(verdict, instead=None, borrows=False)
        return replace(verdict, instead=_point(x))

    def _apart(self, verdict: Verdict, mix: Array, trial: Trial) -> Verdict:
        """The verdict, unless an earlier well of the plate is close to it: then the own proposal, or another design."""
        turn = cast(Turn, trial.turn)
        wells = self.log.wells(turn.number)[: turn.well]
        ran = np.array([well.x for well in wells]).reshape(-1, self.space.dimension)
        own = np.array(trial.proposed)
        chosen = mix if verdict.follows else own
        if verdict.instead is not None or not self._is_close(chosen, ran):
            return verdict
        if not self._is_close(own, ran):
            return replace(verdict, follows=False, reason=TAKEN)
        other = self._another(own, ran, self.opinion(trial.number), trial.number, turn.plate)
        return replace(verdict, reason=TAKEN, instead=_point(other))

    def _completed(self, mixed: Point, trial: Trial) -> Array:
        """The mixed design, with the site's own parameters as proposed, projected onto what it can run."""
        own, turn = trial.proposed[self.study.space.dimension :], cast(Turn, trial.turn)
        if (*mixed, *own) == trial.proposed:
            return np.array(trial.proposed)
        return self._on(turn.plate, self.log.first_of(turn.number), np.array([*mixed, *own]))


def _decision(verdict: Verdict, note: Note) -> Decision:
    if verdict.instead is not None:
        return Decision.BORROWED if verdict.borrows else Decision.OTHER
    if verdict.follows:
        return Decision.FOLLOWED
    return Decision.CONTRADICTED if note.stance is Stance.ALONE else Decision.DECLINED


def _memory(turn: Turn, now: int) -> tuple[float, ...] | None:
    """What the strategy wanted to remember: its verdict's memory if the turn is over, else its note's."""
    late = None if turn.answer is None or turn.number == now else turn.answer.verdict.memory
    return turn.note.memory if late is None else late


def _distances(A: Array, B: Array) -> Array:  # (n, m)
    """The distances per coordinate of designs A (n, D) from designs B (m, D)."""
    return np.sqrt(((A[:, None] - B[None]) ** 2).mean(axis=2))


def _point(x: Array) -> Point:
    return tuple(x.tolist())
