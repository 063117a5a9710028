"""Damaged site files and files of feeds: a flipped bit, anywhere in them, never gives other trials or entries."""

import shutil
from pathlib import Path

import pytest

import cboc
from cboc import CbocError, Study
from cboc.exchange.feeds.entry import greeting, write
from cboc.exchange.feeds.feedfile import FeedFile
from cboc.exchange.feeds.keys import Keys
from cboc.storage.sitefile import SiteFile

from .damage import cuts, flips, judged, splices

FROZEN = Path(__file__).parents[1] / "frozen" / "format2"
STUDY = Study({"a": (0.0, 1.0)}, ("x", "y"), 9, name="trial run")


def clean(path):
    """Remove what SQLite has put beside a damaged file."""
    for beside in path.parent.glob(f"{path.name}-*"):
        beside.unlink()


def content_of(path):
    """All that a site's file says."""
    file = SiteFile(path)
    changes = [(change.at, change.by, change.trial) for change in file.history()]
    return file.about, file.trials(), changes, file.sent(), file.sent_checksums()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The bytes of a site's file of today, after a week: a plate, a failure, a correction, messages."""
    path = Path(shutil.copy(FROZEN / "lab-a.db", tmp_path_factory.mktemp("fuzz")))
    SiteFile(path)  # takes it over
    open_one = next(trial for trial in cboc.join(storage=path, patience=0.1).to_run)
    cboc.join(storage=path, patience=0.1).tell(open_one, 0.25)
    return path.read_bytes()


@pytest.fixture
def reading(tmp_path):
    """A function that reads what a site's file with these bytes says, and writes to it if it can be read."""
    path = tmp_path / "site.db"

    def read(data):
        clean(path)
        path.write_bytes(data)
        found = content_of(path)
        try:
            SiteFile(path).record("https://127.0.0.1", "GET", "/v2/study", b"")
        except CbocError:  # it is read, and cannot be written
            return found
        *before, sent, _ = content_of(path)
        assert (*before, sent[:-1]) == found[:-1] and sent[-1].path == "/v2/study"
        return found

    return read


def test_a_flipped_bit_in_a_site_file(site, reading, tally):
    written = reading(site)
    assert len(written[1]) == 5 and len(written[3]) > 5
    counts = judged(flips(site, 700), reading, written.__eq__)
    tally("flipped bits in a site file", **counts)


def test_a_site_file_that_was_cut_or_put_together_wrongly(site, reading, tally):
    written = reading(site)
    counts = judged([*cuts(site, 60), *splices(site, 200, longest=5000)], reading, written.__eq__)
    tally("cut and spliced site files", **counts)


# --------------------------------------------------------------------------------------------------- files of feeds


def feeds_of(path):
    """All that a file of feeds says."""
    file = FeedFile(path)
    return file.about, file.keys.to_text(), file.entries(), file.written("x"), file.heard()


@pytest.fixture(scope="module")
def feeds(tmp_path_factory):
    """The bytes of a file of feeds, with two feeds of some entries."""
    path = tmp_path_factory.mktemp("fuzz") / "site.db.feeds"
    file = FeedFile(path, is_made=True)
    for site, keys in (("x", file.keys), ("y", Keys.make())):
        entries = [write(keys, STUDY.digest, site, None, 0, greeting(keys.identity, STUDY.agreement()))]
        for turn in range(4):
            said = {"act": "turn", "seen": {}, "earlier": turn, "wells": 1}
            entries.append(write(keys, STUDY.digest, site, entries[-1], turn, said, {"X": [[turn / 10]]}))
        file.fill(entries, site="x", agreements=[STUDY.agreement()])
    return path.read_bytes()


@pytest.fixture
def reading_feeds(tmp_path):
    path = tmp_path / "site.db.feeds"

    def read(data):
        clean(path)
        path.write_bytes(data)
        found = feeds_of(path)
        try:
            FeedFile(path).remember(note="new")
        except CbocError:
            return found
        about, *rest = feeds_of(path)
        assert (about, *rest) == (found[0] | {"note": "new"}, *found[1:])
        return found

    return read


def test_a_flipped_bit_in_a_file_of_feeds(feeds, reading_feeds, tally):
    written = reading_feeds(feeds)
    assert len(written[2][0]) == 10
    counts = judged(flips(feeds, 700), reading_feeds, written.__eq__)
    tally("flipped bits in a file of feeds", **counts)


def test_a_flipped_bit_in_a_file_of_feeds_of_the_version_before(reading_feeds, tally):
    """Its entries are verified when it is taken over, and its keys; other facts of then have nothing to verify them."""
    data = (FROZEN / "stick.db.feeds").read_bytes()
    about, *written, _ = reading_feeds(data)

    def is_written(found):
        return found[0].keys() == about.keys() and list(found[1:-1]) == written

    counts = judged(flips(data, 700), reading_feeds, is_written)
    tally("flipped bits in a file of feeds of before", **counts)
