"""What is drawn is what happened: the numbers in the artists are those of the histories."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection

from cboc import plots
from cboc.errors import CbocError
from cboc.evidence.figures.demo import demo
from cboc.exchange.study import Study
from cboc.plots import style
from cboc.plots.matrix import matrices
from cboc.problems.problem import heterogeneous
from cboc.problems.synthetic import levy
from cboc.runs.history import History
from cboc.runs.metrics import area, gap_curves
from cboc.runs.simulation import simulate
from cboc.site.policy import Policy
from cboc.site.trial import Status
from cboc.space.choice import Choice
from cboc.space.parameters import Float
from cboc.space.space import Space
from cboc.strategy.collaborative import collaborative
from cboc.strategy.gate import Gate

SITES = ("a", "b")
PROBLEMS = {"a": levy(2), "b": heterogeneous(levy(2), 2.0, 1.0, 1.5)}
OPTIMA = {"a": 0.0, "b": 1.0}
GROUNDS = plots.grounds(
    levy(2).space, SITES, PROBLEMS, lambda site: pytest.fail(f"the surrogate of {site} is not needed")
)
MIXED = Space({"T": (20, 90), "c": Float(0.01, 1, log=True), "solvent": Choice(["water", "ethanol"])})


def run(rule, seed, problems=PROBLEMS, space=None, horizon=4):
    study = Study(space or levy(2).space, SITES, horizon, rule=rule, pace="rounds")
    policy = Policy(collaborative(gate=Gate(0.3)), initial=3, seed=seed)
    return simulate(study, problems, direction="minimise", policy=policy)


@pytest.fixture(scope="module")
def together():
    return [run("leader", seed) for seed in range(2)]


@pytest.fixture(scope="module")
def alone():
    return [run("identity", seed) for seed in range(2)]


@pytest.fixture(scope="module")
def mixed():
    """A space that no map can show."""
    return run("uniform", 0, dict.fromkeys(SITES, lambda x: abs(x["T"] - 40) + (x["solvent"] == "water")), MIXED)


def lines(ax):
    return {line.get_label(): line.get_ydata() for line in ax.lines}


def dots(ax):
    """All points of all scatters, (n, 2)."""
    return np.vstack([np.asarray(each.get_offsets()) for each in ax.collections if len(each.get_offsets())])


def is_among(point, points):
    return bool(np.isclose(points, point).all(axis=1).any())


def test_progress_draws_the_mean_gap_of_both(together, alone):
    (ax,) = plots.progress(together, alone, OPTIMA).axes
    for label, histories in (("together", together), ("alone", alone)):
        np.testing.assert_allclose(lines(ax)[label], gap_curves(histories, OPTIMA).mean(axis=(0, 1)))
    assert "standard error over 2 seeds" in ax.get_title(loc="left")


def test_the_band_of_one_seed_is_quartiles_and_says_so(together):
    (ax,) = plots.progress(together[:1], optima=OPTIMA).axes
    assert "quartiles over sites" in ax.get_title(loc="left") and set(lines(ax)) == {"together"}


def test_progress_without_optima_draws_each_site_in_its_own_units(together, alone):
    axes = plots.progress(together, alone).axes
    for site, ax in zip(SITES, axes, strict=True):
        np.testing.assert_allclose(
            lines(ax)["together"], np.mean([history.best_so_far(site) for history in together], axis=0)
        )
        assert ax.get_title(loc="left") == f"{site} (minimise)"


def test_paths_show_every_design_of_both_on_the_map(together, alone):
    axes = plots.paths(together[0], alone[0], GROUNDS).axes
    for site, ax in zip(SITES, axes, strict=True):
        drawn = dots(ax)
        for history in (together[0], alone[0]):
            for trial in history.of(site):
                if trial.turn is not None:
                    assert is_among([trial.design(history.study.space)[name] for name in ("x1", "x2")], drawn)
        best = next(line for line in ax.lines if line.get_marker() == "x")
        shift = 1.5 if site == "b" else 0.0
        np.testing.assert_allclose(np.ravel(best.get_data()), 1.0 - shift, atol=0.1)  # within the contour grid


def test_failed_experiments_are_hollow_and_in_the_legend(together, mixed):
    for history in (together[0], mixed):
        failing = next(trial for trial in history.of("a") if trial.turn and trial.turn.number == 1)
        trials = tuple(replace(t, status=Status.FAILED, outcomes={}) if t is failing else t for t in history.trials)
        figure = plots.paths(replace(history, trials=trials))
        hollow = [each for each in figure.axes[0].collections if isinstance(each, PathCollection)]
        (hollow,) = [each.get_offsets() for each in hollow if len(each.get_facecolors()) == 0]
        x, y = (
            failing.design(history.study.space).values() if history is together[0] else (2, failing.design(MIXED)["T"])
        )
        np.testing.assert_allclose(hollow, [[x, y]])
        assert "failed" in [text.get_text() for text in figure.legends[0].get_texts()]
        whole = plots.paths(history)
        assert "failed" not in [text.get_text() for text in whole.legends[0].get_texts()]


def test_indices_beside_the_path_are_rounds_of_the_points(together):
    ax = plots.paths(together[0]).axes[0]
    trials = {str(trial.turn.number + 1): trial for trial in together[0].of("a") if trial.turn is not None}
    trials |= {f"i{trial.number + 1}": trial for trial in together[0].of("a") if trial.turn is None}
    assert {text.get_text()[0] for text in ax.texts} > {"i"}
    for text in ax.texts:
        design = trials[text.get_text()].design(together[0].study.space)
        np.testing.assert_allclose(text.xy, [design["x1"], design["x2"]])


def test_paths_begin_with_the_initial_designs_in_order(together):
    ax = plots.paths(together[0]).axes[0]
    trials = sorted(together[0].of("a"), key=lambda trial: trial.number)
    designs = [[trial.design(together[0].study.space)[name] for name in ("x1", "x2")] for trial in trials]
    line, pluses = ax.lines
    np.testing.assert_allclose(line.get_xydata(), designs)
    assert pluses.get_marker() == "+"
    np.testing.assert_allclose(pluses.get_xydata(), designs[:3])


def test_paths_of_other_spaces_are_parameters_against_rounds(mixed):
    axes = plots.paths(mixed).axes
    assert len(axes) == len(SITES) * 3
    trials = [trial for trial in mixed.of("a") if trial.turn is not None]
    temperatures = [(trial.turn.number + 1, trial.design(MIXED)["T"]) for trial in trials]
    np.testing.assert_allclose(dots(axes[0]), temperatures)
    initial = [(trial.number - 2, trial.design(MIXED)["T"]) for trial in mixed.of("a") if trial.turn is None]
    np.testing.assert_allclose(axes[0].lines[0].get_xydata(), initial)
    assert [label.get_text() for label in axes[2].get_yticklabels()] == ["water", "ethanol"]


def test_matrices_are_doubly_stochastic_and_start_uniform():
    W = matrices(run("uniform", 0))
    assert W.shape == (4, 2, 2)
    np.testing.assert_allclose(W[0], 0.5)
    np.testing.assert_allclose(W.sum(axis=1), 1.0)


def test_matrix_draws_the_rounds_and_the_weight_of_the_own_proposal(together):
    W = matrices(together[0])
    *maps, _, below = plots.matrix(together[0]).axes
    np.testing.assert_allclose(maps[0].images[0].get_array(), W[0])
    np.testing.assert_allclose(maps[-1].images[0].get_array(), W[-1])
    own = [np.nan, *np.diagonal(W, axis1=1, axis2=2).mean(axis=1)]  # no weights before the first round
    np.testing.assert_allclose(lines(below)["own proposal"], own)
    np.testing.assert_allclose(lines(below)["others' proposals"], np.subtract(1.0, own))
    assert [ax.get_title(loc="left") for ax in maps] == ["round 1", "round 2", "round 3", "round 4"]  # as in the paths


def test_there_is_no_matrix_before_the_first_round(together):
    started = replace(together[0], trials=tuple(trial for trial in together[0].trials if trial.turn is None))
    with pytest.raises(CbocError, match="no proposal has been answered yet"):
        plots.matrix(started)


def test_moves_put_the_dot_where_the_site_went(together):
    history = together[0]
    axes = plots.moves(history).axes
    for site, ax in zip(SITES, axes, strict=True):
        trials = [trial for trial in history.of(site) if trial.turn is not None]
        for trial in trials:
            assert is_among(list(trial.design(history.study.space).values()), dots(ax))
        followed = sum(trial.decision == "followed" for trial in trials)
        assert ax.get_title(loc="left") == f"{site}: followed {followed} of {len(trials)}"
        assert len(ax.texts) == len(trials)  # an arrow each


def test_moves_of_one_site_and_in_other_spaces_are_lengths(mixed):
    (ax,) = plots.moves(mixed, "b").axes
    trials = [trial for trial in mixed.of("b") if trial.turn is not None]
    length = {trial.turn.number + 1: np.linalg.norm(np.subtract(trial.answer.mix, trial.proposed)) for trial in trials}
    tops = np.vstack([each.get_offsets() for each in ax.collections if isinstance(each, PathCollection)])
    assert {int(t): pytest.approx(y) for t, y in tops} == length


def test_moves_draw_the_two_kinds_of_line_that_the_legend_shows(together, mixed):
    plane, lengths = plots.moves(together[0]), plots.moves(mixed)
    for figure in (plane, lengths):
        assert [line.get_linestyle() for line in figure.legends[0].get_lines()] == ["-", ":"]
    trials = [trial for trial in together[0].of("a") if trial.turn is not None]
    expected = ["-" if trial.decision == "followed" else ":" for trial in trials]
    assert [arrow.arrow_patch.get_linestyle() for arrow in plane.axes[0].texts] == expected
    for site, ax in zip(SITES, lengths.axes, strict=True):
        followed, declined = (each for each in ax.collections if isinstance(each, LineCollection))
        (_, solid), (_, dots) = followed.get_linestyle()[0], declined.get_linestyle()[0]
        assert solid is None and dots is not None
        trials = [trial for trial in mixed.of(site) if trial.turn is not None]
        count = sum(trial.decision == "followed" for trial in trials)
        assert (len(followed.get_segments()), len(declined.get_segments())) == (count, len(trials) - count)


def test_gain_draws_together_minus_alone_sorted_around_zero(together, alone):
    gains = gap_curves(together, OPTIMA)[..., -1] - gap_curves(alone, OPTIMA)[..., -1]
    half, end = plots.gain(together, alone, OPTIMA).axes
    names = [label.get_text() for label in half.get_yticklabels()]
    drawn = dict(zip(names, (bar.get_width() for bar in end.patches), strict=True))
    assert drawn == {site: pytest.approx(gains[:, k].mean()) for k, site in enumerate(SITES)}
    low, high = half.get_xlim()
    assert low == -high


def test_gain_of_unknown_optima_measures_against_the_best_found(together, alone):
    figure = plots.gain(together, alone)
    assert "share of the best improvement found" in figure.get_supxlabel()


def test_gain_of_no_difference_does_not_magnify_rounding(alone):
    assert plots.gain(alone, alone, OPTIMA).axes[0].get_xlim() == (-0.01, 0.01)


def test_demo_draws_both_means_and_a_bar_for_every_site_and_seed():
    rounds = np.linspace(0, 1, 11)
    alone, together = np.tile(0.5 * rounds, (3, 2, 1)), np.tile(rounds**0.5, (3, 2, 1))
    together[0, 0] = 0.4 * rounds  # one loss
    left, right = demo(together, alone, "finding", "setting").axes
    np.testing.assert_allclose(lines(left)["together"], together.mean(axis=(0, 1)))
    heights = [bar.get_height() for bar in right.patches]
    np.testing.assert_allclose(heights, sorted((area(together) - area(alone)).ravel(), reverse=True))
    assert right.get_title(loc="left") == "5 of 6 sites did better together"
    assert any(text.get_text() == "6 rounds earlier" for text in left.texts)


def test_demo_claims_no_lead_where_there_is_none():
    rounds = np.linspace(0, 1, 11)
    alone, together = np.tile(rounds, (3, 2, 1)), np.tile(0.5 * rounds, (3, 2, 1))
    left, right = demo(together, alone, "finding", "setting").axes
    assert not any("earlier" in text.get_text() for text in left.texts)
    assert right.get_title(loc="left") == "0 of 6 sites did better together"


def test_labels_are_kept_apart_and_inside():
    assert style.spread([0.2, 0.5], 0.1) == [0.2, 0.5]
    assert style.spread([0.5, 0.5], 0.1) == [0.5, 0.6]
    assert style.spread([0.99, 1.0], 0.1) == pytest.approx([0.9, 1.0])


@pytest.mark.parametrize("name", ["progress", "paths", "matrix", "moves", "gain"])
def test_every_picture_is_a_file_without_a_warning(together, alone, name, tmp_path):
    arguments = {
        "progress": (together, alone, OPTIMA),
        "paths": (together[0], alone[0], GROUNDS),
        "matrix": (together[0],),
        "moves": (together[0],),
        "gain": (together, alone, OPTIMA),
    }
    path = tmp_path / f"{name}.png"
    getattr(plots, name)(*arguments[name]).savefig(path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_extra_is_named(together, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(CbocError, match=r"pip install '.\[plot\]'"):
        plots.matrix(together[0])


def test_a_history_of_one_site_can_be_drawn():
    study = Study(levy(2).space, ("only",), 3, pace="rounds")
    history = simulate(study, {"only": levy(2)}, direction="minimise", policy=Policy(initial=3))
    assert isinstance(history, History)
    for figure in (plots.progress([history], optima={"only": 0.0}), plots.matrix(history), plots.moves(history)):
        assert figure.axes


@pytest.fixture(scope="module")
def timed():
    study = Study(levy(2).space, SITES, 4)
    durations = {"a": 3.0, "b": 1.0}
    return [simulate(study, PROBLEMS, direction="minimise", policy=Policy(initial=3, seed=0), durations=durations)]


def test_the_calendar_draws_the_mean_gap_against_time(timed):
    (ax,) = plots.calendar(timed, [], OPTIMA).axes
    (line,) = ax.lines
    x, y = line.get_data()
    assert x[0] == 0.0 and x[-1] == max(trial.ended for trial in timed[0].trials) == 21.0
    assert (np.diff(y) >= 0.0).all() and y[0] == 0.0
    assert y[-1] == pytest.approx(gap_curves(timed, OPTIMA)[0, :, -1].mean())


def test_the_calendar_of_each_site_without_optima(timed):
    panels = plots.calendar(timed, timed).axes
    assert [panel.get_title(loc="left") for panel in panels] == ["a (minimise)", "b (minimise)"]
    for panel, site in zip(panels, SITES, strict=True):
        assert lines(panel)["together"][-1] == timed[0].best_so_far(site)[-1]
