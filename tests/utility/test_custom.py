import numpy as np
import pytest

from cboc.errors import CbocError
from cboc.search.maximise import maximise
from cboc.space.space import Space
from cboc.utility.utility import Custom

BOX = Space({"a": (0, 1), "b": (0, 1)})
TRIANGLE = Space({"a": (0, 1), "b": (0, 1)}, ["a + b <= 1"])


def bump(X):
    return np.exp(-((X - np.array([0.8, 0.7])) ** 2).sum(axis=1))


def bump_gradient(X):
    return -2.0 * (X - np.array([0.8, 0.7])) * bump(X)[:, None]


def test_the_gradient_is_taken_by_differences():
    X = np.random.default_rng(0).random((20, 2))
    value, gradient = Custom(bump).with_gradient(X)
    assert (value == bump(X)).all() and gradient == pytest.approx(bump_gradient(X), abs=1e-8)


def test_differences_stay_inside_the_cube():
    def fragile(X):
        assert (X >= 0.0).all() and (X <= 1.0).all()
        return X[:, 0] + 2.0 * X[:, 1]

    corners = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert Custom(fragile).with_gradient(corners)[1] == pytest.approx(np.tile([1.0, 2.0], (3, 1)))


@pytest.mark.parametrize("gradient", [None, bump_gradient], ids=["without gradient", "with gradient"])
def test_it_is_maximised(gradient):
    assert maximise(Custom(bump, gradient), BOX, np.random.default_rng(0))[0] == pytest.approx([0.8, 0.7], abs=0.03)
    on_the_edge = maximise(Custom(bump, gradient), TRIANGLE, np.random.default_rng(0))[0]
    assert on_the_edge == pytest.approx([0.55, 0.45], abs=0.01)


def test_integers_and_lists_are_numbers_too():
    assert Custom(lambda X: [1] * len(X))(np.zeros((3, 2))).dtype == float
    assert maximise(Custom(lambda X: (X[:, 0] > 0.5).astype(int)), BOX, np.random.default_rng(0))[1] == 1.0


def test_the_worth_is_the_logarithm():
    utility = Custom(lambda X: X[:, 0])
    assert utility.log_worth(np.array([[1.0, 0.0], [0.5, 0.0]])) == pytest.approx([0.0, np.log(0.5)])
    assert utility.log_worth(np.zeros((1, 2))) == -np.inf


def test_anchors_may_be_missing():
    assert Custom(bump).anchors[:4].ndim == 2 and len(Custom(bump).anchors[:4]) == 0


def test_a_function_of_the_wrong_shape_is_told_so():
    with pytest.raises(CbocError, match=r"function must return \(3,\), but returned \(3, 1\)"):
        Custom(lambda X: X[:, :1])(np.zeros((3, 2)))
    with pytest.raises(CbocError, match=r"gradient must return \(3, 2\), but returned \(2,\)"):
        Custom(bump, lambda X: X[0]).with_gradient(np.zeros((3, 2)))
