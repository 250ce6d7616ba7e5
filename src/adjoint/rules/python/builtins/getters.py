"""`operator.itemgetter`, `attrgetter` and `methodcaller`.

``__reduce__`` returns the arguments of these C objects. If the arguments may have derivatives, a
closure is made instead.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

from adjoint.primal.value_kinds import ATOMS
from adjoint.rulekit.registry import non_differentiable, primitive, substitute


def _made_by_c(f: Any) -> None:
    def run(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
        plain = ATOMS.issuperset(map(type, (*args, *kwargs.values())))
        return f(*args, **kwargs) if plain else NotImplemented

    primitive(f)(run)


for _f in (operator.itemgetter, operator.attrgetter, operator.methodcaller):
    _made_by_c(_f)


@substitute(operator.itemgetter)
def itemgetter(item: Any, /, *items: Any) -> Any:
    if not items:
        return lambda xs: xs[item]
    return lambda xs: tuple([xs[i] for i in (item, *items)])


@substitute((operator.itemgetter, "__call__"))
def _(getter: Any, xs: Any, /) -> Any:
    items = _arguments_of(getter)
    return xs[items[0]] if len(items) == 1 else tuple([xs[i] for i in items])


@substitute(operator.attrgetter)
def attrgetter(attr: Any, /, *attrs: Any) -> Any:
    if not attrs:
        return lambda obj: _followed(obj, attr)
    return lambda obj: tuple([_followed(obj, name) for name in (attr, *attrs)])


@substitute((operator.attrgetter, "__call__"))
def _(getter: Any, obj: Any, /) -> Any:
    names = _arguments_of(getter)
    if len(names) == 1:
        return _followed(obj, names[0])
    return tuple([_followed(obj, name) for name in names])


def _followed(obj: Any, path: Any) -> Any:
    for name in path.split("."):
        obj = getattr(obj, name)
    return obj


@substitute(operator.methodcaller)
def methodcaller(name: Any, /, *args: Any, **kwargs: Any) -> Any:
    return lambda obj: getattr(obj, name)(*args, **kwargs)


@substitute((operator.methodcaller, "__call__"))
def _(caller: Any, obj: Any, /) -> Any:
    name, args, kwargs = _parts(caller)
    return getattr(obj, name)(*args, **kwargs)


def _arguments_of(getter: Any) -> Any:
    """Return the arguments that `getter` was made from."""
    return getter.__reduce__()[1]


def _parts(caller: Any) -> tuple[str, Any, Any]:
    make, held = caller.__reduce__()
    if isinstance(make, functools.partial):
        return make.args[0], held, make.keywords
    return held[0], held[1:], {}


non_differentiable(_arguments_of, _parts)
