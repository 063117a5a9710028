"""What left is a record that cannot be changed unseen by whoever has noted its code."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cboc
from cboc import CbocError, Policy, Study
from cboc.cli.app import app
from cboc.joining.sent import check_code, code_of
from cboc.storage.sitefile import SiteFile

from ..storage.tampering import execute, reseal

STUDY = Study({"a": (0.0, 1.0)}, ("x", "y"), 6, name="record")


@pytest.fixture
def path(tmp_path):
    """The file of a site with a feed of three entries, and three messages from its time with a coordinator."""
    policy = Policy(initial=1, seed=1)
    site = cboc.join("stick:", storage=tmp_path / "x.db", site="x", study=STUDY, direction="minimise", policy=policy)
    for _ in range(2):
        site.tell(site.ask(), 0.5)
    site.ask()
    for turn in range(3):
        record(tmp_path / "x.db", turn)
    return tmp_path / "x.db"


def record(path: Path, turn):
    SiteFile(path).record("https://nowhere", "PUT", f"/v2/turns/{turn}/proposal", json.dumps({"X": [[turn]]}).encode())


def audit(path, *options, code=0):
    result = CliRunner().invoke(app, ["audit", "--file", str(path), *options])
    assert result.exit_code == code, result.output
    return result.stderr


def test_a_code_that_was_noted_is_found_again_when_more_has_left(path):
    said = audit(path)
    code = re.search(r"The code of this record is (3-[0-9a-f]{16}\.3-[0-9a-f]{16})\.", said)[1]
    assert code == code_of(SiteFile(path))
    site = cboc.join(storage=path)
    site.tell(site.ask(), 0.25)
    site.ask()
    record(path, 3)
    assert f"It begins as it did when {code} was noted." in audit(path, "--since", code)
    assert code_of(SiteFile(path)).startswith("4-") and code_of(SiteFile(path)) != code
    assert "It begins as it did" in audit(path, "--since", f" {code.upper()} ")


def test_before_anything_has_left_there_is_a_code_too(path):
    check_code(SiteFile(path), "0")
    check_code(SiteFile(path), "0.0")


def test_a_message_that_was_changed_is_found_without_a_code(path):
    execute(path, "UPDATE sent SET body = x'7b7d' WHERE id = 2")
    assert "is damaged: row 2 of 'sent' is not as it was written" in audit(path, code=2)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE sent SET body = x'7b7d' WHERE id = 2", "the first 3 messages in .* are not those of which the code"),
        ("DELETE FROM sent WHERE id = 3", "3 messages had left when the code was noted, and .* has 2 of them"),
    ],
)
def test_a_record_that_was_rewritten_as_a_whole_is_found_by_its_code(path, statement, said):
    code = code_of(SiteFile(path))
    execute(path, statement)
    reseal(path)
    audit(path)  # the chain alone does not show it
    with pytest.raises(CbocError, match=said):
        check_code(SiteFile(path), code)
    assert "Ask who has had the file since then." in audit(path, "--since", code, code=2)


@pytest.mark.parametrize("code", ["", "37", "3-12", "x", "3-" + "g" * 16, "99999999999-" + "0" * 16])
def test_what_is_no_code_is_named(path, code):
    with pytest.raises(CbocError, match="a code of cboc audit looks like 37-8f3a91c204d7aa01; '.*' does not"):
        check_code(SiteFile(path), code)


def test_a_code_of_another_file_is_refused(path):
    with pytest.raises(CbocError, match="or the code is of another file"):
        check_code(SiteFile(path), "3-" + "0" * 16)
    with pytest.raises(CbocError, match="4 messages had left when the code was noted, and .* has 0 of them"):
        check_code(SiteFile(path), code_of(SiteFile(path)) + ".4-" + "0" * 16)
