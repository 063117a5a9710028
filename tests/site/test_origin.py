"""Where a design comes from: one function decides on the label and the sentence, and they agree."""

import re
from itertools import product

import pytest

from cboc.site.origin import Kind
from cboc.site.trial import Status, Trial
from cboc.site.turn import Answer, Decision, Turn
from cboc.strategy.verdict import APART, Note, Stance, Verdict

SITES = ("a", "b", "c")
THIRD = 0.7 / 3
BENCH = re.compile(r"\b(nats|Q2|Q²|gate|mix|mixed|log odds|turn|stance|utility|snapshot|rank correlation)\b|%")
CONTRADICTS = "your outcomes contradict the others' best designs (rank correlation -0.42)"
DOUBT = Note(stance=Stance.DOUBT, keeps=0.5, reason=APART, log_odds=-0.5)
LITTLE = Verdict(False, -1.0, reason="it keeps less than 50 % of what your own promises")
GATED = Verdict(False, reason="your gate declines it")


def trial(decision, verdict=None, note=None, weights=(THIRD + 0.3, THIRD, THIRD), mix=(0.2,), leader=None):
    verdict = Verdict(decision is Decision.FOLLOWED) if verdict is None else verdict
    turn = Turn(3, note or Note(), (), Answer(mix, weights, 3, verdict, leader))
    return Trial("a", 9, Status.PENDING, (0.1,), turn, decision)


@pytest.mark.parametrize(
    ("given", "kind", "sentence"),
    [
        (trial(Decision.FOLLOWED), Kind.SHARED, "An average of your proposal and the others'."),
        (
            trial(Decision.FOLLOWED, leader="b"),
            Kind.SHARED,
            "An average of your proposal and the others', led by b.",
        ),
        (trial(Decision.FOLLOWED, leader="a", weights=(0.2, 0.4, 0.4)), Kind.SHARED, None),
        (trial(Decision.FOLLOWED, weights=(0.0, 1.0, 0.0)), Kind.SHARED, "The proposal of b."),
        (trial(Decision.FOLLOWED, weights=(0.5, 0.5, 0.0)), Kind.SHARED, "An average of your proposal and b's."),
        (trial(Decision.FOLLOWED, weights=(0.0, 0.5, 0.5)), Kind.SHARED, "An average of the others' proposals."),
        (
            trial(Decision.FOLLOWED, note=Note(pull=2.0)),
            Kind.SHARED,
            "An average of your proposal and the others', yours drawn to where the sites' best designs lie.",
        ),
        (
            trial(Decision.FOLLOWED, note=Note(pull=2.0), mix=(0.1,), weights=(1.0, 0.0, 0.0)),
            Kind.SHARED,
            "Drawn to where the sites' best designs lie.",
        ),
        (
            trial(Decision.FOLLOWED, mix=(0.1,), weights=(1.0, 0.0, 0.0)),
            Kind.OWN,
            "Your own proposal: nothing of the others is used this time.",
        ),
        (
            trial(Decision.FOLLOWED, mix=(0.1,)),
            Kind.OWN,
            "Your own proposal: the average with the others is the same.",
        ),
        (
            trial(Decision.DECLINED, LITTLE, DOUBT),
            Kind.OWN,
            "Your own proposal: the sites' best designs are not clearly close to each other yet, and the average with "
            "the others promised too little here.",
        ),
        (
            trial(Decision.DECLINED, GATED, Note(pull=2.0)),
            Kind.OWN,
            "Your own proposal: the average with the others promised too little here.",
        ),
        (
            trial(Decision.DECLINED, Verdict(False, reason="another well of the plate is close to it")),
            Kind.OWN,
            "Your own proposal: another well of the plate is close to it.",
        ),
        (
            trial(Decision.CONTRADICTED, Verdict(False), Note(stance=Stance.ALONE, reason=CONTRADICTS)),
            Kind.OWN,
            "Your own proposal: your outcomes contradict the others' best designs.",
        ),
        (trial(Decision.CONTRADICTED, Verdict(False)), Kind.OWN, "Your own proposal."),
        (
            trial(Decision.OTHER, Verdict(False, reason="the plate has room", instead=(0.3,))),
            Kind.OWN,
            "Another design than yours or the average: the plate has room.",
        ),
        (
            trial(Decision.BORROWED, Verdict(False, instead=(0.3,), borrows=True), DOUBT),
            Kind.SHARED,
            "The best design of another site, to see whether it is good here as well.",
        ),
        (
            Trial("a", 0, Status.PENDING, (0.1,), decision=Decision.INITIAL),
            Kind.INITIAL,
            "Initial design: spread over the space, without the others.",
        ),
        (
            Trial("a", 0, Status.PENDING, (0.1,), decision=Decision.BORROWED),
            Kind.SHARED,
            "Initial design: the best of another site, of those known when you began.",
        ),
        (
            Trial("a", 3, Status.PENDING, (0.1,), Turn(0, Note(pull=3.0)), Decision.UNREACHABLE),
            Kind.OWN,
            "Your own proposal: the others could not be reached.",
        ),
        (Trial("a", 3, Status.SUBMITTED, (0.1,), Turn(0, Note())), Kind.OWN, "Proposed; it waits for the others."),
        (
            Trial("a", 3, Status.ABANDONED, (0.1,), Turn(0, Note())),
            Kind.OWN,
            "Your own proposal: it was abandoned before there was an answer.",
        ),
        (
            Trial("a", 3, Status.STOPPED, (0.1,), Turn(0, Note())),
            Kind.OWN,
            "Stopped: no design promises more than your threshold.",
        ),
    ],
)
def test_the_label_and_the_sentence(given, kind, sentence):
    assert given.kind is given.origin(SITES).kind is kind and given.is_shared == (kind is Kind.SHARED)
    assert sentence is None or given.explain(SITES) == sentence


def test_a_label_never_contradicts_its_sentence_and_no_bench_word_is_in_one():
    """Every decision with every stance, pull and row of W."""
    notes = [DOUBT, Note(pull=2.0), Note(stance=Stance.ALONE, reason=CONTRADICTS), Note(stance=Stance.TOGETHER)]
    weights = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (THIRD + 0.3, THIRD, THIRD)]
    verdicts = [LITTLE, GATED, Verdict(False, instead=(0.3,)), Verdict(True)]
    counted = 0
    for decision, note, row, verdict, mix in product(Decision, notes, weights, verdicts, [(0.1,), (0.2,)]):
        if decision is Decision.INITIAL:
            continue
        each = trial(decision, verdict, note, row, mix)
        said = each.explain(SITES)
        assert said.startswith("Your own proposal") <= (each.kind is Kind.OWN), said
        is_theirs = said.startswith(("An average", "The best design of", "Drawn", "The proposal of b"))
        assert is_theirs == each.is_shared, said
        assert not BENCH.search(said), said
        counted += 1
    assert counted == 6 * 4 * 3 * 4 * 2


def test_the_numbers_are_beside_the_sentence():
    numbers = dict(trial(Decision.DECLINED, LITTLE, DOUBT).origin(SITES).numbers)
    assert numbers == {
        "turn": "3",
        "mix": "70 % group mean, 30 % your own optimum",
        "stance": f"in doubt, because {APART}",
        "log odds that best designs lie together": "-0.5 nats",
        "gate": "the mix was not run, because it keeps less than 50 % of what your own promises; by your own utility "
        "it is worth 37 % of your proposal",
    }
    assert dict(trial(Decision.FOLLOWED, leader="b", weights=(0.5, 0.3, 0.2)).origin(SITES).numbers)["mix"] == (
        "60 % group mean, 30 % your own optimum, 10 % b"
    )
