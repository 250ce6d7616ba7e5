"""What `explain` shows: the derivative of `withgradient`, and how it comes about."""

import math
import pickle

import cloudpickle
import numpy as np
import pytest

import adjoint as ad
from adjoint.explanation.events import MOST_EVENTS
from adjoint.explanation.program_listing import in_sections, program_of
from adjoint.explanation.sections import sections_of
from tests.explanation.examples import EXAMPLES, nan_from_log
from tests.structures import difference

IDS = [make.__name__ for make in EXAMPLES]


def explained(make):
    f, args = make()
    with np.errstate(all="ignore"):
        return ad.explain(f, *args)


def events(found):
    return found._run.tape.events


@pytest.mark.parametrize("make", EXAMPLES, ids=IDS)
def test_value_and_gradient_are_those_of_withgradient(make):
    found = explained(make)
    f, args = make()
    with np.errstate(all="ignore"):
        value, gradient = ad.withgradient(f, *args)
    assert difference(found.value, value) is None
    assert difference(found.gradient, gradient, rtol=1e-12) is None


def test_the_callers_data_are_as_the_function_leaves_them():
    def f(x):
        x[0] *= 3.0
        return x[0] * x[1]

    x, y = np.array([1.0, 2.0]), np.array([1.0, 2.0])
    found = ad.explain(f, x)
    f(y)
    assert np.array_equal(x, y) and found.value == 6.0
    assert np.array_equal(found.gradient[0], [6.0, 3.0])


def test_lines_of_the_program_belong_to_lines_of_the_user():
    def inner(x):
        y = np.sin(x)
        return y * y

    def outer(x, w):
        total = 0.0
        for i in range(2):
            total = total + inner(x[i]) * w
        return np.linalg.norm(x) + total

    run = ad.explain(outer, np.array([0.3, 0.4]), 2.0)._run
    sections = sections_of(run)
    lines = in_sections(program_of(run), sections)
    assert lines[0][0].startswith("def gradient(x, w)")
    first = {one.name: one.lines[0][0] for one in sections}
    names = [one.name for one in sections]
    of = {
        (names[section], line - first[names[section]]): []
        for _, section, line in lines
        if section >= 0
    }
    for text, section, line in lines:
        if section >= 0 and "#" not in text:
            of[names[section], line - first[names[section]]].append(text.strip())
    assert any("sin(" in text for text in of["inner", 1])
    assert any("_bar" in text for text in of["inner", 1]) or any(
        "cos(" in str(x) for x in of.values()
    )
    assert any("norm" in text or "sqrt" in text for text in of["outer", 4])


def test_what_to_send_in_place_of_an_explanation():
    found = ad.explain(lambda x: x * x, 3.0)
    with pytest.raises(ad.ArgumentError, match="an explanation cannot be pickled") as caught:
        pickle.dumps(found)
    assert "send str(explanation)" in caught.value.hint
    with pytest.raises(ad.ArgumentError, match="contributions to x cannot be pickled") as caught:
        cloudpickle.dumps(found.to("x"))
    assert "list(contributions)" in caught.value.hint


# ---- local derivatives ---------------------------------------------------------------------------


def functions_of_arrays():
    def f(x, A):
        y = np.tanh(x) * np.exp(-x) / (1.0 + x**2)
        z = np.linalg.solve(A, y) + np.dot(A, y) - np.cumsum(y)
        w = np.concatenate([z, y])[1:5] * np.outer(y[:2], y[:2]).ravel()
        return np.prod(w) + np.linalg.norm(z) + np.max(y) + math.hypot(y[0], z[1])

    A = np.array([[2.0, 0.5, 0.1], [0.3, 3.0, 0.2], [0.1, 0.4, 1.5]])
    return f, (np.array([0.3, -0.7, 1.2]), A)


LOCAL = [*EXAMPLES[:1], *EXAMPLES[2:4], functions_of_arrays]


@pytest.mark.parametrize("make", LOCAL, ids=[make.__name__ for make in LOCAL])
def test_local_derivatives_are_those_of_differences(make):
    compared = 0
    for event in events(explained(make)):
        values = [one.value.value for one in event.operands]
        if event.callee is None or any(value is None for value in values):
            continue
        for i, one in enumerate(event.operands):
            if one.local is not None and one.local.value is not None:
                expected = slopes(event, values, i)
                assert np.allclose(one.local.value, expected, rtol=1e-6, atol=1e-8), event.text
                compared += 1
    assert compared >= 5


def slopes(event, values, i):
    """The derivative in operand `i`: elementwise, or with the axes of the result first."""

    def at(moved):
        operands = [moved if j == i else value for j, value in enumerate(values)]
        if len(operands) == 2 and event.callee.__name__ == "evalpoly":
            return np.asarray(ad.evalpoly(*operands))
        operands = [np.array(one) if isinstance(one, np.ndarray) else one for one in operands]
        return np.asarray(event.callee(*operands))

    x = np.asarray(values[i], float)
    columns = []
    for index in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[index] = 1e-5 * max(1.0, abs(x[index]))
        up, down = ((x + k * step)[()] if x.ndim == 0 else x + k * step for k in (1, -1))
        columns.append((at(up) - at(down)) / (2 * step[index]))
    if event.form == "elementwise" and x.shape == np.shape(event.value.value):
        return sum(columns) if x.ndim else columns[0]
    return np.moveaxis(
        np.reshape(columns, (*x.shape, *columns[0].shape)), range(x.ndim), range(-x.ndim, 0)
    )


def test_local_derivative_of_a_product_of_arrays_is_a_jacobian():
    def f(A, x):
        return np.sum(A @ x)

    found = ad.explain(f, np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0, 6.0]))
    product = next(event for event in events(found) if event.name == "matmul")
    matrix, vector = (one.local.value for one in product.operands)
    assert np.array_equal(vector, [[1.0, 2.0], [3.0, 4.0]])
    assert np.array_equal(matrix[0], [[5.0, 6.0], [0.0, 0.0]])


# ---- contributions -------------------------------------------------------------------------------


@pytest.mark.parametrize("make", EXAMPLES[:4], ids=IDS[:4])
def test_contributions_sum_to_the_cotangent(make):
    found = explained(make)
    run = found._run
    for one, bar in zip(run.tape.inputs, run.bars, strict=True):
        assert np.allclose(found.to(one.name).total, 0.0 if bar is None else bar, rtol=1e-12)


def test_contributions_to_one_element():
    def f(x):
        a = x[1] * 2.0
        b = x[1] * x[0]
        x[1] = 100.0
        return a + b + x[1] * x[0] + np.sum(x[2:])

    found = ad.explain(f, np.array([3.0, 1.0, 5.0, 7.0]))
    line = f.__code__.co_firstlineno
    assert list(found.to("x[1]")) == [(line + 1, 2.0), (line + 2, 3.0)]  # not what is overwritten
    assert list(found.to("x[0]")) == [(line + 2, 1.0), (line + 4, 100.0)]
    assert found.to("x[-1]").total == 1.0
    assert found.to("x[1]").total == found.gradient[0][1] == 5.0
    assert "100" in str(found.to("x[0]")) and "<td>100<" in found.to("x[0]")._repr_html_()


def test_paths_into_structures():
    class Model:
        def __init__(self):
            self.weights = [np.array([[1.0, 2.0]]), 3.0]

    def f(model, table):
        return np.sum(model.weights[0]) * model.weights[1] * table["a b"]

    found = ad.explain(f, Model(), {"a b": 2.0})
    assert found.to("model.weights[0][0, 1]").total == 6.0
    assert found.to("model.weights[1]").total == 6.0
    assert found.to("table['a b']").total == found.to('table["a b"]').total == 9.0


def test_an_input_that_is_returned():
    found = ad.explain(lambda x: x, 2.0)
    assert found.gradient == (1.0,) and list(found.to("x")) == [(0, 1.0)]
    assert "the result itself" in str(found.to("x"))


@pytest.mark.parametrize(
    "path", ["y", "x[3]", "x[0, 0]", "x[0", "x.T", "x[:1]", "x + 1", "", "x[i]"]
)
def test_paths_that_name_nothing(path):
    found = ad.explain(lambda x: np.sum(x * x), np.ones(3))
    with pytest.raises(ad.ArgumentError, match="names no"):
        found.to(path)


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
def test_no_contributions_where_an_index_changes_its_meaning():
    def f(x):
        first = x[0] * 2.0
        x.shape = (2, 2)
        return first + x[0, 1]

    found = ad.explain(f, np.arange(4.0))
    assert np.array_equal(found.gradient[0].ravel(), [2.0, 1.0, 0.0, 0.0])
    with pytest.raises(ad.ArgumentError, match="the shape of an input is assigned"):
        found.to("x[0, 0]")
    assert "Contributions" not in found.to_html()


def test_contributions_to_elements_that_are_written_many_times():
    def f(x):
        view = x[1:]
        for i in range(3):
            x[i + 1] = x[i] * x[i + 1] + view[i]
        x[0] = 5.0
        x[-1] *= 2.0
        return np.sum(x) * x[0]

    point = np.array([0.5, 1.5, -2.0, 3.0])
    found = ad.explain(f, point.copy())
    assert np.allclose(found.gradient[0], ad.gradient(f, point.copy())[0])
    assert np.allclose(found.to("x").total, found.gradient[0])
    for i in range(4):
        assert found.to(f"x[{i}]").total == pytest.approx(found.gradient[0][i])


def test_contributions_that_are_too_many_arrays():
    def f(x):
        s = 0.0
        for i in range(4000):
            s = s + x[i]
        return s

    found = ad.explain(f, np.ones(4000))
    with pytest.raises(ad.ArgumentError, match="too many arrays"):
        found.to("x")
    assert found.to("x[7]").total == 1.0 and len(found.to_html()) < 1_000_000


# ---- what is not finite --------------------------------------------------------------------------


def test_the_first_line_with_an_infinity():
    found = explained(nan_from_log)
    f, _ = nan_from_log()
    assert f"line {f.__code__.co_firstlineno + 2}, np.log(weights)" in found.first_not_finite
    assert "in the values" in found.first_not_finite and found.first_not_finite in str(found)


def test_the_first_infinity_in_the_cotangents():
    def f(x):
        y = x * 2.0
        z = np.sqrt(y)
        return z + 1.0

    found = ad.explain(f, 0.0)
    assert found.gradient == (math.inf,)
    assert (
        f"in the cotangents: line {f.__code__.co_firstlineno + 2}, np.sqrt(y)"
        in found.first_not_finite
    )


def test_inputs_that_are_not_finite():
    assert ad.explain(lambda x: x * 2.0, math.inf).first_not_finite == "an input is not finite"
    assert ad.explain(lambda x: x * 2.0, 1.0).first_not_finite is None


# ---- lines, iterations, calls --------------------------------------------------------------------


def paths(found, text):
    return [tuple(n for _, n in event.path) for event in events(found) if event.text == text]


def test_iterations_of_nested_loops():
    def f(x):
        s = x
        for i in range(2):
            if i == 5:
                continue
            n = 0
            while n < i + 1:
                n += 1
                s = s * x
            for _ in ():
                pass
            s = s + x
        return s

    found = ad.explain(f, 1.5)
    assert paths(found, "s * x") == [(1, 1), (2, 1), (2, 2)]
    assert paths(found, "s + x") == [(1,), (2,)]


def test_iterations_that_leave_no_operation_count():
    def f(x):
        s = x
        for i in range(6):
            if i % 2:
                continue
            if i == 4:
                break
            s = s * x
        return s

    assert paths(ad.explain(f, 1.5), "s * x") == [(1,), (3,)]


def test_comprehensions_and_generators():
    def squares(xs):
        for x in xs:
            yield x * x

    def f(xs):
        doubled = [2.0 * x for x in xs]
        return sum(y + 1.0 for y in squares(doubled))

    found = ad.explain(f, [1.0, 2.0, 3.0])
    assert found.gradient == ([8.0, 16.0, 24.0],)
    assert (
        paths(found, "2.0 * x")
        == paths(found, "x * x")
        == paths(found, "y + 1.0")
        == [(1,), (2,), (3,)]
    )
    assert {event.call.name for event in events(found) if event.text == "x * x"} == {"squares"}


def test_calls_of_a_recursive_function():
    def power(x, n):
        return x if n == 1 else x * power(x, n - 1)

    found = ad.explain(power, 2.0, 3)
    first, second = (event for event in events(found) if event.name == "mul")
    assert first.call.parent is second.call and second.call.parent.number == 0
    assert (str(first.value), str(first.bar), str(second.bar)) == ("4", "2", "1")


def test_values_where_they_are_written():
    def f(x):
        y = np.zeros(2)
        y[0] = x
        y[0] += 1.0
        return y[0] * y[0]

    found = ad.explain(f, 2.0)
    writes = [event for event in events(found) if event.form == "write"]
    assert [str(event.value) for event in writes] == ["[2, 0]", "[3, 0]"]
    assert found.gradient == (6.0,)


def test_derivatives_inside():
    def f(x):
        return x * ad.grad(lambda t: t * t * t)(x)

    assert ad.explain(f, 2.0).gradient == ad.gradient(f, 2.0) == (36.0,)


def test_functions_without_source():
    found = ad.explain(np.tanh, 0.5)
    assert found.gradient == ad.gradient(np.tanh, 0.5)
    assert "outside of source" in str(found) and "tanh" in found.to_html()


def test_keywords_are_constant():
    found = ad.explain(lambda x, scale: x * scale, 2.0, scale=3.0)
    assert found.gradient == (3.0,) and len(found._run.tape.inputs) == 1


def test_a_result_that_is_no_number():
    with pytest.raises(ad.NotScalarError, match="'<lambda>' returned an array"):
        ad.explain(lambda x: x, np.ones(2))


STEERED = {
    "hook": lambda x: ad.hook(lambda bar: 2.0 * bar, x) * x,
    "stop_gradient": lambda x: ad.stop_gradient(x) * x,
    "checkpoint": lambda x: ad.checkpoint(lambda y: y * np.sin(y))(x) * x,
    "an integer": lambda x: x * x * int(2),
    "complex numbers": lambda x: abs((x + 2j) ** 2),
    "an exception": lambda x: caught(x) * x,
    "a global": lambda x: x * FACTOR[0],
}
FACTOR = [2.5]


def caught(x):
    try:
        return math.sqrt(-x)
    except ValueError:
        return x * x


@pytest.mark.parametrize("name", STEERED)
@pytest.mark.parametrize("x", [1.5, 3, np.float32(2.0)])
def test_what_steers(name, x):
    f = STEERED[name]
    found = ad.explain(f, x)
    assert (
        difference((found.value, found.gradient), tuple(ad.withgradient(f, x)), rtol=1e-6) is None
    )
    if name != "hook":
        assert found.to("x").total == pytest.approx(found.gradient[0], rel=1e-6)


def test_an_error_of_the_function_is_its_own():
    with pytest.raises(ValueError, match="math domain error|nonnegative|positive"):
        ad.explain(lambda x: math.log(x), -1.0)


# ---- limits --------------------------------------------------------------------------------------


def test_long_runs_keep_the_first_operations():
    def f(x):
        s = x
        for _ in range(MOST_EVENTS):
            s = s * 0.999 + x
        return s

    found = ad.explain(f, 1.5)
    assert found.gradient[0] == pytest.approx(ad.gradient(f, 1.5)[0], rel=1e-12)
    assert found.to("x").total == pytest.approx(found.gradient[0], rel=1e-12)
    kept = [event for event in events(found) if event.is_kept]
    assert len(kept) == MOST_EVENTS and len(events(found)) == 2 * MOST_EVENTS
    note = f"{MOST_EVENTS} of {2 * MOST_EVENTS} operations are shown"
    page = found.to_html()
    assert note in str(found) and note in page and len(page.encode()) < 1_000_000


def test_many_calls():
    def fib(x, n):
        return x if n < 2 else fib(x, n - 1) + fib(x, n - 2)

    found = ad.explain(fib, 1.0, 14)
    assert found.gradient[0] == found.value == 610.0 and found.to("x").total == 610.0
    assert len(found.to_html().encode()) < 1_000_000


def test_large_arrays_are_summarised():
    found = ad.explain(lambda x: np.sum(x * x), np.arange(100_000.0))
    assert "array (100000,), 0 … 99999" in str(found) and len(found.to_html()) < 100_000
    assert np.array_equal(found.to("x").total, found.gradient[0])


# ---- text ----------------------------------------------------------------------------------------


def test_text_and_steps():
    def f(x, y):
        a = x * y
        return a + x

    found = ad.explain(f, 3.0, 4.0)
    line = f.__code__.co_firstlineno
    shown = str(found)
    assert repr(found) == shown and shown.startswith("f: 15\n")
    row = next(text for text in shown.splitlines() if text.startswith("         x * y"))
    assert row.split("  ")[-1].strip() == "1" and "∂/∂x = 4, ∂/∂y = 3" in row and " 12 " in row
    steps = list(found.steps())
    assert [step.sweep for step in steps] == ["forward"] * 2 + ["reverse"] * 2 + ["gradient"] * 2
    assert str(steps[0]) == f"Line {line + 1}: x * y is 12, from x = 3 and y = 4."
    assert steps[3].words == (
        f"Line {line + 1}: x * y has cotangent 1; x receives 4 × 1 = 4; y receives 3 × 1 = 3."
    )
    assert (steps[3].line, steps[3].operation, steps[3].value) == (line + 1, "x * y", "12")
    assert (steps[3].local_derivative, steps[3].cotangent) == ("∂/∂x = 4, ∂/∂y = 3", "1")
    assert steps[4].words == "The derivative of the result in x is 5."


def test_numbers_of_classes_of_their_own_run_no_code():
    class Loud(float):
        def __repr__(self):
            raise AssertionError

        __str__ = __format__ = __repr__

    found = ad.explain(lambda x, y: x * y, Loud(2.0), 3.0)
    assert found.gradient == (3.0, 2.0) and "cotangent" in str(found)


# ---- the graph -----------------------------------------------------------------------------------


def test_edges_follow_the_values():
    def f(x, y):
        a = x * y
        b = a
        return max(b, 1.0) + a * 2.0

    found = ad.explain(f, 3.0, 4.0)
    operations = {event.text: event for event in events(found)}
    product, best = operations["x * y"], operations["max(b, 1.0)"]
    assert product.operands[0].sources == (-1,) and product.operands[1].sources == (-2,)
    assert best.operands[0].sources == (product.number,)
    total = operations["max(b, 1.0) + a * 2.0"]
    assert total.operands[0].sources == (best.number,)
    dot = found.to_dot()
    assert dot.count("->") == 6 and 'label="x\\nvalue 3\\ncotangent 12"' in dot
    assert found.to_svg().count("<rect") == 6


def test_one_memory_under_two_names_has_no_edge():
    def f(pair):
        return np.sum(pair[0]) * 2.0

    x = np.ones(2)
    assert events(ad.explain(f, [x, x]))[0].operands[0].sources == ()
    assert events(ad.explain(f, [x, x[:1]]))[0].operands[0].sources == (-1,)  # variables apart


def test_constants_that_equal_a_result_have_no_edge():
    def f(x):
        mantissa, exponent = math.frexp(x)
        return mantissa * 4

    found = ad.explain(f, 8.0)
    assert math.frexp(8.0)[1] == 4 and found.gradient == ad.gradient(f, 8.0)
    assert [len(one.sources) for one in events(found)[-1].operands] == [1, 0]


def test_writes_are_seen_under_all_names():
    def f(x, y):
        x[0] = x[1] * 2.0
        return y[0] * 3.0

    a = np.array([1.0, 2.0])
    found = ad.explain(f, a, a)
    write = next(event for event in events(found) if event.form == "write")
    last = [event for event in events(found) if event.form == "read"][-1]
    assert last.operands[0].sources == (write.number,)
    b = np.array([1.0, 2.0])
    assert difference(found.gradient, ad.gradient(f, b, b)) is None
    assert np.array_equal(found.to("x").total, found.gradient[0])


def test_edges_follow_what_was_written():
    def f(x):
        x[0] = x[1] * 2.0
        return x[0] * 3.0

    found = ad.explain(f, np.array([1.0, 2.0]))
    write = next(event for event in events(found) if event.form == "write")
    last = [event for event in events(found) if event.form == "read"][-1]
    assert last.operands[0].sources == (write.number,)
    assert write.operands[0].sources and write.operands[1].sources == (-1,)
