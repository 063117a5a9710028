"""The case study's jobs and accounts; the simulator itself is verified in tests/problems/biosensor."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from cboc.cli.app import app
from cboc.errors import CbocError
from cboc.evidence.biosensor.labs import BEST, LABS, SPACE, biosensor
from cboc.evidence.biosensor.response import Numerics
from cboc.evidence.casestudy import FAILING, INITIAL, SETUPS, SLOW, Account, Attempt, Setup, attempt
from cboc.evidence.tables.casestudy import case_tables

COARSE, LESS_COARSE = Numerics(0.5), Numerics(0.7)  # the labs' layers are thinner


@pytest.fixture(scope="module", autouse=True)
def short():
    """Two rounds on real simulations, on a mesh that is cheaper."""
    with pytest.MonkeyPatch.context() as patch:
        for name, setup in SETUPS.items():
            patch.setitem(SETUPS, name, replace(setup, rounds=2))
        patch.setattr(Setup, "problems", lambda setup: [biosensor(COARSE)] * setup.sites)
        yield


@pytest.fixture(scope="module")
def told():
    row, cpu = attempt(Attempt("paper", "cboc", 0))
    assert cpu > 0.0
    return Account.from_json(json.loads(json.dumps(row)))


def test_an_account_holds_every_simulation_and_survives_json(told):
    assert told.designs.shape == (3, INITIAL + 2, 3) and told.outcomes.shape == (3, INITIAL + 2)
    assert Account.from_json(told.to_json()) == told
    design = SPACE.from_unit(told.designs[1, -1])
    assert biosensor(COARSE)(design) == pytest.approx(told.outcomes[1, -1], rel=1e-5)  # that of the design
    assert (np.diff(told.best, axis=1) >= 0.0).all() and told.best.shape == (3, 3)


def test_every_method_starts_from_the_same_designs(told):
    alone = Account.from_json(attempt(Attempt("paper", "individual", 0))[0])
    np.testing.assert_array_equal(alone.designs[:, :INITIAL], told.designs[:, :INITIAL])
    assert (alone.designs[:, INITIAL:] != told.designs[:, INITIAL:]).any()


def test_slow_labs_are_absent_and_failures_have_no_outcome():
    row, _ = attempt(Attempt("trouble", "individual", 0))
    account = Account.from_json(row)
    absent = np.isnan(account.designs[:, INITIAL + 1]).all(axis=1)
    assert np.flatnonzero(absent).tolist() == list(SLOW)
    assert np.isfinite(account.outcomes[:, :INITIAL]).all() and SETUPS["trouble"].failing == FAILING


def test_the_sheet_says_who_has_what(told):
    alone = Account(replace(told.job, method="individual"), told.designs, 0.5 * told.outcomes)
    (table,) = case_tables([told, alone])
    mean = 1e3 * told.best[:, -1].mean()
    assert [row[0] for row in table.rows] == ["individual", "cboc"]
    assert table.rows[1][2].startswith(f"{mean:.3f}") and table.rows[1][4].startswith(f"{0.5 * mean:+.3f}")
    (turned,) = case_tables([replace(told, outcomes=0.4 * told.outcomes), alone])
    assert turned.rows[1][-1].startswith("never, ")


def test_every_margin_of_the_sheet_is_a_95_percent_interval(told):
    """Two seeds, 1 and 1 + d: the mean is 1 + d/2, and t₀.₉₇₅ = 12.706 with one degree of freedom."""
    seeds = [replace(told, job=replace(told.job, seed=k), outcomes=(1.0 + k) * told.outcomes) for k in (0, 1)]
    alone = [replace(each, job=replace(each.job, method="individual"), outcomes=told.outcomes) for each in seeds]
    (table,) = case_tables([*seeds, *alone])
    mean = 1e3 * told.best[:, -1].mean()
    assert table.rows[1][2] == f"{1.5 * mean:.3f} ± {12.7062047 * 0.5 * mean:.3f}"
    assert table.rows[1][4] == f"{0.5 * mean:+.3f} ± {12.7062047 * 0.5 * mean:.3f}"
    (note,) = table.notes
    assert "every ± is a 95 % interval" in note and "default surrogate" in note and "standard error" not in note


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (lambda: Attempt("papers", "cboc", 0), "not a setup of the case study; did you mean 'paper'"),
        (lambda: Attempt("paper", "cbocc", 0), "not a method of this library; did you mean 'cboc'"),
        (lambda: Attempt("paper", "cboc", -1), "a seed is a whole number from 0"),
    ],
)
def test_bad_attempts(made, sentence):
    with pytest.raises(CbocError, match=sentence):
        made()


def test_an_unknown_setup_on_the_command_line_is_one_sentence(tmp_path):
    result = CliRunner().invoke(app, ["evidence", "biosensor", "--setup", "labz", "--out", str(tmp_path)])
    assert result.exit_code == 2 and "did you mean 'labs'" in result.output and "Traceback" not in result.output


def test_a_damaged_account_is_refused(told):
    with pytest.raises(ValueError, match="shape"):
        Account(told.job, told.designs[:, 1:], told.outcomes)
    with pytest.raises(ValueError, match="outside the box"):
        Account(told.job, told.designs + 2.0, told.outcomes)
    with pytest.raises(ValueError, match="shape"):
        Account(told.job, told.designs[..., :2], told.outcomes)
    nothing = np.full_like(told.outcomes, np.nan)
    with pytest.raises(ValueError, match="no initial outcome"):
        Account(told.job, told.designs, nothing)
    absent = told.designs.copy()
    absent[0, -1] = np.nan
    with pytest.raises(ValueError, match="or an outcome without a design"):
        Account(told.job, absent, told.outcomes)


def test_the_papers_optimum_is_a_corner():
    problem = biosensor(COARSE)
    low, high = problem.box
    near = low + (high - low) * np.array([[0.95, 0.0, 0.0], [1.0, 0.05, 0.0], [1.0, 0.0, 0.05]])
    assert (problem.function(near) < problem.optimum).all()
    assert problem.optimum == float(problem.function(np.array(BEST))[0])


@pytest.mark.parametrize("lab", LABS[::5])
def test_a_labs_optimum_is_inside_the_box_and_nothing_near_is_better(lab):
    worth, (inflow, pulse) = lab.worth(LESS_COARSE), lab.best
    top = worth(np.array([inflow, BEST[1], pulse]))[0]
    around = [(1.1 * inflow, BEST[1], pulse), (0.9 * inflow, BEST[1], pulse)]
    around += [(inflow, BEST[1], 1.15 * pulse), (inflow, BEST[1], 0.85 * pulse), (inflow, 1.9e-8, pulse)]
    assert (worth(np.array(around)) < top).all()
    assert 1e-4 < inflow < 1e-2 and 0.5 < pulse < 3.0
