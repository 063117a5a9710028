"""Damaged backups and invitations: neither gives a coordinator, or a site, anything but what was written."""

import gzip
import json
import random
import shutil
from pathlib import Path

import pytest

from cboc.coordinator.backup import _lines, backup, restore
from cboc.coordinator.seal import Key
from cboc.exchange.invitation import Invitation, parse_invitation

from .damage import cuts, flips, judged, splices

TESTS = Path(__file__).parents[1]
OLD = TESTS / "frozen" / "format2" / "backup.cboc"  # of before there were seals
INVITATION = Invitation(
    "buffer study, 2nd", "lab-b", "https://cboc.example.org:8000", 43 * "c", "-----BEGIN CERTIFICATE-----\nMII\n", 1.8e9
)


@pytest.fixture
def sealed(tmp_path):
    """A backup, and its key."""
    shutil.copy(TESTS / "coordinator" / "frozen" / "0005.sqlite", tmp_path / "own.db")
    key = Key.make(tmp_path / "backup.key").path
    backup(f"sqlite:///{tmp_path / 'own.db'}", tmp_path / "whole.cboc", key)
    return (tmp_path / "whole.cboc").read_bytes(), key


def reading(folder, key):
    """A function that gives the lines of a backup with these bytes, as `restore` reads them."""
    path = folder / "some.cboc"

    def read(data):
        path.write_bytes(data)
        return list(_lines(path, key))

    return read


def test_a_sealed_backup_that_is_not_as_it_was_written_is_refused(sealed, tmp_path, tally):
    whole, key = sealed
    read = reading(tmp_path, key)
    assert len(read(whole)) > 5
    counts = judged(flips(whole, 2000), read, lambda _: False)
    tally("flipped bits in a sealed backup", **counts)
    spoilt = [data for data in (*cuts(whole, 300), *splices(whole, 500)) if data != whole]
    tally("cut and spliced sealed backups", **judged(spoilt, read, lambda _: False))


def test_nothing_of_a_damaged_backup_is_restored(sealed, tmp_path):
    whole, key = sealed
    for data in flips(whole, 20, seed=3):
        (tmp_path / "some.cboc").write_bytes(data)
        counts = judged([data], lambda _: restore(tmp_path / "some.cboc", f"sqlite:///{tmp_path / 'n.db'}", key), bool)
        assert counts["refused"] == 1 and not (tmp_path / "n.db").exists()


def test_a_backup_without_a_seal_has_a_checksum_at_least(tmp_path, tally):
    read, whole = reading(tmp_path, None), OLD.read_bytes()
    written = read(whole)
    counts = judged(flips(whole, 1000), read, written.__eq__)
    tally("flipped bits in a backup without a seal", **counts)
    packed = [gzip.compress(data, 1) for data in flips(gzip.decompress(whole), 500)]  # which finds nothing by itself
    tally("flipped bits in its lines, compressed anew", **judged(packed, read, lambda _: False))
    counts = judged([*cuts(whole, 200), *splices(whole, 200)], read, written.__eq__)
    tally("cut and spliced backups without a seal", **counts)


def test_random_bytes_are_no_backup(sealed, tmp_path, tally):
    _, key = sealed
    head = sealed[0][:61]
    draw = random.Random(5)
    noise = [draw.randbytes(k) for k in range(200)] + [head + draw.randbytes(k) for k in range(200)]
    for given in (key, None):
        tally("files of noise as backups", **judged(noise, reading(tmp_path, given), lambda _: False))


def test_a_flipped_bit_in_an_invitation(tally):
    data = INVITATION.text.encode()
    every = [data[:k] + bytes([data[k] ^ (1 << bit)]) + data[k + 1 :] for k in range(len(data)) for bit in range(8)]
    counts = judged(every, lambda content: parse_invitation(content, "lab-b.cboc"), INVITATION.__eq__)
    tally("flipped bits in an invitation, every one", **counts)


def test_an_invitation_that_was_put_together_wrongly(tally):
    data = INVITATION.text.encode()
    read = lambda content: parse_invitation(content, "lab-b.cboc")  # noqa: E731
    counts = judged([*cuts(data, 200), *splices(data, 800, longest=60)], read, INVITATION.__eq__)
    said = json.loads(data)
    for name in said:
        for value in (None, True, -1, 1e400, "", "x" * 10**5, [], {}, "\ud800"):
            counts += judged([json.dumps(said | {name: value}).encode()], read, INVITATION.__eq__)
        counts += judged([json.dumps({k: v for k, v in said.items() if k != name}).encode()], read, lambda _: False)
    tally("invitations with pieces or values that are others", **counts)
