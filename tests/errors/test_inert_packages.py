"""What packages that are left alone keep and call: functions of C among it store nothing unseen,
and memory is left as plain Python leaves it."""

import copyreg
import functools
import importlib
import io
import pickle
import shutil
import signal
import threading
import types
import unittest

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import AdjointError, MutationError


class Case(unittest.TestCase):
    def runTest(self):
        pass


class Held:
    pass


def failing(v):
    yield v
    raise ValueError


def run_by_a_thread(out, x):
    threading.Thread(target=out.append, args=(x * x,)).run()


def run_by_a_timer(out, x):
    threading.Timer(0, out.append, [x * x]).run()


def run_at_a_barrier(out, x):
    threading.Barrier(1, action=functools.partial(out.append, x * x)).wait()


def run_as_a_cleanup(out, x):
    case = Case()
    case.addCleanup(out.append, x * x)
    case.doCleanups()


def written_by_a_copy(out, x):
    numbers = iter([x * x, 0.0])
    source = types.SimpleNamespace(read=lambda n: next(numbers))
    shutil.copyfileobj(source, types.SimpleNamespace(write=out.append))


def run_until_it_raises(out, x):
    Case().assertRaises(ValueError, out.extend, failing(x * x))


def run_until_it_raises_for_pytest(out, x):
    pytest.raises(ValueError, out.extend, failing(x * x))


@pytest.mark.parametrize(
    "run",
    [
        run_by_a_thread,
        run_by_a_timer,
        run_at_a_barrier,
        run_as_a_cleanup,
        written_by_a_copy,
        run_until_it_raises,
        run_until_it_raises_for_pytest,
    ],
    ids=lambda run: run.__name__,
)
def test_what_functions_in_c_store(run):
    out = []

    def f(x):
        run(out, x)
        return out[-1] * x

    with pytest.raises(AdjointError, match="store"):
        ad.pullback(f, 1.3)


def test_what_functions_in_c_put_back():
    held = Held()

    def f(x):
        held.v, case = 1.0, Case()
        case.addCleanup(setattr, held, "v", held.v)
        held.v = x * x
        y = held.v * x
        case.doCleanups()
        return y + held.v

    def g(v):
        w, case = v * 2.0, Case()
        case.addCleanup(w.fill, 2.0)
        y = np.sum(w * v)
        case.doCleanups()
        return y + np.sum(w)

    for f, x in ((f, 1.3), (g, np.array([1.0, 2.0]))):
        with pytest.raises(AdjointError):
            ad.gradient(f, x)


# ---- functions of the user's that were registered before -----------------------------------------


def by_a_signal(register):
    before = signal.signal(signal.SIGUSR1, lambda *_: register())
    yield lambda: signal.raise_signal(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)


def by_pickle(register):
    copyreg.pickle(Held, lambda held: (register(), (len, ("a",)))[1])
    yield lambda: pickle.dumps(Held())
    del copyreg.dispatch_table[Held]


@pytest.mark.parametrize("how", [by_a_signal, by_pickle])
def test_functions_that_were_registered_before(how):
    held = Held()

    def register():
        held.v = held.v * 2.0

    steps = how(register)
    trigger = next(steps)

    def f(x):
        held.v = x * x
        trigger()
        return held.v * x

    assert f(1.3) == pytest.approx(2 * 1.3**3)
    for derivative in (lambda: ad.gradient(f, 1.3), lambda: ad.derivative(f)(1.3)):
        with pytest.raises(AdjointError):
            derivative()
    assert next(steps, None) is None


def test_raw_files_of_the_users():
    class Raw(io.RawIOBase):
        def writable(self):
            return True

        def write(self, b):
            self.got = self.x * self.x
            return len(b)

    def f(x):
        raw = Raw()
        raw.x = x
        file = io.BufferedWriter(raw)
        file.write(b"abc")
        file.flush()
        return raw.got * x

    for derivative in (lambda: ad.gradient(f, 1.3), lambda: ad.derivative(f)(1.3)):
        with pytest.raises(AdjointError):
            derivative()


def test_modules_are_not_read_again(tmp_path, monkeypatch):
    (tmp_path / "read_again_of_the_test.py").write_text("k = 2.0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("read_again_of_the_test")

    def f(x):
        module.k = x
        importlib.reload(module)
        return x * module.k

    with pytest.raises(MutationError, match=r"importlib\.reload"):
        ad.gradient(f, 1.3)
    assert module.k == 1.3
