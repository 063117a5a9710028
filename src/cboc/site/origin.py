"""Where a design comes from: its kind, one plain sentence, and the numbers behind it.

Page, command line, report and exports read this, so that no label contradicts a sentence. The sentence is for somebody
who knows the bench and not the method; what only the method has words for is in the numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from math import exp

from cboc.exchange.messages import Point
from cboc.site.turn import Answer, Decision, Turn
from cboc.strategy.verdict import APART, Note, Stance

LARGEST = 10.0  # nats beyond which a share says nothing
IN_NUMBERS = re.compile(r" \(rank correlation [^()]*\)$")  # at the end of a guide's reason
TOO_LITTLE = re.compile(r"your gate declines it|it keeps less than \d+ % of what your own promises")
PLAIN = {APART: "the sites' best designs are not clearly close to each other yet"}
NOT_ENOUGH = "the average with the others promised too little here"


class Kind(StrEnum):
    """Who decided on a design: nobody yet, the site alone, or the others too."""

    INITIAL = "initial"
    OWN = "own"
    SHARED = "shared"


@dataclass(frozen=True)
class Origin:
    """Where a design comes from."""

    kind: Kind
    sentence: str
    numbers: tuple[tuple[str, str], ...] = ()  # what each is, and its value; for those who know the method


def kind_of(decision: Decision | None, turn: Turn | None, proposed: Point) -> Kind:
    """The kind of a design; one that the site did not run as the others had it is its own, whatever drew it."""
    if decision is Decision.BORROWED:
        return Kind.SHARED
    if turn is None:
        return Kind.INITIAL
    is_followed = decision is Decision.FOLLOWED and turn.answer is not None
    return Kind.SHARED if is_followed and (_is_mixed(turn, proposed) or turn.is_drawn) else Kind.OWN


def origin_of(
    site: str, decision: Decision | None, turn: Turn | None, proposed: Point, sites: tuple[str, ...]
) -> Origin:
    """The origin of a design that a site was given, among these sites."""
    kind = kind_of(decision, turn, proposed)
    if turn is None:
        is_theirs = decision is Decision.BORROWED
        theirs = "Initial design: the best of another site, of those known when you began."
        return Origin(kind, theirs if is_theirs else "Initial design: spread over the space, without the others.")
    return Origin(kind, f"{_said(site, decision, turn, proposed, sites)}.", tuple(_numbers(site, turn, sites)))


def _said(site: str, decision: Decision | None, turn: Turn, proposed: Point, sites: tuple[str, ...]) -> str:
    """The sentence, without its full stop."""
    answer, note = turn.answer, turn.note
    if decision is None:
        return "Proposed; it waits for the others"
    if answer is None or decision is Decision.UNREACHABLE:
        return "Your own proposal: the others could not be reached"
    if decision is Decision.BORROWED:
        return "The best design of another site, to see whether it is good here as well"
    if decision is Decision.CONTRADICTED:
        return f"Your own proposal{_because(note)}"
    if decision is Decision.OTHER:
        return f"Another design than yours or the average: {plain(answer.verdict.reason) or 'your strategy chose it'}"
    if decision is Decision.DECLINED:
        return _declined(answer, turn)
    if _is_mixed(turn, proposed):
        return _average(site, turn, answer, sites)
    if turn.is_drawn:
        return "Drawn to where the sites' best designs lie"
    return f"Your own proposal{_because(note) or _nothing_mixed(answer, sites.index(site))}"


def _declined(answer: Answer, turn: Turn) -> str:
    """Why the site ran its own proposal and not the average; the sentence never says that the others decided."""
    why = plain(answer.verdict.reason) or "the average with the others was not run"
    if turn.note.stance is Stance.DOUBT and turn.note.reason:
        return f"Your own proposal: {plain(turn.note.reason)}, and {why}"
    return f"Your own proposal: {why}"


def _average(site: str, turn: Turn, answer: Answer, sites: tuple[str, ...]) -> str:
    """What was mixed, in words."""
    others = [sites[k] for k, w in enumerate(answer.weights) if sites[k] != site and w > 0.005]
    own = answer.weights[sites.index(site)] > 0.005
    if len(others) == 1 and not own:
        return f"The proposal of {others[0]}"
    whose = _whose("the others" if len(others) != 1 else others[0])
    start = f"An average of your proposal and {whose}" if own else f"An average of {whose} proposals"
    leads = "" if answer.leader is None else f", led by {'you' if answer.leader == site else answer.leader}"
    drawn = ", yours drawn to where the sites' best designs lie" if own and turn.is_drawn else ""
    return f"{start}{leads}{drawn}"


def _whose(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def _nothing_mixed(answer: Answer, own: int) -> str:
    """Why a mix that was followed is the site's own proposal."""
    if len(answer.weights) == 1:
        return ""
    if all(weight <= 1e-9 for k, weight in enumerate(answer.weights) if k != own):
        return ": nothing of the others is used this time"
    return ": the average with the others is the same"


def _because(note: Note) -> str:
    return f": {plain(note.reason)}" if note.reason else ""


def plain(reason: str) -> str:
    """A reason in plain words; a user's own strategy says it in its own."""
    if TOO_LITTLE.fullmatch(reason):
        return NOT_ENOUGH
    return PLAIN.get(reason, IN_NUMBERS.sub("", reason))


def _is_mixed(turn: Turn, proposed: Point) -> bool:
    return turn.answer is not None and turn.answer.mix != proposed


# ------------------------------------------------------------------------------------------------------- the numbers


def _numbers(site: str, turn: Turn, sites: tuple[str, ...]) -> list[tuple[str, str]]:
    """What a reader of the paper asks for."""
    answer, note = turn.answer, turn.note
    said = [("turn", str(turn.number))]
    if answer is not None:
        said.append(("mix", _recipe(answer.weights, sites.index(site), sites)))
        if answer.leader is not None:
            said.append(("leader", answer.leader))
    if note.stance is not None:
        said.append(("stance", f"{note.stance}{f', because {note.reason}' if note.reason else ''}"))
    if note.log_odds is not None:
        said.append(("log odds that best designs lie together", f"{note.log_odds:+.1f} nats"))
    if note.consistency is not None:
        said.append(("your outcomes are consistent with that", f"rank correlation {note.consistency:+.2f}"))
    if note.pull:
        said.append(("pull of the others' best designs", f"{note.pull:.1f} nats"))
    if answer is not None:
        said.append(("gate", _judged(answer, note)))
    return said


def _judged(answer: Answer, note: Note) -> str:
    """What the site thought of the mix."""
    verdict = answer.verdict
    log_share = verdict.log_worth + verdict.pull - note.log_worth - note.pull
    is_known = abs(log_share) < LARGEST and bool(verdict.log_worth or note.log_worth)
    known = f"; by your own utility it is worth {100 * exp(log_share):.2g} % of your proposal" if is_known else ""
    if verdict.follows:
        return f"the mix was accepted{known}"
    if verdict.instead is not None:
        return f"another design instead{f', because {verdict.reason}' if verdict.reason else ''}"
    return f"the mix was not run{f', because {verdict.reason}' if verdict.reason else ''}{known}"


def _recipe(weights: Point, own: int, sites: tuple[str, ...]) -> str:
    """'70 % group mean, 30 % your own optimum': a row of W in words.

    The smallest weight of any site present is common to all: that part is the group's mean; the rest belongs to single
    sites.
    """
    others = {sites[k]: w for k, w in enumerate(weights) if k != own and w > 1e-9}
    if not others:
        return "100 % your own optimum"
    common = min([*others.values(), weights[own]])
    shares = {name: w - common for name, w in others.items()}
    group = "group mean" if len(others) == len(weights) - 1 else f"mean of {len(others) + 1} sites"
    parts = [(common * (len(others) + 1), group), (weights[own] - common, "your own optimum")]
    parts += [(share, name) for name, share in sorted(shares.items(), key=lambda item: -item[1])]
    return ", ".join(f"{100 * share:.0f} % {what}" for share, what in parts if share >= 0.005)
