"""Families of rules: what hundreds of functions share, said once, for both modes.

They own broadcasting, dtype and the projection from complex to real (`project`), so that no rule does.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.rules.registry import frule, rrule

__all__ = ["elementwise", "linear", "project"]
