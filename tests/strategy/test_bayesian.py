import pickle

import numpy as np
import pytest

from cboc.data.dataset import Dataset
from cboc.errors import CbocError
from cboc.search.maximise import maximise
from cboc.space.space import Space
from cboc.strategy.bayesian import Bayesian, paper
from cboc.strategy.opinion import Blind
from cboc.strategy.situation import Situation
from cboc.surrogate.fitting import PAPER, fit
from cboc.utility.confidence import UCB
from cboc.utility.improvement import EI, LogEI
from cboc.utility.knowledge import KnowledgeGradient
from cboc.utility.noisy import NoisyEI
from cboc.utility.thompson import Thompson

SPACE = Space({"a": (0, 1), "b": (0, 4)})


def rng(seed=0):
    return np.random.default_rng(seed)


def dataset(n=12, direction="maximise", sem=np.nan):
    X = SPACE.sample(n, rng())
    y = -((X - 0.6) ** 2).sum(axis=1)
    return Dataset(X, y if direction == "maximise" else -y, sem, direction=direction)


def opinion_of(data, strategy=None, **situation):
    return (strategy or Bayesian())(Situation(data, SPACE, **situation), rng())


def utility_of(data, strategy=None, **situation):
    return opinion_of(data, strategy, **situation).utility


# What the presets are


def test_the_default_is_log_ei_on_the_default_model():
    data = dataset()
    utility, X = utility_of(data), SPACE.sample(5, rng(1))
    assert isinstance(utility, LogEI)
    assert utility(X) == pytest.approx(LogEI(fit(data.X, data.y, sem=data.sem, starts=2))(X))


def test_the_papers_is_plain_ei_in_natural_units():
    data = dataset()
    utility, X = utility_of(data, paper()), SPACE.sample(5, rng(1))
    assert isinstance(utility, EI)
    assert utility(X) == pytest.approx(EI(fit(data.X, data.y, model=PAPER, widths=np.array([1.0, 4.0]), starts=2))(X))


@pytest.mark.parametrize("strategy", [Bayesian(), paper()], ids=["default", "paper"])
def test_minimising_is_maximising_the_negative(strategy):
    X = SPACE.sample(20, rng(1))
    up, down = (utility_of(dataset(direction=direction), strategy) for direction in ("maximise", "minimise"))
    assert (up(X) == down(X)).all()


def test_a_proposal_comes_near_the_top():
    x = opinion_of(dataset()).propose()
    assert x == pytest.approx([0.6, 0.6], abs=0.1)
    assert (x == maximise(utility_of(dataset()), SPACE, rng())[0]).all()


@pytest.mark.parametrize("kind", [LogEI, EI, UCB, NoisyEI, KnowledgeGradient, Thompson], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("n", [1, 2, 12])
def test_every_utility_makes_a_proposal(kind, n):
    opinion = opinion_of(dataset(n), Bayesian(kind.on))
    x, value = maximise(opinion.utility, SPACE, rng())
    assert SPACE.contains(x) and np.isfinite(value) and SPACE.contains(opinion.propose())
    assert opinion.note(x).log_worth == opinion.utility.log_worth(x[None])[0]


def test_known_errors_reach_the_surrogate():
    assert (utility_of(dataset(sem=0.05)).gp.noises > 10.0 * utility_of(dataset()).gp.noises).all()


# Failures


def test_a_failure_keeps_others_away():
    data = dataset()
    x, _ = maximise(utility_of(data), SPACE, rng())
    near = np.clip(x + 0.02 * rng(1).standard_normal((10, 2)), 0.0, 1.0)
    after = utility_of(data.with_failure(x))
    assert (after(near) < utility_of(data)(near) - 1.0).all()
    again, _ = maximise(after, SPACE, rng())
    assert np.abs(again - x).max() > 0.03


def test_a_failure_counts_as_the_worst_that_worked():
    data = dataset().with_failure([0.1, 0.2])
    gp = Bayesian().surrogate(Situation(data, SPACE))
    assert (gp.X[-1] == [0.1, 0.2]).all() and gp.y[-1] == gp.y[:-1].min()
    worse = Dataset(data.X, -data.y, failures=data.failures, direction="minimise")
    assert (Bayesian().surrogate(Situation(worse, SPACE)).y == gp.y).all()


@pytest.mark.parametrize("strategy", [Bayesian(), paper()], ids=["default", "paper"])
@pytest.mark.parametrize("failures", [1, 3])
def test_nothing_but_failures(strategy, failures):
    data = Dataset.empty(2)
    for x in SPACE.sample(failures, rng()):
        data = data.with_failure(x)
    utility = utility_of(data, strategy)
    x, value = maximise(utility, SPACE, rng())
    assert SPACE.contains(x) and np.isfinite(value)
    assert np.abs(x - data.failures).max(axis=1).min() > 0.1, "somewhere else"


def test_a_failure_where_it_worked_before():
    data = dataset()
    utility = utility_of(data.with_failure(data.best.x))
    assert np.isfinite(utility(SPACE.sample(50, rng(1)))).all()


def test_without_any_data_a_proposal_is_any_design():
    opinion = opinion_of(Dataset.empty(2))
    assert opinion == Blind(opinion.situation, opinion.rng) and opinion.utility is None
    assert SPACE.contains(opinion.propose())
    with pytest.raises(CbocError, match="at least one completed experiment"):
        Bayesian().surrogate(Situation(Dataset.empty(2), SPACE))


# Experiments under way


def test_an_experiment_under_way_keeps_others_away():
    data = dataset()
    x, _ = maximise(utility_of(data), SPACE, rng())
    after = utility_of(data, pending=x[None])
    assert after(x[None]) < utility_of(data)(x[None]) - 1.0
    assert np.abs(maximise(after, SPACE, rng())[0] - x).max() > 0.01


def test_a_batch_spreads_out():
    data, pending = dataset(), np.empty((0, 2))
    for _ in range(4):
        x, _ = maximise(utility_of(data, pending=pending), SPACE, rng())
        pending = np.vstack([pending, x])
    distances = np.abs(pending[:, None] - pending).max(axis=2)[~np.eye(4, dtype=bool)]
    assert distances.min() > 0.005


# Memory


@pytest.mark.parametrize("strategy", [Bayesian(), paper()], ids=["default", "paper"])
def test_what_is_remembered_goes_there_and_back(strategy):
    data = dataset()
    opinion = opinion_of(data, strategy)
    memory = opinion.note(opinion.propose()).memory
    assert memory == tuple(opinion.utility.gp.theta.tolist())
    again = utility_of(data, strategy, memory=memory)
    assert again.gp.log_posterior >= utility_of(data, strategy).gp.log_posterior - 1e-3


def test_the_memory_of_another_strategy_does_no_harm():
    data = dataset()
    memory = opinion_of(data, paper()).memory
    utility = utility_of(data, Bayesian(), memory=memory)
    assert np.isfinite(utility(SPACE.sample(5, rng()))).all()


@pytest.mark.parametrize("strategy", [Bayesian(), paper()], ids=["default", "paper"])
def test_strategies_travel_to_other_processes(strategy):
    copy = pickle.loads(pickle.dumps(strategy))
    assert copy == strategy
    X = SPACE.sample(5, rng())
    assert (utility_of(dataset(), copy)(X) == utility_of(dataset(), strategy)(X)).all()
    assert (pickle.loads(pickle.dumps(utility_of(dataset(), strategy)))(X) == utility_of(dataset(), strategy)(X)).all()


def test_a_proposal_is_a_function_of_the_situation_and_the_rng():
    one, other = (opinion_of(dataset(), Bayesian(Thompson.on)).propose() for _ in range(2))
    assert (one == other).all()


def test_several_opinions_at_once_are_those_of_each_alone():
    situations = [Situation(dataset(n), SPACE) for n in (5, 12, 12)]
    together = Bayesian().batch(situations, [rng(k) for k in range(3)])
    for k, (opinion, situation) in enumerate(zip(together, situations, strict=True)):
        alone = Bayesian()(situation, rng(k))
        x = alone.propose()
        assert (opinion.propose() == x).all() and opinion.note(x) == alone.note(x)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"utility": "ucb"}, "a utility is a function of a surrogate, such as LogEI.on; 'ucb' is not"),
        ({"utility": UCB}, "is not. Write UCB.on"),
        ({"utility": None}, "None is not"),
        ({"model": "x"}, r"a surrogate's model is a Model\(\), such as PAPER; 'x' is not"),
    ],
)
def test_a_surrogate_without_a_utility_or_a_model_is_refused(given, complaint):
    with pytest.raises(CbocError, match=complaint):
        Bayesian(**given)
