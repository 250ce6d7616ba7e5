"""No rule without a line in a table."""

import sys

import numpy as np

from adjoint.rulekit import registry
from tests.rules.harness import all_cases, load_all_rules, name_of

CUSTOM = sys.modules["adjoint.api.custom"].__file__


def test_every_rule_has_a_case():
    load_all_rules()
    cases = all_cases()
    without = [
        name_of(key)
        for key, rules in registry.table.items()
        if (rules.rrules or rules.frules) and key not in cases and not is_a_tests(key)
    ]
    assert not without, f"rules without a line in tests/rules: {sorted(without)}"


def is_a_tests(key):
    """Whether it belongs to a test, or to an example in a document that was run before."""
    module = getattr(key[0] if isinstance(key, tuple) else key, "__module__", None)
    filename = getattr(getattr(key, "__code__", None), "co_filename", "")
    made_here = isinstance(module, str) and (
        module.startswith("tests") or module not in sys.modules
    )
    from_python = isinstance(key, np.ufunc) and key.__name__.endswith("(vectorized)")
    return made_here or from_python or filename.startswith(("<string", CUSTOM))
