"""What all parties agree on before the first round."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np

from cboc.arrays import Array, Mask
from cboc.consensus import graph as graphs
from cboc.consensus.matrix import checked
from cboc.consensus.rules import Fixed, Identity, Leader, Round, Rule, Uniform
from cboc.errors import CbocError, did_you_mean
from cboc.space.space import Space

RULES: dict[str, type[Identity] | type[Uniform] | type[Leader]] = {
    "identity": Identity,
    "uniform": Uniform,
    "leader": Leader,
}
COLUMNS = ("site", "trial", "round", "status", "decision", "y", "sem", "leader", "explanation", "seed")
LONGEST_DEADLINE = 3650 * 86400.0  # seconds for which a coordinator may be told to wait in a round
MOST_ROUNDS = 1_000_000  # one a minute for two years
GRAPHS = {"complete": graphs.complete, "ring": graphs.ring, "star": graphs.star}


@dataclass(frozen=True)
class Study:
    """Several sites, one space, one rule.

    `horizon` is the number of rounds T; a site with a budget of its own goes by that. `rule` and `graph` are names or
    values: a rule is any function of a `Round`, a graph any list of pairs of site names. With `shares_best` the sites
    tell each other their best design so far, never how good it is: the default, unless everybody works alone. `quorum`
    is how many sites must be in before a round may be closed without the rest.
    """

    space: Space
    sites: tuple[str, ...]
    horizon: int
    rule: Rule | str = "uniform"
    graph: str | Sequence[tuple[str, str]] = "complete"
    budgets: Mapping[str, int] = field(default_factory=dict)
    shares_best: bool | None = None
    quorum: int = 1
    name: str = "study"

    def __post_init__(self) -> None:
        if not isinstance(self.space, Space):
            object.__setattr__(self, "space", Space(self.space))
        for name in self.space.names:
            if name in COLUMNS:
                raise CbocError(
                    f"a parameter may not be called '{name}', which is a column of every result; rename it."
                )
        if isinstance(self.sites, str) or not isinstance(self.sites, Iterable):
            raise CbocError(f"the sites are a list of names; {self.sites!r} is not one.")
        object.__setattr__(self, "sites", tuple(self.sites))
        if not isinstance(self.budgets, Mapping):
            raise CbocError(f"budgets are given by site, such as {{'lab-a': 10}}; this is {self.budgets!r}.")
        self._check_sites()
        object.__setattr__(self, "horizon", int(self.horizon))
        object.__setattr__(self, "budgets", {site: int(budget) for site, budget in self.budgets.items()})
        if isinstance(self.rule, str):
            if self.rule not in RULES:
                raise CbocError(f"'{self.rule}' is not a rule; {did_you_mean(self.rule, RULES)}")
            object.__setattr__(self, "rule", RULES[self.rule]())
        if isinstance(self.rule, type) or not callable(self.rule):
            raise CbocError(f"a rule is a name or a function of a Round, such as Uniform(); {self.rule!r} is neither.")
        if isinstance(self.rule, Fixed) and len(self.rule.matrix) != len(self.sites):
            raise CbocError(f"the fixed matrix is for {len(self.rule.matrix)} sites; this study has {len(self.sites)}.")
        if not isinstance(self.shares_best, bool | np.bool_ | None):
            raise CbocError(f"shares_best is True or False, or None for the default; this is {self.shares_best!r}.")
        shares = len(self.sites) > 1 and not isinstance(self.rule, Identity)
        object.__setattr__(self, "shares_best", shares if self.shares_best is None else bool(self.shares_best))
        self._check_graph()

    def _check_sites(self) -> None:
        if not isinstance(self.name, str):
            raise CbocError(f"a study's name is a word; this is {self.name!r}.")
        if not self.sites:
            raise CbocError("a study needs at least one site, and none was named; add sites=['lab-a', 'lab-b'].")
        for name in self.sites:
            if not isinstance(name, str) or not name.strip():
                raise CbocError(f"a site's name is a word; {name!r} is not.")
            if self.sites.count(name) > 1:
                raise CbocError(f"every site has a name of its own; '{name}' is there {self.sites.count(name)} times.")
        for name, budget in [("horizon", self.horizon), *self.budgets.items()]:
            if name != "horizon" and name not in self.sites:
                raise CbocError(f"a budget is given for '{name}', which is no site; {did_you_mean(name, self.sites)}")
            is_whole = isinstance(budget, int | np.integer) and not isinstance(budget, bool)
            if not is_whole or not 1 <= budget <= MOST_ROUNDS:
                raise CbocError(
                    f"{name}: a number of experiments is a whole number from 1 to {MOST_ROUNDS:,}; this is {budget!r}."
                )
        if type(self.quorum) is not int or not 1 <= self.quorum <= len(self.sites):
            raise CbocError(f"the quorum is between 1 and the {len(self.sites)} sites; this is {self.quorum!r}.")

    def _check_graph(self) -> None:
        if isinstance(self.graph, str):
            if self.graph not in GRAPHS:
                raise CbocError(f"'{self.graph}' is not a graph; {did_you_mean(self.graph, GRAPHS)}")
        elif isinstance(self.graph, Iterable):
            object.__setattr__(self, "graph", tuple(self._edge(edge) for edge in self.graph))
        else:
            raise CbocError(f"a graph is a name or a list of pairs of sites; {self.graph!r} is neither.")
        if missing := graphs.unreached(self.links):
            names = ", ".join(self.sites[k] for k in missing)
            raise CbocError(
                f"the graph has to join all sites, and no path leads from {self.sites[0]} to {names}; "
                "add an edge, or make two studies."
            )

    def _edge(self, edge: object) -> tuple[str, str]:
        match edge:
            case (str(a), str(b)) if self.index(a) != self.index(b):
                return a, b
        raise CbocError(f"a graph is a name or a list of pairs of two different sites; {edge!r} is no such pair.")

    @cached_property
    def links(self) -> Mask:
        """(K, K) who may talk to whom."""
        if isinstance(self.graph, str):
            return GRAPHS[self.graph](len(self.sites))
        return graphs.from_edges(len(self.sites), [(self.index(a), self.index(b)) for a, b in self.graph])

    @property
    def needs_rewards(self) -> bool:
        """Whether the rule asks for the scalar S_k beside the design."""
        return bool(getattr(self.rule, "needs_rewards", False))

    def matrix(self, round: Round) -> Array:
        """W by the rule, before rebalancing."""
        return checked(cast(Rule, self.rule)(round), len(self.sites))

    def leader(self, round: Round) -> str | None:
        """Who leads, where the rule has a leader."""
        if not isinstance(self.rule, Leader):
            return None
        leader = self.rule.leader(round)
        return None if leader is None else self.sites[leader]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {site: k for k, site in enumerate(self.sites)}

    def index(self, site: str) -> int:
        if site not in self._numbers:
            raise CbocError(f"'{site}' is no site of study '{self.name}'; {did_you_mean(site, self.sites)}")
        return self._numbers[site]

    def budget(self, site: str) -> int:
        return self.budgets.get(site, self.horizon)

    @cached_property
    def all_budgets(self) -> Array:
        """T_k, (K,)."""
        return np.array([self.budget(site) for site in self.sites], dtype=float)

    def agreement(self) -> dict[str, Any]:
        """Everything the parties must agree on, as plain data."""
        names = {cls: name for name, cls in RULES.items()}
        rule: Any = names.get(type(self.rule))  # type: ignore[arg-type]
        if isinstance(self.rule, Fixed):
            rule = [list(row) for row in self.rule.matrix]
        return {
            "name": self.name,
            "space": self.space.to_dict(),
            "sites": list(self.sites),
            "horizon": self.horizon,
            "budgets": {site: self.budget(site) for site in self.sites},
            "rule": rule or getattr(self.rule, "__qualname__", repr(self.rule)),
            "graph": self.graph if isinstance(self.graph, str) else [list(edge) for edge in self.graph],
            "shares_best": self.shares_best,
            "quorum": self.quorum,
        }

    @classmethod
    def from_agreement(cls, agreement: Mapping[str, Any]) -> Study:
        """The study that two parties agreed on; a rule of one's own does not come back from its name."""
        given = dict(agreement)
        given["space"] = Space.from_dict(given["space"])
        if not isinstance(given["rule"], str):
            given["rule"] = Fixed(given["rule"])
        return cls(**given)

    @property
    def canonical(self) -> str:
        """The agreement as JSON, always in the same bytes. The parameters' order counts: it is that of coordinates."""
        return json.dumps(self.agreement(), ensure_ascii=True)

    @property
    def digest(self) -> str:
        """A fingerprint of the agreement: two parties with the same one run the same study.

        A rule of one's own counts by its name only.
        """
        return hashlib.sha256(self.canonical.encode()).hexdigest()[:16]
