import pytest

from cboc import CbocError
from cboc.consensus import graph as graphs


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
