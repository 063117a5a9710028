"""The case study as sections: its tables and Fig. 8, then for each setup the sites' paths and the best sensor found."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from cboc.cli.report.html import Html, element, together
from cboc.cli.report.page import facts, paragraph, picture, section, table
from cboc.cli.show import many
from cboc.errors import CbocError
from cboc.evidence import figures
from cboc.evidence.biosensor.labs import FASTEST, FEWEST, LABS, SPACE, UNIT, Worth
from cboc.evidence.biosensor.sensor import MINUTE, Setting
from cboc.evidence.casestudy import INITIAL, RESULTS, SETUPS, Account, by_method, optima
from cboc.evidence.figures import biosensor
from cboc.evidence.figures.biosensor.landscape import Landscape
from cboc.evidence.figures.look import look
from cboc.evidence.results import MARK, Results
from cboc.evidence.tables.casestudy import case_tables, compare
from cboc.evidence.tables.table import Table

LEAD = (
    "A biosensor lies on the floor of a small channel. A sample flows past it, some of it binds, and the outcome is "
    "the largest share of the sensor that is covered. Several sites search for the inflow, the density of receptors "
    "and the width of the pulse that give the largest coverage, each by finite-element simulations of its own sensor; "
    "they share designs, never outcomes. This page compares working together with working alone, from the same initial "
    "designs."
)
METHODS = {
    "individual": "every site alone",
    "cboc": "this library's default: consensus behind a gate, best designs shared",
    "cboc-l": "the paper's consensus with a leader, always followed, but on this library's surrogate",
}
SURROGATE = "this library's default, for every method; the paper's own is not run here"
TITLES = {"paper": "The paper's sensor", "labs": "Six labs", "trouble": "Six labs in trouble"}
CORNER, CONSTRUCTED = "the optimum is a known corner", "constructed"
CAUTION = {
    "paper": "More flow, fewer receptors and a shorter pulse are always better for this sensor, so its optimum is "
    "a corner of the box, which an engineer would try first: a check of the machinery rather than a challenge.",
    "labs": "These labs are not real: their channels, chemistry, costs and stocks were chosen so that their "
    "optima differ, with inflow and pulse inside the box.",
    "trouble": "The constructed labs again; two of them take part in every second round only, and one simulation in "
    "five fails.",
}
SAME = 4  # digits to which equal shares agree
FIG_8 = (
    "The paper's Fig. 8, for every setup: the best outcome so far, the mean over sites. "
    "Bands are 95 % intervals over seeds."
)


@dataclass(frozen=True)
class Found:
    """The best design that a site found in any run."""

    account: Account
    site: int
    number: int  # the number of the simulation at the site

    @property
    def design(self) -> dict[str, float]:
        return SPACE.from_unit(self.account.designs[self.site, self.number])

    @property
    def name(self) -> str:
        """The name of the site."""
        return SETUPS[self.account.job.setup].names[self.site]

    @property
    def outcome(self) -> float:
        return float(self.account.outcomes[self.site, self.number])

    @property
    def share(self) -> float:
        """The outcome as a share of the site's optimum."""
        return self.outcome / optima(self.account.job.setup)[self.site]


def content(directory: Path, say: Callable[[str], None]) -> tuple[str, str, list[Html]]:
    """Return the title, lead and sections of the report."""
    results: Results[Any, Account] = Results(directory, Account, Path(RESULTS).stem)
    accounts = sorted(results.rows.values(), key=lambda account: account.job)
    if not accounts:
        raise CbocError(f"{directory} holds no result yet; `cboc evidence biosensor --out {directory}` makes some.")
    say("the tables")
    tables = case_tables(accounts)
    sections = [
        section("Results", *map(_sheet, tables), _methods(accounts)),
        section("Round by round", picture(figures.casestudy(accounts), "The best so far against rounds.", FIG_8)),
    ]
    for setup in SETUPS:
        if groups := by_method(accounts, setup):
            sections.append(_setup(setup, groups, say))
    return "Designing biosensors together", LEAD, [*sections, section("How it was made", _made(results, accounts))]


def _sheet(found: Table) -> Html:
    """A table in which methods have the same names as in the pictures."""
    rows = [(look(method).name, *numbers) for method, *numbers in found.rows]
    return together(
        element("h3", found.title),
        table(found.columns, rows, is_numeric=True),
        *(paragraph(note, class_="note") for note in found.notes),
    )


def _methods(accounts: Iterable[Account]) -> Html:
    present = {account.job.method for account in accounts}
    return facts({look(name).name: meaning for name, meaning in METHODS.items() if name in present})


def _setup(setup: str, groups: Mapping[str, Sequence[Account]], say: Callable[[str], None]) -> Html:
    is_constructed = SETUPS[setup].is_constructed
    ground: Landscape | None = None
    if not is_constructed:
        ground = biosensor.landscape(on_step=lambda share: say(f"{setup}: the landscape, {share:.0%}"))
    say(f"{setup}: pictures")
    found = _found([account for group in groups.values() for account in group])
    seed = min(account.job.seed for group in groups.values() for account in group)
    one = {name: account for name, group in groups.items() for account in group if account.job.seed == seed}
    paths = f"Where the sites went with seed {seed}, alone and together."
    return section(
        TITLES[setup],
        paragraph(f"{CAUTION[setup]} {_finding(setup, groups)}"),
        *([_labs(setup)] if is_constructed else []),
        _designs(found),
        picture(biosensor.designs(one, ground), paths, paths),
        *_best(max(found, key=lambda each: each.share)),
        label=CONSTRUCTED if is_constructed else CORNER,
    )


def _labs(setup: str) -> Html:
    """How the labs differ, and where their optima are."""
    names = SETUPS[setup].names
    head = ["", "H [mm]", "D [µm²/s]", "k_on [1/µM/s]", "k_off [10⁻³/s]", "stock [nM]", "price"]
    head += ["inflow* [mm/s]", "pulse* [min]", "value*"]
    rows = [
        [
            name,
            f"{lab.height:.2f}",
            f"{1e12 * lab.diffusivity:.0f}",
            f"{1e-3 * lab.binding:.1f}",
            f"{1e3 * lab.release:.1f}",
            f"{lab.stock:.2f}",
            f"{1e3 * UNIT * lab.price:.2f}",
            f"{1e3 * lab.best[0]:.2f}",
            f"{lab.best[1]:.2f}",
            f"{1e3 * best:.3f}",
        ]
        for name, lab, best in zip(names, LABS, optima(setup), strict=True)
    ]
    slow = " and ".join(names[site] for site in SETUPS[setup].slow)
    note = (
        "How the labs differ. H: the channel's height. D, k_on, k_off: diffusion, binding and release. Stock: the "
        f"strongest sample available. Price: what an inflow of {1e3 * FASTEST:g} mm/s costs, in thousandths of "
        "coverage, like the value. *: at the lab's optimum, where the receptors are fewest, "
        f"{1e9 * FEWEST:g} nmol/m²."
    )
    absent = f" Every second round only: {slow}." if slow else ""
    return together(table(head, rows, is_numeric=True), paragraph(note + absent, class_="note"))


def _finding(setup: str, groups: Mapping[str, Sequence[Account]]) -> str:
    """Say in one sentence how the default did at the end and on the way."""
    found = compare(setup, groups, "cboc")
    if found is None:
        return ""
    unit = "% of the optimum" if SETUPS[setup].is_constructed else "thousandths"
    end, way = found.end, found.area
    clear = way.seeds > 1 and abs(way.difference) > way.margin
    verdict = "a clear difference" if clear else "not a clear difference"
    return (
        f"Together ({look('cboc').name}) minus alone, in {unit}: {end.difference:+.3f} at the end, "
        f"{way.difference:+.3f} on average over the rounds ({many(way.seeds, 'seed')}); the latter is {verdict}."
    )


def _found(accounts: Sequence[Account]) -> list[Found]:
    """The best of every site over all methods and seeds; among equals, the one found first."""
    best = []
    for site in range(len(accounts[0].outcomes)):
        each = [Found(account, site, int(np.nanargmax(account.outcomes[site]))) for account in accounts]
        best.append(max(each, key=lambda found: (round(found.share, SAME), -found.number)))
    return best


def _designs(found: Sequence[Found]) -> Html:
    head = ["best found by", "method", "seed", "round", "inflow [mm/s]", "receptors [nmol/m²]", "pulse [min]"]
    rows = [
        [
            each.name,
            look(each.account.job.method).name,
            each.account.job.seed,
            max(0, each.number - INITIAL + 1),
            f"{1e3 * each.design['inflow']:.3f}",
            f"{1e9 * each.design['receptors']:.2f}",
            f"{each.design['pulse']:.3f}",
            f"{1e3 * each.outcome:.3f}",
            f"{100 * each.share:.1f}",
        ]
        for each in found
    ]
    note = (
        "The best over all methods and seeds; among equals, the first. Round 0: an initial design. Value: the "
        "coverage, less what the sample costs."
    )
    return together(table([*head, "value × 10³", "% of optimum"], rows), paragraph(note, class_="note"))


def _best(found: Found) -> tuple[Html, Html]:
    """Draw the sample that passes the best sensor of all."""
    job, design = found.account.job, found.design
    worth = SETUPS[job.setup].problems()[found.site].function
    assert isinstance(worth, Worth)
    setting = Setting(design["inflow"], design["receptors"], design["pulse"] * MINUTE)
    passage = biosensor.record(setting, worth.sensor, worth.numerics)
    who = f"The best design found ({look(job.method).name}, seed {job.seed}, {found.name})"
    field = f"{who}: the concentration in the channel, and in the thin layer above the sensor that binding depletes."
    coverage = f"{who}: how much of the sensor is covered, over time and along it."
    return picture(biosensor.field(passage), field, field), picture(biosensor.coverage(passage), coverage, coverage)


def _made(results: Results[Any, Account], accounts: Sequence[Account]) -> Html:
    setups = [setup for setup in SETUPS if by_method(accounts, setup)]
    seeds = {setup: sorted({a.job.seed for a in accounts if a.job.setup == setup}) for setup in setups}
    begun = json.loads((results.directory / MARK).read_text(encoding="utf-8"))
    cpu = sum(results.costs.get(account.job.name, 0.0) for account in accounts)
    commands = (f"cboc evidence biosensor --setup {setup} --seeds {len(some)}" for setup, some in seeds.items())
    return facts(
        {
            "commands": element("code", "; ".join(commands)),
            **{f"seeds, {setup}": ", ".join(map(str, some)) for setup, some in seeds.items()},
            "surrogate": SURROGATE,
            "simulations": sum(int(np.isfinite(account.outcomes).sum()) for account in accounts),
            "CPU time": f"{cpu / 60:.0f} min",
            "begun with": ", ".join(f"{name} {value}" for name, value in begun.items()),
            "page written with": ", ".join(f"{name} {version(name)}" for name in ("cboc", "scikit-fem", "matplotlib")),
        }
    )
