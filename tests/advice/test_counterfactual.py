import re
from dataclasses import replace

import numpy as np
import pytest

from cboc import Ledger, Policy, Site, Study, simulate
from cboc.advice.counterfactual import Solo, play
from cboc.data.dataset import Direction
from cboc.exchange.objective import Objective
from cboc.site.trial import Status
from cboc.strategy.bayesian import Bayesian
from cboc.strategy.situation import Situation

SPACE = {"a": (0.0, 2.0), "b": (-1.0, 1.0)}
SITES = ("x", "y", "z")
CENTRES = {"x": (0.6, 0.2), "y": (0.7, 0.1), "z": (0.65, 0.3)}


def experiment(site, sign):
    a, b = CENTRES[site]
    return lambda design: sign * ((design["a"] - a) ** 2 + np.sin(3.0 * (design["b"] - b)) ** 2)


def run(direction="minimise", seed=3, **more):
    study = Study(SPACE, SITES, 6, **more)
    sign = 1.0 if direction == "minimise" else -1.0
    experiments = {site: experiment(site, sign) for site in SITES}
    return simulate(study, experiments, direction=direction, policy=Policy(seed=seed, initial=4))


def site_of(history, name="x", seed=3, trials=None):
    trials = history.of(name) if trials is None else trials
    study, direction = history.study, history.directions[name]
    return Site(study, name, Ledger(study), direction=direction, policy=Policy(initial=4, seed=seed), trials=trials)


class Exact:
    """A surrogate that knows the experiment."""

    def __init__(self, site, name="x"):
        self.space, self.sign = site.study.space, 1.0 if site.direction == "maximise" else -1.0
        self.experiment = experiment(name, -self.sign)

    def predict(self, X):
        return np.array([self.sign * self.experiment(self.space.from_unit(x)) for x in X]), np.zeros(len(X))


@pytest.mark.parametrize("direction", ["minimise", "maximise"])
def test_on_a_perfect_surrogate_it_is_the_run_that_was_not_made(direction):
    together, alone = run(direction), run(direction, rule="identity")
    site = site_of(together)
    solo = play(site, Exact(site))
    np.testing.assert_allclose(solo.alone, alone.best_so_far("x"), rtol=1e-12)
    np.testing.assert_allclose(solo.together, together.best_so_far("x"), rtol=1e-12)
    sign = 1.0 if direction == "maximise" else -1.0
    assert solo.gain == pytest.approx(sign * (together.best_so_far("x") - alone.best_so_far("x"))[1:].mean())


def test_nothing_changes_at_the_site():
    site = site_of(run())
    before = list(site.trials)
    play(site, Bayesian().surrogate(Situation(site.dataset, site.study.space)))
    assert site.trials == before and site.network.round == 0


def test_before_the_first_round_is_told_there_is_nothing_to_compare():
    history = run()
    initial = [trial for trial in history.of("x") if trial.turn is None]
    assert play(site_of(history, trials=initial), None) is None


def test_a_failed_experiment_is_a_round_too():
    history = run()
    site = site_of(history)
    last = site.trials[-1]
    site.trials[-1] = replace(last, status=Status.FAILED, outcomes={})
    solo = play(site, Exact(site))
    assert len(solo.together) == len(solo.alone) == 7
    assert solo.together[-1] == solo.together[-2]


@pytest.mark.parametrize(
    ("direction", "together", "alone", "gain", "said"),
    [
        (
            "maximise",
            [0.0, 2.0, 4.0],
            [0.0, 1.0, 2.0],
            1.5,
            "better on average over the experiments (1.5), better at the end (4, alone 2;",
        ),
        (
            "minimise",
            [3.0, 3.0, 1.0],
            [3.0, 1.0, 0.5],
            -1.25,
            "worse on average over the experiments (1.2), worse at the end (1, alone 0.5;",
        ),
        (
            "minimise",
            [9.0, 0.0, 1.0],
            [9.0, 3.0, 0.5],
            1.25,
            "better on average over the experiments (1.2), worse at the end (1, alone 0.5;",
        ),
        (
            "maximise",
            [-np.inf, -np.inf, 1.0],
            [-np.inf, 1.0, 1.0],
            0.0,
            "as good on average over the experiments, as good at the end (1, alone 1;",
        ),
    ],
)
def test_what_is_made_of_the_two_courses(direction, together, alone, gain, said):
    solo = Solo(Direction(direction), np.array(together), np.array(alone))
    assert solo.gain == gain and said in solo.sentence
    assert solo.sentence.startswith("By your own model, compared with working alone: ")
    assert solo.sentence.endswith(f"; {'higher' if direction == 'maximise' else 'lower'} is better).")
    assert replace(solo, is_played=False).sentence.startswith("Compared with the run alone: ")
    named = replace(solo, objective=Objective("yield", "%")).sentence
    assert re.search(r"at the end \(\S+ %, alone \S+ %;", named)


def test_with_plates_it_plays_the_same_plates():
    """Alone, a site that runs plates of three, with one value in all wells, would run such plates as well."""
    given = {"direction": "minimise", "policy": Policy(seed=3, initial=4), "plate": 3, "same": ["a"]}
    experiments = {site: experiment(site, 1.0) for site in SITES}
    studies = (Study(SPACE, SITES, 6, rule=rule) for rule in ("uniform", "identity"))
    together, alone = (simulate(study, experiments, **given) for study in studies)
    site = site_of(together)
    solo = play(site, Exact(site))
    np.testing.assert_allclose(solo.alone, alone.best_so_far("x"), rtol=1e-12)
