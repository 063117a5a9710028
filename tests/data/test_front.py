import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cboc.data.front import front, hypervolume, is_on_front, room

REFERENCE = {m: np.zeros(m) for m in (2, 3, 4)}


def outcomes(m):
    """Outcomes on a coarse grid, so that many are equal in a column or altogether."""
    row = st.lists(st.integers(-2, 5).map(float), min_size=m, max_size=m)
    return st.lists(row, min_size=0, max_size=12).map(lambda rows: np.array(rows).reshape(-1, m))


def test_a_front_by_hand():
    Y = np.array([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0], [1.0, 1.0], [2.0, 2.0], [-1.0, 9.0]])
    assert is_on_front(Y).tolist() == [True, True, True, False, False, True]
    assert front(Y, np.zeros(2)).tolist() == [[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]]
    assert hypervolume(Y, np.zeros(2)) == 6.0


def test_volumes_by_hand():
    assert hypervolume(np.array([[2.0, 3.0, 4.0]]), np.zeros(3)) == 24.0
    assert hypervolume(np.array([[2.0, 3.0, 4.0], [1.0, 4.0, 4.0]]), np.zeros(3)) == 28.0
    assert hypervolume(np.empty((0, 2)), np.zeros(2)) == 0.0
    assert hypervolume(np.array([[1.0, 0.0]]), np.zeros(2)) == 0.0  # as good as the reference is worth nothing


@pytest.mark.parametrize("m", [2, 3, 4])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_every_place_is_below_the_front_or_in_one_box(m, data):
    Y = data.draw(outcomes(m))
    lower, upper = room(Y, REFERENCE[m])
    places = np.random.default_rng(0).uniform(0.0, 6.0, (500, m))
    boxes = ((places[:, None] > lower) & (places[:, None] <= upper)).all(axis=2).sum(axis=1)
    is_below = (Y[None] >= places[:, None]).all(axis=2).any(axis=1)
    assert (boxes == ~is_below).all()


@pytest.mark.parametrize("m", [2, 3, 4])
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_the_volume_is_what_the_boxes_leave(m, data):
    """The volume of a large box is that below the front and that of all boxes within it."""
    Y = data.draw(outcomes(m))
    lower, upper = room(Y, REFERENCE[m])
    left = np.prod(np.minimum(upper, 10.0) - lower, axis=1).sum()
    assert hypervolume(Y, REFERENCE[m]) + left == pytest.approx(10.0**m)


@pytest.mark.parametrize("m", [2, 3])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_the_front_is_what_nothing_beats(m, data):
    Y = data.draw(outcomes(m))
    on = is_on_front(Y)
    for i, y in enumerate(Y):
        beaten = any((z >= y).all() and (z > y).any() for z in Y)
        first = not any((z == y).all() for z in Y[:i])
        assert on[i] == (first and not beaten)


def test_three_objectives_need_two_boxes_for_each_result():
    rng = np.random.default_rng(0)
    Y = np.abs(rng.standard_normal((40, 3)))
    Y /= np.linalg.norm(Y, axis=1)[:, None]
    assert len(room(Y, np.zeros(3))[0]) == 2 * 40 + 1
