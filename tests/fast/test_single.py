"""Single assignment does what the function does, and looks as intended.

After an intended change of the text: ``python -m tests.fast.test_single``.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest

from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.construction import single
from adjoint.fast.single_assignment.printer import format_function
from adjoint.frontend.source_or_bytecode import lower_any
from tests.corpus import all_cases
from tests.fast.interpreter import converted, interpreted
from tests.fast.jumping import jumping, made, source
from tests.fast.printed import PRINTED
from tests.fast.raising import raising
from tests.frontend import cases, class_cases  # noqa: F401  (enters its functions there)
from tests.frontend.test_meaning import name, outcome
from tests.fuzz.batches import Checker
from tests.fuzz.check import demand
from tests.structures import difference, mapped

GOLDEN = Path(__file__).parents[1] / "golden" / "single"

ASKS_FOR_ITS_CALLER = "executed/class_of_the_module_that_asks"
ASKS_FOR_A_CLOSURE = "attributes/cell_contents", "attributes/cells_by_hand"
"""What an interpreter does not show."""

CORPUS = [
    case
    for case in all_cases()
    if inspect.isfunction(case.sample.f) and case.name != ASKS_FOR_ITS_CALLER
]


# ---- meaning -------------------------------------------------------------------------------------


@pytest.mark.parametrize("deep", [False, True], ids=["shallow", "deep"])
@pytest.mark.parametrize("case", cases.CASES, ids=name)
def test_does_what_the_function_does(case, deep):
    function, args, kwargs = case
    if is_left_out(function):
        with pytest.raises(NotCovered):
            single(lower_any(function))
    else:
        expected = outcome(function, args, kwargs)
        run = interpreted(function, deep=deep)
        assert outcome(run, args, kwargs) == expected


@pytest.mark.parametrize("case", CORPUS, ids=[case.name for case in CORPUS])
def test_corpus(case):
    sample = case.sample
    if is_left_out(sample.f):
        with pytest.raises(NotCovered):
            single(lower_any(sample.f))
        return
    y, (_, *left) = sample.plain()
    sample.reset()
    f, *args = mapped((sample.f, *sample.args))
    run = interpreted(f, deep=case.name not in ASKS_FOR_A_CLOSURE)
    found = run(*args, **sample.kwargs)
    sample.reset()
    assert difference((found, args), (y, left)) is None


def is_left_out(function):
    """Whether it is a generator."""
    return bool(function.__code__.co_flags & inspect.CO_GENERATOR)


@pytest.mark.parametrize("batch", range(6))
def test_random_jumps(batch):
    for seed in range(batch * 100, (batch + 1) * 100):
        f = jumping(seed)
        run = interpreted(f)
        for args in [(0, 0), (1, 0), (2, 3), (3, 1), (5, 2), (-1, 4)]:
            assert outcome(run, args, {}) == outcome(f, args, {}), source(seed)


@pytest.mark.parametrize("batch", range(3))
def test_random_exceptions(batch):
    for seed in range(batch * 50, (batch + 1) * 50):
        f = raising(seed)
        run = interpreted(f)
        for args in [(0.7, 2), (2.9, 0), (-1.3, 2), (0.2, 1)]:
            assert outcome(run, args, {}) == outcome(f, args, {}), seed


@pytest.mark.parametrize("batch", range(5))
def test_random_programs(batch):
    checker = Checker(seed=11, held_to=held_to_single, shrink=False)
    for number in range(batch * 80, (batch + 1) * 80):
        checker.check(number)
        for text in checker.report.failures.values():
            pytest.fail(text, pytrace=False)
    assert checker.report.checked >= 60


def held_to_single(program, f):
    """The result, and what the program leaves behind."""
    args = program.args()
    y = f(*args)
    kept = program.kept()
    module = sys.modules[program.name]
    for key, function in list(vars(module).items()):
        if inspect.isfunction(function) and function.__module__ == program.name:
            try:
                setattr(module, key, interpreted(function, deep=True))
            except NotCovered:
                continue
    given = program.args()
    found = module.program(*given)
    demand("result", difference(found, y))
    demand("the caller's data", difference(given, args))
    demand("globals", difference(program.kept(), kept))


def test_reasons_and_places():
    def yields(x):
        yield x

    with pytest.raises(NotCovered, match="generator") as caught:
        single(lower_any(yields))
    assert caught.value.span.line == yields.__code__.co_firstlineno


def test_nested_too_deep():
    for depth, covered in [(40, True), (90, True), (110, False)]:
        lines = ["def f(x):", *(f"    if x == {n}: return x + {n}" for n in range(depth))]
        function = made("\n".join([*lines, "    return -x"]))
        if covered:
            run = interpreted(function)
            assert [run(n) for n in (0, depth - 1, depth)] == [0, 2 * depth - 2, -depth]
        else:
            with pytest.raises(NotCovered, match="nested blocks"):
                single(lower_any(function))


# ---- variables without a value -------------------------------------------------------------------


def checks(function):
    """The variables that the code asks for a value."""
    lines = format_function(converted(function)).splitlines()
    return [line.split("'")[1] for line in lines if "assigned(" in line]


def test_only_what_may_be_unassigned_is_checked():
    def sure(x, flag):
        if flag:
            y = x
        else:
            y = -x
        for k in range(3):
            z = y * k
            y = z + y
        return y

    def unsure(x, flag):
        if flag:
            y = x
        for k in range(3):
            z = y * k
        return y, z, k

    def left(x, flag):
        while True:
            y = x * 2
            if y > 3:
                break
            x = y
        if flag:
            if x > 1:
                return x
            z = y
        else:
            z = -y
        return z

    assert checks(sure) == checks(left) == []
    assert checks(unsure) == ["y", "y", "z", "k"]


def test_certainly_unassigned():
    def f(x):
        if x > 0:
            del x
            y = x + 1
        return y

    for x in (1.0, -1.0):
        outcomes = [outcome(g, (x,), {}) for g in (f, interpreted(f))]
        assert outcomes[0] == outcomes[1] and outcomes[0][1] is UnboundLocalError


# ---- form ----------------------------------------------------------------------------------------


def test_only_what_is_read_later_is_handed_on():
    def f(xs):
        total = 0.0
        for x in xs:
            square = x * x
            if x > 1:
                half = square / 2
                square = half
            total += square
        return total

    ops = converted(f).body.ops
    loop = ops[-1]
    assert [value.name for value in loop.results] == ["total"]
    assert [[v.name for v in op.results] for op in loop.body.ops if hasattr(op, "orelse")] == [
        ["square"]
    ]


SHAPES = {
    "straight": ["y{k} = x * {k}", "x = x + y{k}"],
    "branches": ["if x > {k}:", "    y = x", "    x = y + {k}", "else:", "    z = {k}", "x += 1"],
    "loops": ["for i in range({k}):", "    if x > i:", "        break", "    x = x + i"],
    "returns": ["for i in range(3):", "    if x > {k}:", "        x += i", "z = x"],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_cost_is_linear(shape):
    """The calls that the pass makes, and the size of its result."""
    small, large = (cost(shape, lines) for lines in (200, 2000))
    assert all(b <= 10.5 * a for a, b in zip(small, large))


def test_cost_of_nested_loops():
    small, large = (cost("nested", depth) for depth in (5, 15))
    assert all(b <= 9.5 * a for a, b in zip(small, large))


def cost(shape, size):
    if shape == "nested":
        lines = [f"{'    ' * d}for i{d} in range(2):" for d in range(size)]
        lines += ["    " * size + f"x = x + i{d}" for d in range(size)]
    else:
        parts = SHAPES[shape]
        texts = [part.format(k=k) for k in range(size // len(parts)) for part in parts]
        lines = texts
    text = "\n".join(["def f(x):", *(f"    {line}" for line in lines), "    return x"])
    lowered, calls = lower_any(made(text)), 0

    def count(frame, event, arg):
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        result = single(lowered)
    finally:
        sys.setprofile(before)
    return calls, len(format_function(result).split())


# ---- text ----------------------------------------------------------------------------------------


def golden_path(function):
    return GOLDEN / f"{function.__name__}.txt"


@pytest.mark.parametrize("function", PRINTED, ids=lambda f: f.__name__)
def test_text_is_the_golden_one(function):
    assert format_function(converted(function)) == golden_path(function).read_text(encoding="utf-8")


def test_there_is_no_file_too_many():
    assert {path.name for path in GOLDEN.iterdir()} == {golden_path(f).name for f in PRINTED}


if __name__ == "__main__":
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for one in PRINTED:
        golden_path(one).write_text(format_function(converted(one)), encoding="utf-8")
