"""The committed evidence: its tables follow from its rows, and its rows from their seeds."""

from pathlib import Path

import numpy as np
import pytest

from cboc.evidence.biosensor.labs import SPACE
from cboc.evidence.casestudy import SETUPS, Account, Attempt
from cboc.evidence.dial import Reading
from cboc.evidence.engines import engine
from cboc.evidence.job import Row, work
from cboc.evidence.methods import tuning
from cboc.evidence.methods.registry import METHODS
from cboc.evidence.paper import SCENARIOS
from cboc.evidence.real.campaign import Progress
from cboc.evidence.results import EDITION, Results
from cboc.evidence.tables import simulation
from cboc.evidence.tables.casestudy import case_tables
from cboc.evidence.tables.dial import dial_details, dial_tables
from cboc.evidence.tables.real import real_details, real_tables
from cboc.evidence.tables.summary import Summary
from cboc.evidence.tables.table import Writing, write
from cboc.evidence.theory import RULES, Course
from cboc.evidence.theory import SCENARIOS as SCENARIOS_OF_THEORY

EVIDENCE = Path(__file__).parents[2] / "evidence"


ROWS = {"paper": SCENARIOS, "honest": [row for rows in simulation.HONEST.values() for row in rows]}


@pytest.mark.parametrize("name", ROWS)
def test_the_tables_follow_from_the_rows(name):
    tables, details = getattr(simulation, f"{name}_tables"), getattr(simulation, f"{name}_details")
    summary = Summary(Results(EVIDENCE, Row).rows.values()).only(ROWS[name])
    tables = [*tables(summary, summary.surrogates), *(s for s in details(summary, summary.surrogates) if s.rows)]
    for writing in Writing:
        assert (EVIDENCE / f"{name}.{writing}").read_text(encoding="utf-8") == write(tables, writing)


@pytest.mark.parametrize("writing", Writing)
def test_the_theorys_table_follows_from_its_runs(writing):
    courses = list(Results(EVIDENCE / "theory", Course, "theory").rows.values())
    order = [(scenario, method) for scenario in SCENARIOS_OF_THEORY for method in RULES]
    courses.sort(key=lambda course: (course.job.seed, order.index((course.job.scenario, course.job.method))))
    written = (EVIDENCE / f"theory/theory.{writing}").read_text(encoding="utf-8")
    assert written == write([simulation.theory_table(courses)], writing)


def test_some_rows_run_again_are_the_same_bit_for_bit():
    results = Results(EVIDENCE, Row)
    if results.edition != EDITION:
        pytest.skip(f"the evidence is that of edition {results.edition}; it is to be run again")
    cheap = sorted((job for job in results.rows if job.size <= 400), key=lambda job: (-job.seed, job))[:6]
    again = dict(engine("local", 2)(work, cheap))
    same = [again[job][0] == results.rows[job].to_json() for job in cheap]
    if not results.is_at_home:
        pytest.skip("the evidence was made with other libraries, which may round differently")
    assert all(same)


def test_no_reported_seed_was_tuned_on():
    assert not {job.seed for job in Results(EVIDENCE, Row).rows} & set(tuning.SEEDS)


def test_every_rival_has_the_settings_that_its_grid_chose():
    summary = Summary(Results(EVIDENCE / "tuning", Row).rows.values())
    for name, grid in tuning.GRIDS.items():
        areas = {}
        for knobs in grid:
            cells = [summary.cell(scenario, "default", f"{name}: {knobs}") for scenario in tuning.SCENARIOS]
            areas[knobs] = sum(cell.area.mean for cell in cells)
        assert METHODS[name] == grid[max(areas, key=areas.get)]


def test_the_case_studys_table_follows_from_its_runs():
    accounts = sorted(Results(EVIDENCE / "biosensor", Account, "biosensor").rows.values(), key=lambda one: one.job)
    for writing in Writing:
        written = (EVIDENCE / f"biosensor/biosensor.{writing}").read_text(encoding="utf-8")
        assert written == write(case_tables(accounts), writing)


@pytest.mark.skipif(not (EVIDENCE / "real").exists(), reason="the campaigns on real tables are not committed yet")
@pytest.mark.parametrize("writing", Writing)
def test_the_tables_of_the_campaigns_on_real_tables_follow_from_their_rows(writing):
    results = Results(EVIDENCE / "real", Progress, "real")
    rows = [results.rows[job] for job in sorted(results.rows)]
    tables = [*real_tables(rows), *real_details(rows)]
    assert (EVIDENCE / f"real/real.{writing}").read_text(encoding="utf-8") == write(tables, writing)


@pytest.mark.skipif(not (EVIDENCE / "dial").exists(), reason="the worlds with a dial are not committed yet")
@pytest.mark.parametrize("writing", Writing)
def test_the_tables_of_the_dial_follow_from_their_rows(writing):
    results = Results(EVIDENCE / "dial", Reading, "dial")
    rows = [results.rows[job] for job in sorted(results.rows)]
    assert all(row.job.is_reported for row in rows)
    tables = [*dial_tables(rows), *(table for table in dial_details(rows) if table.rows)]
    assert (EVIDENCE / f"dial/dial.{writing}").read_text(encoding="utf-8") == write(tables, writing)


@pytest.mark.parametrize("setup", ["paper", "labs"])
def test_a_simulation_of_the_case_study_gives_the_same_again(setup):
    rows = Results(EVIDENCE / "biosensor", Account, "biosensor").rows.values()
    account = next(one for one in rows if one.job == Attempt(setup, "cboc", 1))
    for site, number in ((0, 0), (1, -1)):
        x = SPACE.from_unit(account.designs[site, number])
        y = SETUPS[setup].problems()[site].function(np.array([[x[name] for name in SPACE.names]]))[0]
        assert y == pytest.approx(account.outcomes[site, number], rel=1e-6)
