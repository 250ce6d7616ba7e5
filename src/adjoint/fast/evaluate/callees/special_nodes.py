"""Nodes and weights of the quadratures of `scipy.special`: definitions that programs call."""

from __future__ import annotations

from scipy import special

from adjoint.fast.evaluate.callees.quadrature_nodes import of_a_number

for _name in "chebyt chebyu hermite hermitenorm laguerre legendre sh_legendre".split():
    of_a_number(getattr(special, f"roots_{_name}"))
