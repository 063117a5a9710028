"""The methods for real tables, on problems whose answers are known."""

from dataclasses import replace

import numpy as np
import pytest

from cboc.data.dataset import Dataset
from cboc.errors import CbocError
from cboc.evidence.case import Case, begin, begun
from cboc.evidence.job import Job, work
from cboc.evidence.methods.agent import Agent, Untried, maximise_anew
from cboc.evidence.methods.bounding_box import Box, bounding_box
from cboc.evidence.methods.others_best import OthersBest
from cboc.evidence.methods.rgpe import Ensemble, ranking_weights
from cboc.evidence.scenario import Scenario
from cboc.problems.problem import Problem
from cboc.space.space import Space
from cboc.strategy.bayesian import Bayesian
from cboc.surrogate.fitting import fit

SQUARE = Space({"a": (0.0, 1.0), "b": (0.0, 1.0)})
CHOICES = Space({"solvent": ["w", "x", "y", "z"], "base": ["p", "q", "r"]})


def hill(place, space=SQUARE, sign=1.0):
    """Best at a place, in natural units or numbers of options."""
    return Problem("hill", space, lambda X: -sign * ((X - np.array(place)) ** 2).sum(axis=1), "maximise")


def designs_of(case, k, designs):
    return np.vstack([case.first[k], designs[k]])


# ---------------------------------------------------------------------------------------------- others' best first


def test_visits_are_to_the_others_best_designs():
    case = begin([hill((0.7, 0.3)), hill((0.7, 0.3))], 4, 1, 0, Bayesian())
    designs = OthersBest()(case)
    for k in range(2):
        np.testing.assert_array_equal(designs[k, 0], case.initial[1 - k].best.x)


def test_a_peer_that_does_not_help_is_dropped():
    """Opposite sites: the other's best design is one's own worst, so there is one visit each."""
    case = begin([hill((0.9, 0.9)), hill((0.9, 0.9), sign=-1.0)], 6, 6, 0, Bayesian())
    designs = OthersBest()(case)
    bests = [data.best.x for data in case.initial]
    for k in range(2):
        others = designs_of(case, 1 - k, designs)
        visits = [t for t in range(6) if any(np.array_equal(designs[k, t], x) for x in others[: 6 + t])]
        assert visits == [0] and np.array_equal(designs[k, 0], bests[1 - k])


def test_visits_end_after_three_rounds_per_peer_and_nothing_is_visited_twice():
    case = begin([hill((0.7, 0.3))] * 2, 4, 6, 1, Bayesian())
    designs = OthersBest()(case)
    for k in range(2):
        ran = designs_of(case, k, designs)
        assert len(np.unique(ran, axis=0)) == len(ran)
        others = designs_of(case, 1 - k, designs)
        assert not any(np.array_equal(designs[k, t], x) for t in range(3, 6) for x in others[: 4 + t])


def test_a_failed_visit_drops_the_peer():
    """Everything but the first options fails at the second site."""
    limited = Problem("limited", CHOICES, lambda X: np.where(X[:, 0] > 0, np.nan, X[:, 1]), "maximise")
    case = begin([hill((3, 2), CHOICES), limited], 2, 1, 0, Bayesian())
    one = CHOICES.to_unit({"solvent": "w", "base": "p"})
    other = CHOICES.to_unit({"solvent": "z", "base": "r"})
    case = replace(begun(case, [np.array([one, other]), np.array([one, one])]), horizon=3)
    designs = OthersBest()(case)
    assert np.array_equal(designs[1, 0], other) and not np.array_equal(designs[1, 1], other)


# ----------------------------------------------------------------------------------------------------- bounding box


def test_a_box_spans_numbers_and_the_options_that_occur():
    mixed = Space({"T": (10.0, 30.0), "solvent": ["w", "x", "y"]})
    points = [{"T": 14.0, "solvent": "w"}, {"T": 20.0, "solvent": "y"}]
    box = Box(mixed, np.array([mixed.to_unit(point) for point in points]))
    assert box.options.tolist() == [True, True, False, True]
    drawn = box.numbers.sample(50, np.random.default_rng(0))
    T = [mixed.from_unit(x)["T"] for x in drawn]
    assert 13.8 <= min(T) < 15.0 and 19.0 < max(T) <= 20.2
    assert not box.is_spent(np.array([mixed.to_unit(point) for point in points]))


def test_a_box_of_options_is_spent_when_all_of_it_was_run():
    points = [{"solvent": "w", "base": "p"}, {"solvent": "x", "base": "p"}]
    tried = np.array([CHOICES.to_unit(point) for point in points])
    assert Box(CHOICES, tried).is_spent(tried) and not Box(CHOICES, tried).is_spent(tried[:1])


def test_sites_stay_in_the_box_of_their_best_designs():
    case = begin([hill((3, 2), CHOICES)] * 3, 3, 4, 0, Bayesian())
    designs = bounding_box(case)
    agents = [Agent(case, k) for k in range(3)]
    for t in range(4):
        box = Box(CHOICES, np.array([agent.best for agent in agents]))
        for agent in agents:
            x = designs[agent.site, t]
            assert box.is_spent(agent.tried) or not (x[~box.options] > 0.5).any()
        for agent in agents:
            agent.run(designs[agent.site, t])


def test_the_box_of_a_continuous_problem():
    case = begin([hill((0.7, 0.3))] * 3, 5, 2, 0, Bayesian())
    box = Box(SQUARE, np.array([data.best.x for data in case.initial]))
    low, high = box.designs.min(axis=0) - 0.01, box.designs.max(axis=0) + 0.01
    first = bounding_box(case)[:, 0]
    assert (first >= low - 1e-6).all() and (first <= high + 1e-6).all()


# -------------------------------------------------------------------------------------------------------------- RGPE


def gps():
    """The site itself with few points, a twin with many, and one that is upside down."""
    rng = np.random.default_rng(3)
    few, many = rng.random((8, 2)), rng.random((30, 2))
    values = [(few, hill((0.7, 0.3)).values(few)), (many, 5.0 * hill((0.7, 0.3)).values(many) + 2.0)]
    values.append((many, hill((0.7, 0.3), sign=-1.0).values(many)))
    return [fit(X, y) for X, y in values]


def test_the_ensemble_believes_those_who_rank_the_own_outcomes_right():
    own, twin, opposite = ranking_weights(gps(), 0, np.random.default_rng(0))
    assert own + twin == pytest.approx(1.0) and opposite == 0.0 and twin > own


def test_the_gradient_of_the_ensemble():
    one, two, _ = gps()
    ensemble = Ensemble([(0.3, one), (0.7, two)], float(one.y.max()), one.X)
    X = np.random.default_rng(1).random((4, 2))
    values, gradients = ensemble.with_gradient(X)
    assert values == pytest.approx(ensemble(X))
    for d in range(2):
        step = np.eye(2)[d] * 1e-6
        slope = (ensemble(X + step) - ensemble(X - step)) / 2e-6
        assert gradients[:, d] == pytest.approx(slope, rel=1e-4, abs=1e-5)


def test_alone_the_ensemble_is_the_own_surrogate():
    one = gps()[0]
    assert ranking_weights([one], 0, np.random.default_rng(0)).tolist() == [1.0]


# ------------------------------------------------------------------------------------------------------ what is new


def test_the_best_design_that_is_new():
    slopes = np.array([0.0, 2.0, 4.0, 9.0, 0.0, 2.0, 3.0])

    class Level:
        anchors = np.empty((0, 7))

        def __call__(self, X):
            return X @ slopes

        def with_gradient(self, X):
            return self(X), np.tile(slopes, (len(X), 1))

    best = CHOICES.to_unit({"solvent": "z", "base": "r"})
    found = maximise_anew(Level(), CHOICES, best[None], np.random.default_rng(0))
    assert CHOICES.from_unit(found) == {"solvent": "z", "base": "q"}
    assert Untried(Level(), best[None])(best[None]).tolist() == [-np.inf]


def test_an_agent_keeps_failures_apart():
    case = Case((Problem("p", SQUARE, lambda X: np.where(X[:, 0] > 0.5, np.nan, X[:, 1])),), (), 1, 0, Bayesian())
    case = replace(case, initial=(Dataset.empty(2, "minimise"),))
    agent = Agent(case, 0)
    assert agent.best is None
    assert agent.run(np.array([0.2, 0.4])) and not agent.run(np.array([0.8, 0.1]))
    assert len(agent.dataset) == 1 and agent.tried.tolist() == [[0.2, 0.4], [0.8, 0.1]]


# ----------------------------------------------------------------------------------------------- in the other tables


@pytest.mark.parametrize("name", ["others-best-first", "bounding-box", "rgpe"])
def test_the_rivals_run_on_any_problem(name):
    job = Job(Scenario("levy-2", 3, rounds=3), "default", name, 3)
    assert work(job)[0] == work(job)[0]


def test_a_method_with_its_own_start_is_for_real_tables():
    with pytest.raises(CbocError, match="'warm-start' has initial designs of its own"):
        Job(Scenario("levy-2", 3), "default", "warm-start", 0)
