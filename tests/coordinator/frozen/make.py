"""Freezes a study at a revision of the tables, so that later ones can be tried on it: REVISION.sqlite, .sql and .json.

python tests/coordinator/frozen/make.py REVISION postgresql+psycopg://USER@HOST/EMPTY_DATABASE

Made once, by the version of cboc whose latest revision it is, and never again. Two sites, three closed rounds, and a
fourth for which one of them has proposed; lab-a has joined, lab-b has an invitation; from 0002 on, a person may log in.
The .json file has the answers of the closed rounds, the invitation's code and the token.
"""

import json
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np

from cboc import Study
from cboc.coordinator.database import open_database
from cboc.coordinator.people import People
from cboc.coordinator.schema import upgrade
from cboc.coordinator.tokens import Tokens
from cboc.coordinator.transactions import Transactions
from cboc.exchange.messages import Proposal

HERE = Path(__file__).parent
NOW = 1_800_000_000.0
TOKEN, CODE = "token-of-lab-a-" + 28 * "a", "code-of-lab-b-" + 29 * "b"
SPACE = {"a": (0.0, 1.0), "b": (-5.0, 5.0)}
STUDY = Study(SPACE, ("lab-a", "lab-b"), 6, rule="leader", name="frozen", quorum=2, deadline=3600.0, pace="rounds")
CLOSED = 3


def run(url, revision):
    """The study in an empty database; the designs of its closed rounds."""
    engine, random = open_database(url), np.random.default_rng(1)
    upgrade(engine, revision)
    exchange, door = Transactions(engine, lambda: NOW), Tokens(engine, lambda: NOW)
    exchange.create(STUDY)
    People(engine).add("ada", "correct horse")
    door.join(door.invite(STUDY.name, "lab-a"), TOKEN)
    with patch("cboc.coordinator.tokens.new_secret", return_value=CODE):
        door.invite(STUDY.name, "lab-b")
    for round in range(CLOSED):
        for site in STUDY.sites:
            exchange.submit(STUDY.name, proposal(site, round, random))
    exchange.submit(STUDY.name, proposal("lab-a", CLOSED, random))
    mixes = [exchange.mix(STUDY.name, site, round) for round in range(CLOSED) for site in STUDY.sites]
    engine.dispose()
    return [plain(mix) for mix in mixes]


def proposal(site, round, random):
    x, reward, best = random.random(2), float(random.random()), random.random(2)
    return Proposal(site, round, [x], [best], reward)


def plain(mix):
    """An answer, the same for every revision: of a site's turn, which is the round here, and one design."""
    return {
        "site": mix.site,
        "round": mix.snapshot,
        "x": mix.X[0],
        "weights": mix.weights,
        "leader": mix.leader,
        "others": mix.others,
    }


def main(revision, server):
    designs = run(f"sqlite:///{HERE / revision}.sqlite", revision)
    assert run(server, revision) == designs
    facts = {"now": NOW, "study": STUDY.name, "token": TOKEN, "code": CODE, "designs": designs}
    (HERE / f"{revision}.json").write_text(json.dumps(facts, indent=1) + "\n")
    address = server.replace("+psycopg", "")
    dump = subprocess.run(["pg_dump", "--no-owner", address], capture_output=True, text=True, check=True).stdout
    lines = [line for line in dump.splitlines() if not line.startswith(("\\restrict", "\\unrestrict"))]
    (HERE / f"{revision}.sql").write_text("\n".join(lines) + "\n")  # so that an older psql reads it too


if __name__ == "__main__":
    main(*sys.argv[1:])
