"""What the first call of a function costs: lowering it and generating its derivative, which the bar
is on, and what Python's own compiler takes for the result."""

from __future__ import annotations

import ast
import gc
import importlib
import importlib.util
import inspect
import statistics
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import adjoint as ad
from adjoint.runtime.cache import generate
from adjoint.runtime.cache.generate import Generated
from benchmarks.harness import CLOCK, Line, apart, show

__all__ = ["run"]

MODULES = (
    "statistics",
    "fractions",
    "random",
    "colorsys",
    "heapq",
    "difflib",
    "textwrap",
    "numpy.lib._function_base_impl",
    "numpy.lib._nanfunctions_impl",
    "numpy.lib._polynomial_impl",
    "numpy.linalg._linalg",
    "numpy.polynomial.polynomial",
    "numpy.ma.core",
)
BAR = 150.0
ROUNDS = 3
STAGES = {
    "lower_any": "source to IR",
    "join_paths": "paths",
    "Activity": "activity",
    "share_temporaries": "temporaries",
    "reverse": "reverse sweep",
    "emit": "generated text",
}


def run() -> Iterator[Line]:
    """All lines of this module."""
    yield from show("first call, per line of source (docstrings and comments do not count)", _all())


def _all() -> Iterator[Line]:
    seconds, lines = Counter[str](), 0
    for name, (spent, found, length, refused) in zip(
        MODULES, apart(_module, ((name,) for name in MODULES)), strict=True
    ):
        seconds.update(spent)
        lines += length
        detail = f"{found - refused} functions, {length} lines" + (
            f", {refused} refused" if refused else ""
        )
        yield Line(name, spent["all"] / length * 1e6, "us", BAR, False, detail)
    yield Line("all of them", seconds["all"] / lines * 1e6, "us", BAR, False, f"{lines} lines")
    for stage, title in STAGES.items():
        yield Line(f"  of which {title}", seconds[stage] / lines * 1e6, "us")
    title = "Python's compiler for what was generated"
    yield Line(title, seconds["compiling"] / lines * 1e6, "us")
    yield from apart(_by_length, ((name,) for name in BODIES))


def _module(name: str) -> tuple[dict[str, float], int, int, int]:
    """Seconds of the functions of a module in all, by stage and for Python's compiler, then their
    number, their lines, and how many were refused."""
    found = list(_functions(importlib.import_module(name)))
    samples = [_time([fresh(f) for f in found]) for _ in range(ROUNDS)]
    spent, compiling = (statistics.median(sample[i] for sample in samples) for i in (0, 1))
    _, _, length, refused = samples[0]
    seconds = {"all": spent, "compiling": compiling, **_stages(found)}
    return seconds, len(found), length, refused


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    """The module's own functions and methods, as nobody has called them yet."""
    for thing in vars(module).values():
        members = vars(thing).values() if inspect.isclass(thing) else (thing,)
        for member in members:
            plain = inspect.unwrap(member) if callable(member) else None
            if isinstance(plain, FunctionType) and plain.__code__.co_filename == module.__file__:
                yield fresh(plain)


def fresh(f: FunctionType) -> FunctionType:
    """A copy that nothing is known of."""
    return FunctionType(
        f.__code__.replace(), f.__globals__, f.__name__, f.__defaults__, f.__closure__
    )


def length_of(f: FunctionType) -> int:
    """The number of lines of a function on which there is code."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(f)))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            del node.body[0]
    return len({node.lineno for node in ast.walk(tree) if hasattr(node, "lineno")})


def _time(found: list[FunctionType]) -> tuple[float, float, int, int]:
    """Seconds of ours, of Python's compiler, lines, and how many functions were refused (their
    lines do not count)."""
    seconds, compiling, lines, refused = 0.0, 0.0, 0, 0
    for f in found:
        gc.collect(0)
        gc.disable()  # as it is inside a differentiated call
        start = CLOCK()
        try:
            made = generate.generate(f)
        except ad.AdjointError:
            refused += 1
        else:
            seconds += CLOCK() - start
            compiling += _compiling(made)
            lines += length_of(f)
        finally:
            gc.enable()
    return seconds, compiling, max(lines, 1), refused


def _compiling(made: Generated) -> float:
    start = CLOCK()
    compile(made.source.text, "<generated>", "exec", dont_inherit=True)
    return CLOCK() - start


def _stages(found: list[FunctionType]) -> dict[str, float]:
    """The same functions again, with a clock around each stage."""
    spent = dict.fromkeys(STAGES, 0.0)
    replaced = {name: vars(generate)[name] for name in STAGES}

    def timed(name: str, stage: Callable[..., Any]) -> Callable[..., Any]:
        def run_stage(*args: Any, **kwargs: Any) -> Any:
            start = CLOCK()
            try:
                return stage(*args, **kwargs)
            finally:
                spent[name] += CLOCK() - start

        return run_stage

    try:
        for name, stage in replaced.items():
            vars(generate)[name] = timed(name, stage)
        _time([fresh(f) for f in found])
    finally:
        vars(generate).update(replaced)
    return spent


# ---- linear in the length of a function ----------------------------------------------------------

FEW, MANY = 50, 800
BODIES = {
    "straight": "    y = y * x + 1.0\n",
    "branches": "    if y > x:\n        y = y - x\n    else:\n        y = y * x\n",
    "loops": "    for i in range(3):\n        y = y + x * i\n",
    "variables": "    v{i} = y * x\n    y = v{i} + y\n",
    "calls": "    y = np.sin(y) + xs[{i}].real\n",
}


def _by_length(name: str) -> Line:
    with tempfile.TemporaryDirectory() as folder:
        few, many = (_per_line(Path(folder), name, BODIES[name], n) for n in (FEW, MANY))
    detail = f"{few * 1e6:.3g} us -> {many * 1e6:.3g} us per line"
    return Line(f"{MANY} statements over {FEW}: {name}", many / few, "x", 1.5, False, detail)


def _per_line(folder: Path, name: str, body: str, n: int) -> float:
    lines = "".join(body.format(i=i) for i in range(n))
    path = folder / f"adjoint_bench_{name}_{n}.py"
    path.write_text(f"import numpy as np\n\n\ndef f(x, xs):\n    y = x\n{lines}    return y\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    samples = []
    for _ in range(5 if n == FEW else 3):
        seconds, _, length, refused = _time([fresh(module.f)])
        assert not refused
        samples.append(seconds / length)
    del sys.modules[path.stem]
    return statistics.median(samples)
