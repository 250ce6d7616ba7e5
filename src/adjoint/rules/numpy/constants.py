"""NumPy's functions without derivative: indices, comparisons, shapes, types, text, files, random numbers."""
from __future__ import annotations

import numpy as np

from adjoint.rules.registry import non_differentiable


def _named(module: object, names: str) -> list[object]:
    """Those of the names that this version of NumPy has."""
    return [getattr(module, name) for name in names.split() if hasattr(module, name)]


# which elements, where, how many
non_differentiable(*_named(np, """
    all any argmax argmin nanargmax nanargmin argwhere count_nonzero nonzero flatnonzero digitize
    diag_indices diag_indices_from tril_indices tril_indices_from triu_indices triu_indices_from mask_indices
    unravel_index ravel_multi_index bincount isin in1d histogram_bin_edges packbits unpackbits
"""))

# comparisons and questions
non_differentiable(*_named(np, """
    allclose isclose array_equal array_equiv iscomplex iscomplexobj isreal isrealobj isfortran isscalar isneginf
    isposinf iterable may_share_memory shares_memory
"""))

# shapes and types
non_differentiable(*_named(np, """
    shape ndim size broadcast_shapes can_cast common_type finfo iinfo isdtype issubdtype min_scalar_type mintypecode
    promote_types result_type typename einsum_path dtype
"""))

# text, files, settings
non_differentiable(*_named(np, """
    array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific
    get_printoptions set_printoptions printoptions getbufsize setbufsize geterr seterr geterrcall seterrcall errstate
    info save savez savez_compressed savetxt load loadtxt genfromtxt fromfile fromregex fromstring show_config
    show_runtime get_include datetime_as_string datetime_data
"""))

# roundings are steps
non_differentiable(*_named(np, "around round fix"))

# random numbers are constants of the function that draws them
non_differentiable(*(
    (np.random.Generator, name) for name in """
        beta binomial bytes chisquare dirichlet exponential f gamma geometric gumbel hypergeometric integers laplace
        logistic lognormal logseries multinomial multivariate_hypergeometric multivariate_normal negative_binomial
        noncentral_chisquare noncentral_f normal pareto poisson power random rayleigh spawn standard_cauchy
        standard_exponential standard_gamma standard_normal standard_t triangular uniform vonmises wald weibull zipf
    """.split() if hasattr(np.random.Generator, name)))
non_differentiable(*_named(np.random, """
    default_rng seed get_state set_state beta binomial bytes chisquare dirichlet exponential f gamma geometric gumbel
    hypergeometric laplace logistic lognormal logseries multinomial multivariate_normal negative_binomial
    noncentral_chisquare noncentral_f normal pareto poisson power rand randint randn random random_integers
    random_sample ranf rayleigh sample standard_cauchy standard_exponential standard_gamma standard_normal standard_t
    triangular uniform vonmises wald weibull zipf Generator RandomState SeedSequence PCG64 MT19937
"""))
