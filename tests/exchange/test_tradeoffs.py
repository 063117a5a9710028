import numpy as np
import pytest

from cboc.exchange.tradeoffs import LEAST, tradeoffs


@pytest.mark.parametrize("m", [2, 3, 4, 6])
def test_every_tradeoff_counts_every_objective(m):
    weights = tradeoffs(m)
    assert weights.sum(axis=1) == pytest.approx(1.0) and (weights >= LEAST - 1e-12).all()
    assert not weights.flags.writeable


@pytest.mark.parametrize("m", [2, 3, 4])
def test_they_spread_over_all_of_them(m):
    """For every objective, one of them counts it more than all others together or nearly so, and one hardly."""
    weights = tradeoffs(m)
    assert (weights.max(axis=0) > 1.2 / m).all() and (weights.min(axis=0) < 0.6 / m).all()
    apart = np.abs(weights[:, None] - weights).max(axis=2) + np.eye(len(weights))
    assert apart.min() > 0.05


def test_one_objective_has_one_tradeoff():
    assert tradeoffs(1).tolist() == [[1.0]]
