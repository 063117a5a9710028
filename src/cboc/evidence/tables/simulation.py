"""The tables of the evidence, made from rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from cboc.evidence.methods import tuning
from cboc.evidence.paper import COLUMNS, DISPLACED, FURTHER, LIFE, SCENARIOS, SIZES, TABLES, PaperTable
from cboc.evidence.scenario import Scenario
from cboc.evidence.tables.summary import ALONE, ALONE_TS, Cell, Summary, estimate
from cboc.evidence.tables.table import Table
from cboc.evidence.theory import Course, bound_slope, slope, swell, trend
from cboc.problems.synthetic import problem
from cboc.runs.metrics import Paired

NOTHING = "–"
ERRORS = "±: the standard error over seeds."
HONEST = {"displaced": DISPLACED, "further": FURTHER, "real-life": LIFE, "group-size": SIZES}
OURS = "cboc"  # the library's default
SAMPLERS = ("fts", "fts-de", "dp-fts-de")  # Thompson sampling: compared with Thompson sampling alone as well
CLAIMS = (
    ("cboc-l", "individual"),
    ("cboc-u", "individual"),
    ("cboc-l", "fts-de"),
    ("cboc-u", "fts-de"),
    ("cboc-l", "cboc-u"),
    ("fts-de", "individual"),
)
ENOUGH = 5  # seeds that an interval needs to be counted
DETAILS = (
    "final Gap",
    "area",
    "final - alone, 95 %",
    "area - alone, 95 %",
    "worst site",
    "worst - alone, 95 %",
    "harmed",
    "helped",
    "rounds",
    "regret",
    "regret - alone, 95 %",
)
SCORES = (
    *("", "rows", "seeds"),
    *("final: above", "unclear", "below"),
    *("area: above", "unclear", "below"),
    *("regret: lower", "unclear", "higher"),
    *("harmed", "helped"),
)
SHARES = (
    "Harmed, helped: the share of sites that end more than 0.01 below, and above, the same site alone; "
    "flat ones are left out."
)
LEGEND = (
    "Gap: the share of the way from the best initial outcome, with noise from the median, to the optimum; area: its "
    "mean over the rounds; ±: the standard error over seeds. Differences are paired by seed, with 95 % confidence "
    f"intervals. Alone: individual, or what a row says after 'against'. {SHARES} "
    "Rounds: when the mean curve, and that of working alone, are where working alone ends. "
    "Regret: cumulative, in units of the distance between a problem's median value and its optimum; lower is better."
)


def paper_tables(summary: Summary, surrogates: Sequence[str]) -> list[Table]:
    """Tables 1 to 4 as the paper prints them, which of its claims hold, and each method against working alone."""
    published = [published_table(summary, table, surrogate) for surrogate in surrogates for table in TABLES]
    claims = [claims_table(summary, surrogate) for surrogate in surrogates]
    scores = [
        make(summary, SCENARIOS, surrogate, "the paper's rows")
        for make in (score_table, default_table)
        for surrogate in surrogates
    ]
    return [table for table in (*published, *claims, *scores) if table.rows]


def paper_details(summary: Summary, surrogates: Sequence[str]) -> list[Table]:
    """Everything that was measured on the rows of Tables 1 to 4."""
    return [
        detail_table(summary, table.scenarios, surrogate, f"Table {table.number} in full, {surrogate} surrogate")
        for surrogate in surrogates
        for table in TABLES
    ]


def honest_tables(summary: Summary, surrogates: Sequence[str]) -> list[Table]:
    """How often each method beats working alone on the displaced rows, and on rows that the paper does not have."""
    scores = [
        make(summary, rows, surrogate, f"the {title} rows")
        for make in (score_table, default_table)
        for surrogate in surrogates
        for title, rows in HONEST.items()
    ]
    affected = [affected_table(summary, surrogate) for surrogate in surrogates]
    return [table for table in (*scores, *affected) if table.rows]


def honest_details(summary: Summary, surrogates: Sequence[str]) -> list[Table]:
    """Everything that was measured on the displaced rows, and on rows that the paper does not have."""
    return [
        detail_table(summary, rows, surrogate, f"The {title} rows in full, {surrogate} surrogate")
        for surrogate in surrogates
        for title, rows in HONEST.items()
    ]


def published_table(summary: Summary, table: PaperTable, surrogate: str) -> Table:
    """The paper's table: our mean final Gap, and the paper's in brackets; the library's default in the last column."""
    rows, notes = [], [ERRORS]
    for scenario, published in table.rows.items():
        cells = {method: summary.cell(scenario, surrogate, method) for method in (*COLUMNS, OURS)}
        if not any(cells[method] for method in COLUMNS):
            continue
        numbers = [_beside(cell, published.get(method)) for method, cell in cells.items()]
        rows.append((scenario.name, _span(len(cell.rows) for cell in cells.values() if cell), *numbers))
        notes += _flat_notes(scenario, cells.values())
    heads = [f"{theirs}" if method != "fts-de" else "FTS-DE [FedBO]" for method, theirs in COLUMNS.items()]
    title = f"Table {table.number}. {table.title}: mean final Gap, {surrogate} surrogate; in brackets the paper's"
    return Table(title, ("", "seeds", *heads, f"{OURS}, the default"), tuple(rows), tuple(notes))


def _span(counts: Iterable[int]) -> str:
    """The range of counts: '30', or '5-30' where they differ."""
    each = sorted(set(counts))
    return str(each[0]) if len(each) == 1 else f"{each[0]}-{each[-1]}"


def _beside(cell: Cell | None, published: tuple[float, float] | None) -> str:
    ours = NOTHING if cell is None else str(cell.final)
    return ours if published is None else f"{ours} [{published[0]:.3f}]"


def _flat_notes(scenario: Scenario, cells: Iterable[Cell | None]) -> list[str]:
    """How many sites have nothing to find, if any, in the cell with most seeds."""
    most = max((cell for cell in cells if cell is not None), key=lambda cell: len(cell.rows), default=None)
    if most is None or not most.flat:
        return []
    return [
        f"{scenario.name}: the function of {most.flat} of {most.finals.size} sites is flat inside the box; their Gap "
        "counts as 1 for every method, and they are left out of the harmed and the helped."
    ]


def detail_table(summary: Summary, scenarios: Iterable[Scenario], surrogate: str, title: str) -> Table:
    """Every method on every scenario, with everything that is measured."""
    rows: list[tuple[str, ...]] = []
    notes = [LEGEND]
    for scenario in scenarios:
        cells = {name: cell for name, cell in _compared(summary, scenario, surrogate) if cell is not None}
        rows += [(scenario.name, name, str(len(cell.rows)), *_details(cell, name)) for name, cell in cells.items()]
        notes += _flat_notes(scenario, cells.values())
    return Table(title, ("", "method", "seeds", *DETAILS), tuple(rows), tuple(notes))


def _compared(summary: Summary, scenario: Scenario, surrogate: str) -> Iterator[tuple[str, Cell | None]]:
    """Every method beside working alone; Thompson samplers also beside Thompson sampling alone."""
    for method in summary.methods:
        yield method, summary.cell(scenario, surrogate, method)
    for method in SAMPLERS:
        cell = summary.cell(scenario, surrogate, method, ALONE_TS)
        yield f"{method} against {ALONE_TS}", cell if cell is not None and cell.alone else None


def _details(cell: Cell, name: str) -> tuple[str, ...]:
    compared = _comparison(cell) if name != ALONE and cell.alone else (NOTHING,) * 6
    gain, area_gain, worst_gain, harmed, helped, regret_gain = compared
    return (
        *(str(cell.final), str(cell.area), gain, area_gain),
        *(str(cell.worst), worst_gain, harmed, helped),
        *(_rounds(cell), f"{cell.regret.mean:.2f}", regret_gain),
    )


def _comparison(cell: Cell) -> tuple[str, ...]:
    return (
        _difference(cell.gain),
        _difference(cell.area_gain),
        _difference(cell.worst_gain),
        _percent(cell.harm),
        _percent(cell.benefit),
        _difference(cell.regret_gain, digits=2),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _difference(pair: Paired, digits: int = 3) -> str:
    if pair.seeds < 2:
        return f"{pair.difference:+.{digits}f}"
    low, high = pair.interval
    return f"{pair.difference:+.{digits}f} ({low:+.{digits}f}, {high:+.{digits}f})"


def _rounds(cell: Cell) -> str:
    if not cell.alone:
        return NOTHING
    ours, theirs = cell.rounds
    return f"never / {theirs:.0f}" if ours != ours else f"{ours:.0f} / {theirs:.0f}"


def score_table(summary: Summary, scenarios: Sequence[Scenario], surrogate: str, which: str) -> Table:
    """How often each method is clearly above or below working alone: the 95 % interval leaves out zero."""
    compared: dict[str, list[Cell]] = {}
    notes = [
        f"Counted are rows with at least {ENOUGH} seeds. Intervals are of each row by itself: where nothing differs, "
        "1 in 40 is above by chance, and 1 in 40 below. Regret: cumulative; lower is better.",
        SHARES,
    ]
    for scenario in scenarios:
        cells = dict(_compared(summary, scenario, surrogate))
        for name, cell in cells.items():
            if name != ALONE and cell is not None and len(cell.alone) >= ENOUGH:
                compared.setdefault(name, []).append(cell)
        notes += _flat_notes(scenario, cells.values())
    rows = []
    for name, cells_of in compared.items():
        counts = (str(len(cells_of)), _span(len(cell.alone) for cell in cells_of))
        finals, areas = _score([cell.gain for cell in cells_of]), _score([cell.area_gain for cell in cells_of])
        higher, unclear, lower = _score([cell.regret_gain for cell in cells_of])
        harm = sum(cell.harm for cell in cells_of) / len(cells_of)
        benefit = sum(cell.benefit for cell in cells_of) / len(cells_of)
        rows.append((name, *counts, *finals, *areas, lower, unclear, higher, _percent(harm), _percent(benefit)))
    title = f"Against working alone, {which}, {surrogate} surrogate: 95 % intervals above, around or below zero"
    return Table(title, SCORES, tuple(rows), tuple(notes))


def default_table(summary: Summary, scenarios: Sequence[Scenario], surrogate: str, which: str) -> Table:
    """How often the library's default is clearly above or below each other method, and how much sooner it is there."""
    rows = []
    for method in summary.methods:
        cells = [summary.cell(scenario, surrogate, OURS, method) for scenario in scenarios if method != OURS]
        known = [cell for cell in cells if cell is not None and len(cell.alone) >= ENOUGH]
        if known:
            areas, finals = _score([cell.area_gain for cell in known]), _score([cell.gain for cell in known])
            worst = _score([cell.worst_gain for cell in known])
            counts = (str(len(known)), _span(len(cell.alone) for cell in known))
            rows.append((f"against {method}", *counts, *areas, *finals, *worst, _sooner(known)))
    head = (
        *("", "rows", "seeds", "area: above", "unclear", "below", "final: above", "unclear", "below"),
        *("worst site: above", "unclear", "below", "rounds"),
    )
    notes = (
        f"Counted are rows with at least {ENOUGH} seeds of both. Rounds: the median over rows of those until the "
        "default has what the other has in the end, in those that the other needs; where it never has, more than all.",
    )
    title = f"{OURS}, the default, on {which}, {surrogate} surrogate: 95 % intervals above, around or below zero"
    return Table(title, head, tuple(rows), notes)


def affected_table(summary: Summary, surrogate: str) -> Table:
    """The gains by the default of the affected sites (`Scenario.affected`), and of the other sites."""
    rows = []
    for scenario in LIFE:
        cell, who = summary.cell(scenario, surrogate, OURS), scenario.affected
        if cell is None or not cell.alone or who is None:
            continue
        for name, sites in ((str(scenario.trouble or scenario.kind), who), ("the others", ~who)):
            gains = [_difference(gain) for gain in cell.gains_of(sites)]
            rows.append((scenario.name, name, str(sites.sum()), str(len(cell.rows)), *gains))
    head = ("", "who", "sites", "seeds", "area - alone, 95 %", "final - alone, 95 %")
    title = f"{OURS}, the default: those to whom something happens, and the others, {surrogate} surrogate"
    return Table(title, head, tuple(rows))


def _sooner(cells: Sequence[Cell]) -> str:
    shares = np.array([ours / theirs if theirs else 1.0 for ours, theirs in (cell.rounds for cell in cells)])
    median = float(np.median(np.nan_to_num(shares, nan=np.inf)))
    return _percent(median) if np.isfinite(median) else "never"


def claims_table(summary: Summary, surrogate: str) -> Table:
    """Which method is above which, in the paper's tables and in ours."""
    rows = []
    for better, worse in CLAIMS:
        printed = [row for table in TABLES for row in table.rows.values() if {better, worse} <= row.keys()]
        agreed = sum(row[better][0] > row[worse][0] for row in printed)
        cells = [summary.cell(scenario, surrogate, better, worse) for scenario in SCENARIOS]
        pairs = [cell.gain for cell in cells if cell is not None and len(cell.alone) >= ENOUGH]
        if pairs:
            rows.append((f"{better} above {worse}", f"{agreed} of {len(printed)}", str(len(pairs)), *_score(pairs)))
    head = ("final Gap", "in the paper", "rows here", "above", "unclear", "below")
    title = f"The paper's claims, {surrogate} surrogate: 95 % intervals of the difference above, around or below zero"
    return Table(title, head, tuple(rows), (f"Counted are rows with at least {ENOUGH} seeds.",))


def _score(pairs: Sequence[Paired]) -> tuple[str, str, str]:
    above = sum(pair.interval[0] > 0.0 for pair in pairs)
    below = sum(pair.interval[1] < 0.0 for pair in pairs)
    return str(above), str(len(pairs) - above - below), str(below)


def tuning_table(summary: Summary, surrogate: str) -> Table:
    """The mean area of every variant, scenario by scenario and over all."""
    rows = []
    for variant in tuning.VARIANTS:
        cells = [summary.cell(scenario, surrogate, variant) for scenario in tuning.SCENARIOS]
        areas = [cell.area for cell in cells if cell]
        if areas:
            overall = f"{sum(area.mean for area in areas) / len(areas):.4f}" if all(cells) else NOTHING
            rows.append((variant, *(str(cell.area) if cell else NOTHING for cell in cells), overall))
    first, last = tuning.SEEDS[0], tuning.SEEDS[-1]
    title = f"Tuning: area under the Gap curve, {surrogate} surrogate, seeds {first} to {last}"
    return Table(title, ("", *(scenario.name for scenario in tuning.SCENARIOS), "mean"), tuple(rows))


def theory_table(courses: Sequence[Course]) -> Table:
    """Slopes of the cumulative regret, and whether the assumptions' quantities still grow when scaled."""
    rows = []
    groups: dict[tuple[Scenario, str], list[Course]] = {}
    for course in courses:
        groups.setdefault((course.job.scenario, course.job.method), []).append(course)
    for (scenario, method), several in groups.items():
        slopes = np.array([slope(np.cumsum(course.regret)) for course in several])
        D = problem(scenario.problem).space.dimension
        spread, blur = (np.mean([getattr(course, name) for course in several], axis=0) for name in ("spread", "blur"))
        rows.append(
            (
                scenario.name,
                method,
                str(len(several)),
                f"{np.mean([sum(course.regret) for course in several]):,.0f}",
                str(estimate(slopes)),
                f"{bound_slope(scenario.horizon, D):.2f}",
                f"{trend(spread):.2f}",
                f"{trend(blur):.2f}" if blur.any() else NOTHING,
                f"{swell(blur):.2f}" if blur.any() else NOTHING,
            )
        )
    head = (
        *("", "method", "seeds", "R at the end", "slope of log R", "of the bound"),
        *("spread, last / first", "blur, last / first", "blur, most / first"),
    )
    note = (
        "R: the cumulative regret, mean over sites and seeds, in units of the distance between the best initial "
        "outcome and the optimum. Slope: of log R over log t in the second half of the rounds; under 1 is sublinear. "
        "Last / first: the mean "
        "over the last quarter of the rounds over that of the first, each times the square root of log(2 + t); most: "
        "over the largest quarter instead; "
        "above 1 the quantity does not fall as fast as Assumption 2 (spread) or 3 (blur) asks. At the end of a run W "
        "is the identity and the blur is 0 by construction: that it falls says little."
    )
    return Table("Theorem 1 in runs: the same function at all sites", head, tuple(rows), (note,))
