"""NumPy's own namespace, the methods of its arrays and ufuncs, and its smaller modules."""

from __future__ import annotations

import numpy as np

from tests.census.entries import Section, case, methods_of, public, via
from tests.rules.harness import complexes, reals

V, X, X3, Z = reals(6), reals(3, 4), reals(2, 3, 4, seed=1), complexes(3, 4)
P, Q = reals(4, seed=5) + 2.5, reals(3, seed=6) + 3.1


def changed(change, *args):
    """An example that writes into a copy of its first argument."""

    def f(x, *others):
        y = x * 1.0
        change(y, *others)
        return y

    return via(f, *args)


def fields(x, y):
    """A record array, written and read by field."""
    r = np.recarray(3, [("a", float), ("b", float)])
    r["a"] = x
    r.b = y
    return r.a * r["b"]


EXAMPLES = {
    # functions that call others
    "apply_along_axis": via(lambda x: np.apply_along_axis(lambda r: r * r.sum(), 0, x), X),
    "apply_over_axes": via(lambda x: np.apply_over_axes(np.sum, x * x, [0, 2]), X3),
    "fromfunction": via(lambda c: np.fromfunction(lambda i, j: c * i + j**c, (3, 3)), 1.5),
    "piecewise": via(lambda x: np.piecewise(x, [x < 0, x >= 0], [lambda t: t * t, np.sin]), X),
    "frompyfunc": via(lambda x: np.frompyfunc(lambda a: a * a, 1, 1)(x).astype(float), X),
    "vectorize": via(lambda x: np.vectorize(lambda a, b: a * b if a > b else a + b)(x, x[0]), X),
    # statistics
    "corrcoef": case(X, X**2),
    "cov": case(X, aweights=[1.0, 2.0, 0.5, 1.0]),
    "histogram": via(lambda w: np.histogram(V, [-2, -1, 0.5, 2], weights=w, density=True)[0], V),
    "histogram2d": via(lambda x, y, w: np.histogram2d(x, y, 3, weights=w), V, V**2, V + 3),
    "histogramdd": via(lambda w: np.histogramdd(reals(6, 3), 2, weights=w)[0], V),
    "histogram_bin_edges": case(V, 5),
    # polynomials
    "poly": case(V[:3]),
    "poly1d": via(lambda p, x: (np.poly1d(p) * np.poly1d(p))(x), P, V),
    "polyadd": case(P, Q),
    "polyder": case(P, 2),
    "polydiv": case(P, Q),
    "polyfit": case(np.sort(V), reals(6, seed=3), 2),
    "polyint": case(P, 2, [1.0, 2.0]),
    "polymul": case(P, Q),
    "polysub": case(P, Q),
    # sets, sorting
    "intersect1d": via(lambda x: np.intersect1d(x, x[::2]), V),
    "setdiff1d": via(lambda x: np.setdiff1d(x, x[:2]), V),
    "setxor1d": case(V, reals(3, seed=11)),
    "sort_complex": case(Z[0]),
    "trim_zeros": via(lambda x: np.trim_zeros(np.pad(x, 2)), V),
    "row_stack": case((V, V)),
    "union1d": case(V, reals(3, seed=11)),
    "unique_all": via(lambda x: np.unique_all(x).values, V),
    "unique_counts": via(lambda x: np.unique_counts(x).values, V),
    "unique_inverse": via(lambda x: np.unique_inverse(x).values, V),
    "unique_values": case(V),
    # differences, real parts
    "gradient": case(V, np.sort(reals(6, seed=4))),
    "real_if_close": case(Z),
    "unwrap": case(V * 4),
    # writes
    "copyto": changed(lambda y, v: np.copyto(y, v, where=y > 0), X, X[0]),
    "fill_diagonal": changed(np.fill_diagonal, X, reals(3)),
    "place": changed(lambda y, v: np.place(y, y > 0, v), X, V[:3]),
    "put": changed(lambda y, v: np.put(y, [0, 5], v), X, V[:2]),
    "put_along_axis": changed(lambda y, v: np.put_along_axis(y, X.argsort(1), v, 1), X, X),
    "putmask": changed(lambda y, v: np.putmask(y, y > 0, v), X, V[:3]),
    # matrices, and memory seen as another array
    "asmatrix": via(lambda x: np.asarray(np.asmatrix(x) * np.asmatrix(x).T), X),
    "bmat": via(lambda x, y: np.asarray(np.bmat([[x, y]])), X, X**2),
    "frombuffer": via(lambda x: np.frombuffer(x * x) * 2.0, V),
    "matrix": via(lambda x: np.asarray(np.matrix(x).T * np.matrix(x)), X),
    "recarray": via(fields, V[:3], V[3:]),
    # iterators
    "flatiter": via(lambda x: [v * v for v in x.flat], X),
    "fromiter": via(lambda x: np.fromiter((v * v for v in x), float), V),
    "nditer": via(lambda x: [v * v for v in np.nditer(x)], X),
    "ndenumerate": via(lambda x: sum(i * v for (i, _), v in np.ndenumerate(x)), X),
}
CONSTANTS = {
    "types that nobody calls": """
        character complexfloating flexible floating generic inexact integer number signedinteger
        ufunc unsignedinteger
    """,
    "text, dates, records of bytes": """
        busday_count busday_offset busdaycalendar bytes_ datetime64 is_busday object_ record str_
        void
    """,
    "positions": "ix_",
    "a window of so many points": "kaiser",
    "a view of no values": "broadcast",
    "runs NumPy's own tests": "test",
    "": "geterr geterrcall",
    "new memory, whose values are not set": "ndarray",
}
REFUSED = {
    "memory that others own or share": "from_dlpack memmap",
    "reads and writes elements where nobody sees it: use x.flat or np.ndindex": "nested_iters",
}
METHODS = {
    "fill": changed(lambda y, v: y.fill(v), X, 1.5),
    "getfield": case(X, float),
    "item": case(np.array(1.5)),
    "partition": changed(lambda y: y.partition(2), V),
    "put": changed(lambda y, v: y.put([0, 5], v), X, V[:2]),
    "setfield": changed(lambda y, v: y.setfield(v, float), X, X[0]),
    "sort": changed(lambda y: y.sort(0), X),
    "to_device": case(X, "cpu"),
}
UFUNC_METHODS = {"at": changed(lambda y, v: np.add.at(y, [0, 2, 0], v), V, V[:3])}
EMATH = {
    "arccos": case(np.array([0.5, 1.7])),
    "arcsin": case(np.array([0.5, -1.7])),
    "arctanh": case(np.array([0.5, 1.7])),
    "log": case(np.array([2.0, -0.5])),
    "log10": case(np.array([2.0, -0.5])),
    "log2": case(np.array([2.0, -0.5])),
    "logn": case(2.5, np.array([2.0, 0.5])),
    "power": case(np.array([2.0, -0.5]), 2.5),
    "sqrt": case(np.array([2.0, -0.5])),
}
STRIDES = {
    "as_strided": via(lambda x: np.lib.stride_tricks.as_strided(x, (2, 2), (8, 8)), V),
    "sliding_window_view": case(V, 3),
}

PLATFORMS = "complex192 complex256 float128 float96"
"""Some machines have these."""

LINALG = {
    "cross": case(reals(4, 3), reals(3, seed=1)),
    "diagonal": case(X3),
    "matmul": case(X, reals(4, 2)),
    "matrix_norm": case(X),
    "matrix_transpose": case(X3),
    "outer": case(P, Q),
    "tensordot": case(X, reals(4, 2), axes=1),
    "tensorinv": case(reals(4, 6, 8, 3)),
    "tensorsolve": case(reals(6, 2, 3), V),
    "trace": case(X3),
    "vecdot": case(X, X + 1.5),
    "vector_norm": case(X),
}


SECTIONS = [
    Section("numpy", public(np, leaving_out=PLATFORMS), EXAMPLES, CONSTANTS, REFUSED),
    Section(
        "numpy.ndarray",
        methods_of(np.ndarray),
        METHODS,
        {"the bytes of the numbers": "tobytes"},
        {
            "the memory of the array itself would change": "byteswap resize",
        },
    ),
    Section(
        "numpy.ufunc",
        methods_of(np.ufunc),
        UFUNC_METHODS,
        {"types": "resolve_dtypes"},
    ),
    Section("numpy.linalg", public(np.linalg), LINALG),
    Section("numpy.fft", public(np.fft)),
    Section("numpy.emath", public(np.emath), EMATH),
    Section(
        "numpy.lib.stride_tricks",
        {name: getattr(np.lib.stride_tricks, name) for name in STRIDES},
        STRIDES,
    ),
]
