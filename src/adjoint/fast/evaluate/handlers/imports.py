"""Handlers of ``import`` inside functions: of modules that are loaded."""

from __future__ import annotations

import contextlib
import sys
from importlib import import_module
from importlib.util import resolve_name

from adjoint.fast.evaluate.attribute_reads import attribute
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.objects.loaded_modules import loaded
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.fast.not_covered import NotCovered, Raises
from adjoint.ir import primitives


def _loaded(ev: Evaluator, name: str) -> Abstract:
    """Return a loaded module, guarded; one of NumPy or SciPy is loaded now."""
    if name.partition(".")[0] in ("numpy", "scipy"):
        with contextlib.suppress(ImportError):
            import_module(name)
    module = loaded(ev, name)
    if module is None:
        raise NotCovered(f"the import of {name}, which is not loaded", ev.span)
    return module


@handler(primitives.import_module)
def _(
    ev: Evaluator, namespace: Abstract, name: Abstract, names: Abstract, level: Abstract
) -> Abstract:
    assert isinstance(namespace, Known) and isinstance(name, Known) and isinstance(level, Known)
    full = name.value
    if level.value:
        package = namespace.value.get("__package__")
        if not package:
            raise NotCovered("a relative import outside of a package", ev.span)
        full = resolve_name("." * level.value + full, package)
    found = _loaded(ev, full)
    is_whole = isinstance(names, Known) and names.value is None
    return _loaded(ev, full.partition(".")[0]) if is_whole else found


@handler(primitives.import_from)
def _(ev: Evaluator, module: Abstract, name: Abstract) -> Abstract:
    assert isinstance(module, Known) and isinstance(name, Known)
    try:
        return attribute(ev, module, name.value)
    except Raises as error:
        full = f"{module.value.__name__}.{name.value}"
        if error.kind is AttributeError and full not in sys.modules:
            raise Raises(ImportError, f"the import of {full}", ev.span) from None
        return _loaded(ev, full)
