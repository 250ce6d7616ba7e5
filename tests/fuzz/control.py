"""Programs of nested control flow: loops, exceptions, generators, contexts, closures."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tests.fuzz import preludes
from tests.fuzz.program import Block, Line, Program, Statement, block

FLOATS = ("a", "b", "c", "d")
EXCEPTIONS = ("Stop", "Halt")


@dataclass(frozen=True)
class Scope:
    """What a statement may use where it stands."""

    depth: int = 0
    kind: str = "program"
    loop: bool = False
    place: str = ""
    guarded: bool = False
    reads: tuple[str, ...] = FLOATS
    writes: tuple[str, ...] = FLOATS
    integers: tuple[str, ...] = ()
    functions: list[str] = field(default_factory=list)
    generators: list[str] = field(default_factory=list)

    def inner(self, **changes: object) -> Scope:
        """The scope of a nested block: what it defines is not seen outside."""
        changes.setdefault("depth", self.depth + 1)
        return replace(
            self,
            functions=[*self.functions],
            generators=[*self.generators],
            **changes,  # type: ignore[arg-type]
        )


class ControlWriter:
    """Writes one program; every choice comes from `rng`."""

    def __init__(self, rng: random.Random, statements: int = 40) -> None:
        self.rng = rng
        self.left = statements
        self.names = 0

    def program(self, name: str) -> Program:
        """A program whose exceptions end inside it and whose loops are bounded."""
        args = (*(round(self.rng.uniform(-1.5, 1.5), 3) for _ in range(3)), self.numbers(3))
        scope = Scope()
        body: list[Statement] = [Line("d = 0.5"), Line("log = []")]
        attempt = self.body(scope.inner(depth=0), 4, 7)
        last = [Line("a = 0.5 * a + 0.3 * last.value", "uncaught exception")]
        body.append(block("try:", attempt, ("except Stop as last:", last), tag=""))
        body.append(
            Line(
                "return 0.7 * a + 0.4 * b - 0.6 * c * d + sum(v * 0.8**k for k, v in enumerate(xs))"
                " + sum(v / (k + 2) for k, v in enumerate(log))"
            )
        )
        return Program(name, preludes.CONTROL, "a, b, c, xs", body, args)

    # ---- small things ----------------------------------------------------------------------------

    def numbers(self, n: int) -> list[float]:
        return [round(self.rng.uniform(-1.5, 1.5), 3) for _ in range(n)]

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def leaf(self, s: Scope) -> str:
        roll = self.rng.random()
        if roll < 0.65:
            return self.rng.choice(s.reads)
        if roll < 0.85:
            return f"xs[{self.rng.randrange(3)}]"
        return str(self.rng.choice((0.3, 0.7, 1.1, -0.4)))

    def expression(self, s: Scope, depth: int = 2, pure: bool = False) -> str:
        """An expression of moderate size; its own value stays moderate as well."""
        if depth == 0:
            return self.leaf(s)

        def sub() -> str:
            return self.expression(s, depth - 1, pure)

        roll = self.rng.random()
        if roll < 0.25:
            return f"math.{self.rng.choice(('sin', 'tanh', 'cos'))}({sub()})"
        if roll < 0.45:
            return f"0.6 * {self.leaf(s)} + 0.4 * {sub()}"
        if roll < 0.6:
            return f"math.tanh({self.leaf(s)} * ({sub()}))"
        if roll < 0.68:
            return f"0.5 * ({sub()} - {self.leaf(s)})"
        if roll < 0.74:
            return f"({self.leaf(s)} if {self.condition(s)} else {sub()})"
        if roll < 0.88 and s.functions and not pure:
            return f"{self.rng.choice(s.functions)}({self.leaf(s)})"
        if roll < 0.92 and not pure:
            return f"({self.rng.choice(s.writes)} := {self.leaf(s)} * 0.9)"
        return self.leaf(s)

    def condition(self, s: Scope) -> str:
        limit = round(self.rng.uniform(-0.9, 0.9), 4)
        roll = self.rng.random()
        if roll < 0.3 and s.integers:
            k = self.rng.choice(s.integers)
            return self.rng.choice((f"{k} % 2 == 0", f"{k} > 0", f"{k} == 1", f"{k} < 2"))
        if roll < 0.4:
            return f"{limit} < {self.leaf(s)} <= {limit + 1.5:.4f}"
        if roll < 0.5:
            joint = self.rng.choice(("and", "or"))
            return f"{self.leaf(s)} > {limit} {joint} not {self.leaf(s)} > {-limit}"
        if roll < 0.6:
            return "len(xs) > 4"
        return f"{self.leaf(s)} {self.rng.choice('<>')} {limit}"

    # ---- statements ------------------------------------------------------------------------------

    def body(self, s: Scope, low: int = 1, high: int = 4) -> list[Statement]:
        """Statements of one block."""
        result: list[Statement] = []
        for _ in range(self.rng.randint(low, high)):
            if self.left <= 0:
                break
            result.extend(self.statement(s))
        if not result:
            result.append(self.assign(s))
        if s.depth and self.chance(0.45 if s.place in ("finally", "except", "with") else 0.22):
            result.extend(self.leave(s))
        return result

    def statement(self, s: Scope) -> list[Statement]:
        self.left -= 1
        deep = s.depth >= 5
        choices: list[tuple[float, Callable[[Scope], list[Statement]]]] = [
            (4, lambda s: [self.assign(s)]),
            (2, self.leave_if),
            (0 if s.kind != "generator" else 6, self.yielding),
        ]
        if not deep:
            choices += [
                (2.0, self.branch), (2.5, self.loop), (1.5, self.while_loop), (3.5, self.attempt),
                (1.8, self.context), (1.0, self.matching), (1.0, self.comprehension),
                (1.6, self.function), (0.6, self.recursion), (0.5, self.annihilate),
            ]  # fmt: skip
            if s.kind != "generator":
                choices.append((1.6, self.generator))
        if s.generators:
            choices.append((3.0, self.consume))
        weights, makers = zip(*choices, strict=True)
        return self.rng.choices(makers, weights)[0](s)

    def assign(self, s: Scope) -> Line:
        v, e = self.rng.choice(s.writes), self.expression(s)
        roll = self.rng.random()
        if roll < 0.5:
            return Line(f"{v} = {e}", "assignment")
        if roll < 0.65:
            return Line(f"{v} {self.rng.choice(('+=', '-='))} 0.3 * ({e})", "augmented assignment")
        if roll < 0.75:
            w = self.rng.choice(s.writes)
            return Line(f"{v}, {w} = 0.9 * {self.leaf(s)}, {e}", "tuple assignment")
        if roll < 0.88:
            return Line(f"xs[{self.rng.randrange(3)}] = {e}", "list element")
        if roll < 0.94:
            return Line(f"xs[{self.rng.randrange(3)}] *= 0.8", "list element augmented")
        return Line(f"xs.append({e})", "list append")

    def leave(self, s: Scope) -> list[Statement]:
        """One statement that leaves the block."""
        swallows = s.place == "finally" and s.kind == "generator"
        ways = ["raise"] * (3 if s.guarded else 1)
        if s.loop and not swallows:
            ways += ["break", "continue"] * 4
        if s.kind != "program":
            ways += ["return"] * 3
        elif s.depth > 1 and s.place:
            ways += ["return"]
        if ways == ["raise"] and self.chance(0.8):
            return [self.assign(s)]
        way = self.rng.choice(ways)
        tag = f"{way} in {s.place or 'block'}"
        if way == "raise":
            return [Line(f"raise {self.rng.choice(EXCEPTIONS)}({self.expression(s, 1)})", tag)]
        return [Line(f"return {self.expression(s)}" if way == "return" else way, tag)]

    def leave_if(self, s: Scope) -> list[Statement]:
        return [block(f"if {self.condition(s)}:", self.leave(s), tag="")]

    def branch(self, s: Scope) -> list[Statement]:
        clauses = [(f"if {self.condition(s)}:", self.body(s.inner()))]
        if self.chance(0.4):
            clauses.append((f"elif {self.condition(s)}:", self.body(s.inner(), 1, 2)))
        if self.chance(0.6):
            clauses.append(("else:", self.body(s.inner(), 1, 3)))
        return [Block(clauses, "if")]

    def loop(self, s: Scope) -> list[Statement]:
        k, v = self.fresh("k"), self.fresh("v")
        header, tag, reads = self.rng.choice(
            (
                (f"for {k} in range({self.rng.randint(2, 4)}):", "for range", ()),
                (f"for {k}, {v} in enumerate(xs[:3]):", "for enumerate", (v,)),
                (f"for {k}, {v} in zip(range(3), list(xs)):", "for zip", (v,)),
                (f"for {k}, {v} in enumerate({e} for {e} in xs[:3]):", "for genexpr", (v,))
                if (e := self.fresh("e"))
                else ("", "", ()),
                (f"for {k}, {v} in enumerate([{self.leaf(s)}, {self.leaf(s)}]):", "for list", (v,)),
            )
        )
        inner = s.inner(
            loop=True, place="loop", reads=(*s.reads, *reads), integers=(*s.integers, k)
        )
        made = block(header, self.body(inner, 1, 4), tag=tag)
        if self.chance(0.3):
            made.clauses.append(("else:", self.body(s.inner(place="for else"), 1, 2)))
        return [made]

    def while_loop(self, s: Scope) -> list[Statement]:
        k = self.fresh("k")
        test = f"{k} < {self.rng.randint(2, 4)}"
        if self.chance(0.5):
            test += f" and {self.condition(s)}"
        inner = s.inner(loop=True, place="loop", integers=(*s.integers, k))
        body = [Line(f"{k} += 1"), *self.body(inner, 1, 3)]
        made = block(f"while {test}:", body, tag="while")
        if self.chance(0.3):
            made.clauses.append(("else:", self.body(s.inner(place="while else"), 1, 2)))
        return [Line(f"{k} = 0"), made]

    def attempt(self, s: Scope) -> list[Statement]:
        made = block("try:", self.body(s.inner(place="try", guarded=True), 1, 4), tag="try")
        handlers = self.rng.choice((0, 1, 1, 1, 2))
        for kind in self.rng.sample(("Halt", "Stop", "(Halt, ValueError)", "Exception"), handlers):
            error = self.fresh("error")
            inner = s.inner(place="except")
            caught = self.body(inner, 1, 2)
            if kind != "Exception":
                use = f"{self.rng.choice(s.writes)} = 0.8 * getattr({error}, 'value', 0.5)"
                caught.insert(0, Line(use, "exception's value"))
            if self.chance(0.15):
                again = (
                    "raise",
                    f"raise Halt({self.expression(s, 1)}) from {error}",
                )
                caught.append(Line(self.rng.choice(again), "raised again"))
            made.clauses.append((f"except {kind} as {error}:", caught))
        if handlers and self.chance(0.3):
            made.clauses.append(("else:", self.body(s.inner(place="try else"), 1, 2)))
        if not handlers or self.chance(0.5):
            final = self.body(s.inner(place="finally"), 1, 2)
            made.clauses.append(("finally:", final))
        return [made]

    def context(self, s: Scope) -> list[Statement]:
        value, name = self.expression(s, 1), self.fresh("g")
        if self.chance(0.3):
            header, tag, read = f"with scope({value}, log) as {name}:", "with generator", name
        else:
            quiet = self.chance(0.5)
            header = f"with Guard({value}, log, {quiet}) as {name}:"
            tag, read = f"with {'suppressing' if quiet else 'plain'}", f"{name}.value"
        guarded = s.guarded or tag == "with suppressing"
        inner = s.inner(place="with", guarded=guarded, reads=(*s.reads, read))
        return [block(header, self.body(inner, 1, 3), tag=tag)]

    def matching(self, s: Scope) -> list[Statement]:
        v, w = self.fresh("v"), self.fresh("v")
        subject = self.rng.choice((f"[{self.leaf(s)}, {self.leaf(s)}]", "xs", "tuple(xs[:2])"))
        reads = (*s.reads, v, w)
        patterns = [
            (f"case [{v}, {w}] if {v} > 0.1234:", self.body(s.inner(reads=reads), 1, 2)),
            (f"case [{v}, _, {w}, *_]:", self.body(s.inner(reads=reads), 1, 2)),
            ("case _:", self.body(s.inner(), 1, 2)),
        ]
        return [Block([(f"match {subject}:", [Block([clause]) for clause in patterns])], "match")]

    def comprehension(self, s: Scope) -> list[Statement]:
        v, k, target = self.fresh("v"), self.fresh("k"), self.rng.choice(s.writes)
        inner = replace(s, reads=(*s.reads, v), integers=(*s.integers, k))
        element = self.expression(inner, 1, pure=True)
        guard = f" if {self.condition(inner)}" if self.chance(0.4) else ""
        loops = f"for {k}, {v} in enumerate(xs[:3]){guard}"
        text, tag = self.rng.choice(
            (
                (f"0.3 * sum([{element} {loops}])", "list comprehension"),
                (f"0.3 * sum({element} {loops})", "generator expression"),
                (f"0.3 * sum({{{k}: {element} {loops}}}.values())", "dict comprehension"),
                (f"0.2 * sum([{element} {loops} for _ in (1, 2)])", "nested comprehension"),
                (f"0.3 * sum(map(lambda {v}, {k}: {element}, xs[:3], range(3)))", "lambda"),
            )
        )
        return [Line(f"{target} = {text}", tag)]

    def annihilate(self, s: Scope) -> list[Statement]:
        t = self.fresh("t")
        v = self.rng.choice(s.writes)
        lines = [f"{t} = {self.expression(s, 1)}", f"{v} = {t} * 0.9", f"del {t}"]
        return [Line(text, "del") for text in lines]

    # ---- functions and generators ----------------------------------------------------------------

    def nested(self, s: Scope, kind: str, p: str) -> tuple[list[Statement], Scope]:
        """The first lines of a nested function and the scope of its body."""
        outer = tuple(v for v in s.writes if v in FLOATS)
        shared = tuple(self.rng.sample(outer, min(len(outer), self.rng.randint(0, 2))))
        local = self.fresh("w")
        start: list[Statement] = [Line(f"{local} = {p} * 0.5")]
        if shared:
            start.insert(0, Line(f"nonlocal {', '.join(shared)}"))
        reads = (*s.reads, p, p, local)
        writes = (*shared, local, local)
        inner = s.inner(
            kind=kind,
            loop=False,
            place="",
            guarded=False,
            reads=reads,
            writes=writes,
            depth=max(s.depth + 1, 3),
        )
        return start, inner

    def function(self, s: Scope) -> list[Statement]:
        f, p = self.fresh("f"), self.fresh("p")
        start, inner = self.nested(s, "function", p)
        body = [*start, *self.body(inner, 1, 3), Line(f"return {self.expression(inner, 1)}")]
        tag = "nonlocal function" if "nonlocal" in start[0].text else "function"
        made = block(f"def {f}({p}):", body, tag=tag)
        s.functions.append(f)
        call = f"{self.rng.choice(s.writes)} = {self.leaf(s)} * 0.5 + 0.5 * {f}({self.leaf(s)})"
        return [made, Line(call, f"call of {tag}")]

    def recursion(self, s: Scope) -> list[Statement]:
        f, n, p = self.fresh("f"), self.fresh("n"), self.fresh("p")
        inner = s.inner(
            kind="function", loop=False, place="", reads=(*s.reads, p), writes=(p,),
            integers=(*s.integers, n), depth=max(s.depth + 1, 4),
        )  # fmt: skip
        leaf = block(f"if {n} <= 0:", [Line(f"return {self.expression(inner, 1)}")], tag="")
        again = f"return math.tanh({f}({n} - 1, {self.expression(inner, 1)}) + 0.5 * {p})"
        body = [leaf, *self.body(inner, 1, 2), Line(again, "recursion")]
        made = block(f"def {f}({n}, {p}):", body, tag="")
        call = f"{self.rng.choice(s.writes)} = {f}({self.rng.randint(1, 4)}, {self.leaf(s)})"
        return [made, Line(call, "call of recursion")]

    def generator(self, s: Scope) -> list[Statement]:
        g, p = self.fresh("g"), self.fresh("p")
        start, inner = self.nested(s, "generator", p)
        body = [*start, Line(f"yield {self.leaf(inner)}", "yield")]
        body += self.body(inner, 2, 4)
        if s.generators and self.chance(0.6):
            body.insert(self.rng.randint(len(start), len(body)), self.delegating(inner))
        made = block(f"def {g}({p}):", body, tag="generator")
        s.generators.append(g)
        if s.depth < 5 and self.left > 0 and self.chance(0.35):
            return [made, *self.generator(s)]
        return [made, *self.consume(s)]

    def yielding(self, s: Scope) -> list[Statement]:
        if s.place == "finally":  # a generator that is being closed must not yield
            return [self.assign(s)]
        roll, v = self.rng.random(), self.rng.choice(s.writes)
        if roll < (0.3 if s.generators else 0.55):
            return [Line(f"yield {self.expression(s, 1)}", f"yield in {s.place or 'block'}")]
        if roll < 0.5 or not s.generators:
            sent = self.fresh("r")
            use = Line(f"{v} = 0.7 * {sent}", "value sent")
            return [
                Line(f"{sent} = yield {self.expression(s, 1)}", f"yield in {s.place or 'block'}"),
                block(f"if {sent} is not None:", [use], tag=""),
            ]
        return [self.delegating(s)]

    def delegating(self, s: Scope) -> Line:
        inner = f"{self.rng.choice(s.generators)}({self.leaf(s)})"
        if self.chance(0.5):
            return Line(f"yield from {inner}", "yield from")
        v = self.rng.choice(s.writes)
        return Line(f"{v} = (yield from {inner}) or 0.25", "yield from with result")

    def consume(self, s: Scope) -> list[Statement]:
        """Use a generator; whatever happens, it is closed at a definite place."""
        made, it = f"{self.rng.choice(s.generators)}({self.expression(s, 1)})", self.fresh("it")
        use = self.rng.choice(
            (self.iterate, self.iterate, self.step, self.step, self.slice_of, self.send_and_throw)
        )(s, it)
        if self.chance(0.5):
            header = f"with contextlib.closing({made}) as {it}:"
            return [block(header, use, tag="closing")]
        close = [Line(f"{it}.close()", "generator closed")]
        return [Line(f"{it} = {made}"), block("try:", use, ("finally:", close), tag="")]

    def iterate(self, s: Scope, it: str) -> list[Statement]:
        v, k = self.fresh("v"), self.fresh("k")
        inner = s.inner(
            loop=True,
            place="loop",
            reads=(*s.reads, v),
            integers=(*s.integers, k),
            depth=s.depth + 2,
        )
        return [
            block(
                f"for {k}, {v} in zip(range(4), {it}):",
                self.body(inner, 1, 2),
                tag="for generator",
            )
        ]

    def step(self, s: Scope, it: str) -> list[Statement]:
        v, w = self.rng.choice(s.writes), self.rng.choice(s.writes)
        between = self.assign(s)
        return [
            Line(f"{v} = next({it}, 0.4)", "next"),
            between,
            Line(f"{w} = 0.5 * {self.leaf(s)} + 0.5 * next({it}, {self.leaf(s)})", "next"),
        ]

    def slice_of(self, s: Scope, it: str) -> list[Statement]:
        v = self.rng.choice(s.writes)
        if self.chance(0.5):
            return [Line(f"{v} = 0.3 * sum(itertools.islice({it}, 3))", "islice of generator")]
        return [Line(f"{v} = 0.2 * sum(list({it})[:4])", "list of generator")]

    def send_and_throw(self, s: Scope, it: str) -> list[Statement]:
        v = self.rng.choice(s.writes)
        second = self.rng.choice(
            (
                (f"{v} = 0.6 * {it}.send({self.expression(s, 1)})", "send"),
                (f"{v} = 0.6 * {it}.throw(Stop({self.expression(s, 1)}))", "throw"),
            )
        )
        ended = f"{self.rng.choice(s.writes)} = getattr(done, 'value', None) or 0.35"
        kinds = "(Stop, StopIteration)" if second[1] == "throw" else "StopIteration"
        attempt: list[Statement] = [Line(f"{v} = next({it})", "next"), Line(*second)]
        handler: list[Statement] = [Line(ended, "value of a finished generator")]
        return [block("try:", attempt, (f"except {kinds} as done:", handler), tag="")]


def control_program(seed: str) -> Program:
    """The program of a seed."""
    rng = random.Random(seed)
    return ControlWriter(rng, rng.randint(12, 45)).program(f"control_{seed.replace(':', '_')}")
