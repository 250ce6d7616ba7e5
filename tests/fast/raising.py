"""Random functions of one number with ``try``, ``finally``, ``with``, loops and jumps."""

from __future__ import annotations

import contextlib
import random

from tests.fast.jumping import made


class Noted:
    """A context manager that counts, and may swallow exceptions."""

    def __init__(self, log, k):
        self.log, self.k = log, k

    def __enter__(self):
        self.log[0] = self.log[0] + self.k
        return self.k * 1.5

    def __exit__(self, kind, error, trace):
        self.log[0] = self.log[0] * 1.1
        return kind is KeyError


@contextlib.contextmanager
def held(log, k):
    log[0] = log[0] + k
    try:
        yield k * 0.5
    finally:
        log[0] = log[0] * 0.9


class _Writer:
    def __init__(self, seed):
        self.random, self.lines, self.count = random.Random(seed), [], 0

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    def block(self, depth, loops, size=3):
        for _ in range(self.random.randint(1, size)):
            self.statement(depth, loops)

    def expression(self):
        a, b = self.random.choice("xyz"), self.random.choice("xyz")
        k = self.random.choice([0.3, 0.7, 1.1])
        return self.random.choice(
            [f"{a} * {k}", f"{a} + {k} * {b}", f"{a} * {b} * {k}", f"log[0] * {k}"]
        )

    def condition(self):
        return f"{self.random.choice('xyz')} > {self.random.choice([-0.5, 0.4, 1.0, 2.5])}"

    def statement(self, depth, loops):
        if depth > 4:
            self.line(depth, f"{self.random.choice('yz')} = {self.expression()}")
            return
        kinds = "assign assign log if try try finally with for raise find return jump".split()
        kind = self.random.choice(kinds)
        getattr(self, f"_{kind}")(depth, loops)

    def _assign(self, depth, loops):
        self.line(depth, f"{self.random.choice('yz')} = {self.expression()}")

    def _log(self, depth, loops):
        self.line(depth, f"log[0] = log[0] * 0.8 + {self.expression()}")

    def _if(self, depth, loops):
        self.line(depth, f"if {self.condition()}:")
        self.block(depth + 1, loops, 2)
        if self.random.random() < 0.4:
            self.line(depth, "else:")
            self.block(depth + 1, loops, 2)

    def _try(self, depth, loops):
        self.line(depth, "try:")
        self.block(depth + 1, loops)
        kind = self.random.choice(
            ["KeyError", "(KeyError, ValueError)", "LookupError", "Exception"]
        )
        name = self.random.choice(["", " as error"])
        self.line(depth, f"except {kind}{name}:")
        self.block(depth + 1, loops, 2)
        if self.random.random() < 0.3:
            self.line(depth + 1, "raise")
        if self.random.random() < 0.3:
            self.line(depth, "else:")
            self.block(depth + 1, loops, 2)
        if self.random.random() < 0.3:
            self.line(depth, "finally:")
            self._log(depth + 1, loops)

    def _finally(self, depth, loops):
        self.line(depth, "try:")
        self.block(depth + 1, loops)
        self.line(depth, "finally:")
        self.random.choice([self._log, self._assign])(depth + 1, loops)

    def _with(self, depth, loops):
        manager = self.random.choice(["Noted", "held"])
        self.line(depth, f"with {manager}(log, {self.random.choice('xyz')}) as y:")
        self.block(depth + 1, loops)

    def _for(self, depth, loops):
        self.count += 1
        over = self.random.choice(["range(3)", "(0.3, 0.9)", "range(n)"])
        self.line(depth, f"for i{self.count} in {over}:")
        self.block(depth + 1, loops + 1)
        if self.random.random() < 0.3:
            self.line(depth, "else:")
            self.block(depth + 1, loops, 2)

    def _raise(self, depth, loops):
        if self.random.random() < 0.6:
            self.line(depth, f"if {self.condition()}:")
            depth += 1
        self.line(
            depth,
            self.random.choice(["raise KeyError('k')", "raise ValueError", "raise TypeError"]),
        )

    def _find(self, depth, loops):
        table = self.random.choice(["{'a': x}", "{'b': y}"])
        self.line(depth, f"{self.random.choice('yz')} = {table}['a']")

    def _return(self, depth, loops):
        self.line(depth, f"if {self.condition()}:")
        self.line(depth + 1, f"return {self.expression()} + log[0]")

    def _jump(self, depth, loops):
        self.line(depth, f"if {self.condition()}:")
        self.line(depth + 1, self.random.choice(["break", "continue"]) if loops else "y = x")


def source(seed):
    """The text of one function."""
    writer = _Writer(seed)
    for text in ("y, z, log = x * 0.5, 1.0 - x, [x]",):
        writer.line(1, text)
    writer.block(1, 0, 5)
    writer.line(1, "return y + z * log[0]")
    return "\n".join(["def f(x, n):", *writer.lines])


def raising(seed):
    """One function of a number and a count."""
    f = made(source(seed))
    f.__globals__.update(Noted=Noted, held=held)
    return f
