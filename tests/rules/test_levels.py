"""Rules of what levels run in place of rules in the engine's form."""

from adjoint.levels.distinct_objects import distinct_integer
from adjoint.levels.level_rules import greatest, least, total
from tests.rules.harness import table

CASES = {
    total: [([1.0, 2.5, -0.3], 0.5), ([2.0], 0)],
    least: [([1.0, 2.5, -0.3],), ([4.0],)],
    distinct_integer: [(3,), (0,), (-70000,)],
    greatest: [([1.0, 2.5, -0.3],), ([4.0],)],
}
test_rule = table(CASES)
