from math import log

import numpy as np
import pytest

from cboc import CbocError, Gate
from cboc.consensus import graph as graphs
from cboc.strategy.gate import always_follow


def test_named_graphs_have_the_right_degrees():
    assert graphs.complete(5).sum(axis=0).tolist() == [4] * 5
    assert graphs.ring(5).sum(axis=0).tolist() == [2] * 5
    assert graphs.star(5, centre=2).sum(axis=0).tolist() == [1, 1, 4, 1, 1]


@pytest.mark.parametrize("sites", [1, 2, 3])
def test_small_graphs_are_connected(sites):
    for graph in (graphs.complete, graphs.ring, graphs.star):
        links = graph(sites)
        assert graphs.unreached(links) == [] and not links.diagonal().any() and (links == links.T).all()


def test_unreached_names_the_other_component():
    assert graphs.unreached(graphs.from_edges(5, [(0, 1), (2, 3)])) == [2, 3, 4]


@pytest.mark.parametrize("edge", [(0, 3), (-1, 0), (1, 1)])
def test_an_edge_to_nowhere_is_refused(edge):
    with pytest.raises(CbocError, match="joins two different sites"):
        graphs.from_edges(3, [edge])


def test_a_gate_compares_utilities_by_ratio():
    gate = Gate(0.5)
    assert gate(log(0.5), log(1.0)) and not gate(log(0.49), log(1.0))


def test_ratio_zero_is_the_paper_and_above_one_is_alone():
    assert always_follow()(-np.inf, 0.0)
    assert not Gate(1.01)(0.0, 0.0)
    assert Gate(1.0)(0.0, 0.0)


@pytest.mark.parametrize("ratio", [-0.1, float("nan"), float("inf")])
def test_a_gate_with_a_meaningless_ratio_is_refused(ratio):
    with pytest.raises(CbocError, match="ratio is 0"):
        Gate(ratio)
