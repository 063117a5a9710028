import numpy as np
import pytest

from cboc.evidence import paper
from cboc.evidence.job import Job, Row
from cboc.evidence.methods import tuning
from cboc.evidence.methods.registry import METHODS, method
from cboc.evidence.scenario import Kind, Scenario
from cboc.evidence.tables import simulation
from cboc.evidence.tables.summary import Summary
from cboc.evidence.tables.table import Table, Writing, write
from cboc.evidence.theory import Course, Inquiry, bound_slope, slope, trend
from cboc.runs.metrics import Paired, harm_rate, paired

SCENARIO = Scenario("levy-2", 10)


def row(method, seed, final, area=0.5, scenario=SCENARIO, flat=0):
    final = np.broadcast_to(final, scenario.sites)
    curve = np.linspace(0.0, final.mean(), scenario.horizon + 1)
    sites = tuple([area] * scenario.sites)
    return Row(Job(scenario, "default", method, seed), tuple(curve), tuple(final), sites, sites, flat)


def rows(method, finals, **more):
    return [row(method, seed, final, **more) for seed, final in enumerate(finals)]


def test_a_cell_is_compared_with_alone_on_the_same_seeds_only():
    summary = Summary([*rows("individual", [0.8, 0.9, 0.7, 0.1]), *rows("cboc-u", [0.9, 0.95, 0.75])])
    cell = summary.cell(SCENARIO, "default", "cboc-u")
    assert len(cell.rows) == len(cell.alone) == 3
    assert cell.gain.difference == pytest.approx(0.2 / 3)
    assert cell.final.mean == pytest.approx(2.6 / 3)
    assert summary.cell(SCENARIO, "paper", "cboc-u") is None


def test_the_interval_is_that_of_the_t_distribution():
    pair = paired([1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0])
    assert pair.interval == pytest.approx((2.5 - 3.182446 * pair.error, 2.5 + 3.182446 * pair.error), rel=1e-6)
    assert np.isnan(Paired(0.1, float("nan"), 1).margin)


def test_harm_counts_sites_beyond_the_tolerance():
    assert harm_rate([[0.5, 0.90], [0.7, 1.0]], [[0.6, 0.905], [0.7, 1.0]]) == 0.25


def test_the_worst_site_is_that_of_each_seed():
    finals = np.full(10, 0.9)
    finals[3] = 0.2
    summary = Summary([row("individual", 0, 0.8), row("cboc-u", 0, finals)])
    cell = summary.cell(SCENARIO, "default", "cboc-u")
    assert cell.worst.mean == pytest.approx(0.2)
    assert cell.worst_gain.difference == pytest.approx(-0.6)
    assert cell.harm == pytest.approx(0.1)


def test_the_papers_tables_have_thirteen_rows_and_its_numbers():
    assert [len(table.rows) for table in paper.TABLES] == [3, 3, 4, 3]
    assert paper.TABLES[0].rows[Scenario("levy-8", 5, "same")]["cboc-l"] == (0.969, 0.010)
    assert paper.TABLES[2].rows[Scenario("shekel-10", 20)]["fts-de"] == (0.535, 0.051)
    assert all(published.keys() <= METHODS.keys() for table in paper.TABLES for published in table.rows.values())
    assert len(paper.DISPLACED) == 13 and all(scenario.is_displaced for scenario in paper.DISPLACED)


def test_our_number_stands_beside_the_papers():
    summary = Summary([*rows("individual", [0.9, 0.92]), *rows("cboc-l", [0.8, 0.82])])
    text = write(simulation.paper_tables(summary, ["default"]), Writing.TEXT)
    line = next(line for line in text.splitlines() if line.startswith("levy-2 K=10 "))
    assert "0.810 ± 0.010 [0.990]" in line and "0.910 ± 0.010 [0.942]" in line
    assert "– [0.958]" in line  # the paper has a number, we have none yet
    assert line.split()[2] == "2"
    more = Summary([*rows("individual", [0.9] * 4), *rows("cboc-l", [0.8, 0.82])])
    assert simulation.published_table(more, paper.TABLES[1], "default").rows[0][1] == "2-4"


def test_the_score_counts_clear_gains_and_losses():
    summary = Summary(
        [
            *rows("individual", [0.5, 0.6, 0.7, 0.6, 0.6]),
            *rows("individual-ts", [0.3, 0.51, 0.7, 0.45, 0.5]),
            *rows("cboc-u", [0.4, 0.51, 0.6, 0.5, 0.5]),
            *rows("cboc-u-gated", [0.6, 0.7, 0.81, 0.7, 0.7]),
            *rows("cboc-l", [0.1, 0.1, 0.1, 0.1]),  # too few seeds to count
            *rows("fts", [0.4, 0.6, 0.8, 0.55, 0.6]),
        ]
    )
    table = simulation.score_table(summary, [SCENARIO], "default", "one row")
    scores = {line[0]: line[3:6] for line in table.rows}
    assert scores == {
        "individual-ts": ("0", "0", "1"),
        "cboc-u": ("0", "0", "1"),
        "cboc-u-gated": ("1", "0", "0"),
        "fts": ("0", "1", "0"),
        "fts against individual-ts": ("1", "0", "0"),
    }
    assert {line[2] for line in table.rows} == {"5"}


def test_claims_stand_beside_what_the_paper_printed():
    ours = {"individual": [0.5, 0.6, 0.7, 0.6, 0.6], "cboc-l": [0.4, 0.51, 0.6, 0.5, 0.5], "cboc-u": [0.4] * 5}
    table = simulation.claims_table(Summary([row for name in ours for row in rows(name, ours[name])]), "default")
    assert table.rows == (
        ("cboc-l above individual", "13 of 13", "1", "0", "0", "1"),
        ("cboc-u above individual", "7 of 7", "1", "0", "0", "1"),
        ("cboc-l above cboc-u", "7 of 7", "1", "1", "0", "0"),
    )


def test_the_default_is_set_against_every_other_method():
    finals = {"individual": [0.5] * 5, "cboc-u": [0.8, 0.7, 0.9, 0.8, 0.7], "cboc": [0.8, 0.8, 0.8, 0.8, 0.8]}
    summary = Summary([row for name, values in finals.items() for row in rows(name, values)])
    table = simulation.default_table(summary, [SCENARIO], "default", "some rows")
    assert [line[0] for line in table.rows] == ["against individual", "against cboc-u"]
    alone, published = table.rows
    assert alone[1:3] == ("1", "5") and alone[6:9] == ("1", "0", "0") and published[6:9] == ("0", "1", "0")
    assert alone[-1].endswith("%") and int(alone[-1].split()[0]) < 100


def test_an_outlier_is_told_apart_from_the_others():
    """Nine sites gain 0.2 and the outlier, the last one, loses 0.1."""
    scenario = next(row for row in paper.LIFE if row.kind == Kind.OUTLIER)
    together = np.append(np.full(9, 0.7), 0.4)
    summary = Summary([row(name, seed, final, scenario=scenario) for seed in (0, 1) for name, final in
                       (("individual", 0.5), ("cboc", together))])  # fmt: skip
    outlier, others = simulation.affected_table(summary, "default").rows
    assert outlier[:4] == (scenario.name, "outlier", "1", "2") and outlier[-1] == "-0.100 (-0.100, -0.100)"
    assert others[1:4] == ("the others", "9", "2") and others[-1] == "+0.200 (+0.200, +0.200)"


def test_those_that_sample_are_compared_with_sampling_alone_too():
    summary = Summary([*rows("individual", [0.9, 0.9]), *rows("individual-ts", [0.6, 0.6]), *rows("fts", [0.7, 0.7])])
    lines = {line[1]: line for line in simulation.detail_table(summary, [SCENARIO], "default", "").rows}
    gains = {name: line[5].split()[0] for name, line in lines.items()}
    assert gains == {
        "individual": "–",
        "individual-ts": "-0.300",
        "fts": "-0.200",
        "fts against individual-ts": "+0.100",
    }


def test_harm_leaves_out_the_sites_with_nothing_to_find():
    finals = np.append(np.full(6, 0.5), np.ones(4))
    summary = Summary([row("individual", 0, 1.0, flat=4), row("cboc-u", 0, finals, flat=4)])
    assert summary.cell(SCENARIO, "default", "cboc-u").harm == pytest.approx(1.0)


def test_who_is_helped_is_counted_as_who_is_harmed():
    alone, together = np.full(10, 0.5), np.full(10, 0.5)
    together[:3], together[3], alone[6:], together[6:] = 0.52, 0.4, 1.0, 1.0  # the last four are flat
    cell = Summary([row("individual", 0, alone, flat=4), row("cboc-u", 0, together, flat=4)]).cell(
        SCENARIO, "default", "cboc-u"
    )
    assert cell.benefit == pytest.approx(3 / 6) and cell.harm == pytest.approx(1 / 6)


def test_regret_stands_beside_that_of_working_alone():
    areas = [0.5, 0.6, 0.7, 0.6, 0.6]  # the regret of these rows too
    summary = Summary(
        [
            *(row("individual", seed, 0.5, area) for seed, area in enumerate(areas)),
            *(row("cboc-u", seed, 0.7, area - 0.1) for seed, area in enumerate(areas)),
            *(row("random", seed, 0.4, area + 0.1) for seed, area in enumerate(areas)),
        ]
    )
    scores = simulation.score_table(summary, [SCENARIO], "default", "one row")
    assert scores.columns[9:] == ("regret: lower", "unclear", "higher", "harmed", "helped")
    assert {line[0]: line[9:] for line in scores.rows} == {
        "cboc-u": ("1", "0", "0", "0 %", "100 %"),
        "random": ("0", "0", "1", "100 %", "0 %"),
    }
    details = simulation.detail_table(summary, [SCENARIO], "default", "")
    lines = {line[1]: dict(zip(details.columns, line, strict=True)) for line in details.rows}
    assert lines["cboc-u"]["regret - alone, 95 %"] == "-0.10 (-0.10, -0.10)"
    assert lines["cboc-u"]["helped"] == "100 %" and lines["cboc-u"]["regret"] == "0.50"
    assert lines["individual"]["regret - alone, 95 %"] == lines["individual"]["helped"] == "–"


def test_the_papers_tables_say_what_their_errors_are():
    table = simulation.published_table(Summary(rows("cboc-l", [0.8, 0.82])), paper.TABLES[1], "default")
    assert "±: the standard error over seeds." in table.notes


def test_notes_of_the_text_are_as_wide_as_a_page():
    table = Table("Title", ("", "x"), (("one", "1"),), ("many words " * 60, "Short."))
    lines = write([table], Writing.TEXT).splitlines()
    assert max(map(len, lines)) <= 120 and lines[-1] == "Short."
    assert " ".join(lines[5:-1]) == ("many words " * 60).strip()
    assert "many words " * 50 in write([table], Writing.MARKDOWN)


def test_an_unfinished_tuning_has_its_table():
    scenario, variant = tuning.SCENARIOS[1], "fts: exponent 2, lengthscale 0.25, noise 0.01"
    (line,) = simulation.tuning_table(Summary([row(variant, 1000, 0.5, scenario=scenario)]), "default").rows
    assert line == (variant, "–", "0.500", "–", "–")


def test_flat_sites_are_reported():
    scenario = Scenario("hartmann-6", 10)
    summary = Summary([row("cboc-l", seed, 1.0, scenario=scenario, flat=4) for seed in range(2)])
    table = paper.TABLES[3]
    table = simulation.published_table(summary, table, "default")
    detail = simulation.detail_table(summary, [scenario], "default", "in full")
    for notes in (table.notes, detail.notes):
        assert sum("8 of 20 sites is flat" in note for note in notes) == 1


def test_sheets_are_text_markdown_and_latex():
    table = Table("A & B", ("", "x"), (("one_1", "0.5 ± 0.1"), ("two", "–")), ("50 % of it.",))
    assert write([table], Writing.TEXT).splitlines()[2] == "               x"
    assert "| one_1 | 0.5 ± 0.1 |" in write([table], Writing.MARKDOWN)
    latex = write([table], Writing.LATEX)
    assert r"one\_1 & 0.5 $\pm$ 0.1 \\" in latex and r"\caption{A \& B. 50 \% of it.}" in latex
    wide = write([Table("Wide", tuple("abcdefgh"), ())], Writing.LATEX)
    assert "resizebox" in wide and wide.count("{") == wide.count("}") and "resizebox" not in latex


def test_slopes_of_known_growth():
    t = np.arange(1, 201)
    assert slope(t**0.5) == pytest.approx(0.5, abs=1e-6)
    assert slope(2.0 * t) == pytest.approx(1.0, abs=1e-6)
    assert bound_slope(round(np.exp(6)), 2) == pytest.approx(1.0, abs=1e-3)  # T = e^(D+4): from here on sublinear
    scaled = 1 / np.sqrt(np.log(2.0 + t))
    assert trend(scaled) == pytest.approx(1.0)
    assert trend(np.ones(200)) > 1.0 > trend(scaled**3)


def test_the_theory_sheet_has_a_line_for_every_method():
    scenario = Scenario("branin", 5, "same", rounds=20)
    courses = [
        Course(Inquiry(scenario, method, seed), (0.5,) * 20, (0.1,) * 20, (0.0,) * 20)
        for method in ("individual", "cboc-u")
        for seed in range(2)
    ]
    assert Course.from_json(courses[0].to_json()) == courses[0]
    table = simulation.theory_table(courses)
    assert [line[1] for line in table.rows] == ["individual", "cboc-u"]
    assert table.rows[0][3] == "10" and table.rows[0][4].startswith("1.000")  # constant regret grows linearly


def test_every_grid_belongs_to_a_method_and_holds_its_choice():
    assert tuning.GRIDS.keys() <= METHODS.keys()
    for name, grid in tuning.GRIDS.items():
        assert METHODS[name] in grid.values()
    assert all(method(name) is variant for name, variant in tuning.VARIANTS.items())
    assert not set(tuning.SEEDS) & set(range(30))
