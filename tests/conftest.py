"""Settings of the whole test run."""

import gc
import itertools
import linecache
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

os.environ["ADJOINT_CACHE"] = "off"  # each test sees what the code of today generates
# One process for each core: threads of BLAS would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from adjoint.fast.programs import store as tier
from tests.portions import is_run_at_once

tier.is_strict[0] = True  # a defect of the specialiser is seen

# The same examples in each run, however busy the machine is.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")

gc.set_threshold(50_000, 20, 20)  # millions of objects come and go, few of them in cycles

# Processes that tests are handed to are begun by ``python -c``, whose text Python 3.13 keeps under
# the name that functions made by `exec` have, too.
linecache.cache.pop("<string>", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Of the tests that take long, `tests.portions` says which are run at once."""
    group = parser.getgroup("portions")
    group.addoption("--at-once", action="store_true", help="a portion of the tests that take long")
    group.addoption("--the-rest", action="store_true", help="what --at-once leaves out")
    group.addoption("--installed", action="store_true", help="all must lie in site-packages")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not asked for, and see where the rest lies."""
    if config.getoption("installed"):
        files = {item.function.__code__.co_filename for item in items if hasattr(item, "function")}
        files |= {sys.modules[name].__file__ for name in ("tests.support", "tests.corpus.registry")}
        if not items or not all("site-packages" in file.split(os.sep) for file in files):
            raise pytest.UsageError("these tests are not those of a copy in site-packages")
    at_once, rest = config.getoption("at_once"), config.getoption("the_rest")
    if at_once == rest:
        return
    left_out = [item for item in items if is_run_at_once(item.nodeid) != at_once]
    items[:] = [item for item in items if is_run_at_once(item.nodeid) == at_once]
    config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish() -> None:
    """Let the garbage collector leave alone what stays to the end: tens of thousands of tests."""
    _leave_alone_what_there_is()


_NUMBERS = itertools.count(1)
_OFTEN = 500
"""After so many tests, what they have left is left alone: programs and their sources, which stay.
A collector that walks through them all, gigabytes that nothing else looks at, can take a minute."""


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Report a test once: that it was set up and taken down are two thirds of what processes would
    tell each other, a millisecond for each of tens of thousands of tests."""
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _with_room(runtestprotocol, item, nextitem):
        if report.when == "call" or not report.passed:
            hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    if next(_NUMBERS) % _OFTEN == 0 or nextitem is None:
        _leave_alone_what_there_is()
    return True


def _with_room(run: Any, item: pytest.Item, nextitem: pytest.Item | None) -> list[Any]:
    return run(item, log=False, nextitem=nextitem)


# Python keeps its frames in pieces of 16 KB, and a loop that calls a function where a piece ends
# asks the system for the next one each time: a tenth of the time of deep calls. The piece of a
# frame this large has room for all that are inside it.
_with_room.__code__ = _with_room.__code__.replace(co_stacksize=1 << 17)


@pytest.fixture(scope="module")
def little_to_look_at() -> None:
    """Let the questions that are asked of all that the collector knows (whose code runs) leave
    alone the millions of objects that other tests have left."""
    _leave_alone_what_there_is()


def _leave_alone_what_there_is() -> None:
    gc.collect()
    gc.freeze()


@pytest.fixture
def generic_tier() -> Iterator[None]:
    """No specialised programs during a test."""
    before = tier.is_enabled[0]
    tier.is_enabled[0] = False
    yield
    tier.is_enabled[0] = before
