"""Weak references, and the dictionaries and sets that are made of them."""

import weakref

import numpy as np

from tests.corpus.registry import case

X = np.array([0.3, 0.8, 1.4, -0.6])


class Held:
    def __init__(self, value):
        self.value = value

    def squared(self):
        return self.value * self.value


@case(1.5)
def read_and_written_through(x):
    held = Held(x)
    reference, proxy = weakref.ref(held), weakref.proxy(held)
    reference().value = reference().value * x
    proxy.value *= 2
    return reference().value * proxy.value * held.squared()


@case(1.5)
def parents(x):
    class Node:
        def __init__(self, value, parent=None):
            self.value = value
            self.parent = weakref.ref(parent) if parent else None
            self.children = []
            if parent:
                parent.children.append(self)

        def path(self):
            return self.value * (self.parent().path() if self.parent else 1.0)

    root = Node(x)
    inner = Node(x * x, root)
    leaf = Node(2.0, inner)
    return leaf.path() + root.children[0].children[0].value


@case(X)
def arrays(x):
    a = x * 2
    first, second = weakref.ref(a), weakref.ref(a)
    b = first() * x
    a[0] = 5.0 * x[1]
    return (first() * second() * b).sum() + (first() is second()) * x[0]


@case(X)
def cache_of_arrays(x):
    cache = weakref.WeakValueDictionary()

    def power(k):
        found = cache.get(k)
        if found is None:
            found = cache[k] = x**k
        return found

    a, b = power(2), power(2)
    return (a * b).sum() * len(cache)


@case(1.5)
def values_by_key(x):
    held, other = Held(x), Held(x * x)
    found = weakref.WeakValueDictionary(a=held)
    found["b"] = other
    found["a"].value = found["a"].value * found["b"].value
    return sum(item.value for item in found.values()) * found.get("b").value


@case(1.5)
def values_by_object(x):
    held, other = Held(x), Held(x * x)
    weights = weakref.WeakKeyDictionary()
    weights[held] = x * 2
    weights[other] = x
    weights[held] *= x
    weights.setdefault(other, 5.0)
    total = sum(weights.values()) + sum(v * key.value for key, v in weights.items())
    total += weights.get(held) * held.value + (held in weights) * x + weights.pop(other)
    return total * len(weights)


@case(1.5)
def observers(x):
    class Subject:
        def __init__(self):
            self.observers = weakref.WeakSet()

        def notify(self, value):
            for observer in self.observers:
                observer.update(value)

    class Observer:
        def __init__(self):
            self.total = 0.0

        def update(self, value):
            self.total += value * x

    subject, observer = Subject(), Observer()
    subject.observers.add(observer)
    subject.notify(x)
    subject.notify(2.0)
    return observer.total * len(subject.observers)


@case(1.5)
def descriptor_with_state(x):
    class Counted:
        def __init__(self):
            self.values = weakref.WeakKeyDictionary()
            self.total = 0.0

        def __get__(self, owner, kind=None):
            return self if owner is None else self.values.get(owner, 0.0)

        def __set__(self, owner, value):
            self.total += value
            self.values[owner] = value

    class Account:
        balance = Counted()

    a, b = Account(), Account()
    a.balance = x
    b.balance = x * x
    a.balance *= 2
    return a.balance * b.balance * Account.balance.total


ELSEWHERE = weakref.WeakKeyDictionary()


@case(1.5, reset=ELSEWHERE.clear)  # what an earlier call has left may not have gone yet
def registry_of_the_module(x):
    held = Held(x)
    ELSEWHERE[held] = x * x
    ELSEWHERE[held] *= x
    return ELSEWHERE[held] * len(ELSEWHERE)


@case(1.5)
def methods(x):
    class Button:
        def __init__(self):
            self.handlers = []

        def connect(self, method):
            self.handlers.append(weakref.WeakMethod(method))

        def press(self, value):
            return sum(handler()(value) for handler in self.handlers)

    class Window:
        def __init__(self, factor):
            self.factor = factor

        def pressed(self, value):
            return value * self.factor

    button, window = Button(), Window(x)
    button.connect(window.pressed)
    return button.press(x) + button.press(x * x)


@case(1.5)
def derived_reference(x):
    class Scaled(weakref.ref):
        __slots__ = ("scale",)

        def __new__(cls, held, scale):
            made = super().__new__(cls, held)
            made.scale = scale
            return made

        def __init__(self, held, scale):
            super().__init__(held)

        def __call__(self):
            return super().__call__().value * self.scale

    held = Held(x)
    return Scaled(held, x * x)()


@case(1.5)
def references_as_keys(x):
    held = Held(x)
    reference = weakref.ref(held)
    values = {reference: x * x}
    values[weakref.ref(held)] *= x
    return values[reference] * len({weakref.ref(held), reference})
