"""What a site's export wrote is read back as the same data, in CSV and in XLSX."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cboc import Choice, Dataset, Float, Int, Ledger, Policy, Site, Space, Study
from cboc.data.earlier.answers import Answers
from cboc.data.earlier.preview import look_into
from cboc.data.objective import Measurement
from cboc.data.spreadsheets import as_csv, as_xlsx
from cboc.site.table import table_of

PARAMETERS = {
    "T": Float(20, 90, unit="°C"),
    "time": Float(1e-3, 1e3, log=True, unit="h"),
    "cost": Float(-1, 1),
    "cycles": Int(1, 12),
    "share": Float(0, 1, step=0.1, unit="%"),
    "well": Choice(["A1", "B2", "1,234", "-OH", "min"]),
    "note": Choice([0.5, 1, 2.5]),
    "V": Float(100, 2000, unit="µL"),
}
OUTCOMES = st.floats(-1e12, 1e12).map(lambda y: y + 0.0)
TEXTS = st.text(alphabet="fail done,;\"'=0.5\n", max_size=12)


@st.composite
def labs(draw):
    """A site with results from before, and with trials in all states."""
    names = {"T", *draw(st.lists(st.sampled_from(sorted(PARAMETERS)), max_size=3))}
    objective = draw(st.sampled_from([("y", ""), ("yield", "%"), ("E-factor", ""), ("k cat", "1/s")]))
    space = Space({name: PARAMETERS[name] for name in sorted(names)})
    study = Study(space, ("lab",), 8, objectives=(objective[0],), units=(objective[1],))
    X = space.sample(3, np.random.default_rng(draw(st.integers(0, 99))))
    before = Dataset(X[:2], draw(st.tuples(OUTCOMES, OUTCOMES)), [0.5, np.nan], X[2:], direction="minimise")
    data = draw(st.sampled_from([None, before]))
    policy = Policy(initial=9, seed=draw(st.integers(0, 9)))
    site = Site(study, "lab", Ledger(study), direction="minimise", policy=policy, data=data)
    for trial in site.ask(count) if (count := draw(st.integers(0, 5))) else []:
        _end(draw, site, trial)
    return site


def _end(draw, site, trial):
    how = draw(st.sampled_from(["told", "told", "with sem", "failed", "abandoned", "open"]))
    if how in ("told", "with sem"):
        sem = draw(st.floats(0, 1e6)) if how == "with sem" else None
        site.tell(trial, Measurement(draw(OUTCOMES), sem), cost=draw(st.sampled_from([None, 0.0, 12.5])))
    elif how == "failed":
        site.fail(trial, draw(st.sampled_from(["", "the pump stopped", "failed"])))
    elif how == "abandoned":
        site.abandon(trial)
    text = draw(TEXTS)
    if text.strip():
        site.annotate(site.trial(trial.number), text)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(site=labs(), is_book=st.booleans())
def test_what_was_exported_is_read_back_as_the_same_data(site, is_book):
    table = table_of(site)
    content = as_xlsx(table, "lab") if is_book else as_csv(table).encode()
    objective = site.study.objective
    seen = look_into(content, "old", site.space, objective.name, objective.unit, Answers(repeats="keep"))
    over = sum(trial.status in ("complete", "failed") for trial in site.trials)
    assert seen.questions == () and len(seen.left_out) == len(site.trials) - over
    if not over + len(site.data) + len(site.data.failures):
        return
    back = seen.dataset("minimise")
    digits = 1e-15 if is_book else 0.0  # a book has sixteen
    np.testing.assert_allclose(back.y, site.dataset.y, rtol=digits)
    np.testing.assert_allclose(back.sem, site.dataset.sem, rtol=digits)
    np.testing.assert_allclose(back.X, site.dataset.X, atol=1e-9)
    np.testing.assert_allclose(back.failures, site.dataset.failures, atol=1e-9)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_what_a_dataset_writes_is_read_back_as_well(tmp_path, mark):
    space = Space({"T": Float(20, 90, unit="°C"), "solvent": Choice(["water", "-OH"])})
    data = Dataset([[0.1, 1, 0], [0.7, 0, 1]], [0.1 + 0.2, -1e-9], [0.1, np.nan], [[0.3, 0, 1]], direction="maximise")
    data.to_csv(tmp_path / "old.csv", space)
    content = mark.encode() + (tmp_path / "old.csv").read_bytes()
    assert look_into(content, "old.csv", space, "y", "", Answers()).dataset("maximise") == data
