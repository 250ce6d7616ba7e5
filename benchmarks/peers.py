"""The same programs for two libraries: one text, loaded with NumPy and with autograd's."""

from __future__ import annotations

import importlib
import importlib.util
import statistics
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from types import ModuleType
from typing import Any

import autograd
import autograd.numpy

import adjoint as ad
from benchmarks.harness import Line, apart, measure, peak, ratio

__all__ = ["beside_autograd", "load"]


def load(name: str) -> tuple[ModuleType, ModuleType]:
    """The module ``benchmarks.programs.<name>``, and a second copy whose ``np`` is autograd's."""
    ours = importlib.import_module(f"benchmarks.programs.{name}")
    spec = importlib.util.spec_from_file_location(f"{ours.__name__}_for_autograd", ours.__file__)
    assert spec is not None and spec.loader is not None
    theirs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(theirs)
    vars(theirs)["np"] = autograd.numpy
    return ours, theirs


def beside_autograd(
    name: str, programs: Callable[[], Iterable[tuple[str, Any]]], faster: float
) -> Iterator[Line]:
    """Speed and peak memory of gradients in the generic tier, each as a ratio to autograd's.

    Parameters
    ----------
    name
        The module of programs.
    programs
        Gives the names of functions in it, each with its argument.
    faster
        How many times as fast the gradient has to be.
    """
    tasks = ((name, program, programs, faster) for program, _ in programs())
    return chain.from_iterable(apart(_beside_autograd, tasks, "generic"))


def _beside_autograd(
    name: str, program: str, programs: Callable[[], Iterable[tuple[str, Any]]], faster: float
) -> tuple[Line, Line]:
    ours, theirs = load(name)
    point = dict(programs())[program]
    f = getattr(ours, program)
    grad, their_grad = ad.grad(f), autograd.grad(getattr(theirs, program))
    _check_same(program, grad(point), their_grad(point))
    plain, own, peer = measure(*_on(point, f, grad, their_grad))
    detail = (
        f"plain {_time(plain)}, adjoint {_time(own)} ({ratio(own, plain):.3g}x plain),"
        f" autograd {_time(peer)}"
    )
    title = program.replace("_", " ")
    speed = Line(title, ratio(peer, own), "x as fast", faster, True, detail)
    own_peak, peer_peak = (peak(call) for call in _on(point, grad, their_grad))
    detail = f"adjoint {own_peak / 1024:.0f} KiB, autograd {peer_peak / 1024:.0f} KiB"
    return speed, Line(f"{title}: peak memory", own_peak / peer_peak, "x theirs", 1, False, detail)


def _on(point: Any, *functions: Callable[[Any], Any]) -> list[Callable[[], Any]]:
    return [lambda f=f: f(point) for f in functions]


def _time(samples: list[float]) -> str:
    seconds = statistics.median(samples)
    return f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"


def _check_same(program: str, ours: Any, theirs: Any) -> None:
    """A number that is wrong is not fast."""
    if isinstance(ours, list | tuple):
        for a, b in zip(ours, theirs, strict=True):
            _check_same(program, a, b)
    elif not autograd.numpy.allclose(ours, theirs, rtol=1e-8, atol=1e-11):
        raise AssertionError(f"{program}: {ours} is not autograd's {theirs}")
