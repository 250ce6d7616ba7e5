"""Calls of the functions that have a record of the shape of their result.

The shapes of arrays are written in letters: a small one stands for a length of the arguments, which
is never 0 or 1, a capital one for one that follows from others, a digit for itself.
"""

from __future__ import annotations

import itertools
import math
import operator
from dataclasses import dataclass

import numpy as np
from scipy import fft, linalg, signal
from scipy.spatial import distance

from adjoint.fast.evaluate.result_types import distances, factors, filters, fourier  # noqa: F401
from adjoint.fast.evaluate.result_types.elementwise import is_ufunc
from adjoint.fast.evaluate.result_types.ones import Constant
from adjoint.fast.evaluate.result_types.records import records
from adjoint.fast.evaluate.types import Array, Symbol, number
from adjoint.rulekit.row_sums import by_class, by_sample
from adjoint.rules.numpy.aggregates.logarithmic_sums import log_sum

for module in (np.fft, fft):
    fourier.add(module)

SYMBOLS = {letter: Symbol(letter, letter.islower()) for letter in "nmkNM"}


@dataclass(frozen=True)
class A:
    """An array; by default of the dtype that the case is run with."""

    shape: str
    dtype: str = ""

    def type(self, dtype):
        dims = tuple(int(d) if d.isdigit() else SYMBOLS[d] for d in self.shape)
        return Array(np.dtype(self.dtype or dtype), dims)

    def value(self, dtype, at):
        shape = [int(d) if d.isdigit() else at[d] for d in self.shape]
        elements = np.arange(math.prod(shape)) % 3 + 1
        return elements.reshape(shape).astype(self.dtype or dtype)


@dataclass(frozen=True)
class L:
    """A length of an argument."""

    letter: str

    def type(self, dtype):
        return SYMBOLS[self.letter]

    def value(self, dtype, at):
        return at[self.letter]


@dataclass(frozen=True)
class V:
    """A number that is not known."""

    example: object

    def type(self, dtype):
        return number(type(self.example))

    def value(self, dtype, at):
        return self.example


class T(tuple):
    """A list of operands."""

    def type(self, dtype):
        return tuple(typed(x, dtype) for x in self)

    def value(self, dtype, at):
        return tuple(valued(x, dtype, at) for x in self)


def typed(x, dtype):
    return x.type(dtype) if isinstance(x, A | L | V | T) else Constant(x)


def valued(x, dtype, at):
    return x.value(dtype, at) if isinstance(x, A | L | V | T) else x


def call(*operands, **keywords):
    return operands, keywords


SECTIONS = np.array([[1.0, 2.0, 1.0, 1.0, 0.5, 0.1]] * 3)  # of a filter, see `sosfilt`
SHAPES = ["", "1", "n", "N", "0", "nm", "1n", "m1", "0n", "n3", "nmk", "nn", "3N2"]


def axes(shape):
    return range(-len(shape), len(shape))


def whole_calls():
    """Calls of one array, without options."""
    return [call(A(shape)) for shape in SHAPES]


def reductions(*, many=True, keepdims=True):
    for shape in SHAPES:
        found = [None, *axes(shape), *([(), (0, -1), tuple(axes(shape))] if many else [])]
        for axis in found:
            yield call(A(shape), axis)
            if keepdims:
                yield call(A(shape), axis=axis, keepdims=True)


def along():
    return [call(A(shape), axis=axis) for shape in SHAPES for axis in (None, *axes(shape))]


PAIRS = [
    pair.split(",")
    for pair in "n,n n, ,n nm,m nm,nm n1,m n1,1m nmk,mk 3,3 1,1 N,N N,1 0,1 0, , 3n,3n".split(" ")
]


def pairs():
    """Calls of two arrays that can be broadcast, of several dtypes, and of arrays and numbers."""
    for a, b in PAIRS:
        yield call(A(a), A(b))
        yield call(A(a), A(b, "float32"))
        yield call(A(a, "int64"), A(b))
    for x in (2.0, 2, V(1.5), V(2), V(1.5 + 1j), V(np.float32(1)), L("m")):
        yield call(A("nN"), x)
        yield call(x, A("n"))
        yield call(A(""), x)


FACTORS = [
    pair.split(",")
    for pair in "n,n nm,m n,nm nm,mk nN,Nk k3,3n nmk,nkm 1nm,mk mk,nkm n0,0m nm,n nmk,nk , ,nm n, "
    "n,m 1,n nm,nm".split(" ")
]


def factors():
    for a, b in FACTORS:
        yield call(A(a), A(b))
        yield call(A(a), A(b, "float32"))


JOINED = [
    T([A("n"), A("n")]),
    T([A("n"), A("m"), A("3"), A("N")]),
    T([A("n"), A("n", "int64")]),
    T([A("nm"), A("km")]),
    T([A("nm"), A("nk")]),
    T([A("nm"), A("nm", "float32"), A("nm")]),
    T([A("nmk"), A("nmk")]),
    T([A("1m"), A("0m"), A("Nm")]),
    T([A("m"), A("nm")]),
    T([A("n"), [1.0, 2.0, 3.0]]),
    T([V(1.5), V(2.0)]),
    T([A("n"), (1, 2)]),
    T([V(1.5), 2]),
    T([A(""), A("")]),
    T([A("n"), T([V(1.5), 2.0])]),
    A("nm"),
    A("3n"),
    A("nmk"),
    A("n"),
]
SIZES = [
    *(3, 0, (2, 3), (), L("n"), V(3)),
    *(T([L("n")]), T([L("n"), 2]), T([2, L("m"), L("N")]), T([V(2), L("n")])),
]
LIKE = [
    *whole_calls(),
    *(call(A("n"), dtype=np.float32), call(V(1.5)), call(2), call(T([V(1.5), 2.0]))),
]

UFUNCS = [f for f in vars(np).values() if is_ufunc(f) and f is not np.isnat]

CASES = {
    (np.sum, np.prod, np.ndarray.sum, np.ndarray.prod, np.any, np.all): [
        *reductions(),
        call(V(1.5)),
        call(A("nm"), 0, None),
    ],
    (np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd, np.nanmax, np.nanmin): reductions(),
    (np.median, np.nanmedian, log_sum): reductions(),
    (np.mean, np.ndarray.mean, np.var, np.std, np.ndarray.var, np.ndarray.std): [
        *reductions(),
        call(A("nm"), 0, np.float32),
        call(V(1.5)),
    ],
    (np.ndarray.any, np.ndarray.all, np.max, np.min, np.amax, np.amin, np.ptp): reductions(),
    (np.ndarray.max, np.ndarray.min, np.count_nonzero, getattr(np.ndarray, "ptp", np.ptp)): [
        *reductions(),
        call(V(2)),
    ],
    (np.argmax, np.argmin, np.ndarray.argmax, np.ndarray.argmin): reductions(many=False),
    np.average: [
        *reductions(),
        call(A("nm"), 0, A("n")),
        call(A("nm"), 1, weights=A("m", "float32")),
        call(A("nm"), weights=A("nm")),
        call(A("n"), weights=A("n")),
        call(A("3"), weights=[1.0, 2.0, 3.0]),
        call(A("n3"), 1, [1, 2, 3], keepdims=True),
        call(A("nm"), 0, A("m")),
        call(T([V(1.5), V(2.5)]), weights=T([V(1.0), 2.0])),
    ],
    np.nancumsum: along(),
    (np.cumsum, np.cumprod, np.ndarray.cumsum, np.ndarray.cumprod): [
        *along(),
        call(A("nm"), 1, np.float32),
    ],
    np.sort: along(),
    (np.argsort, np.ndarray.argsort): along(),
    (np.partition, np.argpartition, np.ndarray.argpartition): [
        call(A("3"), 1),
        call(A("34"), 2, axis=1),
        call(A("n3"), 1, -1),
        call(A("3n"), (0, 1), 0),
        call(A("34"), 5, axis=None),
    ],
    np.take_along_axis: [
        call(A("nm"), A(shape, "int64"), axis)
        for shape in ("n1", "1m", "nm", "n3", "3m", "n", "0m")
        for axis in (0, 1, -1)
    ],
    (np.take, np.ndarray.take): [
        call(A(shape), index, *axis)
        for shape in ("n", "nm", "3nm")
        for index in (1, (0, 1), A("k3", "int8"), A("0", "int64"), A("k"))
        for axis in ((), (0,), (-1,))
    ],
    (np.nonzero, np.ndarray.nonzero, np.flatnonzero, np.argwhere): whole_calls(),
    (np.extract, np.compress): [call(A("n", "bool"), A("n")), call(A("3", "bool"), A("nm"))],
    np.isin: [call(A(shape), A("3")) for shape in SHAPES],
    np.digitize: [call(A(shape), (0.0, 1.0, 2.5)) for shape in SHAPES],
    np.lexsort: [call(A("3n")), call(A("2nm")), call(T([A("n"), A("n")]))],
    np.bincount: [
        call(A("n", "int64")),
        call(A("n", "uint8"), A("n")),
        call(A("n", "int64"), A("n"), 7),
        call(A("nm", "int64")),
    ],
    np.unique: [
        *whole_calls(),
        *[call(A(shape), True, True, True) for shape in SHAPES],
        call(A("nm"), return_inverse=True),
        call(A("nm"), return_counts=True),
        call(A("nm"), axis=0),
    ],
    (np.hanning, np.hamming, np.blackman, np.bartlett): [call(L("n")), call(3), call(1), call(0)],
    np.tri: [call(L("n")), call(3, L("n"), 1), call(2, dtype=int)],
    (np.triu_indices, np.tril_indices): [call(L("n")), call(3, 1), call(3, -1, L("m"))],
    (np.triu_indices_from, np.tril_indices_from): [call(A("nn")), call(A("nm"), 1), call(A("n"))],
    np.diag_indices: [call(L("n")), call(3, 3)],
    np.unravel_index: [call(2, (2, 3)), call(A("3", "int64"), (L("n"), 9)), call(A("n"), (2, 3))],
    (np.trace, np.ndarray.trace): [
        call(A(shape), *rest)
        for shape in ("nm", "nn", "0n", "nmk", "n")
        for rest in ((), (1,), (-2, 1, 0), (0, 0, 2), (0, 1, 1))
    ],
    np.searchsorted: [
        call(A("n"), A("m")),
        call(A("n"), A("mk"), "right"),
        call(A("n"), V(1.5)),
        call(A("n"), 2),
        call([1.0, 2.0, 3.0], A("n")),
        call(A("n"), [1.0, 2.0]),
        call(A("nm"), A("m")),
        call(A("0"), A("")),
    ],
    # the elements of one array
    (np.copy, np.ndarray.copy): whole_calls(),
    (by_class, by_sample): whole_calls(),
    (np.ndarray.flatten, np.ravel, np.ndarray.ravel): [*whole_calls(), call(A("nm"), "F")],
    (np.atleast_1d, np.atleast_2d): [*whole_calls(), call(V(1.5)), call(A("n"), A("m"))],
    (np.round, np.around, np.ndarray.round): [*whole_calls(), call(A("n"), 2)],
    np.ndarray.astype: [call(A(s), to) for s in SHAPES for to in (float, np.float32, complex, int)],
    np.flip: [*along(), call(A("nm"), (0, 1)), call(A("nm"), 2)],
    np.roll: [
        call(A(s), shift, axis)
        for s in SHAPES
        for axis in (None, *axes(s))
        for shift in (1, L("m"), -2)
    ]
    + [call(A("nm"), (1, 2), (0, 1)), call(A("n"), 1, 1), call(A("nm"), A("2", "int"), (0, 1))],
    (np.tril, np.triu): [call(A(s), k) for s in SHAPES for k in (0, 1, -2)],
    (np.transpose, np.ndarray.transpose): [
        *whole_calls(),
        call(A("nm"), (1, 0)),
        call(A("nmk"), (2, 0, 1)),
        call(A("nmk"), (0, -1, 1)),
        call(A("nm"), (0, 0)),
        call(A("nm"), (0, 2)),
        call(A("nmk"), (0, 1)),
        call(A("nmk"), None),
        call(A("nmk"), [1, 0, 2]),
    ],
    (np.swapaxes, np.ndarray.swapaxes): [
        call(A(s), i, j) for s in SHAPES for i, j in itertools.product(axes(s), repeat=2)
    ]
    + [call(A("nm"), 0, 2)],
    np.moveaxis: [call(A(s), i, j) for s in SHAPES for i, j in itertools.product(axes(s), repeat=2)]
    + [call(A("nmk"), (0, 1), (2, 0)), call(A("nmk"), [0, 2], [1, 0]), call(A("nm"), (0, 1), 0)],
    np.expand_dims: [call(A(s), i) for s in SHAPES for i in range(-len(s) - 1, len(s) + 1)]
    + [call(A("n"), (0, 2)), call(A("nm"), [0, -1]), call(A("n"), 5), call(V(1.5), 0)],
    (np.squeeze, np.ndarray.squeeze): along()
    + [call(A("1n1"), (0, 2)), call(A("1n1"), (0, 1)), call(A("11")), call(A("N1"), 1)],
    (np.reshape, np.ndarray.reshape): [
        call(A("nm"), -1),
        call(A("nm"), T([L("m"), L("n")])),
        call(A("nm"), T([L("m"), -1])),
        call(A("nm"), T([-1, L("n"), 1])),
        call(A("nm"), T([L("n"), 1, L("m")])),
        call(A("n"), (-1, 2)),
        call(A("n6"), T([L("n"), 2, 3])),
        call(A("n6"), T([-1, 4])),
        call(A("n6"), (-1, 3)),
        call(A("nm"), (2, 3)),
        call(A("6"), (2, 3)),
        call(A("6"), (2, -1)),
        call(A("6"), (4, -1)),
        call(A("6"), (-1, -1)),
        call(A("0"), (2, 0)),
        call(A("0"), (-1, 2)),
        call(A("0"), (-1, 0)),
        call(A("N"), (-1, 1)),
        call(A("1"), ()),
        call(A(""), (1, 1)),
        call(A(""), -1),
        call(A(""), ()),
        call(A("nm"), (-1,), "F"),
        call(V(1.5), (1,)),
    ],
    np.broadcast_to: [
        call(A("n"), T([L("m"), L("n")])),
        call(A("1"), (3,)),
        call(A(""), T([L("n")])),
        call(A("n1"), T([L("n"), L("m")])),
        call(V(1.5), (2, 3)),
        call(A("n"), (3,)),
        call(A("nm"), T([L("m")])),
        call(A("1N"), T([2, L("N")])),
        call(A("3"), (1,)),
    ],
    (np.repeat, np.ndarray.repeat): [
        *[call(A(s), 2, axis) for s in SHAPES for axis in (None, *axes(s))],
        call(A("n"), L("m")),
        call(A("n"), 0),
        call(A("3"), [1, 0, 2]),
        call(A("3n"), (1, 0, 2), 0),
        call(A("3n"), [4], 0),
        call(A("3"), [1, 2]),
        call(A("n"), [1, 2]),
        call(A("n"), A("n", "int64")),
        call(A("nm"), A("m", "bool"), 1),
        call(A("n"), A("1", "int64")),
        call(A("n"), A("n", "float64")),
        call(A("3"), T([1, L("n"), 2])),
        call(A("3"), np.array([1, 2, 3])),
        call(A("n"), -1),
    ],
    np.tile: [call(A(s), reps) for s in SHAPES for reps in (2, 1, 0, (2, 3), T([L("n"), 2]), ())]
    + [call(V(1.5), 3), call(A("n"), L("n"))],
    np.diag: [call(A(s), k) for s in (*SHAPES, "nN", "53", "35", "n3") for k in (0, 1, -1, 2, -12)]
    + [call(A("nn")), call(A("n"), L("m")), call(A("nm"), L("k"))],
    # several arrays
    np.concatenate: [call(x, axis) for x in JOINED for axis in (0, 1, -1, None, 2)]
    + [call(JOINED[0], dtype=np.float32), call(T([])), call(JOINED[0], dtype=np.int64)],
    np.stack: [call(x, axis) for x in JOINED for axis in (0, 1, -1, 2)],
    (np.vstack, np.hstack): [call(x) for x in JOINED] + [call(JOINED[0], dtype=np.float32)],
    (np.column_stack,): [call(x) for x in JOINED],
    np.where: [
        call(A("n", "bool"), A("n"), A("n")),
        call(A("nm", "bool"), A("m"), A("n1", "float32")),
        call(A("n", "bool"), A("n"), 0.0),
        call(A("n"), V(1.5), V(2)),
        call(A("n", "bool"), [1.0, 2.0, 3.0], A("3n")),
        call(A("3", "bool"), [1.0, 2.0, 3.0], A("3")),
        call(A("", "bool"), A(""), 1.0),
        call(A("3", "bool"), T([V(1.5), 2.0, 3.0]), 0.0),
        call(A("n", "bool"), A("m"), 0.0),
        call(A("n", "bool")),
        call(V(True), A("n"), 0.0),
    ],
    (np.clip, np.ndarray.clip): [
        call(A("n"), 0.0, 2.0),
        call(A("nm"), None, 2),
        call(A("nm"), A("m"), None),
        call(A("n1"), A("m"), A("nm", "float32")),
        call(A(""), 0.5, V(2.0)),
        call(A("n"), 0.0, A("m")),
        call(A("3"), [0.0, 1.0, 2.0], 5.0),
    ],
    # new arrays
    (np.zeros, np.ones, np.empty): [call(n) for n in SIZES]
    + [call(T([L("n"), 2]), np.float32), call(2.0), call(-1), call(V(1.5))],
    np.full: [call(n, x) for n in SIZES for x in (1, 2.0, True, 1j, V(1.5), V(np.float32(2)))]
    + [
        call(T([L("n"), 3]), A("3")),
        call(T([L("m"), L("n")]), A("n")),
        call(L("n"), A("m")),
        call(3, 1j, float),
        call(3, 1, float),
        call(3, L("n")),
        call(3, [1, 2, 3]),
    ],
    (np.zeros_like, np.ones_like, np.empty_like): LIKE + [call(A("n"), shape=T([L("m"), 2]))],
    np.full_like: [call(*operands, 2.5, **options) for operands, options in LIKE]
    + [call(A("nm"), A("m")), call(A("n"), A("m"))]
    + [call(A("n", "float64"), 2j), call(A("n"), 1, shape=(2, 2))],
    np.eye: [
        call(*operands)
        for operands in ((3,), (L("n"),), (L("n"), L("m")), (2, L("m"), 1), (V(2),), (3, None, -1))
    ]
    + [call(L("n"), dtype=int)],
    np.identity: [call(3), call(L("n")), call(L("n"), np.float32), call(V(3))],
    np.arange: [
        call(*operands)
        for operands in (
            *((5,), (2.5,), (np.float32(3),), (L("n"),), (1, L("n")), (L("n"), 3), (-1, L("n"))),
            *((0, L("n"), 2), (L("n"), 0, -1), (0.0, 2.5, L("n")), (1, 0.5), (0, 1, 0.1), (5, 2)),
            *((0.0, L("n")), (L("n"), L("m")), (11, L("n")), (0, np.float32(3)), (5, 2, -1)),
        )
    ],
    np.linspace: [
        call(0.0, 1.0),
        call(0, 1, 5),
        call(V(0.5), V(2.0), L("n")),
        call(A("n"), A("n"), 7),
        call(A("n"), 1.0, L("m"), endpoint=False),
        call(V(np.float32(1)), V(np.float32(2)), 4),
        call(0.0, 1.0, -1),
    ],
    # products
    **({np.vecdot: [*factors(), call(A("nm"), A("m"))]} if hasattr(np, "vecdot") else {}),
    (np.dot, np.inner, np.vdot, np.outer, np.kron, np.matmul, operator.matmul): [*factors()],
    np.ndarray.dot: [
        *factors(),
        call(A("3"), b=T([V(1.5), 1, 2.0])),
        call(A("n3"), b=[1.0, 1.0, 2.0]),
    ],
    np.tensordot: [call(A(a), A(b), axes) for a, b in FACTORS for axes in (0, 1, 2, (0, 0))]
    + [
        call(A("nmk"), A("kmn"), ((1, 2), (1, 0))),
        call(A("nmk"), A("mk"), ([1], [0])),
        call(A("n"), [1.0, 2.0, 3.0], 0),
        call(A("3"), [1.0, 2.0, 3.0], 1),
    ],
    np.einsum: [
        call("ij,jk->ik", A("nm"), A("mk")),
        call("ij,jk", A("nm"), A("mk", "float32")),
        call("ba", A("nm")),
        call("ii->i", A("nn")),
        call("ii", A("nn")),
        call("ii", A("n1")),
        call("i,i->", A("n"), A("n")),
        call("i,i", A("n"), A("1")),
        call("...i, ij -> ...j", A("nm3"), A("3k")),
        call("...ij->...ji", A("nmk")),
        call("i...,...", A("nm"), A("m")),
        call("i,j", A("n"), A("m")),
        call("i,i", A("n"), A("m")),
        call("i", A("nm")),
        call("ij->i...", A("nm")),
        call("...->", A("nm")),
        call(A("nm"), [0, 1], A("mk"), [1, 2]),
        call(A("nm"), [0, 1], [1, 0]),
        call(A("nm"), [Ellipsis, 0], [0, Ellipsis]),
    ],
    # matrices
    (np.linalg.inv, np.linalg.det, np.linalg.cholesky, np.linalg.eigvalsh): [
        call(A(shape)) for shape in ("nn", "nm", "mnn", "N11", "0nn", "00", "22", "n")
    ],
    (np.linalg.slogdet, np.linalg.eigh): [
        call(A(shape)) for shape in ("nn", "nm", "mnn", "N11", "0nn", "00", "22", "n")
    ],
    (np.linalg.svd, np.linalg.qr): [
        call(A(shape)) for shape in ("nn", "nm", "kmn", "N11", "23", "32", "n")
    ]
    + [call(A("nm"), "r"), call(A("nm"), "complete"), call(A("nm"), False), call(A("nm"), "raw")]
    + [call(A("nm"), full_matrices=False), call(A("nm"), compute_uv=False)],
    np.linalg.solve: [
        call(A(a), A(b))
        for a in ("nn", "mnn", "122", "11")
        for b in ("n", "nk", "knm", "mn", "m", "1", "22", "")
    ],
    (linalg.lu, linalg.lu_factor): [
        call(A(shape)) for shape in ("nn", "nm", "kmn", "N1", "23", "32", "n")
    ],
    linalg.svd: [
        call(A(shape), *options)
        for shape in ("nn", "nm", "NM", "23")
        for options in ((), (False,), (True, False))
    ],
    linalg.qr: [
        call(A(shape), mode=mode)
        for shape in ("nn", "nm", "NM", "23")
        for mode in ("full", "economic", "r")
    ],
    linalg.eigh: [call(A("nn")), call(A("33"), A("33")), call(A("nn"), eigvals_only=True)],
    **{
        getattr(module, name): [
            call(A(x), *options)
            for x in ("n", "nm", "3k")
            for options in ((), (4,), (3, 0), (L("m"),), (L("m"), 0))
        ]
        for module in (np.fft, fft)
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    },
    **{
        getattr(module, name + end): [
            call(A(x), *options)
            for x in ("nm", "4n3", "35")
            for options in ((), (T((3, L("m"))), (-2, -1)))
        ]
        for module in (np.fft, fft)
        for name in ("fft", "ifft", "rfft", "irfft")
        for end in ("2", "n")
    },
    signal.lfilter: [
        call(A(b), A("m"), A(x), *axis)
        for b in ("n", "3", "1")
        for x in ("k", "nm", "3k")
        for axis in ((), (0,))
    ]
    + [call(A("3"), A("3"), A("k"), zi=A("2"))],
    signal.sosfilt: [call(SECTIONS, A(x), *axis) for x in ("k", "nm") for axis in ((), (0,))]
    + [call(SECTIONS, A("k"), zi=A("32"))],
    distance.squareform: [
        call(A(shape), "no", False) for shape in ("nn", "N", "33", "6", "3", "11")
    ],
    np.linalg.norm: [
        *reductions(many=False),
        *[call(A("nm"), "fro"), call(A("n"), 3), call(A("nm"), 2), call(A("nmk"), "nuc", (0, 2))],
    ],
    # elementwise
    tuple(f for f, r in records.items() if r.result is records[operator.add].result): [
        *whole_calls(),
        *pairs(),
    ],
    tuple(f for f in UFUNCS if f.nin == 1): [*whole_calls(), call(V(1.5)), call(V(2)), call(V(1j))],
    tuple(f for f in UFUNCS if f.nin == 2): pairs(),
    (np.sinc, np.i0): whole_calls(),
    (float, int, bool, complex): whole_calls(),
    (round, max, min): [call(V(1.5), V(2)), call(L("n"), 3), call(A("n"), A("n"))],
    (pow, operator.pow): pairs(),
    divmod: [],  # several results
    (math.sqrt, math.exp, operator.truth, operator.not_): [*whole_calls(), call(V(1.5))],
    math.prod: [
        call(T([V(1.5), V(2.0)])),
        call(T([L("n"), L("m")])),
        call(T([L("n"), 2.0])),
        call((2, 3)),
        call(A("n")),
        call(A("N")),
        call(A("3"), start=2),
        call(T([V(2)]), start=0.5),
    ],
    math.dist: [
        call(T([V(1.5), V(2.0)]), (0.5, 1.0)),
        call(A("n"), A("n")),
        call(A("n"), A("m")),
        call(T([V(1.5)]), (1, 2)),
    ],
}
TABLE = {}
for _functions, _calls in CASES.items():
    _calls = [*_calls]
    for _f in _functions if isinstance(_functions, tuple) else (_functions,):
        TABLE.setdefault(_f, _calls)
