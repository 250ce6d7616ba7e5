"""The IR of each function, run by an interpreter, does what the function does."""

import copy
import sys
from pathlib import Path

import pytest

from tests.frontend import cases, class_cases  # noqa: F401  (enters its functions there)
from tests.ir.interpreter import interpreted

if sys.version_info >= (3, 12):
    # No module, because it cannot be parsed by the oldest Python that the tools are set to.
    path = Path(__file__).with_name("python_312.txt")
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), {"__name__": "python_312"})


def outcome(function, args, kwargs):
    """The result or the exception, and what became of the arguments."""
    args, kwargs = copy.deepcopy((args, kwargs))
    try:
        result = function(*args, **kwargs)
        if hasattr(result, "send"):
            result = drive(result)
    except Exception as error:
        cause = error.__cause__
        return "raised", type(error), message(error), type(cause), shown((args, kwargs))
    return "returned", shown(result), shown((args, kwargs))


def drive(generator):
    """Use a generator in the ways there are."""
    log = []
    try:
        log.append(next(generator))
        log.append(generator.send("sent"))
        log.extend(generator)
    except StopIteration as stop:
        log.append(("stopped", stop.value))
    return log


def message(error):
    text = str(error)
    # Python names the callee's qualified name, or says less, where a call by another way says more.
    for start in ("cannot access", "got multiple values", "can only concatenate"):
        if start in text:
            return start
    if isinstance(error, TypeError):
        for word in (
            "argument",
            "is not iterable",
            "must be a type",
            "pattern must be a class",
            "mapping",
            "sub-pattern",
        ):
            if word in text:
                return "a type that does not fit"
    return text.partition(" at 0x")[0]


def shown(value):
    """A text that is equal for equal values, their types included."""
    match value:
        case list() | tuple() | set() | frozenset():
            return f"{type(value).__name__}({', '.join(map(shown, value))})"
        case dict():
            return "{" + ", ".join(f"{shown(k)}: {shown(v)}" for k, v in value.items()) + "}"
        case cases.Manager() | cases.Private() | cases.Box():
            return f"{type(value).__name__}({shown(vars(value))})"
    return repr(value).partition(" at 0x")[0]


def name(case):
    return case[0].__qualname__


@pytest.mark.parametrize("deep", [False, True], ids=["shallow", "deep"])
@pytest.mark.parametrize("case", cases.CASES, ids=name)
def test_ir_does_what_the_function_does(case, deep):
    function, args, kwargs = case
    assert outcome(interpreted(function, deep=deep), args, kwargs) == outcome(
        function, args, kwargs
    )


def test_there_are_enough_functions():
    assert len({function for function, _, _ in cases.CASES}) >= 150
