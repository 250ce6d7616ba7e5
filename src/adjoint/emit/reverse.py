"""The reverse function as Python source.

Each variable ``x`` has a cotangent ``x_bar``. The emitter follows through the text whether it may
differ from ``None``, so that the first contribution is an assignment and only further ones are
accumulated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, assert_never

from adjoint.emit.writer import Names, Writer
from adjoint.ir.nodes import Var
from adjoint.ir.sweeps import BackRegion, Clear, Move, Pull, Resume, Seed, Slot, Unwind, When

SEED = "seed"
"""The variable that holds the cotangent of the result until the executed ``return`` takes it."""


class ReverseEmitter:
    """Write reverse regions.

    `_live` holds the variables whose cotangent may differ from ``None``. `_sticky` holds those for
    which this depends on the path, so that their ``None`` must be stored.
    """

    def __init__(
        self, writer: Writer, names: Names, runtime: dict[str, Callable[..., Any]]
    ) -> None:
        self._writer, self._names, self._runtime = writer, names, runtime
        self._records = ["rec"]
        self._loops = 0
        self._live: set[str] = set()
        self._sticky: set[str] = set()

    def function(
        self,
        head: str,
        region: BackRegion,
        parameters: Iterable[str],
        is_generator: bool = False,
        never_yields: bool = False,
    ) -> None:
        """Write the function `head`.

        It returns the cotangents of the function itself and of the parameters. A generator
        exchanges sent values and its result through the memory. With `never_yields`, the text gets
        an unreachable ``yield``, because nothing else makes it a generator.
        """
        seed, live = SEED, set[str]()
        match region:
            case (Seed(value=Var(name=name)), *rest):
                seed, live, region = _bar(name), {name}, tuple(rest)
        with self._writer.block(f"def {head}(rec, {seed}):"):
            if never_yields:
                self._writer.line("if False: yield")
            _Flow(self._sticky).region(region, set(live))
            for name in sorted(self._sticky - live):
                self._writer.line(f"{_bar(name)} = None")
            self._live = live
            self.region(region)
            results = ["None", *map(self._take, parameters)]
            end = "rec[0].passed =" if is_generator else "return"
            self._writer.line(f"{end} {', '.join(results)}{',' if len(results) == 1 else ''}")

    def region(self, region: BackRegion) -> None:
        for op in region:
            self._op(op)

    def _op(self, op: Any) -> None:
        match op:
            case Pull():
                self._pull(op)
            case Move(target=target, source=source, span=span):
                value = self._take(target.name)
                if value != "None":
                    self._add(source.name, value, span)
                self._clear(target.name, unless=source.name)
            case Clear(target=target):
                self._clear(target.name)
            case Seed(value=value, span=span):
                if value is not None:
                    self._add(value.name, SEED, span)
                self._writer.line(f"{SEED} = None", span)
            case When(slot=slot, value=value, body=body):
                before = set(self._live)
                with self._writer.block(f"if {self._slot(slot)}{'' if value else ' is False'}:"):
                    self.region(body)
                self._live |= before
            case Unwind():
                self._unwind(op)
            case Resume(target=target, value=value, slot=slot, span=span):
                before = set(self._live)
                with self._writer.block(f"if {self._slot(slot)}:", span):
                    sent = "None" if target is None else self._take(target.name)
                    received = "received"
                    self._writer.line(f"yield {sent}", span)
                    if value is not None:
                        self._writer.line(f"{received} = rec[0].passed", span)
                    if target is not None:
                        self._clear(target.name)
                    if value is not None:
                        self._add(value.name, received, span)
                self._live |= before
            case _:
                assert_never(op)

    # ---- cotangents of variables -----------------------------------------------------------------

    def _slot(self, slot: Slot) -> str:
        return f"{self._records[slot.depth]}[{slot.index}]"

    def _take(self, name: str) -> str:
        return _bar(name) if name in self._live else "None"

    def _clear(self, name: str, unless: str | None = None) -> None:
        if name != unless:
            if name in self._live and name in self._sticky:
                self._writer.line(f"{_bar(name)} = None")
            self._live.discard(name)

    def _add(self, name: str, value: str, span: Any = None) -> None:
        if name in self._live:
            accumulate = self._names.of(self._runtime["accumulate"], "accumulate")
            self._writer.line(f"{_bar(name)} = {accumulate}({_bar(name)}, {value})", span)
        elif value != _bar(name):
            self._writer.line(f"{_bar(name)} = {value}", span)
        self._live.add(name)

    # ---- operations ------------------------------------------------------------------------------

    def _pull(self, op: Pull) -> None:
        seeds = [self._take(result.name) for result in op.results] or ["None"]
        results = {result.name for result in op.results}
        if op.reached is not None:
            # An exception may have left the call: then the names still hold their previous values.
            reached = self._slot(op.reached)
            if any(seed != "None" for seed in seeds):
                taken = [f"taken{i}" if seed != "None" else seed for i, seed in enumerate(seeds, 1)]
                for seed, name in zip(seeds, taken, strict=True):
                    if seed != "None":
                        text = f"{name}, {seed} = ({seed}, None) if {reached} else (None, {seed})"
                        self._writer.line(text, op.span)
                seeds = taken
            results = set()
        call = f"{self._slot(op.slot)}({', '.join(seeds)})"
        live = self._live - results
        targets: list[str] = []
        sums: list[tuple[str, str]] = []
        assigned: set[str] = set()
        for operand in op.operands:
            if operand is None:
                targets.append("_")
                continue
            name = operand.name
            if name in live or name in assigned:
                part = f"part{len(sums) + 1}"
                targets.append(part)
                sums.append((name, part))
            else:
                assigned.add(name)
                targets.append(f"{name}_bar")
        if assigned or sums:
            # Assigning the function's own cotangent, None, to the seed frees a large array early.
            first = seeds[0] if len(results) == 1 and seeds[0] not in ("None", *targets) else "_"
            self._writer.line(f"{first}, {', '.join(targets)} = {call}", op.span)
        else:
            self._writer.line(call, op.span)
        self._live = live | assigned
        if self._sticky:
            for name in sorted(results - assigned):
                if name in self._sticky and _bar(name) in seeds:
                    self._writer.line(f"{_bar(name)} = None")
        for name, part in sums:
            self._add(name, part)

    def _unwind(self, op: Unwind) -> None:
        before = set(self._live)
        flow = _Flow(set())
        entry = flow.loop(op, before)
        self._loops += 1
        inner = f"rec{self._loops}"
        iterations = self._slot(op.loop.slot)
        if op.target is not None and op.loop.items is not None:
            unwind = self._names.of(self._runtime["unwind"], "unwind")
            step, last = f"step{self._loops}", f"finish{self._loops}"
            items = self._slot(op.loop.items)
            record = self._records[op.loop.items.depth]
            count = f"{self._names.of(len, 'len')}({iterations})"
            self._writer.line(f"{step}, {last} = {unwind}({record}, {items}, {count})", op.span)
        self._live = set(entry)
        backwards = f"{self._names.of(reversed, 'reversed')}({iterations})"
        with self._writer.block(f"for {inner} in {backwards}:", op.span):
            self._records.append(inner)
            self.region(op.body)
            self._records.pop()
            if op.target is not None:
                self._writer.line(f"{step}({self._take(op.target.name)})", op.span)
                self._clear(op.target.name)
        self._live |= entry
        if op.target is not None:
            if op.iterable is not None:
                self._add(op.iterable.name, f"{last}()", op.span)
            else:
                self._writer.line(f"{last}()", op.span)


class _Flow:
    """Compute which cotangents may be live at each point, in the steps of the emitter but without
    text.

    Parameters
    ----------
    sticky
        Collects the variables whose state differs between paths that meet.
    """

    def __init__(self, sticky: set[str]) -> None:
        self._sticky = sticky

    def region(self, region: BackRegion, live: set[str]) -> set[str]:
        for op in region:
            live = self._op(op, live)
        return live

    def _op(self, op: Any, live: set[str]) -> set[str]:
        match op:
            case Pull(results=results, operands=operands, reached=reached):
                live = set(live)
                for result in results:
                    if reached is None:
                        live.discard(result.name)
                    elif result.name in live:
                        self._sticky.add(result.name)
                live.update([operand.name for operand in operands if operand is not None])
                return live
            case Move(target=target, source=source):
                if target.name not in live:
                    return live
                return (live - {target.name}) | {source.name}
            case Clear(target=target):
                return live - {target.name}
            case Seed(value=value):
                return live | {value.name} if value is not None else live
            case When(body=body):
                after = self.region(body, set(live))
                self._sticky |= after ^ live
                return after | live
            case Unwind():
                live = self.loop(op, live)
                return live | {op.iterable.name} if op.iterable is not None else live
            case Resume(target=target, value=value):
                after = live - ({target.name} if isinstance(target, Var) else set())
                after |= {value.name} if value is not None else set()
                self._sticky |= after ^ live
                return after | live
            case _:
                assert_never(op)

    def loop(self, op: Unwind, live: set[str]) -> set[str]:
        """Return the state at the head of a loop: a fixed point, which is also the state after the
        loop."""
        entry = set(live)
        while True:
            after = self.region(op.body, set(entry))
            if op.target is not None:
                after = after - {op.target.name}
            if after <= entry:
                break
            entry |= after
        self._sticky |= entry ^ live
        self._sticky |= entry ^ after
        return entry


def _bar(name: str) -> str:
    return f"{name}_bar"
