"""Checks of derivatives: `check_gradient` of a function, `check_rule` of a registered rule, and
`checked` of each rule that a program calls."""

from adjoint.testing.checked_rules import begin_if_wanted, checked
from adjoint.testing.checks import NotCheckedWarning, check_gradient, check_rule

__all__ = ["NotCheckedWarning", "check_gradient", "check_rule", "checked"]

begin_if_wanted()
