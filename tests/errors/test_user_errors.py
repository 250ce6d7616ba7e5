"""Errors that the user's own code raises look as they do without us."""

import copy
import gc
import inspect
import math
import pickle
import sys
import traceback
import weakref

import numpy as np
import pytest

import adjoint as ad
from tests.errors.failing import FAILING, OwnError, by_linear_algebra, fail, through_callees
from tests.errors.failing import __file__ as FILE
from tests.errors.places import LIBRARY, ours, positions, raised, shown, users
from tests.errors.wording import WORDED
from tests.errors.wording import __file__ as WORDING


def unfinished(x):
    return x


@pytest.mark.parametrize("f", FAILING, ids=lambda f: f.__name__)
def test_same_type_and_message(f):
    plain = raised(BaseException, f, 3.0)
    for operator_ in (ad.pullback, ad.gradient, ad.grad(f)):
        args = (3.0,) if operator_ is not ad.pullback and operator_ is not ad.gradient else (f, 3.0)
        error = raised(BaseException, operator_, *args)
        assert type(error) is type(plain)
        assert str(error) == str(plain) and error.args == plain.args
        if isinstance(error, OwnError):
            assert (error.x, error.code) == (plain.x, plain.code)


@pytest.mark.parametrize("f", FAILING, ids=lambda f: f.__name__)
def test_the_traceback_shows_the_users_lines(f):
    plain = raised(BaseException, f, 3.0)
    error = raised(BaseException, ad.pullback, f, 3.0)
    own = [place for place in users(error) if place[0] == FILE]
    assert own == [place for place in shown(plain) if place[0] == FILE]
    assert not ours(error)


@pytest.mark.parametrize("f", FAILING, ids=lambda f: f.__name__)
def test_no_generated_code_in_causes_and_contexts(f):
    error = raised(BaseException, ad.pullback, f, 3.0)
    plain = raised(BaseException, f, 3.0)
    inner, plain_inner = error.__cause__ or error.__context__, plain.__cause__ or plain.__context__
    assert type(inner) is type(plain_inner)
    assert (type(error.__cause__), type(error.__context__)) == (
        type(plain.__cause__),
        type(plain.__context__),
    )
    assert error.__suppress_context__ == plain.__suppress_context__
    if inner is not None:
        assert str(inner) == str(plain_inner)
        assert not ours(inner)
        own = [place for place in users(inner) if place[0] == FILE]
        assert own == [place for place in shown(plain_inner) if place[0] == FILE]


@pytest.mark.parametrize("f", WORDED, ids=lambda f: f.__name__)
def test_the_words_are_those_of_python(f):
    plain = raised(Exception, f, 3.0)
    error = raised(Exception, ad.pullback, f, 3.0)
    assert (type(error), str(error)) == (type(plain), str(plain))
    assert not ours(error)
    own = [place for place in users(error) if place[0] == WORDING]
    assert own == [place for place in shown(plain) if place[0] == WORDING]
    while plain is not None:
        assert type(error) is type(plain)
        error, plain = (e.__cause__ or e.__context__ for e in (error, plain))
    assert error is None


VARYING = {"by_assert", "through_with", "through_context_manager"}
"""The place of ``with`` and of ``assert`` is another one in each version."""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="comprehensions are functions before 3.12")
@pytest.mark.parametrize("f", FAILING, ids=lambda f: f.__name__)
def test_the_traceback_marks_the_users_columns(f):
    plain, error = raised(BaseException, f, 3.0), raised(BaseException, ad.pullback, f, 3.0)
    if f.__name__ not in VARYING:
        assert positions(error, FILE) == positions(plain, FILE)


def test_the_columns_are_printed():
    def f(x):
        return x + fail(x * 2.0)

    def printed(error):
        return [entry for entry in traceback.format_exception(error) if ", in f\n" in entry]

    plain, error = raised(OwnError, f, 3.0), raised(OwnError, ad.gradient, f, 3.0)
    assert printed(error) == printed(plain) != []
    assert "^" in printed(error)[0]


@pytest.mark.parametrize(
    "line",
    [
        "x * missing",
        "[missing for _ in range(3)]",
        "(lambda y: y * missing)(x)",
        "'größe' + missing",
        "x.__class__(missing[0])",
    ],
)
def test_the_name_that_is_not_bound_is_marked(line, tmp_path):
    path = tmp_path / "user.py"
    text = f"def f(x):\n    return {line}\n"
    path.write_text(text, encoding="utf-8")
    namespace = {}
    exec(compile(text, str(path), "exec"), namespace)
    error = raised(NameError, ad.pullback, namespace["f"], 3.0)
    place = traceback.extract_tb(error.__traceback__)[-1]
    assert (place.filename, place.lineno) == (str(path), 2)
    marked = text.splitlines()[1].encode()[place.colno : place.end_colno]
    assert marked.decode() == "missing"


def test_nothing_of_ours_is_shown():
    for call in (ad.gradient, ad.withgradient, lambda f, x: ad.grad(f)(x)):
        error = raised(OwnError, call, through_callees, 3.0)
        assert not ours(error)


def test_the_sweep_shows_nothing_of_ours():
    @ad.rrule.register(unfinished)
    def rule(x):
        return x, lambda x_bar: fail(x)

    y, back = ad.pullback(lambda x: unfinished(x) * 2, 3.0)
    error = raised(OwnError, back, 1.0)
    assert not ours(error) and [name for _, _, name in users(error)][-1] == "fail"


def test_an_error_of_the_library_ends_at_the_users_line():
    def f(x):
        return x @ x

    plain, error = raised(TypeError, f, 3.0), raised(TypeError, ad.gradient, f, 3.0)
    assert shown(plain)[-1] == shown(error)[-1]
    error = raised(TypeError, ad.gradient, lambda x: (x, x), 3.0)
    assert not ours(error)


def test_an_error_raised_while_another_is_handled_keeps_both():
    def f(x):
        try:
            fail(x)
        except OwnError:
            raise KeyError("after") from None

    def chain(call):
        try:
            try:
                raise LookupError("outer")
            except LookupError:
                call()
        except KeyError as error:
            return [type(error), type(error.__context__), type(error.__context__.__context__)]

    assert chain(lambda: ad.gradient(f, 3.0)) == chain(lambda: f(3.0))


def test_any_kind_of_error_comes_through():
    for kind in (StopIteration, GeneratorExit, KeyboardInterrupt, SystemExit, RecursionError):

        def f(x, kind=kind):
            raise kind(x)

        error = raised(kind, ad.grad(f), 3.0)
        assert error.args == (3.0,) and not ours(error)


def test_public_functions_look_like_functions():
    assert repr(ad.gradient) == "<function adjoint.api.gradients.gradient>"
    assert ad.gradient.__doc__.startswith("Gradient of")
    assert list(inspect.signature(ad.gradient).parameters) == ["f", "args", "kwargs"]
    assert pickle.loads(pickle.dumps(ad.gradient)) is ad.gradient
    assert copy.deepcopy(ad.gradient) is ad.gradient


def test_what_grad_returns_is_bound_as_a_method():
    class Model:
        def __init__(self, a):
            self.a = a

        def loss(self, x):
            return self.a * x * x

        slope = ad.grad(loss, argnums=1)

    assert Model(2.0).slope(3.0) == 12.0


def test_what_is_printed():
    error = raised(OwnError, ad.gradient, through_callees, 3.0)
    text = "".join(traceback.format_exception(error))
    assert "return inner(x + 1)" in text and "raise OwnError(x, code=7)" in text
    assert "<adjoint" not in text and "adjoint/run" not in text


def test_the_traceback_within_the_users_handler():
    found = []

    def f(x):
        try:
            return fail(x)
        except OwnError as error:
            found.append(traceback.format_exc())
            found.append(error.__traceback__ is not None)
            return x * x

    assert ad.gradient(f, 3.0) == (6.0,)
    assert "raise OwnError(x, code=7)" in found[0] and found[1]


def test_the_user_sees_the_exception_being_handled():
    def f(x):
        try:
            fail(x)
        except OwnError:
            return x * sys.exc_info()[1].code
        return x

    assert f(3.0) == 21.0
    assert ad.gradient(f, 3.0) == (7.0,)


def test_notes_are_kept():
    def f(x):
        try:
            fail(x)
        except OwnError as error:
            error.add_note("while testing")
            raise

    assert raised(OwnError, ad.gradient, f, 3.0).__notes__ == ["while testing"]


def test_values_that_an_exception_carries_keep_their_derivative():
    def f(x):
        try:
            fail(x * x)
        except OwnError as error:
            return error.x * x

    assert ad.gradient(f, 3.0) == (27.0,)


def test_a_second_call_after_an_error():
    def f(x):
        return math.sqrt(x - 2.0)

    raised(ValueError, ad.gradient, f, 1.0)
    assert ad.gradient(f, 3.0) == (0.5,)
    raised(ValueError, ad.gradient, f, 1.0)


def test_errors_of_a_library_show_its_own_lines():
    error = raised(np.linalg.LinAlgError, ad.gradient, by_linear_algebra, 3.0)
    plain = raised(np.linalg.LinAlgError, by_linear_algebra, 3.0)
    assert [p[2] for p in users(error)] == [p[2] for p in shown(plain)]


def test_errors_in_a_rule_show_the_rules_file():
    def ruled(x):
        return x

    @ad.rrule.register(ruled)
    def _(x):
        return fail(x), None

    error = raised(OwnError, ad.pullback, lambda x: ruled(x) * 2, 3.0)
    assert users(error)[-1][2] == "fail"
    assert not any(place[0].startswith(LIBRARY) for place in shown(error)[1:])


@pytest.mark.parametrize("times", [1, 2])
def test_an_error_holds_nothing_when_it_is_over(times):
    """Frames that stand in for the user's are kept; they hold nothing of the call."""

    def failing(v):
        return {}[len(v * 1.0)]

    for _ in range(times):
        v = np.ones(3)
        raised(KeyError, ad.gradient, failing, v)
        held = weakref.ref(v)
        del v
        gc.collect()
        assert held() is None
