"""The file of feeds: what is read is what was kept; one of the version before is verified and taken over."""

import json
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

import cboc
from cboc import CbocError, Study
from cboc.exchange.feeds.entry import DESIGNS, greeting, write
from cboc.exchange.feeds.feedfile import ENTRIES, FORMAT, FeedFile, Overtaken
from cboc.exchange.feeds.keys import Keys

from ...storage.tampering import execute, reseal

FROZEN = Path(__file__).parents[2] / "frozen" / "format2"  # of sites' files; that of feeds was 1 then
STUDY = Study({"a": (0.0, 1.0)}, ("x", "y"), 9, name="trial run")
KEYS = Keys.make()


def feed(count, keys=KEYS, site="x"):
    """The first entries of a feed."""
    entries = [write(keys, STUDY.digest, site, None, 0, greeting(keys.identity, STUDY.agreement()))]
    for turn in range(count - 1):
        said = {"act": "turn", "seen": {}, "earlier": turn, "wells": 1}
        entries.append(write(keys, STUDY.digest, site, entries[-1], turn, said, {"X": [[turn / 10]]}))
    return entries


FEED = feed(4)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "site.db.feeds"
    FeedFile(path, is_made=True).fill(FEED, drifts=True)
    return path


def everything(file):
    return file.about, file.keys.to_text(), file.entries(), file.written("x")


def test_what_was_kept_is_read_by_any_process(path):
    first, second = FeedFile(path), FeedFile(path)
    assert everything(first) == everything(second)
    assert first.entries() == (FEED, 4) and first.about["drifts"] is True
    more = feed(2, Keys.make(), "y")
    for entry in more:
        second.keep(entry)
    assert first.entries(4) == (more, 6) and first.entries(6) == ([], 6)
    assert [entry for _, entry in first.written("y")] == more
    assert first.heard().keys() == {"x", "y"} and first.remember_first("drifts", False) is True


def test_an_entry_that_gets_a_part_is_read_again_and_the_same_one_is_not(path):
    file, other = FeedFile(path), FeedFile(path)
    hello, turn = feed(2, Keys.make(), "y")
    file.fill([hello, turn.without(DESIGNS)])
    assert other.entries(4) == ([hello, turn.without(DESIGNS)], 6)
    file.fill([hello, turn])
    file.fill([turn, turn.without(DESIGNS)])  # nothing is new in these
    assert other.entries(6) == ([turn], 7)
    assert FeedFile(path).entries()[0] == other.entries()[0] == [FEED[0], hello, FEED[1], turn, *FEED[2:]]


def test_of_two_processes_one_appends(path):
    first, second = FeedFile(path), FeedFile(path)
    first.append(feed(5)[4])
    with pytest.raises(Overtaken, match="another process has written entry 4 of 'x'; try again"):
        second.append(feed(5)[4])


def test_one_file_is_read_and_written_by_several_threads(path):
    file, failures = FeedFile(path), []

    def work(k):
        try:
            for entry in feed(5, Keys.make(), f"s{k}"):
                file.keep(entry)
                assert entry in file.entries()[0]
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and FeedFile(path).entries()[1] == 24


CHANGES = {
    "a head": ("UPDATE entries SET head = head || ' ' WHERE id = 2", "row 2 of 'entries' is not as it was written"),
    "a design": ("UPDATE entries SET designs = replace(designs, '0.1', '0.2') WHERE id = 3", "row 3 of 'entries'"),
    "what is said": ("UPDATE entries SET said = NULL WHERE id = 3", "row 3 of 'entries'"),
    "a signature": ("UPDATE entries SET signature = substr(signature, 2) WHERE id = 1", "row 1 of 'entries'"),
    "whose it is": ("UPDATE entries SET site = 'y' WHERE id = 4", "row 4 of 'entries'"),
    "when it came": ("UPDATE entries SET at = at + 1 WHERE id = 4", "row 4 of 'entries'"),
    "the last one": ("DELETE FROM entries WHERE id = 4", "'entries' ends after row 3, and was written up to row 4"),
    "one between": ("DELETE FROM entries WHERE id = 2", "row 2 of 'entries' is missing"),
    "all": ("DELETE FROM entries", "'entries' ends after row 0"),
    "the end": ("DELETE FROM heads WHERE name = 'entries'", "what it says of the end of 'entries' is missing"),
}
FACTS = {
    "the keys": ("UPDATE about SET value = replace(value, '0', '1') WHERE key = 'keys'", "what it says of 'keys'"),
    "a fact": ("DELETE FROM about WHERE key = 'drifts'", "a fact in 'about' is missing, or is an old one"),
}


@pytest.mark.parametrize(("change", "sentence"), CHANGES.values(), ids=CHANGES)
def test_an_entry_that_is_not_as_it_was_kept_is_refused(path, change, sentence):
    execute(path, change)
    file = FeedFile(path)
    for read in (file.entries, file.heard, lambda: file.written("x"), lambda: file.append(FEED[0])):
        with pytest.raises(
            CbocError, match=f"site.db.feeds is damaged: .*{sentence}.*; restore an earlier copy, toget"
        ):
            read()


@pytest.mark.parametrize(("change", "sentence"), FACTS.values(), ids=FACTS)
def test_a_fact_that_is_not_as_it_was_kept_is_refused(path, change, sentence):
    execute(path, change)
    with pytest.raises(CbocError, match=f"site.db.feeds is damaged: .*{sentence}.*; restore an earlier copy, together"):
        FeedFile(path)


def test_another_copy_of_the_file_is_read_anew(path):
    file = FeedFile(path)
    assert file.entries() == (FEED, 4)
    reseal(path, [ENTRIES], "DELETE FROM entries WHERE number = 3")
    assert file.entries() == (FEED[:3], 3)


# ------------------------------------------------------------------------------------------------ the format before


@pytest.fixture
def old(tmp_path):
    for name in ("stick.db", "stick.db.feeds"):
        shutil.copy(FROZEN / name, tmp_path)
    return tmp_path / "stick.db.feeds"


def rows(path):
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT site, number, hash, head, signature, said, designs, at FROM entries ORDER BY rowid"
        return connection.execute(query).fetchall(), dict(connection.execute("SELECT key, value FROM about"))


def test_a_file_of_the_version_before_is_taken_over_as_it_is(old):
    entries, about = rows(old)
    file = FeedFile(old)
    now, facts = rows(old)
    assert now == entries and len(entries) == 3 and json.loads(about.pop("format")) == 1
    assert json.loads(facts.pop("format")) == FORMAT == 2 and facts == about
    assert everything(FeedFile(old)) == everything(file) and file.entries()[1] == 3
    trials = [trial.to_row() for trial in cboc.join(storage=old.with_suffix("")).trials]
    assert json.loads(json.dumps(trials)) == json.loads((FROZEN / "expected.json").read_text())["stick.db"]


def test_a_site_of_the_version_before_goes_on_with_its_feed(old):
    site = cboc.join(storage=old.with_suffix(""))
    site.tell(site.ask(), 0.5)
    site.ask()
    assert FeedFile(old).entries()[1] > 3


OLD_CHANGES = {
    "a head": "UPDATE entries SET head = head || ' ' WHERE number = 1",
    "a design": "UPDATE entries SET designs = replace(designs, '0.', '0.1') WHERE number = 1",
    "what is said": "UPDATE entries SET said = replace(said, '0', '1') WHERE number = 1",
    "a part": "UPDATE entries SET designs = NULL WHERE number = 1",
    "a signature": "UPDATE entries SET signature = replace(signature, 'a', 'b') WHERE number = 1",
    "a hash": "UPDATE entries SET hash = replace(hash, 'a', 'b') WHERE number = 0",
    "a number": "UPDATE entries SET number = 7 WHERE number = 1",
    "a study": "UPDATE entries SET study = 'other' WHERE number = 1",
    "an act": "UPDATE entries SET act = 'leave' WHERE number = 1",
    "a fact": "UPDATE about SET value = '{' WHERE key = 'site'",
    "a time": "UPDATE entries SET at = 'now' WHERE number = 1",
}


@pytest.mark.parametrize("change", OLD_CHANGES.values(), ids=OLD_CHANGES)
def test_a_damaged_file_of_the_version_before_is_refused_and_left_as_it_was(old, change):
    execute(old, change)
    before = old.read_bytes()
    with pytest.raises(CbocError, match="stick.db.feeds is damaged; restore an earlier copy, together with the site's"):
        FeedFile(old)
    assert old.read_bytes() == before


def test_a_file_of_a_later_version_is_left_alone(old):
    execute(old, "UPDATE about SET value = '0' WHERE key = 'format'")
    before = old.read_bytes()
    with pytest.raises(CbocError, match="was written by another version of cboc"):
        FeedFile(old)
    assert old.read_bytes() == before
