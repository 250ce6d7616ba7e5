"""The functions whose IR is kept as text in ``tests/golden/ir``."""

import math

import numpy as np


def power(x, n):
    r = 1.0
    while n > 0:
        n -= 1
        r *= x
    return r


def horner(x, coefficients):
    total = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return total


def clamp(x, low=0.0, *, high=1.0):
    if low < x < high:
        return x
    return low if x <= low else high


def norms(rows):
    return [math.sqrt(sum(v * v for v in row)) for row in rows if len(row) and row[0] is not None]


def layer(W, b, x):
    hidden = np.tanh(W @ x + b[:, None])
    hidden[0, 1:] *= 2
    return {"mean": hidden.mean(axis=0), "shape": hidden.shape}


def counter(start):
    count = start

    def step(by=1):
        nonlocal count
        count += by
        return count

    return step() + step(2) + (lambda z, *, k=count: z + k)(start)


def guarded(xs, i):
    try:
        value = xs[i]
    except (IndexError, KeyError) as error:
        value = len(error.args)
    except TypeError:
        raise ValueError("bad index") from None
    else:
        value += 1
    finally:
        xs.append(i)
    return value


def managed(lock, values):
    total = 0
    with lock as held, open(held):
        for i, (a, *rest) in enumerate(values):
            if not a:
                break
            total += a * i
        else:
            return total, rest
    return None


def shapes(shape):
    match shape:
        case {"radius": r, **others} if r > 0:
            return r, others
        case [w, h] | (w, h, _):
            return w * h
        case str(name):
            return name
        case _:
            return None


def accumulate(xs):
    total = 0.0
    for x in xs:
        total += x
        scale = yield total
        if scale:
            total = scale * total
    return (yield from [total])


def starred_call(f, *args, **options):
    first, *others = args
    return f(first, *others, key=first, **options)


def labels(n, names):
    import itertools as it

    global CACHE
    CACHE = f"{n!r:>{len(names)}} items"
    assert n > 0 and (m := n - 1) or not names, CACHE
    return next(it.chain(names, [m]))


PRINTED = [
    power,
    horner,
    clamp,
    norms,
    layer,
    counter,
    guarded,
    managed,
    shapes,
    accumulate,
    starred_call,
    labels,
]
