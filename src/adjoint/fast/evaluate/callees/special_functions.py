"""Functions of `scipy.special` in terms of others: definitions that programs inline."""

from __future__ import annotations

from scipy import special
from scipy.special import _ufuncs

from adjoint.fast.evaluate.callees.numpy_definitions import definition
from adjoint.fast.evaluate.callees.quadrature_nodes import of_a_number

for _name in "chebyt chebyu hermite hermitenorm laguerre legendre sh_legendre".split():
    of_a_number(getattr(special, f"roots_{_name}"))


@definition(special.lambertw)
def _lambertw(z, k=0, tol=1e-8):
    return _ufuncs._lambertw(z, k, tol)
