"""The table of rules: what the engine asks, and what rule files and users fill.

A *rule* (``rrule``) of ``f`` is a function with ``f``'s own arguments that returns the value and a
pullback::

    @rrule.register(np.linalg.inv)
    def _(a):
        y = np.linalg.inv(a)

        def inv_back(y_bar):
            return None, -y.T @ y_bar @ y.T      # (f_bar, *one cotangent per positional argument)
        return y, inv_back

Keyword arguments are those that the rule names in its signature; the rule declines a call with any
other. ``back`` returns one cotangent per *positional* argument of the call, then, if the rule has
``keyword_bars=True``, a dict of cotangents of keyword arguments. A rule declines a call by
returning `NotImplemented`; then the next rule, or the function's own source, is used.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from functools import partial
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    WrapperDescriptorType,
)
from typing import Any, TypeAlias, TypeVar

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.rulekit import loading
from adjoint.rulekit.rule import Rule

TrustedRule: TypeAlias = tuple[
    Callable[..., Any], int, int, frozenset[str], int, Callable[..., Any] | None
]
F = TypeVar("F", bound=Callable[..., Any])
has_lanes: list[bool] = [True]
"""Whether `trusted_rule` gives any: not where each call of a rule has to be seen."""
Key = Hashable
"""A function object, or ``(type, name)`` for a method of a builtin type."""


@dataclass(slots=True)
class Rules:
    """All that is registered for one function. At most one of `substitute`, `structural` and
    `primitive` is set.

    Attributes
    ----------
    rrules, frules
        The last registered comes first.
    inactive
        The derivative is zero, or the function returns no reals and stores nothing.
    substitute
        Python source that computes the same, differentiated in its place.
    structural
        A rule in the engine's form, for functions that move values:
        ``function(memory, *args, **kwargs)`` returns ``(y, back)`` and keeps the cotangents of
        containers in ``memory`` (see `adjoint.runtime.memory.memory`).
    primitive
        A rule in the engine's form, for functions that run user code, which may raise:
        ``function(record, slot, *args, **kwargs)`` returns ``y`` and links its pullback into the
        record before anything runs.
    leveled
        Replaces a structural rule or a primitive that calculates, where a level runs the numerical
        operations: ``function(level, record, slot, *args, **kwargs)`` (see `adjoint.levels`).
    overridden
        A reverse rule was registered from outside this library and comes before the structural one.
    linear, steady, tangent
        For programs of tangents, see `adjoint.rulekit.tangents`.
    lane
        The number of operands, and a primitive that does the usual operand types of the newest rule
        in one step. Registering another rule removes it.
    """

    rrules: list[Rule] = field(default_factory=list)
    frules: list[Rule] = field(default_factory=list)
    inactive: bool = False
    substitute: FunctionType | None = None
    structural: Callable[..., Any] | None = None
    primitive: Callable[..., Any] | None = None
    overridden: bool = False
    leveled: Callable[..., Any] | None = None
    linear: range = range(0)
    steady: range = range(0)
    tangent: FunctionType | None = None
    lane: tuple[int, Callable[..., Any] | None] = (-1, None)

    @property
    def asking(self) -> bool:
        """Return whether pullbacks ask which cotangents are wanted."""
        for rule in self.rrules:  # a generator in `any` would cost more
            if rule.asking:
                return True
        return False

    @property
    def makes_views(self) -> bool:
        """Return whether results may be aliases of an operand."""
        return any(rule.alias for rule in self.rrules)


_DESCRIPTORS = frozenset(
    {MethodDescriptorType, WrapperDescriptorType, GetSetDescriptorType, MemberDescriptorType}
)
"""Types of methods and attributes in classes of C."""

_unhashable: dict[int, Any] = {}


def _hashable(f: Any) -> bool:
    try:
        hash(f)
    except TypeError:
        return False
    return True


table: dict[Key, Rules] = {}
"""Entries by function, or by ``(type, name)``."""

methods: dict[type, dict[str, Rules]] = {}
"""The entries with ``(type, name)`` keys by type, then by name, for method calls."""

trusted_rules: dict[Any, TrustedRule | None] = {}
"""Rules of positional calls by function (see `trusted_rule`)."""


def entry(key: Key) -> Rules:
    """Return the entry of `key`, creating it if needed."""
    named, key = key, key_of(key)
    trusted_rules.pop(key, None)
    rules = table.get(key)
    if rules is None:
        if type(key) is tuple and key[0] == "unhashable":
            _unhashable[key[1]] = named  # the reference keeps its identity from being used again
        rules = table[key] = Rules()
        if type(key) is tuple:
            methods.setdefault(key[0], {})[key[1]] = rules
    return rules


def key_of(f: Any) -> Key:
    """Return the key of a function: ``(type, name)`` for methods of builtin types. A named tuple
    may itself be a callable."""
    if type(f) is tuple:
        kind, name = f
        for base in kind.__mro__:
            if name in vars(base):
                return (base, name) if base is not object or kind is object else (kind, name)
        return f
    if type(f) in _DESCRIPTORS:
        return (f.__objclass__, f.__name__)  # list.append, ndarray.sum, float.__add__
    if not issubclass(type(f), _FUNCTIONS) and (not _hashable(f) or _pretends(type(f))):
        return ("unhashable", id(f))
    return f  # type: ignore[no-any-return]


_FUNCTIONS = (FunctionType, BuiltinFunctionType, np.ufunc, type(np.sum), type)


def _pretends(kind: type) -> bool:
    """Return whether objects of a class pretend to be of another class; then they may also share
    hash and equality with the object that they wrap."""
    return any("__class__" in vars(base) for base in kind.__mro__ if base is not object)


def function_of(key: Any) -> Any:
    """Return the function of a key: the unbound method for ``(type, name)``."""
    if type(key) is not tuple:
        return key
    return _unhashable[key[1]] if key[0] == "unhashable" else getattr(*key)


class _Registry:
    """`rrule` and `frule`: called, they apply the registered rule; ``.register`` adds one."""

    def __init__(self, which: str) -> None:
        self._which = which

    def register(
        self,
        *keys: Any,
        alias: bool = False,
        trusted: bool = False,
        keyword_bars: bool = False,
        partwise: bool = False,
    ) -> Callable[[F], F]:
        """Register the decorated function as the rule of each of `keys`.

        Parameters
        ----------
        *keys
            Functions, or ``(type, name)`` for methods of builtin types.
        alias
            The result may be an alias of an argument.
        keyword_bars
            ``back`` returns one entry more, a dict of cotangents of keyword arguments.
        partwise
            Each part of the result depends only on the argument at its position.
        """

        def add(function: F) -> F:
            rule = Rule.of(
                function,
                alias=alias,
                trusted=trusted,
                keyword_bars=keyword_bars,
                partwise=partwise,
            )
            for key in keys:
                rules = entry(key)
                getattr(rules, self._which).insert(0, rule)
                if self._which == "rrules":
                    rules.lane = (-1, None)
                    rules.overridden |= rule.foreign
            return function

        return add

    def find(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Rule]:
        """Yield the rules of `f` for such arguments, the last registered first."""
        rules = lookup(f)
        if rules is not None:
            for rule in getattr(rules, self._which):
                if rule.accepts(args, kwargs):
                    yield rule


class _Reverse(_Registry):
    """``ad.rrule(f, *args)`` applies the reverse rule of `f`; `register` adds one."""

    def __call__(
        self, f: Any, *args: Any, **kwargs: Any
    ) -> tuple[Any, Callable[[Any], tuple[Any, ...]]] | None:
        """Apply the reverse rule of `f`.

        Returns
        -------
        tuple or None
            ``(y, back)`` with ``back(y_bar) -> (f_bar, *arg_bars)``; ``None`` where no rule is
            registered for `f` with such arguments.
        """
        rules = lookup(f)
        if rules is not None and rules.inactive:
            return function_of(f)(*args, **kwargs), lambda y_bar: (None,) * (len(args) + 1)
        for rule in self.find(f, args, kwargs):
            result = rule.function(*args, **kwargs)
            if result is not NotImplemented:
                return result  # type: ignore[no-any-return]
        return None


class _Forward(_Registry):
    """``ad.frule(f, dots, *args)`` applies the forward rule of `f`; `register` adds one."""

    def __call__(
        self, f: Any, dots: tuple[Any, ...], *args: Any, **kwargs: Any
    ) -> tuple[Any, Any] | None:
        """Apply the forward rule of `f`.

        Parameters
        ----------
        dots
            One tangent per positional argument, ``None`` for zero.

        Returns
        -------
        tuple or None
            ``(y, y_dot)``; ``None`` where no rule is registered.
        """
        rules = lookup(f)
        if rules is not None and rules.inactive:
            return function_of(f)(*args, **kwargs), None
        if rules is not None:
            for rule in rules.frules:
                if rule.accepts((dots, *args), kwargs):
                    result = rule.function(dots, *args, **kwargs)
                    if result is not NotImplemented:
                        if type(result[1]) is Poison:
                            raise result[1].error
                        return result  # type: ignore[no-any-return]
        return None


rrule: _Reverse = _Reverse("rrules")
frule: _Forward = _Forward("frules")


def lookup(f: Any) -> Rules | None:
    """Return the entry of `f`; load the rule file of its library if needed."""
    if type(f) in _FUNCTIONS and f in loading.complete:
        return table.get(f)
    try:
        key = key_of(f)
        rules = table.get(key)
    except TypeError:  # unhashable
        return None
    if not loading.all_loaded():
        module = getattr(f, "__module__", None) or getattr(type(f), "__module__", None)
        if type(f) is tuple:
            module = f[0].__module__
        if isinstance(module, str):
            loading.load_for(module)
            if key not in table and _is_anonymous(f, module):
                loading.load_what_is_imported()
            rules = table.get(key)
            if rules is not None and type(f) in _FUNCTIONS and loading.is_settled(module):
                loading.complete.add(f)
    return rules


def _is_anonymous(f: Any, module: str) -> bool:
    """Return whether `f` may not name its library: ufuncs, some types of C, Fortran."""
    if type(f) is tuple:
        return module == "builtins" and f[0].__name__[0].isupper()
    return type(f).__name__ in ("ufunc", "fortran")


def trusted_rule(f: Any) -> TrustedRule | None:
    """Return the rule that a positional call of `f` tries first, if it is trusted and takes
    arguments of any type.

    Returns
    -------
    tuple or None
        The rule, the fewest and the most arguments that it takes, the keywords; then the number of
        operands of its lane, and the lane (see `lane`).
    """
    rules = lookup(f) if has_lanes[0] else None
    found: TrustedRule | None = None
    if rules is not None and rules.rrules and not rules.inactive and rules.structural is None:
        rule = rules.rrules[0]
        plain = not (rule.types or rule.alias or rule.keyword_bars or rule.foreign)
        if rule.trusted and plain:
            most = rule.positional if rule.positional >= 0 else 1 << 30
            if rules.primitive is not None:
                most = min(most, 2)  # the third operand of a primitive may be an ``out``
            found = rule.function, rule.required, most, rule.keywords, *rules.lane
    if found is None and rules is not None and rules.lane[1] is not None:
        found = _declines, 0, -1, frozenset(), *rules.lane
    trusted_rules[f] = found
    return found


def _declines(*_: Any) -> Any:
    return NotImplemented


def non_differentiable(*keys: Any) -> Any:
    """Declare that functions have derivative zero, or return no reals: they run as they are.

    They must not store or change anything active.

    Returns
    -------
    The function, if it is one, so that this can be used as a decorator.
    """
    for key in keys:
        entry(key).inactive = True
    return keys[0] if len(keys) == 1 else None


def plain(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a non-differentiable function that calls `f`."""

    def run(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    return non_differentiable(run)  # type: ignore[no-any-return]


def _setting(field: str, keys: tuple[Any, ...]) -> Callable[[F], F]:
    """Return a decorator that sets the function as a field of the entries of `keys`."""

    def add(function: F) -> F:
        for key in keys:
            setattr(entry(key), field, function)
        return function

    return add


def substitute(*keys: Any) -> Callable[[F], F]:
    """Register the decorated Python function as the substitute of `keys`: it computes the same."""
    return _setting("substitute", keys)


def structural(*keys: Any) -> Callable[[F], F]:
    """Register the decorated function, ``function(memory, *args, **kwargs)``, as the structural
    rule of `keys`."""
    return _setting("structural", keys)


def primitive(*keys: Any) -> Callable[[F], F]:
    """Register the decorated function, ``function(record, slot, *args, **kwargs)``, as the
    primitive of `keys`. It returns `NotImplemented` to decline."""
    return _setting("primitive", keys)


def leveled(*keys: Any) -> Callable[[F], F]:
    """Register the decorated function, ``function(level, record, slot, *args, **kwargs)``, to run
    `keys` on a level. It returns `NotImplemented` to decline."""

    def add(function: F) -> F:
        for key in keys:
            add_now = partial(_add_leveled, key, function)
            # an entry made before the rules of the library load would count as complete
            if key_of(key) in table or not loading.when_loaded(_module_of(key), add_now):
                add_now()
        return function

    return add


def _add_leveled(key: Any, function: Callable[..., Any]) -> None:
    entry(key).leveled = function


def _module_of(key: Any) -> str:
    """Return the name of the module of a function or a method."""
    return str(getattr(key[0] if type(key) is tuple else key, "__module__", None))


facts: set[Any] = set()
"""Functions without derivative whose result depends on the structure of their argument, not on its
numbers. Specialised programs guard that result."""

non_differentiable(lookup, function_of, Rule.accepts, Rule.arrange, non_differentiable, entry)
"""Rules apply rules, and are differentiated for higher derivatives."""


def method_rules(kind: type, name: str) -> Rules | None:
    """Return the entry of a method of a builtin type, also where a subclass inherits it."""
    known = methods.get(kind)
    if known is not None and (rules := known.get(name)) is not None:
        return rules
    for base in kind.__mro__:
        if name in vars(base):
            return lookup((base, name))
    return None
