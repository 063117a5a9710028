"""Damaged journals: a bit, a line or an end that is not as it was written never gives other trials."""

import random

import pytest

from cboc import Policy, Study, simulate
from cboc.storage.journal import Journal, read_journal

from .damage import cuts, flips, judged, splices

STUDY = Study({"a": (0.0, 1.0), "b": (-5.0, 5.0)}, ("lab-a", "lab-b"), 3, name="journal")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "journal.jsonl"
    experiments = dict.fromkeys(STUDY.sites, lambda design: round(design["a"] * design["b"], 6))
    simulate(STUDY, experiments, direction="maximise", policy=Policy(initial=2, seed=1), journal=path)
    return path.read_bytes()


@pytest.fixture
def reading(tmp_path):
    """A function that reads what a journal with these bytes says, and whether it can be continued."""
    path = tmp_path / "journal.jsonl"

    def read(content):
        path.write_bytes(content)
        header, trials, length = read_journal(path)
        Journal(path, {name: value for name, value in header.items() if name != "format"}).close()
        assert path.read_bytes() == content[:length] and read_journal(path)[1] == trials
        return header, trials

    return read


def test_a_flipped_bit_is_refused(written, reading, tally):
    counts = judged(flips(written, 1500), reading, lambda _: False)  # every byte counts
    tally("flipped bits in a journal", **counts)


def test_a_cut_leaves_what_was_written_before(written, reading, tally):
    lines = written.splitlines(keepends=True)
    whole = [reading(b"".join(lines[:k])) for k in range(1, len(lines) + 1)]
    draw = random.Random(1)
    ends = [sum(map(len, lines[:k])) for k in range(1, len(lines) + 1)]
    for content in (*cuts(written, 300), *(written[: end + draw.randrange(-2, 2)] for end in ends)):
        many = content.count(b"\n")
        counts = judged([content], reading, lambda found, many=many: found == whole[many - 1])
        assert counts["unchanged"] == (many > 0)
    tally("cuts of a journal", read_up_to_there=300 + len(ends))


def test_pieces_that_are_missing_or_elsewhere_are_refused(written, reading, tally):
    lines = written.splitlines(keepends=True)
    whole = [reading(b"".join(lines[:k])) for k in range(1, len(lines) + 1)]
    variants = [content for content in splices(written, 400) if content != written]
    counts = judged(variants, reading, lambda found: found in whole)  # what is missing may be the end
    tally("spliced journals", **counts)
    draw = random.Random(2)
    mixed = []
    for _ in range(200):
        a, b = sorted(draw.sample(range(len(lines)), 2))
        mixed += [b"".join([*lines[:a], *lines[b:]])] if b > a + 1 or a > 0 else []
        mixed += [b"".join([*lines[:a], lines[b], *lines[a + 1 : b], lines[a], *lines[b + 1 :]])]
    counts = judged([content for content in mixed if content != written], reading, lambda _: False)
    tally("journals with lines missing or elsewhere", **counts)
