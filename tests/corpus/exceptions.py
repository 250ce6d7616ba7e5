"""``try``, ``except``, ``else``, ``finally`` and ``raise``."""

import concurrent.futures
import heapq
import itertools
import math

import numpy as np

from tests.corpus.registry import case


class TooLarge(Exception):
    def __init__(self, amount):
        super().__init__("too large")
        self.amount = amount


def limited(x, limit):
    if x > limit:
        raise TooLarge(x - limit)
    return x


@case(1.3)
@case(3.3)
def caught(x):
    try:
        y = limited(x * x, 4.0)
    except TooLarge:
        y = 2.0 * x
    return y * x


@case(3.3)
def value_carried_by_exception(x):
    try:
        return limited(x, 1.0)
    except TooLarge as error:
        return error.amount * x


@case(3.3)
def value_in_exception_arguments(x):
    try:
        raise ValueError(x * 2, "text")
    except ValueError as error:
        return error.args[0] * x


@case(0.5)
@case(2.5)
def try_else(x):
    try:
        y = limited(x, 1.0)
    except TooLarge:
        y = 1.0
    else:
        y = y * x
    return y + x


@case(0.5)
@case(2.5)
def try_finally(x):
    log = []
    try:
        y = limited(x, 1.0) * 2
    except TooLarge:
        y = x * x
    finally:
        log.append(x * 3)
    return y + log[0]


@case(2.5)
def finally_overrides_return(x):
    def f():
        try:
            return x
        finally:
            return x * x

    return f()


@case(2.5)
def return_value_is_fixed_before_finally(x):
    def f():
        y = x
        try:
            return y * y
        finally:
            y = 100.0

    return f()


@case(2.5)
def finally_swallows_exception(x):
    total = 0.0
    for k in range(3):
        try:
            total += x * k
            limited(x, 1.0)
            total += 100.0
        finally:
            total += x
            continue
    return total


@case(2.5)
def nested_handlers(x):
    try:
        try:
            x = x * 2
            limited(x, 1.0)
        except KeyError:
            x = 0.0
        finally:
            x = x * x
    except TooLarge as error:
        x = x + error.amount
    return x


@case(2.5)
def reraised(x):
    y = 0.0
    try:
        try:
            raise TooLarge(x)
        except TooLarge as error:
            y = error.amount * 2
            raise
    except Exception:
        y = y * x
    return y


@case(2.5)
def raised_from(x):
    try:
        try:
            raise KeyError(x)
        except KeyError as error:
            raise TooLarge(x * x) from error
    except TooLarge as error:
        return error.amount + error.__cause__.args[0]


@case(2.5)
def several_handlers(x):
    total = 0.0
    for kind in (ValueError, KeyError, TypeError, None):
        try:
            if kind is not None:
                raise kind(kind.__name__)
            total += x**4
        except (ValueError, TypeError):
            total += x
        except KeyError:
            total += x * x
    return total


@case([0.5, 2.5])
def builtin_exceptions(xs):
    total = 0.0
    for k in range(4):
        try:
            total += xs[k] * 2
        except IndexError:
            total += xs[0] * k
    try:
        total /= 0.0 * xs[0]
    except ZeroDivisionError:
        total *= xs[1]
    return total


@case({"a": 0.5})
def missing_key_default(d):
    def get(key):
        try:
            return d[key]
        except KeyError:
            return d["a"] * 3

    return get("a") * get("b")


@case(2.5)
def break_through_finally(x):
    total = 0.0
    for k in range(5):
        try:
            if k == 3:
                break
            total += x * k
        finally:
            total *= 1.5
    return total


@case(2.5)
def partial_work_before_exception(x):
    items = []
    try:
        for k in range(5):
            items.append(x * k)
            limited(items[-1], 6.0)
    except TooLarge as error:
        items.append(error.amount)
    return sum(items)


@case(np.array([1.0, 2.0]))
def array_written_before_exception(x):
    y = x.copy()
    try:
        y[0] = y[0] * x[1]
        raise TooLarge(y[0])
    except TooLarge as error:
        y[1] *= error.amount
    return y.sum()


@case(2.5)
def exception_through_frames(x):
    def inner(v):
        v = v * 2
        limited(v, 1.0)
        return v

    def middle(v):
        try:
            return inner(v * x)
        finally:
            state.append(v)

    state = []
    try:
        result = middle(x)
    except TooLarge as error:
        result = error.amount
    return result * state[0]


@case(2.5)
def exception_in_comprehension(x):
    try:
        return sum([limited(x * k, 6.0) for k in range(5)])
    except TooLarge as error:
        return error.amount * error.amount


@case(0.5)
def stop_iteration_by_hand(x):
    it = iter([x, x * x])
    total = 0.0
    while True:
        try:
            total += next(it)
        except StopIteration:
            return total * x


@case(0.5)
def math_domain_error(x):
    try:
        return math.log(-x)
    except ValueError:
        return math.log(x)


@case(1.5)
def exception_variable_unbound_afterwards(x):
    error = x
    try:
        raise TooLarge(x)
    except TooLarge as error:
        y = error.amount
    try:
        return error * y
    except NameError:
        return y * x


@case(1.5)
def loop_retries(x):
    attempts = 0
    while True:
        attempts += 1
        try:
            return limited(x, 1.0) * attempts
        except TooLarge:
            x = x * 0.8


# ---- what exceptions hold, and statements without effect --------------------------------------


class Squared(Exception):
    def __init__(self, v):
        super().__init__(v * v)


class Keeping(Exception):
    def __init__(self, v):
        self.v = v * 2.0


@case(1.3)
def args_given_by_init(x):
    try:
        raise Squared(x)
    except Squared as error:
        y = error.args[0]
        error.__init__(3.0 * x)
        return y * error.args[0]


@case(1.3)
def args_given_by_new(x):
    try:
        raise Keeping(x * x)
    except Keeping as error:
        return error.args[0] * error.v


@case(1.3)
def finally_without_effect(x):
    try:
        y = x * x
    finally:
        pass
    for _ in range(2):
        try:
            if y > 100.0:
                break
            y = y * x
        finally:
            ...
    return y


@case(1.3)
def finally_that_is_a_text(x):
    try:
        return x * x
    finally:
        """Nothing."""


# ---- classes that are raised ---------------------------------------------------------------------


def failing_with(value):
    """An exception that keeps what was captured, not what it is given."""

    class Failed(Exception):
        def __init__(self):
            super().__init__("failed")
            self.value = value * value

    return Failed


@case(1.3)
def class_raised(x):
    total = 0.0
    for kind in (failing_with(x), failing_with(3.0 * x)):
        try:
            raise kind
        except Exception as error:
            total += error.value * x
    return total


@case(1.3)
def class_raised_from_a_class(x):
    try:
        try:
            raise failing_with(x) from failing_with(2.0 * x)
        except Exception as error:
            kept = error.__cause__.value
            raise type(error) from None
    except Exception as error:
        return error.value * kept


@case(1.3)
def class_that_makes_something_else(x):
    class Other(Exception):
        def __new__(cls):
            return 3

    total = 0.0
    for kind in (Other, 3, int, None):
        try:
            raise kind
        except TypeError as error:
            total += len(str(error)) * x
    return total


@case(1.3)
def class_raised_on_entering(x):
    class Manager:
        def __enter__(self):
            raise failing_with(x)

        def __exit__(self, *error):
            raise NotImplementedError

    try:
        with Manager():
            return 0.0
    except Exception as error:
        return error.value


@case(1.3)
def refused_arguments_are_no_result(x):
    total = x
    for call in (
        lambda: map(abs),
        lambda: min(),
        lambda: {}.fromkeys(3),
        lambda: itertools.count("a"),
        lambda: heapq.heapify((x,)),
        lambda: heapq.heappush(3, x),
        lambda: filter(None, 3),
        lambda: enumerate([], 1, 2),
        lambda: zip([], foo=1),
        lambda: next(iter([]), 1, 2),
        lambda: [x].sort(abs),
    ):
        try:
            call()
        except TypeError:
            total *= x
    return total


@case(1.3)
def parsed_if_possible(x):
    total = x
    for word in ("a", "2", "3+4j"):
        try:
            total *= abs(complex(word)) * x
        except ValueError:
            total += x * x
    return total


@case(1.3)
def keys_of_an_instance(x):
    table = {}.fromkeys("ab", x * x)
    return table["a"] * table["b"]


class Stopped(SystemExit):
    def __init__(self, value):
        super().__init__(value)
        self.value = value


@case(np.array([0.7, 1.3]))
def arrays_in_fields_that_c_holds(x):
    error = NameError("a", name=x * x)
    error.name *= x
    return Stopped(error.name).code * SystemExit(x, 2.0).code[0]


# ---- what C raises holds what an operation was given ---------------------------------------------


@case(np.array([0.7, 1.3]))
def written_arrays_without_an_attribute(x):
    y = x * x
    y[0] = x[1] ** 3
    try:
        y.nothing
    except AttributeError as error:
        return error.obj * x


def one_and_a_square(x):
    yield x
    return x * x


@case(1.3)
def results_of_generators_in_args(x):
    steps, again = one_and_a_square(x), one_and_a_square(x * x)
    next(steps), next(again)
    try:
        next(steps)
    except StopIteration as end:
        first = end.args[0]
    try:
        again.send(None)
    except StopIteration as end:
        return first * end.args[0] * end.value


@case(1.3)
def calls_of_c_that_are_left(x):
    try:
        return list(map({}.__getitem__, [x, x * x]))
    except KeyError:
        pass
    try:
        first, second = map({}.__getitem__, [x, x * x])
    except KeyError:
        return x * x
    return first * second


class AtOnce(concurrent.futures.Executor):
    """Runs what is submitted before it returns."""

    def submit(self, fn, /, *args, **kwargs):
        future = concurrent.futures.Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Found(Exception):
    pass


@case(1.3, 0.4)
def raised_by_a_future(x, y):
    def work(v):
        if v > 1.0:
            raise Found(v * y, [v * v])
        return v * v

    with AtOnce() as pool:
        first, second = pool.submit(work, x), pool.submit(work, y)
        total = second.result()
        try:
            first.result()
        except Found as error:
            total += error.args[0] * error.args[1][0]
        try:
            for part in pool.map(work, [y, x]):
                total += part * x
        except Found as error:
            total += error.args[0] ** 2
    return total + first.exception().args[0]


class Placed(Exception):
    """Has its own ``args``, beside those that it was made of."""

    __slots__ = ("args", "place")

    def __init__(self, place):
        self.place = place
        self.args = (place, place * 2.0)


@case(1.3)
def exceptions_with_arguments_of_their_own(x):
    try:
        raise Placed(x * x)
    except Placed as error:
        return error.place * x + error.args[1] + BaseException.args.__get__(error)[0]
