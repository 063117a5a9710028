"""A study that runs is amended at its coordinator: real sites with their files, on a real socket, on both databases."""

import time
from dataclasses import replace
from functools import partial

import pytest
from typer.testing import CliRunner

import cboc
from cboc import CbocError, Changed, Finished, Policy, Study, Waiting
from cboc.cli.app import app
from cboc.consensus import is_doubly_stochastic
from cboc.coordinator.backup import backup, restore
from cboc.coordinator.dashboard.overview import Overview
from cboc.coordinator.database import open_database
from cboc.coordinator.seal import Key
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.exchange.messages import Proposal
from cboc.exchange.rest import Refused
from cboc.storage.sitefile import SiteFile

SPACE = {"a": (0.0, 1.0)}
SETTINGS = {"direction": "maximise", "policy": Policy(initial=0, seed=3)}


def study(pace="rounds", horizon=10, sites=("x", "y")):
    return Study(SPACE, sites, horizon, name="trial run", pace=pace)


@pytest.fixture
def join(tmp_path):
    return lambda file, *given, **options: cboc.join(*given, storage=tmp_path / f"{file}.db", **options)


def begun(engine, url, join, agreed):
    """The sites of a new study, each with its file."""
    Transactions(engine).create(agreed)
    return [join(site, url, Tokens(engine).invite(agreed.name, site), **SETTINGS) for site in agreed.sites]


def turn(*sites):
    """One turn of every site, side by side."""
    for site in sites:
        site.propose()
    for site in sites:
        trial = site.ask()
        site.tell(trial, 1.0 - (trial.x[0] - 0.4) ** 2)


@pytest.mark.parametrize("pace", ["rounds", "free"])
def test_a_site_is_admitted_at_round_5_of_10(engine, serving, join, pace):
    with serving(engine) as url:
        x, y = begun(engine, url, join, study(pace))
        for _ in range(5):
            turn(x, y)
        Transactions(engine).amend(study(pace, sites=("x", "y", "z")))
        for site in (x, join("y")):  # in the process that runs, and in a new one
            with pytest.raises(Changed, match="has changed: 'z' is admitted. Before its next turn .* cboc accept"):
                site.ask()
        x.accept()
        x.accept()
        y = join("y", accept=True)
        z = join("z", url, Tokens(engine).invite("trial run", "z"), **SETTINGS)
        assert x.study.digest == y.study.digest == z.study.digest and z.study.version == 1
        for _ in range(5):
            turn(x, y, z)
        for site in (x, y):
            with pytest.raises(Finished):
                site.ask()
    rows = [len(trial.answer.weights) for trial in join("y").trials]
    assert rows == [2] * 5 + [3] * 5  # the old rows are as they were
    assert [trial.explain(z.study.sites) for trial in join("y").trials]
    if pace == "rounds":
        matrices = [Overview(engine).matrix("trial run", state)[1] for state in range(10)]
        assert all(map(is_doubly_stochastic, matrices)) and [len(W) for W in matrices] == [2] * 5 + [3] * 5
        assert Overview(engine).designs("trial run")[1].shape == (10, 3, 1)
    (change,) = Overview(engine).study("trial run").history
    assert change.changes == ("'z' is admitted",) and change.at == pytest.approx(time.time(), abs=600.0)


def test_the_horizon_is_extended_after_everybody_has_finished_and_left(engine, serving, join):
    with serving(engine) as url:
        x, y = begun(engine, url, join, study(horizon=1))
        turn(x, y)
        for site in (x, y):
            with pytest.raises(Finished):
                site.ask()  # says goodbye
        Transactions(engine).amend(study(horizon=3))
        for name in ("x", "y"):
            with pytest.raises(Changed, match="the horizon grows from 1 to 3"):
                join(name).ask()
        x, y = (join(name, accept=True) for name in ("x", "y"))
        turn(x, y)
        turn(join("x"), join("y"))
        with pytest.raises(Finished, match="3 of 3 experiments"):
            join("x").ask()
    assert Overview(engine).study("trial run").closed == 3


def test_an_open_proposal_is_answered_as_it_was_agreed_then(engine, serving, join):
    with serving(engine) as url:
        x, y = begun(engine, url, join, study())
        x.propose()
        Transactions(engine).amend(study(sites=("x", "y", "z")))
        with pytest.raises(Waiting):
            x.ask()
        y.accept()
        z = join("z", url, Tokens(engine).invite("trial run", "z"), **SETTINGS)
        y.propose(), z.propose()
        assert x.ask().answer.weights == (1.0, 0.0)
        with pytest.raises(Waiting):  # its next turn, and nobody else has accepted and proposed
            join("x", accept=True).tell(x.to_run[0], 1.0), join("x").ask()
        assert len(y.ask().answer.weights) == len(z.ask().answer.weights) == 3


def test_a_site_that_never_accepts_is_waited_for_in_rounds_as_anybody(engine, serving, join):
    with serving(engine) as url:
        x, y = begun(engine, url, join, study())
        Transactions(engine).amend(study(horizon=12))
        x.accept()
        x.propose()
        with pytest.raises(Waiting) as waiting:
            x.ask()
        assert waiting.value.standing.missing == ("y",)
        y.accept(), y.propose()
        x.ask()


def test_a_kill_between_keeping_and_telling_loses_nothing(engine, serving, join, monkeypatch, tmp_path):
    with serving(engine) as url:
        x, y = begun(engine, url, join, study())
        Transactions(engine).amend(study(horizon=12))
        with monkeypatch.context() as patch:
            patch.setattr(x.network, "accept", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                x.accept()
        assert SiteFile(tmp_path / "x.db").about["agreement"]["horizon"] == 12
        y.accept()
        turn(join("x"), y)  # it says so before its next turn
        assert len(SiteFile(tmp_path / "x.db").about["agreements"]) == 1
        paths = [message.path for message in SiteFile(tmp_path / "x.db").sent()]
        assert paths.count("/v2/accept") == 1


def test_a_site_that_comes_back_with_the_old_agreement_or_expects_the_new_one(engine, serving, join):
    with serving(engine) as url:
        begun(engine, url, join, study())
        new = study(sites=("x", "y", "z"))
        Transactions(engine).amend(new)
        Tokens(engine).revoke("trial run", "x")
        x = join("x", url, Tokens(engine).invite("trial run", "x"))
        with pytest.raises(Changed):
            x.ask()
        with pytest.raises(Refused, match="the coordinator's study is not yours: sites"):
            join("z", url, Tokens(engine).invite("trial run", "z"), study=study(), **SETTINGS)
        z = join("z", study=new)  # a study file does not say how often it was amended
        assert z.study.version == 1 and join("x", study=study()).study.version == 0


def test_a_coordinator_may_not_slip_in_what_may_not_change(engine, serving, join):
    with serving(engine) as url:
        x, _ = begun(engine, url, join, study())
        for rule in ("leader", "identity"):
            x.network.agreed = partial(replace, study(), rule=rule, version=1)
            with pytest.raises(CbocError, match="cannot change in a study that runs: rule"):
                x.accept()
        assert x.study.version == 0


def test_a_change_that_is_not_allowed_and_a_proposal_of_nobody(engine):
    exchange = Transactions(engine)
    exchange.create(study())
    with pytest.raises(CbocError, match="a budget only grows"):
        exchange.amend(study(horizon=9))
    with pytest.raises(CbocError, match="there is no study 'other'"):
        exchange.amend(replace(study(), name="other"))
    exchange.amend(study(sites=("x", "y", "z")))
    with pytest.raises(CbocError, match="is not an agreement of study"):
        exchange.accept("trial run", "x", "0" * 16)
    with pytest.raises(Changed):
        Transactions(engine).submit("trial run", Proposal("x", 0, [(0.5,)]))
    exchange.submit("trial run", Proposal("z", 0, [(0.5,)]))  # admitted by it: nothing to accept


def test_a_backup_has_the_history(engine, url, tmp_path):
    exchange = Transactions(engine)
    exchange.create(study())
    exchange.amend(study(horizon=12))
    exchange.accept("trial run", "x", exchange.study("trial run").digest)
    exchange.submit("trial run", Proposal("x", 0, [(0.5,)]))
    key = Key.make(tmp_path / "backup.key").path
    assert backup(url, tmp_path / "monday", key)["earlier"] == 1
    other = f"sqlite:///{tmp_path / 'restored.db'}"
    restore(tmp_path / "monday", other, key)
    moved = open_database(other)
    assert [each.horizon for each in Transactions(moved).versions("trial run")] == [10, 12]
    with pytest.raises(Changed):
        Transactions(moved).submit("trial run", Proposal("y", 0, [(0.5,)]))
    moved.dispose()


TOML = """
[study]
name = "trial run"
horizon = {horizon}
[space]
a = {{low = 0, high = 1}}
[[site]]
name = "x"
[[site]]
name = "y"
{more}
"""


def test_by_the_commands(engine, serving, join, tmp_path):
    def call(*command, code=0, said=None):
        result = CliRunner().invoke(app, [str(part) for part in command], input=said)
        assert result.exit_code == code, result.output
        return " ".join(result.output.split())

    file, database = tmp_path / "study.toml", engine.url.render_as_string(hide_password=False)
    file.write_text(TOML.format(horizon=10, more=""))
    with serving(engine) as address:
        begun(engine, address, join, study("free"))
        x = ("--file", tmp_path / "x.db")
        assert "is agreed exactly so; there is nothing to change" in call("amend", file, "--database", database, code=2)
        assert "Nothing to accept" in call("accept", *x)
        file.write_text(TOML.format(horizon=12, more='[[site]]\nname = "z"'))
        assert "nothing was changed" in call("amend", file, "--database", database, code=2, said="n\n")
        said = call("amend", file, "--database", database, "--yes")
        assert "'z' is admitted the horizon grows from 10 to 12" in said and "version 1" in said
        assert "cboc invite makes invitations for z" in said
        assert "'z' is admitted" in call("ask", *x, code=2)
        assert "a change waits" in call("status", *x) and "version 1" not in call("status", *x)
        assert "nothing was changed" in call("accept", *x, code=2, said="n\n")
        assert "the horizon grows from 10 to 12" in call("accept", *x, said="y\n")
        said = call("status", *x)
        assert "a change waits" not in said and "version 1" in said and " of 12" in said
        call("ask", *x)
        assert "/v2/accept" in call("audit", *x)
