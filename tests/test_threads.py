"""Differentiating from 8 threads at once gives the right numbers."""

import contextlib
import functools
import queue
import subprocess
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad

THREADS = 8


@pytest.fixture(autouse=True)
def frequent_switches():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def at_once(work):
    """What `work` returns for each thread; all start together."""
    barrier = threading.Barrier(THREADS)

    def run(number):
        barrier.wait(timeout=30)
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


class Model:
    def __init__(self, w):
        self.w, self.calls = w, 0

    def __call__(self, x):
        self.calls = self.calls + 1
        return [self.w * v for v in x]


def loss(model, x):
    total = 0.0
    out = np.zeros(3)
    try:
        for i, v in enumerate(model(list(x))):
            out[i] = v
            total = total + out[: i + 1].sum() * v
    finally:
        out *= 2
    return total + sum(v * v for v in out)


def slopes(w, x):
    """∂loss/∂w, ∂loss/∂x of ``w² (Σ_{j≤i} xᵢxⱼ + 4 Σ xᵢ²)``."""
    pairs = sum(x[i] * x[j] for i in range(3) for j in range(i + 1)) + 4 * sum(x * x)
    return 2 * w * pairs, w * w * (x.sum() + x + 8 * x)


def test_each_thread_its_own_data():
    def work(number):
        w, x = 1.0 + number, np.array([1.0, 2.0, 3.0]) + number
        found = [ad.gradient(loss, Model(w), x) for _ in range(20)]
        return [(model_bar.w, x_bar, slopes(w, x)) for model_bar, x_bar in found]

    for results in at_once(work):
        for w_bar, x_bar, (w_expected, x_expected) in results:
            assert w_bar == pytest.approx(w_expected)
            np.testing.assert_allclose(x_bar, x_expected)


def check_own_data():
    """Each thread differentiates at its own point."""
    expected = [slopes(1.0 + i, np.array([1.0, 2.0, 3.0]) + i) for i in range(THREADS)]

    def work(number):
        return ad.gradient(loss, Model(1.0 + number), np.array([1.0, 2.0, 3.0]) + number)

    for (model_bar, x_bar), (w_expected, x_expected) in zip(at_once(work), expected, strict=True):
        assert model_bar.w == pytest.approx(w_expected)
        np.testing.assert_allclose(x_bar, x_expected)


def test_the_very_first_calls():
    """Rules are loaded on the first call into a library: all threads need them at once."""
    code = "import sys; sys.setswitchinterval(1e-5); from tests.test_threads import *;"
    command = [sys.executable, "-c", code + "check_own_data()"]
    for _ in range(3):
        found = subprocess.run(
            command, cwd=Path(__file__).parents[1], capture_output=True, text=True
        )
        assert found.returncode == 0, found.stderr[-2000:]


def test_first_calls_of_new_functions():
    """Functions that no thread has called before are lowered by all of them together."""

    def fresh(k):
        def inner(x):
            return k * x * x

        def f(x):
            y = inner(x)
            return inner(y) if k > 0 else y

        return f

    functions = [fresh(float(k + 1)) for k in range(30)]

    def work(number):
        return [ad.gradient(f, 2.0)[0] for f in functions]

    expected = [(k + 1.0) ** 3 * 4 * 8.0 for k in range(30)]
    for found in at_once(work):
        np.testing.assert_allclose(found, expected)


def test_one_pullback_from_many_threads():
    x = np.array([1.0, 2.0, 3.0])
    model = Model(2.0)
    _, back = ad.pullback(loss, model, x)
    w_expected, x_expected = slopes(2.0, x)

    def work(number):
        return [back(1.0 + number) for _ in range(20)]

    for number, results in enumerate(at_once(work)):
        for _, model_bar, x_bar in results:
            assert model_bar.w == pytest.approx((1 + number) * w_expected)
            np.testing.assert_allclose(x_bar, (1 + number) * x_expected)
    assert model.calls == 1


def test_one_shared_constant_model():
    model = Model(3.0)
    x = np.array([1.0, 2.0, 3.0])

    def work(number):
        return [ad.gradient(lambda v: sum(model(list(v))) * number, x)[0] for _ in range(20)]

    for number, results in enumerate(at_once(work)):
        for bar in results:
            np.testing.assert_allclose(
                np.zeros(3) if bar is None else bar, 3.0 * number * np.ones(3)
            )


def test_errors_and_recursion_in_some_threads():
    def deep(x, n):
        return x if n == 0 else deep(x, n - 1) * 1.0

    def fail(x):
        raise ValueError(f"thread {x}")

    def work(number):
        if number % 2:
            return ad.gradient(deep, 2.0, 300)[0]
        with pytest.raises(ValueError, match=f"thread {number}"):
            ad.gradient(fail, number)
        return None

    limit = sys.getrecursionlimit()
    for _ in range(3):
        assert at_once(work) == [None, 1.0] * (THREADS // 2)
    assert sys.getrecursionlimit() == limit


def test_threads_made_by_partial_gradients():
    """Threads that live on between calls keep nothing of an earlier one."""
    grad = functools.partial(ad.gradient, lambda xs: xs[0] * xs[1])
    with ThreadPoolExecutor(THREADS) as pool:
        points = [[float(i), float(i + 1)] for i in range(200)]
        assert list(pool.map(grad, points)) == [([b, a],) for a, b in points]


# ---- threads that wait ---------------------------------------------------------------------------


def _told_to_go_on(x, lines):
    lines.go.set()
    lines.done.wait()
    return x * x


def _by_a_queue(x, lines):
    lines.put.put(lambda: x * 2.0)
    return lines.got.get() * x


def _waiting_only(x, lines):
    lines.done.wait()
    return x * x


@pytest.mark.parametrize("f", [_told_to_go_on, _by_a_queue, _waiting_only])
@pytest.mark.parametrize(
    "run",
    [
        lambda f, lines: ad.gradient(f, 3.0, lines),
        lambda f, lines: ad.pushforward(f, (3.0, lines), (1.0, None)),
    ],
    ids=["reverse", "forward"],
)
def test_what_a_thread_that_waits_would_do_is_refused(f, run):
    lines = types.SimpleNamespace(
        go=threading.Event(), done=threading.Event(), put=queue.Queue(), got=queue.Queue()
    )

    def work():
        lines.go.wait()
        lines.done.set()

    def serve():
        lines.got.put(lines.put.get()())

    threads = [threading.Thread(target=target, daemon=True) for target in (work, serve)]
    for thread in threads:
        thread.start()
    while not (lines.go._cond._waiters and lines.put.not_empty._waiters):
        time.sleep(1e-3)
    with pytest.raises(ad.errors.MutationError, match="thread"):
        run(f, lines)
    lines.go.set()
    lines.put.put(lambda: None)
    for thread in threads:
        thread.join(timeout=30)
        assert not thread.is_alive()


def _served_by_queue(v, lines):
    lines.put.put(v)
    return lines.got.get() * v


def _served_later(v, lines):
    lines.put.put(v)
    while not lines.got.qsize():
        time.sleep(1e-3)
    return lines.got.get_nowait() * v


def _served_by_list(v, lines):
    lines.put.put(v)
    while not lines.found:
        time.sleep(1e-3)
    return lines.found[0] * v


def _served_in_a_list(v, lines):
    lines.put.put([v * v])
    while not lines.found:
        time.sleep(1e-3)
    return lines.found[0] * v


OF_SERVED = {
    "gradient": lambda f: ad.gradient(f, 3.0),
    "generic": lambda f: ad.grad(f, tier="generic")(3.0),
    "pushforward": lambda f: ad.pushforward(f, (3.0,), (1.0,)),
    "hvp": lambda f: ad.hvp(f, 3.0, 1.0),
    "linearize": lambda f: ad.linearize(f, 3.0),
}


@pytest.mark.parametrize("way", OF_SERVED)
@pytest.mark.parametrize("f", [_served_by_queue, _served_later, _served_by_list, _served_in_a_list])
def test_a_thread_that_takes_from_a_queue(f, way):
    lines = types.SimpleNamespace(put=queue.SimpleQueue(), got=queue.SimpleQueue(), found=[])

    def serve():
        while (taken := lines.put.get()) is not None:
            value = taken[0] if type(taken) is list else taken
            lines.found.append(value * value)
            lines.got.put(value * value)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        with pytest.raises(ad.errors.MutationError, match="thread"):
            OF_SERVED[way](lambda v: f(v, lines))
    finally:
        lines.put.put(None)
        thread.join(timeout=30)
    assert not thread.is_alive()


def test_a_thread_that_takes_text():
    line, seen = queue.SimpleQueue(), []
    thread = threading.Thread(target=lambda: seen.append(line.get()), daemon=True)
    thread.start()

    def f(v):
        line.put("started")
        while not seen:
            time.sleep(1e-3)
        return v * v

    assert ad.gradient(f, 3.0) == (6.0,)
    thread.join(timeout=30)


def test_locks_events_and_queues_of_one_thread():
    def f(x):
        line, event = queue.Queue(), threading.Event()
        line.put(x * x)
        event.set()
        event.wait()
        with threading.Semaphore(1), threading.Lock(), threading.Condition():
            first = line.get()
        threading.Event().wait(1e-3)
        with contextlib.suppress(queue.Empty):
            line.get_nowait()
        return first * x

    assert ad.gradient(f, 2.0) == (12.0,)
    assert ad.pushforward(f, (2.0,), (1.0,)) == (8.0, 12.0)
