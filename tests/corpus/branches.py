"""``if``, conditional expressions, boolean operators, chained comparisons, walrus."""

import math

from tests.corpus.registry import case


@case(1.3)
@case(-0.4)
def if_else(x):
    if x > 0:
        y = x * x
    else:
        y = math.exp(x)
    return y + x


@case(2.6)
@case(1.3)
@case(0.2)
@case(-1.0)
def elif_chain(x):
    if x > 2:
        return x * x
    elif x > 1:
        y = x * 3
    elif x > 0:
        y = x / 2
    else:
        y = -x
    return y * x


@case(1.3)
def if_without_else(x):
    y = x
    if x > 1:
        y = y * x
    if x > 2:
        y = y * 100.0
    return y


@case(1.3, 0.4)
@case(-1.3, 0.4)
def conditional_expression(x, y):
    return (x if x > y else y) * (x * x if x < 0 else y if y > 1 else 3.0 * y)


@case(0.0, 1.4, fixed=(0,))  # not continuous in x at 0
@case(2.0, 1.4)
def boolean_operators_pick_values(x, y):
    return ((x + 0.0 if x else 0.0) or y) * 2.0 + (y and y * y)


@case(1.5, 0.5)
def short_circuit(x, y):
    calls = []

    def note(v):
        calls.append(v)
        return v

    flag = x > 2 and note(y) > 0 or note(x) > 1
    return sum(calls) * x if flag else y


@case(1.5)
@case(3.5)
def chained_comparison(x):
    if 1 < x < 3 and not 0 <= x <= 1:
        return x**3
    return x if 3 <= x < 4 != 5 else 0.0


@case(1.5)
def walrus(x):
    if (y := x * x) > 2.0:
        return y * x
    return y


@case([0.4, 1.5, 2.5])
def walrus_in_comprehension(xs):
    kept = [y for v in xs if (y := v * v) > 1.0]
    return sum(kept) * y


@case(0.4)
def walrus_in_while(x):
    total = 0.0
    while (x := x * 2.0) < 5.0:
        total += x
    return total + x


@case(1.4)
def nested_branches(x):
    if x > 0:
        if x > 1:
            if x > 2:
                y = x
            else:
                y = x * x
                if y > 1.5:
                    y *= x
        else:
            y = 2.0
    else:
        y = 0.0
    return y


@case(1.4)
@case(0.4)
def variable_set_in_one_branch(x):
    if x > 1:
        extra = x * 2
    y = x
    if x > 1:
        y = y + extra * x
    return y


@case(1.4, None, fixed=1)
@case(1.4, 0.5, fixed=1)
def none_checks(x, y):
    scale = 2.0 if y is None else y
    if y is not None and isinstance(y, float):
        return x * scale
    return x * x * scale


@case(1.4, "cube", fixed=1)
@case(1.4, "square", fixed=1)
def string_dispatch(x, kind):
    if kind == "square":
        return x * x
    if kind in ("cube", "third"):
        return x * x * x
    raise ValueError(kind)


@case(1.4, 2.0)
def condition_changes_state(x, y):
    log = []
    if log.append(x) or len(log) == 1:
        y = y * log[0]
    return y


@case(0.7)
def early_returns(x):
    if x > 5:
        return x
    x = x * 3
    if x > 2:
        return x * x
    return 0.0


@case(0.7)
def assertion(x):
    assert x > 0, f"{x} is not positive"
    assert x < 1
    return math.sqrt(x)


@case(1.1, 0.9)
def not_and_comparison_values(x, y):
    flag = not x < y
    other = (x > y) + (y > 0.5)
    return x * flag + y * other


@case(1.1)
def pass_and_docstring(x):
    """Statements that do nothing."""
    pass
    ...
    0
    "text"
    x * 2
    return x * x
