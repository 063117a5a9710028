"""The tables and pictures of campaigns."""

from dataclasses import replace

import numpy as np
import pytest

from cboc import CbocError
from cboc.evidence import figures
from cboc.evidence.real.campaign import EXPERIMENTS, Campaign, Pace, Progress
from cboc.evidence.tables.real import Campaigns, Setting, real_details, real_tables

HERE = Setting("arylation-temperature", 4, Pace.ROUNDS)


def row(method, seed, level, arrival, family=HERE.family):
    """A campaign at one level of the Gap at all of its three sites."""
    job = Campaign(family, HERE.initial, HERE.pace, method, seed)
    three = (level,) * 3
    return Progress(job, (level,) * EXPERIMENTS, three, three, (arrival, arrival, 41), (0, 1, 2), (3, 3, 3))


ALONE = [row("individual", seed, 0.5, 20) for seed in (0, 1)]
TOGETHER = [row("cboc", 0, 0.6, 10), row("cboc", 1, 0.8, 12), row("cboc", 2, 0.9, 1)]  # the last without a partner


def test_differences_are_paired_by_seed_with_95_percent_intervals():
    """Differences 0.1 and 0.3: mean 0.2, standard error 0.1, and t₀.₉₇₅ = 12.706 with one degree of freedom."""
    (table,) = real_details([*ALONE, *TOGETHER])
    cells = dict(zip(table.columns, table.rows[1], strict=True))
    assert cells[""] == "cboc" and cells["seeds"] == "2" and cells["area"] == "0.700"
    assert cells["area − alone"] == "+0.200 ± 1.271" == cells["final − alone"]
    assert cells["to 95 %"] == "21.0" and cells["to 95 % − alone"].startswith("-6.0 ±")
    assert cells["median"] == "12" and cells["never"] == "33 %" and cells["repeats"] == "3.0"
    assert (cells["harmed"], cells["helped"]) == ("0 %", "100 %")
    assert "Absent rows: 1.00 of a site's experiments failed" in table.notes[0]


def test_every_table_says_how_many_comparisons_it_makes():
    again = [row("individual-again", seed, 0.4, 30) for seed in (0, 1)]
    (details,) = real_details([*ALONE, *TOGETHER, *again])
    assert (
        "3 comparisons" in details.notes[0]
        and "is the null" in details.notes[0]
        and "winner's curse" in details.notes[0]
    )
    _, gains, default = real_tables([*ALONE, *TOGETHER, *again])
    assert "2 comparisons" in gains.notes[0] and "individual-again is the null" in gains.notes[0]
    assert [line[0] for line in gains.rows] == ["individual-again", "cboc"]
    assert default.rows == (("− individual", "+0.200 ± 1.271"),) and "1 comparisons" in default.notes[0]


def test_families_are_never_pooled():
    other = [row(method, 0, level, 5, "suzuki-pairs") for method, level in (("individual", 0.9), ("cboc", 0.8))]
    rows = [*ALONE, *TOGETHER, *other]
    assert len(real_details(rows)) == 2
    short, gains, _ = real_tables(rows)
    assert [line[0] for line in short.rows] == [
        "direct arylation at 3 temperatures",
        "8 of 12 Suzuki pairs, little in common",
    ]
    assert gains.columns == ("", "arylation-temperature", "suzuki-pairs")
    assert gains.rows == (("cboc", "+0.200 ± 1.271", "-0.100"),)


def test_the_default_in_short():
    """Medians over sites and seeds: alone 20, 20, 41 twice; together 10, 10, 41 and 12, 12, 41."""
    short = real_tables([*ALONE, *TOGETHER])[0]
    (line,) = short.rows
    assert line[1:] == ("0.500", "+0.200 ± 1.271", "–", "–", "20", "12", "–", "60 %")
    assert "2 seeds" in short.notes[0] and "1 comparisons" in short.notes[0] and "The null is" in short.notes[0]


def test_medians_in_short_are_of_the_same_seeds():
    more = [*ALONE, *TOGETHER, row("individual", 7, 0.1, 3)]  # without a partner
    assert real_tables(more)[0].rows == real_tables([*ALONE, *TOGETHER])[0].rows


def test_where_alone_never_arrives_there_is_no_share_of_its_experiments():
    never = [row(method, seed, 0.5, 41) for method in ("individual", "cboc") for seed in range(2)]
    assert real_tables(never)[0].rows[0][-1] == "–"


def test_runs_of_other_tables_are_not_mixed():
    by_site = ("area", "final", "arrival", "failures", "repeats")
    two = replace(TOGETHER[0], **{name: getattr(TOGETHER[0], name)[:2] for name in by_site})
    with pytest.raises(CbocError, match="3 sites and 2: they were not made from the same tables"):
        real_tables([*ALONE, two])


def test_without_its_null_a_rate_of_harm_says_so():
    assert "The null, individual-again, was not run" in real_details([*ALONE, *TOGETHER])[0].notes[0]


def test_a_method_without_a_partner_has_no_difference():
    (table,) = real_details(TOGETHER)
    assert table.rows[0][3] == "–" and table.rows[0][1] == "3"
    assert real_tables(TOGETHER) == []


@pytest.mark.parametrize("draw", [figures.progress, figures.arrivals])
def test_the_pictures_have_a_panel_for_each_family(draw):
    other = [row("cboc", 0, 0.8, 5, "suzuki-pairs")]
    figure = draw(Campaigns([*ALONE, *TOGETHER, *other]), 4, Pace.ROUNDS)
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["direct arylation at 3 temperatures", "8 of 12 Suzuki pairs"]
    figure.canvas.draw()


def test_a_curve_begins_at_the_first_experiment():
    figure = figures.progress(Campaigns(ALONE), 4, Pace.ROUNDS)
    line = figure.axes[0].lines[0]
    np.testing.assert_array_equal(line.get_xdata(), np.arange(1.0, 41.0))
    assert set(line.get_ydata()) == {0.5}
