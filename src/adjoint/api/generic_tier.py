"""A call in the generic tier: its value, and the pullback that sweeps over its record."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.api.argument_selection import Selection
from adjoint.cotangents.finiteness import UNFIT, all_finite, doubts, is_delicate, note_delicate
from adjoint.diagnostics.numpy_warnings import begin_logging, end_logging
from adjoint.diagnostics.public_function import public
from adjoint.diagnostics.pullback_text import StaysHere, pullback_text
from adjoint.errors import ArgumentError, NoDerivativeError
from adjoint.fast.programs.inner_calls import Calls, InnerCall, generic_parts
from adjoint.fast.programs.store import is_enabled
from adjoint.levels.bases import Trial, in_other_bases, in_trial, numbers_of
from adjoint.levels.foreign.constant_pullbacks import follows, pulled
from adjoint.levels.foreign.mentions import goes_on_a_tape
from adjoint.locks import short_lived
from adjoint.primal.compiled_functions import refuse_foreign_arrays
from adjoint.primal.engine_object import EngineObject
from adjoint.primal.value_kinds import is_array_of_others
from adjoint.runtime.cache.units import known_unit
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.unit_call import OFTEN
from adjoint.runtime.entries import basics
from adjoint.runtime.foreign.freed_objects import check_at_end
from adjoint.runtime.foreign.open_files import flush
from adjoint.runtime.memory.collect import Reader
from adjoint.runtime.memory.deposit import deposit
from adjoint.runtime.memory.independence import Independent, independent_arguments
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.write_check import WriteMarks
from adjoint.runtime.results import checked_cotangent, collect_arguments, plain_cotangents
from adjoint.runtime.session import leaving, session
from adjoint.tangent import Tangent


class Pullback(StaysHere, EngineObject):
    """``y_bar ↦ (f_bar, *arg_bars)`` of one call, as `pullback` returns it.

    It may be called any number of times. Between two calls the caller must not change the arrays
    that the function has used.
    """

    __slots__ = (
        "_apart", "_args", "_f", "_kwargs", "_marks", "_memory", "_record", "_trial", "_wanted",
        "_y",
    )  # fmt: skip

    def __init__(
        self,
        f: Any,
        args: tuple[Any, ...],
        y: Any,
        memory: Memory,
        record: list[Any],
        wanted: Collection[int] | None = None,
        kwargs: dict[str, Any] | None = None,
        trial: Trial | None = None,
        apart: Independent | None = None,
    ) -> None:
        self._f, self._args, self._y, self._memory, self._record = f, args, y, memory, record
        self._wanted, self._kwargs, self._trial = wanted, kwargs or {}, trial
        self._apart = apart
        self._marks: WriteMarks | None = None

    def mark(self) -> Pullback:
        """Save the state of what the call has written, because other code may write from now on."""
        if not self._memory.is_untouched():
            self._marks = WriteMarks(self._memory)
        return self

    def __repr__(self) -> str:
        return pullback_text(self._f)

    @public
    def __call__(self, y_bar: Any) -> tuple[Any, ...]:
        """Pull a cotangent of the result back.

        Parameters
        ----------
        y_bar
            A cotangent with the structure and the shapes of the result; ``None`` for zero.

        Returns
        -------
        tuple
            The cotangent of the function itself, then one per positional argument; ``None`` may
            stand for zeros.

        Raises
        ------
        CotangentError
            `y_bar` does not fit the result.
        NoDerivativeError
            A derivative is needed of a function that has neither rule nor source.
        """
        return self.sweep(y_bar, of_function=True)

    def sweep(self, y_bar: Any, *, of_function: bool) -> tuple[Any, ...]:
        if y_bar is None:
            return (None,) * (len(self._args) + 1)
        value_bar = checked_cotangent(self._y, y_bar)
        if self._memory.written:
            value_bar = _copied_where_written(self._memory, value_bar)
        if follows(y_bar):
            return pulled(partial(self.sweep, of_function=of_function), self._y, y_bar)  # type: ignore[no-any-return]
        short_lived.add(self._memory.lock)
        with self._memory.lock, leaving, session:
            if self._marks is not None:
                self._marks.check()
            return self.swept(value_bar, y_bar, of_function)

    def swept(self, value_bar: Any, given: Any, of_function: bool) -> tuple[Any, ...]:
        """Run `sweep` for a checked cotangent, inside a session: first without the correction of
        structural zeros, then with it if needed."""
        memory = self._memory
        if not memory.runs_user_code and not is_delicate(self._f):
            before, found = doubts[0], None
            memory.careful = False
            try:
                found = self._pulled(value_bar, given, of_function)
            except UNFIT:
                pass  # the careful sweep raises it again, unless it avoids the cause
            finally:
                memory.careful = True
            if found is not None and doubts[0] == before and all_finite(found):
                return found
            note_delicate(self._f)
        memory.careful = True  # also after an interrupt
        return self._pulled(value_bar, given, of_function)

    def parts(self, y_bar: Any) -> tuple[Any, ...]:
        """Return the cotangents of the function and of the arguments as structures, with a `Poison`
        for each unknown one. `y_bar` may hold poison, too."""
        memory = self._memory
        with leaving, session, np.errstate(all="ignore"), self._own_arguments(), memory, memory:
            value_bar = deposit(memory, self._y, y_bar)
            back = self._record[1]
            bars = (None,) * (len(self._args) + 1) if back is None else back(value_bar)
            memory.rewind(0)
            reader = Reader(memory, taking=False, instead=self._replacements())
            values = zip((self._f, *self._args), bars, strict=True)
            return tuple(reader.read_at(i, *pair) for i, pair in enumerate(values, -1))

    def _pulled(self, value_bar: Any, given: Any, of_function: bool) -> tuple[Any, ...]:
        """Run one sweep. Where cotangents need several bases (`adjoint.levels.bases`), run `f`
        again for each; memory is restored before and after."""
        try:
            with in_trial(self._trial):
                return self._swept_once(value_bar, given, of_function)
        except NoDerivativeError as error:
            if self._trial is not None or not error.rounds:
                raise
            numbers, problem = numbers_of(self._y), error

        def run(trial: Trial) -> tuple[list[Any], tuple[Any, ...]]:
            with in_trial(trial):
                y, back = forward(
                    self._f, self._args, self._kwargs,
                    specialising=False, wanted=self._wanted, trial=trial,
                )  # fmt: skip
            found = numbers_of(y)
            try:
                return found, back._pulled(value_bar, given, of_function)
            finally:
                back._memory.rewind(0)

        self._memory.rewind(0)
        try:
            return in_other_bases(problem, numbers, run)  # type: ignore[no-any-return]
        finally:
            self._memory.replay(len(self._memory.entries()))

    def _own_arguments(self) -> AbstractContextManager[None]:
        """Give each argument its own copies of what two share, as in the forward sweep."""
        return nullcontext() if self._apart is None else self._apart.in_place()

    def _replacements(self) -> dict[int, dict[int, Any]]:
        return {} if self._apart is None else self._apart.replacements

    def _swept_once(self, value_bar: Any, given: Any, of_function: bool) -> tuple[Any, ...]:
        memory = self._memory
        with np.errstate(all="ignore"), self._own_arguments(), memory, memory:
            value_bar = deposit(memory, self._y, value_bar)
            back = self._record[1]
            bars = (None,) * (len(self._args) + 1) if back is None else back(value_bar)
            # Every write was undone: memory, and the arguments' shadows, are as before the call.
            memory.rewind(0)
            if not of_function and not memory.written:
                found = plain_cotangents(self._args, bars, given)
                if found is not None:
                    return found
            reader = Reader(memory, taking=False, shown=True, instead=self._replacements())
            return collect_arguments(
                reader, self._f, self._args, bars, given, of_function, self._wanted
            )


def generic_pullback(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    wanted: Collection[int] | None = None,
) -> Pullback:
    """Return the pullback of a call without specialised programs."""
    with leaving, session:
        return forward(f, args, kwargs or {}, specialising=False, wanted=wanted)[1].mark()


def chosen_pullback(chosen: Selection) -> Callable[[Any], tuple[Any, ...]]:
    """Return the pullback to the function and the chosen arguments in the generic tier."""
    back = generic_pullback(chosen.f, chosen.args, chosen.kwargs, chosen.wanted)
    return lambda y_bar: (None, *chosen.bars(back(y_bar)))


def _copied_where_written(memory: Memory, bar: Any) -> Any:
    """Copy the arrays in a cotangent that the sweep rewinds."""
    if isinstance(bar, np.ndarray):
        return np.array(bar) if memory.is_written(bar) else bar
    if type(bar) is tuple or type(bar) is list:
        return type(bar)(_copied_where_written(memory, part) for part in bar)
    if type(bar) is dict:
        return {key: _copied_where_written(memory, part) for key, part in bar.items()}
    if isinstance(bar, Tangent):
        return Tangent(
            bar._primal, {name: _copied_where_written(memory, bar[name]) for name in bar}
        )
    return bar


generic_parts.append(lambda f, args, y_bar: generic_pullback(f, args).parts(y_bar))


def forward(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    specialising: bool | None = None,
    calls: Calls | None = None,
    wanted: Collection[int] | None = None,
    trial: Trial | None = None,
) -> tuple[Any, Pullback]:
    """Return the value of a call and its pullback, inside a session. With `specialising`, inner
    calls may run programs, which `calls` notes. Cotangents of arguments that are not `wanted` are
    omitted or meaningless."""
    refuse_foreign_arrays(f, args)
    _demand_seen(args, wanted)
    args, apart = independent_arguments(f, args, kwargs, wanted, arrays=True)
    if not basics.ready:
        basics.load()
    memory = Memory(args) if apart is None else apart.memory()
    if (is_enabled[0] if specialising is None else specialising) and apart is None:
        memory.specialise_after, memory.calls = OFTEN, calls
    record: list[Any] = [memory, None]
    token = begin_logging()
    try:
        y = call_keywords(record, 1, f, args, kwargs)
    finally:
        if token is not None:
            end_logging(token)
        if memory.files:
            flush(memory)
        if apart is not None:
            apart.restore()
    if apart is not None:
        apart.check(memory)
    if memory.unfinished is not None or not memory.is_untouched():
        check_at_end(memory)
    back = Pullback(f, args, y, memory, record, wanted, kwargs, trial, apart)
    return y if apart is None else apart.original(y), back


def calls_inside(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[InnerCall | None, tuple[InnerCall, ...]]:
    """Return the tier of a call in a session, if it is one of a function, and the tiers of the
    calls inside, as if they had been called often."""
    if goes_on_a_tape(f, args):
        return None, ()
    calls = Calls()
    try:
        with leaving, session:
            forward(f, args, kwargs, specialising=True, calls=calls)
    except Exception:  # a call that fails tells nothing about its tier
        pass
    code = getattr(getattr(f, "__func__", f), "__code__", None)
    _, own = calls.found.pop(id(code), (None, None))
    return own, tuple(call for _, call in calls.found.values())


def look_at_once(f: Callable[..., Any]) -> None:
    """Make a function count as called often, so that its calls in a session are specialised."""
    f = getattr(f, "__func__", f)
    unit = known_unit(f) if type(f) is FunctionType else None
    if unit is not None and 0 <= unit.calls < OFTEN:
        unit.calls = OFTEN


def _demand_seen(args: tuple[Any, ...], wanted: Collection[int] | None) -> None:
    """Refuse arguments whose numbers are out of sight."""
    for i, arg in enumerate(args):
        if wanted is not None and i not in wanted:
            continue
        if isinstance(arg, np.ndarray) and arg.dtype.kind == "V":
            raise ArgumentError(
                f"argument {i} is an array of dtype {arg.dtype}, which cannot be differentiated",
                hint="give an array of floats, or a list",
            )
        if is_array_of_others(arg):
            kind = type(arg)
            raise ArgumentError(
                f"argument {i} is a '{kind.__module__}.{kind.__qualname__}', an array of another"
                " library, which cannot be differentiated",
                hint="give a NumPy array of its numbers; as a constant it may be given by name",
            )
