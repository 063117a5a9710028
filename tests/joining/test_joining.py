import sqlite3
from contextlib import closing
from functools import partial

import pandas as pd
import pytest

import cboc
from cboc import CbocError, Dataset, Float, Policy, Study
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.storage.sitefile import SiteFile

from ..storage.tampering import execute, reseal

SPACE = {"pH": (2.0, 9.0), "T": Float(20.0, 90.0, unit="°C")}  # not in the alphabet's order
STUDY = Study(SPACE, ("x", "y"), 4, name="trial run")


@pytest.fixture
def invited(engine, serving):
    """The address of a coordinator, and an invitation for x."""
    Transactions(engine).create(STUDY)
    with serving(engine) as url:
        yield url, Tokens(engine).invite("trial run", "x")


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
    (tmp_path / "before.csv").write_text("pH;T;yield;status\n3,5;40;0,25;\n4;50;0,5;\n5;60;;failed\n")
    given = {"direction": "maximise", "data": tmp_path / "before.csv", "outcome": "yield"}
    first = join(*invited, **given, policy=Policy(initial=4, seed=7))
    again = join()
    assert again.data == first.data and len(again.data) == 2 and len(again.data.failures) == 1
    assert (again.initial, again.policy.seed, again.direction) == (2, 7, "maximise")
    assert again.ask() == join().ask()
    for policy in (Policy(initial=4, seed=8), Policy(initial=5, seed=7)):
        with pytest.raises(CbocError, match="began with"):
            join(policy=policy)
    with pytest.raises(CbocError, match="began with"):
        join(direction="minimise")
    with pytest.raises(CbocError, match="other data from before"):
        join(data=Dataset.empty(2))


def test_the_file_keeps_how_many_experiments_it_begins_with(invited, join, monkeypatch):
    """Another default of a later version cannot change what has begun."""
    assert join(*invited, direction="maximise").initial == 4  # two per parameter
    monkeypatch.setattr("cboc.site.policy.INITIAL", 7)
    assert join().initial == join(policy=Policy(stop_below=0.1)).initial == 4
    assert join(policy=Policy(initial=3)).initial == 3
    site = join()
    site.ask()
    with pytest.raises(CbocError, match="began with initial = 3, which cannot change to 5"):
        join(policy=Policy(initial=5))
    assert join(policy=Policy()).initial == 3


def test_a_mistake_in_the_data_costs_no_invitation(invited, join, tmp_path):
    (tmp_path / "before.csv").write_text("pH,T,yield\n3.5,400,0.25\n")
    with pytest.raises(CbocError, match="no row can be taken; line 2: T: expected"):
        join(*invited, direction="maximise", data=tmp_path / "before.csv", outcome="yield")
    (tmp_path / "before.csv").write_text("pH,T,yield\n3.5,40,0.25\n")
    assert len(join(data=tmp_path / "before.csv", outcome="yield").data) == 1


def test_an_old_table_is_joined_with_once_nothing_in_it_is_doubtful(invited, join, tmp_path):
    old = tmp_path / "old.csv"
    old.write_text("PH,T (°C),y,SD\n3.5,40,0.25,0.1\n4,500,0.5,0.1\n")
    with pytest.raises(CbocError, match=r"old.csv: Column 'SD' looks like .* Say columns=\{'SD': 'sem'\} or columns="):
        join(*invited, direction="maximise", data=old)
    seen = cboc.preview(old, STUDY.space, columns={"SD": "ignore"})
    assert join(data=seen).data.y.tolist() == [0.25]
    old.write_text("PH,T (°C),y\n3.5,40,0.25\n4,500,0.5\n")
    with pytest.raises(CbocError, match=r"old.csv: 1 row would be left out, the first in line 3: T: .* Look at cboc"):
        join(data=old)
    other = cboc.preview(old, cboc.Space({"pH": (0, 14), "T": (0, 90)}))
    with pytest.raises(CbocError, match="old.csv was looked at for another space; make its preview"):
        join(data=other)
    assert join().data.y.tolist() == [0.25]
    frame = pd.DataFrame({"pH": [3.5, 4.0], "T": [40, 50], "y": [0.5, float("nan")]})
    with pytest.raises(CbocError, match=r"the frame: 1 row has no outcome \(row 1\): failed, or not run"):
        join(data=frame)
    assert join(data=frame[:1]).data.y.tolist() == [0.5]


def test_two_processes_do_not_overwrite_each_other(invited, join):
    join(*invited, direction="maximise", policy=Policy(initial=3))
    one, other = join(), join()
    trial = one.ask()
    assert other.ask() == trial
    one.tell(trial, 1.0)
    with pytest.raises(CbocError, match="another process has changed trial 0"):
        other.tell(trial, 2.0)
    assert join().trials[0].y == 1.0


def test_a_joined_site_is_opened_by_few_connections(invited, join, monkeypatch):
    """It was 12 when every question to the file was a connection of its own."""
    site = join(*invited, direction="maximise", policy=Policy(initial=3))
    site.tell(site.ask(), 1.0)
    opened, connect = [], sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *given, **options: opened.append(given) or connect(*given, **options)
    )
    again = join()
    assert again.trials == site.trials and 1 <= len(opened) <= 3


def test_a_file_of_a_newer_version_is_left_alone(tmp_path):
    SiteFile(tmp_path / "x.db", is_made=True).remember(format=99)
    with pytest.raises(CbocError, match="another version of cboc"):
        SiteFile(tmp_path / "x.db")


def test_nobody_else_may_read_a_sites_file(tmp_path):
    SiteFile(tmp_path / "x.db", is_made=True)
    assert [(path.name, path.stat().st_mode & 0o777) for path in tmp_path.iterdir()] == [("x.db", 0o600)]


def test_a_file_that_is_none_of_a_site_stays_as_it_is(tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE studies (study TEXT)")
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(CbocError, match="is not a site file"):
        SiteFile(tmp_path / "other.db", is_made=True)
    assert (tmp_path / "other.db").read_bytes() == before


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE about SET value = '{' WHERE key = 'agreement'",
        "UPDATE about SET value = '{}' WHERE key = 'agreement'",
        "DELETE FROM about WHERE key = 'token'",
        "DELETE FROM about WHERE key = 'url'",
        "UPDATE trials SET row = '{}'",
        "UPDATE trials SET row = 'xx'",
        "UPDATE trials SET row = json_set(row, '$.outcomes.y.mean', 'much') WHERE number = 0",
        "UPDATE trials SET row = json_set(row, '$.proposed[0]', 1.5) WHERE number = 0",
        "UPDATE about SET value = '{\"initial\": -1}' WHERE key = 'policy'",
        "UPDATE about SET value = '3' WHERE key = 'policy'",
        "INSERT INTO about VALUES ('data', '{\"X\": 3}', '')",
        "DELETE FROM trials WHERE number = 0",
        "UPDATE trials SET row = json_set(row, '$.outcomes', json('{\"z\": {\"mean\": 1.0}}')) WHERE number = 0",
        "UPDATE trials SET row = json_set(row, '$.proposed', json('[0.5]'), '$.executed', json('[0.5]'))",
        "UPDATE trials SET row = json_set(row, '$.site', 'y')",
        "UPDATE trials SET row = json_set(row, '$.site', 'z')",
        "DELETE FROM about WHERE key = 'site'",
        "UPDATE about SET value = '3' WHERE key = 'site'",
        "UPDATE about SET value = '\"z\"' WHERE key = 'site'",
        "UPDATE about SET value = '\"y\"' WHERE key = 'site'",
        "DELETE FROM about WHERE key = 'code'",
        "UPDATE about SET value = '3' WHERE key = 'direction'",
        "UPDATE about SET value = '3' WHERE key = 'url'",
        "INSERT OR REPLACE INTO about VALUES ('first_turn', '-1', '')",
        "INSERT OR REPLACE INTO about VALUES ('certificate', '3', '')",
        "UPDATE about SET value = CAST(x'22ff22' AS TEXT) WHERE key = 'token'",
        "UPDATE trials SET row = CAST(x'7bff7d' AS TEXT) WHERE number = 0",
    ],
)
def test_damage_is_one_sentence(invited, join, tmp_path, damage):
    """As it is, and if somebody has given the changed rows checksums that fit."""
    site = join(*invited, direction="maximise", policy=Policy(initial=3))
    site.tell(site.ask(), 1.0)
    site.ask()
    execute(tmp_path / "x.db", damage)
    with pytest.raises(CbocError, match=r"is damaged(: [^;]+)?; restore an earlier copy"):
        join()
    if "CAST" not in damage:
        reseal(tmp_path / "x.db")
        with pytest.raises(CbocError, match="is damaged; restore an earlier copy"):
            join()


def test_a_flipped_bit_anywhere_in_the_schema_is_one_sentence(tmp_path):
    SiteFile(tmp_path / "x.db", is_made=True)
    data = (tmp_path / "x.db").read_bytes()
    for place in (data.index(b"CREATE TABLE trials") + 7, data.index(b"about (key")):
        (tmp_path / "x.db").write_bytes(data[:place] + b"\xff" + data[place + 1 :])
        with pytest.raises(CbocError, match="it is damaged; restore an earlier copy"):
            SiteFile(tmp_path / "x.db")


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"url": 3}, "a coordinator's address looks like https://host:8000; '3' does not"),
        ({"url": "ftp://x"}, "a coordinator's address looks like"),
        ({"code": 3}, "an invitation is a text of 43 characters; this is 3"),
        ({"certificate": 3}, "a certificate is its PEM text"),
        ({"patience": float("nan")}, "patience is a number of seconds above 0; this is nan"),
        ({"patience": -1}, "patience is a number of seconds above 0; this is -1"),
        ({"patience": "x"}, "patience is a number of seconds above 0; this is 'x'"),
        ({"policy": {}}, r"a site's policy is a Policy\(...\); this is {}"),
        ({"study": 3}, r"the study that a site expects is a Study\(...\); this is 3"),
        ({"data": 3}, "a site's data is a Dataset, a preview, a frame, or the path of a CSV or XLSX file; this is 3"),
        ({"storage": None}, "a site's storage is a path or sqlite:///PATH; this is None"),
        ({"storage": 3}, "a site's storage is a path"),
    ],
)
def test_what_is_no_setting_is_named_before_anything_is_saved(tmp_path, monkeypatch, given, complaint):
    monkeypatch.chdir(tmp_path)
    settings = {"url": "http://127.0.0.1:9", "code": "code", "storage": "x.db", "direction": "maximise"}
    with pytest.raises(CbocError, match=complaint):
        cboc.join(**settings | {"patience": 0.1} | given)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_use_is_one_sentence(invited, join, tmp_path, monkeypatch):
    site = join(*invited, direction="maximise")
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=0.1))
    with closing(sqlite3.connect(tmp_path / "x.db", isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(CbocError, match="another program is writing to it; try again"):
            site.ask()


def test_an_address_counts_once_the_coordinator_has_answered_there(invited, join, tmp_path):
    url, code = invited
    join(url, code, direction="maximise")
    for wrong in ("ftp://x", "http://127.0.0.1:9"):
        with pytest.raises(CbocError):
            join(wrong, code, patience=0.1)
        with pytest.raises(CbocError):
            join(wrong, "another code", patience=0.1)
    with pytest.raises(CbocError, match="not PEM"):
        join(certificate="no certificate", url=url.replace("http", "https"), patience=0.1)
    assert SiteFile(tmp_path / "x.db").about["url"] == url and join().network.membership().site == "x"


def test_a_site_whose_token_was_revoked_comes_back_by_another_invitation(invited, engine, join):
    join(*invited, direction="maximise", policy=Policy(initial=3))
    site = join()
    site.tell(site.ask(), 1.0)
    Tokens(engine).revoke("trial run", "x")
    with pytest.raises(CbocError, match="revoked"):
        site.network.standing()
    back = join(invited[0], Tokens(engine).invite("trial run", "x"))
    assert back.network.membership().site == "x" and back.trials == site.trials
    assert back.network.client.token != site.network.client.token
    assert join().network.client.token == back.network.client.token
