"""`scipy.special`: what is not in the tables of rules."""

from __future__ import annotations

from scipy import special

from tests.census.entries import Section, public, via
from tests.rules.harness import reals

V = reals(5)
EXAMPLES = {
    "assoc_laguerre": via(lambda x: special.assoc_laguerre(x, 3, 0.5), V),
    "gegenbauer": via(lambda x: special.gegenbauer(3, 0.5)(x), V),
    "genlaguerre": via(lambda x: special.genlaguerre(3, 0.5)(x), V),
    "jacobi": via(lambda x: special.jacobi(3, 0.5, 1.5)(x), V),
    "sh_jacobi": via(lambda x: special.sh_jacobi(3, 2.5, 1.5)(x), V),
}
CONSTANTS = {"a setting": "errstate"}

SECTIONS = [Section("scipy.special", public(special), EXAMPLES, CONSTANTS)]
