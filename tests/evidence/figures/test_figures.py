"""What is drawn is what the rows say, and what the paper printed."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from cboc.data.dataset import Dataset
from cboc.errors import CbocError
from cboc.evidence import figures
from cboc.evidence.case import Case
from cboc.evidence.casestudy import INITIAL, Account, Attempt
from cboc.evidence.figures.look import LOOKS, error_name, look, settle, tint
from cboc.evidence.illustration import LEADER, NEAR, Illustration, illustrate
from cboc.evidence.job import Job, Row
from cboc.evidence.paper import DISPLACED, FURTHER, SCENARIOS, SIZES, TABLES
from cboc.evidence.scenario import Kind, Scenario
from cboc.evidence.tables.summary import ALONE, Summary
from cboc.evidence.theory import Course, Inquiry, slope, trend
from cboc.problems.problem import heterogeneous
from cboc.problems.synthetic import levy

SURROGATES = ("paper", "default")
METHODS = ("individual", "cboc-l", "cboc-u", "cboc-u-gated", "centre", "fts-de")
LEVELS = dict(zip(METHODS, (0.5, 0.6, 0.65, 0.7, 0.4, 0.55), strict=True))


def row(scenario, surrogate, method, seed):
    rng = np.random.default_rng([seed, scenario.sites, METHODS.index(method), SURROGATES.index(surrogate)])
    final = (LEVELS[method] + 0.05 * rng.standard_normal(scenario.sites)).clip(0.0, 1.0)
    curve = final.mean() * np.linspace(0.0, 1.0, scenario.horizon + 1) ** 0.5
    return Row(Job(scenario, surrogate, method, seed), tuple(curve), tuple(final), tuple(0.7 * final), tuple(final), 0)


def rows(scenarios, seeds=3, methods=METHODS):
    return [row(s, u, m, seed) for s in scenarios for u in SURROGATES for m in methods for seed in range(seeds)]


@pytest.fixture(scope="module")
def summary():
    return Summary(rows([*SCENARIOS, *DISPLACED, *FURTHER]))


@pytest.fixture(scope="module")
def sparse():
    """One seed of some methods on few scenarios; on one, nobody worked alone."""
    lonely = [row(SCENARIOS[7], "paper", "cboc-u", 0)]
    return Summary(rows(SCENARIOS[6:7], seeds=1, methods=("individual", "cboc-u")) + lonely)


def illustration(rng=None):
    """Designs by hand: alone comes near its optimum at site 1 in the third round, together nowhere."""
    rng = rng or np.random.default_rng(0)
    problems = (heterogeneous(levy(2), 1.0, 1.0, 1.0), heterogeneous(levy(2), 2.0, 2.0, 2.0))
    initial = tuple(Dataset(X := rng.random((5, 2)) * 0.2, p.values(X), direction="minimise") for p in problems)
    away = np.stack([rng.random((10, 2)) * 0.2 + 0.75 for _ in problems])
    there = away.copy()
    there[0, 2] = problems[0].space.to_unit({"x1": 0.0, "x2": 0.0})
    case = Case(problems, initial, 10, 0, strategy=None)
    return Illustration("paper", case, {ALONE: there, LEADER: away})


def courses(seeds=3, methods=("individual", "cboc-u"), rounds=40):
    t = np.arange(1, rounds + 1)
    made = []
    for scenario in (Scenario("branin", 5, Kind.SAME, rounds=rounds), Scenario("levy-2", 5, Kind.SAME, rounds=rounds)):
        for k, method in enumerate(methods):
            for seed in range(seeds):
                jitter = np.random.default_rng([seed, k]).lognormal(0.0, 0.4, rounds)
                regret, spread = jitter * t ** -(0.6 - 0.2 * k), 0.5 / np.log(2.0 + t) ** 0.5
                blur = k * 0.3 * (1 - t / rounds)
                made.append(Course(Inquiry(scenario, method, seed), tuple(regret), tuple(spread), tuple(blur)))
    return made


def titles(fig):
    return [ax.get_title(loc="left") for ax in fig.axes]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def legend(fig):
    return [text.get_text() for text in fig.legends[0].get_texts()]


def curves(ax):
    return {line.get_label(): np.asarray(line.get_ydata()) for line in ax.lines}


def points(ax):
    """Where marks are, x and y."""
    return [(line.get_xdata()[0], line.get_ydata()[0]) for line in ax.lines if line.get_marker() in "oDsX^"]


# path


def test_the_two_sites_of_the_example_have_their_optima_at_zero_and_minus_one():
    (one,) = illustrate(0, ("default",), rounds=3)
    for site, (place, value) in enumerate(((0.0, 1.0), (-1.0, 2.0))):
        problem = one.case.problems[site]
        assert problem({"x1": place, "x2": place}) == pytest.approx(value) and problem.optimum == pytest.approx(value)
        assert len(one.case.initial[site]) == 5
    assert {method: X.shape for method, X in one.designs.items()} == {ALONE: (2, 3, 2), LEADER: (2, 3, 2)}


def test_the_arrival_is_the_first_round_near_the_optimum():
    one = illustration()
    assert one.arrival(ALONE, 0) == 3 and one.arrival(LEADER, 0) is None and one.arrival(ALONE, 1) is None
    best = one.case.space.to_unit({"x1": -1.0, "x2": -1.0})
    start = Dataset([best], [2.0], direction="minimise")
    assert replace(one, case=replace(one.case, initial=(start, start))).arrival(LEADER, 1) == 0
    assert one.share(1, np.array([best])) == pytest.approx(0.0)


def test_path_has_a_row_for_each_surrogate_and_a_column_for_each_site():
    one = illustration()
    fig = figures.path((one, replace(one, surrogate="default")))
    assert [title.splitlines()[0] for title in titles(fig)] == [
        f"{site}, {surrogate} surrogate" for surrogate in SURROGATES for site in ("site 1", "site 2")
    ]
    assert titles(fig)[0].splitlines()[1] == "near the optimum: CBOC-L never, Individual round 3"
    assert legend(fig) == ["CBOC-L", "Individual", "initial design, of both", "optimum"]
    assert f"{100 * NEAR:g} %" in fig.get_supxlabel()


def test_path_says_at_the_start_where_an_initial_design_is_near():
    """No 0 is drawn and none is explained: the numbers on the map are rounds, from 1 on."""
    one = illustration()
    start = Dataset([one.case.space.to_unit({"x1": -1.0, "x2": -1.0})], [2.0], direction="minimise")
    fig = figures.path((replace(one, case=replace(one.case, initial=(one.case.initial[0], start))),))
    assert titles(fig)[1].splitlines()[1] == "near the optimum: CBOC-L at the start, Individual at the start"
    assert fig.get_supxlabel().startswith("numbers: rounds; near: ")


def test_path_draws_every_design_and_numbers_some():
    one = illustration()
    for site, ax in enumerate(figures.path((one,)).axes):
        natural = one.case.space.array_from_unit
        drawn = [np.asarray(each.get_offsets()) for each in ax.collections if len(each.get_offsets()) > 1]
        for expected in (one.case.initial[site].X, one.designs[ALONE][site], one.designs[LEADER][site]):
            assert any(dots.shape == expected.shape and np.allclose(dots, natural(expected)) for dots in drawn)
        optimum = next(line for line in ax.lines if line.get_marker() == "x")
        np.testing.assert_allclose(np.ravel(optimum.get_data()), -site, atol=1e-9)
        assert texts(ax) and all(1 <= int(text) <= 10 for text in texts(ax))


# sites


def test_sites_draws_the_mean_gap_for_every_number_of_sites(summary):
    fig = figures.sites(summary, SURROGATES)
    assert titles(fig)[:4] == ["Individual", "CBOC-L", "CBOC-U, gated", "Gap after the last round"]
    leader = fig.axes[5]
    assert list(curves(leader)) == ["K=5", "K=10", "K=15", "K=20"] == texts(leader)
    cell = summary.cell(TABLES[2].scenarios[1], "default", "cboc-l")
    np.testing.assert_allclose(curves(leader)["K=10"], cell.curves.mean(axis=0))
    assert len(leader.collections) == 4 and "standard error over 3 seeds" in fig.get_supxlabel()


def test_sites_puts_the_papers_numbers_beside_ours(summary):
    ax = figures.sites(summary, SURROGATES).axes[3]
    drawn = [tuple(np.round(line.get_ydata(), 3)) for line in ax.lines]
    for method in ("individual", "cboc-l"):
        assert tuple(published[method][0] for published in TABLES[2].rows.values()) in drawn
        ours = [summary.cell(scenario, "paper", method).final.mean for scenario in TABLES[2].scenarios]
        assert tuple(np.round(ours, 3)) in drawn
    assert len([line for line in ax.lines if line.get_marker() in ("o", "D")]) == 5  # the paper has no gate


# published


def test_published_draws_both_methods_as_printed_and_as_measured(summary):
    fig = figures.published(summary, SURROGATES)
    for ax, surrogate in zip(fig.axes, SURROGATES, strict=True):
        gaps = [x for x, _ in points(ax)]
        assert len(gaps) == 4 * len(SCENARIOS)
        for table in TABLES:
            for scenario, printed in table.rows.items():
                for method in (ALONE, LEADER):
                    assert printed[method][0] in gaps
                    assert summary.cell(scenario, surrogate, method).final.mean in gaps
        assert ax.get_title(loc="left") == f"{surrogate} surrogate: CBOC-L ahead in 13 of 13"
        assert ax.get_xlim()[1] == 1.0 and ax.get_xlim()[0] < min(gaps)
    assert [label.get_text() for label in fig.axes[0].get_yticklabels()] == [s.name for s in SCENARIOS]
    assert texts(fig.axes[0]) == ["Table 1", "Table 2", "Table 3", "Table 4"]


def test_published_shows_which_way_the_gain_goes():
    losing = [replace(r, final=tuple(0.1 for _ in r.final)) if r.job.method == LEADER else r for r in rows(SCENARIOS)]
    fig = figures.published(Summary(losing), ("paper",))
    assert titles(fig) == ["paper surrogate: CBOC-L ahead in 0 of 13"]
    bars = [line.get_color() for line in fig.axes[0].lines if len(line.get_xdata()) == 2]
    assert bars.count(tint(look(ALONE).colour, 0.5)) == len(SCENARIOS)  # ours
    assert bars.count(look(LEADER).colour) == len(SCENARIOS)  # the paper's


# gains


def test_gains_draws_the_paired_difference_of_every_method(summary):
    fig = figures.gains(summary, [*SCENARIOS, *DISPLACED, *FURTHER], "default")
    (ax,) = fig.axes
    assert len(points(ax)) == 4 * (2 * len(SCENARIOS) + len(FURTHER))
    expected = {summary.cell(SCENARIOS[0], "default", method).area_gain.difference for method in METHODS[2:]}
    assert expected <= {x for x, _ in points(ax)}
    assert texts(ax) == ["The paper's rows", "With the optimum displaced", "Further"]
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [s.name for s in SCENARIOS] * 2 + [s.name for s in FURTHER]
    assert legend(fig) == ["CBOC-U", "CBOC-U, gated", "centre of the box", "FTS-DE"]


def test_the_bars_of_gains_are_95_percent_intervals(summary):
    (ax,) = figures.gains(summary, SCENARIOS[:1], "paper", ("cboc-u",)).axes
    pair = summary.cell(SCENARIOS[0], "paper", "cboc-u").area_gain
    ((start, end),) = [bar.get_segments()[0][:, 0] for bar in ax.collections if hasattr(bar, "get_segments")]
    assert (start, end) == pytest.approx(pair.interval)
    assert ax.get_xlim()[0] < 0.0 < ax.get_xlim()[1]


def test_gains_with_missing_cells_and_a_single_seed(sparse):
    fig = figures.gains(sparse, SCENARIOS[6:9], "paper")
    (ax,) = fig.axes
    assert texts(ax).count("no runs yet") == 2 and len(points(ax)) == 1
    assert not [bar for bar in ax.collections if hasattr(bar, "get_segments")]  # no interval of one seed
    assert "open: one seed" in fig.get_supxlabel()


def test_intervals_beyond_the_picture_end_in_an_arrow():
    pair = rows(SCENARIOS[:1], seeds=2, methods=("individual", "cboc-u"))
    wild = [replace(r, area=tuple(0.4 + 0.05 * r.job.seed * (r.job.method == ALONE) for _ in r.area)) for r in pair]
    (ax,) = figures.gains(Summary(wild), SCENARIOS[:1], "paper", ("cboc-u",)).axes
    assert {line.get_marker() for line in ax.lines} >= {"<", ">"}


# more sites, savings and price


def test_a_crowd_is_drawn_by_its_gain_over_working_alone():
    sizes = [scenario for scenario in (*SCENARIOS, *SIZES) if scenario.problem == "shekel-10"]
    summary = Summary(rows(sizes))
    last, area = figures.crowd(summary, "default", ("cboc-u",)).axes
    for ax, gain in ((last, "gain"), (area, "area_gain")):
        drawn = dict(zip(*ax.containers[0].lines[0].get_data(), strict=True))
        for scenario in sizes:
            (y,) = (y for x, y in drawn.items() if abs(x - scenario.sites) < 0.1 * scenario.sites)
            assert y == pytest.approx(getattr(summary.cell(scenario, "default", "cboc-u"), gain).difference)
    assert len(drawn) == 7 and last.get_ylabel()


def test_savings_are_the_rounds_until_the_end_of_working_alone(summary):
    (ax,) = figures.savings(summary, SCENARIOS, "default", "cboc-u").axes
    ours, theirs = summary.cell(SCENARIOS[0], "default", "cboc-u").rounds
    assert ax.patches[0].get_width() == pytest.approx(ours / theirs) and ours < theirs
    assert texts(ax)[0] == f"{ours:.0f} of {theirs:.0f}" and len(ax.patches) == len(SCENARIOS)


def test_who_never_gets_there_has_an_open_bar(summary):
    (ax,) = figures.savings(summary, SCENARIOS[:1], "default", "centre").axes
    assert texts(ax) == [f"not within {SCENARIOS[0].horizon}"] and ax.patches[0].get_width() == 1.0


def test_the_price_is_per_site_and_round():
    jobs = [Job(SCENARIOS[0], "default", method, seed) for method in ("individual", "cboc") for seed in (0, 1)]
    sites_and_rounds = SCENARIOS[0].sites * SCENARIOS[0].horizon
    costs = dict(zip(jobs, np.array([1.0, 3.0, 4.0, 6.0]) * sites_and_rounds / 1e3, strict=True))
    (ax,) = figures.price(costs, SCENARIOS).axes
    assert [line.get_xdata().tolist() for line in ax.lines[1:]] == [[pytest.approx(2.0)], [pytest.approx(5.0)]]
    assert [label.get_text() for label in ax.get_yticklabels()] == [SCENARIOS[0].name]  # others have no runs


# the case study


def account(method, seed, level):
    outcomes = np.full((3, INITIAL + 10), 1e-3)
    outcomes[:, INITIAL + 4 :] = level
    return Account(Attempt("paper", method, seed), np.full((3, INITIAL + 10, 3), 0.5), outcomes)


def accounts(seeds=2):
    levels = {"individual": 3e-3, "cboc": 4e-3}
    return [account(method, seed, level) for method, level in levels.items() for seed in range(seeds)]


def test_the_case_study_draws_the_best_so_far_and_the_optimum():
    (ax,) = figures.casestudy(accounts()).axes
    drawn = curves(ax)
    np.testing.assert_allclose(drawn["cboc"], [1.0] * 5 + [4.0] * 6)
    np.testing.assert_allclose(drawn["individual"], [1.0] * 5 + [3.0] * 6)
    (optimum,) = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert optimum.get_ydata()[0] == pytest.approx(4.51, abs=0.01)


def test_the_bands_of_the_case_study_are_95_percent_intervals_and_leave_the_curves_legible():
    fig = figures.casestudy([account("cboc", 0, 3e-3), account("cboc", 1, 4e-3)])
    (ax,) = fig.axes
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx(3.5 + 12.7062047 * 0.5)  # t₀.₉₇₅ with one degree of freedom
    assert "95 % interval over 2 seeds" in fig.get_supxlabel()
    low, high = ax.get_ylim()
    assert low < 1.0 and 4.51 < high < 7.0


def test_our_default_and_the_leader_differ_in_line_too():
    fig = figures.casestudy([*accounts(seeds=1), account("cboc-l", 0, 3.5e-3)])
    styles = {line.get_label(): line.get_linestyle() for line in fig.axes[0].lines}
    assert (styles["cboc"], styles["cboc-l"]) == ("-", "--")
    drawn = {text: line.get_linestyle() for text, line in zip(legend(fig), fig.legends[0].get_lines(), strict=True)}
    assert (drawn["CBOC, our default"], drawn["CBOC-L"]) == ("-", "--")


# theory


def test_theory_draws_cumulative_regret_and_prints_its_slope():
    made = courses()
    fig = figures.theory(made)
    assert len(fig.axes) == 6 and titles(fig)[:2] == ["branin K=5 same T=40", "levy-2 K=5 same T=40"]
    ax = fig.axes[0]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    mean = np.mean([np.cumsum(c.regret) for c in made if c.job.method == "cboc-u"][:3], axis=0)
    np.testing.assert_allclose(curves(ax)["cboc-u"], mean)
    assert f"{slope(mean):.2f}" in texts(ax) and "slope 1" in texts(ax)
    (low, high), (first, last) = curves(ax)["slope 1"], ax.get_xlim()
    assert high / low == pytest.approx(last / first) == 40
    assert (curves(ax)["cboc-u"] <= low * np.arange(1, 41) * (1 + 1e-12)).all()  # the guide is above


def test_theory_scales_what_the_assumptions_bound():
    made = courses()
    _, _, spread, _, blur, _ = figures.theory(made).axes
    np.testing.assert_allclose(curves(spread)["individual"], 0.5)  # 0.5 / √log times √log
    assert texts(spread) == ["× 1.00", "× 1.00"]
    assert not curves(blur)["individual"].any()
    assert texts(blur) == [f"× {trend(np.array(made[-1].blur)):.2f}"]  # zero has no trend
    assert spread.get_ylim()[0] == 0.0


# all


SIGHT = {  # Machado, Oliveira and Fernandes, IEEE TVCG 15 (2009), for dichromats, in linear RGB
    "common": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def lightness_and_hue(colour, sight):
    """CIE L*a*b* of what is seen of the colour."""
    channels = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(channels > 0.04045, ((channels + 0.055) / 1.055) ** 2.4, channels / 12.92)
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    xyz = np.array(to_xyz) @ (np.array(sight) @ linear).clip(0.0, 1.0) / [0.95047, 1.0, 1.08883]
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHT)
def test_no_two_methods_look_alike_to_any_reader(sight):
    colours = {each.name: lightness_and_hue(each.colour, SIGHT[sight]) for each in LOOKS.values()}
    apart = {pair: np.linalg.norm(colours[pair[0]] - colours[pair[1]]) for pair in combinations(colours, 2)}
    assert min(apart.values()) > 12.0, min(apart, key=apart.get)
    assert min(far for pair, far in apart.items() if "CBOC-L" in pair) > 24.0


def test_ends_of_lines_are_named_as_near_as_possible():
    assert settle([0.2, 0.5], 0.1) == pytest.approx([0.2, 0.5])
    assert settle([0.5, 0.5], 0.1) == pytest.approx([0.45, 0.55])
    assert settle([0.52, 0.5, 0.9], 0.1) == pytest.approx([0.56, 0.46, 0.9])
    assert settle([0.0, 0.0], 0.1, low=0.02) == pytest.approx([0.02, 0.12])
    assert settle([1.0, 1.0], 0.1) == pytest.approx([0.9, 1.0])


def test_bands_say_what_they_are():
    assert error_name({3, 30}, "bands") == "bands: standard error over 3 to 30 seeds"
    assert error_name({3}, "bands", "95 % interval") == "bands: 95 % interval over 3 seeds"
    assert error_name({1}, "bars") == "1 seed, hence no bars"
    assert error_name(set(), "bars") == "no seeds yet, hence no bars"


PICTURES = {
    "path": lambda _: figures.path((illustration(),)),
    "sites": lambda summary: figures.sites(summary, SURROGATES),
    "published": lambda summary: figures.published(summary, SURROGATES),
    "gains": lambda summary: figures.gains(summary, [*SCENARIOS, *FURTHER], "paper"),
    "savings": lambda summary: figures.savings(summary, SCENARIOS, "paper", "cboc-u"),
    "crowd": lambda summary: figures.crowd(summary, "paper", ("cboc-u", "cboc-l")),
    "price": lambda _: figures.price({}, SCENARIOS),
    "casestudy": lambda _: figures.casestudy(accounts(seeds=1)),
    "theory": lambda _: figures.theory(courses(seeds=1, methods=("individual", "gated"))),
}


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_is_a_file_without_a_warning_even_where_runs_are_missing(sparse, name, tmp_path):
    assert name in figures.__all__
    PICTURES[name](sparse).savefig(tmp_path / "picture.png", dpi=30)
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["sites", "published", "gains", "savings", "crowd"])
def test_pictures_of_no_runs_at_all_say_so(name):
    figure = PICTURES[name](Summary([]))
    assert "no seeds yet" in figure.get_supxlabel()


@pytest.mark.parametrize("name", PICTURES)
def test_without_matplotlib_the_extra_is_named(sparse, name, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(CbocError, match=r"pip install '.\[plot\]'"):
        PICTURES[name](sparse)
