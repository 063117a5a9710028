"""What was learned, as pictures: the numbers in the artists are those of `Learned`, and no experiment is missing."""

import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_rgba

from cboc import Choice, Dataset, Float, Ledger, Policy, Site, Space, Study, plots
from cboc.insight import Learned
from cboc.insight.measured import Kind
from cboc.plots import style, terrain
from cboc.plots.experiments import LOOKS
from cboc.problems.synthetic import levy

from ..insight.test_surface import MIXED, told, yields

WIDE = Space({f"p{k}": (0.0, 1.0) for k in range(8)})
HARD = Space(
    {
        100 * "n": Float(1e-6, 1.0, log=True, unit="$u_{$"),
        "kind": Choice([40 * "o" + str(k) for k in range(30)]),
    }
)


@pytest.fixture(scope="module")
def learned():
    """Results from before, initial and later experiments, two failures, and a design to run."""
    data = Dataset(
        MIXED.sample(2, np.random.default_rng(3)), [0.3, 0.5], failures=MIXED.sample(1, np.random.default_rng(4)),
        direction="maximise",
    )  # fmt: skip
    study = Study(MIXED, ("lab",), 20, rule="identity")
    site = Site(study, "lab", Ledger(study), direction="maximise", policy=Policy(initial=6, seed=1), data=data)
    for number in range(9):
        trial = site.ask()
        _ = site.fail(trial) if number == 4 else site.tell(trial, yields(trial.design(MIXED)))
    site.ask()
    return Learned.of(site)


def marks(ax, kind):
    """The points of a kind."""
    colour = to_rgba(LOOKS[kind]["color"])[:3]
    return np.vstack([each.get_offsets() for each in ax.collections if colour in _colours(each)] or [np.empty((0, 2))])


def _colours(collection):
    return {tuple(colour[:3]) for colour in collection.get_facecolors()} if len(collection.get_offsets()) else set()


def test_slices_draw_the_expected_outcome_and_its_interval(learned):
    axes = plots.slices(learned).axes
    for ax, along in zip(axes, learned.slices(), strict=True):
        if along.name == "solvent":
            heights = [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in ax.patches]
            np.testing.assert_allclose(heights, np.stack([along.expected.low, along.expected.high], axis=1))
        else:
            (line,) = [line for line in ax.lines if len(line.get_xdata()) > 2]
            np.testing.assert_allclose(line.get_xydata(), np.stack([along.places, along.expected.middle], axis=1))
            band = ax.collections[0].get_paths()[0].vertices
            assert {*along.expected.low, *along.expected.high} <= set(band[:, 1])
        (here,) = [line for line in ax.lines if line.get_linestyle() == "--"]
        assert here.get_xdata()[0] == along.here
    assert axes[1].get_xscale() == "log" and axes[0].get_xlabel() == "T [°C]"
    assert [label.get_text() for label in axes[2].get_xticklabels()] == ["water", "dmso"]


def test_slices_show_every_experiment_in_its_kind_and_failures_at_the_bottom(learned):
    ax = plots.slices(learned).axes[0]
    for kind in Kind:
        expected = [point for point in learned.points if point.kind is kind]
        drawn = marks(ax, kind)
        assert sorted(drawn[:, 0]) == pytest.approx(sorted(point.design["T"] for point in expected))
        if kind is not Kind.FAILED:
            assert sorted(drawn[:, 1]) == pytest.approx(sorted(point.y for point in expected))
    low, high = ax.get_ylim()
    failed = marks(ax, Kind.FAILED)
    assert len(failed) == 2 and (failed[:, 1] < low + 0.1 * (high - low)).all()
    opacity = [each.get_alpha() for each in ax.collections if each.get_alpha() is not None and len(each.get_offsets())]
    assert any(np.ptp(each) > 0.1 for each in opacity if np.ndim(each))  # faint where they tell little


def test_the_next_design_is_marked_with_its_interval(learned):
    expected, design = learned.expected(learned.next), MIXED.from_unit(learned.next)
    ax = plots.slices(learned).axes[0]
    stars = [each for each in ax.collections if each.get_offsets().tolist() == [[design["T"], expected.middle]]]
    assert len(stars) == 1
    segments = [each.get_segments() for each in ax.collections if hasattr(each, "get_segments")]
    ends = [[design["T"], expected.low], [design["T"], expected.high]]
    assert any(np.allclose(segment, ends) for some in segments for segment in some)
    assert "next design" in [text.get_text() for text in plots.slices(learned).legends[0].get_texts()]


def test_contours_draw_the_cells_and_the_best_design(learned):
    drawn = learned.contours()
    ax = plots.contours(learned).axes[0]
    (mesh,) = [each for each in ax.collections if isinstance(each, QuadMesh)]
    np.testing.assert_array_equal(mesh.get_array().filled(np.nan), drawn.middle)
    assert {tuple(line.get_xydata()[0]) for line in ax.lines} == {drawn.here}
    edges = mesh.get_coordinates()
    parameters = [MIXED.parameters[name].axis for name in drawn.names]
    assert edges[0, 0].tolist() == pytest.approx([axis.low for axis in parameters])
    assert edges[-1, -1].tolist() == pytest.approx([axis.high for axis in parameters])


def test_brighter_is_better_also_where_less_is():
    less = Learned.of(told(MIXED, lambda x: -yields(x), 8, direction="minimise"))
    (mesh,) = [each for each in plots.contours(less).axes[0].collections if isinstance(each, QuadMesh)]
    brightness = mesh.to_rgba(np.array([less.contours().middle.min(), less.contours().middle.max()]))[:, :3].sum(axis=1)
    assert brightness[0] > brightness[1]


def test_importance_has_a_bar_for_each_parameter_the_most_important_on_top(learned):
    (ax,) = plots.importance(learned).axes
    shares = learned.importance.shares
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(widths, [100 * s.total for s in shares] + [100 * s.alone for s in shares])
    assert [label.get_text() for label in ax.get_yticklabels()] == [share.name for share in shares]
    assert ax.yaxis_inverted()


def test_predicted_draws_every_outcome_against_what_was_expected(learned):
    (ax,) = plots.predicted(learned).axes
    dots = np.vstack([each.get_offsets() for each in ax.collections if not hasattr(each, "get_segments")])
    expected = [(each.y, each.expected.middle) for each in learned.predicted.predictions]
    np.testing.assert_allclose(sorted(dots.tolist()), sorted(expected))


def test_the_ground_of_more_than_two_parameters_is_the_two_that_matter_most():
    problem = levy(3)
    learned = Learned.of(told(problem.space, problem, 12, direction="minimise"))
    names = tuple(share.name for share in learned.importance.shares[:2])
    own = plots.grounds(problem.space, ("a",), {}, lambda _: learned)["a"]
    true = plots.grounds(problem.space, ("a",), {"a": problem}, lambda _: learned)["a"]
    assert own.names == true.names == names
    assert (own.source, true.source) == (terrain.OWN, terrain.TRUE)
    np.testing.assert_array_equal(own.cost, learned.contours().middle)
    design = problem.space.from_unit(learned.best) | {names[0]: own.places[0][7], names[1]: own.places[1][3]}
    assert true.cost[3, 7] == pytest.approx(problem(design))


def test_where_too_little_is_known_there_is_no_ground():
    assert plots.grounds(WIDE, ("a",), {}, lambda _: None) == {}


@pytest.mark.parametrize("space", [WIDE, HARD, Space({"only": (0.0, 1.0)})], ids=["wide", "hard names", "one"])
def test_every_picture_of_every_space_can_be_written(space, tmp_path):
    site = told(space, lambda x: float(sum(len(str(value)) for value in x.values())), 8, failing=(2,))
    learned = Learned.of(site)
    drawn = [plots.slices(learned), plots.predicted(learned), plots.importance(learned)]
    drawn += [plots.contours(learned)] if len(space.names) > 1 else []
    for number, figure in enumerate(drawn):
        style.framed(figure, "$a$ {study", "a caption, 50 % of $x$. " * 9)
        figure.savefig(tmp_path / f"{number}.png", dpi=30)


def test_a_name_with_dollar_signs_is_no_formula():
    fig, [[ax]] = style.figure(2.0)
    style.title(ax, "$x_{1$ costs 3 $")
    fig.draw_without_rendering()
    assert ax.get_title(loc="left") == r"\$x_{1\$ costs 3 \$"
    assert style.plain(300 * "n", 44) == 22 * "n" + "…" + 21 * "n"
