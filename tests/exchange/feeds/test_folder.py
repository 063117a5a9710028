"""A shared folder, with everything that a sync program may do to it."""

import os
import shutil

import numpy as np
import pytest

from cboc import CbocError, Ledger, Study, Unreachable
from cboc.exchange.feeds.entry import DESIGNS, SAID, Act, write
from cboc.exchange.feeds.folder import STUDY, Folder, directory
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.feeds.network import Feeds
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.feeds.sealing import PARTS, Seal
from cboc.exchange.messages import Proposal
from cboc.exchange.network import Conflict

from ..test_network import SITES, NetworkContract, proposal, study

PLANTED = (0.123456789, 0.987654321)


def network(agreed, name, path, *, sealed=False, keys=None, **options):
    keys = Keys.make() if keys is None else keys
    folder = Folder(path, Seal(name, keys), seals=sealed)
    folder.found(agreed)
    found = Feeds(Replica(agreed), name, keys, folder, **options)
    found.hello()
    return found


def networks_in(path, agreed, **options):
    return {name: network(agreed, name, path, **options) for name in agreed.sites}


@pytest.mark.parametrize("sealed", [False, True], ids=["open", "sealed"])
class TestFolder(NetworkContract):
    @pytest.fixture
    def networks(self, tmp_path, clock, sealed):
        return lambda agreed: networks_in(tmp_path, agreed, clock=clock, sealed=sealed)


def files(path, site=None):
    return sorted((path / directory(site) if site else path).rglob("*.entry"))


def test_what_is_half_written_in_conflict_or_of_others_is_not_there_yet(tmp_path):
    of = networks_in(tmp_path, study())
    for site in SITES:
        of[site].submit(proposal(site))
    last = files(tmp_path, "y")[-1]
    whole = last.read_bytes()
    ledger = Ledger(study())
    for site in SITES:
        ledger.submit(proposal(site))
    for content in (b"", whole[:100], whole[:-1], b"\0" * 4000, b"[]", b'{"head": 3}', whole.replace(b"turn", b"tern")):
        last.write_bytes(content)
        with pytest.raises(CbocError, match="round 0 is still open"):
            of["x"].mix("x", 0)
    last.rename(last.with_name(f"{last.stem} (lab-b's conflicted copy).entry"))  # the name does not matter
    files(tmp_path, "y")[-1].write_bytes(whole)
    shutil.copy(files(tmp_path, "x")[0], tmp_path / directory("y") / "000009-copy.entry")  # nor whose folder it is in
    (tmp_path / directory("y") / ".sync.part").write_bytes(b"half")
    (tmp_path / "desktop.ini").write_text("[x]")
    assert of["x"].mix("x", 0) == ledger.mix("x", 0)


def test_a_flipped_bit_anywhere_is_never_another_entry(tmp_path):
    of = networks_in(tmp_path, study())
    of["y"].submit(proposal("y"))
    last = files(tmp_path, "y")[-1]
    whole = last.read_bytes()
    random = np.random.default_rng(0)
    for place in random.integers(0, 8 * len(whole), 300):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << (place % 8)
        last.write_bytes(bytes(flipped))
        of["x"].sync()
        entries = of["x"].replica.feeds["y"].entries
        assert len(entries) == 1 or entries[1].proposal == proposal("y")
        assert not of["x"].replica.troubles


def test_two_copies_of_a_site_are_found_out_by_everybody(tmp_path):
    """An old backup that was used while the folder could not be reached: two signed entries with one number."""
    agreed, keys = study(pace="free"), Keys.make()
    one = network(agreed, "y", tmp_path, keys=keys)
    backup = list(one.replica.entries())
    x = network(agreed, "x", tmp_path)
    one.submit(proposal("y", 0))
    x.sync()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    Folder(elsewhere).found(agreed)
    other = Feeds(Replica(agreed), "y", keys, Folder(elsewhere))
    other.replica.load(backup)
    other.submit(proposal("y", 0, (0.9, 0.9)))
    shutil.copy(files(elsewhere, "y")[-1], tmp_path / directory("y"))
    x.submit(proposal("x", 0))
    assert "there are two entries 1 of 'y', both signed" in x.replica.troubles[0]
    assert len(x.replica.feeds["y"].entries) == 1 and len(x.replica.feeds["y"].fork) == 2
    assert x.mix("x", 0).weights[1] == 0.0, "from there on nothing of it is taken"
    with pytest.raises(Conflict, match="there are two entries 1 of 'y'"):
        one.sync()


def test_an_old_copy_that_sees_its_own_later_entries_does_not_fork(tmp_path):
    agreed, keys = study(pace="free"), Keys.make()
    one = network(agreed, "y", tmp_path, keys=keys)
    old = Feeds(Replica(agreed), "y", keys, Folder(tmp_path))
    old.replica.load(one.replica.entries())
    one.submit(proposal("y", 0))
    with pytest.raises(Conflict, match="entry 1 of 'y' is known to others and not in this file: it is an older copy"):
        old.submit(proposal("y", 0, (0.9, 0.9)))
    assert len(files(tmp_path, "y")) == 2


def test_somebody_else_under_a_known_name_is_refused_and_named(tmp_path):
    of = networks_in(tmp_path, study(pace="free"))
    of["x"].sync()
    impostor = Feeds(Replica(study(pace="free")), "y", Keys.make(), Folder(tmp_path))
    impostor.carrier.take = lambda *_: ()  # it does not look
    impostor.hello()
    impostor.submit(proposal("y"))
    of["x"].sync()
    assert len(of["x"].replica.feeds["y"].entries) == 1
    assert any("somebody else calls itself 'y'" in reason for reason in of["x"].replica.refused.values())


def test_an_entry_of_another_study_or_an_unknown_site_is_refused(tmp_path):
    agreed = study(pace="free")
    x = network(agreed, "x", tmp_path / "a" if (tmp_path / "a").mkdir() is None else None)
    (tmp_path / "b").mkdir()
    foreign = network(Study({"a": (0.0, 1.0), "b": (0.0, 1.0)}, SITES, 9), "y", tmp_path / "b")
    shutil.copytree(tmp_path / "b" / directory("y"), tmp_path / "a" / directory("y"))
    x.sync()
    assert x.replica.feeds["y"].entries == [] and foreign.feed.entries
    assert "it belongs to another study" in x.replica.refused.values()


def test_a_folder_that_is_missing_swapped_or_read_only(tmp_path):
    agreed, path = study(), tmp_path / "ours"
    with pytest.raises(Unreachable, match="there is no folder .*ours; is the drive connected"):
        network(agreed, "x", path)
    path.mkdir()
    x = network(agreed, "x", path)
    x.submit(proposal("x"))
    path.rename(tmp_path / "away")
    with pytest.raises(Unreachable, match="there is no folder"):
        x.mix("x", 0)
    path.mkdir()  # the mount point of a drive that is not there
    with pytest.raises(Unreachable, match="does not hold study 'trial run' any more"):
        x.mix("x", 0)
    assert list(path.iterdir()) == [], "nothing is written where the study is not"
    (tmp_path / "other").mkdir()
    Folder(tmp_path / "other").found(study(name="another"))
    shutil.copy(tmp_path / "other" / STUDY, path)
    with pytest.raises(CbocError, match="now holds another study .name is "):
        x.mix("x", 0)
    with pytest.raises(CbocError, match="holds another study than yours .name is .* there.; agree on one"):
        network(agreed, "y", path)
    (path / STUDY).write_text("{")
    with pytest.raises(CbocError, match="is not complete yet, or not a study"):
        network(agreed, "y", path)


def test_at_the_free_pace_a_site_goes_on_without_the_folder_and_gives_what_it_has_later(tmp_path):
    of = networks_in(tmp_path / "f" if (tmp_path / "f").mkdir() is None else None, study(pace="free"))
    of["y"].submit(proposal("y"))
    of["x"].sync()
    (tmp_path / "f").rename(tmp_path / "away")
    of["x"].submit(proposal("x"))
    assert of["x"].mix("x", 0).weights[1] > 0.0 and "there is no folder" in of["x"].trouble
    (tmp_path / "away").rename(tmp_path / "f")
    of["x"].sync()
    assert of["x"].trouble == "" and len(files(tmp_path / "f", "x")) == 2


@pytest.mark.parametrize("name", ["CON", "a/b", "Lab B.", "..", "ünïcode ✓", "x" * 90, "lab|b?", "A", "a"])
def test_names_of_sites_are_safe_names_of_folders(name):
    assert set(directory(name)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") and len(directory(name)) <= 60
    assert directory("A").lower() != directory("a").lower()
    assert directory(name).split("-")[0].upper() not in ("",)


def test_whoever_runs_the_storage_and_strangers_read_nothing_of_sealed_entries(tmp_path):
    agreed = Study(
        {"a": (0.0, 1.0), "b": (0.0, 1.0)}, ("x", "y", "z", "w"), 4, graph="ring", rule="leader", pace="free"
    )
    of = networks_in(tmp_path, agreed, sealed=True)
    for network_ in of.values():
        network_.sync()
    of["x"].submit(Proposal("x", 0, [PLANTED], [PLANTED[::-1]], 0.31415926))
    stored = b"".join(file.read_bytes() for file in files(tmp_path, "x")[1:])
    for secret in ("0.1234567", "0.9876543", "0.314159", "reward", "bests"):
        assert secret.encode() not in stored
    for name, network_ in of.items():
        network_.sync()
        entry = network_.replica.feeds["x"].entries[1]
        assert entry.said["reward"] == 0.31415926, "the leader's rule needs everybody's"
        assert (entry.proposal is None) == (name == "z"), "z is not a neighbour of x"


def test_whoever_joins_a_sealed_folder_later_can_read_what_was_written_before(tmp_path):
    agreed = study(pace="free")
    x = network(agreed, "x", tmp_path, sealed=True)
    x.submit(proposal("x"))
    y = network(agreed, "y", tmp_path, sealed=True)
    y.sync()
    assert y.replica.feeds["x"].entries[-1].proposal is None
    x.sync()  # x has heard of y, and writes it again for both
    y.sync()
    assert y.replica.feeds["x"].entries[-1].proposal == proposal("x")


def test_forged_keys_open_nothing_and_are_not_kept(tmp_path):
    """Whoever runs the storage puts down keys and entries of its own, under the name of x."""
    agreed, keys = study(pace="free"), Keys.make()
    x, y = network(agreed, "x", tmp_path, sealed=True, keys=keys), network(agreed, "y", tmp_path, sealed=True)
    place = tmp_path / directory("x")
    forger = Keys.make()
    forged = Seal("x", forger)
    (place / "0000000000000000.keys").write_bytes(forged.keys_for({y._keys.identity.sealing: (SAID, DESIGNS)}))
    said = {"act": Act.TURN, "earlier": 0, "wells": 1, "seen": {}}
    entry = write(forger, agreed.digest, "x", x.feed.last, 0, said, {"X": [(0.9, 0.9)]})
    (place / f"000001-{entry.hash[:16]}.entry").write_bytes(forged.close(entry))
    y.sync()
    assert len(y.replica.feeds["x"].entries) == 1 and "it is not signed by 'x'" in y.replica.refused.values()
    for one in (x, y):
        one.sync()
    x.submit(proposal("x"))
    y.sync()
    assert y.replica.feeds["x"].last.proposal == proposal("x")
    assert y.carrier._seal._proven["x"] == {part: keys.derived(f"cboc seal {part}") for part in PARTS}


def test_a_site_that_seals_and_one_that_does_not_understand_each_other(tmp_path):
    agreed = study(pace="free")
    x, y = network(agreed, "x", tmp_path, sealed=True), network(agreed, "y", tmp_path)
    for one in (x, y, x, y):
        one.sync()
    x.submit(proposal("x"))
    y.submit(proposal("y"))
    assert min(y.mix("y", 0).weights[:2]) > 0.0 and b"designs" not in files(tmp_path, "x")[-1].read_bytes()[:40]


def test_nothing_is_ever_changed_or_deleted(tmp_path):
    of = networks_in(tmp_path, study())
    for turn in range(3):
        before = {file: (file.read_bytes(), os.stat(file).st_mtime_ns) for file in files(tmp_path)}
        for site in SITES:
            of[site].submit(proposal(site, turn))
        for site in SITES:
            of[site].mix(site, turn)
        for file, (content, time) in before.items():
            assert file.read_bytes() == content and os.stat(file).st_mtime_ns == time
    assert not list(tmp_path.rglob("*.part"))
