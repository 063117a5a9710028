"""The space of designs: named parameters, linear constraints, and the unit cube in which designs are mixed.

A design is a dictionary of natural values, {"T": 65.0, "solvent": "water"}; x is the same design as a vector of the
unit cube. Mixing happens in the cube and may leave the feasible set (half a solvent, 2.4 cycles); `project` leads back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cboc.arrays import Array
from cboc.errors import CbocError, did_you_mean, short
from cboc.names import check_name
from cboc.space.choice import nearest_points
from cboc.space.constraints import Linear, parse
from cboc.space.fixed import Parameter
from cboc.space.listed import Listed
from cboc.space.parameters import TOLERANCE
from cboc.space.plain import as_parameter, to_fields
from cboc.space.polytope import Polytope, Undecided
from cboc.space.sampling import Sampler
from cboc.space.sobol import sobol

METHODS = ("sobol", "uniform")
KEYS = ("parameters", "constraints", "candidates")
MOST_COORDINATES, MOST_CONSTRAINTS = 1000, 100
_Result = TypeVar("_Result")


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Space:
    """Named parameters, {"T": Float(20, 90)} or in short {"T": (20, 90)}, and constraints such as "a + b <= 1".

    If only some designs exist, `candidates` lists them: [{"T": 65, "solvent": "water"}, ...].
    """

    parameters: Mapping[str, Parameter]
    constraints: tuple[str, ...]
    listed: Listed | None  # None: all designs exist

    def __init__(
        self,
        parameters: Mapping[str, Parameter | Sequence[Any] | Mapping[str, Any]],
        constraints: Sequence[str] = (),
        candidates: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        if isinstance(constraints, str):
            raise CbocError(f"constraints are a list of strings, but got a string; write [{short(constraints)}].")
        if isinstance(constraints, set | frozenset) or not hasattr(constraints, "__iter__"):
            raise CbocError(f"constraints are a list of strings such as ['a + b <= 1'], but got {short(constraints)}.")
        object.__setattr__(self, "parameters", MappingProxyType(_named_parameters(parameters)))
        object.__setattr__(self, "constraints", tuple(constraints))
        if self.dimension > MOST_COORDINATES or len(self.constraints) > MOST_CONSTRAINTS:
            raise CbocError(
                f"a space has at most {MOST_COORDINATES:,} coordinates, one for each number and each option, and "
                f"{MOST_CONSTRAINTS} constraints; this has {self.dimension:,} and {len(self.constraints):,}."
            )
        if self._polytope is not None:
            _check_feasible(self._polytope, self.constraints)
        object.__setattr__(self, "listed", None)
        if candidates != ():
            object.__setattr__(self, "listed", Listed.of(candidates, self.to_unit))

    # The order of parameters is the order of coordinates, so spaces that differ in it are different.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        listed = tuple(tuple(design[name] for name in self.names) for design in self.candidates)
        return tuple(self.parameters.items()), self.constraints, listed

    def __add__(self, other: Space) -> Space:
        """The space with all parameters and constraints of both; the coordinates of this one come first."""
        if twice := [name for name in self.parameters if name in other.parameters]:
            raise CbocError(f"a parameter is in one space only; '{twice[0]}' is in both. Rename one of them.")
        if self.candidates or other.candidates:
            raise CbocError("parameters cannot be added to a list of candidates; list the designs with all of them.")
        return Space({**self.parameters, **other.parameters}, (*self.constraints, *other.constraints))

    def __repr__(self) -> str:
        more = f", candidates={[dict(each) for each in self.candidates]!r}" if self.candidates else ""
        return f"Space({dict(self.parameters)!r}, constraints={list(self.constraints)!r}{more})"

    def __reduce__(self) -> tuple[type[Space], tuple[Any, ...]]:
        # a read-only mapping cannot be pickled
        return Space, (dict(self.parameters), self.constraints, tuple(map(dict, self.candidates)))

    @property
    def candidates(self) -> tuple[Mapping[str, Any], ...]:
        """The designs that exist, in natural units; empty if all do."""
        return () if self.listed is None else self.listed.designs

    # The unit cube

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(self.parameters)

    @cached_property
    def dimension(self) -> int:
        """Number of unit coordinates: one per number, one per option of a choice."""
        return sum(parameter.size for parameter in self.parameters.values())

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Labels of the unit coordinates: 'T', 'solvent=water'."""
        return tuple(label for name, p in self.parameters.items() for label in p.coordinates(name))

    @cached_property
    def most_designs(self) -> int | None:
        """The number of designs, constraints left aside; None if a parameter is continuous."""
        if self.listed is not None:
            return len(self.listed.X)
        counts = [p.count for p in self.parameters.values()]
        return None if None in counts else prod(count for count in counts if count is not None)

    @cached_property
    def widths(self) -> Array:  # (D,)
        """Natural width of every unit coordinate: high - low, log10(high / low) on a log scale, 1 for an option."""
        return _read_only(np.concatenate([np.full(p.size, p.width) for p in self.parameters.values()]))

    @cached_property
    def grid(self) -> tuple[Array | None, ...]:  # D of them
        """Levels of every unit coordinate that has a step; None for the others."""
        return tuple(p.grid for p in self.parameters.values() for _ in range(p.size))

    @cached_property
    def choices(self) -> tuple[tuple[slice, Array], ...]:
        """Of every choice, its coordinates and the points of its options (m, size)."""
        return tuple((self._slices[name], p.points) for name, p in self.parameters.items() if p.is_choice)

    @cached_property
    def blocks(self) -> tuple[slice, ...]:
        """The coordinates of every choice."""
        return tuple(block for block, _ in self.choices)

    @cached_property
    def linear(self) -> tuple[Array, Array, Array, Array]:  # (m, D), (m,), (k, D), (k,)
        """A, b, E, e with A x <= b and E x = e, rows of unit norm: the constraints in the unit cube."""
        rows = {"<=": [np.empty((0, self.dimension + 1))], "==": [np.empty((0, self.dimension + 1))]}
        for constraint in self._constraints:
            row, bound, norm = self._unit_row(constraint)
            rows[constraint.relation].append(np.append(row, bound)[None] / norm)
        below, equal = (_read_only(np.vstack(group)) for group in rows.values())
        return below[:, :-1], below[:, -1], equal[:, :-1], equal[:, -1]

    @cached_property
    def is_continuous(self) -> bool:
        """Has the space neither grids nor choices?"""
        return not self.blocks and all(levels is None for levels in self.grid)

    @cached_property
    def is_box(self) -> bool:
        """Has the space no constraints and no list of candidates?"""
        return not self.constraints and self.listed is None

    # Designs to vectors and back

    def to_unit(self, design: Mapping[str, Any]) -> Array:  # (D,)
        """The vector of a design, which must be feasible."""
        if not isinstance(design, Mapping):
            raise CbocError(f"a design is a dictionary of values for {', '.join(self.names)}, but got {design!r}.")
        for name in design:
            if name not in self.parameters:
                raise CbocError(f"unknown parameter '{name}'; {did_you_mean(str(name), self.names)}")
        for name in self.names:
            if name not in design:
                raise CbocError(f"the design lacks parameter '{name}'; it needs {', '.join(self.names)}.")
        x = np.concatenate([_about(name, p.to_unit, design[name]) for name, p in self.parameters.items()])
        for constraint in self._constraints:
            row, bound, norm = self._unit_row(constraint)
            excess = abs(row @ x - bound) if constraint.relation == "==" else row @ x - bound
            if excess > TOLERANCE * norm:
                values = ", ".join(f"{name} = {design[name]}" for name in constraint.coefficients)
                raise CbocError(f"{values} violates the constraint '{constraint.text}' by {excess:.6g}.")
        return x

    def from_unit(self, x: ArrayLike) -> dict[str, Any]:
        """The design of a vector of the cube: numbers on their nearest level, the option that is nearest.

        Constraints are not checked; `project` first if the vector is a mix.
        """
        inside = self._inside(self._vector(x)[None])[0]
        if self.listed is not None and (known := self.listed.design(inside)) is not None:
            return known
        return {name: p.from_unit(inside[self._slices[name]]) for name, p in self.parameters.items()}

    def array_from_unit(self, X: ArrayLike) -> Array:  # (n, D) -> (n, d)
        """Natural values of many vectors at once; an option is its number, from 0."""
        X = np.asarray(X, dtype=float)
        if X.ndim != 2 or X.shape[1] != self.dimension:
            raise CbocError(f"expected an array of shape (n, {self.dimension}), but got {X.shape}.")
        inside = self._inside(X)
        return np.hstack([p.natural(inside[:, self._slices[name]]) for name, p in self.parameters.items()])

    # The feasible set

    def contains(self, x: ArrayLike, tolerance: float = TOLERANCE) -> bool:
        """Is x feasible: in the cube, on the grids, one option per choice, constraints satisfied?"""
        vector = self._vector(x)
        if self.listed is not None:
            return self.listed.has(vector, tolerance)
        if not (abs(vector - self._snapped(vector)) <= tolerance).all():
            return False
        return self._polytope is None or bool(self._polytope.satisfies(vector[self._coupled], tolerance))

    def project(self, x: ArrayLike) -> Array:  # (D,)
        """The feasible point nearest to any vector; a choice goes to its nearest option, the first one on ties."""
        vector = self._vector(x)
        if not np.isfinite(vector).all():
            raise CbocError(f"only finite vectors can be projected, but got {vector.tolist()}.")
        if self.listed is not None:
            return self.listed.nearest(vector)
        nearest = self._snapped(vector)
        if self._polytope is not None:  # coordinates outside all constraints already have their nearest value
            nearest[self._coupled] = self._polytope.nearest(vector[self._coupled])
        return nearest

    def sample(
        self, n: int, rng: np.random.Generator, method: Literal["sobol", "uniform"] = "sobol"
    ) -> Array:  # (n, D)
        """Draw n uniform feasible points: a shifted Sobol' sequence, or independent points."""
        if method not in METHODS:
            raise CbocError(f"unknown method {method!r}; {did_you_mean(str(method), METHODS)}")

        if self.listed is not None:
            return self.listed.sample(n, rng)

        def cube(count: int, dimension: int) -> Array:
            return sobol(count, dimension, rng) if method == "sobol" else rng.random((count, dimension))

        X, uniform = np.empty((n, self.dimension)), cube(n, len(self._unconstrained))
        for u, name in zip(uniform.T, self._unconstrained, strict=True):
            X[:, self._slices[name]] = self.parameters[name].spread(u)
        if self._sampler is not None:
            # Shuffled, because both parts may start from the same Sobol' sequence.
            X[:, self._coupled] = rng.permutation(self._sampler.sample(n, rng, cube))
        return X

    # Plain data

    def to_dict(self) -> dict[str, Any]:
        """The space as plain dictionaries and lists, for JSON and TOML."""
        parameters = {name: to_fields(parameter) for name, parameter in self.parameters.items()}
        plain = {"parameters": parameters, "constraints": list(self.constraints)}
        return plain | ({"candidates": list(map(dict, self.candidates))} if self.candidates else {})

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Space:
        """The space that `to_dict` wrote, or that a person wrote in JSON or TOML."""
        for key in given:
            if key not in KEYS:
                raise CbocError(f"unknown key '{key}' in a space; {did_you_mean(str(key), KEYS)}")
        if "parameters" not in given:
            raise CbocError("a space needs the key 'parameters', which is missing.")
        return cls(given["parameters"], given.get("constraints", ()), given.get("candidates", ()))

    # Internals

    @cached_property
    def _slices(self) -> dict[str, slice]:
        ends = np.cumsum([parameter.size for parameter in self.parameters.values()]).tolist()
        return {name: slice(end - p.size, end) for (name, p), end in zip(self.parameters.items(), ends, strict=True)}

    @cached_property
    def _levels(self) -> tuple[tuple[int, Array, Array], ...]:
        """Coordinate, levels and the midpoints between them."""
        grids = [(j, levels) for j, levels in enumerate(self.grid) if levels is not None]
        return tuple((j, levels, (levels[1:] + levels[:-1]) / 2) for j, levels in grids)

    def _snapped(self, x: Array) -> Array:  # (D,)
        """The nearest point of the cube, the grids and the options, ignoring the constraints."""
        snapped = np.minimum(np.maximum(x, 0.0), 1.0)
        for j, levels, midpoints in self._levels:
            snapped[j] = levels[midpoints.searchsorted(x[j])]
        for block, points in self.choices:
            snapped[block] = points[nearest_points(points, x[None, block])[0]]
        return snapped

    def _vector(self, x: ArrayLike) -> Array:  # (D,)
        vector = np.asarray(x, dtype=float)
        if vector.shape != (self.dimension,):
            raise CbocError(f"expected a vector of {self.dimension} unit coordinates, but got shape {vector.shape}.")
        return vector

    def _inside(self, X: Array) -> Array:  # (n, D)
        """X with rounding beyond the cube removed; anything further outside is an error."""
        inside = X.clip(0.0, 1.0)
        is_outside = ~(abs(X - inside) <= TOLERANCE)
        if is_outside.any():
            i, j = np.argwhere(is_outside)[0]
            raise CbocError(
                f"designs live in the unit cube; got x[{j}] = {X[i, j]:.6g} ({self.coordinates[j]}). "
                "Did you forget space.project or space.to_unit?"
            )
        return inside

    @cached_property
    def _constraints(self) -> tuple[Linear, ...]:
        parsed = tuple(map(parse, self.constraints))
        for constraint in parsed:
            for name in constraint.coefficients:
                self._check_linear(constraint.text, name)
        return parsed

    def _check_linear(self, text: str, name: str) -> None:
        if name not in self.parameters:
            raise CbocError(f"constraint '{text}': unknown parameter '{name}'; {did_you_mean(name, self.names)}")
        parameter = self.parameters[name]
        if parameter.is_choice:
            raise CbocError(f"constraint '{text}': '{name}' is a Choice, and options cannot be added up.")
        if parameter.axis.scale == "log":
            raise CbocError(
                f"constraint '{text}': '{name}' has a log scale, where a linear constraint is curved and a mix of "
                "feasible designs may violate it; make the scale linear."
            )

    def _unit_row(self, constraint: Linear) -> tuple[Array, float, float]:
        """Row, bound and norm of a·v <= c with v = low + width · x:  (a · width)·x <= c - a·low."""
        row, bound = np.zeros(self.dimension), constraint.bound
        with np.errstate(over="ignore", invalid="ignore"):  # looked at below
            for name, coefficient in constraint.coefficients.items():
                if (value := self.parameters[name].only) is not None:
                    bound -= coefficient * value
                    continue
                j = self._slices[name].start
                row[j] = coefficient * self.widths[j]
                bound -= coefficient * self.parameters[name].axis.low
            norm = float(np.linalg.norm(row))
        if not (0.0 < norm < np.inf and np.isfinite(bound)):
            raise CbocError(
                f"constraint '{constraint.text}' holds numbers that are too large or too small; choose another unit."
            )
        return row, bound, norm

    @cached_property
    def _coupled(self) -> NDArray[np.intp]:
        """The coordinates that are in a constraint."""
        A, _, E, _ = self.linear
        return np.flatnonzero(np.vstack([A, E]).any(axis=0))

    @cached_property
    def _unconstrained(self) -> tuple[str, ...]:
        """The parameters that are in no constraint."""
        return tuple(name for name in self.names if self._slices[name].start not in self._coupled)

    @cached_property
    def _polytope(self) -> Polytope | None:
        """The polytope of the constrained coordinates."""
        if not self.constraints:
            return None
        A, b, E, e = self.linear
        return Polytope(A[:, self._coupled], b, E[:, self._coupled], e, tuple(self.grid[j] for j in self._coupled))

    @cached_property
    def _sampler(self) -> Sampler | None:
        return None if self._polytope is None else Sampler(self._polytope)


def _named_parameters(given: Mapping[str, Any]) -> dict[str, Parameter]:
    if not isinstance(given, Mapping) or not given:
        raise CbocError(f"parameters are a dictionary such as {{'T': Float(20, 90)}}, but got {short(given)}.")
    if len(given) > MOST_COORDINATES:
        raise CbocError(f"a space has at most {MOST_COORDINATES:,} parameters; this has {len(given):,}.")
    for name in given:
        if not (isinstance(name, str) and name.isidentifier()):
            raise CbocError(f"a parameter's name is an identifier such as T or flow_rate, but got {short(name)}.")
        check_name("a parameter's name", name)
    return {name: _about(name, as_parameter, value) for name, value in given.items()}


def _about(name: str, function: Callable[[Any], _Result], value: object) -> _Result:
    """function(value), with the parameter's name in front of its error messages."""
    try:
        return function(value)
    except CbocError as error:
        raise CbocError(f"{name}: {error}") from None


def _check_feasible(polytope: Polytope, constraints: tuple[str, ...]) -> None:
    try:
        _ = polytope.anchor
    except Undecided:
        raise
    except CbocError:
        together = " and ".join(f"'{text}'" for text in constraints)
        raise CbocError(f"no design within the bounds satisfies {together}; relax a constraint or a bound.") from None


def _read_only(array: Array) -> Array:
    array.setflags(write=False)
    return array
