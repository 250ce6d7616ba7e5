"""Generator functions: consumed wholly, partly, sent to, thrown into, closed, delegated."""

import itertools
import math
import warnings

import numpy as np

from tests.corpus.registry import case


def geometric(x, n):
    value = 1.0
    for _ in range(n):
        yield value
        value = value * x


@case(0.7)
def summed(x):
    return sum(geometric(x, 5))


@case(0.7)
def listed(x):
    values = list(geometric(x, 5))
    return values[1] * values[3] + len(values) * x


@case(0.7)
def partly_consumed(x):
    powers = geometric(x, 100)
    next(powers)
    return next(powers) * next(powers) + x


@case(0.7)
def broken_out_of(x):
    total = 0.0
    for value in geometric(x, 100):
        if value < 0.2:
            break
        total += value
    return total


@case(0.7)
def infinite_with_islice(x):
    def forever():
        value = x
        while True:
            yield value
            value = math.sin(value) + 0.1

    return sum(itertools.islice(forever(), 4))


@case(0.7)
def sent_values(x):
    def averager():
        total, count, average = 0.0, 0, 0.0
        while True:
            value = yield average
            total += value
            count += 1
            average = total / count

    averages = averager()
    next(averages)
    averages.send(x)
    averages.send(x * x)
    return averages.send(3.0) * x


@case(0.7)
def delegated(x):
    def inner(y):
        yield y
        received = yield y * 2
        return received if received is not None else y * y

    def outer():
        a = yield from inner(x)
        b = yield from inner(a)
        yield a * b

    return sum(outer())


@case(0.7)
def returned_value(x):
    def generate():
        yield x
        return x * 10.0

    it = generate()
    total = next(it)
    try:
        next(it)
    except StopIteration as stop:
        total += stop.value * x
    return total


@case(0.7)
def returned_constants(x):
    def first():
        if x < 0.0:
            yield x
        return 0.3

    def second():
        for _ in range(2):
            yield x
            break
        return "end"

    seen = []
    for it in (first(), second()):
        try:
            next(it)
            next(it)
        except StopIteration as stop:
            seen.append(stop.value)
    return x * x * seen[0] * len(seen[1])


@case(0.7)
def closed_early(x):
    state = [1.0]

    def generate():
        try:
            yield x
            yield x * 2
        finally:
            state[0] = state[0] * x

    it = generate()
    y = next(it)
    it.close()
    return y + state[0]


@case(0.7)
def thrown_into(x):
    def generate():
        value = x
        while True:
            try:
                yield value
                value = value * 2
            except ValueError:
                value = value * value

    it = generate()
    a = next(it)
    b = it.throw(ValueError())
    c = next(it)
    return a + b * c


@case(0.7)
def classes_thrown_into(x):
    class Failed(Exception):
        def __init__(self, factor=2.0):
            self.value = factor * x

    def generate():
        total = 0.0
        while True:
            try:
                yield total
                total *= x
            except Failed as error:
                total += error.value
            except ValueError as error:
                total += sum(error.args) * x

    it = generate()
    next(it)
    it.throw(Failed)
    it.throw(ValueError)
    it.throw(ValueError(x * x, 1.0))
    return next(it) * x


@case(0.7)
def interleaved(x):
    first, second = geometric(x, 4), geometric(x + 1.0, 4)
    total = 0.0
    for a, b in zip(first, second, strict=True):
        total += a * b
    return total


@case([0.1, [0.2, [0.3, 0.4]], 0.5])
def recursive_generator(tree):
    def walk(node):
        if isinstance(node, list):
            for child in node:
                yield from walk(child)
        else:
            yield node * node

    total = 0.0
    for depth, value in enumerate(walk(tree)):
        total += (depth + 1) * value
    return total


@case(0.7)
def pipeline(x):
    def scaled(values):
        for v in values:
            yield v * x

    def kept(values):
        for v in values:
            if v > 0.1:
                yield v

    return sum(kept(scaled(scaled(geometric(x, 6)))))


@case(np.array([0.4, 0.8]))
def generator_changes_captured_state(x):
    state = x.copy()

    def steps():
        for k in range(3):
            state[k % 2] *= x[0] + k
            yield state.sum()

    return sum(value * (k + 1) for k, value in enumerate(steps()))


@case(0.7)
def generator_sees_later_writes(x):
    items = [x, 1.0]

    def products():
        for k in range(2):
            yield items[k] * x

    it = products()
    a = next(it)
    items[1] = x * 5.0
    return a + next(it)


class Tree:
    def __init__(self, value, *children):
        self.value = value
        self.children = children

    def __iter__(self):
        yield self.value
        for child in self.children:
            yield from child


@case(0.7, 0.2)
def generator_method(x, y):
    tree = Tree(x, Tree(y, Tree(x * y)), Tree(2.0))
    return sum(v * v for v in tree) + max(tree) * x


@case(0.7)
def early_return_in_generator(x):
    def until(limit):
        value = x
        for _ in range(50):
            if value > limit:
                return
            yield value
            value = value * 1.7

    return sum(until(3.0)) + sum(until(0.1))


@case(0.7)
def generator_with_context(x):
    log = []

    class Scope:
        def __enter__(self):
            log.append(x)
            return x * 3

        def __exit__(self, *info):
            log.append(x * x)

    def generate():
        with Scope() as scale:
            yield scale
            yield scale * x

    return sum(generate()) + sum(log)


@case(0.7, 0.4)
@case(1.7, 0.4)
def generator_that_never_yields(x, y):
    seen = []

    def generate():
        for k in range(2):
            seen.append(x * y)
            if x > 1.0:
                return x * x
                yield y
            break
            yield x
        return y * seen[-1]

    it = generate()
    try:
        next(it)
    except StopIteration as end:
        seen.append(end.value)
    it.close()
    return sum(seen) * x


@case(0.7)
def generator_that_raises_before_it_yields(x):
    def generate(p):
        p, p = 0.5 * p, p * p
        raise ValueError(p)
        yield p

    it = generate(x)
    try:
        return next(it)
    except ValueError as error:
        return error.args[0] * next(it, x)
    finally:
        it.close()


@case(np.array([0.3, 0.5]), 0.7)
def sum_over_one_buffer(y, k):
    def generate():
        buffer = 0.5 * y
        for _ in range(3):
            yield buffer
            buffer[:] = 0.6 * buffer + k * np.sin(y)

    mixed = sum(item for item in (k, 2, k * k, y[0], k))
    return np.sum(sum(generate()) * sum(generate(), k)) + mixed


@case(0.7)
def thrown_with_arguments(x):
    class Failed(Exception):
        def __init__(self, factor=2.0, power=1):
            self.value = factor * x**power

    def generate():
        total = 0.0
        while True:
            try:
                yield total
            except Failed as error:
                total += error.value

    it = generate()
    next(it)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        it.throw(Failed, None)
        it.throw(Failed, x)
        it.throw(Failed, Failed(x * x))
        return it.throw(Failed, (x, 3), None)


@case(1.3)
def results_in_spite_of_finally(x):
    def cancelled():
        for _ in range(2):
            try:
                return x * x
            finally:
                yield x
                break

    def kept():
        try:
            return x**3
        finally:
            received = yield from replaced()
            yield received * x

    def replaced():
        yield x * x
        try:
            return x
        finally:
            return 5.0 * x  # noqa: B012

    def outer():
        nothing = yield from cancelled()
        something = yield from kept()
        yield something if nothing is None else 0.0

    return sum((k + 1) * value for k, value in enumerate(outer()))


@case(1.3)
def closed_from_within(x):
    log = []

    def nested(n):
        try:
            if n:
                yield from nested(n - 1)
            yield x * n
        except GeneratorExit:
            log.append(x**n)
            if n == 1:
                raise ValueError(x * x) from None
            raise
        except ValueError as error:
            log.append(error.args[0] * n)
            if n == 3:
                return x
        finally:
            log.append(x * n)

    it = nested(5)
    first = next(it)
    it.close()
    return first + sum((k + 1) * value for k, value in enumerate(log))


@case(1.3)
def sent_to_before_it_has_begun(x):
    def scaling():
        factor = yield x
        while True:
            factor = yield factor * x

    it = scaling()
    refused = 0
    for _ in range(2):
        try:
            it.send(x)
        except TypeError:
            refused += 1
    return next(it) * refused + it.send(x) + it.send(x * x)


@case(1.3)
def resumed_while_it_runs(x):
    itself = []

    def inner():
        try:
            next(itself[0])
        except ValueError:
            yield x * x

    def outer():
        yield from inner()
        for ask in (lambda: itself[0].send(None), lambda: itself[0].throw(KeyError(x))):
            try:
                ask()
            except ValueError:
                yield x**3
        try:
            itself[0].close()
        except ValueError:
            yield x

    itself.append(outer())
    return sum((k + 1) * value for k, value in enumerate(itself[0]))


@case(1.3)
def what_generators_say_of_themselves(x):
    def inner():
        yield x
        yield x * x

    def outer():
        yield from it
        yield x

    it = inner()
    both = outer()
    total = x * (both.gi_yieldfrom is None) * len(both.gi_code.co_name) * len(both.__qualname__)
    total += next(both) * (both.gi_yieldfrom is it)
    total += next(both.gi_yieldfrom) * 3.0
    return total + next(both) * (both.gi_yieldfrom is None)
