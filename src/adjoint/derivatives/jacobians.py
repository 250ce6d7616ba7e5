"""Jacobians: one sweep per row or per column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adjoint.api.argument_selection import Argnums, Selection, inside, select, split_aux
from adjoint.api.gradients import pullback_of_arguments
from adjoint.derivatives.assembly import block, complex_row, conjugate
from adjoint.derivatives.linear_map import linearized
from adjoint.derivatives.unit_tangents import along_units, as_matrix
from adjoint.derivatives.without_point import also_without_point
from adjoint.diagnostics.public_function import public
from adjoint.errors import ArgumentError
from adjoint.levels.arguments.flat_leaves import Form, is_real_leaf, on_level
from adjoint.rulekit import nested

FAVOUR = 6
"""The number of reverse sweeps that take as long as one forward sweep."""


@public
@also_without_point
def jacobian(
    f: Callable[..., Any],
    /,
    *args: Any,
    mode: str | None = None,
    argnums: Argnums = None,
    has_aux: bool = False,
    **kwargs: Any,
) -> Any:
    """Derivative of every number of a result by every number of the arguments.

    Parameters
    ----------
    f : callable
        Its result may be a number, an array of any shape, or a structure of such.
    *args
        The point: numbers and arrays, or structures of them. Without it, ``jacobian(f)`` is the
        function of the point.
    mode : {None, "forward", "reverse"}
        One sweep per entry of the arguments, or one per entry of the result; by default the cheaper
        one. The result is the same. `f` runs once, or twice where the default turns out to be
        forward. Options are not passed on: wrap a function with a keyword of the same name.
    argnums : int, str, list or tuple, optional
        The arguments to differentiate in: a position, the name of a parameter (that of a keyword
        argument, too), a path ``[position or name, key, …]`` into containers and objects, or a
        tuple of these. By default all positional ones.
    has_aux : bool
        `f` returns a pair; only its first part is differentiated, the second is returned as it is.
    **kwargs
        Passed through, held constant.

    Returns
    -------
    array or structure
        For one argument, the Jacobian: an array of shape ``y.shape + x.shape``, in units of
        (result) / (argument), zero where no path leads; a number if both are numbers. If the result
        is a structure, a structure like it with a Jacobian for each number or array; if the
        argument is a structure, each of these is a structure like the argument. For several
        arguments, a tuple with one such result for each. A complex result has a complex Jacobian.
        In complex arguments it is the complex derivative, ``dy = J @ dz``, of a holomorphic
        function. With `has_aux`, the pair of this and the second part.

    Raises
    ------
    ArgumentError
        The arguments or the result hold no numbers; or an argument is complex and the function is
        not holomorphic there (`flatten` makes a real vector of complex numbers).

    Examples
    --------
    >>> jacobian(lambda x: x**2, np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    >>> jacobian(lambda x, y: x * y, 2.0, 3.0)
    (3.0, 2.0)
    """
    _, aux, found = computed(f, args, kwargs, mode, argnums, has_aux)
    return (found, aux) if has_aux else found


@public
@also_without_point
def jacobian_forward(f: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
    """`jacobian` with ``mode="forward"``: one sweep per entry of the arguments.

    It is the cheaper one where the result has far more entries than the arguments, and needs no
    memory for a reverse sweep.

    Parameters
    ----------
    f : callable
        As for `jacobian`.
    *args
        The point; without it, the result is a function of the point.
    **options
        ``argnums`` and ``has_aux``, as for `jacobian`; all others are keyword arguments of `f`,
        held constant.

    Returns
    -------
    array or structure
        As of `jacobian`: for arrays, of shape ``y.shape + x.shape``.

    Raises
    ------
    ArgumentError
        The arguments or the result hold no numbers.

    Examples
    --------
    >>> jacobian_forward(lambda t: np.array([t, t**2, t**3]), 2.0)
    array([ 1.,  4., 12.])
    """
    _, aux, found = _with_options(f, args, {**options, "mode": "forward"})
    return (found, aux) if options.get("has_aux") else found


@public
@also_without_point
def jacobian_reverse(f: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
    """`jacobian` with ``mode="reverse"``: one sweep per entry of the result.

    It is the cheaper one where the arguments have more entries than the result.

    Parameters
    ----------
    f : callable
        As for `jacobian`.
    *args
        The point; without it, the result is a function of the point.
    **options
        ``argnums`` and ``has_aux``, as for `jacobian`; all others are keyword arguments of `f`,
        held constant.

    Returns
    -------
    array or structure
        As of `jacobian`: for arrays, of shape ``y.shape + x.shape``.

    Raises
    ------
    ArgumentError
        The arguments or the result hold no numbers.

    Examples
    --------
    >>> jacobian_reverse(lambda x: x[0] * x[1] + x[2], np.array([2.0, 3.0, 4.0]))
    array([3., 2., 1.])
    """
    _, aux, found = _with_options(f, args, {**options, "mode": "reverse"})
    return (found, aux) if options.get("has_aux") else found


@public
@also_without_point
def value_and_jacobian(f: Callable[..., Any], /, *args: Any, **options: Any) -> tuple[Any, Any]:
    """Result of a function and its `jacobian`.

    Parameters
    ----------
    f : callable
        As for `jacobian`.
    *args
        The point; without it, the result is a function of the point.
    **options
        ``mode``, ``argnums`` and ``has_aux``, as for `jacobian`; all others are keyword arguments
        of `f`, held constant.

    Returns
    -------
    y
        The result of `f`; with ``has_aux`` the pair that it returns.
    jac : array or structure
        As of `jacobian`.

    Raises
    ------
    ArgumentError
        The arguments or the result hold no numbers.

    Examples
    --------
    >>> value_and_jacobian(lambda x: x**2, np.array([1.0, 3.0]))
    (array([1., 9.]), array([[2., 0.],
           [0., 6.]]))
    """
    y, aux, found = _with_options(f, args, options)
    return ((y, aux) if options.get("has_aux") else y), found


def _with_options(
    f: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, Any, Any]:
    given = {"mode": None, "argnums": None, "has_aux": False}
    kwargs = {name: value for name, value in options.items() if name not in given}
    given.update((name, options[name]) for name in given if name in options)
    return computed(f, args, kwargs, **given)  # type: ignore[arg-type]


def computed(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    mode: str | None,
    argnums: Argnums,
    has_aux: bool,
) -> tuple[Any, Any, Any]:
    """Return the value, the extra, and the Jacobian."""
    if mode not in (None, "forward", "reverse"):
        raise ArgumentError(
            f"mode is {mode!r}", hint='give "forward", "reverse", or None for what is faster'
        )
    chosen = select(f, argnums, args, kwargs)
    forms = {i: checked(Form(chosen.args[i]), i) for i in chosen.wanted}
    if not forms:
        raise ArgumentError("there is no argument", hint="give the point: jacobian(f, x)")
    y, aux, parts = None, None, None
    if mode != "forward":
        before = _copies(chosen)
        whole, back = pullback_of_arguments(chosen.f, chosen.args, chosen.kwargs, tuple(forms))
        y, aux = split_aux(f, whole, has_aux)
        y_form = _result(Form(y))
        if mode == "reverse" or not _forward_pays(chosen, forms, y_form, before):
            parts = _rows(back, y_form, forms, has_aux)
    if parts is None:
        whole, push = linearized(chosen.f, chosen.args, chosen.kwargs, forms)
        y, aux = split_aux(f, whole, has_aux)
        y_form = _result(Form(y))
        parts = None if has_aux else _columns_at_once(y_form, forms, chosen)
        if parts is None:
            parts = _columns(push, y_form, forms, chosen)
        if mode is None and not all(np.all(np.isfinite(part)) for part in parts.values()):
            parts = _rows(back, y_form, forms, has_aux)  # may use other bases (`levels.bases`)
    found = []
    for i, path in chosen.targets:
        whole = [forms[i].build(parts[k, i]) for k in range(len(y_form.leaves))]
        found.append(y_form.build([inside(part, path) for part in whole]))
    return y, aux, found[0] if chosen.single else tuple(found)


def checked(form: Form, position: int) -> Form:
    """Return `form`, if it has numbers; refuse it otherwise."""
    if not form.leaves:
        raise ArgumentError(
            f"argument {position} holds no numbers", hint="choose others by argnums"
        )
    return form


def checked_reals(form: Form, position: int) -> Form:
    """Return `form`, if it has only real numbers; refuse it otherwise."""
    if any(np.iscomplexobj(leaf) for leaf in form.leaves):
        raise ArgumentError(
            f"argument {position} is complex; second derivatives are by real numbers",
            hint="ad.flatten makes one real vector of real and imaginary parts",
        )
    return checked(form, position)


def _result(form: Form) -> Form:
    if not form.leaves:
        raise ArgumentError("the result holds no numbers", hint="return numbers or arrays")
    return form


def _forward_pays(
    chosen: Selection, forms: dict[int, Form], y_form: Form, before: list[Any]
) -> bool:
    """Return whether there are far fewer columns than rows, and `f` may run again."""
    sweeps = sum(np.size(y) * (2 if np.iscomplexobj(y) else 1) for y in y_form.leaves)
    if sweeps <= FAVOUR * sum(form.size for form in forms.values()) + FAVOUR:
        return False
    after = _copies(chosen)
    return len(after) == len(before) and all(map(unchanged, after, before))


def _copies(chosen: Selection) -> list[Any]:
    """Copy all numbers that `f` is given or has captured, because it may change them."""
    return [np.array(x) for x in Form([chosen.f, chosen.args, chosen.kwargs]).leaves]


def unchanged(a: Any, b: Any) -> bool:
    """Return whether two numbers or arrays are equal."""
    return np.shape(a) == np.shape(b) and np.array_equal(a, b, equal_nan=True)


# ---- sweeps --------------------------------------------------------------------------------------


def _rows(
    back: Any, y_form: Form, forms: dict[int, Form], has_aux: bool
) -> dict[tuple[int, int], list[Any]]:
    """Return the derivatives by leaf of the result and argument, from cotangents."""

    def row(k: int, one: Any) -> dict[int, list[Any]]:
        bar = y_form.build({k: one})
        bars = back((bar, None) if has_aux else bar)
        return {i: form.split(bars[i], "the cotangent") for i, form in forms.items()}

    parts = {}
    for k, y in enumerate(y_form.leaves):
        rows: list[Any] = []
        if _is_moved(y, forms):
            rows = [row(k, one) for one in units(y)]
        if np.iscomplexobj(y):
            others = [row(k, one) for one in units(y, 1j)]
            rows = [_joined(a, b, forms) for a, b in zip(rows, others, strict=True)]
        else:
            for found in rows:
                _refuse_complex(found, forms)
        for i, form in forms.items():
            parts[k, i] = [
                block([row[i][j] for row in rows] or [None], y, x, True)
                for j, x in enumerate(form.leaves)
            ]
    return parts


def _is_moved(y: Any, forms: dict[int, Form]) -> bool:
    """Return whether a number of the result may have a derivative: no integer in reals."""
    return is_real_leaf(y) or not all(
        is_real_leaf(x) for form in forms.values() for x in form.leaves
    )


def _joined(
    real: dict[int, list[Any]], imaginary: dict[int, list[Any]], forms: dict[int, Form]
) -> dict[int, list[Any]]:
    """Return the row of a complex entry from the cotangents of its two parts."""
    joined: dict[int, list[Any]] = {}
    for i, form in forms.items():
        joined[i] = []
        for x, a, b in zip(form.leaves, real[i], imaginary[i], strict=True):
            if a is None and b is None:
                joined[i].append(None)
                continue
            a, b = 0.0 if a is None else a, 0.0 if b is None else b
            if np.iscomplexobj(x):
                _demand_holomorphic(a, b, i)
                joined[i].append(on_level(conjugate, a))
            else:
                joined[i].append(on_level(complex_row, a, b))
    return joined


def _refuse_complex(row: dict[int, list[Any]], forms: dict[int, Form]) -> None:
    """Refuse a real result that depends on complex arguments: it is not holomorphic in them."""
    for i, form in forms.items():
        for x, bar in zip(form.leaves, row[i], strict=True):
            if np.iscomplexobj(x) and bar is not None:
                _demand_holomorphic(bar, 0.0, i)


def _demand_holomorphic(along_one: Any, along_i: Any, position: int) -> None:
    """Refuse derivatives along 1 and i that are no product with one complex number."""
    off = np.abs(np.asarray(along_i) - 1j * np.asarray(along_one))
    size = np.max(np.abs(along_one), initial=0.0) + np.max(np.abs(along_i), initial=0.0)
    eps = np.finfo(off.dtype).eps
    if np.any(off > np.sqrt(eps) * size):
        raise ArgumentError(
            f"argument {position} is complex, and the function is not holomorphic there: it has no"
            " complex derivative",
            hint="take the Jacobian in real and imaginary parts, of which ad.flatten makes one real"
            " vector; of a real result, ad.gradient",
        )


def _columns(
    push: Any, y_form: Form, forms: dict[int, Form], chosen: Selection
) -> dict[tuple[int, int], list[Any]]:
    """Return the derivatives by leaf of the result and argument, from tangents."""
    parts: dict[tuple[int, int], list[Any]] = {
        (k, i): [] for k in range(len(y_form.leaves)) for i in forms
    }
    counts = [len(form.leaves) for form in push.forms]
    for i, form in forms.items():
        for j, x in enumerate(form.leaves):
            place = sum(counts[:i]) + j
            dots: list[Any] = [None] * sum(counts)
            columns = []
            for one in units(x):
                dots[place] = one
                columns.append(push.pushed(dots))
            turned = []
            if np.iscomplexobj(x):
                for one in units(x, 1j):
                    dots[place] = one
                    turned.append(push.pushed(dots))
            for k, y in enumerate(y_form.leaves):
                moved = _is_moved(y, forms)
                found = [column[k] if moved else None for column in columns]
                for one, other in zip(columns, turned, strict=False):
                    if moved:
                        _demand_holomorphic(one[k], other[k], i)
                parts[k, i].append(block(found or [None], y, x, False))
    return parts


def _columns_at_once(
    y_form: Form, forms: dict[int, Form], chosen: Selection
) -> dict[tuple[int, int], list[Any]] | None:
    """Do the same by a program that takes all unit tangents at once; ``None`` without one."""
    places = sorted(forms)
    found = along_units("pushforward", chosen.f, chosen.args, chosen.kwargs, places)
    if found is None or len(found) != len(y_form.leaves):
        return None
    parts: dict[tuple[int, int], list[Any]] = {}
    first = 0
    for i in places:
        for k, y in enumerate(y_form.leaves):
            if np.shape(found[k])[1:] != np.shape(y) or not is_real_leaf(y):
                return None
            parts[k, i] = [as_matrix(found[k], y, chosen.args[i], first)]
        first += np.size(chosen.args[i])
    return parts


def units(leaf: Any, one: complex = 1.0) -> Iterator[Any]:
    """Yield the unit vectors of a number or an array."""
    if not isinstance(leaf, np.ndarray):
        yield np.asarray(one, leaf.dtype)[()] if isinstance(leaf, np.inexact) else one
        return
    dtype = leaf.dtype if leaf.dtype.kind in "fc" else np.dtype(float)
    for index in np.ndindex(leaf.shape):
        unit = np.zeros(leaf.shape, dtype)
        unit[index] = one
        yield unit


nested.jacobian = jacobian
nested.jacobian_forward = jacobian_forward
