"""``exec`` and ``eval``, and what looks at frames."""

import sys
import types

import numpy as np

from tests.corpus.registry import case

SCALE = 1.0
SQUARE = compile("x * x", "<text>", "eval")
CACHED = {}


@case(1.3)
def expression_of_local_variables(x):
    y = x * x
    return eval("x * y") + eval(" y ")


@case(1.3, 0.7)
def expression_with_namespaces(x, a):
    return eval("x * y + len(z)", {"x": x, "z": [1]}, {"y": x * a}) * eval("a", {"a": a})


@case(1.3)
def compiled_expression(x):
    total = 0.0
    for k in range(4):
        total += eval(SQUARE, {"x": x * k}) * eval("x**k", {"x": x, "k": k})
    return total


@case(1.3)
def statements(x):
    namespace = {"x": x, "np": np}
    exec(
        "y = x * x\nfor k in range(3):\n    y = y + k * x\nz = np.sin([k * y for k in (1, x)])",
        namespace,
    )
    return namespace["y"] * namespace["z"].sum()


@case(1.3)
def function_that_reads_the_namespace(x):
    namespace = {"x": x}
    exec("def f(y):\n    return x * y\n", namespace)
    first = namespace["f"](x)
    namespace["x"] = x * x
    second = namespace["f"](x)
    namespace.update(x=2.0 * x)
    return first + 2.0 * second + 3.0 * namespace["f"](x)


@case(1.3)
def slots_without_a_module(x):
    namespace = {}
    exec(
        "class A:\n    __slots__ = ('a', 'b')\n    def __init__(self, a): self.a = a\n"
        "class B(A):\n    __slots__ = ('c',)\n",
        namespace,
    )
    kept = namespace["B"](x)
    kept.b, kept.c = [x, x * x], x
    kept.c *= kept.a
    return kept.a * kept.b[1] + kept.c


@case(1.3)
def namespaces_apart(x):
    names, inner = {"x": x}, {}
    exec("y = x * 2.0\ndef f(z=y): return z * x\nclass A:\n    w = x * x", names, inner)
    return inner["f"]() * inner["f"](x) + inner["A"].w * inner["y"]


@case([1.3, 0.7])
def statements_that_change_memory(xs):
    exec("xs[0] = xs[0] * 3.0\nxs.append(xs[1] * xs[0])", {"xs": xs})
    return sum(xs)


@case(1.3)
def global_variable_set_by_text(x):
    exec("global SCALE\nSCALE = x * 2.0")
    result = SCALE * x
    globals().update(SCALE=result * x)
    result = result + SCALE
    globals()["SCALE"] = 1.0
    return result


@case(1.3)
def made_again_and_again(x):
    total = 0.0
    for k in range(3):
        namespace = {}
        exec("def power(x, k=2):\n    return x**k\n", namespace)
        total = total + namespace["power"](x, k) * namespace["power"](x)
    return total


@case(1.3)
def class_of_the_module_that_asks(x):
    def make(value):
        made = types.new_class("Made", (), {}, lambda namespace: namespace.update(value=value))
        made.__module__ = sys._getframe(1).f_globals["__name__"]
        return made

    made = make(x * x)
    return made.value * x * len(made.__module__) / len(__name__)


@case(1.5)
def functions_that_eval_makes(x):
    square = eval("lambda v: v * v")
    scaled = eval("lambda v, k=2.0: v * k", {})
    both = eval("[lambda v: v + 1.0, lambda v: v * 3.0]")
    return square(x) * scaled(x) * both[1](both[0](x))


def body(v):
    return v * factor * np.sum(held)  # noqa: F821  globals of another function's


@case(np.array([0.7, 1.3, 2.1]))
def functions_of_other_globals(x):
    namespace = {"np": np, "factor": x[1], "held": x}
    f = types.FunctionType(body.__code__, namespace)
    first = f(x[0])
    namespace["factor"] = x[2] * x[0]
    return first * f(x[0]) * len(namespace)
