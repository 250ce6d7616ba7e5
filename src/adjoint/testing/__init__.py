"""Checks of derivatives: `check_gradient` of a function, `check_rule` of a registered rule."""

from adjoint.testing.checks import NotCheckedWarning, check_gradient, check_rule

__all__ = ["NotCheckedWarning", "check_gradient", "check_rule"]
