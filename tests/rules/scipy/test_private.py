"""`adjoint.rules.scipy.special.private`: the ufuncs behind `scipy.stats`."""

import numpy as np
import pytest
from scipy.special import _ufuncs

from adjoint.cotangents.poison import Poison
from adjoint.rulekit.registry import rrule
from tests.rules.harness import case, table
from tests.rules.scipy.operands import ranges, real

P, POSITIVE, SHAPES = (0.1, 0.9), (0.5, 2.0), (1.2, 3.0)
SOLVED = {"rtol": 1e-5}
"""Inverses are found by iterating."""
LOOSE = {"rtol": 1e-6, "atol": 1e-8}


def counts(*bounds):
    k, n = np.array([0, 2, 5]), np.array([5, 4, 5])
    p = np.array([0.3, 0.6, 0.8])
    return [case(2, 5, 0.4), case(k, 5, p), case(k, n, p)]


ALL = {
    "_beta_pdf": ranges(P, SHAPES, SHAPES),
    "_beta_ppf": ranges(P, SHAPES, SHAPES, tolerances=SOLVED),
    "_beta_cdf": ranges(P, SHAPES, SHAPES),
    "_beta_sf": ranges(P, SHAPES, SHAPES),
    "_beta_isf": ranges(P, SHAPES, SHAPES, tolerances=SOLVED),
    "_binom_pmf": counts(),
    "_binom_cdf": counts(),
    "_binom_sf": counts(),
    "_binom_ppf": [case(0.3, 5, 0.4)],
    "_binom_isf": [case(0.3, 5, 0.4)],
    "_nbinom_pmf": [case(2, 3.5, 0.4), case(np.array([0, 1, 4]), 2.5, np.array([0.3, 0.5, 0.7]))],
    "_nbinom_cdf": [case(2, 3.5, 0.4), case(np.array([0, 1, 4]), 2.5, np.array([0.3, 0.5, 0.7]))],
    "_nbinom_sf": [case(2, 3.5, 0.4)],
    "_nbinom_ppf": [case(0.3, 5, 0.4)],
    "_nbinom_isf": [case(0.3, 5, 0.4)],
    "_nbinom_mean": ranges(SHAPES, P),
    "_nbinom_variance": ranges(SHAPES, P),
    "_nbinom_skewness": ranges(SHAPES, P),
    "_nbinom_kurtosis_excess": ranges(SHAPES, P),
    "_nct_mean": ranges((2.5, 9.0), (-2.0, 2.0)),
    "_nct_variance": ranges((2.5, 9.0), (-2.0, 2.0)),
    "_ncf_mean": ranges((2.0, 7.0), (4.5, 9.0), (0.0, 4.0)),
    "_ncf_variance": ranges((2.0, 7.0), (4.5, 9.0), (0.0, 4.0)),
    "_cauchy_ppf": ranges(P, (-1.0, 1.0), POSITIVE),
    "_cauchy_isf": ranges(P, (-1.0, 1.0), POSITIVE),
    "_landau_pdf": [case(0.3, 0.1, 1.2)],
    "_landau_cdf": ranges((-1.0, 3.0), (-1.0, 1.0), POSITIVE, tolerances=LOOSE),
    "_landau_sf": ranges((-1.0, 3.0), (-1.0, 1.0), POSITIVE, tolerances=LOOSE),
    "_landau_ppf": ranges(P, (-1.0, 1.0), POSITIVE, tolerances=SOLVED),
    "_landau_isf": ranges(P, (-1.0, 1.0), POSITIVE, tolerances=SOLVED),
    "_skewnorm_cdf": ranges((-1.0, 2.0), (-1.0, 1.0), POSITIVE, (-2.0, 3.0), tolerances=LOOSE),
    "_skewnorm_ppf": ranges(P, (-1.0, 1.0), POSITIVE, (-2.0, 3.0), tolerances=SOLVED),
    "_skewnorm_isf": ranges(P, (-1.0, 1.0), POSITIVE, (-2.0, 3.0), tolerances=SOLVED),
    "_cosine_cdf": real(-3.0, 3.0, 4.0, -5.0),
    "_cosine_invcdf": real(0.05, 0.95),
    "_invgauss_ppf": ranges(P, POSITIVE, POSITIVE, tolerances=SOLVED),
    "_invgauss_isf": ranges(P, POSITIVE, POSITIVE, tolerances=SOLVED),
    "_ncx2_pdf": ranges((0.5, 6.0), (1.0, 5.0), (0.2, 4.0), tolerances=LOOSE),
    "_ncx2_sf": ranges((0.5, 6.0), (1.0, 5.0), (0.2, 4.0), tolerances=LOOSE),
    "_ncx2_cdf": ranges((0.5, 6.0), (1.0, 5.0), (0.2, 4.0), tolerances=LOOSE),
    "_ncx2_ppf": ranges(P, (1.0, 5.0), (0.2, 4.0), tolerances=SOLVED),
    "_ncx2_isf": ranges(P, (1.0, 5.0), (0.2, 4.0), tolerances=SOLVED),
    "_ncf_pdf": ranges((0.3, 3.0), (2.0, 7.0), (3.0, 9.0), (0.2, 4.0), tolerances=LOOSE),
    "_ncf_sf": ranges((0.3, 3.0), (2.0, 7.0), (3.0, 9.0), (0.2, 4.0), tolerances=LOOSE),
    "_ncf_cdf": ranges((0.3, 3.0), (2.0, 7.0), (3.0, 9.0), (0.2, 4.0), tolerances=LOOSE),
    "_ncf_ppf": ranges(P, (2.0, 7.0), (3.0, 9.0), (0.2, 4.0), tolerances=SOLVED),
    "_ncf_isf": ranges(P, (2.0, 7.0), (3.0, 9.0), (0.2, 4.0), tolerances=SOLVED),
    "_nct_pdf": ranges((-1.0, 3.0), (2.0, 9.0), (-1.0, 2.0), tolerances=LOOSE),
    "_nct_sf": ranges((-1.0, 3.0), (2.0, 9.0), (-1.0, 2.0), tolerances=LOOSE),
    "_nct_cdf": ranges((-1.0, 3.0), (2.0, 9.0), (-1.0, 2.0), tolerances=LOOSE),
    "_nct_ppf": ranges(P, (2.0, 9.0), (-1.0, 2.0), tolerances=SOLVED),
    "_nct_isf": ranges(P, (2.0, 9.0), (-1.0, 2.0), tolerances=SOLVED),
    # between 0.82 and 1 SciPy has eight digits
    "_kolmogp": [*real(0.4, 0.8), *real(1.1, 2.0)],
    "_kolmogc": real(0.4, 2.0),
    "_kolmogci": real(0.1, 0.9),
    "_smirnovp": [case(5, 0.3)],
    "_smirnovc": [case(5, 0.3), case(np.array([3, 8]), np.array([0.2, 0.4]))],
    "_smirnovci": [case(5, 0.3), case(np.array([3, 8]), np.array([0.2, 0.4]))],
    "_log1mexp": real(-2.0, -0.1),
    "_scaled_exp1": real(0.3, 4.0, 1.5, 20.0),
    "_normalized_gen_harmonic": [case(2, 4, 6, 1.3), case(1, np.array([2, 5]), 6, 0.4)],
    "_gen_harmonic": [case(5, 1.3), case(np.array([2, 5]), 0.4)],
}
CASES = {getattr(_ufuncs, name): cases for name, cases in ALL.items() if hasattr(_ufuncs, name)}
test_rule = table(CASES)


@pytest.mark.parametrize("name, args, refused", [
    ("_nct_pdf", (0.3, 5.0, 0.5), (1,)),
    ("_landau_pdf", (0.3, 0.1, 1.2), (0, 1, 2)),
    ("_binom_pmf", (2.0, 5.0, 0.4), (1,)),
])  # fmt: skip
def test_what_has_no_closed_form_is_refused(name, args, refused):
    if not hasattr(_ufuncs, name):
        pytest.skip("of another version")
    _, back = rrule(getattr(_ufuncs, name), *args)
    bars = back(1.0)[1:]
    assert {i for i, bar in enumerate(bars) if type(bar) is Poison} == set(refused)
