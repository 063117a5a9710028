import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cboc.consensus import decompose, is_doubly_stochastic, mix, rebalance
from cboc.consensus import graph as graphs
from cboc.consensus.matrix import WEIGHT_ONE, quantise, whole_weights

PAPER = np.array([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [0.2, 0.5, 0.3]])  # Sec. 4.2


@st.composite
def doubly_stochastic(draw, max_sites=7, symmetric=False):
    """An average of permutations: by Birkhoff and von Neumann, any doubly stochastic matrix."""
    K = draw(st.integers(1, max_sites))
    permutations = draw(st.lists(st.permutations(range(K)), min_size=1, max_size=6))
    shares = np.array(draw(st.lists(st.floats(0.01, 1.0), min_size=len(permutations), max_size=len(permutations))))
    W = sum(share * np.eye(K)[list(p)] for share, p in zip(shares / shares.sum(), permutations, strict=True))
    return (W + W.T) / 2 if symmetric else W


def test_the_papers_two_clients():
    """W = [[0.7, 0.3], [0.3, 0.7]] takes (5, 7) to (5.6, 6.4)  (Sec. 4.2)."""
    weights = whole_weights(np.array([[0.7, 0.3], [0.3, 0.7]]))
    X = np.array([[0.5], [0.7]])  # on a scale of 10
    assert 10 * mix(weights[0], X)[0] == pytest.approx(5.6, abs=1e-8)
    assert 10 * mix(weights[1], X)[0] == pytest.approx(6.4, abs=1e-8)


def test_the_papers_birkhoff_example():
    parts = decompose(PAPER)
    np.testing.assert_allclose(sum(share * P for share, P in parts), PAPER, atol=1e-12)
    assert [round(share, 9) for share, _ in parts] == [0.5, 0.2, 0.2, 0.1]
    np.testing.assert_array_equal(parts[0][1], [[0, 0, 1], [1, 0, 0], [0, 1, 0]])


def test_an_allocator_hands_one_sites_design_to_another():
    """The first permutation of the paper's example gives client 1 the design of client 2, and so on."""
    P = np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]])
    X = quantise(np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]))
    mixed = np.array([mix(row, X) for row in whole_weights(P)])
    np.testing.assert_array_equal(mixed, X[[1, 2, 0]])


@given(doubly_stochastic())
def test_a_decomposition_is_an_average_of_permutations_that_gives_the_matrix_back(W):
    parts = decompose(W)
    assert sum(share for share, _ in parts) == pytest.approx(1.0)
    for share, P in parts:
        assert share > 0 and set(np.unique(P)) <= {0.0, 1.0} and is_doubly_stochastic(P)
    np.testing.assert_allclose(sum(share * P for share, P in parts), W, atol=1e-7)
    assert len(parts) <= (len(W) - 1) ** 2 + 1


@given(doubly_stochastic(symmetric=True), st.data())
def test_rebalancing_keeps_a_matrix_symmetric_and_doubly_stochastic(W, data):
    K = len(W)
    pairs = [(i, j) for i in range(K) for j in range(i)]
    kept = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    links = graphs.from_edges(K, kept)
    cut = rebalance(W, links)
    assert is_doubly_stochastic(cut)
    np.testing.assert_allclose(cut, cut.T, atol=1e-15)
    assert (cut[~links & ~np.eye(K, dtype=bool)] == 0).all()
    np.testing.assert_allclose(cut[links], W[links], atol=1e-15)


@given(doubly_stochastic(), st.data())
def test_rebalancing_keeps_any_doubly_stochastic_matrix_doubly_stochastic(W, data):
    present = np.array(data.draw(st.lists(st.booleans(), min_size=len(W), max_size=len(W))))
    cut = rebalance(W, np.outer(present, present))
    assert is_doubly_stochastic(cut)
    assert (cut[~present][:, present] == 0).all()


@given(doubly_stochastic())
def test_whole_weights_sum_to_exactly_one_and_stay_close(W):
    weights = whole_weights(W)
    assert (weights.sum(axis=1) == WEIGHT_ONE).all() and (weights >= 0).all()
    np.testing.assert_allclose(weights / WEIGHT_ONE, W, atol=len(W) / WEIGHT_ONE)


@given(doubly_stochastic(), st.integers(1, 4), st.integers(0, 2**32))
def test_mixing_does_not_depend_on_the_order_of_arrival(W, D, seed):
    rng = np.random.default_rng(seed)
    X = quantise(rng.random((len(W), D)))
    order = rng.permutation(len(W))
    for k, row in enumerate(whole_weights(W)):
        np.testing.assert_array_equal(mix(row, X), mix(row[order], X[order]))
        np.testing.assert_allclose(mix(row, X), W[k] @ X, atol=2e-8)


@given(st.integers(1, 6), st.integers(0, 2**32))
def test_the_identity_returns_a_proposal_bit_by_bit(K, seed):
    X = quantise(np.random.default_rng(seed).random((K, 3)))
    mixed = np.array([mix(row, X) for row in whole_weights(np.eye(K))])
    np.testing.assert_array_equal(mixed, X)


def test_the_corners_of_the_cube_mix_without_overflow():
    K = 1000
    weights = whole_weights(np.full((K, K), 1 / K))
    np.testing.assert_array_equal(mix(weights[0], np.ones((K, 2))), [1.0, 1.0])


@pytest.mark.parametrize("W", [[[0.5, 0.5]], [[1.0, 0.1], [0.0, 0.9]], [[2.0, -1.0], [-1.0, 2.0]], [[np.nan]], 1.0])
def test_what_is_not_doubly_stochastic(W):
    assert not is_doubly_stochastic(np.array(W))


def test_the_papers_matrix_is_doubly_stochastic():
    assert is_doubly_stochastic(PAPER)
