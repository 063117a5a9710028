"""The matrices of Sec. 4.3, on the paper's own numbers first."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cboc import CbocError
from cboc.consensus import Fixed, Identity, Leader, Metropolis, Snapshot, Uniform, is_doubly_stochastic, rebalance
from cboc.consensus import graph as graphs
from cboc.consensus.rules import Function, as_rule


def seen(rewards, budgets):
    """A snapshot in which every site has behind it the rounds that it was in."""
    rewards = np.asarray(rewards, dtype=float)
    return Snapshot(rewards, (~np.isnan(rewards[:-1])).sum(axis=0), np.asarray(budgets, dtype=float))


def at(t, T, K, rewards=None):
    """Everybody present since round 0, now at round t of T."""
    return seen(np.zeros((t + 1, K)) if rewards is None else rewards, np.full(K, T))


@st.composite
def snapshots(draw, max_sites=8):
    """Any history: sites come and go, budgets differ."""
    K, t = draw(st.integers(1, max_sites)), draw(st.integers(0, 12))
    entry = st.one_of(st.just(np.nan), st.floats(-1e3, 1e3), st.integers(0, 2).map(float))
    rewards = np.array(draw(st.lists(st.lists(entry, min_size=K, max_size=K), min_size=t + 1, max_size=t + 1)))
    return seen(rewards, draw(st.lists(st.integers(1, 15), min_size=K, max_size=K)))


def test_the_papers_leader_example():
    """K = 3, T = 10, rewards (1, 5, 4): client 2 leads (end of Sec. 4.3)."""
    W = Leader()(at(0, 10, 3, [[1, 5, 4]]))
    third, step = 1 / 3, 1 / 30
    expected = [
        [third - step, third + 2 * step, third - step],
        [third + 2 * step, third - 4 * step, third + 2 * step],
        [third - step, third + 2 * step, third - step],
    ]
    np.testing.assert_allclose(W, expected, atol=1e-15)


def test_uniform_starts_at_the_average_and_steps_as_in_equation_5():
    K, T = 5, 40
    np.testing.assert_allclose(Uniform()(at(0, T, K)), np.full((K, K), 1 / K), atol=1e-15)
    step = Uniform()(at(8, T, K)) - Uniform()(at(7, T, K))
    np.testing.assert_allclose(np.diag(step), (K - 1) / (T * K), atol=1e-15)
    np.testing.assert_allclose(step[~np.eye(K, dtype=bool)], -1 / (T * K), atol=1e-15)


def test_uniform_ends_at_the_identity():
    np.testing.assert_allclose(Uniform()(at(40, 40, 5)), np.eye(5), atol=1e-15)


@given(snapshots())
def test_every_rule_is_symmetric_and_doubly_stochastic(snapshot):
    for rule in (Identity(), Uniform(), Metropolis(), Leader()):
        W = rule(snapshot)
        assert is_doubly_stochastic(W)
        np.testing.assert_allclose(W, W.T, atol=1e-15)


def test_leader_is_the_largest_reward_and_never_the_same_twice_running():
    rewards = [[1, 5, 4], [1, 5, 4], [1, 5, 4], [9, 0, 0], [9, 0, 1]]
    leaders = [Leader().leader(at(t, 10, 3, rewards[: t + 1])) for t in range(5)]
    assert leaders == [1, 2, 1, 0, 2]


def test_an_absent_site_never_leads_and_a_lone_one_may_lead_again():
    assert Leader().leader(at(0, 10, 3, [[np.nan, 1, 2]])) == 2
    assert Leader().leader(at(1, 10, 2, [[1, np.nan], [1, np.nan]])) == 0
    assert Leader().leader(at(0, 10, 2, [[np.nan, np.nan]])) is None


def test_the_negative_diagonal_of_the_paper_becomes_exactly_zero_in_the_first_rounds():
    """Heuristic (ii) fires in 5 of 40 rounds for K = 10, T = 40."""
    K, T = 10, 40
    fired = []
    for t in range(T):
        W = Leader()(at(t, T, K, np.tile(np.arange(K), (t + 1, 1))))
        leader = Leader().leader(at(t, T, K, np.tile(np.arange(K), (t + 1, 1))))
        raw = Uniform()(at(t, T, K))[leader, leader] - (K - 1) ** 2 / (T * K)
        assert W[leader, leader] == pytest.approx(max(raw, 0.0), abs=1e-15)
        fired.append(raw < 0)
    assert sum(fired) == 5


def test_leader_moves_everybody_towards_the_leaders_design():
    X = np.array([0.2, 0.9, 0.4])
    without, with_leader = Uniform()(at(0, 10, 3)) @ X, Leader()(at(0, 10, 3, [[1, 5, 4]])) @ X
    assert with_leader[0] > without[0] and with_leader[2] > without[2] and with_leader[1] < without[1]


def test_the_leader_still_leads_when_somebody_has_finished():
    snapshot = seen([[1, 2, 3, 4], [np.nan, 5, 1, 1]], [1, 5, 5, 5])
    W = Leader()(snapshot)
    assert Leader().leader(snapshot) == 1 and is_doubly_stochastic(W)
    assert W[2, 1] > Uniform()(snapshot)[2, 1] and W[0].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_unequal_budgets_listen_as_far_as_the_one_closer_to_its_end():
    """t = 5: site 0 has spent half of 10, site 1 a quarter of 20."""
    W = Uniform()(seen(np.zeros((6, 2)), [10, 20]))
    assert W[0, 1] == pytest.approx(min(0.5, 0.75) / 2)


def test_progress_is_the_share_of_its_own_budget_that_a_site_has_behind_it():
    """A site that missed rounds is less far along, and nobody is further than the end."""
    rewards = np.zeros((6, 2))
    rewards[2:5, 1] = np.nan
    np.testing.assert_allclose(seen(rewards, [10, 10]).progress, [0.5, 0.2])
    assert Snapshot(np.zeros((1, 3)), np.array([0, 3, 9]), np.array([4.0, 4.0, 4.0])).progress.tolist() == [0, 0.75, 1]


@st.composite
def links(draw, sites):
    """Any graph on these sites, connected or not."""
    pairs = [(i, j) for i in range(sites) for j in range(i)]
    return graphs.from_edges(sites, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])


def test_metropolis_on_a_path_of_three():
    """Degrees 1, 2, 1: each end shares a third with the middle, 1 / (1 + 2), at first."""
    W = Metropolis()(replace(at(0, 10, 3), links=graphs.from_edges(3, [(0, 1), (1, 2)])))
    np.testing.assert_allclose(W, np.array([[2, 1, 0], [1, 1, 1], [0, 1, 2]]) / 3, atol=1e-15)


@given(snapshots())
def test_metropolis_on_a_complete_graph_is_uniform_to_the_last_bit(snapshot):
    np.testing.assert_array_equal(Metropolis()(snapshot), Uniform()(snapshot))


@given(st.data())
def test_metropolis_is_doubly_stochastic_on_any_graph_and_with_anybody_absent(data):
    snapshot = data.draw(snapshots())
    graph = data.draw(links(snapshot.sites))
    W = Metropolis()(replace(snapshot, links=graph))
    assert is_doubly_stochastic(W) and (W == W.T).all() and not W[~graph & ~np.eye(len(W), dtype=bool)].any()
    there = graph & np.outer(snapshot.present, snapshot.present)
    left = rebalance(W, there)
    assert is_doubly_stochastic(left) and (left == left.T).all()
    np.testing.assert_array_equal(left[there], W[there])  # the weight of whoever is absent is on the diagonals


def test_metropolis_ends_at_the_identity():
    np.testing.assert_array_equal(Metropolis()(replace(at(40, 40, 5), links=graphs.ring(5))), np.eye(5))


def test_a_snapshot_made_by_hand_has_a_complete_graph():
    assert at(0, 10, 4).degrees.tolist() == [3, 3, 3, 3]


def test_one_site_alone_is_the_identity_under_every_rule():
    for rule in (Identity(), Uniform(), Metropolis(), Leader()):
        np.testing.assert_array_equal(rule(at(3, 10, 1)), [[1.0]])


@pytest.mark.parametrize(
    ("matrix", "complaint"),
    [
        ([[0.5, 0.6], [0.5, 0.4]], "row 0 sums to 1.1"),
        ([[0.5, 0.5], [0.6, 0.4]], "column 0 sums to 1.1"),
        ([[1.5, -0.5], [-0.5, 1.5]], "no negative weights"),
        ([[1.0, 0.0]], "1 x 1; this one has shape"),
        ([[1.0], [0.5, 0.5]], "is a list of rows of numbers"),
        ("W", "is a list of rows of numbers"),
        (None, "1 x 1; this one has shape"),
        ([[np.nan, 1.0], [1.0, 0.0]], "finite weights"),
    ],
)
def test_a_matrix_that_is_not_doubly_stochastic_is_refused_in_one_sentence(matrix, complaint):
    with pytest.raises(CbocError, match=complaint):
        Fixed(matrix)


def test_fixed_refuses_another_number_of_sites():
    with pytest.raises(CbocError, match="for 3 sites is 3 x 3"):
        Fixed(np.eye(2))(at(0, 10, 3))


@settings(max_examples=30)
@given(snapshots())
def test_rules_do_not_change_what_they_are_given(snapshot):
    before = snapshot.rewards.copy()
    Leader()(snapshot)
    np.testing.assert_array_equal(snapshot.rewards, before)


# ------------------------------------------------------------------------------------------- what a study asks of one


NAMES = ["identity", "uniform", "metropolis", "leader"]


def test_a_rule_is_known_by_its_name_or_its_matrix_and_a_function_by_neither():
    assert [as_rule(name).terms for name in NAMES] == NAMES
    swap = [[0.0, 1.0], [1.0, 0.0]]
    assert as_rule(swap) == Fixed(swap) and as_rule(swap).terms == swap
    assert as_rule(lambda snapshot: np.eye(snapshot.sites)).terms is None


def test_a_plain_function_is_a_rule():
    def halves(snapshot):
        return np.full((snapshot.sites, snapshot.sites), 1 / snapshot.sites)

    rule = as_rule(halves)
    assert rule == Function(halves) and as_rule(rule) is rule
    assert rule(at(0, 1, 2)).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert rule.mixes and not rule.needs_rewards and rule.leader(at(0, 1, 2)) is None
    halves.needs_rewards = True
    assert rule.needs_rewards


def test_whether_a_matrix_is_symmetric_is_judged_to_the_last_bit():
    third = np.full((3, 3), 1 / 3)
    assert (
        Fixed(third).is_symmetric and Uniform().is_symmetric and not Fixed(np.roll(np.eye(3), 1, axis=0)).is_symmetric
    )
    third[0, 1] = np.nextafter(third[0, 1], 1.0)
    assert not Fixed(third).is_symmetric


@pytest.mark.parametrize(("rule", "mixes", "needs"), [(Identity(), False, False), (Leader(), True, True)])
def test_what_a_rule_says_of_itself(rule, mixes, needs):
    assert (rule.mixes, rule.needs_rewards) == (mixes, needs)
