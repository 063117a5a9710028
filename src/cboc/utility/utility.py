"""The protocol of utilities: how much a site would gain by an experiment at x."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from cboc.arrays import Array, is_number
from cboc.errors import CbocError
from cboc.search.landscape import Landscape
from cboc.utility.gp_based import log_gain


class Utility(Landscape, Protocol):
    """U(x) over the unit cube (Sec. 4.1): a landscape to climb, and the worth of its heights."""

    def log_worth(self, X: Array) -> Array:
        """log of the benefit over doing nothing (n,), which gates compare and leaders report."""


@dataclass(frozen=True)
class Custom:
    """A user's function as a utility: X (n, D) -> (n,), not negative, larger is better.

    Its gradient is taken by central differences unless one is given.
    """

    function: Callable[[Array], Array]
    gradient: Callable[[Array], Array] | None = None  # (n, D) -> (n, D)
    anchors: Array = field(default_factory=lambda: np.empty((0, 0)))
    step: float = 1e-5

    def __post_init__(self) -> None:
        for name in ("function", "gradient"):
            if not callable(getattr(self, name)) and not (name == "gradient" and self.gradient is None):
                raise CbocError(f"a utility's {name} is a function of designs; {getattr(self, name)!r} is not.")
        anchors = _numbers("anchors", self.anchors)
        if anchors.ndim != 2 or not ((anchors >= 0.0) & (anchors <= 1.0)).all():
            raise CbocError(
                f"a utility's anchors are designs of the unit cube, of shape (n, D); these are {self.anchors!r}."
            )
        object.__setattr__(self, "anchors", anchors)
        if not is_number(self.step) or not 0.0 < self.step <= 0.5:
            raise CbocError(f"a utility's step is a number above 0 and at most 0.5; this is {self.step!r}.")

    def __call__(self, X: Array) -> Array:
        return _shaped("function", self.function(X), X.shape, X.shape[:1])

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        if self.gradient is not None:
            return self(X), _shaped("gradient", self.gradient(X), X.shape, X.shape)
        n, D = X.shape
        sides = self.step * np.eye(D)
        around = np.concatenate([X[:, None] + sides, X[:, None] - sides], axis=1)  # (n, 2D, D)
        values = self(np.clip(around, 0.0, 1.0).reshape(-1, D)).reshape(n, 2, D)
        spans = np.clip(X + self.step, 0.0, 1.0) - np.clip(X - self.step, 0.0, 1.0)
        with np.errstate(invalid="ignore"):  # -inf - -inf
            return self(X), (values[:, 0] - values[:, 1]) / spans

    def log_worth(self, X: Array) -> Array:
        return log_gain(self(X))


def _numbers(name: str, given: object) -> Array:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise CbocError(f"a utility's {name} gives an array of numbers; {given!r} is not one.") from None


def _shaped(name: str, answer: Array, asked: tuple[int, ...], expected: tuple[int, ...]) -> Array:
    """The answer of a user's function as floats."""
    values = _numbers(name, answer)
    if values.shape != expected:
        raise CbocError(
            f"for designs of shape {asked} the utility's {name} must return {expected}, but returned {values.shape}."
        )
    return values
