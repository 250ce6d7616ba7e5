"""Sparse Jacobians and Hessians: rows or columns without common entries share a sweep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.api.gradients import pullback_of_arguments
from adjoint.derivatives.assembly import dtype_of, independent_copy, picked, sparse_of
from adjoint.derivatives.colouring import colours, detected
from adjoint.derivatives.hessians import _slope, gradient_and_products
from adjoint.derivatives.jacobians import FAVOUR
from adjoint.derivatives.linear_map import linearized
from adjoint.derivatives.without_point import also_without_point
from adjoint.diagnostics.public_function import public
from adjoint.errors import ArgumentError
from adjoint.levels.arguments.flat_leaves import on_level


@public
@also_without_point
def sparse_jacobian(
    f: Callable[..., Any],
    x: Any,
    /,
    *,
    pattern: Any = None,
    mode: str | None = None,
    **kwargs: Any,
) -> Any:
    """Jacobian of a function from one array to another, as a sparse array.

    Rows (or columns) that have no column (row) in common are computed by one sweep: a banded
    Jacobian takes about as many sweeps as its band is wide, whatever its size.

    Parameters
    ----------
    f : callable
        A function of one positional argument that returns a real array of any shape.
    x : array
        The point, real, of any shape.
    pattern : array or sparse array, optional
        Of shape ``(y.size, x.size)``, nonzero wherever the Jacobian may be: for instance an earlier
        result. By default it is detected at this point.
    mode : {None, "forward", "reverse"}
        Whether columns or rows share sweeps; by default the faster one.
    **kwargs
        Passed through, held constant.

    Returns
    -------
    scipy.sparse.csr_array
        Of shape ``(y.size, x.size)``, in units of (result) / (argument), arrays in C order. It
        stores the entries of the pattern; detected ones are nonzero at this point, and others may
        be elsewhere.

    Raises
    ------
    ArgumentError
        The argument or the result is no real array, or the Jacobian has entries outside `pattern`.

    Notes
    -----
    Detection multiplies random vectors with the Jacobian, from coarse blocks of rows to fine ones:
    a few sweeps for each halving. It finds every entry that is not lost to rounding in a sum. The
    result is always compared with another product; a detected pattern that fails is replaced by all
    entries, one sweep for each.

    Examples
    --------
    >>> sparse_jacobian(lambda x: x[1:] - x[:-1], np.zeros(3)).toarray()
    array([[-1.,  1.,  0.],
           [ 0., -1.,  1.]])
    """
    if mode not in (None, "forward", "reverse"):
        raise ArgumentError(
            f"mode is {mode!r}", hint='give "forward", "reverse", or None for what is faster'
        )
    return _Sparse(f, _point(x), kwargs).matrix(pattern, mode)


@public
@also_without_point
def sparse_hessian(f: Callable[..., Any], x: Any, /, *, pattern: Any = None, **kwargs: Any) -> Any:
    """Hessian of a real-scalar-valued function of one array, as a sparse array.

    Parameters
    ----------
    f : callable
        A function of one positional argument that returns one real number.
    x : array
        The point, real, of any shape.
    pattern : array or sparse array, optional
        Of shape ``(x.size, x.size)``, one triangle is enough; by default it is detected, see
        `sparse_jacobian`.
    **kwargs
        Passed through, held constant.

    Returns
    -------
    scipy.sparse.csr_array
        Of shape ``(x.size, x.size)``, in units of (result) / (argument)².

    Raises
    ------
    ArgumentError
        The argument is no real array, or the Hessian has entries outside `pattern`.
    NotScalarError
        `f` returned something other than one real number.

    Examples
    --------
    >>> sparse_hessian(lambda x: np.sum(x[1:] * x[:-1]), np.ones(3)).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    x = on_level(independent_copy, _point(x))
    hessian = _Sparse(_slope(f, kwargs), x, {}, gradient_and_products(f, x, kwargs))
    return hessian.matrix(pattern, "reverse", symmetric=True)


def _point(x: Any) -> Any:
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fiu":
        what = f"an array of {x.dtype}" if isinstance(x, np.ndarray) else f"a {type(x).__name__}"
        raise ArgumentError(
            f"a sparse Jacobian is taken in one real array, not in {what}",
            hint="ad.flatten makes one vector of any structure",
        )
    return x if x.dtype.kind == "f" else x.astype(float)


class _Sparse:
    """One Jacobian: its function, its point, and the sweeps prepared so far."""

    def __init__(
        self, f: Callable[..., Any], x: Any, kwargs: dict[str, Any], pulled: Any = None
    ) -> None:
        self._f, self._x, self._kwargs = f, x, kwargs
        self._before = x.copy()
        self._back: Any
        self._y, self._back = pulled or pullback_of_arguments(f, (x,), kwargs)
        self._push: Any = None
        if not isinstance(self._y, np.ndarray) or self._y.dtype.kind != "f":
            raise ArgumentError(
                "a sparse Jacobian is of a function that returns one real array",
                hint="return np.array([...]), or use jacobian",
            )
        self.m, self.n = self._y.size, x.size

    def matrix(self, pattern: Any, mode: str | None, *, symmetric: bool = False) -> Any:
        """Return the Jacobian as a sparse array; a symmetric one needs a pattern of one
        triangle."""
        rows = None if pattern is None else _given(pattern, self.m, self.n)
        if rows is not None and symmetric:
            rows = [np.union1d(*both) for both in zip(rows, _turned(rows, self.n), strict=True)]
        if rows is None and (mode == "forward" or (mode is None and self.m > FAVOUR * self.n)):
            rows = _turned(detected(self._down, self.n, self.m), self.m)
        elif rows is None:
            rows = detected(self._up, self.m, self.n)
        data, rows = self._checked_entries(rows, mode, given=pattern is not None)
        lengths = np.array([len(row) for row in rows], np.intp)
        columns = np.concatenate(rows) if rows else np.zeros(0, np.intp)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return on_level(sparse_of, data, columns, starts, (self.m, self.n))

    # ---- sweeps ----------------------------------------------------------------------------------

    def _pulled(self, weights: Any) -> Any:
        """Return the product of a vector and the Jacobian."""
        bar = self._back(np.reshape(weights, self._y.shape).astype(self._y.dtype))[0]
        return np.zeros(self._x.shape, self._x.dtype) if bar is None else bar

    def _pushed(self, weights: Any) -> Any:
        """Return the product of the Jacobian and a vector."""
        if self._push is None:
            if not np.array_equal(self._x, self._before, equal_nan=True):
                raise ArgumentError(
                    "a function that overwrites its argument has its sparse Jacobian by rows only",
                    hint='mode="reverse", or let it write into a copy',
                )
            self._push = linearized(self._f, (self._x,), self._kwargs)[1]
        dot = np.reshape(weights, self._x.shape).astype(self._x.dtype)
        return self._push.pushed([dot])[0]

    def _up(self, weights: Any) -> Any:
        return np.ravel(self._pulled(weights))

    def _down(self, weights: Any) -> Any:
        return np.ravel(self._pushed(weights))

    # ---- entries ---------------------------------------------------------------------------------

    def _checked_entries(
        self, rows: list[Any], mode: str | None, *, given: bool
    ) -> tuple[Any, list[Any]]:
        data = self._entries(rows, mode)
        if self._is_whole(data, rows):
            return data, rows
        if given:
            raise ArgumentError(
                "the Jacobian has entries outside the pattern",
                hint="leave the pattern away, and it is detected at the point",
            )
        rows = [np.arange(self.n)] * self.m
        return self._entries(rows, mode), rows

    def _entries(self, rows: list[Any], mode: str | None) -> Any:
        """Return the entries, row by row."""
        by_row = colours(rows, self.n)
        by_column = colours(_turned(rows, self.n), self.m) if mode != "reverse" else []
        fewer = max(by_row, default=0) > FAVOUR * (max(by_column, default=0) + 1)
        of_rows, of_columns = _indices(rows)
        dtype = dtype_of(self._y, self._x)
        if not of_rows.size:
            return np.zeros(0, dtype)
        if mode == "forward" or (mode is None and fewer):
            sweeps = [self._pushed(np.equal(by_column, c)) for c in range(max(by_column) + 1)]
            first, second = np.array(by_column)[of_columns], of_rows
        else:
            sweeps = [self._pulled(np.equal(by_row, c)) for c in range(max(by_row) + 1)]
            first, second = np.array(by_row)[of_rows], of_columns
        return on_level(picked, sweeps, first, second, dtype)

    def _is_whole(self, data: Any, rows: list[Any]) -> bool:
        """Return whether another product agrees with the entries."""
        weights = np.random.default_rng(1).uniform(1.0, 2.0, self.m)
        expected = np.asarray(self._up(weights), float)
        found, size = np.zeros(self.n), np.zeros(self.n)
        of_rows, of_columns = _indices(rows)
        terms = np.asarray(data, float) * weights[of_rows]
        np.add.at(found, of_columns, terms)
        np.add.at(size, of_columns, np.abs(terms))
        eps = max(np.finfo(self._y.dtype).eps, np.finfo(self._x.dtype).eps)
        finite = np.isfinite(expected) & np.isfinite(found)
        error = np.abs(expected - found)[finite]
        return bool(np.all(error <= eps**0.5 * size[finite]))


def _given(pattern: Any, m: int, n: int) -> list[Any]:
    if np.shape(pattern) != (m, n):
        raise ArgumentError(
            f"the pattern has shape {np.shape(pattern)}, the Jacobian has shape {(m, n)}",
            hint="one row for each number of the result, one column for each of the argument",
        )
    of_rows, of_columns = pattern.nonzero() if hasattr(pattern, "nonzero") else np.nonzero(pattern)
    return _grouped(of_rows, of_columns, m)


def _turned(rows: list[Any], n: int) -> list[Any]:
    """Return the rows of each column."""
    of_rows, of_columns = _indices(rows)
    return _grouped(of_columns, of_rows, n)


def _indices(rows: list[Any]) -> tuple[Any, Any]:
    """Return the row and the column of each entry, row by row."""
    of_rows = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    return of_rows, np.concatenate([np.zeros(0, np.intp), *rows])


def _grouped(first: Any, second: Any, count: int) -> list[Any]:
    order = np.lexsort((second, first))
    if not count:
        return []
    return np.split(np.asarray(second)[order], np.cumsum(np.bincount(first, minlength=count))[:-1])
