"""The front as a picture: what is drawn is what the results say."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection

from cboc import plots
from cboc.insight import Prospect
from cboc.insight.found import by_weights, found
from cboc.plots.reached import way, what_is_reached
from cboc.runs.history import History

from ..insight.test_several import lessons, outcomes, site_of


def drawn(site, prospect=None):
    results = found(site)
    front = [each for each in results if each.is_on_front]
    return plots.front(site, results, by_weights(front, [1.0] * len(site.goal.aims)) if front else None, prospect)


def points(ax):
    return sorted(tuple(each) for c in ax.collections if isinstance(c, PathCollection) for each in c.get_offsets())


def test_all_results_are_drawn_and_the_next_design_where_it_is_expected():
    site = site_of(9)
    prospect = Prospect.of(lessons(site), site.goal, site.to_run[0].x)
    fig = drawn(site, prospect)
    expected = tuple(prospect.expected[name].middle for name in ("yield", "cost"))
    np.testing.assert_allclose(points(fig.axes[0]), sorted([*map(tuple, site.results.Y[:, :2]), expected]))
    assert fig.axes[0].get_xlabel() == "yield (%), to maximise"
    labels = [text.get_text() for text in fig.legends[0].get_texts()]
    assert labels[:2] == ["on the front", "best by the weights"] and labels[-1] == "next design, as expected"


def test_the_stairs_are_never_beyond_what_was_reached():
    site = site_of(12, limits=())
    (stairs,) = [line for line in drawn(site).axes[0].lines if len(line.get_xdata()) > 2]
    assert stairs.get_drawstyle() == "steps-pre"  # of yields up to the next one, its cost
    costs, yields = stairs.get_ydata(), stairs.get_xdata()
    assert (np.diff(yields) > 0.0).all() and (np.diff(costs) > 0.0).all()


@pytest.mark.parametrize(("count", "limits"), [(1, ()), (5, ("impurity <= -99",))])
def test_one_result_or_none_on_the_front_is_a_picture_all_the_same(count, limits):
    site = site_of(count, limits=limits)
    assert len(points(drawn(site).axes[0])) == count


def test_progress_is_the_volume_below_the_front():
    site = site_of(6)
    for k in range(4):
        trial = site.trial(6) if k == 0 else site.ask()
        site.tell(trial, outcomes(trial.design(site.space)))
    history = History(site.study, {"a": site.goal}, tuple(site.trials))
    assert what_is_reached(history) == "volume that the front reaches, so far" and way(site.goal) == ""
    (line,) = plots.progress([history]).axes[0].lines
    assert line.get_ydata()[-1] == pytest.approx(site.results.progress(7)[-1]) and line.get_ydata()[-1] > 0.0
