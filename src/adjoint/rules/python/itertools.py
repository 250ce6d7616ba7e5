"""Substitutes for `itertools`, as lazy as the C functions.

A function checks and consumes its arguments when it is called, as in C, and returns a generator.
Combinations are computed for indices, which carry no derivative.

An iterator in C can go on after an error. So can a generator that is `restarting`: it is run again
with the same arguments, which hold all of its state.
"""

from __future__ import annotations

import itertools
import operator
from typing import Any

from adjoint.ir.primitives import begin
from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.runtime.dispatch.generators import as_type, restarting

_END = object()
"""Default of ``next`` at the end of an iterator."""
_TEE: type = type(itertools.tee(())[0])


# ---- one after another ---------------------------------------------------------------------------


@substitute(itertools.chain)
def chain(*iterables: Any) -> Any:
    return _chained(begin(iterables), [])


@substitute((itertools.chain, "from_iterable"))
def from_iterable(iterables: Any, /) -> Any:
    return _chained(begin(iterables), [])


@restarting
def _chained(iterables: Any, active: Any) -> Any:
    while True:
        if not active:
            active.append(None)  # after an error of `iterables` the chain has ended
            iterable = next(iterables, _END)
            if iterable is _END:
                return
            active[0] = begin(iterable)
        elif active[0] is None:
            return
        yield from active[0]
        active.clear()


@substitute(itertools.cycle)
def cycle(iterable: Any, /) -> Any:
    return _cycled(begin(iterable), [])


@restarting
def _cycled(iterator: Any, values: Any) -> Any:
    for value in iterator:
        values.append(value)
        yield value
    while values:
        for value in values:
            yield value


@substitute(itertools.count)
def count(start: Any = 0, step: Any = 1) -> Any:
    _check_count(start, step)
    return _counted(start, step)


def _check_count(start: Any, step: Any) -> None:
    itertools.count(start, step)  # Python's own message


def _counted(value: Any, step: Any) -> Any:
    while True:
        yield value
        value = value + step


# ---- some of the elements ------------------------------------------------------------------------


@substitute(itertools.islice)
def islice(iterable: Any, *bounds: Any) -> Any:
    start, stop, step = _bounds(bounds)
    return _sliced(begin(iterable), start, stop, step)


def _bounds(bounds: Any) -> tuple[int, int | None, int]:
    """Return start, stop and step; `itertools` itself raises if they are invalid."""
    itertools.islice((), *bounds)
    start, stop, step = (*bounds, None)[:3] if len(bounds) > 1 else (0, bounds[0], 1)
    return 0 if start is None else start, stop, 1 if step is None else step


def _sliced(iterator: Any, start: Any, stop: Any, step: Any) -> Any:
    """Yield the slice; at the end, `stop` elements are consumed, as by Python's iterator."""
    consumed, wanted = 0, start
    while True:
        while consumed < wanted:
            if next(iterator, _END) is _END:
                return
            consumed += 1
        if stop is not None and consumed >= stop:
            return
        value = next(iterator, _END)
        if value is _END:
            return
        consumed += 1
        wanted += step
        if stop is not None and wanted > stop:
            wanted = stop
        yield value


@substitute(itertools.takewhile)
def takewhile(predicate: Any, iterable: Any, /) -> Any:
    return _taken(predicate, begin(iterable))


@restarting
def _taken(predicate: Any, iterator: Any) -> Any:
    for value in iterator:
        if not predicate(value):
            return
        yield value


@substitute(itertools.dropwhile)
def dropwhile(predicate: Any, iterable: Any, /) -> Any:
    return _after(predicate, begin(iterable), [])


@restarting
def _after(predicate: Any, iterator: Any, first: Any) -> Any:
    for value in iterator:
        if not first:
            if predicate(value):
                continue
            first.append(value)
        yield value


@substitute(itertools.filterfalse)
def filterfalse(predicate: Any, iterable: Any, /) -> Any:
    return _rejected(predicate, begin(iterable))


@restarting
def _rejected(predicate: Any, iterator: Any) -> Any:
    for value in iterator:
        if not (value if predicate is None or predicate is bool else predicate(value)):
            yield value


@substitute(itertools.compress)
def compress(data: Any, selectors: Any) -> Any:
    return _compressed(begin(data), begin(selectors))


@restarting
def _compressed(values: Any, selectors: Any) -> Any:
    for value, selected in zip(values, selectors, strict=False):
        if selected:
            yield value


# ---- several at once -----------------------------------------------------------------------------


@substitute(itertools.starmap)
def starmap(function: Any, iterable: Any, /) -> Any:
    return _starmapped(function, begin(iterable))


@restarting
def _starmapped(function: Any, iterator: Any) -> Any:
    for args in iterator:
        yield function(*args)


@substitute(itertools.pairwise)
def pairwise(iterable: Any, /) -> Any:
    return _paired(begin(iterable))


def _paired(iterator: Any) -> Any:
    before = next(iterator, _END)
    if before is _END:
        return
    for value in iterator:
        yield before, value
        before = value


@substitute(itertools.zip_longest)
def zip_longest(*iterables: Any, fillvalue: Any = None) -> Any:
    return _zipped([begin(iterable) for iterable in iterables], fillvalue)


def _zipped(iterators: Any, fillvalue: Any) -> Any:
    running = len(iterators)
    while running:
        values = []
        for i, iterator in enumerate(iterators):
            value = _END if iterator is None else next(iterator, _END)
            if value is _END:
                if iterator is not None:
                    iterators[i] = None
                    running -= 1
                    if not running:
                        return
                value = fillvalue
            values.append(value)
        yield tuple(values)


if hasattr(itertools, "batched"):

    @substitute(itertools.batched)
    def batched(iterable: Any, n: Any, *, strict: Any = False) -> Any:
        if n < 1:
            raise ValueError("n must be at least one")
        return _batches(begin(iterable), n, strict)


def _batches(iterator: Any, n: Any, strict: Any) -> Any:
    while True:
        values = []
        for value in iterator:
            values.append(value)
            if len(values) == n:
                break
        if not values:
            return
        if strict and len(values) != n:
            raise ValueError("batched(): incomplete batch")
        yield tuple(values)


@substitute(itertools.tee)
def tee(iterable: Any, n: Any = 2, /) -> Any:
    n = operator.index(n)
    if n < 0:
        raise ValueError("n must be >= 0")
    iterator = begin(iter(iterable))  # C calls ``iter`` twice
    link: list[Any] = []
    iterators = [_following(iterator, [link]) for _ in range(n)]
    return _as_tees(iterators)


def _as_tees(iterators: Any) -> tuple[Any, ...]:
    return tuple(as_type(_TEE, one) for one in iterators)


@restarting
def _following(iterator: Any, at: Any) -> Any:
    """Yield the elements of a linked list that all tees share.

    A link is empty, or an element and the next link. The first tee to reach a link fills it.
    """
    while True:
        link = at[0]
        if not link:
            value = next(iterator, _END)
            if value is _END:
                return
            link.append(value)
            link.append([])
        value, at[0] = link
        yield value


# ---- combinations --------------------------------------------------------------------------------


@substitute(itertools.product)
def product(*iterables: Any, repeat: Any = 1) -> Any:
    pools = [tuple(iterable) for iterable in iterables] * repeat
    return _combined(pools, _grid([len(pool) for pool in pools]))


def _combined(pools: Any, choices: Any) -> Any:
    for choice in choices:
        yield tuple([pool[i] for pool, i in zip(pools, choice, strict=True)])


def _grid(lengths: list[int]) -> Any:
    return itertools.product(*map(range, lengths))


@substitute(itertools.permutations)
def permutations(iterable: Any, r: Any = None) -> Any:
    pool = tuple(iterable)
    return _selected(pool, _arrangements(len(pool), r))


@substitute(itertools.combinations)
def combinations(iterable: Any, r: Any) -> Any:
    pool = tuple(iterable)
    return _selected(pool, _subsets(len(pool), r))


@substitute(itertools.combinations_with_replacement)
def combinations_with_replacement(iterable: Any, r: Any) -> Any:
    pool = tuple(iterable)
    return _selected(pool, _multisets(len(pool), r))


def _selected(pool: Any, choices: Any) -> Any:
    for choice in choices:
        yield tuple([pool[i] for i in choice])


def _arrangements(n: int, r: Any) -> Any:
    return itertools.permutations(range(n), r)


def _subsets(n: int, r: Any) -> Any:
    return itertools.combinations(range(n), r)


def _multisets(n: int, r: Any) -> Any:
    return itertools.combinations_with_replacement(range(n), r)


non_differentiable(_bounds, _check_count, _as_tees)
non_differentiable(_grid, _arrangements, _subsets, _multisets)


# ---- accumulate, groupby -------------------------------------------------------------------------


@substitute(itertools.accumulate)
def accumulate(iterable: Any, func: Any = None, *, initial: Any = None) -> Any:
    return _accumulated(begin(iterable), func, [] if initial is None else [initial], [])


@restarting
def _accumulated(iterator: Any, func: Any, initial: Any, total: Any) -> Any:
    if initial:
        total.append(initial.pop())
        yield total[0]
    for value in iterator:
        if not total:
            total.append(value)
        else:
            total[0] = total[0] + value if func is None else func(total[0], value)
        yield total[0]


@substitute(itertools.groupby)
def groupby(iterable: Any, key: Any = None) -> Any:
    return _groups(_Run(begin(iterable), key))


class _Run:
    """State of a `groupby`.

    Attributes
    ----------
    value, key
        The element read last, or `_END` once it was yielded, and its key.
    known
        The key of the group yielded last.
    group
        The number of the current group; earlier ones have ended.
    """

    def __init__(self, iterator: Any, function: Any) -> None:
        self.iterator, self.function = iterator, function
        self.value, self.key, self.known, self.group = _END, _END, _END, 0

    def advance(self) -> bool:
        """Read the next element; return False at the end."""
        value = next(self.iterator, _END)
        if value is _END:
            return False
        self.key = value if self.function is None else self.function(value)
        self.value = value
        return True


@restarting
def _groups(run: Any) -> Any:
    while True:
        run.group += 1
        while run.key is _END or (run.known is not _END and _same(run.known, run.key)):
            if not run.advance():
                return
        run.known = run.key
        yield run.key, _members(run, run.key, run.group)


@restarting
def _members(run: Any, key: Any, group: Any) -> Any:
    while run.group == group:
        if run.value is _END and not run.advance():
            return
        if not _same(key, run.key):
            return
        value = run.value
        run.value = _END
        yield value


def _same(a: Any, b: Any) -> bool:
    return a is b or bool(a == b)
