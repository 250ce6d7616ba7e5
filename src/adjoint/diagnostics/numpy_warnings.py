"""NumPy's floating-point warnings, at the user's line.

NumPy gives its warnings the place of the innermost Python frame, which here is a rule. It can also
pass them to an object that writes a log, and that finds the right place. NumPy keeps the handling
of such errors in a context variable. The forward sweep sets a value that differs from the default
only in the log; a setting of the user's own stays. Specialised programs set a value that turns
warnings into errors, their pullbacks one that ignores them, which takes less time than
`numpy.errstate`.
"""

from __future__ import annotations

import contextvars
import sys
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np

from adjoint.diagnostics.generated_code import place_of
from adjoint.diagnostics.user_place import is_library_file
from adjoint.primal.code_owner import RULES, is_excluded
from adjoint.primal.packages import is_of_a_library


class _Log:
    """Receives NumPy's warnings."""

    def write(self, message: str) -> None:
        """Issue a message, ``Warning: … encountered in …``, at the user's place."""
        text = message.removeprefix("Warning: ").rstrip("\n")
        filename, namespace, line = _place(sys._getframe(1))
        registry = namespace.setdefault("__warningregistry__", {})
        module = str(namespace.get("__name__", "<string>"))
        warnings.warn_explicit(text, RuntimeWarning, filename, line, module, registry)


_log = _Log()


def _place(frame: FrameType | None) -> tuple[str, dict[str, Any], int]:
    """Return file, global variables and line of the innermost frame of user code or of a library
    that no rule of Adjoint has called."""
    inner: FrameType | None = None
    while frame is not None:
        code = frame.f_code
        found = place_of(code, frame.f_lineno)
        if found is not None and not is_library_file(found[0].function.filename):
            if inner is None:
                unit, span = found
                return unit.function.filename, unit.namespace, span.line
            break
        if code.co_filename.startswith(RULES):
            if inner is not None and is_of_a_library(inner.f_globals.get("__name__")):
                inner = None
        elif inner is None and found is None and not is_library_file(code.co_filename):
            inner = None if is_excluded(code) else frame
        frame = frame.f_back
    if inner is None:
        return "sys", {}, 1  # the place that C gives
    return inner.f_code.co_filename, inner.f_globals, inner.f_lineno


_RAISE: dict[str, Any] = {"divide": "raise", "over": "raise", "invalid": "raise"}
_IGNORE: dict[str, Any] = {"all": "ignore"}
_notes: list[int] = [0]
"""The count of errors seen by `quietly`. Those of other threads only cost a call of `value`."""


def _note(kind: str, flag: int) -> None:
    _notes[0] += 1


def _noting() -> dict[str, Any]:
    """Return settings that count the errors which are not ignored."""
    kinds = [kind for kind, do in np.geterr().items() if do != "ignore"]
    return {"call": _note, **dict.fromkeys(kinds, "call")}


def _set_now() -> Iterator[tuple[contextvars.ContextVar[Any], Any]]:
    """Yield NumPy's context variable and its value; versions before 2.0 have none."""
    for variable, value in contextvars.copy_context().items():
        if variable.name.startswith("numpy."):
            yield variable, value


def _look() -> tuple[contextvars.ContextVar[Any], Any, Any, Any, Any, Any]:
    """Return NumPy's context variable, its default, and the values that log, raise, ignore and
    count."""
    changed: dict[str, Any] = {kind: "log" for kind, do in np.geterr().items() if do == "warn"}
    with np.errstate(**changed, call=_log):
        logging = [*_set_now()]
    with np.errstate(**_RAISE):
        raising = [*_set_now()]
    with np.errstate(**_IGNORE):
        ignoring = [*_set_now()]
    with np.errstate(**_noting()):
        counting = [*_set_now()]
    for (variable, own), *others in zip(logging, raising, ignoring, counting, strict=True):
        one, other, last = [value for _, value in others]
        return variable, contextvars.Context().run(variable.get), own, one, other, last
    return contextvars.ContextVar("none", default=None), _log, None, None, None, None


_variable, _default, _own, _raising, _ignoring, _counting = contextvars.Context().run(_look)
_get, _set, _reset = _variable.get, _variable.set, _variable.reset


def begin_logging() -> contextvars.Token[Any] | None:
    """Give NumPy's warnings the user's place from now on, unless user code handles them."""
    return _set(_own) if _get() is _default or _asks() == _USUAL else None


def _asks() -> tuple[Any, ...]:
    """Return all settings in NumPy's variable."""
    return np.geterr(), np.geterrcall(), np.getbufsize()


_USUAL = contextvars.Context().run(_asks)


def end_logging(token: contextvars.Token[Any]) -> None:
    """Restore the handling before `begin_logging`, but keep what user code has changed since."""
    if _get() is _own:
        _reset(token)
        return
    np.seterr(**{kind: "warn" for kind, do in np.geterr().items() if do == "log"})  # type: ignore[arg-type]
    if np.geterrcall() is _log:
        np.seterrcall(None)


def _beginning(settings: dict[str, Any], usual: Any) -> Callable[[], Any]:
    """Return a function that begins the handling of errors by `settings`, which is the value
    `usual` of NumPy's variable where the user has set nothing."""

    def begin() -> Any:
        now = _get()
        if now is _default or now is _own:
            return _set(usual)
        with np.errstate(**settings):
            found = _get()
        return _set(found)

    return begin if usual is not None else lambda: np.seterr(**settings)  # NumPy before 2.0


def quietly(value: Callable[[], Any], f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return ``f(*args, **kwargs)``, a value and what is derived from it. Of NumPy's errors therein
    the user sees those of `value`, which computes the value alone; it is called if there are
    any."""
    before, now = _notes[0], _get()
    try:
        if _counting is None or (now is not _own and now is not _default):
            with np.errstate(**_noting()):
                return f(*args, **kwargs)
        token = _set(_counting)
        try:
            return f(*args, **kwargs)
        finally:
            _reset(token)
    finally:
        if _notes[0] != before:
            value()


def ignoring(kinds: tuple[str, ...], f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return ``f(*args, **kwargs)``; ignore NumPy's errors of these kinds."""
    with np.errstate(**dict.fromkeys(kinds, "ignore")):  # type: ignore[arg-type]
        return f(*args, **kwargs)


def reports_underflow() -> bool:
    """Return whether NumPy's underflows are raised, warned of or called, which is not the
    default."""
    now = _get()
    if _raising is not None and (now is _default or now is _own or now is _raising):
        return False
    return np.geterr()["under"] != "ignore"


def _end_by_settings(before: Any) -> None:
    np.seterr(**before)


begin_raising = _beginning(_RAISE, _raising)
"""Turn NumPy's warnings into errors from now on, except underflow."""
begin_ignoring = _beginning(_IGNORE, _ignoring)
"""Ignore what NumPy would warn of from now on."""
end_handling: Callable[[Any], None] = _reset if _raising is not None else _end_by_settings
"""Restore the handling before `begin_raising` or `begin_ignoring`, which returned the argument."""

BEGIN_RAISING = "set_handling(raising) if handling() is usual else begin_raising()"
"""Source of `begin_raising()`, written out for the usual handling."""
NAMES_OF_RAISING: dict[str, Any] = {
    "set_handling": _set,
    "raising": _raising,
    "handling": _get,
    "usual": _default,
    "begin_raising": begin_raising,
    "end_raising": end_handling,
}
"""The objects of the names in `BEGIN_RAISING`, and `end_raising`."""


def on_errors() -> dict[str, Any]:
    """Return `numpy.geterr` as in plain Python."""
    return {
        kind: "warn" if do == "log" and np.geterrcall() is _log else do
        for kind, do in np.geterr().items()
    }


def called_on_errors() -> Any:
    """Return `numpy.geterrcall` as in plain Python."""
    found = np.geterrcall()
    return None if found is _log else found
