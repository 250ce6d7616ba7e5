"""No rule without a line in a table."""

from adjoint.rules import registry
from tests.rules.harness import all_cases, load_all_rules, name_of


def is_ours(rule):
    """Other tests of this process, and the examples in the documents, register rules of theirs."""
    return rule.function.__module__.startswith("adjoint.")


def test_every_rule_has_a_case():
    load_all_rules()
    cases = all_cases()
    without = [
        name_of(key)
        for key, rules in registry.table.items()
        if key not in cases and any(map(is_ours, [*rules.rrules, *rules.frules]))
    ]
    assert not without, f"rules without a line in tests/rules: {sorted(without)}"
