"""The parameters of rules, read from their code."""

import numpy as np

import adjoint as ad
from adjoint.rulekit import registry, rule_parameters


def test_parameters_are_those_of_the_signature():
    ad.rules("numpy.linalg"), ad.rules("math"), ad.rules("builtins")
    functions = {
        rule.function
        for rules in list(registry.table.values())
        for rule in (*rules.rrules, *rules.frules)
    }
    for f in functions:
        assert rule_parameters.parameters_of(f) == rule_parameters._of_signature(f), f
    assert len(functions) > 500


def test_kinds_of_parameters():
    def rule(a, /, b: "np.ndarray | float", c: int = 1, *more, d, e=2):
        return a

    found = rule_parameters.parameters_of(rule)
    assert found == rule_parameters._of_signature(rule)
    assert (found.names, found.defaults, found.by_position) == (("a", "b", "c"), (1,), 1)
    assert (found.named, found.has_any, found.has_keywords) == (("d", "e"), True, False)
    assert found.types == ((1, np.ndarray | float), (2, int))
