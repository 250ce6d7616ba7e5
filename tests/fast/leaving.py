"""Random functions with nested loops that are left early, and numbers, a list and an object that
they carry: which argument a path leads to differs from branch to branch."""

from __future__ import annotations

import random

from tests.fast.jumping import made

CARRIED = ["p", "q", "s"]
PLACES = [*CARRIED, "held[0]", "held[1]", "held[2]", "o.a", "o.b"]
READ = [*PLACES, "x", "y", "z", "1.5", "0.5", "i", "j"]

_HEAD = """\
class Pair:
    def __init__(self, a):
        self.a, self.b = a, 0.0

def helped(u, v):
    for k in range(3):
        if u > k:
            return u * v
        u = u + v * k
    return v

def sought(u, v):
    k = 0
    while (w := u - 0.3 * k) * v > 0.1 and k < 4:
        u *= 0.5
        k += 1
        if u < 0.2:
            break
        if w > 1.5:
            return u * v
    else:
        return u + v
    return w

def f(x, y, z, items, n):
    held, o = [items[0], items[1], 1.0], Pair(y)
    p, q, s = 0.2, 1.0, 0.0
    i = j = 0"""


def leaving(seed):
    """A function of three numbers, a list of three and a count."""
    rng = random.Random(seed)
    lines = _Writer(rng).block(1, 0, 0, rng.randint(2, 5))
    result = rng.choice(["p", "q", "s", "held[0]", "o.a", "p + s", "p * q + held[1]"])
    return made("\n".join([_HEAD, *lines, f"    return {result}", ""]))


def arguments(seed):
    rng = random.Random(seed)
    values = [round(rng.uniform(-0.5, 2.5), 2) for _ in range(6)]
    return *values[:3], values[3:], rng.randrange(4)


class _Writer:
    def __init__(self, rng):
        self.rng = rng

    def block(self, indent, depth, loops, count):
        return [
            line for _ in range(count) for line in self.statement("    " * indent, depth, loops)
        ]

    def inner(self, pad, depth, loops, most):
        return self.block(len(pad) // 4 + 1, depth + 1, loops, self.rng.randint(1, most))

    def statement(self, pad, depth, loops):
        kinds = ["set"] * 9
        if depth < 4:
            kinds += ["if"] * 4
            kinds += ["items", "range", "range", "while"] * (loops < 2)
        kinds += ["jump"] * 3 * (loops > 0) + ["return"] * 2 * (depth > 0)
        kind = self.rng.choice(kinds)
        if kind == "set":
            return [pad + self.assignment()]
        if kind == "if":
            lines = [f"{pad}if {self.test()}:", *self.inner(pad, depth, loops, 2)]
            if self.rng.random() < 0.4:
                lines += [f"{pad}else:", *self.inner(pad, depth, loops, 2)]
            return lines
        if kind in ("jump", "return"):
            jump = self.rng.choice(["break", "continue"])
            jump = jump if kind == "jump" else f"return {self.expression()}"
            return [f"{pad}if {self.test()}:", f"{pad}    {jump}"]
        return self.loop(kind, pad, depth, loops)

    def loop(self, kind, pad, depth, loops):
        rng, index, item = self.rng, "ij"[loops], f"v{loops}"
        before: list[str] = []
        if kind == "items":
            head = rng.choice(
                [
                    f"for {item} in items:",
                    f"for {item} in held:",
                    f"for {index}, {item} in enumerate(items):",
                    f"for {item}, u{loops} in zip(items, held):",
                ]
            )
            factor = rng.choice(["", " * x", " + p", " * s"])
            first = f"{rng.choice(CARRIED)} = {item}{factor}"
        elif kind == "range":
            head = f"for {index} in range({rng.choice(['0', '1', '2', '3', 'n'])}):"
            first = self.assignment()
        else:
            before = [f"{pad}{index} = 0"]
            head = f"while {self.limit(index)}:"
            first = f"{index} += 1"
        lines = [*before, pad + head, f"{pad}    {first}", *self.inner(pad, depth, loops + 1, 3)]
        if rng.random() < 0.3:
            lines += [f"{pad}else:", *self.inner(pad, depth, loops, 1)]
        return lines

    def limit(self, index):
        rng = self.rng
        short = f"{index} < {rng.choice(['1', '2', 'n'])}"
        return rng.choice(
            [
                short,
                short,
                f"{short} and {self.test()}",
                f"{short} and helped({self.expression()}, y) > 0.4",
                f"{index} < 3 and (w := {self.expression()}) * x < {rng.choice(READ)} + w",
                f"not ({index} >= 3 or {self.test()})",
            ]
        )

    def assignment(self):
        rng = self.rng
        chance = rng.random()
        if chance < 0.08:
            return f"held = [{self.expression()}, {self.expression()}, {self.expression()}]"
        if chance < 0.16:
            return "p, q = q, p"
        if chance < 0.24:
            of_all = ["sum(held)", "sum(items)", "max(p, q)", "abs(p)"]
            of_two = [
                f"{f}({rng.choice(READ)}, {rng.choice(READ)})" for f in ("min", "helped", "sought")
            ]
            return f"s = {rng.choice(of_all + of_two)}"
        if chance < 0.28:
            return f"held.append({self.expression()})"
        return f"{rng.choice(PLACES)} {rng.choice(['=', '=', '+=', '*='])} {self.expression()}"

    def expression(self, depth=0):
        rng = self.rng
        if depth > 1 or rng.random() < 0.45:
            return rng.choice(READ)
        return f"({self.expression(depth + 1)} {rng.choice('+-*')} {self.expression(depth + 1)})"

    def test(self):
        rng = self.rng
        left = rng.choice([*CARRIED, "x", "y", "z", "held[0]", "o.a", "i", "j", "1.0"])
        return f"{left} {rng.choice('<>')} {rng.choice(['0.3', '0.7', '1', '2', 's', 'p'])}"
