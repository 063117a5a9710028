"""`cboc people`: who may log in, and who sees which study."""

import pytest
from typer.testing import CliRunner

from cboc import Study
from cboc.cli.app import app
from cboc.coordinator.database import open_database
from cboc.coordinator.people import People
from cboc.coordinator.rights import Roles
from cboc.coordinator.schema import upgrade
from cboc.coordinator.transactions import Transactions

pytestmark = pytest.mark.usefixtures("cheap")


@pytest.fixture
def engine(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path / 'coordinator.db'}"
    monkeypatch.setenv("CBOC_DATABASE", url)
    monkeypatch.setenv("CBOC_PASSWORD", "correct horse")
    engine = open_database(url)
    upgrade(engine)
    yield engine
    engine.dispose()


def begin(engine, *names):
    for name in names:
        Transactions(engine).create(Study({"a": (0.0, 1.0)}, ("x", "y"), 2, name=name))


def people(*words, code=0):
    result = CliRunner().invoke(app, ["people", *words])
    assert result.exit_code == code, result.output
    return " ".join((result.stderr if code else result.output).split())


def test_somebody_new_sees_the_only_study(engine):
    begin(engine, "ours")
    assert people("add", "anna") == "anna may log in now. anna is a viewer of 'ours'."
    rights = Roles(engine).of("anna")
    assert rights.sees("ours") and not rights.owns("ours")


def test_of_several_studies_one_is_named_before_anybody_is_added(engine):
    begin(engine, "ours", "theirs")
    assert "name one with --study" in people("add", "anna", code=2)
    assert "a role is viewer or owner" in people("add", "anna", "--study", "ours", "--role", "own", code=2)
    assert "leave --study out" in people("add", "anna", "--study", "ours", "--admin", code=2)
    assert People(engine).names() == []
    people("add", "anna", "--study", "ours", "--role", "owner")
    assert Roles(engine).of("anna").owns("ours") and not Roles(engine).of("anna").sees("theirs")


def test_before_there_is_a_study_there_may_be_an_admin(engine):
    assert "holds no study yet" in people("add", "anna", code=2)
    assert people("add", "anna", "--admin") == "anna may log in now. anna sees and changes every study."
    begin(engine, "ours")
    assert Roles(engine).of("anna").owns("ours")
    people("forbid", "anna", "--admin")
    assert not Roles(engine).of("anna").sees("ours")


def test_a_new_password_changes_no_role(engine):
    begin(engine, "ours", "theirs")
    people("add", "anna", "--study", "ours", "--role", "owner")
    assert people("add", "anna") == "anna may log in now."
    assert Roles(engine).of("anna").owns("ours")


def test_roles_are_given_taken_and_listed(engine):
    begin(engine, "ours", "theirs")
    people("add", "anna", "--study", "ours")
    people("allow", "anna", "--study", "theirs", "--role", "owner")
    people("add", "chris", "--admin")
    assert people("list", "--format", "csv") == ("person,role,study anna,viewer,ours anna,owner,theirs chris,admin,all")
    people("forbid", "anna", "--study", "ours")
    people("forbid", "anna", "--study", "theirs")
    assert "anna none -" in people("list")
    assert "no person 'eve'" in people("allow", "eve", "--study", "ours", code=2)
    assert "has no role" in people("forbid", "anna", "--study", "ours", code=2)
