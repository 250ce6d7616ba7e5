"""Arguments that hold the same array, or views of one, which the function writes."""

import numpy as np

from tests.corpus.registry import case, made

shared = np.array([0.3, -0.5, 0.7])


@case({"a": shared}, shared)
@case({"a": shared.copy()}, shared)
def array_in_a_dict_and_by_itself(named, y):
    y[0] = 0.2 * (y @ y)
    return np.sum(np.sin(y)) + np.sum(2.0 * np.cos(named["a"]))


@case([shared, shared], shared)
def array_twice_in_a_list(items, y):
    before = np.sin(items[0])
    items[1] *= 0.5
    y += before
    return np.sum(items[0] * y) + before @ items[1]


class Holder:
    def __init__(self, v):
        self.v = v


@case(Holder(shared), shared, [shared])
def array_in_an_object_and_a_list(holder, x, items):
    total = holder.v @ items[0]
    np.cumsum(0.4 * x, out=x)
    return total + np.sum(np.cos(holder.v) * items[0])


@made
def list_that_contains_itself():
    items = [1.5, 2.0]
    items.append(items)

    def f(items):
        items[2][2][0] *= items[1]
        items[2].append(items[0] * 3.0)
        return items[0] * items[2][1] * items[2][2][3]

    return f, items


@made
def dict_that_contains_itself():
    named = {"v": 1.5, "all": []}
    named["all"].append(named)

    def f(named):
        named["all"][0]["v"] *= 3.0
        return named["v"] * named["all"][0]["all"][0]["v"]

    return f, named


@made
def object_that_contains_itself():
    holder = Holder(1.5)
    holder.me, holder.items = holder, [holder]

    def f(holder):
        holder.me.v *= 2.0
        return holder.v * holder.items[0].me.items[0].v

    return f, holder


@made
def array_held_by_a_closure_an_object_and_a_list():
    buffer = shared.copy()
    holder, items = Holder(buffer), [buffer, buffer[1:]]

    def f(x, holder, items):
        buffer[0] = x * x
        holder.v[1] = buffer[0] * x
        items[0][2] *= x
        items[1][1] = items[1][0]
        holder.v *= 2.0
        holder.part = buffer[:2]
        holder.part *= x
        return np.sum(buffer * holder.v) + np.sum(items[1])

    return f, 0.7, holder, items


@case(np.array([0.3, 0.8, 1.4, -0.6]))
def overlapping_views_written_in_a_loop(x):
    y = np.concatenate([x, x])
    views = [y[i : i + 3] for i in range(5)]
    for k, view in enumerate(views):
        view *= views[(k + 2) % 5][::-1]
        view[1:] += 0.5 * view[:-1]
        y[k] = view.sum()
    return sum(np.sum(view * view) * i for i, view in enumerate(views))
