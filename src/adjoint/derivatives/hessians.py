"""Second derivatives of real-scalar-valued functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.api.argument_selection import Argnums, Selection, select
from adjoint.api.gradients import pullback_of_arguments, value_and_grad
from adjoint.derivatives.assembly import entry, from_entries, independent_copy
from adjoint.derivatives.jacobians import checked_reals, computed, unchanged, units
from adjoint.derivatives.unit_tangents import along_units, as_matrix
from adjoint.derivatives.without_point import also_without_point
from adjoint.diagnostics.public_function import public
from adjoint.errors import ArgumentError
from adjoint.fast.programs.tangents import along_of, pushed
from adjoint.levels.arguments.flat_leaves import Form, on_level
from adjoint.levels.current import current
from adjoint.levels.transforms import pushforward
from adjoint.rulekit import nested
from adjoint.runtime.results import with_zeros


@public
@also_without_point
def hessian(
    f: Callable[..., Any],
    /,
    *args: Any,
    mode: str | None = None,
    argnums: Argnums = None,
    has_aux: bool = False,
    **kwargs: Any,
) -> Any:
    """Second derivatives of a real-scalar-valued function by all pairs of numbers of its arguments.

    Parameters
    ----------
    f : callable
        Returns one real number.
    *args
        The point: real numbers and arrays, or structures of them. Without it, ``hessian(f)`` is the
        function of the point.
    mode : {None, "forward", "reverse"}
        The mode of the sweeps over the gradient, one per number of the arguments; by default the
        faster one. The result is the same. `f` runs once, on copies of the arguments.
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
        For one argument, an array of shape ``x.shape + x.shape``, in units of (result) /
        (argument)²; if the argument is a structure, a structure like it of structures like it. For
        several, a tuple of tuples: at ``[i][j]`` the derivative by argument ``i`` and argument
        ``j``. With `has_aux`, the pair of this and the second part.

    Raises
    ------
    NotScalarError
        `f` returned something other than one real number.

    Examples
    --------
    >>> hessian(lambda x: np.sum(x**3), np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    >>> hessian(lambda x, y: x * y**2, 2.0, 3.0)
    ((0.0, 6.0), (6.0, 4.0))
    """
    chosen = select(f, argnums, args, kwargs)
    places = chosen.wanted
    for place in places:
        checked_reals(Form(chosen.args[place]), place)
    if mode is None and not has_aux:
        found = _by_program(chosen)
        if found is not None:
            return found
    targets = tuple([place, *path] for place, path in chosen.targets)
    slope = value_and_grad(chosen.f, targets, has_aux=has_aux)

    def first(*xs: Any) -> tuple[Any, Any]:
        full = list(chosen.args)
        for place, x in zip(places, xs, strict=True):
            full[place] = x
        value, bars = slope(*full, **chosen.kwargs)
        return bars, value[1] if has_aux else None

    # copies: `f` may have captured the arguments, which are constants in its closure
    point = on_level(independent_copy, tuple(chosen.args[place] for place in places))
    by = tuple([places.index(place), *path] for place, path in chosen.targets)
    _, aux, columns = computed(first, point, {}, mode or "reverse", by, True)
    count = range(len(by))
    whole = tuple(tuple(columns[j][i] for j in count) for i in count)
    y = whole[0][0] if chosen.single else whole
    return (y, aux) if has_aux else y


def _by_program(chosen: Selection) -> Any:
    """Return a Hessian from products with the unit vectors; ``None`` without a program for them."""
    if any(path for _, path in chosen.targets):
        return None
    places = sorted({place for place, _ in chosen.targets})
    xs = [chosen.args[place] for place in places]
    found = along_units("hvp", chosen.f, chosen.args, chosen.kwargs, places)
    if found is None:
        return None
    firsts = dict(zip(places, np.cumsum([0, *map(np.size, xs)]), strict=False))
    order = [place for place, _ in chosen.targets]
    whole = tuple(
        tuple(
            as_matrix(found[places.index(i)], chosen.args[i], chosen.args[j], firsts[j])
            for j in order
        )
        for i in order
    )
    return whole[0][0] if chosen.single else whole


def gradient_and_products(
    f: Callable[..., Any], x: Any, kwargs: dict[str, Any]
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Return the gradient at `x`, which may be overwritten, and the function ``v ↦ (H v,)``: a
    Hessian is its own transpose."""

    def pulled() -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        return pullback_of_arguments(_slope(f, kwargs), (x,), {})

    along = None
    if current.level is None:
        along = along_of("hvp", f, (x,), kwargs, (0,), is_single=True)
    found = None if along is None else along((None,))
    if along is None or found is None:
        return pulled()
    along.commit()

    def product(v: Any) -> tuple[Any, ...]:
        pair = along((v,)) if current.level is None else None
        if pair is not None:
            return (pair[1],)
        with along.again():
            return pulled()[1](v)

    return found[0], product


def _slope(f: Callable[..., Any], kwargs: dict[str, Any]) -> Callable[[Any], Any]:
    """Return the gradient function of a function of one argument; zero where no path leads."""
    of_both = value_and_grad(f)

    def slope(x: Any) -> Any:
        return of_both(on_level(independent_copy, x), **kwargs)[1]  # `f` may overwrite its argument

    slope.__name__ = getattr(f, "__name__", type(f).__name__)
    return slope


@public
@also_without_point
def hvp(f: Callable[..., Any], x: Any, v: Any, /, **kwargs: Any) -> Any:
    """Product of the Hessian of `f` and a vector: forward over reverse, without the Hessian.

    Parameters
    ----------
    f : callable
        A function of one positional argument that returns one real number.
    x
        The point: a number, an array, a container, an object.
    v
        The vector, with the structure of `x`; ``None`` stands for zero.
    **kwargs
        Passed through, held constant.

    Returns
    -------
    The product, with the structure and the shapes of `x`. For many vectors at one point,
    ``linearize(grad(f), x)`` runs `f` only once.

    Raises
    ------
    NotScalarError
        `f` returned something other than one real number.
    ArgumentError
        `v` does not fit `x`.

    Examples
    --------
    >>> hvp(lambda x: np.sum(x**3), np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 6., 12.])
    >>> hvp(lambda x: x**3)(2.0, 1.0)  # without a point, a function of it
    12.0
    """
    return _gradient_and_product(f, x, v, kwargs)[1]


def _gradient_and_product(
    f: Callable[..., Any], x: Any, v: Any, kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """Return the gradient, and the product of the Hessian and `v`."""
    if current.level is None:
        found = pushed(f, (x,), (v,), kwargs, "hvp", is_single=True)
        if found is not None:
            return found  # type: ignore[no-any-return]
    return pushforward(_slope(f, kwargs), (x,), (v,))


@public
@also_without_point
def gradient_and_hvp(f: Callable[..., Any], x: Any, v: Any, /, **kwargs: Any) -> tuple[Any, Any]:
    """Gradient, and the product of the Hessian and a vector, in one pass.

    Parameters
    ----------
    f : callable
        A function of one positional argument that returns one real number.
    x
        The point: a number, an array, a container, an object.
    v
        The vector, with the structure of `x`; ``None`` stands for zero.
    **kwargs
        Passed through, held constant.

    Returns
    -------
    gradient, product
        Each with the structure and the shapes of `x`.

    Raises
    ------
    NotScalarError
        `f` returned something other than one real number.
    ArgumentError
        `v` does not fit `x`.

    Examples
    --------
    >>> gradient_and_hvp(lambda x: x**3, 2.0, 1.0)
    (12.0, 12.0)
    """
    return _gradient_and_product(f, x, v, kwargs)


@public
@also_without_point
def vhp(f: Callable[..., Any], x: Any, v: Any, /, **kwargs: Any) -> Any:
    """Product of a vector and the Hessian of `f`.

    Equal to `hvp`, because Hessians are symmetric. Where no program computes both, it takes reverse
    over forward mode; which of the two is faster then depends on `f`.

    Parameters
    ----------
    f : callable
        A function of one positional argument that returns one real number.
    x
        The point: a number, an array, a container, an object.
    v
        The vector, with the structure of `x`; ``None`` stands for zero.
    **kwargs
        Passed through, held constant.

    Returns
    -------
    The product, with the structure and the shapes of `x`.

    Raises
    ------
    NotScalarError
        `f` returned something other than one real number.
    ArgumentError
        `v` does not fit `x`.

    Examples
    --------
    >>> vhp(lambda x: x**3, 2.0, 0.5)
    6.0
    """

    if current.level is None:
        found = pushed(f, (x,), (v,), kwargs, "hvp", is_single=True)
        if found is not None:
            return found[1]
    form = Form(v)
    # copies: the point itself may also be the vector
    v = form.build([on_level(independent_copy, leaf) for leaf in form.leaves])

    def along(x: Any) -> Any:
        return pushforward(f, (on_level(independent_copy, x),), (v,), **kwargs)[
            1
        ]  # `f` may overwrite it

    along.__name__ = getattr(f, "__name__", type(f).__name__)
    return value_and_grad(along)(on_level(independent_copy, x))[1]


@public
@also_without_point
def hessian_diagonal(f: Callable[..., Any], x: Any, /, **kwargs: Any) -> Any:
    """Second derivatives of `f` by each number alone: the diagonal of its Hessian.

    It takes one sweep per number, and no matrix; `sparse_hessian` takes fewer where most of the
    Hessian is zero.

    Parameters
    ----------
    f : callable
        A function of one positional argument that returns one real number.
    x
        The point: real numbers and arrays, or a structure of them.
    **kwargs
        Passed through, held constant.

    Returns
    -------
    The diagonal, with the structure and the shapes of `x`.

    Raises
    ------
    NotScalarError
        `f` returned something other than one real number.

    Examples
    --------
    >>> hessian_diagonal(lambda x: np.sum(x**3), np.array([1.0, 2.0]))
    array([ 6., 12.])
    """
    x = on_level(independent_copy, x)
    form = checked_reals(Form(x), 0)
    slope, back = gradient_and_products(f, x, kwargs)
    slope_form = Form(slope)
    found = []
    for j, leaf in enumerate(form.leaves):
        entries = []
        for place, unit in zip(np.ndindex(np.shape(leaf)), units(leaf), strict=True):
            bar = form.split(back(slope_form.build({j: unit}))[0], "the cotangent")[j]
            entries.append(on_level(entry, with_zeros(leaf, bar), place))
        found.append(on_level(from_entries, entries, leaf))
    return with_zeros(x, form.build(found))


@public
@also_without_point
def gauss_newton_product(
    f: Callable[..., Any],
    x: Any,
    v: Any,
    /,
    loss: Callable[[Any], Any] | None = None,
    **kwargs: Any,
) -> Any:
    """Product of the Gauss-Newton matrix and a vector: ``Jᵀ H J v``.

    `J` is the Jacobian of `f`, and `H` the Hessian of `loss` at ``f(x)``. The product leaves out
    the curvature of `f` from the Hessian of ``loss(f(x))``.

    Parameters
    ----------
    f : callable
        A function of one positional argument: residuals, or outputs of a model.
    x
        The point.
    v
        The vector, with the structure of `x`; ``None`` stands for zero.
    loss : callable, optional
        A function of the result of `f`; by default half the sum of squares, whose Hessian is the
        identity.
    **kwargs
        Passed to `f`, held constant.

    Returns
    -------
    The product, with the structure and the shapes of `x`.

    Raises
    ------
    ArgumentError
        `f` changes its argument, or `v` does not fit `x`.

    References
    ----------
    Schraudolph, *Fast Curvature Matrix-Vector Products for Second-Order Gradient Descent*, Neural
    Computation 14 (2002).

    Examples
    --------
    >>> gauss_newton_product(lambda x: x**2, np.array([1.0, 3.0]), np.array([1.0, 1.0]))
    array([ 4., 36.])
    """
    before = [np.array(leaf) for leaf in Form(x).leaves]
    y, y_dot = pushforward(f, (x,), (v,), **kwargs)
    bar = y_dot if loss is None else hvp(loss, y, y_dot)
    if not all(map(unchanged, Form(x).leaves, before)):
        raise ArgumentError(
            "a function that changes what its argument holds has no Gauss-Newton product",
            hint="let it write into copies",
        )
    _, back = pullback_of_arguments(f, (x,), kwargs)
    return with_zeros(x, back(bar)[0])


nested.hessian = hessian
nested.hvp = hvp
nested.gradient_and_hvp = gradient_and_hvp
