"""The derivative of a function at a point as a reusable linear map."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.function_argument import demand_point
from adjoint.diagnostics.public_function import public
from adjoint.errors import ArgumentError, MutationError
from adjoint.fast.programs.tangents import Along, along_of
from adjoint.levels import bridge, level_rules  # noqa: F401  they register themselves
from adjoint.levels.arguments.flat_leaves import Form
from adjoint.levels.arguments.seeds import Seeds
from adjoint.levels.arguments.tangent_checks import check_tangent
from adjoint.levels.current import current, entered
from adjoint.levels.replay import Recording, Replay
from adjoint.primal.engine_object import EngineObject
from adjoint.runtime.entries import basics
from adjoint.runtime.foreign.freed_objects import check_at_end
from adjoint.runtime.memory.independence import independent_arguments
from adjoint.runtime.session import leaving, session


class Linear(EngineObject):
    """``(*x_dots) ↦ y_dot`` at one point, as `linearize` returns it."""

    __slots__ = ("_call", "_f", "_push", "forms", "y_form")

    forms: list[Form]
    y_form: Form

    def __init__(
        self, f: Any, forms: list[Form], y_form: Form, push: Callable[[Sequence[Any]], list[Any]]
    ) -> None:
        self._f, self._push = f, push
        self.forms, self.y_form = forms, y_form
        self._call: tuple[tuple[Any, ...], dict[str, Any]] | None = None
        """The arguments of `linearize`."""

    def __repr__(self) -> str:
        return f"d({getattr(self._f, '__name__', None) or type(self._f).__name__})"

    def __reduce__(self) -> Any:
        """Pickle the function and the point: the receiver linearizes again."""
        args, kwargs = self._call or ((), {})
        if self._call is None or not self._is_repeatable(args, kwargs):
            raise ArgumentError(
                f"{self!r} cannot be pickled: another run of the function, with the arguments as"
                " they are now, does something else",
                hint="send the function and its arguments, and call ad.linearize there",
            )
        return _linear_map, (self._f, args, kwargs)

    def _is_repeatable(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Return whether `f` gives the same result again, and leaves its arguments alone."""
        args, kwargs = copy.deepcopy((args, kwargs))
        before = [np.array(leaf) for leaf in Form([args, kwargs]).leaves]
        y = self._f(*args, **kwargs)
        pairs = [(before, Form([args, kwargs]).leaves), (self.y_form.leaves, Form(y).leaves)]
        return all(len(a) == len(b) and all(map(_is_equal, a, b)) for a, b in pairs)

    @public
    def __call__(self, *tangents: Any) -> Any:
        """Push tangents of the arguments forward.

        Parameters
        ----------
        *tangents
            One for each positional argument, with its structure; ``None`` stands for zero.

        Returns
        -------
        The derivative of the result along the tangents, with the structure of the result; zero
        where no path leads.

        Raises
        ------
        ArgumentError
            A tangent does not fit its argument.
        """
        if len(tangents) != len(self.forms):
            raise ArgumentError(
                f"there are {len(self.forms)} arguments and {len(tangents)} tangents",
                hint="give one tangent for each positional argument, None for zero",
            )
        dots = [
            dot
            for i, (form, tangent) in enumerate(zip(self.forms, tangents, strict=True))
            for dot in form.split(tangent, f"tangent {i}")
        ]
        return self.y_form.build(self.pushed(dots))

    def pushed(self, dots: Sequence[Any]) -> list[Any]:
        """Return the tangents of the leaves of the result from those of the arguments."""
        return self._push(dots)


class _ByReplay(EngineObject):
    """Tangents of the leaves of a result by replay of recorded operations."""

    __slots__ = ("_leaves", "_recording", "_y_leaves")

    def __init__(self, recording: Recording, leaves: list[Any], y_leaves: list[Any]) -> None:
        self._recording, self._leaves, self._y_leaves = recording, leaves, y_leaves

    def __call__(self, dots: Sequence[Any]) -> list[Any]:
        replay = Replay(self._recording, current.level)
        with leaving, session:
            for leaf, dot in zip(self._leaves, dots, strict=True):
                if dot is not None and leaf is not None:
                    check_tangent(leaf, dot)
                    replay.deposit(leaf, dot if isinstance(leaf, np.ndarray) else _real(dot))
            replay.run_all()
            return [_read(replay, leaf) for leaf in self._y_leaves]


class _ByProgram(EngineObject):
    """Tangents of the leaves of a result by a specialised program.

    `otherwise` makes the replay that takes tangents which the program does not.
    """

    __slots__ = ("_along", "_forms", "_otherwise", "_replay", "_y_form")

    def __init__(
        self, along: Along, forms: list[Form], y_form: Form, otherwise: Callable[[], Linear]
    ) -> None:
        self._along, self._forms, self._y_form = along, forms, y_form
        self._otherwise = otherwise
        self._replay: Linear | None = None

    def __call__(self, dots: Sequence[Any]) -> list[Any]:
        if current.level is None and self._replay is None:
            rest = iter(dots)
            given = [form.build([next(rest) for _ in form.leaves]) for form in self._forms]
            found = self._along(given)
            if found is not None:
                return self._y_form.split(found[1], "the tangent")
        if self._replay is None:
            self._replay = self._otherwise()
        return self._replay.pushed(dots)


def _real(dot: Any) -> Any:
    return float(dot) if isinstance(dot, int | np.integer) else dot


def _read(replay: Replay, y: Any) -> Any:
    dot = replay.tangent(y)
    if type(dot) is Poison:
        raise dot.error
    if isinstance(y, np.ndarray):
        dtype = y.dtype if y.dtype.kind in "fc" else float
        return np.zeros(y.shape, dtype) if dot is None else replay.below(np.array, dot)
    if dot is not None:
        return dot
    return y * 0.0 if isinstance(y, complex | np.inexact) else 0.0


def linearized(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    wanted: Collection[int] | None = None,
) -> tuple[Any, Linear]:
    """Return `linearize` with respect to the arguments `wanted`, or to all (``None``)."""
    if current.level is None:
        found = _by_program(f, args, kwargs, wanted)
        if found is not None:
            return found
    return _recorded(f, args, kwargs, wanted)


def _by_program(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    wanted: Collection[int] | None,
) -> tuple[Any, Linear] | None:
    """Return `linearize` by a specialised program; ``None`` if there is none."""
    forms = [Form(arg) for arg in args]
    places = [i for i, form in enumerate(forms) if form.leaves and (wanted is None or i in wanted)]
    along = along_of("pushforward", f, args, kwargs, tuple(places)) if places else None
    found = None if along is None else along([None] * len(args))
    if along is None or found is None:
        return None
    along.commit()
    y = found[0]
    y_form = Form(y)

    def otherwise() -> Linear:
        if not along.is_unchanged():
            name = getattr(f, "__name__", None) or type(f).__name__
            raise MutationError(
                f"what '{name}' reads has changed since it was linearized",
                hint="call linearize again: it has to run once more for tangents of another dtype,"
                " or inside another derivative",
            )
        with along.again():
            return _recorded(f, args, kwargs, wanted)[1]

    return y, Linear(f, forms, y_form, _ByProgram(along, forms, y_form, otherwise))


def _recorded(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    wanted: Collection[int] | None,
) -> tuple[Any, Linear]:
    """Return `linearize` by a run on a level that records operations."""
    if not basics.ready:
        basics.load()
    level = Recording(current.level)
    forms = [Form(arg) for arg in args]
    chosen = [wanted is None or i in wanted for i in range(len(args))]
    ones = [
        form.build([*map(_one_like, form.leaves)]) if use else None
        for form, use in zip(forms, chosen, strict=True)
    ]
    args, apart = independent_arguments(f, args, kwargs, wanted)
    with leaving, session, entered(level), Seeds(level, level.seed, apart) as seeds:
        own = [seeds.argument(arg, dot) for arg, dot in zip(args, ones, strict=True)]
        leaves: list[Any] = []
        for arg, use in zip(own, chosen, strict=True):
            found = Form(arg).leaves
            leaves += found if use else [None] * len(found)
        y = level.run(f, *own, **kwargs)
        check_at_end(level.memory)
        y_form = Form(y)
        linear = Linear(f, forms, y_form, _ByReplay(level, leaves, y_form.leaves))
    return seeds.restored(y), linear


def _one_like(leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray):
        return np.ones(leaf.shape, leaf.dtype if leaf.dtype.kind in "fc" else float)
    return leaf.dtype.type(1) if isinstance(leaf, np.inexact) else 1.0


@public
def linearize(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, Linear]:
    """Value of a function, and its derivative at that point as a linear map.

    The function runs once. Each use of the map replays the recorded operations and applies only
    forward rules again, those of users included. `pullback` is the counterpart for cotangents.

    Parameters
    ----------
    f : callable
        Any Python function, method, class or callable object.
    *args
        The point: numbers, arrays, containers, objects.
    **kwargs
        Passed through, held constant.

    Returns
    -------
    y
        ``f(*args, **kwargs)``.
    push : Linear
        ``push(*x_dots)`` returns the derivative of `y` along the tangents, with the structure and
        the shapes of `y`. Between two calls the caller must not change the arrays that `f` has
        used or returned.

    Raises
    ------
    UnsupportedSyntaxError
        `f`, or a function that it calls, contains syntax that is not differentiated.

    Examples
    --------
    >>> y, push = linearize(lambda x, y: x * y, 3.0, 4.0)
    >>> y, push(1.0, None), push(1.0, 1.0)
    (12.0, 4.0, 7.0)
    """
    demand_point(f, len(args) + len(kwargs), "linearize")
    y, push = linearized(f, args, kwargs)
    push._call = args, kwargs
    return y, push


def _linear_map(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Linear:
    return linearize(f, *args, **kwargs)[1]


def _is_equal(a: Any, b: Any) -> bool:
    is_inexact = np.asarray(a).dtype.kind in "fc" and np.asarray(b).dtype.kind in "fc"
    return np.shape(a) == np.shape(b) and np.array_equal(a, b, equal_nan=is_inexact)
