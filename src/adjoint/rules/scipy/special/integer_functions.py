"""Functions of `scipy.special` with integer arguments only: zeros, nodes, polynomials by degree.

Polynomials of a family with parameters (``jacobi``) need no entry: their source is differentiated,
and their values have the rules of ``eval_jacobi``.
"""

from __future__ import annotations

from scipy import special as sp

from adjoint.rulekit.families import NoDerivative
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.pointwise import pointwise

INTEGERS = """
    ai_zeros bi_zeros ber_zeros bei_zeros berp_zeros beip_zeros ker_zeros kei_zeros kerp_zeros
    keip_zeros kelvin_zeros erf_zeros fresnel_zeros fresnelc_zeros fresnels_zeros jn_zeros jnp_zeros
    jnjnp_zeros jnyn_zeros y0_zeros y1_zeros y1p_zeros yn_zeros ynp_zeros
    roots_chebyc roots_chebys roots_chebyt roots_chebyu roots_hermite roots_hermitenorm
    roots_laguerre roots_legendre roots_sh_chebyt roots_sh_chebyu roots_sh_legendre
    chebyc chebys chebyt chebyu hermite hermitenorm laguerre legendre sh_chebyt sh_chebyu
    sh_legendre
"""

non_differentiable(*[getattr(sp, name) for name in INTEGERS.split() if hasattr(sp, name)])
non_differentiable(sp.geterr, sp.seterr)

PARAMETER = NoDerivative("a parameter of the weight")

pointwise(sp.roots_gegenbauer, alpha=PARAMETER)
pointwise(sp.roots_genlaguerre, alpha=PARAMETER)
pointwise(sp.roots_jacobi, alpha=PARAMETER, beta=PARAMETER)
pointwise(sp.roots_sh_jacobi, p1=PARAMETER, q1=PARAMETER)
