"""No rule without a line in a table."""

from adjoint.rules import registry
from tests.rules.harness import all_cases, load_all_rules, name_of


def test_every_rule_has_a_case():
    load_all_rules()
    cases = all_cases()
    without = [
        name_of(key)
        for key, rules in registry.table.items()
        if (rules.rrules or rules.frules)
        and key not in cases
        and not str(getattr(key, "__module__", "")).startswith("tests")
    ]
    assert not without, f"rules without a line in tests/rules: {sorted(without)}"
