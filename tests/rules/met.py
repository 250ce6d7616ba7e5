"""``pytest -p tests.rules.met tests/rules/scipy/test_distance.py``: print which of the functions
that `tests.rules.reached` lists are met in differentiated code by these tests, in one process."""

from collections import defaultdict

from adjoint.rulekit.registry import Rules, table

KINDS = "inactive substitute structural primitive leveled lane".split()
_asked = set()
"""Identities of the entries whose registrations the engine has found."""


def _watch(kind):
    slot = vars(Rules)[kind]

    def found(rules):
        value = slot.__get__(rules)
        if value and (kind != "lane" or value[1] is not None):
            _asked.add(id(rules))
        return value

    setattr(Rules, kind, property(found, slot.__set__))


def pytest_configure():
    for kind in KINDS:
        _watch(kind)


def pytest_terminal_summary(terminalreporter):
    asked = set(_asked)
    from tests.rules.test_completeness import label, listed

    names = defaultdict(list)
    for found in {label(key) for key, rules in table.items() if id(rules) in asked} & listed():
        module, _, name = found.partition(":")
        names[module].append(name)
    for module in sorted(names):
        terminalreporter.write_line(f"{module}: {' '.join(sorted(names[module]))}")
