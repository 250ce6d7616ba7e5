"""What is refused is refused by name, at its place, before any of it runs."""

import pytest

from adjoint.errors import SourceError, UnsupportedSyntaxError
from adjoint.frontend import lower


async def coroutine(x):
    return await x


async def asynchronous_generator(x):
    yield x


def inner_async(x):
    raise AssertionError("this must not run")

    async def f():
        pass


def async_inside(x):
    async def f():
        async with x:
            pass

    return f


def exception_groups(x):
    try:
        x()
    except* ValueError:
        x = 0
    return x


def asynchronous_expression(x):
    return x, (y async for y in x)


REFUSED = [
    (coroutine, "async def"),
    (asynchronous_generator, "async def"),
    (async_inside, "async def"),
    (exception_groups, r"except\*"),
    (asynchronous_expression, "async for"),
]


@pytest.mark.parametrize(
    "function, construct", REFUSED, ids=lambda value: getattr(value, "__name__", "")
)
def test_refused_by_name(function, construct):
    with pytest.raises(
        UnsupportedSyntaxError, match=f"^'{construct}' cannot be differentiated"
    ) as caught:
        lower(function)
    error = caught.value
    first = function.__code__.co_firstlineno
    assert error.filename == function.__code__.co_filename
    assert first <= error.span.line <= first + 4
    text = str(error)
    assert f"{error.filename}:{error.span.line}" in text
    assert "hint: " in text and "^" in text


def test_what_is_never_reached_is_not_refused():
    assert lower(inner_async).name == "inner_async"


def test_functions_without_source():
    made = type(inner_async)(inner_async.__code__.replace(co_filename="<nowhere>"), {}, "made")
    with pytest.raises(SourceError, match="there is no text of '<nowhere>'"):
        lower(made)
