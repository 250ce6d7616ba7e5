"""Random functions of complex and real numbers and arrays."""

from __future__ import annotations

import random

import numpy as np

from tests.fast.jumping import made

HEAD = """\
import cmath
import math

import numpy as np

SHIFT = 0.4 - 0.3j
WAVES = np.exp(-2j * np.pi * np.outer(np.arange(3), np.arange(3)) / 3)


class Pole:
    def __init__(self, at, gain):
        self.at, self.gain = at, gain

    def __call__(self, s):
        return self.gain / (s - self.at - 3)

    @property
    def size(self):
        return abs(self.at) * 0.5


def turned(p, by=1j):
    return p * by + SHIFT


"""


def function(seed):
    """A function of two real and two complex numbers, a real and a complex vector and a matrix."""
    return made(source(seed))


def arguments(seed):
    """Its arguments."""
    rng = np.random.default_rng(seed)
    x, y, a, b, c, d = (float(t) for t in rng.uniform(-1.2, 1.2, 6))
    v, u = rng.normal(size=3), rng.normal(size=3) + 1j * rng.normal(size=3)
    m = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
    return x, y, complex(a, b), complex(c, d), v, u, m * 0.5


def source(seed):
    """Its text."""
    return HEAD + _Writer(random.Random(seed)).function()


class _Writer:
    def __init__(self, rng):
        self.rng, self.count, self.depth = rng, 0, 0
        self.reals, self.complexes = (
            ["x", "y", "v[1]", "r"],
            ["z", "w", "u[0]", "m[1, 2]", "s", "s"],
        )
        self.vectors = ["u", "v", "m[0]", "m[:, 1]", "q", "q"]
        self.lists = []

    def function(self):
        start = self.rng.choice(["z", "0j", "x", "0", "w * 1j", "1.0"])
        lines = ["def f(x, y, z, w, v, u, m):", f"    s = {start}", "    r = y", "    q = u * 1.0"]
        for _ in range(self.rng.randint(3, 5)):
            lines += self.statement(1)
        ends = [
            "abs(s) ** 2 + r + np.sum(np.abs(q))",
            "(s * np.vdot(q, u)).real + r",
            "s * r + np.sum(q * v)",
            "q * s - r",
        ]
        return "\n".join([*lines, f"    return {self.rng.choice(ends)}", ""])

    def block(self, indent):
        before = [*map(list, (self.reals, self.complexes, self.vectors, self.lists))]
        self.depth += 1
        lines = [line for _ in range(self.rng.randint(1, 2)) for line in self.statement(indent)]
        self.depth -= 1
        self.reals, self.complexes, self.vectors, self.lists = before
        return lines

    def name(self, start):
        self.count += 1
        return f"{start}{self.count}"

    def statement(self, indent):
        rng, pad = self.rng, "    " * indent
        kinds = ["s", "s", "s", "r", "q", "complex", "own", "def", "object", "list", "append"]
        if self.depth < 2:
            kinds += ["if", "for", "items", "while"]
        match rng.choice(kinds):
            case "s":
                return [f"{pad}s {rng.choice(['=', '+=', '-=', '*='])} {self.complex(2)} * 0.7"]
            case "r":
                return [f"{pad}r {rng.choice(['=', '+='])} math.tanh({self.real(2)})"]
            case "q":
                return [f"{pad}q = {self.vector(2)} * (1 + 0j)"]
            case "complex":
                line = f"{pad}{(name := self.name('c'))} = {self.complex(2)}"
                self.complexes.append(name)
                return [line]
            case "own":
                name = self.name("o")
                lines = [
                    f"{pad}{name} = {self.vector(1)} * 1j",
                    f"{pad}{name}[{rng.randint(-3, 2)}] = {rng.choice([self.complex(1), 'r'])}",
                    f"{pad}{name} {rng.choice(['+=', '*=', '-='])} {rng.choice(['u', '(1 - 1j)'])}",
                ]
                self.vectors.append(name)
                return lines
            case "list":
                name, many = self.name("l"), rng.choice(["u", "v", "range(3)", "m[1]"])
                first = rng.choice([f"[{self.complex(1)} * t for t in {many}]", "[s]", "[r, r]"])
                lines = [f"{pad}{name} = {first}"]
                self.lists.append(name)
                self.complexes += [f"sum({name})", f"{name}[-1]", f"{name}[0]"]
                return lines
            case "append" if self.lists:
                name, item = rng.choice(self.lists), rng.choice([self.complex(1), "r"])
                return [
                    rng.choice(
                        [
                            f"{pad}{name}.append({item})",
                            f"{pad}{name}.append({item})",
                            f"{pad}{name}[0] = {item}",
                            f"{pad}{name} = {name}[1:] + [{item}]",
                            f"{pad}{name} = list({name})",
                        ]
                    )
                ]
            case "append":
                return [f"{pad}s = s * 0.9"]
            case "def":
                name = self.name("h")
                lines = [
                    f"{pad}def {name}(p, by={self.complex(1)}):",
                    f"{pad}    return p * by - s",
                ]
                self.complexes.append(f"{name}({self.complex(0)})")
                return lines
            case "object":
                name = self.name("pole")
                line = f"{pad}{name} = Pole({self.complex(1)}, {self.real(1)})"
                self.complexes.append(f"{name}({self.complex(0)})")
                self.reals.append(f"{name}.size")
                return [line]
            case "if":
                lines = [f"{pad}if {self.test()}:", *self.block(indent + 1)]
                if rng.random() < 0.6:
                    lines += [f"{pad}else:", *self.block(indent + 1)]
                return lines
            case loop:
                return self.loop(loop, indent, pad)

    def loop(self, kind, indent, pad):
        item = self.name("e")
        if kind == "for":
            return [f"{pad}for {item} in range(3):", *self.block(indent + 1), f"{pad}    s *= 0.5"]
        if kind == "while":
            lines = [f"{pad}{item} = 4", f"{pad}while {item} > 0 and abs(s) < 3.0:"]
            return [*lines, f"{pad}    {item} -= 1", *self.block(indent + 1)]
        self.complexes.append(item)
        lines = [f"{pad}for {item} in {self.rng.choice(['u', 'm[2]', 'q'])}:"]
        lines += self.block(indent + 1)
        self.complexes.remove(item)
        return lines

    def test(self):
        left = self.rng.choice([self.real(1), "abs(s)", "z.real", "x"])
        return f"{left} {self.rng.choice(['<', '>'])} {self.rng.choice(['0.3', 'y', '1'])}"

    def real(self, depth):
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return rng.choice([*self.reals, "0.7"])
        match rng.randrange(10):
            case 0 | 1:
                return f"({self.real(depth - 1)} {rng.choice('+-*')} {self.real(depth - 1)})"
            case 2:
                return f"abs({self.complex(depth - 1)})"
            case 3:
                return f"({self.complex(depth - 1)}).{rng.choice(['real', 'imag'])}"
            case 4:
                return f"np.{rng.choice(['real', 'imag', 'abs'])}({self.complex(depth - 1)})"
            case 5:
                return f"cmath.phase({self.complex(depth - 1)} + 4)"
            case 6:
                return f"np.sum(np.abs({self.vector(depth - 1)}) ** 2)"
            case 7:
                return f"({self.vector(depth - 1)}).real.mean()"
            case 8:
                return f"math.sin({self.real(depth - 1)})"
            case _:
                return f"({self.real(depth - 1)} / (1.5 + {self.real(depth - 1)} ** 2))"

    def complex(self, depth):
        rng = self.rng
        if depth == 0 or rng.random() < 0.15:
            return rng.choice([*self.complexes, "SHIFT", "0.5j"])
        a = self.complex(depth - 1)
        match rng.randrange(18):
            case 16:
                both = f"[{a}, {rng.choice([self.real(0), self.complex(0)])}]"
                f = rng.choice(["hstack", "stack", "array", "cumsum", "asarray"])
                return f"np.{f}({both})[{rng.randrange(2)}]"
            case 17:
                b = rng.choice([self.real(0), self.complex(0)])
                return rng.choice(
                    [f"np.multiply({a}, {b})", f"np.sum([{a}, {b}])", f"np.sign({a} + 2j) * {b}"]
                    + [f"np.dot({a}, {b})", f"np.full(2, {a})[0]", f"np.mean([{b}, {a}])"]
                )
            case 0 | 1:
                return f"({a} {rng.choice('+-')} {self.complex(depth - 1)})"
            case 2 | 3:
                return f"({a} * {self.complex(depth - 1)})"
            case 4:
                return f"({a} / (2.5 + abs({self.complex(depth - 1)})))"
            case 5:
                return f"({self.real(depth - 1)} / (3 + 1j + np.tanh(0.2 * {a})))"
            case 6:
                return f"complex({self.real(depth - 1)}, {self.real(depth - 1)})"
            case 7:
                return f"cmath.{rng.choice(['exp', 'sin', 'cosh', 'atan'])}(0.3 * {a})"
            case 8:
                return f"np.{rng.choice(['exp', 'cos', 'conj', 'square'])}(0.3 * {a})"
            case 9:
                return f"({a}).conjugate()"
            case 10:
                return f"({a} ** {rng.choice(['2', '3', '2.0'])} * 0.3)"
            case 11:
                return f"({self.real(depth - 1)} * {a})"
            case 12:
                return rng.choice([f"np.sum({self.vector(1)})", f"({self.vector(1)} @ u)"])
            case 13:
                return f"turned({a}{rng.choice(['', ', by=' + self.complex(0)])})"
            case 14:
                return f"({a} if {self.real(0)} > 0.1 else {rng.choice([self.real(1), 'z'])})"
            case _:
                return f"({self.vector(1)})[{rng.choice(['0', '-1'])}]"

    def vector(self, depth):
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return rng.choice(self.vectors)
        a = self.vector(depth - 1)
        match rng.randrange(15):
            case 14:
                c = self.complex(1)
                return rng.choice(
                    [f"np.where(({a}).real > 0, {c}, u)", f"np.full(3, {c})", f"np.add({a}, {c})"]
                )
            case 0 | 1:
                return f"({a} {rng.choice('+-*')} {self.vector(depth - 1)})"
            case 2:
                return f"({self.complex(1)} * {a})"
            case 3:
                return f"({self.real(1)} - {a})"
            case 4:
                return f"np.{rng.choice(['conj', 'abs', 'real', 'imag'])}({a} * 1j)"
            case 5:
                return f"({a} + 0j).{rng.choice(['conj()', 'real', 'imag', 'conjugate()'])}"
            case 6:
                return f"np.{rng.choice(['exp', 'sin', 'tanh'])}(0.2 * {a})"
            case 7:
                return f"np.where(({a}).real > {self.real(0)}, u, {self.vector(depth - 1)})"
            case 8:
                return f"({rng.choice(['m', 'm.T', 'WAVES', 'm.conj().T'])} @ {a} * 0.3)"
            case 9:
                return f"{a}[::-1]"
            case 10:
                return f"np.array([{self.complex(1)}, {self.complex(0)}, {self.real(0)}])"
            case 11:
                return f"({a} / (2.5 + np.abs({self.vector(depth - 1)})))"
            case 12:
                return f"(m * {a}).sum(axis={rng.randrange(2)})"
            case _:
                return f"(1j * {a})"
