"""No outcome leaves its site, and no cost: all of a study are looked for in all that was said and all that is kept.

All bytes of both directions, every column of every table, and for SQLite the files themselves. Where the rule compares
rewards, one number besides the designs does leave, max EI: it is not the outcome, but it has its scale.
"""

import struct
import threading
from pathlib import Path

import pytest
from sqlalchemy import select

from cboc import Study
from cboc.coordinator.database import metadata
from cboc.coordinator.tokens import Tokens, new_secret
from cboc.coordinator.transactions import Transactions
from cboc.storage.sitefile import SiteFile

from ..machine import plain
from .lab import take_part
from .proxy import Proxy

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
SHORTEST = 8  # characters: an outcome that rounds to 0.119 would be found in any long text


def study(rule="uniform"):
    return Study(SPACE, ("x", "y"), 4, rule=rule, name="trial run")


def traces(y):
    """What an outcome between 0 and 1, or its negative, would look like: in digits, as a float, on our grid."""
    digits = {repr(y), repr(y)[:9], f"{y:g}", f"{y:.6f}", repr(round(y, 6)), f"{y:.17g}", f"{y:e}", f"{y:.15e}"}
    floats = {struct.pack(form, number) for form in ("<d", ">d", "<f", ">f") for number in (y, -y)}
    long = {text.encode() for text in digits if len(text) >= SHORTEST}
    return long | floats | {round(y * 2**32).to_bytes(8, "little")}


def found(ys, where):
    return {y for y in ys if any(trace in where for trace in traces(y))}


def said(proxy):
    return b"\n".join(proxy.traffic)


def kept(engine):
    with engine.connect() as connection:
        rows = [row for table in metadata.sorted_tables for row in connection.execute(select(table))]
    columns = [value if isinstance(value, bytes) else str(value).encode() for row in rows for value in row]
    return b"\n".join([*columns, *_files(engine)])


def _files(engine):
    if engine.dialect.name != "sqlite":
        return []
    path = Path(engine.url.database)
    return [file.read_bytes() for file in path.parent.glob(f"{path.name}*")]


@pytest.mark.parametrize("rule", ["uniform", "leader"])
def test_no_outcome_and_no_cost_is_said_or_kept(engine, serving, tmp_path, rule):
    Transactions(engine).create(study(rule))
    door, storage = Tokens(engine), {site: tmp_path / f"lab-{site}.db" for site in "xy"}
    with serving(engine) as url, Proxy(int(url.rpartition(":")[2])) as proxy:
        invitations = [(storage[site], proxy.url, door.invite("trial run", site)) for site in "xy"]
        labs = [threading.Thread(target=take_part, args=invitation) for invitation in invitations]
        for lab in labs:
            lab.start()
        for lab in labs:
            lab.join()
    trials = [trial for path in storage.values() for trial in SiteFile(path).trials()]
    ys = {trial.y for trial in trials} | {trial.cost for trial in trials}
    assert len(ys) == 2 * len(trials) == 24 and all(0.0 < y < 1.0 for y in ys)
    assert not found(ys, said(proxy)) and not found(ys, kept(engine))
    assert found(ys, b"".join(path.read_bytes() for path in storage.values())) == ys  # in the sites' own files they are
    designs = {x for trial in trials if trial.turn is not None for x in trial.proposed if 0.0 < x < 1.0}
    assert designs and found(designs, said(proxy)) == found(designs, kept(engine)) == designs  # as designs are here
    assert (b'"reward"' in said(proxy)) == (rule == "leader")


@pytest.mark.parametrize("field", ["X", "bests", "reward"])
def test_an_outcome_that_was_planted_is_found(engine, serving, field):
    y, token = 0.1234567890123 / 7, new_secret()
    Transactions(engine).create(study("leader"))
    door = Tokens(engine)
    door.join(door.invite("trial run", "x"), token)
    body = {"X": [[0.5, 0.5]], "bests": [[0.5, 0.5]], "reward": 1.0}
    body[field] = y if field == "reward" else [[0.5, y]]
    with serving(engine) as url, Proxy(int(url.rpartition(":")[2])) as proxy:
        headers = {"Authorization": f"Bearer {token}"}
        answer = plain.put(f"{proxy.url}/v2/turns/0/proposal", json=body, headers=headers)
        assert answer.status_code == 204
    assert found({y}, said(proxy)) == found({y}, kept(engine)) == {y}
