"""Settings of the whole test run."""

import gc
import linecache
import os
from collections.abc import Iterator

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

os.environ["ADJOINT_CACHE"] = "off"  # each test sees what the code of today generates
# One process for each core: threads of BLAS would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from adjoint.fast import tier

tier.is_strict[0] = True  # a defect of the specialiser is seen

# The same examples in each run, however busy the machine is.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")

gc.set_threshold(50_000, 20, 20)  # millions of objects come and go, few of them in cycles

# Processes that tests are handed to are begun by ``python -c``, whose text Python 3.13 keeps under
# the name that functions made by `exec` have, too.
linecache.cache.pop("<string>", None)


def pytest_collection_finish() -> None:
    """Let the garbage collector leave alone what stays to the end: tens of thousands of tests."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    """Look for cycles once at the end, where pytest does five times, among millions of objects."""
    gc.collect()
    gc.freeze()


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Report a test once: that it was set up and taken down are two thirds of what processes would
    tell each other, a millisecond for each of tens of thousands of tests."""
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.fixture(scope="module")
def little_to_look_at() -> None:
    """Let the questions that are asked of all that the collector knows (who holds an object, before
    Python 3.12; whose code runs) leave alone the millions of objects that other tests have left."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def generic_tier() -> Iterator[None]:
    """No specialised programs during a test."""
    before = tier.is_enabled[0]
    tier.is_enabled[0] = False
    yield
    tier.is_enabled[0] = before
