"""Context managers."""

import contextlib
import io

import numpy as np

from tests.corpus.registry import case


class Scaling:
    def __init__(self, scale, log):
        self.scale = scale
        self.log = log

    def __enter__(self):
        self.log.append(self.scale)
        return self

    def __call__(self, x):
        return x * self.scale

    def __exit__(self, kind, error, traceback):
        self.log.append(self.scale * 2)
        return kind is ValueError


@case(1.3, 0.4)
def entered_value(x, y):
    log = []
    with Scaling(x, log) as scaled:
        z = scaled(y)
    return z * x + sum(log)


@case(1.3)
def suppressing(x):
    log = []
    y = x
    with Scaling(x, log) as scaled:
        y = scaled(y)
        raise ValueError
    return y * sum(log)


@case(1.3)
def not_suppressing(x):
    log = []
    y = x
    try:
        with Scaling(x, log):
            y = y * 3
            raise KeyError(x)
    except KeyError as error:
        y = y * error.args[0]
    return y + log[-1]


@case(1.3, 0.4)
def two_managers(x, y):
    log = []
    with Scaling(x, log) as a, Scaling(y, log) as b:
        z = a(b(2.0))
    return z + log[0] * log[1] - log[2] * log[3] * x


@case(1.3)
def return_from_with(x):
    log = []

    def f():
        with Scaling(x, log) as scaled:
            return scaled(x)

    return f() * log[-1]


@case(1.3)
def with_in_loop(x):
    log = []
    total = 0.0
    for k in range(4):
        with Scaling(x * k, log) as scaled:
            if k == 1:
                continue
            total += scaled(1.0)
            if k == 2:
                break
    return total * len(log) + sum(log)


@case(1.3)
def generator_based_manager(x):
    state = [x]

    @contextlib.contextmanager
    def doubled(v):
        state.append(v * 2)
        yield state[-1]
        state.append(v * v)

    with doubled(x) as d:
        y = d * x
    return y + state[2]


@case(1.3)
def suppress_from_the_library(x):
    y = x
    with contextlib.suppress(ZeroDivisionError):
        y = y * 2
        y = y / 0
    return y * x


@case(np.array([1.0, 0.5]))
def errstate(x):
    with np.errstate(all="ignore"):
        y = np.log(x) * x
    return y.sum()


@case(1.3)
def redirect_stdout(x):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        print(x * 2)
    return x * x + 0 * len(out.getvalue())


@case(1.3)
def target_is_attribute(x):
    log = []
    holder = Scaling(1.0, log)
    with Scaling(x, log) as holder.inner:
        y = holder.inner(x)
    return y


@case(1.3)
def null_context(x):
    with contextlib.nullcontext(x * x) as y:
        return y * x


class Plain:
    def __enter__(self):
        return 2.0

    def __exit__(self, *details):
        return False

    def __round__(self, digits=0):
        return 3.0


@case(1.3)
def methods_of_the_class_count(x):
    manager = Plain()
    manager.__enter__ = lambda: x
    manager.__exit__ = lambda *details: True
    manager.__round__ = lambda digits=0: x
    with manager as y:
        return x * y * round(manager)
