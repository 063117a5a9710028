"""Copies of a site's file: found out at the next ask, in one sentence; and never suspected where there is one file."""

import shutil
from contextlib import contextmanager, suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cboc
from cboc import CbocError, Policy, Study
from cboc.cli.doctor import _examine
from cboc.coordinator.database import open_database
from cboc.coordinator.schema import upgrade
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.exchange.messages import Proposal
from cboc.exchange.network import Conflict
from cboc.storage.sitefile import SiteFile

SPACE = {"a": (0.0, 1.0)}
SETTINGS = {"direction": "minimise", "policy": Policy(initial=0, seed=3)}
ALONE = Study(SPACE, ("x",), 40, name="trial run", pace="rounds")
FREE = Study(SPACE, ("x", "y"), 40, name="trial run")
UNSHARED = Study(SPACE, ("x", "y"), 40, name="trial run", shares_best=False)
SENTENCE = r"of 'x' that (is|are) not in its file: a copy of the file is in use elsewhere, or .* cboc join here"


def begun(engine, study, url, path):
    Transactions(engine).create(study)
    code = Tokens(engine).invite(study.name, "x")
    return cboc.join(url, code, storage=path, **SETTINGS)


def turn(path, y=None):
    """One experiment, from asking to telling, as a process of its own would do it."""
    site = cboc.join(storage=path)
    trial = site.ask()
    site.tell(trial, float(((trial.x - 0.3) ** 2).sum()) if y is None else y)
    return trial


@pytest.mark.parametrize("study", [ALONE, FREE, UNSHARED], ids=["rounds", "free", "unshared"])
def test_two_copies_that_are_used_by_turns_are_found_out_at_once(engine, serving, tmp_path, study):
    one, two = tmp_path / "one.db", tmp_path / "two.db"
    with serving(engine) as url:
        begun(engine, study, url, one)
        turn(one)
        shutil.copy(one, two)
        turn(one)
        trials = SiteFile(two).trials()
        with pytest.raises(Conflict, match="the coordinator has 1 turn " + SENTENCE):
            turn(two)
        assert SiteFile(two).trials() == trials  # nothing was thought of, and nothing counted
        turn(one)
        with pytest.raises(Conflict, match="the coordinator has 2 turns " + SENTENCE):
            turn(two)
        findings = {what: (said, is_good) for what, said, is_good in _examine(two)}
        assert "2 turns of 'x'" in findings["copies"][0] and not findings["copies"][1]
        assert {what: is_good for what, _, is_good in _examine(one)}["copies"]


def test_a_new_invitation_lets_a_restored_file_go_on_and_ends_the_other(engine, serving, tmp_path):
    one, two = tmp_path / "one.db", tmp_path / "two.db"
    with serving(engine) as url:
        begun(engine, FREE, url, one)
        turn(one)
        shutil.copy(one, two)
        turn(one), turn(one)
        with pytest.raises(Conflict):
            turn(two)
        cboc.join(url, Tokens(engine).invite(FREE.name, "x"), storage=two)
        assert turn(two).turn.number == 3 and cboc.join(storage=two).turns == 4
        with pytest.raises(CbocError, match="unknown or was revoked"):
            turn(one)


def test_a_proposal_whose_turn_a_lost_copy_has_taken_is_given_up_after_a_new_invitation(engine, serving, tmp_path):
    """It was thought of while the coordinator could not be asked."""
    one, two = tmp_path / "one.db", tmp_path / "two.db"
    with serving(engine) as url:
        begun(engine, FREE, url, one)
        turn(one)
        shutil.copy(one, two)
    with pytest.raises(cboc.Unreachable):
        cboc.join(storage=two, patience=0.1, goes_on_alone=False).propose()
    alone = cboc.join(storage=two, patience=0.1)
    alone.policy = cboc.Policy(initial=0, seed=3, goes_on_alone=True)
    alone.log.keep(alone.mind.next_trial())  # as if it had been killed here
    Transactions(engine).submit(FREE.name, Proposal("x", 1, [(0.987,)]))  # the newer copy, at the same moment
    with serving(engine) as url:
        SiteFile(two).remember(url=url)
        with pytest.raises(Conflict, match="has already proposed another design for turn 1"):
            turn(two)
        site = cboc.join(url, Tokens(engine).invite(FREE.name, "x"), storage=two)
        assert site.ask().turn.number == 2
        assert [str(trial.status) for trial in site.trials] == ["complete", "abandoned", "pending"]
        assert site.turns == 3  # as many as the coordinator knows


# -------------------------------------------------------------------------------------------------- no false alarms


class Killed(BaseException):
    """As good as SIGKILL: nothing of this process happens after it."""


@contextmanager
def killed_at(monkeypatch, moment, *, is_done):
    """Kill at the n-th change of a site's file from here, before or after it is on disk."""
    whole, left = SiteFile._transaction, [moment]

    @contextmanager
    def mortal(self, *given):
        left[0] -= 1
        if left[0] == -1 and not is_done:
            raise Killed
        with whole(self, *given) as connection:
            yield connection
        if left[0] == -1:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(SiteFile, "_transaction", mortal)
        yield left


@pytest.fixture
def alone(tmp_path, serving):
    """A site alone in its study, in rounds: all that it does follows from its seed."""
    engine = open_database(f"sqlite:///{tmp_path / 'coordinator.db'}")
    upgrade(engine)
    with serving(engine) as url:
        yield lambda study, path: begun(engine, study, url, path)
    engine.dispose()


@pytest.mark.parametrize("is_done", [False, True])
@pytest.mark.parametrize("study", [ALONE, FREE], ids=["rounds", "free"])
def test_a_kill_at_any_moment_raises_no_alarm(alone, tmp_path, monkeypatch, study, is_done):
    path, moment, is_over = tmp_path / "x.db", 0, False
    alone(study, path)
    while not is_over:  # at the first change, then at the second, ... until a turn is over before
        with killed_at(monkeypatch, moment, is_done=is_done) as left:
            with suppress(Killed):
                turn(path)
            is_over = left[0] >= 0
        site = cboc.join(storage=path)
        if site.open_trials:  # and it goes on where it was
            turn(path)
        moment += 1
    assert moment > 6
    numbers = [trial.turn.number for trial in SiteFile(path).trials()]
    assert numbers == list(range(len(numbers)))


@given(acts=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=4, max_size=12))
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_whatever_is_copied_when_the_newest_goes_on_and_the_others_are_told(engine_of, tmp_path_factory, acts):
    """Copies are used and overwritten in any order; whoever has all turns goes on, whoever lacks one is told."""
    folder = tmp_path_factory.mktemp("copies")
    with engine_of(folder) as start:
        files = [folder / f"{k}.db" for k in range(3)]
        start(ALONE, files[0])
        for other in files[1:]:
            shutil.copy(files[0], other)
        taken, has = 0, [0, 0, 0]
        for who, act in acts:
            if act == 0:
                shutil.copy(files[who], files[(who + 1) % 3])
                has[(who + 1) % 3] = has[who]
            elif has[who] == taken:
                assert turn(files[who], y=0.1 * who).turn.number == taken
                taken = has[who] = taken + 1
            else:
                with pytest.raises(Conflict, match=SENTENCE):
                    turn(files[who])


@pytest.fixture
def engine_of(serving):
    @contextmanager
    def on(folder):
        engine = open_database(f"sqlite:///{folder / 'coordinator.db'}")
        upgrade(engine)
        with serving(engine) as url:
            yield lambda study, path: begun(engine, study, url, path)
        engine.dispose()

    return on
