"""Until a site has joined, the terms may be written anew; from then on they stay."""

import threading
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from cboc import CbocError, Study
from cboc.cli import coordinator
from cboc.cli.app import app
from cboc.coordinator.dashboard.overview import Overview
from cboc.coordinator.database import open_database
from cboc.coordinator.drafts import Drafts
from cboc.coordinator.rights import Act, Roles
from cboc.coordinator.tokens import NotAllowed, Tokens, new_secret
from cboc.coordinator.transactions import Transactions
from cboc.exchange.messages import Proposal

STUDY = Study({"a": (0.0, 1.0)}, ("x", "y"), 4, name="trial")
OTHER = Study({"a": (0.0, 2.0), "b": (0.0, 1.0)}, ("y", "z"), 6, name="trial", shares_best=False)


@pytest.fixture
def exchange(engine):
    exchange = Transactions(engine)
    exchange.create(STUDY)
    return exchange


def test_everything_may_change_and_a_coordinator_that_runs_sees_it(engine, exchange):
    overview, door = Overview(engine), Tokens(engine)
    gone, kept = door.invite("trial", "x"), door.invite("trial", "y")
    Roles(engine).note("ada", "trial", "x", Act.INVITED)
    assert exchange.study("trial").digest == STUDY.digest == overview.study("trial").study.digest  # both remember it
    Drafts(engine).replace(OTHER)
    assert exchange.study("trial").digest == OTHER.digest == overview.study("trial").study.digest
    assert exchange.study("trial").version == 0 and len(exchange.versions("trial")) == 1
    assert door.absent("trial") == ["y", "z"]
    assert door.join(kept, new_secret()) == ("trial", "y")  # who was invited sees the terms that are when joining
    with pytest.raises(NotAllowed, match="unknown"):
        door.join(gone, new_secret())
    exchange.submit("trial", Proposal("y", 0, [(0.5, 0.5)]))
    assert exchange.mix("trial", "y", 0).X == ((0.5, 0.5),)
    assert [deed.site for deed in Roles(engine).record("trial")] == ["x"]  # what was done stays on record


def test_once_a_site_has_joined_proposed_or_left_the_terms_stay(engine, exchange):
    drafts, door = Drafts(engine), Tokens(engine)
    assert drafts.is_draft("trial") and not drafts.is_draft("another")
    code, token = door.invite("trial", "x"), new_secret()
    door.join(code, token)
    assert not drafts.is_draft("trial")
    with pytest.raises(CbocError, match="a site has joined study 'trial' meanwhile, so its terms stay"):
        drafts.replace(OTHER)
    assert exchange.study("trial").digest == STUDY.digest
    for name, begin in (
        ("left", lambda: exchange.leave("left", "x")),
        ("said", lambda: exchange.submit("said", Proposal("x", 0, [(0.5,)], [(0.5,)]))),
        ("amended", lambda: exchange.amend(replace(STUDY, name="amended", horizon=9, budgets={}))),
    ):
        exchange.create(replace(STUDY, name=name))
        assert drafts.is_draft(name)
        begin()
        assert not drafts.is_draft(name), name


def test_terms_that_no_coordinator_can_run_are_refused_here_too(engine, exchange):  # noqa: ARG001
    with pytest.raises(CbocError, match="has no deadline; give one, or leave the quorum out"):
        Drafts(engine).replace(replace(OTHER, pace="rounds", quorum=2))


def test_of_a_site_that_joins_and_new_terms_at_the_same_moment_one_comes_first(engine, exchange):
    """Whoever is first: a site has joined, and its terms are those that are in force."""
    for turn in range(8):
        name = f"race {turn}"
        exchange.create(replace(STUDY, name=name))
        door, ready, done = Tokens(engine), threading.Barrier(2), {}
        code, token = door.invite(name, "y"), new_secret()

        def run(what, act, ready=ready, done=done):
            ready.wait()
            try:
                act()
                done[what] = True
            except CbocError:
                done[what] = False

        acts = {
            "join": lambda door=door, code=code, token=token: door.join(code, token),
            "replace": lambda name=name: Drafts(engine).replace(replace(OTHER, name=name)),
        }
        threads = [threading.Thread(target=run, args=each) for each in acts.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert done["join"] and door.who(token) == (name, "y")
        assert exchange.study(name).sites == (("y", "z") if done["replace"] else ("x", "y"))


TOML = """
[study]
name = "trial"
horizon = {horizon}
[space]
a = {{low = 0, high = {high}}}
[[site]]
name = "x"
[[site]]
name = "y"
"""


def test_by_the_commands(tmp_path, monkeypatch):
    monkeypatch.setattr(coordinator, "_run", lambda *_: None)
    url, file = f"sqlite:///{tmp_path / 'coordinator.db'}", tmp_path / "study.toml"
    for name in ("CBOC_DATABASE", "CBOC_NAMES", "FORWARDED_ALLOW_IPS"):  # that serving changes
        monkeypatch.setenv(name, "")

    def call(*command, code=0, said=None):
        words = [*map(str, command), "--database", url]
        result = CliRunner().invoke(app, words, input=said)
        assert result.exit_code == code, result.output
        return " ".join(result.output.split())

    def write(**terms):
        file.write_text(TOML.format(**terms))

    write(horizon=4, high=1)
    assert "begins with x, y" in call("serve", file)
    write(horizon=4, high=2)
    assert "has other terms now, which nobody had joined before: parameter 'a', high is 2" in call("serve", file)
    assert "goes on in round 0" in call("serve", file)
    write(horizon=9, high=3)
    assert "nothing was changed" in call("amend", file, code=2, said="n\n")
    said = call("amend", file, said="y\n")
    assert "horizon is 9 here and 4 there" in said and "Nobody had joined it" in said
    assert "there is nothing to change" in call("amend", file, code=2)
    engine = open_database(url)
    Tokens(engine).join(Tokens(engine).invite("trial", "x"), new_secret())
    engine.dispose()
    write(horizon=9, high=4)
    assert "has begun with other terms" in call("serve", file, code=2)
    assert "this cannot change in a study that runs" in call("amend", file, code=2)
