"""Random functions of numbers, arrays and containers: what specialised programs are made of."""

from __future__ import annotations

import random
import warnings

import numpy as np

from tests.fast.jumping import made

HEAD = """\
import math
import operator

import numpy as np

SCALE = 0.75
ORDER = np.array([1, 1, 2])
TABLE = {"low": -0.4, "high": 1.3}


class Layer:
    factor = 1.25

    def __init__(self, w, b):
        self.w, self.b = w, b

    def __call__(self, u):
        return np.tanh(u * self.w + self.b)

    @property
    def norm(self):
        return math.sqrt(1.0 + self.b * self.b) * self.factor


def square(p, by=2):
    return p ** by / (2.0 + p * p)


def mixed(p, *more, scale=SCALE):
    total = p
    for q in more:
        total = total + scale * q
    return math.tanh(total)


def capped(p):
    if p > 1.0:
        return 1.0
    if p < -1.0:
        return p * 0.5
    return p


"""


def numeric(seed):
    """A function of two numbers, two vectors, a matrix, an integer, a list and an object."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an index of what is no list may be there, and never run
        return made(source(seed))


def arguments(seed):
    """Its arguments."""
    rng = np.random.default_rng(seed)
    x, y, a, b, c = (float(z) for z in rng.uniform(-1.5, 1.5, 5))
    u, v, m = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(3, 3))
    return x, y, u, v, m, int(rng.integers(0, 4)), [a, b], (c, {"k": a - b})


def source(seed):
    """Its text."""
    return HEAD + _Writer(random.Random(seed)).function()


class _Writer:
    def __init__(self, rng):
        self.rng, self.count, self.depth = rng, 0, 0
        self.scalars = ["x", "y", "xs[0]", "xs[1]", "pair[0]", "pair[1]['k']"]
        self.vectors = ["u", "v"]
        self.owned = []
        self.integers = ["n"]
        self.in_loop = 0

    def function(self):
        lines = ["def f(x, y, u, v, m, n, xs, pair):", "    s = x", "    w = u * 1.0"]
        self.scalars += ["s"] * 3
        self.vectors += ["w"] * 2
        for _ in range(self.rng.randint(3, 6)):
            lines += self.statement(1)
        return "\n".join([*lines, f"    return s + {self.scalar(2)} + np.sum(w * v)", ""])

    def name(self, start):
        self.count += 1
        return f"{start}{self.count}"

    def block(self, indent):
        """Statements whose names are forgotten behind them."""
        before = [*map(list, (self.scalars, self.vectors, self.owned, self.integers))]
        self.depth += 1
        lines = [line for _ in range(self.rng.randint(1, 3)) for line in self.statement(indent)]
        self.depth -= 1
        self.scalars, self.vectors, self.owned, self.integers = before
        return lines

    def statement(self, indent):
        rng, pad = self.rng, "    " * indent
        kinds = ["scalar", "vector", "s", "s", "s", "w", "list", "def", "own", "write", "object"]
        if self.depth < 3:
            kinds += ["if", "if", "for", "items", "while", "zip"]
        if self.in_loop and self.depth > 1:
            kinds += ["jump"]
        if self.depth == 1 and not self.in_loop and rng.random() < 0.2:
            return [f"{pad}return {self.scalar(2)} + 0.5 * s"]
        match rng.choice(kinds):
            case "scalar":
                line = f"{pad}{(name := self.name('p'))} = {self.scalar(3)}"
                self.scalars.append(name)
                return [line]
            case "vector":
                line = f"{pad}{(name := self.name('q'))} = {self.vector(2)}"
                self.vectors.append(name)
                return [line]
            case "s":
                operator = rng.choice(["=", "=", "+=", "-=", "*="])
                return [f"{pad}s {operator} {self.scalar(3)}"]
            case "w":
                return [f"{pad}w = {self.vector(2)}"]
            case "list":
                return self.list(pad)
            case "def":
                return self.define(pad)
            case "own":
                name = self.name("r")
                text = rng.choice(["np.zeros(3)", "u.copy()", f"{self.vector(1)} * 1.0"])
                self.vectors.append(name)
                self.owned.append(name)
                return [f"{pad}{name} = {text}"]
            case "write":
                return self.write(pad)
            case "object":
                name = self.name("layer")
                line = f"{pad}{name} = Layer({self.scalar(1)}, {self.scalar(1)})"
                self.vectors.append(f"{name}({self.vector(0)})")
                self.scalars.append(f"{name}.norm")
                return [line]
            case "if":
                lines = [f"{pad}if {self.test()}:", *self.block(indent + 1)]
                if rng.random() < 0.3:
                    lines += [f"{pad}elif {self.test()}:", *self.block(indent + 1)]
                if rng.random() < 0.6:
                    lines += [f"{pad}else:", *self.block(indent + 1)]
                return lines
            case "jump":
                jump = rng.choice(["break", "continue"])
                return [f"{pad}if {self.test()}:", f"{pad}    {jump}"]
            case loop:
                return self.loop(loop, indent, pad)

    def loop(self, kind, indent, pad):
        rng = self.rng
        item, other, first = self.name("e"), self.name("g"), []
        before = list(self.scalars), list(self.integers)
        if kind == "for":
            head = f"for {item} in range({rng.choice(['n', '2', 'len(u)', 'n + 1'])}):"
            self.integers.append(item)
        elif kind == "items":
            head = f"for {item} in {rng.choice(['u', 'xs', self.vector(1), 'm[1]'])}:"
            self.scalars += [item, item]
        elif kind == "zip":
            pairs = rng.choice(["zip(u, v)", "enumerate(v)", "zip(xs, [0.3, x])"])
            head = f"for {item}, {other} in {pairs}:"
            self.scalars += [other, f"({item} * 0.5)"]
        else:
            first = [f"{pad}{item} = {rng.choice(['n', '3', '0'])}"]
            head = f"while {item} > 0{rng.choice(['', ' and abs(s) < 3'])}:"
        self.in_loop += 1
        body = self.block(indent + 1)
        self.in_loop -= 1
        self.scalars, self.integers = before
        if kind == "while":
            body = [f"{pad}    {item} -= 1", *body]
        lines = [*first, f"{pad}{head}", *body]
        if rng.random() < 0.2:
            lines += [f"{pad}else:", f"{pad}    s = s * 0.5"]
        return lines

    def list(self, pad):
        rng, name = self.rng, self.name("l")
        match rng.randrange(4):
            case 0:
                text = f"[{self.scalar(1)} * z for z in {rng.choice(['u', 'xs', 'range(3)'])}]"
            case 1:
                text = f"[{self.scalar(2)}, {self.scalar(2)}]"
            case 2:
                text = f"list(map(capped, {rng.choice(['u', 'xs'])}))"
            case _:
                text = f"[{self.scalar(1)}, *xs]"
        self.scalars.append(f"{rng.choice(['sum', 'max', 'min'])}({name})")
        lines = [f"{pad}{name} = {text}"]
        if rng.random() < 0.4:
            lines.append(f"{pad}{name}.append({self.scalar(1)})")
        if rng.random() < 0.4:
            lines.append(f"{pad}{name}[0] = {self.scalar(1)} + {name}[-1]")
        return lines

    def define(self, pad):
        name = self.name("h")
        default = self.scalar(1)
        lines = [f"{pad}def {name}(z, by={default}):", f"{pad}    return z * by + s"]
        if self.rng.random() < 0.4:
            lines = [f"{pad}{name} = lambda z, by={default}: by * z - s"]
        self.scalars += [f"{name}({self.scalar(1)})", f"{name}(y, by=0.5)"]
        return lines

    def write(self, pad):
        if not self.owned:
            return [f"{pad}s = s * 0.9"]
        rng, name = self.rng, self.rng.choice(self.owned)
        match rng.randrange(4):
            case 0:
                return [f"{pad}{name}[{rng.randint(-3, 2)}] = {self.scalar(2)}"]
            case 1:
                return [f"{pad}{name}[{rng.randint(0, 2)}] += {self.scalar(1)}"]
            case 2:
                return [f"{pad}{name}[1:] = {self.vector(1)}[:-1]"]
            case _:
                return [f"{pad}{name} {rng.choice(['+=', '*='])} {self.vector(1)}"]

    def test(self):
        rng = self.rng
        left = rng.choice([self.scalar(1), "n % 2", "s", "x"])
        test = f"{left} {rng.choice(['<', '>', '<=', '!='])} {rng.choice(['0', '0.3', '1', 'y'])}"
        return test if rng.random() < 0.8 else f"{test} {rng.choice(['and', 'or'])} s < 2.0"

    def scalar(self, depth):
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return rng.choice([*self.scalars, "0.7", "SCALE", "TABLE['high']", "2"])
        a, b = self.scalar(depth - 1), self.scalar(depth - 1)
        match rng.randrange(16):
            case 0 | 1:
                return f"({a} {rng.choice('+-')} {b})"
            case 2 | 3:
                return f"({a} * {b})"
            case 4:
                return f"({a} / (2.5 + {b} ** 2))"
            case 5:
                return f"math.{rng.choice(['sin', 'tanh', 'cos', 'atan'])}({a})"
            case 6:
                return f"{rng.choice(['abs', '-', 'np.sin', 'np.tanh', 'float', 'capped'])}({a})"
            case 7:
                return f"{rng.choice(['max', 'min', 'math.atan2', 'np.hypot'])}({a}, 0.5 + {b})"
            case 8:
                return f"square({a}{rng.choice(['', ', by=3', ', 2'])})"
            case 9:
                return f"mixed({a}, {b}{rng.choice(['', ', scale=' + self.scalar(0)])})"
            case 10:
                return f"({a} if {b} > 0.2 else {self.scalar(0)})"
            case 11:
                return f"{self.vector(1)}[{rng.choice(['0', '-1', 'n - 1', '1'])}]"
            case 12:
                return f"{rng.choice(['np.sum', 'np.mean', 'np.max'])}({self.vector(1)})"
            case 13:
                return f"({self.vector(1)} @ {self.vector(0)})"
            case 14:
                return rng.choice(["m[0, 1]", "m[n - 1][2]", "m.sum() * 0.1", "m[1:, 0].mean()"])
            case _:
                return f"({a} * {rng.choice(self.integers)} * 0.25)"

    def vector(self, depth):
        rng = self.rng
        if depth == 0 or rng.random() < 0.25:
            return rng.choice(self.vectors)
        a, b = self.vector(depth - 1), self.vector(depth - 1)
        match rng.randrange(12):
            case 0 | 1:
                return f"({a} {rng.choice('+-*')} {b})"
            case 2:
                return f"({self.scalar(1)} * {a})"
            case 3:
                return f"np.{rng.choice(['sin', 'tanh', 'abs', 'square', 'negative'])}({a})"
            case 4:
                return f"np.where({a} > {self.scalar(0)}, {b}, {self.scalar(0)})"
            case 5:
                return f"({rng.choice(['m', 'm.T'])} @ {a} * 0.3)"
            case 6:
                return rng.choice(
                    ["m[0]", "m[:, 1]", "m.sum(axis=0)", "m.mean(axis=1)", "m[n - 1]"]
                )
            case 7:
                return f"{a}[{rng.choice(['::-1', 'ORDER'])}]"
            case 8:
                return f"np.{rng.choice(['maximum', 'minimum'])}({a}, {b})"
            case 9:
                return f"({a} / (1.5 + {b} ** 2))"
            case 10:
                return f"(m * {a}).sum(axis={rng.randrange(2)}) * 0.4"
            case _:
                return f"np.clip({a}, {rng.choice(['-0.5', '-1'])}, 0.8)"
