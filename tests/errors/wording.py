"""Functions that raise at 3.0 what Python or NumPy finds itself, whose words are to be theirs."""

import collections
import enum
import functools
import math
import operator
import os

import numpy as np


def having(**results):
    """An object whose special methods return that."""
    methods = {name: lambda self, *_, y=y: y for name, y in results.items()}
    return type("Having", (), methods)()


def keyword_only(**options):
    return options


# ---- statements ----------------------------------------------------------------------------------


def with_a_number(x):
    with x:
        pass


def with_half_a_manager(x):
    with having(__enter__=x):
        pass


def importing_a_missing_name(x):
    from math import nothing  # noqa: F401


def importing_a_missing_submodule(x):
    import os.nothing  # noqa: F401


def matching_too_many(x):
    match x:
        case float(a, b):
            return a + b


def throwing_into_a_new_generator(x):
    return (_ for _ in ()).throw(ValueError(x))


def assigning_out_of_range(x):
    values = [x]
    values[3] = 1.0


def assigning_under_a_name(x):
    values = [x]
    values["a"] = 1.0


def assigning_a_number_to_a_slice(x):
    values = [x]
    values[0:1] = 3


# ---- unpacking and stars -------------------------------------------------------------------------


def unpacking_a_scalar(x):
    (a, b), *c = x * np.arange(3.0)


def unpacking_nothing(x):
    a, b = None


def unpacking_what_iterates_over_a_number(x):
    a, b = having(__iter__=x)


def star_alone(x):
    return max(*x)


def star_alone_of_a_function(x):
    return keyword_only(*x)


def star_behind_others(x):
    return max(1.0, *x)


def star_in_a_display(x):
    return [*x], (*x,), {*x}


def stars_in_a_display(x):
    return {**x}


def stars_of_a_number(x):
    return dict(**x)


def stars_of_a_number_to_a_function(x):
    return keyword_only(**x)


def keyword_twice(x):
    return keyword_only(**{"a": 1}, **{"a": x})


def keyword_named_and_in_stars(x):
    return keyword_only(a=1, **{"a": x})


def stars_in_a_class(x):
    class Made(**x):
        pass


# ---- special methods -----------------------------------------------------------------------------


def text_from_float(x):
    return float(having(__float__="1")) * x


def integer_from_float(x):
    return math.sqrt(having(__float__=1)) * x


def no_number(x):
    return float(object()) * x


def fraction_from_index(x):
    return [x][having(__index__=0.5)]


def text_from_operator_index(x):
    return operator.index(having(__index__="1")) * x


def number_from_str(x):
    return len(str(having(__str__=3))) * x


def number_from_str_in_a_string(x):
    return len(f"{having(__str__=3)}") * x


def width_that_nobody_knows(x):
    return len(f"{having(__str__='a'):5}") * x


def number_from_format(x):
    return len(format(having(__format__=3))) * x


def text_from_hash(x):
    return hash(having(__hash__="a")) * x


def fraction_from_int(x):
    return int(having(__int__=1.5)) * x


def text_from_bytes(x):
    return len(bytes(having(__bytes__="a"))) * x


def number_from_fspath(x):
    return len(os.fspath(having(__fspath__=3))) * x


def number_from_bool(x):
    return x if bool(having(__bool__=2)) else -x


def number_from_bool_in_a_condition(x):
    return x if having(__bool__=2) else -x


def negative_length(x):
    return len(having(__len__=-1)) * x


def negative_length_in_a_condition(x):
    return x if having(__len__=-1) else -x


def negative_length_of_elements(x):
    return [*having(__len__=-1, __iter__=iter([x]))]


def negative_length_of_a_list(x):
    return list(having(__len__=-1, __iter__=iter([x])))


def iterating_over_a_number(x):
    for _ in having(__iter__=x):
        pass


# ---- functions -----------------------------------------------------------------------------------


def removing_what_is_not_there(x):
    values = [x]
    values.remove(9)


def removing_an_array(x):
    values = [x * np.ones(2), x]
    values.remove(np.ones(2))


def power_with_a_modulus(x):
    return pow(x, 2, 3)


def strict_zip_that_is_shorter(x):
    return [a * b for a, b in zip([x, x], [x], strict=True)]


def strict_zip_that_is_longer(x):
    return [a * b for a, b in zip([x], [x, x], strict=True)]


def reversed_number(x):
    return reversed(x)


def sum_of_texts(x):
    return sum([x], "a")


def dict_of_numbers(x):
    return dict([x])


def dict_of_singles(x):
    return dict([("a", x), ("b",)])


def missing_member(x):
    return enum.Enum("Colour", "red green")(9)


def empty_reduction(x):
    return functools.reduce(max, [])


def removing_from_a_deque(x):
    values = collections.deque([x])
    values.remove(9)


def adding_in_place(x):
    y = x * np.ones(3)
    y += np.ones(4)


def subtracting_in_place_with_more_axes(x):
    y = x * np.ones(3)
    y -= np.ones((2, 2))


def multiplying_in_place_by_the_active_one(x):
    y = np.ones(3)
    y *= x * np.ones(4)


def adding_to_integers(x):
    y = np.arange(3)
    y += x


WORDED = [
    f
    for f in list(globals().values())
    if getattr(f, "__module__", None) == __name__ and f not in (having, keyword_only)
]
