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


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"function": 3}, "a utility's function is a function of designs; 3 is not"),
        ({"gradient": "auto"}, "a utility's gradient is a function of designs; 'auto' is not"),
        ({"anchors": [0.5, 0.5]}, r"anchors are designs of the unit cube, of shape \(n, D\)"),
        ({"anchors": [[65.0, 0.5]]}, "anchors are designs of the unit cube"),
        ({"anchors": "here"}, "anchors gives an array of numbers; 'here' is not one"),
        ({"step": 0}, "a utility's step is a number above 0 and at most 0.5; this is 0"),
        ({"step": -1e-5}, "a utility's step"),
        ({"step": float("nan")}, "a utility's step"),
    ],
)
def test_settings_that_would_have_no_effect_are_refused(given, complaint):
    with pytest.raises(CbocError, match=complaint):
        Custom(**({"function": bump} | given))


def test_anchors_of_another_space_are_refused():
    with pytest.raises(CbocError, match="a utility's anchors are designs of 2 coordinates; these are"):
        maximise(Custom(bump, anchors=[[0.5, 0.5, 0.5]]), BOX, np.random.default_rng(0))


@pytest.mark.parametrize("answer", [["a", "b"], {"a": 1}, [[1.0], [1.0, 2.0]], None])
def test_a_function_that_returns_no_numbers_is_told_so(answer):
    with pytest.raises(CbocError, match="a utility's function gives an array of numbers|the utility's function must"):
        Custom(lambda _: answer)(np.zeros((2, 2)))
