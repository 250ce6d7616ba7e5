"""The error of the checks of an IR that the tests run between passes."""

from __future__ import annotations


class MalformedIR(AssertionError):
    """The IR is malformed: a pass of this library has a bug."""
