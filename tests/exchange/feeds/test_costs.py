"""What a site does again in every process, counted: files opened, signatures verified, bytes of a sealed entry."""

import pytest

import cboc
from cboc import Policy, Study
from cboc.exchange.feeds.folder import Folder, directory
from cboc.exchange.feeds.keys import Identity, Keys
from cboc.exchange.feeds.network import Feeds
from cboc.exchange.feeds.replica import Replica
from cboc.exchange.feeds.sealing import Seal
from cboc.exchange.messages import Proposal

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}


@pytest.fixture
def counted(monkeypatch):
    """How often something was done since the last `clear`."""
    counts = {}

    def count(owner, name):
        call = getattr(owner, name)

        def counting(*given):
            counts[name] = counts.get(name, 0) + 1
            return call(*given)

        monkeypatch.setattr(owner, name, counting)

    count(Folder, "_content_of")
    count(Identity, "has_signed")
    return counts


@pytest.mark.parametrize("sealed", [False, True], ids=["open", "sealed"])
@pytest.mark.parametrize(("rule", "graph"), [("uniform", "complete"), ("leader", "ring")])
def test_a_new_process_opens_and_verifies_only_what_is_new(tmp_path, counted, sealed, rule, graph):
    names = [f"s{k}" for k in range(6)]
    agreed = Study(SPACE, names, 9, rule=rule, graph=graph)
    (tmp_path / "shared").mkdir()
    given = {"direction": "minimise", "study": agreed, "policy": Policy(initial=0, seed=1), "sealed": sealed}
    for name in names:
        cboc.join(f"folder:{tmp_path / 'shared'}", site=name, storage=tmp_path / f"{name}.db", **given)
    for _ in range(2):
        for name in names:
            site = cboc.join(storage=tmp_path / f"{name}.db")
            site.tell(site.ask(), 1.0)
    for name in names:
        cboc.join(storage=tmp_path / f"{name}.db").network.sync()
    counted.clear()
    mine = cboc.join(storage=tmp_path / "s0.db")
    mine.network.sync()
    own_keys = 1 if sealed else 0  # for whom they are
    assert counted.get("_content_of", 0) <= 2 * own_keys and counted.get("has_signed", 0) <= 2 * own_keys
    for name in names[1:3]:
        site = cboc.join(storage=tmp_path / f"{name}.db")
        site.tell(site.ask(), 1.0)
    counted.clear()
    before = {feed.site: len(feed.entries) for feed in mine.network.replica.feeds.values()}
    mine.network.sync()
    after = {feed.site: len(feed.entries) for feed in mine.network.replica.feeds.values()}
    new = sum(after.values()) - sum(before.values())
    assert new in (1, 2) and counted == {"_content_of": new, "has_signed": new}


def test_a_sealed_entry_is_as_large_for_many_readers_as_for_few(tmp_path):
    sizes = []
    for count in (2, 40):
        path, names = tmp_path / str(count), [f"s{k}" for k in range(count)]
        path.mkdir()
        agreed, of = Study(SPACE, names, 9, pace="rounds"), {}
        for name in names:
            keys = Keys.make()
            of[name] = Feeds(Replica(agreed), name, keys, Folder(path, Seal(name, keys), seals=True))
            of[name].carrier.found(agreed)
            of[name].hello()
        of["s0"].submit(Proposal("s0", 0, [(0.5, 0.5)]))
        sizes.append(max((path / directory("s0")).glob("*.entry")).stat().st_size)
        of["s1"].sync()
        assert of["s1"].replica.feeds["s0"].last.proposal.X == ((0.5, 0.5),)
    assert sizes[0] == sizes[1]
