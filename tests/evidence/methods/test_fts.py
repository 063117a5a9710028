from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cboc.data.dataset import Dataset
from cboc.errors import CbocError
from cboc.evidence.case import Case
from cboc.evidence.methods.agent import OWN, Agent
from cboc.evidence.methods.fts import ANEW, FTS, FTSDE, Decay, Privacy, Sharing, aggregate, anew, explorers, focus
from cboc.problems.problem import Problem
from cboc.search.maximise import maximise
from cboc.space.space import Space
from cboc.strategy.bayesian import Bayesian, paper
from cboc.strategy.situation import Situation
from cboc.utility.thompson import Thompson

BOTH = pytest.mark.parametrize("method", [FTS(), FTSDE()], ids=["fts", "ftsde"])


def valley(offset=0.0):
    """A quadratic with a ripple, best at (0.7, 0.3)."""

    def function(X):
        away = X - np.array([0.7, 0.3])
        return (away**2).sum(axis=1) + 0.02 * (1.0 - np.cos(20.0 * away)).sum(axis=1) + offset

    return Problem("valley", Space({"a": (0.0, 1.0), "b": (0.0, 1.0)}), function)


def case(sites=4, horizon=3, seed=0, offsets=None, strategy=None):
    problems = tuple(valley(offset) for offset in offsets or [0.0] * sites)
    designs = [np.random.default_rng([seed, k]).random((5, 2)) for k in range(sites)]
    initial = [Dataset(X, p.values(X), direction="minimise") for p, X in zip(problems, designs, strict=True)]
    return Case(problems, tuple(initial), horizon, seed, strategy or Bayesian())


def always(_):
    return 1.0


def never(_):
    return 0.0


# ------------------------------------------------------------------------------------------------- known values


def test_the_schedules_of_the_papers():
    assert [Decay(0.5)(t) for t in (1, 4, 25)] == pytest.approx([0.0, 0.5, 0.8])
    assert [Decay(1.0)(t) for t in (1, 2, 3)] == pytest.approx([0.0, 1 / 2, 2 / 3])
    assert [Decay(2.0)(t) for t in (1, 2, 3)] == pytest.approx([0.0, 3 / 4, 8 / 9])


def test_the_focus_of_the_paper():
    """16 for T/6 = 10 rounds of 60, linear to 1 over 30, then 1."""
    assert [focus(t, 60) for t in (1, 9, 10, 25, 40, 60)] == pytest.approx([16, 16, 16, 8.5, 1, 1])


def test_a_plain_average_when_all_are_equal():
    messages = np.random.default_rng(0).standard_normal((7, 5))
    average = aggregate(messages, explorers(7, 1, 16.0), None, np.random.default_rng(0))
    assert average == pytest.approx(messages.mean(axis=0)[None])
    assert explorers(7, 4, 1.0) == pytest.approx(np.full((4, 7), 1 / 7))


def test_early_on_a_box_belongs_to_its_explorers():
    shares = explorers(6, 2, 16.0)
    assert shares[0] == pytest.approx([1 / 3, 0, 1 / 3, 0, 1 / 3, 0], abs=1e-6)
    assert shares[1] == pytest.approx([0, 1 / 3, 0, 1 / 3, 0, 1 / 3], abs=1e-6)


# --------------------------------------------------------------------------------------------------- invariants


@given(sites=st.integers(1, 30), boxes=st.sampled_from([1, 2, 4]), a=st.floats(1.0, 16.0))
def test_shares_of_each_box_sum_to_one(sites, boxes, a):
    shares = explorers(sites, boxes, a)
    assert shares.shape == (boxes, sites) and (shares >= 0.0).all()
    assert shares.sum(axis=1) == pytest.approx(np.ones(boxes))


def test_the_noise_has_the_published_size():
    """sd z max_n a_in S / q in the function of box i, around 1/q Σ a_in clipped(w_n)."""
    privacy, shares = Privacy(rate=1.0, noise=1.5, clip=3.0), explorers(5, 2, 2.0)
    messages = np.random.default_rng(0).standard_normal((5, 20_000)) / 1000.0  # too short to be clipped
    excess = aggregate(messages, shares, privacy, np.random.default_rng(1)) - shares @ messages
    assert excess.std(axis=1) == pytest.approx(1.5 * shares.max(axis=1) * 3.0, rel=0.03)
    half = replace(privacy, rate=0.5)
    hidden = aggregate(np.zeros((5, 20_000)), shares, half, np.random.default_rng(2))
    assert hidden.std(axis=1) == pytest.approx(1.5 * shares.max(axis=1) * 3.0 / 0.5, rel=0.03)


def test_messages_are_clipped_to_the_joint_sensitivity():
    """Over all P boxes together an agent moves the sum by at most S."""
    messages = np.array([[30.0, 40.0], [0.3, 0.4]])
    shares = explorers(2, 4, 1.0)
    hidden = aggregate(messages, shares, Privacy(rate=1.0, noise=0.0, clip=2.0), np.random.default_rng(0))
    assert hidden == pytest.approx(np.tile(0.5 * (np.array([0.6, 0.8]) + messages[1]), (4, 1)))


def test_agents_take_part_at_the_rate():
    messages = np.eye(2000)  # coordinate n shows whether agent n was kept
    hidden = aggregate(messages, explorers(2000, 1, 1.0), Privacy(0.35, 0.0, 10.0), np.random.default_rng(0))
    kept = hidden[0] > 0.0
    assert kept.mean() == pytest.approx(0.35, abs=0.04)
    assert hidden[0, kept] == pytest.approx(np.full(kept.sum(), 1 / 2000 / 0.35))


def test_when_nobody_takes_part_the_server_sends_random_weights():
    hidden = aggregate(np.full((3, 4000), 9.0), explorers(3, 2, 1.0), Privacy(1e-9), np.random.default_rng(0))
    assert hidden.min() >= 0.0 and hidden.max() <= 1.0 and hidden.mean() == pytest.approx(0.5, abs=0.02)


@BOTH
def test_designs_are_of_the_cube_and_never_repeat(method):
    designs = replace(method, own=never)(case(horizon=5))
    assert designs.shape == (4, 5, 2) and (designs >= 0.0).all() and (designs <= 1.0).all()
    assert all(len(np.unique(of_site, axis=0)) == 5 for of_site in designs)


def test_a_design_that_was_run_before_makes_place_for_a_random_one():
    common = case()
    agent = Agent(common, 1)
    agent.run(anew(agent, agent.dataset.X[2], 1))
    assert (agent.designs[0] == common.space.sample(1, common.rng(1, 1, ANEW), method="uniform")[0]).all()
    assert len(agent.dataset) == 6


# -------------------------------------------------------------------------------------------------- equivalences


@pytest.mark.parametrize("method", [FTS(), FTSDE(), FTSDE(boxes=1, privacy=Privacy())], ids=["fts", "ftsde", "dp"])
def test_the_same_seed_gives_the_same_designs(method):
    assert (method(case()) == method(case())).all()
    assert (method(case()) != method(replace(case(), seed=1))).any()


@BOTH
def test_those_who_never_follow_are_alone(method):
    """With p_t = 1 every site does pure Thompson sampling, whoever its peers are."""
    common = case(sites=3, horizon=3)
    other = replace(common, problems=(common.problems[0], valley(5.0)), initial=common.initial[:2])
    together = replace(method, own=always)(common)
    assert (replace(method, own=always)(other)[0] == together[0]).all()

    data, theta = common.initial[2], None
    for t, x in enumerate(together[2], start=1):
        rng = common.rng(2, t, OWN)
        gp = common.strategy.surrogate(Situation(data, common.space, memory=theta))
        assert (maximise(Thompson.on(gp, rng), common.space, rng)[0] == x).all()
        data, theta = data.with_point(x, common.experiment(2, x)), tuple(gp.theta)


def test_a_single_site_has_nobody_to_follow():
    lonely = case(sites=1)
    assert (FTS(own=never)(lonely) == FTS(own=always)(lonely)).all()
    assert (FTSDE(own=never)(lonely) == FTSDE(own=always)(lonely)).all()


def test_followers_of_the_server_all_run_its_maximiser():
    designs = FTSDE(own=never)(case(horizon=1))
    assert (designs == designs[0]).all()


def test_followers_of_a_peer_never_follow_themselves():
    """Of two sites each follows the other: what site 2 knows decides what site 1 runs, not what site 2 runs."""
    common = case(sites=2, horizon=1)
    mirrored = Dataset(1.0 - common.initial[1].X, common.initial[1].y, direction="minimise")
    before = FTS(own=never)(common)
    after = FTS(own=never)(replace(common, initial=(common.initial[0], mirrored)))
    assert (after[0] != before[0]).any() and (after[1] == before[1]).all()


@BOTH
def test_offsets_of_the_outcomes_make_no_difference(method):
    """Outcomes are standardised at each site, also where the surrogate takes them raw."""
    plain = replace(method, own=never)(case(horizon=2, strategy=paper()))
    moved = replace(method, own=never)(case(horizon=2, offsets=[0.0, 300.0, -7.0, 20.0], strategy=paper()))
    assert moved == pytest.approx(plain, abs=1e-5)


# ------------------------------------------------------------------------------------------------------ the claim


@BOTH
def test_it_beats_random_search_where_the_sites_are_alike(method):
    def best(designs):
        return np.mean([valley().values(X).min() for X in designs])

    cases = [case(sites=4, horizon=8, seed=seed) for seed in range(3)]
    informed = np.mean([best(method(one)) for one in cases])
    uniform = np.mean([best(np.random.default_rng(seed).random((40, 8, 2))) for seed in range(3)])
    assert informed < 0.5 * uniform


# --------------------------------------------------------------------------------------------------- the settings


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Privacy(rate=0.0), "rate"),
        (lambda: Privacy(noise=-1.0), "noise"),
        (lambda: Privacy(clip=0.0), "clip"),
        (lambda: Sharing(noise=0.0), "noise"),
        (lambda: FTSDE(own=never, boxes=3)(case(horizon=1)), "weights for 3"),
    ],
)
def test_impossible_settings_get_one_sentence(make, word):
    with pytest.raises(CbocError, match=word):
        make()
