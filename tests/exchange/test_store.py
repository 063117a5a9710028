"""What every store promises. A new one inherits `StoreContract` and says by two fixtures how it is made and reread."""

from dataclasses import replace

import pytest

from cboc.exchange.messages import Proposal
from cboc.exchange.store import Entry, MemoryStore

SITES = ("x", "y", "z")


def entry(site, state=0, turn=0, **more):
    return Entry(state, Proposal(site, turn, [(0.1, turn / 8)], **more))


class StoreContract:
    """The fixture `store` is an empty one for SITES and designs of two coordinates; `reread()` sees the same facts."""

    def test_an_empty_one_has_nothing(self, store):
        assert (store.closed, store.opened_at, store.left) == (0, None, frozenset())
        assert dict(store.entries(0)) == {} and len(store.entries(7)) == 0
        assert store.latest("x") is None and store.find("x", 0) is None

    def test_a_proposal_comes_back_to_the_last_bit(self, store, reread):
        sent = Proposal("x", 3, [(0.1, 2 / 3), (1.0, 0.0)], [(1 / 3, 0.7)], reward=1e-300)
        bare = Proposal("y", 0, [(0.1, 0.2)])
        for proposal in (sent, bare):
            store.add(Entry(0, proposal))
        for kept in (store, reread()):
            assert dict(kept.entries(0)) == {"x": Entry(0, sent), "y": Entry(0, bare)}
            assert kept.find("x", 3) == kept.latest("x") == Entry(0, sent)
            assert kept.find("y", 0) == kept.latest("y") == Entry(0, bare)

    def test_a_round_shows_what_has_come_in_since_it_was_looked_at(self, store):
        seen = store.entries(0)
        assert len(seen) == 0 and "x" not in seen
        for many, site in enumerate(SITES, 1):
            store.add(entry(site))
            assert len(seen) == many and set(seen) == set(SITES[:many]) and seen[site] == entry(site)

    def test_turns_are_a_sites_own_and_may_leave_some_out(self, store, reread):
        for turn, round in ((0, 0), (2, 1), (7, 2)):
            store.add(entry("x", round, turn))
            store.close()
        store.add(entry("y", 3, 1))
        for kept in (store, reread()):
            assert [kept.find("x", turn) for turn in (0, 2, 7)] == [
                entry("x", 0, 0),
                entry("x", 1, 2),
                entry("x", 2, 7),
            ]
            assert kept.find("x", 1) is None and kept.find("y", 0) is None and kept.find("z", 0) is None
            assert kept.latest("x") == entry("x", 2, 7) and kept.latest("y") == entry("y", 3, 1)
            assert kept.latest("z") is None

    def test_who_has_accepted_which_version_and_comes_back_by_that(self, store, reread):
        assert store.accepted("x") == 0
        store.leave("x")
        many = store.departures
        store.accept("x", 2)
        store.add(replace(entry("x"), version=2))
        for kept in (store, reread()):
            assert kept.accepted("x") == 2 and kept.accepted("y") == 0
            assert kept.left == frozenset() and kept.departures > many  # whatever was known of them is old
            assert kept.latest("x").version == kept.entries(0)["x"].version == 2

    def test_a_round_opens_with_the_time_of_its_first_proposal(self, store, reread):
        store.add(entry("x"), opened_at=1000.5)
        store.add(entry("y"))  # moves nothing
        assert store.opened_at == reread().opened_at == 1000.5
        store.close()
        assert store.opened_at is None and reread().opened_at is None
        store.add(entry("x", 1, 1), opened_at=2000.25)
        assert store.opened_at == reread().opened_at == 2000.25

    def test_an_open_round_may_count_from_another_time(self, store, reread):
        store.add(entry("x"), opened_at=2000.25)
        store.reopen(1000.5)
        assert store.opened_at == reread().opened_at == 1000.5
        assert dict(reread().entries(0)) == {"x": entry("x")}

    def test_what_a_closed_round_holds_stays(self, store, reread):
        store.add(entry("x"))
        store.add(entry("y"))
        store.close()
        store.add(entry("z", 1))
        for kept in (store, reread()):
            assert kept.closed == 1
            assert dict(kept.entries(0)) == {"x": entry("x"), "y": entry("y")}
            assert dict(kept.entries(1)) == {"z": entry("z", 1)}
            assert kept.find("z", 0) == entry("z", 1)

    def test_the_latest_of_all_is_known_of_every_state(self, store, reread):
        arrivals = [("x", 0), ("y", 0), ("x", 1), ("x", 2), ("y", 5)]
        for state, (site, turn) in enumerate(arrivals):
            store.add(entry(site, state, turn))
            store.close()
        for kept in (store, reread()):
            found = [
                {site: (e.state, e.proposal.turn) for site, e in kept.latest_of_all(s).items()} for s in range(-1, 6)
            ]
            assert found == [
                {},
                {"x": (0, 0)},
                {"x": (0, 0), "y": (1, 0)},
                {"x": (2, 1), "y": (1, 0)},
                {"x": (3, 2), "y": (1, 0)},
                {"x": (3, 2), "y": (4, 5)},
                {"x": (3, 2), "y": (4, 5)},
            ]
            assert kept.experiments(4) == {site: e.after for site, e in kept.latest_of_all(4).items()}
            assert kept.experiments(-1) == {}
            assert list(kept.states("x", 9)) == [0, 2, 3] and list(kept.states("x", 2)) == [0, 2]
            assert list(kept.states("y", 0)) == list(kept.states("z", 9)) == []

    def test_what_came_before_and_when_is_kept(self, store, reread):
        store.add(Entry(0, Proposal("x", 0, [(0.1, 0.2)]), 7, 1000.25))
        for kept in (store, reread()):
            found = kept.latest("x")
            assert (found.before, found.after, found.at) == (7, 8, 1000.25)

    def test_who_has_left_is_known_once_and_what_it_proposed_stays(self, store, reread):
        store.add(entry("x"))
        for site in ("x", "z", "x"):
            store.leave(site)
        for kept in (store, reread()):
            assert kept.left == {"x", "z"} and isinstance(kept.left, frozenset) and kept.departures >= 2
            assert kept.latest("x") == entry("x") and kept.closed == 0

    def test_who_comes_back_takes_part_with_all_that_it_had_proposed(self, store, reread):
        store.add(entry("x"))
        for site in ("x", "z"):
            store.leave(site)
        many = store.departures
        store.come_back("x")
        for kept in (store, reread()):
            assert kept.left == {"z"} and kept.departures > many  # whatever was known of them is old
            assert kept.latest("x") == entry("x") and kept.accepted("x") == 0


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self):
        return MemoryStore()

    @pytest.fixture
    def reread(self, store):
        return lambda: store
