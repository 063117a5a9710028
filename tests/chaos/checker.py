"""What the feeds alone say about a play, compared with the sites' own files.

Nothing is asked of the processes that played. In rounds the answers are computed again by a plain ledger, which knows
nothing of feeds; at the free pace from how much each entry says that its site had seen.
"""

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np

from cboc import Ledger, simulate
from cboc.consensus.matrix import is_doubly_stochastic
from cboc.exchange.feeds.feedfile import FeedFile
from cboc.exchange.feeds.record import Record
from cboc.exchange.feeds.replica import Replica
from cboc.storage.sitefile import SiteFile

from .play import acknowledged
from .setting import DIRECTION, POLICY, outcome


class Checker:
    def __init__(self, setting, transport, place):
        self.setting, self.study, self.place = setting, setting.study, place
        self.kept = {site: FeedFile(place / f"{site}.db.feeds") for site in self.study.sites}
        self.trials = {site: SiteFile(place / f"{site}.db").trials() for site in self.study.sites}
        self.replica, self.hashes = Replica(self.study), defaultdict(set)
        keys = {site: file.keys for site, file in self.kept.items()}
        for _ in range(2):  # what comes before a hello is refused, and taken the second time
            for entry in transport.entries(self.replica, keys):
                self.replica.take(entry)
                self.hashes[entry.site, entry.number].add(entry.hash)

    def check(self):
        """Raise if anything was lost, forked or mixed wrongly; returns what was counted."""
        self.nothing_is_lost()
        self.nothing_has_forked()
        tally = self.every_mix_is_right()
        if self.study.pace.waits:
            self.designs_are_those_of_a_simulation()
        return tally

    def turns(self, site):
        return self.replica.feeds[site].turns

    def nothing_is_lost(self):
        for site in self.study.sites:
            numbers = [entry.turn for entry in self.turns(site)]
            assert numbers == list(range(self.setting.turns)), f"{site}: {numbers}"
            assert acknowledged(self.place, site) == set(numbers), f"{site} has acknowledged other turns"
            own = [entry.hash for entry in self.kept[site].entries()[0] if entry.site == site]
            assert own == [entry.hash for entry in self.replica.feeds[site].entries], f"{site}: another feed"

    def nothing_has_forked(self):
        assert not self.replica.troubles, self.replica.troubles
        assert all(len(hashes) == 1 for hashes in self.hashes.values())
        for site, file in self.kept.items():
            mine = Replica(self.study)
            mine.load(file.entries()[0])
            assert not mine.troubles, f"{site}: {mine.troubles}"
            for name in (site, *mine.neighbours(site)):
                ours, all_of_them = mine.feeds[name].entries, self.replica.feeds[name].entries
                assert [entry.hash for entry in ours] == [entry.hash for entry in all_of_them], f"{site}, of {name}"

    # ---------------------------------------------------------------------------------------------------- the mixes

    def every_mix_is_right(self):
        tally = Counter(turns=0, **{"wrong mixes": 0, "matrices": 0})
        ledgers = self._ledgers()
        for site in self.study.sites:
            ledger = ledgers[site]
            for trial in self.trials[site][POLICY.initial :]:
                answer, again = trial.answer, ledger.mix(site, trial.turn.number)
                found = (answer.mix, answer.weights, answer.snapshot, answer.leader, answer.others)
                expected = (again.X[0], again.weights, again.snapshot, again.leader, again.others)
                tally["turns"] += 1
                tally["wrong mixes"] += found != expected
        assert tally["wrong mixes"] == 0, tally
        tally["matrices"] = self._check_matrices(ledgers)
        return tally

    def _ledgers(self):
        """A ledger for every site's answers; in rounds one for all of them, filled round by round."""
        if not self.study.pace.waits:
            return {site: Ledger(self.study, Record(self.replica, site)) for site in self.study.sites}
        ledger, rounds = Ledger(self.study), defaultdict(list)
        for site in self.study.sites:
            for entry in self.turns(site):
                rounds[entry.said["state"]].append(entry.proposal)
        for state, proposals in sorted(rounds.items()):
            assert state == ledger.round and len(proposals) == len(self.study.sites), "somebody was absent"
            for proposal in proposals:
                ledger.submit(proposal)
        return dict.fromkeys(self.study.sites, ledger)

    def _check_matrices(self, ledgers):
        """Every W is doubly stochastic, and 0 where there is no link; so is, in rounds, what the sites have used."""
        count, outside = 0, ~self.study.links & ~np.eye(len(self.study.sites), dtype=bool)
        for ledger in {id(ledger): ledger for ledger in ledgers.values()}.values():
            for state in range(ledger.round):
                W = ledger.matrix(state)
                assert is_doubly_stochastic(W) and not W[outside].any(), f"state {state}:\n{W}"
                count += 1
        if self.study.pace.waits:
            for turn in range(self.setting.turns):
                rows = [self.trials[site][POLICY.initial + turn].answer.weights for site in self.study.sites]
                assert is_doubly_stochastic(np.array(rows), 1e-7) and not np.array(rows)[outside].any()
        return count

    def designs_are_those_of_a_simulation(self):
        experiments = {site: lambda design, site=site: outcome(site, design) for site in self.study.sites}
        expected = simulate(self.study, experiments, direction=DIRECTION, policy=POLICY)
        for site in self.study.sites:
            untimed = [replace(trial, began=None, ended=None) for trial in self.trials[site]]
            assert untimed == expected.of(site), f"{site} has run other designs than the simulation"
