"""Arrays written in place: views, aliases, ``out=``, buffers, callees that write."""

import numpy as np

from tests.corpus.registry import case, made, refused

X = np.array([0.3, 0.8, 1.4, -0.6])
M = np.array([[0.3, -0.8, 1.4], [0.9, 0.2, -0.5], [0.6, 0.1, 0.4]])


def double_in_place(a):
    a *= 2.0


def write_and_return(a, value):
    a[0] = value
    return a


def interior(a):
    return a[1:-1]


class Accumulator:
    def __init__(self, n):
        self.total = np.zeros(n)

    def add(self, x):
        self.total += x
        return self.total


@case(X)
def augmented_operators(x):
    y = x.copy()
    y += x
    y *= y
    y -= 0.5
    y /= x + 2.0
    y **= 2
    return y.sum()


@case(X)
def written_after_read(x):
    y = x.copy()
    a = y * y
    y[1] = 5.0
    b = y * x
    y *= 3.0
    return np.sum(a * b + y)


@case(X)
def written_through_view(x):
    y = x.copy()
    v = y[1:3]
    v *= x[0]
    v[0] = y[0] * y[3]
    return np.sum(y * y)


@case(X)
def view_sees_later_write(x):
    y = x * 1.0
    v = y[::-1]
    y[0] = x[1] * x[2]
    return v[-1] * v[0] + v.sum()


@case(X)
def view_of_view(x):
    y = x.copy()
    v = y.reshape(2, 2).T[1]
    v += x[:2]
    w = y[1:][::2]
    w *= 3.0
    return np.sum(y**2)


@case(X)
def overlapping_views(x):
    y = x.copy()
    y[1:] = y[:-1] * 2
    y[:-1] += y[1:]
    a, b = y[:3], y[1:]
    a *= 2.0
    b -= x[0]
    return np.sum(y * x) + a[2] * b[0]


@case(M)
def transposed_view(m):
    a = m.copy()
    t = a.T
    t[0] = m[1] * 2
    a[2] *= t[1]
    return np.sum(a * m)


@case(X)
def two_names(x):
    y = x.copy()
    z = y
    z[0] = x[1]
    y += z
    z *= y
    return y.sum() + z[0]


@case(X)
def argument_changed_in_place(x):
    x *= 2.0
    x[0] = x[1] * x[2]
    return x.sum()


@case(X)
def rebound_instead_of_written(x):
    y = x
    y = y * 2.0
    y += x
    x = x + y
    return np.sum(x * y)


@case(X)
def callee_writes_into_argument(x):
    y = x.copy()
    double_in_place(y)
    double_in_place(y[1:])
    z = write_and_return(y, x[3] ** 2)
    z[1] *= z[0]
    return np.sum(y * x)


@case(X)
def callee_returns_view(x):
    y = x * x
    interior(y)[:] = x[0]
    inner = interior(y)
    inner[0] *= x[1]
    return y.sum() * y[1]


@case(X)
def out_keyword(x):
    buffer = np.empty(4)
    np.multiply(x, x, out=buffer)
    np.add(buffer, x, out=buffer)
    np.sin(buffer, buffer)
    y = np.exp(x, out=np.empty(4))
    return np.sum(buffer * y)


@case(X)
def out_is_view(x):
    a = np.ones((2, 4))
    np.multiply(x, 2.0, out=a[0])
    np.add(a[0], a[1], out=a[1])
    np.cumsum(a[1] * x, out=a[0])
    return np.sum(a[0] * a[1])


@case(X)
def buffer_reused(x):
    buffer = np.zeros(4)
    total = 0.0
    for k in range(3):
        buffer[:] = x * (k + 1)
        buffer *= buffer
        total += buffer.sum() * x[k]
    return total + buffer[0]


@case(X)
def buffer_kept_by_list(x):
    buffer = np.zeros(4)
    kept = []
    for k in range(3):
        buffer += x * k
        kept.append(buffer)
        kept.append(buffer.copy())
    return sum(np.sum(b * x) for b in kept)


@case(X)
def alias_in_containers(x):
    y = x.copy()
    state = {"y": y, "views": [y[:2], (y[2:],)]}
    y[0] = x[3]
    state["views"][0][1] *= 2.0
    state["views"][1][0][:] += x[0]
    return np.sum(state["y"] ** 2)


@case(X)
def alias_in_object(x):
    acc = Accumulator(4)
    total = acc.total
    for k in range(3):
        acc.add(x * k)
    before = total.sum()
    acc.total[1:3] = 0.0
    return before * acc.add(x).sum() + total[0]


@case(X)
def alias_in_closure(x):
    y = x.copy()

    def scale(k):
        y[...] = y * k
        return y

    z = scale(x[0])
    scale(2.0)[0] += 1.0
    return np.sum(z * y)


@case(X, X[::-1].copy())
def same_buffer_swapped(x, z):
    old, new = x.copy(), z.copy()
    for _ in range(3):
        new[1:-1] = old[:-2] * 0.5 + old[2:] * x[0]
        old, new = new, old
    return np.sum(old * new)


@case(X)
def in_place_methods(x):
    y = x * x
    y.sort()
    z = y.copy()
    z.fill(x[0])
    z.partition(2)
    y = y.reshape(2, 2)
    return y[0, 1] * 3 + y[1, 1] * z[0] + y[0, 0] ** 2


@case(M)
def matrix_elimination(m):
    a = m + 3.0 * np.eye(3)
    for k in range(3):
        a[k] = a[k] / a[k, k]
        for i in range(k + 1, 3):
            a[i] -= a[i, k] * a[k]
    return np.sum(a)


@case(X)
def swap_by_fancy_assignment(x):
    y = x.copy()
    y[[0, 1]] = y[[1, 0]]
    y[0], y[2] = y[2], y[0]
    return np.sum(y * np.arange(4.0) * x)


@case(X)
def swap_of_views_is_not_a_swap(x):
    m = np.array([x, x * 2])
    m[0], m[1] = m[1], m[0]
    a, b = m[0], m[1].copy()
    a[:] = b
    return np.sum(m * x)


@case(X)
def condition_on_written_array(x):
    y = x.copy()
    while y[0] < 3.0:
        y[0] = y[0] * 1.6 + x[1]
        y[1:] += y[0]
    return y.sum()


@made
def captured_buffer_is_overwritten():
    buffer = np.array([0.5, 1.5])

    def f(x):
        before = buffer.sum()
        buffer[0] = x * 2
        return before * buffer[0] + buffer[1]

    return f, 0.7


@case(X)
def write_to_a_row_of_a_list(x):
    rows = [x.copy(), x * 2]
    for row in rows:
        row[0] = row[1] * row[2]
    rows[0] += rows[1]
    rows[1][1:] = rows[0][:-1]
    return np.sum(rows[0] * rows[1])


@case(X)
def augmented_attribute_and_item(x):
    acc = Accumulator(4)
    acc.total += x
    acc.total[1] += x[0]
    box = {"a": acc.total}
    box["a"] *= 2.0
    box["a"][2] -= x[3]
    return np.sum(acc.total**2)


@case(X)
def scalar_array_in_place(x):
    s = np.array(0.0)
    for v in x:
        s += v * v
    s[...] = s * 2
    s[()] -= x[0]
    return s * 1.0


@case(X)
def result_is_written_array(x):
    y = np.zeros(3)
    y[:2] = x[1:3] * x[0]
    y[2] = y[0]
    return y


@case(X)
def result_is_argument(x):
    x[1] = x[0] * x[2]
    return x


@case(X)
def result_is_view(x):
    y = x * x
    v = y[1:3]
    y[1] = x[3]
    return v


@case(X)
def old_and_new_contents(x):
    history = []
    y = x.copy()
    for k in range(3):
        history.append(y[k])
        y[k + 1] = y[k] * x[k]
    return history[0] * history[1] * history[2] + y.sum()


@case(np.array([0.3, -0.5, 0.7]))
def enumerated_while_it_is_written(y):
    total = 0.0
    for (k,), value in np.ndenumerate(y):
        total = total + value * y[0]
        y[-1] = 0.5 * value + y[k - 1]
    return total + np.sum(y * y)


@case(np.array([0.3, -0.5, 0.7, 0.9]))
def masks_and_indices_over_their_own_memory(x):
    x[[1, 3]] = x[:2]
    x[np.array([True, False, False, True])] = x[1:3]
    x[[2, 0]] = 0.5 * x[:2]
    return np.sum(np.sin(x) * np.arange(1.0, 5.0))


@case(np.array([0.3, -0.5, 0.7, 0.9]))
def functions_that_write_what_they_read(x):
    np.concatenate([x[:2], x[2:]], out=x)
    np.put(x, [0, 1], x[:2])
    x.flat[::2] = 0.5 * x[::2]
    x.flat[1:3] = x[1:3]
    np.putmask(x, x > 0.1, x)
    np.place(x, np.array([True, False, False, True]), x[[3, 0]])
    return np.sum(np.sin(x) * np.arange(1.0, 5.0))


@case(X)
def made_read_only_after_it_was_written(x):
    weights = np.zeros(len(x))
    weights += 1.0
    weights[0] = x[1]
    part = weights[1:]
    part *= x[1:]
    weights.setflags(write=False)
    return (weights * x).sum()


@case(X)
def writes_that_fail(x):
    """Nothing is written then."""
    y = np.outer(x, x)
    for index, value in (
        (0, [1.0, 2.0]),
        (slice(None), "abc"),
        (slice(1), 1j),
        (([0, 1], [2, 0, 1]), 2.0),
        (9, 1.0),
    ):
        try:
            y[index] = value
        except (ValueError, TypeError, IndexError):
            y = y * x[0]
    try:
        np.copyto(y, np.ones(7))
    except ValueError:
        y[0] = x * 2
    try:
        y.fill(np.ones(3))
    except ValueError:
        y[1] *= 3
    return (y * y).sum()


@case(X)
def reductions_that_begin_elsewhere(x):
    y = np.sum(x, initial=x[0] ** 3) + x.prod(initial=x[1]) * np.max(x, initial=2 * x[1])
    m = np.outer(x, x)
    rows = np.add.reduce(m, axis=0, initial=x[0]) * np.min(m, axis=(1,), initial=x[1] * x[0])
    return y + rows.sum() + np.hypot.reduce(x, initial=x[0]) + m.sum(axis=None, initial=x[1] ** 2)


@case(X)
def at_places_with_its_own_values(x):
    """All values are read before the first is written."""
    v = x.copy()
    np.multiply.at(v, [1, 0, 2], v[:3])
    np.add.at(v, [0, 0, 1, 3], v)
    np.subtract.at(v, slice(0, 2), v[1:3])
    return (v * x).sum()


@refused(X)
def flags_in_a_byte_array(x):
    sieve = bytearray(12)
    sieve[2:] = b"\x01" * 10
    for i in range(2, 4):
        if sieve[i]:
            sieve[i * i :: i] = bytes(len(range(i * i, 12, i)))
    return sum(x[i % 3] ** 2 * i for i in range(12) if sieve[i]) * len(sieve)


@refused(X)
def an_array_over_bytes(x):
    """The reverse sweep finds the bytes that each operation saw."""
    raw = bytearray(8)
    seen = np.frombuffer(raw, dtype="u1")
    y = x[0] * seen[:3]
    raw[0:3] = b"\x01\x02\x03"
    z = x[1] * seen[:3]
    raw[0] = 7
    raw[::2] = (k + 1 for k in range(4))
    return (y * z).sum() + (z * seen[:3]).sum() * x[2] + sum(raw) * x[0]


@refused(X)
def bytes_added_and_taken(x):
    raw = bytearray()
    raw.append(3)
    raw.extend(int(v * 2 + 3) for v in x)
    raw.insert(0, 4)
    raw += b"ab"
    raw *= 2
    raw.reverse()
    total = x[0] * raw.pop() + x[1] * raw.pop(0)
    raw.remove(3)
    del raw[1:3], raw[0]
    raw[:0] = b"xyz"
    total *= sum(raw) * x[2]
    try:
        raw[300] = 1
    except IndexError:
        total *= x[1]
    raw.clear()
    return total * (1 + len(raw))


@case(X)
def one_element_put(x):
    a = np.array(x[0] * 2)
    before = a * x[2]
    a.put(0, x[1] ** 2)
    before += a * x[0]
    a.put([0, 0], [x[1], x[2] * x[1]])
    return before * a
