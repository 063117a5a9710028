"""The style sheet: its text can be read and its marks be seen, in light and in dark, by the formulas of WCAG 2."""

import re
from importlib.resources import files

import pytest

STYLE = files("cboc.web").joinpath("static", "style.css").read_text(encoding="utf-8")
LIGHT, DARK = (
    dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in re.findall(r":root[^{]*{(.*?)}", STYLE, re.S)
)
TEXT = (
    *[(ink, ground) for ink in ("ink", "quiet", "accent") for ground in ("paper", "ground")],
    *[("on-accent", "accent"), ("good", "good-ground"), ("wait", "wait-ground"), ("bad", "bad-ground")],
    *[("ink", "faint"), ("quiet", "faint"), ("ink", "none"), ("ink", "all")],
)
MARKS = (*[(f"site-{number}", "paper") for number in range(10)], ("edge", "paper"), ("edge", "ground"))


def luminance(colour):
    """Relative luminance: 0.2126 R + 0.7152 G + 0.0722 B, each linear."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    """(L1 + 0.05) / (L2 + 0.05), the lighter one first."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_formula_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # the well-known grey that just fails


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("least", "pairs"), [(4.5, TEXT), (3.0, MARKS)], ids=["text", "marks"])
def test_text_can_be_read_and_marks_can_be_seen(scheme, least, pairs):
    colours = LIGHT | scheme
    found = {pair: round(contrast(colours[pair[0]], colours[pair[1]]), 2) for pair in pairs}
    assert {pair: ratio for pair, ratio in found.items() if ratio < least} == {}
