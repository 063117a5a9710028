"""Joining again without a coordinator: what a file that has joined takes, and what it refuses in one sentence."""

import shutil

import pytest

import cboc
from cboc import CbocError, Study
from cboc.exchange.feeds.folder import directory
from cboc.joining import move
from cboc.joining.sent import sent_by
from cboc.storage.sitefile import SiteFile

SPACE = {"a": (0.0, 1.0)}
STUDY = Study(SPACE, ("x", "y"), 8)


def joined(tmp_path, name="x", **options):
    given = {"site": name, "storage": tmp_path / f"{name}.db", "direction": "minimise", "study": STUDY} | options
    return cboc.join(f"folder:{tmp_path / 'shared'}", **given)


def turns(site, count):
    for _ in range(count):
        trial = site.ask()
        site.tell(trial, (trial.design(site.space)["a"] - 0.3) ** 2)


def test_a_folder_is_made_by_who_brings_the_study_and_a_wrong_name_writes_nothing(tmp_path):
    with pytest.raises(CbocError, match="'lab-x' is not a site"):
        joined(tmp_path, "lab-x")
    assert not (tmp_path / "shared").exists()
    assert joined(tmp_path).name == "x" and (tmp_path / "shared").is_dir()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"url": "peers:"}, "cboc move peers: moves it there"),
        ({"url": "stick:"}, "cboc move stick: moves it there"),
        ({"url": None, "site": "y"}, "is the file of 'x'; use another file for 'y'"),
        ({"url": "folder:~nobody-here/x"}, "is not the path of a file or folder here"),
    ],
)
def test_another_way_or_another_site_is_refused(tmp_path, given, complaint):
    joined(tmp_path)
    url = given["url"] or f"folder:{tmp_path / 'shared'}"
    with pytest.raises(CbocError, match=complaint):
        cboc.join(url, storage=tmp_path / "x.db", **{key: value for key, value in given.items() if key != "url"})


def test_a_folder_in_which_somebody_else_has_the_name_is_refused(tmp_path):
    joined(tmp_path)
    other = {"site": "x", "storage": tmp_path / "other.db", "direction": "minimise", "study": STUDY}
    cboc.join(f"folder:{tmp_path / 'elsewhere'}", **other)
    with pytest.raises(CbocError, match="has entries of 'x' with other keys"):
        cboc.join(f"folder:{tmp_path / 'elsewhere'}", storage=tmp_path / "x.db")


def test_sealing_can_be_chosen_later_and_stays_when_a_site_moves(tmp_path):
    turns(joined(tmp_path), 3)
    turns(cboc.join(storage=tmp_path / "x.db", sealed=True), 1)
    assert SiteFile(tmp_path / "x.db").about["sealed"]
    entries = sorted((tmp_path / "shared" / directory("x")).glob("*.entry"))
    assert b'"X' not in entries[-1].read_bytes()
    move(f"folder:{tmp_path / 'other'}", storage=tmp_path / "x.db")
    moved = list((tmp_path / "other" / directory("x")).glob("*.entry"))
    assert len(moved) > 1 and not any(b'"X' in path.read_bytes() for path in moved)
    with pytest.raises(CbocError, match="sealing is for a folder"):
        move("stick:", storage=tmp_path / "x.db", sealed=True)


def test_a_site_whose_own_file_was_lost_goes_on_after_its_feed(tmp_path):
    site = joined(tmp_path)
    turns(site, 4)
    (tmp_path / "x.db").unlink()
    again = joined(tmp_path)
    assert again.spent == 2 and again.turns == 2, "two initial experiments were never proposed"
    turns(again, 4)
    assert [trial.turn.number for trial in again.trials if trial.turn is not None] == [2, 3]


def test_an_older_site_file_beside_the_newest_feed_goes_on_after_it(tmp_path):
    turns(joined(tmp_path), 3)
    shutil.copy(tmp_path / "x.db", tmp_path / "old.db")
    turns(cboc.join(storage=tmp_path / "x.db"), 2)
    shutil.copy(tmp_path / "old.db", tmp_path / "x.db")
    site = cboc.join(storage=tmp_path / "x.db")
    turns(site, 2)
    assert [trial.turn.number for trial in site.trials if trial.turn is not None] == [0, 3, 4]


def test_what_left_cannot_be_told_without_the_file_of_feeds(tmp_path):
    turns(joined(tmp_path), 3)
    (tmp_path / "x.db.feeds").unlink()
    with pytest.raises(CbocError, match="is missing: it has the keys of this site"):
        sent_by(SiteFile(tmp_path / "x.db"))
