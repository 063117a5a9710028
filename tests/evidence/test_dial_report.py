"""The tables and pictures of worlds with a dial."""

import numpy as np

from cboc.evidence import figures
from cboc.evidence.dial import ALONE, NULL, OURS, REPORTED, RIVAL, TUNING, Probe, Reading, World
from cboc.evidence.figures.look import darker
from cboc.evidence.tables.dial import Readings, dial_details, dial_tables

STRANGERS, RELATED, SAME = (World("dial", r, 2) for r in (0.0, 0.5, 1.0))
SHIFTED = World("shifted", 0.1, 4)


def row(method, seed, levels, world=RELATED):
    """Sites at these levels of the Gap, from first to last."""
    return Reading(Probe(world, len(levels), method, seed), *[tuple(levels)] * 3)


def alone(world=RELATED, first=REPORTED):
    return [row(ALONE, first + k, [0.5, 0.5, 0.9], world) for k in range(2)]


def together(world=RELATED, first=REPORTED):
    """Two sites; gains of 0.1 and 0.3."""
    return [row(OURS, first, [0.6, 0.6], world), row(OURS, first + 1, [0.8, 0.8], world)]


def again(world=RELATED, first=REPORTED):
    return [row(NULL, first + k, [0.4, 0.6, 0.1], world) for k in range(2)]


def table(tables, title):
    (found,) = [each for each in tables if each.title.startswith(title)]
    return found


def test_differences_are_paired_by_seed_and_from_the_same_sites():
    """Mean 0.2, standard error 0.1, t₀.₉₇₅ = 12.706; alone has a third site, which does not count."""
    gains = table(dial_tables([*alone(), *together(), *again()]), "Area minus alone's: cboc")
    assert gains.columns == ("", "alone", "K = 2", "null, K = 2")
    assert gains.notes[0].startswith("Alone: the mean of all 3 sites; every difference is from the same sites alone.")
    assert gains.rows == (("r = 0.5, 2 parameters", "0.633", "+0.200 ± 1.271", "+0.000 ± 0.000"),)
    assert "1 comparisons: where nothing differs, about 0.1 leave out zero" in gains.notes[0]


def test_what_r_means_is_told_by_what_sites_find_alone():
    more = World("dial", 1.0, 4)
    worth = table(dial_tables([*alone(), *together(), *alone(more)]), "What a neighbour's best")
    assert worth.columns == ("", "2 parameters", "4 parameters")
    assert worth.rows == (("r = 0.5", "0.633", "–"), ("r = 1", "–", "0.633"))


def test_in_short_is_a_mean_over_worlds_seed_by_seed():
    """Gains of 0.1 and 0.3 in one world, of 0.3 and 0.1 in the other: 0.2 in both seeds."""
    other = [row(OURS, REPORTED, [0.8, 0.8], SAME), row(OURS, REPORTED + 1, [0.6, 0.6], SAME)]
    rows = [*alone(), *together(), *alone(SAME), *other, *alone(STRANGERS), *together(STRANGERS)]
    short = table(dial_tables(rows), "In short")
    cells = dict(zip(short.columns, short.rows[0], strict=True))
    assert cells["cboc, r ≥ 0.5"] == "+0.200 ± 0.000" and cells["cboc, r = 0"] == "+0.200 ± 1.271"
    assert cells["individual-again, r = 0"] == "–"
    assert "over 2 with r ≥ 0.5, and over 1 with r = 0" in short.notes[0] and "2 comparisons" in short.notes[0]


def test_what_is_clearly_above_and_below_is_counted_beside_the_null():
    clear = [row(OURS, REPORTED + k, [0.6 + 0.001 * k] * 2) for k in range(2)]
    worse = [row(RIVAL, REPORTED + k, [0.4 + 0.001 * k] * 2) for k in range(2)]
    counts = table(dial_tables([*alone(), *clear, *worse, *again()]), "Clearly")
    assert counts.rows == (
        (OURS, "–", "–", "1 above, 0 below of 1"),
        (RIVAL, "–", "–", "0 above, 1 below of 1"),
        (NULL, "–", "–", "0 above, 0 below of 1"),
    )
    assert "2 comparisons" in counts.notes[0] and "individual-again is the null" in counts.notes[0]


def test_every_rate_stands_beside_its_null():
    harm = table(dial_details([*alone(), *together(), *again()]), "Harmed")
    assert harm.rows == (("r = 0.5, 2 parameters", "0 / 100 (50 / 50)"),)
    assert "2 rates" in harm.notes[0]


def test_variants_have_a_table_of_their_own():
    rows = [*alone(SHIFTED), *together(SHIFTED), *again(SHIFTED)]
    (variants,) = dial_tables(rows)
    cells = dict(zip(variants.columns, variants.rows[0], strict=True))
    assert cells[""] == "shifts of 0.1 of the range, 4 parameters, K = 2"
    assert cells["neighbour's best"] == cells["area alone"] == "0.633"  # at all of its sites
    assert cells["area: cboc"] == "+0.200 ± 1.271" and cells["final: individual-again"] == "+0.000 ± 0.000"
    assert "2 comparisons" in variants.notes[0]


def test_tuning_seeds_are_never_mixed_with_reported_ones_and_are_marked():
    tuned = [*alone(first=TUNING), row(OURS, TUNING, [0.9, 0.9])]
    reported = dial_tables([*alone(), *together()])
    assert dial_tables([*alone(), *together(), *tuned]) == reported
    assert not any("tuning" in each.title for each in reported)
    for each in (*dial_tables(tuned), *dial_details(tuned)):
        assert each.title.endswith("(tuning seeds)") and "not for any report" in each.notes[-1]


def test_without_a_partner_there_is_no_difference():
    assert dial_tables(together()) == []


# ------------------------------------------------------------------------------------------------------------ pictures


def test_a_panel_for_each_number_of_parameters_and_a_line_for_each_number_of_sites():
    more = World("dial", 0.5, 4)
    rows = [*alone(), *together(), *alone(SAME), *together(SAME), *again(), *again(SAME), *alone(more), *together(more)]
    rows += [row(OURS, REPORTED, [0.7] * 3), row(RIVAL, REPORTED, [0.4] * 2)]
    figure = figures.when(Readings(rows))
    figure.canvas.draw()
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["2 parameters", "4 parameters", "", ""]
    lines = figure.axes[0].containers
    assert len(lines) == 2  # K = 2 and 3
    np.testing.assert_allclose(lines[0].lines[0].get_ydata(orig=False), [0.2, 0.2])  # at r = 0.5 and 1
    assert {text.get_text() for text in figure.axes[1].texts} == {"K = 2"}
    assert "others' best first" in figure.axes[2].get_ylabel()


def test_variants_have_a_panel_for_each_kind():
    groups = World("groups", 0.9, 4)
    rows = [*alone(SHIFTED), *together(SHIFTED), *again(SHIFTED), *alone(groups), *together(groups)]
    figure = figures.variants(Readings(rows))
    figure.canvas.draw()
    assert [ax.get_title(loc="left")[:10] for ax in figure.axes] == ["optima shi", "two groups"]


def test_the_picture_says_that_seeds_are_for_tuning():
    figure = figures.when(Readings([*alone(first=TUNING), *together(first=TUNING)]))
    assert "2 seeds for tuning" in figure.get_supxlabel()


def test_darker():
    assert darker("#D55E00", 0.0) == "#d55e00" and darker("#D55E00", 1.0) == "#000000"


def test_one_seed_is_enough_for_a_picture():
    figures.when(Readings([*alone()[:1], *together()[:1], *again()[:1]])).canvas.draw()
