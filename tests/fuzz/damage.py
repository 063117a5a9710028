"""What may happen to a file, drawn by a seed: flipped bits, cuts, and pieces that are missing, doubled or elsewhere.

Whatever happens, a file is refused in one sentence, or says what was written.
"""

import random
from collections import Counter

from cboc import CbocError

LONGEST = 1500  # characters of a sentence


def flips(data, many, seed=0):
    """Copies of which each has one flipped bit, all over the data."""
    draw = random.Random(seed)
    step = len(data) / many
    for k in range(many):
        place = min(len(data) - 1, int((k + draw.random()) * step))
        yield data[:place] + bytes([data[place] ^ (1 << draw.randrange(8))]) + data[place + 1 :]


def cuts(data, many, seed=0):
    """Beginnings, of any length."""
    draw = random.Random(seed)
    for _ in range(many):
        yield data[: draw.randrange(len(data))]


def splices(data, many, seed=0, longest=400):
    """Copies in which a piece is missing, doubled, overwritten with zeros, or has changed places with another."""
    draw = random.Random(seed)
    for _ in range(many):
        a, size = draw.randrange(len(data)), draw.randrange(1, longest)
        piece, how = data[a : a + size], draw.randrange(4)
        if how == 0:
            yield data[:a] + data[a + size :]
        elif how == 1:
            yield data[: a + size] + data[a:]
        elif how == 2:
            yield data[:a] + bytes(len(piece)) + data[a + size :]
        else:
            rest, b = data[:a] + data[a + size :], draw.randrange(len(data) - len(piece) + 1)
            yield rest[:b] + piece + rest[b:]


def is_a_sentence(text):
    """Whether people can read it: no traceback, no second line, nothing endless."""
    return 0 < len(text) <= LONGEST and "\n" not in text and text.rstrip("'\")")[-1:] in (".", "?", "!")


def judged(variants, read, said):
    """How many variants were refused in a sentence, and how many say what was written; any other is a mistake.

    `read` gives what a variant says, `said` whether that is what was written.
    """
    counts, refusals = Counter(refused=0, unchanged=0), []
    for variant in variants:
        try:
            found = read(variant)
        except CbocError as error:
            refusals.append(str(error))
            counts["refused"] += 1
        else:
            assert said(found), found
            counts["unchanged"] += 1
    for text in refusals:
        assert is_a_sentence(text), text
    return counts
