"""Functions whose derivative is zero, or that return no reals: inside differentiated code they give
what they give outside, and nothing comes back through them.

A line is a call, in which ``x`` is 1.0 and ``V * x`` an array of reals.
"""

import numpy as np
import pytest

import adjoint as ad

CALLS = {
    "text": """
        "aB1".isalnum() "aB".isalpha() "aB".isascii() "12".isdecimal() "ab".islower()
        "12".isnumeric() "ab".isprintable() "".isspace() "Ab".istitle() "AB".isupper()
        "aB".capitalize() "aB".casefold() "ab".expandtabs() "ab".ljust(4) "ab".rjust(4)
        "abab".rfind("b") "abab".rindex("b") "a,b,c".rsplit(",",1) "aB".swapcase() "12".zfill(4)
        b"a1".isalnum() b"ab".isalpha() b"ab".isascii() b"ab".islower() b"".isspace()
        b"Ab".istitle() b"AB".isupper() b"abab".rfind(b"b") b"abab".rindex(b"b")
        bytearray(b"a1").isalnum() bytearray(b"ab").isalpha() bytearray(b"ab").rindex(b"b")
        f"{x:.1f}".zfill(6) str(x).rjust(9) oct(9)
    """,
    "integers": """
        math.gcd(4,6) math.lcm(4,6) math.isqrt(10) math.ulp(x) (6).bit_count() (6).bit_length()
        (6).numerator operator.not_(x) (1.5*x).is_integer() {1,2}.issuperset({1})
        frozenset({1,2}).issuperset({1}) np.gcd(4,6) np.lcm(4,6) np.bitwise_and(6,3)
        np.bitwise_or(6,3) np.bitwise_xor(6,3) np.left_shift(3,2) np.right_shift(8,2)
        np.bitwise_count(6) np.binary_repr(6) np.base_repr(6,3) np.packbits([1,0,1])
        np.unpackbits(np.uint8([5]))
    """,
    "what arrays are like": """
        np.argwhere(V*x>0) np.array_equiv(V*x,2*V) np.array_repr(V*x) np.array_str(V*x)
        np.common_type(V*x) np.flatnonzero(V*x>0) np.iscomplex(V*x) np.isreal(V*x)
        np.isfortran(M*x) np.isneginf(V*x) np.signbit(V*x) np.spacing(V*x) np.fix(V*x)
        np.min_scalar_type(x) np.typename("d") np.mintypecode("df") np.issubdtype(float,np.floating)
        np.isdtype(np.dtype(float),"numeric") np.iinfo(int).max np.nanargmin(V*x)
        np.lexsort((V*x,)) np.logical_xor(V*x>0,True) np.digitize(V*x,[-1.0,0.0,1.0])
        np.searchsorted([-1.0,0.0,1.0],V*x) np.array([-1.0,0.0,1.0]).searchsorted(V*x)
        np.format_float_positional(x) np.format_float_scientific(x)
        np.isnat(np.datetime64("NaT")) np.datetime_as_string(np.datetime64("2020-01-01"))
        np.datetime_data("M8[s]") (V*x).device np.float64(x).device np.get_printoptions()
        np.longlong(3) np.ulonglong(3) np.get_include() bn.nanargmin(V*x) bn.move_argmin(V*x,2)
    """,
    "places in arrays": """
        np.broadcast_shapes((3,1),(4,)) np.diag_indices(3) np.diag_indices_from(M*x)
        np.mask_indices(3,np.triu) np.tril_indices(3) np.tril_indices_from(M*x) np.triu_indices(3)
        np.triu_indices_from(M*x) np.ravel_multi_index((1,2),(3,4)) np.unravel_index(5,(3,4))
        np.einsum_path("ij,j",M*x,W*x)[0] np.hanning(5)
    """,
    "numbers that are drawn": """
        np.random.RandomState(0).binomial(5,0.5) np.random.RandomState(0).logseries(0.5)
        np.random.RandomState(0).negative_binomial(5,0.5) np.random.RandomState(0).random_sample(2)
        np.random.RandomState(0).standard_cauchy(2) np.random.RandomState(0).zipf(2.5)
        np.random.RandomState(0).standard_exponential(2) np.random.RandomState(0).tomaxint()
        np.random.default_rng(0).binomial(5,0.5) np.random.default_rng(0).logseries(0.5)
        np.random.default_rng(0).negative_binomial(5,0.5) np.random.default_rng(0).zipf(2.5)
        np.random.default_rng(0).standard_cauchy(2) np.random.default_rng(0).standard_exponential(2)
        np.random.default_rng(0).multivariate_hypergeometric([3,4],2)
        np.random.Generator(np.random.MT19937(0)).random() random.Random(0).getrandbits(8)
        np.random.Generator(np.random.PCG64(0)).random()
        np.random.Generator(np.random.PCG64DXSM(0)).random()
        np.random.Generator(np.random.Philox(0)).random()
        np.random.Generator(np.random.SFC64(0)).random()
        np.random.SeedSequence(0).generate_state(1) np.random.ranf(0)
    """,
    "scipy.special": """
        special.ai_zeros(2) special.bi_zeros(2) special.bei_zeros(2) special.beip_zeros(2)
        special.ber_zeros(2) special.bernoulli(4) special.berp_zeros(2) special.erf_zeros(2)
        special.euler(4) special.fresnel_zeros(2) special.fresnelc_zeros(2)
        special.fresnels_zeros(2) special.jn_zeros(1,2) special.jnjnp_zeros(2)
        special.jnp_zeros(1,2) special.jnyn_zeros(1,2) special.kei_zeros(2) special.keip_zeros(2)
        special.kelvin_zeros(2) special.ker_zeros(2) special.kerp_zeros(2) special.stirling2(5,2)
        special.y0_zeros(2) special.y1_zeros(2) special.y1p_zeros(2) special.yn_zeros(1,2)
        special.ynp_zeros(1,2) special.gammasgn(V*x) special.chebyc(2).c special.chebys(2).c
        special.chebyt(2).c special.chebyu(2).c special.hermitenorm(2).c special.legendre(2).c
        special.sh_chebyt(2).c special.sh_chebyu(2).c special.sh_legendre(2).c
        special.roots_chebyc(3) special.roots_chebys(3) special.roots_chebyt(3)
        special.roots_chebyu(3) special.roots_hermite(3) special.roots_hermitenorm(3)
        special.roots_laguerre(3) special.roots_sh_chebyt(3) special.roots_sh_chebyu(3)
        special.roots_sh_legendre(3)
    """,
    "scipy": """
        fft.next_fast_len(11) fft.prev_fast_len(11) fft.get_workers() linalg.bandwidth(M*x)
        linalg.ishermitian(M*x) linalg.issymmetric(M*x) linalg.dft(3) linalg.hadamard(4)
        linalg.helmert(3) linalg.invhilbert(3) linalg.pascal(3) linalg.invpascal(3)
        linalg.blas.find_best_blas_type((M*x,))[0] ndimage.find_objects(B.astype(int))
        ndimage.maximum_position(M*x) ndimage.minimum_position(M*x)
        ndimage.value_indices(B.astype(int)) ndimage.binary_closing(B)
        ndimage.binary_hit_or_miss(B) ndimage.binary_propagation(B)
        ndimage.generate_binary_structure(2,1)
        ndimage.iterate_structure(ndimage.generate_binary_structure(2,1),2)
        spatial.cKDTree(M*x).count_neighbors(spatial.cKDTree(M),0.5)
        spatial.cKDTree(M*x).query_pairs(9.0)
    """,
}
PRELUDE = """
import math, operator, random
import bottleneck as bn
import numpy as np
from scipy import fft, linalg, ndimage, spatial, special
"""
NAMES = {}
exec(PRELUDE, NAMES)
NAMES["V"] = np.array([0.3, -0.7, 1.6, 2.2])
NAMES["W"] = np.array([0.3, -0.7, 1.6])
NAMES["M"] = np.array([[0.3, -0.7, 1.6], [2.2, 0.9, -1.1], [0.4, 1.3, 0.8]])
NAMES["B"] = NAMES["M"] > 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # NumPy 2.5 deprecates some of them
@pytest.mark.parametrize("call", [call for text in CALLS.values() for call in text.split()])
def test_nothing_comes_back(call):
    f = evaluated(call)
    try:
        y = f(1.0)
    except AttributeError:
        pytest.skip("NumPy 1.26 has none")
    np.testing.assert_equal(ad.pullback(f, 1.0)[0], y)
    if isinstance(y, int | float | np.number | np.ndarray) and np.asarray(y).dtype.kind in "biuf":
        np.testing.assert_array_equal(f(1.0 + 1e-12), y)
        assert ad.gradient(evaluated(f"3.0*x + np.sum({call})"), 1.0) == (3.0,)
    else:
        assert ad.gradient(evaluated(f"(3.0*x, {call})[0]"), 1.0) == (3.0,)


def evaluated(call):
    return eval(f"lambda x: {call}", NAMES)
