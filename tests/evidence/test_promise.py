"""What the default promises, held against the committed evidence: 30 seeds by which nothing was chosen."""

import re
from pathlib import Path

import numpy as np
import pytest

from cboc.evidence.job import Row
from cboc.evidence.paper import DISPLACED, FURTHER, LIFE, SCENARIOS, SIZES, TABLES
from cboc.evidence.results import Results
from cboc.evidence.scenario import Kind
from cboc.evidence.tables.summary import Summary

ROOT = Path(__file__).parents[2]
UNRELATED = [row for row in FURTHER if row.kind == Kind.UNRELATED]
TABLED = {"the paper's": SCENARIOS, "displaced": DISPLACED}


@pytest.fixture(scope="module")
def summary():
    return Summary(Results(ROOT / "evidence", Row).rows.values())


def cells(summary, rows, against="individual"):
    return [summary.cell(row, "default", "cboc", against) for row in rows]


def above(pairs):
    return sum(pair.interval[0] > 0.0 for pair in pairs)


def below(pairs):
    return sum(pair.interval[1] < 0.0 for pair in pairs)


@pytest.mark.parametrize("gain", ["gain", "area_gain", "worst_gain"])
@pytest.mark.parametrize(
    "rows", [SCENARIOS, DISPLACED, FURTHER, LIFE, SIZES], ids=["paper", "displaced", "more", "life", "sizes"]
)
def test_no_row_is_clearly_worse_than_working_alone(summary, rows, gain):
    assert below([getattr(cell, gain) for cell in cells(summary, rows)]) == 0


@pytest.mark.parametrize("rows", [SCENARIOS, DISPLACED, UNRELATED], ids=["paper", "displaced", "unrelated"])
def test_these_are_thirty_seeds(summary, rows):
    assert all(len(cell.alone) == 30 for cell in cells(summary, rows))


@pytest.mark.parametrize("rows", TABLED.values(), ids=TABLED)
@pytest.mark.parametrize("rival", ["individual", "cboc-u", "cboc-l", "dp-fts-de"])
def test_the_area_is_clearly_larger_in_ten_of_thirteen_rows(summary, rows, rival):
    assert above([cell.area_gain for cell in cells(summary, rows, rival)]) >= 10


@pytest.mark.parametrize("rows", TABLED.values(), ids=TABLED)
def test_half_of_the_rounds_are_enough_in_half_of_the_rows(summary, rows):
    shares = [ours / theirs for ours, theirs in (cell.rounds for cell in cells(summary, rows))]
    assert np.median(np.nan_to_num(shares, nan=np.inf)) <= 0.5


def test_the_gain_grows_with_the_sites(summary):
    sizes = [row for row in (*TABLES[2].scenarios, *SIZES) if row.sites in (5, 10, 20, 50)]
    gains = [cell.gain.difference for cell in cells(summary, sorted(sizes, key=lambda row: row.sites))]
    assert gains == sorted(gains)


def test_the_readme_counts_as_the_evidence_does(summary):
    text = re.sub(r"\s+", " ", (ROOT / "README.md").read_text(encoding="utf-8"))
    for name, rows in TABLED.items():
        finals, areas = (above([getattr(cell, of) for cell in cells(summary, rows)]) for of in ("gain", "area_gain"))
        said = re.search(
            rf"{name} rows: final Gap above working alone in (\d+) of 13, area in (\d+), below in none",
            text,
            re.IGNORECASE,
        )
        assert said is not None, name
        assert (int(said[1]), int(said[2])) == (finals, areas)
