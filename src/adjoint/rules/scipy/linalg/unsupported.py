"""Functions of `scipy.linalg` without a rule: refused by name, or constant."""

from __future__ import annotations

from typing import Any

from scipy import linalg as sl

from adjoint.rulekit.families import NoDerivative
from adjoint.rulekit.refusal import may_be_nonzero, refusal, refused_bar
from adjoint.rulekit.registry import frule, non_differentiable, rrule
from adjoint.rules.scipy.pointwise import pointwise

NO_RULE = NoDerivative("the matrix", "has no rule")
OF_ANY = NoDerivative("the matrix", "is not known of any function")

REFUSED = {
    "clarkson_woodruff_transform": "input_matrix",
    "cossin": "X",
    "expm_cond": "A",
    "hessenberg": "a",
    "ldl": "A",
    "matrix_balance": "A",
    "ordqz": "A B",
    "qr_delete": "Q R",
    "qr_insert": "Q R u",
    "qr_multiply": "a c",
    "qr_update": "Q R u v",
    "qz": "A B",
    "rsf2csf": "T Z",
}

for _name, _operands in REFUSED.items():
    pointwise(getattr(sl, _name), **dict.fromkeys(_operands.split(), NO_RULE))


@rrule.register(sl.funm)
def _(A, func, disp=None):
    """Refuse the derivative in `func` as well, which may be a closure."""
    others = () if disp is None else (None,)

    def funm_back(y_bar: Any) -> Any:
        bar = refused_bar(sl.funm, OF_ANY, y_bar)
        return None, bar, bar, *others

    return sl.funm(A, func, disp=disp is None or disp), funm_back


@frule.register(sl.funm)
def _(dots, A, func, disp=True):
    if may_be_nonzero(dots[0]) or may_be_nonzero(dots[1]):
        raise refusal(sl.funm, OF_ANY)
    return sl.funm(A, func, disp), None


CONSTANT = """
    bandwidth dft find_best_blas_type get_blas_funcs get_lapack_funcs hadamard helmert hilbert
    invhilbert invpascal ishermitian issymmetric pascal
"""

non_differentiable(*[getattr(sl, name) for name in CONSTANT.split()])
