import json
import stat

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cboc import CbocError
from cboc.exchange.invitation import FORMAT, Invitation, is_invitation, parse_invitation, read_invitation

GIVEN = Invitation("buffer study", "lab-b", "https://cboc.example.org", 43 * "c", "-----BEGIN CERTIFICATE-----", 1.8e9)


def test_what_is_written_is_read_and_only_its_owner_may(tmp_path):
    path = tmp_path / "lab-b.cboc"
    GIVEN.write(path)
    assert read_invitation(path) == GIVEN and stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(CbocError, match="exists already"):
        GIVEN.write(path)
    with pytest.raises(CbocError, match="its folder does not exist"):
        GIVEN.write(tmp_path / "nowhere" / "lab-b.cboc")
    with pytest.raises(CbocError, match="there is no invitation file"):
        read_invitation(tmp_path / "lab-c.cboc")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not an invitation file"),
        (b"SQLite format 3\0", "is not an invitation file"),
        (b"\x1f\x8b\xff\xfe", "is not an invitation file"),  # a backup, which ends in .cboc too
        (b"{}", "is not an invitation file"),
        (GIVEN.text[:-40].encode(), "was damaged on its way"),
        (GIVEN.text.replace("ccc", "ccd", 1).encode(), "was damaged or altered on its way"),
        (GIVEN.text.replace("example", "examp1e").encode(), "was damaged or altered on its way"),
        (GIVEN.text.replace(FORMAT, "cboc invitation 2").encode(), "another version of cboc.*'cboc invitation 2'"),
        (GIVEN.text.encode() + 2**17 * b" ", "is not an invitation file"),
    ],
)
def test_a_file_that_is_no_sound_invitation_is_one_sentence(content, said):
    with pytest.raises(CbocError, match=said):
        parse_invitation(content, "lab-b.cboc")


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], derandomize=True, database=None)
@given(st.integers(0, len(GIVEN.text) - 1), st.integers(1, 255))
def test_no_changed_byte_goes_unnoticed(place, change):
    content = bytearray(GIVEN.text.encode())
    content[place] ^= change
    try:
        there = parse_invitation(bytes(content), "lab-b.cboc")
    except CbocError:
        return
    assert there == GIVEN  # a blank between two fields


def test_a_file_that_somebody_made_by_hand_is_checked_field_by_field():
    forged = Invitation("buffer study", "a\nb", "https://cboc.example.org", "code", None, 1.0)
    with pytest.raises(CbocError, match="is not a sound invitation: site is not a name"):
        parse_invitation(forged.text, "lab-b.cboc")
    assert json.loads(GIVEN.text)["format"] == FORMAT


def test_which_addresses_are_files():
    assert is_invitation("lab-b.cboc") and is_invitation("/home/me/lab-b.cboc")
    for address in ("https://x.cboc", "folder:/x.cboc", "stick:x.cboc", "peers:", "lab-b.db", None, 3):
        assert not is_invitation(address)
