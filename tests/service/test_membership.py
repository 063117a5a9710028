from functools import partial

import pytest

import cboc
from cboc import CbocError, Dataset, Float, Study
from cboc.service.door import Door
from cboc.service.exchange import Exchange
from cboc.sitefile import SiteFile

SPACE = {"pH": (2.0, 9.0), "T": Float(20.0, 90.0, unit="°C")}  # not in the alphabet's order
STUDY = Study(SPACE, ("x", "y"), 4, name="trial run")


@pytest.fixture
def invited(engine, serving):
    """The address of a coordinator, and an invitation for x."""
    Exchange(engine).create(STUDY)
    with serving(engine) as url:
        yield url, Door(engine).invite("trial run", "x")


@pytest.fixture
def join(tmp_path):
    return partial(cboc.join, storage=tmp_path / "x.db")


def test_a_site_whose_study_differs_is_told_how_and_may_try_again(invited, join):
    other = Study(SPACE | {"T": Float(20.0, 80.0, unit="°C")}, ("x", "y"), 4, name="trial run")
    with pytest.raises(CbocError, match="is not yours: parameter 'T', high is 80 here and 90 there"):
        join(*invited, direction="minimise", study=other)
    assert join(*invited, direction="minimise", study=STUDY).study.digest == STUDY.digest
    with pytest.raises(CbocError, match="high is 80 here and 90 there"):
        join(study=other)


def test_parameters_keep_their_order(invited, join):
    assert join(*invited, direction="minimise").study.space.names == ("pH", "T")


def test_results_from_before_are_kept_with_the_settings(invited, join, tmp_path):
    (tmp_path / "before.csv").write_text("pH;T;yield\n3,5;40;0,25\n4;50;0,5\n5;60;\n")
    given = {"direction": "maximise", "data": tmp_path / "before.csv", "outcome": "yield", "initial": 4, "seed": 7}
    first = join(*invited, **given)
    again = join()
    assert again.data == first.data and len(again.data) == 2 and len(again.data.failures) == 1
    assert (again.initial, again.seed, again.direction) == (2, 7, "maximise")
    assert again.ask() == join().ask()
    for settings in ({"seed": 8}, {"initial": 5}, {"direction": "minimise"}):
        with pytest.raises(CbocError, match="has begun with"):
            join(**settings)
    with pytest.raises(CbocError, match="other data from before"):
        join(data=Dataset.empty(2))


def test_a_mistake_in_the_data_costs_no_invitation(invited, join, tmp_path):
    (tmp_path / "before.csv").write_text("pH,T,yield\n3.5,400,0.25\n")
    with pytest.raises(CbocError, match="line 2, column T"):
        join(*invited, direction="maximise", data=tmp_path / "before.csv", outcome="yield")
    (tmp_path / "before.csv").write_text("pH,T,yield\n3.5,40,0.25\n")
    assert len(join(data=tmp_path / "before.csv", outcome="yield").data) == 1


def test_two_processes_do_not_overwrite_each_other(invited, join):
    join(*invited, direction="maximise", initial=3)
    one, other = join(), join()
    trial = one.ask()
    assert other.ask() == trial
    one.tell(trial, 1.0)
    with pytest.raises(CbocError, match="another process has changed trial 0"):
        other.tell(trial, 2.0)
    assert join().trials[0].y == 1.0


def test_a_file_of_a_newer_version_is_left_alone(tmp_path):
    file = SiteFile(tmp_path / "x.db")
    file.remember(format=99)
    with pytest.raises(CbocError, match="another version of cboc"):
        SiteFile(tmp_path / "x.db")


def test_a_site_whose_token_was_revoked_comes_back_by_another_invitation(invited, engine, join):
    join(*invited, direction="maximise", initial=3)
    site = join()
    site.tell(site.ask(), 1.0)
    Door(engine).revoke("trial run", "x")
    with pytest.raises(CbocError, match="revoked"):
        site.network.standing()
    back = join(invited[0], Door(engine).invite("trial run", "x"))
    assert back.network.standing()["site"] == "x" and back.trials == site.trials
    assert back.network.token != site.network.token and join().network.token == back.network.token
