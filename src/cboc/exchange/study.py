"""The study: what all parties agree on before the first round."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from cboc.arrays import Array, Mask, is_number
from cboc.consensus import graph as graphs
from cboc.consensus.matrix import checked
from cboc.consensus.rules import Snapshot, as_rule
from cboc.errors import CbocError, at, did_you_mean, short
from cboc.exchange.identity import identify
from cboc.exchange.messages import MOST_BESTS, MOST_TURNS, Mix, News, Point, Proposal
from cboc.exchange.objective import Objective
from cboc.exchange.objective import checked as checked_objectives
from cboc.exchange.pace import as_pace
from cboc.exchange.tradeoffs import tradeoffs
from cboc.names import LONGEST_NAME, as_agreed, check_word
from cboc.space.narrowed import narrowed
from cboc.space.space import Space

COLUMNS = ("site", "trial", "turn", "round", "status", "decision", "y", "sem", "leader", "explanation", "seed")
LONGEST_DEADLINE = 3650 * 86400.0  # seconds
MOST_SITES = 2000
GRAPHS = {"complete": graphs.complete, "ring": graphs.ring, "star": graphs.star}


def check_names(space: Space) -> None:
    """Raise one sentence if a parameter has a name that is reserved in every result."""
    for name in space.names:
        if name in COLUMNS:
            raise CbocError(f"a parameter may not be called '{name}', which is a column of every result; rename it.")


@dataclass(frozen=True)
class Study:
    """The agreement of several sites: one space, one rule, one horizon.

    `horizon` is the number of experiments T of each site after its initial ones; a site with its own budget uses
    that instead. `pace` is "free" (every turn is answered at once, from everybody's latest) or "rounds" (everybody
    waits for the slowest: the paper). `rule` and `graph` are names or values: a rule is any function of a
    `Snapshot`, a graph any list of pairs of site names. Without a rule it is "uniform", or "metropolis" where not all
    sites are neighbours. With `shares_best` the sites tell each other their best
    design so far, never how good it is: the default, unless everybody works alone. In rounds, `deadline` is in
    seconds from the first proposal of a round: when it has passed and `quorum` sites are in, the round closes
    without the rest; without a deadline, a quorum has no effect. `objectives` are the names of what is measured, and
    `units` their units; which way is better, and every number, stays with the sites. A study that runs can
    be amended: `version` counts how often, and without a coordinator all `stewards` have to sign it, by default all
    sites.
    """

    space: Space
    sites: tuple[str, ...]
    horizon: int
    rule: Any = None  # a name, a function or a Rule; converted to a Rule. None: the graph's
    graph: str | Sequence[tuple[str, str]] = "complete"
    budgets: Mapping[str, int] = field(default_factory=dict)
    shares_best: bool | None = None
    quorum: int = 1
    name: str = "study"
    deadline: float | None = None
    pace: Any = "free"  # a name or a Pace; converted to a Pace
    objectives: tuple[str, ...] = ("y",)
    version: int = 0
    stewards: tuple[str, ...] = ()  # none named: every site
    units: tuple[str, ...] = ()  # of the objectives
    fixed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by site: parameters that it cannot vary

    def __post_init__(self) -> None:
        if not isinstance(self.space, Space):
            object.__setattr__(self, "space", Space(self.space))
        check_names(self.space)
        if isinstance(self.sites, str | set | frozenset) or not isinstance(self.sites, Iterable):
            raise CbocError(f"the sites are a list of names; {short(self.sites)} is not one.")
        object.__setattr__(self, "sites", tuple(self.sites))
        if len(self.sites) > MOST_SITES:
            raise CbocError(f"a study has at most {MOST_SITES:,} sites; this has {len(self.sites):,}.")
        if not isinstance(self.budgets, Mapping):
            raise CbocError(f"budgets are given by site, such as {{'lab-a': 10}}; this is {short(self.budgets)}.")
        self._check_sites()
        self._check_fixed()
        object.__setattr__(self, "horizon", int(self.horizon))
        object.__setattr__(self, "budgets", {site: int(budget) for site, budget in self.budgets.items()})
        self._check_graph()
        object.__setattr__(self, "rule", as_rule(self._usual_rule if self.rule is None else self.rule))
        self.rule.check(len(self.sites))
        self._check_pace()
        self._check_version()
        if not isinstance(self.shares_best, bool | np.bool_ | None):
            raise CbocError(
                f"shares_best is True or False, or None for the default; this is {short(self.shares_best)}."
            )
        shares = len(self.sites) > 1 and self.rule.mixes
        object.__setattr__(self, "shares_best", shares if self.shares_best is None else bool(self.shares_best))

    def _check_sites(self) -> None:
        if not isinstance(self.name, str):
            raise CbocError(f"a study's name is a word; this is {short(self.name)}.")
        check_word("a study's name", self.name)
        if not self.sites:
            raise CbocError("a study needs at least one site, and none was named; add sites=['lab-a', 'lab-b'].")
        for name in self.sites:
            if not isinstance(name, str) or not name.strip():
                raise CbocError(f"a site's name is a word; {short(name)} is not.")
            check_word("a site's name", name)
        known = set(self.sites)
        for name in self.sites if len(set(self.sites)) < len(self.sites) else ():
            if self.sites.count(name) > 1:
                raise CbocError(f"the names of sites must differ; '{name}' is there {self.sites.count(name)} times.")
        for name, budget in [("horizon", self.horizon), *self.budgets.items()]:
            if name != "horizon" and name not in known:
                hint = did_you_mean(str(name), self.sites)
                raise CbocError(f"a budget is given for '{str(name)[:LONGEST_NAME]}', which is not a site; {hint}")
            is_whole = isinstance(budget, int | np.integer) and not isinstance(budget, bool)
            if not is_whole or not 1 <= budget <= MOST_TURNS:
                raise CbocError(
                    f"{name}: a number of experiments is a whole number from 1 to {MOST_TURNS:,}; this is "
                    f"{short(budget)}."
                )
        if type(self.quorum) is not int or not 1 <= self.quorum <= len(self.sites):
            raise CbocError(
                f"the quorum is a number of sites from 1 to {len(self.sites)}; this is {short(self.quorum)}."
            )

    def _check_fixed(self) -> None:
        if not isinstance(self.fixed, Mapping):
            raise CbocError(
                f"what is fixed is given by site, such as {{'lab-a': {{'T': 25}}}}; this is {short(self.fixed)}."
            )
        given = {}
        for site, values in self.fixed.items():
            self.index(site)
            with at(f"site '{site}'"):
                here = narrowed(self.space, values)
            given[site] = {name: here.parameters[name].from_unit(np.zeros(0)) for name in here.names if name in values}
        object.__setattr__(self, "fixed", {site: given[site] for site in self.sites if given.get(site)})

    def _check_pace(self) -> None:
        deadline = self.deadline
        if deadline is not None and (not is_number(deadline) or not 0.0 < deadline <= LONGEST_DEADLINE):
            raise CbocError(
                f"a deadline is above 0 and at most {LONGEST_DEADLINE:.0f} seconds; this is {short(deadline)}."
            )
        object.__setattr__(self, "deadline", None if deadline is None else float(deadline))
        object.__setattr__(self, "pace", as_pace(self.pace))
        if not self.pace.waits and (deadline is not None or self.quorum != 1):
            raise CbocError(
                "a deadline and a quorum say when a round closes, and at the free pace there are no rounds; leave them "
                "out, or set pace = 'rounds'."
            )
        objectives, units = checked_objectives(self.objectives, self.units)
        object.__setattr__(self, "objectives", objectives)
        object.__setattr__(self, "units", units)

    def _check_version(self) -> None:
        if type(self.version) is not int or not 0 <= self.version <= MOST_TURNS:
            raise CbocError(f"a version of a study is a whole number from 0; this is {short(self.version)}.")
        if not isinstance(self.stewards, list | tuple) or len(self.stewards) > len(self.sites):
            raise CbocError(f"the stewards of a study are a list of its sites; this is {short(self.stewards)}.")
        for name in self.stewards:
            self.index(name)
        object.__setattr__(self, "stewards", tuple(dict.fromkeys(self.stewards)))

    def _check_graph(self) -> None:
        if isinstance(self.graph, str):
            if self.graph not in GRAPHS:
                raise CbocError(f"{short(self.graph)} is not a graph; {did_you_mean(self.graph, GRAPHS)}")
        elif isinstance(self.graph, Iterable) and not isinstance(self.graph, set | frozenset | Mapping):
            edges = tuple(self.graph)
            if len(edges) > (most := len(self.sites) * (len(self.sites) - 1)):
                raise CbocError(
                    f"a graph of {len(self.sites)} sites has at most {most} pairs; this has {len(edges):,}."
                )
            object.__setattr__(self, "graph", tuple(map(self._edge, edges)))
        else:
            raise CbocError(f"a graph is a name or a list of pairs of sites; {short(self.graph)} is neither.")
        if missing := graphs.unreached(self.links):
            names = ", ".join(self.sites[k] for k in missing)
            raise CbocError(
                f"the graph has to connect all sites, but no path leads from {self.sites[0]} to {names}; "
                "add an edge, or make two studies."
            )

    def _edge(self, edge: object) -> tuple[str, str]:
        match edge:
            case (str(a), str(b)) if self.index(a) != self.index(b):
                return a, b
        raise CbocError(f"a graph is a name or a list of pairs of two different sites; {short(edge)} is not one.")

    @cached_property
    def links(self) -> Mask:
        """Mask (K, K) of the pairs that may talk to each other."""
        if isinstance(self.graph, str):
            return GRAPHS[self.graph](len(self.sites))
        return graphs.from_edges(len(self.sites), [(self.index(a), self.index(b)) for a, b in self.graph])

    @property
    def _usual_rule(self) -> str:
        """The rule of a study that names none (docs/decisions/weights-on-graphs.md)."""
        return "uniform" if (self.links == graphs.complete(len(self.sites))).all() else "metropolis"

    @property
    def needs_rewards(self) -> bool:
        """Whether the rule asks for the scalar S_k beside the design."""
        return bool(self.rule.needs_rewards)

    @property
    def objective(self) -> Objective:
        """What is measured, with its unit; of several objectives, the first."""
        return self.objective_called(self.objectives[0])

    def objective_called(self, name: str) -> Objective:
        """The objective of this name, with its unit; what a site measures beside the objectives has none."""
        return Objective.among(self.objectives, self.units, name)

    def space_of(self, site: str) -> Space:
        """The space in which a site can run designs: the study's, with what it cannot vary at one value."""
        self.index(site)
        return narrowed(self.space, self.fixed[site]) if site in self.fixed else self.space

    @cached_property
    def tradeoffs(self) -> Array:  # (M, m)
        """The trade-offs between the objectives, to each of which all proposals of a turn refer."""
        return tradeoffs(len(self.objectives))

    def tradeoff(self, turn: int) -> Array:  # (m,)
        """The trade-off of a turn: the same at every site."""
        found: Array = self.tradeoffs[turn % len(self.tradeoffs)]
        return found

    @property
    def is_lonely(self) -> bool:
        """Whether no site learns anything from another."""
        return len(self.sites) == 1 or not (self.rule.mixes or self.shares_best)

    def matrix(self, snapshot: Snapshot) -> Array:
        """The rule's W, before rebalancing."""
        return checked(self.rule(snapshot), len(self.sites))

    def leader(self, snapshot: Snapshot) -> str | None:
        """The name of the leading site; None if the rule has no leader."""
        leader: Any = self.rule.leader(snapshot)  # a user's rule may return anything
        if leader is None:
            return None
        is_whole = isinstance(leader, int | np.integer) and not isinstance(leader, bool)
        if not is_whole or not 0 <= leader < len(self.sites):
            raise CbocError(
                f"a rule's leader is a site's number from 0 to {len(self.sites) - 1}, or None; this is {leader!r}."
            )
        return self.sites[leader]

    def check_proposal(self, proposal: Proposal) -> None:
        """Raise one sentence if a proposal does not fit the agreement."""
        self.index(proposal.site)
        self._check_dimension(f"site '{proposal.site}' sent", proposal.dimension)
        if proposal.bests and not self.shares_best:
            raise CbocError(f"study '{self.name}' does not share best designs; site '{proposal.site}' sent one.")
        if len(self.objectives) > 1 and len(proposal.bests) not in (0, len(self.tradeoffs)):
            raise CbocError(
                f"study '{self.name}' shares one best design for each of {len(self.tradeoffs)} trade-offs; site "
                f"'{proposal.site}' sent {len(proposal.bests)}."
            )
        if self.needs_rewards and proposal.reward is None:
            raise CbocError(f"the rule of study '{self.name}' compares rewards; site '{proposal.site}' sent none.")
        if proposal.reward is not None and not self.needs_rewards:
            raise CbocError(f"the rule of study '{self.name}' asks for no rewards; site '{proposal.site}' sent one.")

    def check_mix(self, mix: Mix, site: str, turn: int, designs: int = 1) -> None:
        """Raise one sentence if an answer does not fit the agreement and the request."""
        if type(mix) is not Mix:  # a user's network may return anything
            raise CbocError(f"the network of site '{site}' has to answer a proposal by a Mix; it gave {mix!r}.")
        if (mix.site, mix.turn) != (site, turn):
            raise CbocError(
                f"site '{site}' asked about its turn {turn}; its network gave turn {mix.turn} of '{mix.site}'."
            )
        self._check_dimension(f"the network of site '{site}' gave", len(mix.X[0]))
        if len(mix.X) != designs:
            raise CbocError(f"site '{site}' asked about {designs} designs; its network gave {len(mix.X)}.")
        least = len(self.sites) if self.version == 0 else self.index(site) + 1  # fewer before others were admitted
        if not least <= len(mix.weights) <= len(self.sites):
            raise CbocError(f"a row of W has {len(self.sites)} weights; site '{site}' was given {len(mix.weights)}.")
        strangers = ~self.links[self.index(site)][: len(mix.weights)] & (
            np.arange(len(mix.weights)) != self.index(site)
        )
        if np.array(mix.weights)[strangers].any():
            raise CbocError(f"the network of site '{site}' gives weight to sites that are not its neighbours.")
        if mix.leader not in (None, *self.sites):
            raise CbocError(f"the network of site '{site}' names a leader that is not a site of the study.")
        if mix.snapshot >= self.most_states:
            raise CbocError(
                f"study '{self.name}' has at most {self.most_states:,} states; the network of site '{site}' answers "
                f"from number {mix.snapshot:,}."
            )
        self._check_others(mix.others, site)

    def check_news(self, news: News, site: str) -> None:
        """Raise one sentence if news do not fit the agreement and the site that asked."""
        if type(news) is not News:  # a user's network may return anything
            raise CbocError(f"the network of site '{site}' has to give News; it gave {news!r}.")
        if news.site != site:
            raise CbocError(f"site '{site}' asked for news; its network gave those of '{news.site}'.")
        self._check_others(news.others, site)

    def check_progress(self, site: str, turn: int, experiments: int) -> None:
        """Raise one sentence if a site cannot be so far: at its turn of this number, after so many experiments.

        A site whose file was lost before has taken more turns than the others know of: all that its budget still had,
        for every turn that they know.
        """
        budget = self.budget(site)
        lost = min(budget * (budget + 1) // 2, MOST_TURNS - budget)
        if not 0 <= experiments <= budget or not 0 <= turn <= experiments + lost or (turn == 0) != (experiments == 0):
            raise CbocError(
                f"site '{site}' has a budget of {budget:,} experiments; {experiments:,} of them and {turn:,} turns "
                "cannot be its past."
            )

    def _check_others(self, others: tuple[Point, ...], site: str) -> None:
        if others and not self.shares_best:
            raise CbocError(f"study '{self.name}' shares no best designs; the network of site '{site}' gave some.")
        if len(others) > MOST_BESTS * np.count_nonzero(self.links[self.index(site)]):
            raise CbocError(
                f"the network of site '{site}' gave {len(others)} best designs: more than its neighbours have."
            )
        if others:
            self._check_dimension(f"the network of site '{site}' gave", len(others[0]))

    def _check_dimension(self, who: str, dimension: int) -> None:
        if dimension != self.space.dimension:
            raise CbocError(
                f"designs of study '{self.name}' have {self.space.dimension} coordinates; {who} {dimension}."
            )

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {site: k for k, site in enumerate(self.sites)}

    def index(self, site: str) -> int:
        """The position of a site in the study; raises if the study does not have it."""
        if not isinstance(site, str) or site not in self._numbers:
            raise CbocError(
                f"{short(site)} is not a site of study '{self.name}'; {did_you_mean(str(site), self.sites)}"
            )
        return self._numbers[site]

    def has(self, site: str) -> bool:
        """Whether the study has a site of this name."""
        return site in self._numbers

    def budget(self, site: str) -> int:
        """The number of turns T_k that a site has."""
        return self.budgets.get(site, self.horizon)

    @cached_property
    def all_budgets(self) -> Array:
        """The budgets T_k of all sites, (K,)."""
        return np.array([self.budget(site) for site in self.sites], dtype=float)

    @property
    def most_states(self) -> int:
        """How many states the study can have: each is made by at least one proposal of a site that has budget left."""
        return sum(map(self.budget, self.sites))

    def agreement(self) -> dict[str, Any]:
        """Everything the parties must agree on, as plain data; what is not there is left out."""
        later = {"version": self.version, "stewards": list(self.stewards), "units": list(self.units)}
        later["fixed"] = {site: dict(values) for site, values in self.fixed.items()}
        return {
            "name": self.name,
            "space": self.space.to_dict(),
            "sites": list(self.sites),
            "horizon": self.horizon,
            "budgets": {site: self.budget(site) for site in self.sites},
            "rule": self.rule.terms or identify(self.rule),
            "graph": self.graph if isinstance(self.graph, str) else [list(edge) for edge in self.graph],
            "shares_best": self.shares_best,
            "quorum": self.quorum,
            "deadline": self.deadline,
            "pace": self.pace.name,
            "objectives": list(self.objectives),
            **{name: value for name, value in later.items() if value},
        }

    @classmethod
    def from_agreement(cls, agreement: Mapping[str, Any], *, is_new: bool = False) -> Study:
        """The study of an agreement; a user's own function as a rule cannot be restored.

        What was agreed goes on with its names, whatever older versions of cboc took for one, unless it `is_new` here.
        """
        with nullcontext() if is_new else as_agreed():
            return cls(
                **{"pace": "rounds", **agreement, "space": Space.from_dict(agreement["space"])}
            )  # 0.1.0: no pace

    @property
    def canonical(self) -> str:
        """The agreement as JSON, always the same bytes. Parameters keep their order, which is that of coordinates."""
        return json.dumps(self.agreement(), ensure_ascii=True)

    @property
    def digest(self) -> str:
        """A fingerprint of the agreement: two parties with the same one run the same study."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()[:16]
