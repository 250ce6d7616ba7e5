"""`ir` and `code`: what the library sees, and what it generates."""

import functools
import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import SourceError


def polynomial(x, c):
    total = 0.0
    for k in reversed(c):
        total = total * x + k  # Horner
    return total


class Model:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return self.w * x

    def method(self, x):
        return x + self.w

    @classmethod
    def on_class(cls, x):
        return x * 2

    @staticmethod
    def static(x):
        return x * 3


def decorated(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)

    return wrapper


@decorated
def wrapped(x):
    return x * 4


@functools.lru_cache
def cached(x):
    return x * 5


two = [lambda x: x + 1, lambda x: x * 2]

LOOKED_AT = [
    (polynomial, "def polynomial(x, c)", "total = total * x + k"),
    (lambda x: x * 6, "lambda", "x * 6"),
    (Model(2.0), "__call__(self, x)", "return self.w * x"),
    (Model(2.0).method, "method(self, x)", "return x + self.w"),
    (Model.method, "method(self, x)", "return x + self.w"),
    (Model.on_class, "on_class(cls, x)", "return x * 2"),
    (Model.static, "static(x)", "return x * 3"),
    (Model, "__init__(self, w)", "self.w = w"),
    (functools.partial(polynomial, 2.0), "def polynomial(x, c)", "total = total * x + k"),
    (functools.partial(Model(2.0).method), "method(self, x)", "return x + self.w"),
    (cached, "cached(x)", "return x * 5"),
    (two[1], "lambda", "x * 2"),
]


@pytest.mark.parametrize("f, signature, line", LOOKED_AT)
def test_both_texts(f, signature, line):
    assert signature in ad.ir(f)
    text = ad.code(f)
    assert line in text, "the user's lines are comments"
    assert "def forward(" in text and "def reverse(" in text
    compile(text, "generated", "exec")


def test_the_users_names_and_lines():
    text = ad.ir(polynomial)
    first = polynomial.__code__.co_firstlineno
    for name in ("total", "x", "k", "reversed"):
        assert name in text
    assert str(first + 3) in text
    assert f"# {first + 3}: total = total * x + k" in ad.code(polynomial)


def test_comments_of_the_user_are_left_out():
    assert "Horner" not in ad.ir(polynomial)


def test_two_lambdas_on_one_line():
    assert "add(" in ad.ir(two[0]) and "mul(" in ad.ir(two[1])
    assert "add(" not in ad.ir(two[1])


def test_the_texts_are_the_same_before_and_after_a_call():
    def f(x):
        return math.sin(x) * x

    ir, code = ad.ir(f), ad.code(f)
    ad.gradient(f, 1.0)
    assert ad.ir(f) == ir and ad.code(f) == code


@pytest.mark.parametrize("f", [math.sin, np.sin, len, abs, dict, 3.0, "text"])
def test_what_has_no_source(f):
    for look in (ad.ir, ad.code):
        with pytest.raises(SourceError) as info:
            look(f)
        assert info.value.hint


def test_what_was_made_from_text():
    scope = {}
    exec("def f(x):\n    return x * 2\n", scope)
    assert "mul(x, 2)" in ad.ir(scope["f"])
    assert "rec, 1, x, 2" in ad.code(scope["f"])


def test_what_was_made_from_text_and_cannot_be_read():
    scope = {}
    exec("def f(x):\n    try:\n        return x * 2\n    finally:\n        pass\n", scope)
    for look in (ad.ir, ad.code):
        with pytest.raises(SourceError, match=r"no text of '<string>'; 'try' .* of 'f' cannot"):
            look(scope["f"])


def test_looking_at_a_decorated_function():
    assert "f(*args)" in ad.code(wrapped), "the function in hand, not the one that it wraps"
