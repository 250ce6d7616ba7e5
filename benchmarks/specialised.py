"""The fast tier beside what a person writes by hand, and beside the peers: speed and memory."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.demo.cubic import Polynomial, polynomial_loss
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.programs import store as tier
from benchmarks.harness import CLOCK, Line, apart, measure, peak, ratio, show, with_room
from benchmarks.programs import networks, specialised

__all__ = ["run"]


def run() -> Iterator[Line]:
    """All lines of this module."""
    tasks: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (_network, ("moons", (2, 16, 16, 2), 200, "float64", 1.15, 6.0)),
        (_network, ("digits", (784, 256, 256, 10), 128, "float64", 1.05, None)),
        (_network, ("digits", (784, 256, 256, 10), 128, "float32", 1.05, None)),
        (_polynomial, ()),
        (_loop, ("lotka_volterra", (10.0, 5.0, 1.5, 0.1))),
        (_loop, ("halvings", (2.0,))),
        (_bumps, ()),
        (_recurrence, ()),
        (_overhead, ()),
        (_compiling, ()),
    ]
    lines = chain.from_iterable(chain.from_iterable(apart(call, [args])) for call, args in tasks)
    yield from show("The fast tier", lines)


def _time(samples: list[float]) -> str:
    seconds = statistics.median(samples)
    return f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"


def _specialised(call: Callable[[], object]) -> None:
    """A line of this module must not measure the other tier."""
    call()
    kept = [entry for known in tier._kept.values() for entry in known.entries]
    refused = [r.reason for known in tier._kept.values() for r in known.refused.values()]
    if not kept or refused:
        raise AssertionError(f"this did not take the fast tier: {refused}")


# ---- networks ------------------------------------------------------------------------------------


def _network(
    name: str,
    sizes: tuple[int, ...],
    samples: int,
    dtype: str,
    bar: float,
    faster: float | None,
) -> list[Line]:
    rng = np.random.default_rng(0)
    kind = np.dtype(dtype).type
    parameters = networks.parameters(sizes, rng, kind)
    x = rng.normal(size=(samples, sizes[0])).astype(kind)
    labels = rng.integers(0, sizes[-1], samples)
    y = np.eye(sizes[-1], dtype=kind)[labels]
    model = networks.model(parameters)

    def loss(m: Any) -> Any:
        return ad.nn.logit_cross_entropy(m(x), y)

    gradient = ad.value_and_grad(loss)
    ours = lambda: gradient(model)
    hand = lambda: networks.by_hand(parameters, x, y)
    _specialised(ours)
    _check(ours()[1], hand()[1])
    title = f"network {'-'.join(map(str, sizes))}, {dtype}"
    own, byhand, torch, jax = measure(
        ours, hand, _torch_network(parameters, x, labels), _jax_network(parameters, x, y)
    )
    times = zip(("adjoint", "by hand", "torch", "jax"), (own, byhand, torch, jax), strict=True)
    detail = ", ".join(f"{who} {_time(samples)}" for who, samples in times)
    lines = [
        Line(title, ratio(own, byhand), "x by hand", bar, False, detail),
        Line(f"{title}: torch", ratio(torch, own), "x as fast", 1.0, True),
        Line(f"{title}: jax, compiled", ratio(jax, own), "x as fast"),
    ]
    if faster is not None:
        own, peer = measure(ours, _autograd_network(parameters, x, y), rounds=5)
        detail = f"autograd {_time(peer)}"
        lines.append(
            Line(f"{title}: autograd", ratio(peer, own), "x as fast", faster, True, detail)
        )
    mine, theirs = peak(ours), peak(hand)
    detail = f"adjoint {mine / 1024:.0f} KiB, by hand {theirs / 1024:.0f} KiB"
    lines.append(Line(f"{title}: peak memory", mine / theirs, "x by hand", 1.1, False, detail))
    return lines


def _check(ours: Any, hand: Any) -> None:
    """A number that is wrong is not fast."""
    found = [part for layer in ours.layers for part in (layer.W, layer.b)]
    for a, b in zip(found, hand, strict=True):
        if not np.allclose(a, b, rtol=1e-4, atol=1e-6):
            raise AssertionError("the gradients differ")


def _torch_network(parameters: Any, x: Any, labels: Any) -> Callable[[], object]:
    import torch

    torch.set_num_threads(1)
    weights = [torch.tensor(p, requires_grad=True) for p in parameters]
    data, classes = torch.tensor(x), torch.tensor(labels)

    def gradient() -> Any:
        W1, b1, W2, b2, W3, b3 = weights
        h = torch.relu(torch.tanh(data @ W1 + b1) @ W2 + b2)
        loss = torch.nn.functional.cross_entropy(h @ W3 + b3, classes)
        return torch.autograd.grad(loss, weights)

    return gradient


def _jax_network(parameters: Any, x: Any, y: Any) -> Callable[[], object]:
    jax = _jax()

    def loss(weights: Any) -> Any:
        W1, b1, W2, b2, W3, b3 = weights
        h = jax.nn.relu(jax.numpy.tanh(x @ W1 + b1) @ W2 + b2)
        return -jax.numpy.mean(jax.numpy.sum(y * jax.nn.log_softmax(h @ W3 + b3), axis=-1))

    gradient, weights = jax.jit(jax.value_and_grad(loss)), list(map(jax.numpy.asarray, parameters))
    return lambda: jax.block_until_ready(gradient(weights))


def _jax() -> Any:
    """JAX with double precision and, as the other libraries here, one thread."""
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax


def _autograd_network(parameters: Any, x: Any, y: Any) -> Callable[[], object]:
    import autograd

    _, theirs = _texts("networks")
    gradient = autograd.grad(theirs.cross_entropy)
    return lambda: gradient(parameters, x, y)


def _texts(name: str) -> tuple[Any, Any]:
    from benchmarks.peers import load

    return load(name)


# ---- scalar programs -----------------------------------------------------------------------------


def _polynomial() -> list[Line]:
    """A cubic through ``map(evalpoly)``, 100 points, as the text writes it."""
    import autograd
    import autograd.numpy as anp

    rng = np.random.default_rng(0)
    xs = rng.uniform(-1, 1, 100)
    ys = 15 - 2.1 * xs + 13.9 * xs**2 + 1.5 * xs**3
    model = Polynomial(np.ones(4))

    def evalpoly(x: Any, w: Any) -> Any:
        y = w[-1]
        for i in range(len(w) - 2, -1, -1):
            y = y * x + w[i]
        return y

    def loss(w: Any) -> Any:
        found = anp.array([evalpoly(x, w) for x in xs])
        return anp.mean((found - ys) ** 2)

    gradient = ad.grad(polynomial_loss)
    ours = lambda: gradient(model, xs, ys)
    _specialised(ours)
    theirs = autograd.grad(loss)
    if not np.allclose(ours().weights, theirs(np.ones(4))):
        raise AssertionError("the gradients differ")
    own, peer = measure(ours, lambda: theirs(np.ones(4)), rounds=5)
    detail = f"adjoint {_time(own)}, autograd {_time(peer)}"
    return [Line("map(evalpoly), 100 points", ratio(peer, own), "x as fast", 20, True, detail)]


def _loop(name: str, point: tuple[float, ...]) -> list[Line]:
    f = getattr(specialised, name)
    gradient = ad.grad(f, argnums=0)
    ours = lambda: gradient(*point)
    _specialised(ours)
    own, plain = measure(ours, lambda: f(*point))
    title = name.replace("_", " ")
    detail = f"adjoint {_time(own)}, plain {_time(plain)}"
    lines = [Line(title, ratio(own, plain), "x plain", 6, False, detail)]
    seconds = statistics.median(own)
    if name == "lotka_volterra":
        own, jax = measure(ours, _jax_lotka_volterra(point))
        lines.append(
            Line(
                f"{title}: jax, scan, compiled",
                ratio(jax, own),
                "x as fast",
                None,
                True,
                f"jax {_time(jax)}",
            )
        )
    for peer, call in _peers(name, point).items():
        begin = CLOCK()
        call()
        taken = CLOCK() - begin
        detail = f"{peer} {taken:.3g} s"
        lines.append(Line(f"{title}: {peer}", taken / seconds, "x as fast", 100, True, detail))
    return lines


def _peers(name: str, point: tuple[float, ...]) -> dict[str, Callable[[], object]]:
    """One gradient each: they take seconds."""
    import autograd
    import torch

    f = getattr(specialised, name)
    _, theirs = _texts("specialised")

    def by_torch() -> Any:
        first = torch.tensor(point[0], dtype=torch.float64, requires_grad=True)
        return torch.autograd.grad(f(first, *point[1:]), first)

    of_autograd = autograd.grad(getattr(theirs, name))
    return {"torch": by_torch, "autograd": lambda: of_autograd(*point)}


def _jax_lotka_volterra(point: tuple[float, ...]) -> Callable[[], object]:
    """The loop as a scan: JAX would unroll the steps of the text and compile all of them."""
    jax = _jax()
    h = 0.001

    def steps(x: Any, y: Any, a: Any, b: Any) -> Any:
        def field(x: Any, y: Any) -> Any:
            return a * x - b * x * y, b * x * y - y

        def step(state: Any, _: None) -> Any:
            x, y = state
            x1, y1 = field(x, y)
            x2, y2 = field(x + 0.5 * h * x1, y + 0.5 * h * y1)
            x3, y3 = field(x + 0.5 * h * x2, y + 0.5 * h * y2)
            x4, y4 = field(x + h * x3, y + h * y3)
            x = x + h / 6.0 * (x1 + 2.0 * x2 + 2.0 * x3 + x4)
            y = y + h / 6.0 * (y1 + 2.0 * y2 + 2.0 * y3 + y4)
            return (x, y), None

        (x, y), _ = jax.lax.scan(step, (x, y), None, length=specialised.STEPS)
        return x * y

    gradient = jax.jit(jax.grad(steps))
    if not np.isclose(gradient(*point), ad.gradient(specialised.lotka_volterra, *point)[0]):
        raise AssertionError("the gradients differ")
    return lambda: jax.block_until_ready(gradient(*point))


def _overhead() -> list[Line]:
    """What a call costs on top of the generated code."""
    f = specialised.one_line
    gradient = ad.grad(f)
    _specialised(lambda: gradient(2.0))
    entry = next(entry for known in tier._kept.values() for entry in known.entries)
    program = entry.run.__globals__["program"]
    own, bare = measure(lambda: gradient(2.0), lambda: program(2.0))
    cost = statistics.median(a - b for a, b in zip(own, bare, strict=True)) * 1e6
    detail = f"gradient {_time(own)}, generated code {_time(bare)}"
    return [Line("one line: overhead", cost, "us", 1.5, False, detail)]


# ---- arrays --------------------------------------------------------------------------------------


def _bumps() -> list[Line]:
    x = np.random.default_rng(0).normal(size=1_000_000)
    ours = lambda: ad.gradient(specialised.bumps, 0.5, 0.2, x)
    hand = lambda: specialised.bumps_by_hand(0.5, 0.2, x)
    _specialised(ours)
    if not np.allclose(ours()[2], hand()[2]):
        raise AssertionError("the gradients differ")
    own, byhand = measure(ours, hand, rounds=7)
    detail = f"adjoint {_time(own)}, by hand {_time(byhand)}"
    mine, theirs = peak(ours), peak(hand)
    sizes = f"adjoint {mine / 2**20:.0f} MiB, by hand {theirs / 2**20:.0f} MiB"
    return [
        Line("elementwise, 10^6", ratio(own, byhand), "x by hand", 1.1, False, detail),
        Line("elementwise, 10^6: peak memory", mine / theirs, "x by hand", 1.1, False, sizes),
    ]


def _recurrence() -> list[Line]:
    f, x = specialised.recurrence, np.random.default_rng(0).normal(size=100_000)
    ours = lambda: ad.gradient(f, 0.9, x)
    _specialised(ours)
    own, plain = measure(ours, lambda: f(0.9, x), rounds=7)
    detail = f"adjoint {_time(own)}, plain {_time(plain)}"
    return [Line("recurrence in place, 10^5", ratio(own, plain), "x plain", 6, False, detail)]


# ---- compiling -----------------------------------------------------------------------------------


def _compiling() -> list[Line]:
    """Specialising straight code of so many lines, lowering and compiling included."""
    lines = []
    costs = {}
    for count in (30, 300, 3000):
        costs[count] = min(_cost(count, k) for k in range(3)) / count * 10 * 1e3
        title = f"specialising, {count} lines"
        lines.append(Line(title, costs[count], "ms per 10", 5.0))
    lines.append(Line("specialising: growth", costs[3000] / costs[300], "x", 1.5))
    return lines


@with_room
def _cost(count: int, k: int) -> float:
    import linecache

    body = [
        f"    x{i % 7} = x{(i + 1) % 7} * {0.5 - k / 64} + x{(i + 3) % 7} * x{i % 7}"
        for i in range(count)
    ]
    start = "    x0 = x1 = x2 = x3 = x4 = x5 = x6 = x"
    text = "\n".join(["def f(x):", start, *body, "    return x0"]) + "\n"
    name = f"<lines {count} {k}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {}
    exec(compile(text, name, "exec"), scope)
    tier.forget()
    begin = CLOCK()
    found = tier.run(scope["f"], (0.5,), GRADIENT)
    taken = CLOCK() - begin
    if found is tier.MISS:
        raise AssertionError("this did not take the fast tier")
    return taken
