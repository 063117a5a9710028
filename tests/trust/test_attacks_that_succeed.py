"""What somebody can do to a study: each of these attacks succeeds, and docs/trust.md says so in the same words."""

import re
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import cboc
from cboc import Gate, Ledger, Policy, Study, Waiting
from cboc.exchange.feeds.folder import Folder, directory
from cboc.exchange.feeds.keys import Keys
from cboc.exchange.feeds.network import Feeds
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.feeds.sealing import Seal
from cboc.exchange.messages import Mix, Proposal

SITES = ("x", "y", "z")
SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
SECRET = (0.123456789, 0.987654321)


def study(**terms):
    return Study(SPACE, SITES, 9, **terms)


def network(agreed, name, path, *, sealed=False, keys=None):
    keys = Keys.make() if keys is None else keys
    folder = Folder(path, Seal(name, keys), seals=sealed)
    folder.found(agreed)
    found = Feeds(Replica(agreed), name, keys, folder)
    found.hello()
    return found


def networks(agreed, path, **options):
    found = {name: network(agreed, name, path, **options) for name in agreed.sites}
    for each in found.values():
        each.sync()
    return found


def proposal(site, turn=0, point=(0.5, 0.5), best=None, reward=None):
    return Proposal(site, turn, [point], [] if best is None else [best], reward)


# ------------------------------------------------------------------------------------------------------ who can read


def test_a_neighbour_reads_every_design(tmp_path):
    """A neighbour reads every design that a site proposes, also in a sealed folder: it has to, to mix it."""
    of = networks(study(), tmp_path, sealed=True)
    of["x"].submit(proposal("x", 0, SECRET))
    of["y"].sync()
    assert of["y"].replica.feeds["x"].last.proposal.X[0] == pytest.approx(SECRET, abs=1e-9)


def test_whoever_reads_an_open_folder_reads_every_design(tmp_path):
    """Whoever can read an open folder reads every design in it, with no key at all."""
    of = networks(study(), tmp_path)
    of["x"].submit(proposal("x", 0, SECRET))
    assert b"0.12345678" in max((tmp_path / directory("x")).iterdir()).read_bytes()


def test_a_neighbour_learns_where_the_optimum_is(tmp_path):
    """A neighbour that runs nothing sees a site's best design move, and learns where its optimum is."""
    agreed, optimum = Study(SPACE, ("x", "y"), 8), np.array([0.3, 0.6])
    (tmp_path / "shared").mkdir()
    where = f"folder:{tmp_path / 'shared'}"
    given = {"direction": "minimise", "study": agreed, "policy": Policy(initial=4, seed=1)}
    site = cboc.join(where, site="x", storage=tmp_path / "x.db", **given)
    curious = cboc.join(where, site="y", storage=tmp_path / "y.db", **given)
    while not site.is_finished:
        trial = site.ask()
        site.tell(trial, float(((trial.x - optimum) ** 2).sum()))
    curious.network.sync()
    bests = [entry.proposal.bests[0] for entry in curious.network.replica.feeds["x"].turns if entry.proposal.bests]
    assert len(set(bests)) > 1 and np.abs(np.array(bests[-1]) - optimum).max() < 0.05


def test_the_storage_sees_who_writes_when_and_how_much(tmp_path):
    """Whoever runs the storage of a sealed folder sees which site took its turn number n, and when, and how many."""
    of = networks(study(), tmp_path, sealed=True)
    for turn in range(3):
        of["x"].submit(proposal("x", turn))
    files = sorted((tmp_path / directory("x")).glob("*.entry"))
    assert [int(file.name[:6]) for file in files] == [0, 1, 2, 3] and all(file.stat().st_mtime for file in files)
    assert directory("x").startswith("x-"), "the site is named"


def test_rewards_carry_the_scale_of_outcomes(tmp_path):
    """Under the leader's rule every member reads every reward, also of sites that are not its neighbours."""
    agreed = Study(SPACE, ("w", "x", "y", "z"), 9, rule="leader", graph="ring")
    of = networks(agreed, tmp_path, sealed=True)
    of["w"].submit(proposal("w", reward=31.4))
    of["y"].sync()
    entry = of["y"].replica.feeds["w"].last
    assert entry.proposal is None and entry.said["reward"] == 31.4, "y is not a neighbour of w"


# -------------------------------------------------------------------------------------------------- malicious sites


def test_a_site_that_proposes_a_corner_drags_the_mix():
    """A site that proposes a corner drags every mix towards it, by its weight in W; the others' gates judge it."""
    ledger, honest = Ledger(study(pace="rounds")), (0.2, 0.2)
    for site, point in zip(SITES, (honest, honest, (1.0, 1.0)), strict=True):
        ledger.submit(proposal(site, point=point))
    mixed = np.array(ledger.mix("x", 0).X[0])
    assert np.allclose(mixed, (2 * 0.2 + 1.0) / 3)


def test_a_site_that_lies_about_its_reward_leads_every_other_round():
    """Under the leader's rule a site that reports a huge reward leads, though never twice in a row."""
    ledger, leaders = Ledger(study(pace="rounds", rule="leader")), []
    for turn in range(6):
        for site, reward in zip(SITES, (1.0, 2.0, 1e9), strict=True):
            ledger.submit(proposal(site, turn, reward=reward))
        leaders.append(ledger.mix("x", turn).leader)
    assert leaders.count("z") == 3 and all(one != other for one, other in pairwise(leaders))


def test_the_first_hello_under_a_name_takes_its_place(tmp_path):
    """Who says hello first under a site's name takes its place, until two people compare the codes."""
    agreed = study()
    x, impostor = network(agreed, "x", tmp_path), network(agreed, "y", tmp_path)
    x.sync()
    impostor.submit(proposal("y"))
    mine = Keys.make()
    with pytest.raises(cboc.CbocError, match="somebody has joined as 'y' before"):
        network(agreed, "y", tmp_path, keys=mine)
    x.sync()
    assert x.replica.feeds["y"].identity == impostor._keys.identity
    codes = {peer.site: peer.code for peer in x.standing().peers}
    assert codes["y"] != mine.identity.fingerprint, "by telephone they would find out"


def test_who_has_the_file_of_feeds_speaks_for_the_site(tmp_path):
    """A thief of the file of feeds speaks for the site, and reads what it was sent, but finds no outcome in it."""
    agreed = study()
    (tmp_path / "shared").mkdir()
    where, given = f"folder:{tmp_path / 'shared'}", {"direction": "minimise", "study": agreed}
    cboc.join(where, site="x", storage=tmp_path / "x.db", **given)
    y = cboc.join(where, site="y", storage=tmp_path / "y.db", policy=Policy(initial=1, seed=1), **given)
    y.tell(y.ask(), 0.27182818)
    stolen = (tmp_path / "y.db.feeds").read_bytes()
    assert b"0.27182818" not in stolen and np.float64(0.27182818).tobytes() not in stolen
    (tmp_path / "thief").mkdir()
    shutil.copy(tmp_path / "y.db.feeds", tmp_path / "thief" / "y.db.feeds")
    thief = cboc.join(where, site="y", storage=tmp_path / "thief" / "y.db", **given)
    thief.network.submit(proposal("y", 5))
    x = cboc.join(storage=tmp_path / "x.db")
    x.network.sync()
    assert x.network.replica.feeds["y"].last.turn == 5
    with pytest.raises(cboc.CbocError, match="is known to others and not in this file"):
        cboc.join(storage=tmp_path / "y.db").network.sync()


# ------------------------------------------------------------------------------------------------ malicious carriers


def test_a_carrier_that_withholds_delays_but_changes_nothing(tmp_path):
    """A carrier that withholds a site's files delays: in rounds all wait, at the free pace all go on without it."""
    for pace in ("free", "rounds"):
        agreed, path = study(pace=pace), tmp_path / pace
        path.mkdir()
        of = networks(agreed, path)
        of["y"].submit(proposal("y", point=(0.9, 0.9)))
        (path / directory("y")).rename(tmp_path / f"withheld-{pace}")
        of["x"].submit(proposal("x"))
        of["z"].submit(proposal("z"))
        if pace == "free":
            assert of["x"].mix("x", 0).weights[1] == 0.0
        else:
            with pytest.raises(Waiting):
                of["x"].mix("x", 0)
            (tmp_path / f"withheld-{pace}").rename(path / directory("y"))
            assert of["x"].mix("x", 0).weights[1] == pytest.approx(1 / 3, abs=1e-8), "later, nothing is different"


def test_a_folder_that_was_deleted_comes_back_from_the_sites_files(tmp_path):
    """A carrier that deletes or rolls back the folder is healed: every site gives its entries again."""
    shared, given = tmp_path / "shared", {"direction": "minimise", "study": study(), "policy": Policy(initial=1)}
    shared.mkdir()
    for name in ("x", "y"):
        cboc.join(f"folder:{shared}", site=name, storage=tmp_path / f"{name}.db", **given)
    site = cboc.join(storage=tmp_path / "x.db")
    site.tell(site.ask(), 1.0)
    site.tell(site.ask(), 2.0)
    before = {file.relative_to(shared): file.read_bytes() for file in shared.rglob("*.entry")}
    for file in shared.rglob("*.entry"):
        file.unlink()
    for name in ("x", "y"):
        cboc.join(storage=tmp_path / f"{name}.db").network.sync()
    assert {file.relative_to(shared): file.read_bytes() for file in shared.rglob("*.entry")} == before


def test_a_coordinator_can_drop_a_site():
    """A coordinator can drop a site, or answer with any design: nobody can check it, and only the gate limits it."""
    ledger = Ledger(study(pace="rounds"))
    ledger.submit(proposal("x"))
    ledger.submit(proposal("z"))
    ledger.leave("y")  # it never asked to
    assert ledger.mix("x", 0).weights[1] == 0.0
    forged = Mix("x", 0, [(1.0, 1.0)], (1.0, 0.0, 0.0), 0)
    study().check_mix(forged, "x", 0)  # it has the form of an answer


def test_the_gate_is_what_limits_a_forged_mix():
    """A gate runs the site's own design if a mix is worth less to it than a tenth of its own, whoever sent it."""
    assert not Gate()(np.log(0.05), 0.0) and Gate()(np.log(0.2), 0.0)


# ------------------------------------------------------------------------------------------------------ and the page


def test_the_page_has_every_sentence_and_every_test_that_it_names():
    root = Path(__file__).parent.parent.parent
    page = " ".join((root / "docs" / "trust.md").read_text().split())
    attacks = [value for name, value in globals().items() if name.startswith("test_") and value.__doc__]
    assert [attack.__name__ for attack in attacks if " ".join(attack.__doc__.split()) not in page] == []
    named = set(re.findall(r"`(test_\w+)`", page))
    code = "\n".join(file.read_text() for file in (root / "tests").rglob("test_*.py"))
    assert [name for name in named if f"def {name}(" not in code] == []
