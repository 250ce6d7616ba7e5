"""``nonlocal``, ``global``, and state read from the module."""

import numpy as np

from tests.corpus.registry import case

RATE = 0.3
TABLE = [0.5, 1.5]
OPTIONS = {"power": 3}
counter = 0.0
memory = []


def reset_counter():
    global counter
    counter = 0.0


def reset_memory():
    memory.clear()


@case(1.3)
def reads_globals(x):
    return x * RATE + TABLE[1] * x ** OPTIONS["power"]


@case(1.3, reset=reset_counter)
def writes_global(x):
    global counter
    counter = counter + x * x
    counter *= 2.0
    return counter * x


@case(1.3, reset=reset_counter)
def global_written_by_callee(x):
    def bump(v):
        global counter
        counter += v

    bump(x)
    before = counter
    bump(x * x)
    return before * counter


@case(1.3, reset=reset_memory)
def global_list(x):
    memory.append(x)
    memory.append(memory[0] * x)
    return sum(memory)


@case(1.3)
def running_total(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v
        return total

    return add(x) * add(x * x) + total


@case(1.3)
def nonlocal_two_levels(x):
    state = x

    def outer():
        def inner():
            nonlocal state
            state = state * state + 1.0

        inner()
        inner()

    outer()
    return state


@case(0.3)
def nonlocal_swap(x):
    a, b = x, 1.0

    def step():
        nonlocal a, b
        a, b = b, a + b * x

    for _ in range(5):
        step()
    return a * b


@case(0.3)
def counter_factory(x):
    def make(start):
        value = start

        def advance(by):
            nonlocal value
            value = value * by
            return value

        return advance

    first, second = make(x), make(2.0)
    first(3.0)
    second(x)
    return first(x) + second(first(1.0))


@case(0.3)
def two_closures_share_a_variable(x):
    value = 1.0

    def write(v):
        nonlocal value
        value = v * value

    def read():
        return value * value

    write(x)
    a = read()
    write(3.0)
    return a + read()


@case(0.3)
def nonlocal_in_loop_with_break(x):
    best = -1.0

    def offer(v):
        nonlocal best
        if v > best:
            best = v
            return True
        return False

    for k in range(6):
        if not offer(x * (k + 1) * (5.5 - k)):
            break
    return best


@case(np.array([0.2, 0.5, 0.7]))
def nonlocal_array(x):
    state = x

    def advance():
        nonlocal state
        state = np.roll(state, 1) * x + 0.1

    for _ in range(3):
        advance()
    return state.sum()


@case(0.3)
def nonlocal_deleted_and_rebound(x):
    value = x

    def drop():
        nonlocal value
        del value

    def put(v):
        nonlocal value
        value = v

    old = value
    drop()
    put(x * 4.0)
    return value * old
