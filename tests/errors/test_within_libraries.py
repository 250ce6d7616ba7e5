"""Errors at a line of the user's that calls a library, where something is refused."""

import sys

import pytest

import adjoint as ad
from tests.errors.places import assert_tells, raised

LIBRARY = """
import struct


def public(x):
    return _inner(x) * 2.0


def _inner(x):
    return struct.unpack("d", struct.pack("d", x))[0]


class Model:
    def run(self, x):
        return _inner(x)
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A package that is installed, with a function that its private module has made."""
    folder = tmp_path / "site-packages" / "somebodys"
    folder.mkdir(parents=True)
    (folder / "_impl.py").write_text(LIBRARY, encoding="utf-8")
    (folder / "__init__.py").write_text("from somebodys._impl import public\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder.parent))
    import somebodys

    yield somebodys
    for name in ("somebodys", "somebodys._impl"):
        del sys.modules[name]


def test_the_users_line_comes_first(library):
    def f(x):
        y = x * x
        return library.public(y) + 1.0

    error = raised(ad.AdjointError, ad.gradient, f, 3.0)
    assert_tells(error, f, "library.public(y)")
    assert error.place.called == "somebodys.public"
    assert error.filename == __file__
    message = str(error)
    assert "  within 'somebodys.public', " in message and "_impl.py:10" in message
    assert "@ad.rrule.register(somebodys.public)" in error.hint


def test_a_method_is_named_by_its_module(library):
    from somebodys._impl import Model

    error = raised(ad.AdjointError, ad.gradient, lambda x: Model().run(x), 3.0)
    assert error.place.called == "somebodys._impl.Model.run"


def test_a_line_that_does_it_itself_is_all_that_is_shown():
    import struct

    def f(x):
        return struct.unpack("d", struct.pack("d", x))[0]

    error = raised(ad.AdjointError, ad.gradient, f, 3.0)
    assert_tells(error, f, "struct.pack")
    assert error.place.called is None and "  within '" not in str(error)


def test_a_function_of_the_library_given_itself(library):
    error = raised(ad.AdjointError, ad.gradient, library.public, 3.0)
    assert error.filename.endswith("_impl.py") and error.place.called is None
