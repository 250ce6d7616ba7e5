"""Rules of `scipy.sparse.linalg`: some eigenvalues and singular values, found by search.

The search runs undifferentiated. Its result moves as the space of eigenvectors does
(`invariant_subspaces`), which takes only products with A and one linear system for each vector.
Left and right singular vectors, stacked, are eigenvectors of [[0, A], [Aᴴ, 0]].
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg as sl

from adjoint.levels.foreign.search_state import evaluate_at_end, repeated, restore_after, run_search
from adjoint.rulekit.registry import non_differentiable, primitive
from adjoint.rules.numpy.linalg.matrices import dagger
from adjoint.rules.scipy.searches import corrections, refused_result, with_value
from adjoint.rules.scipy.sparse.invariant_subspaces import Equations, moved, of_any_phase, separated
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.foreign.unknown_call import run_unknown

LARGEST = 3000
"""Largest number of columns of an operator that is turned into a matrix."""

INDEPENDENT = 1e-2
"""Largest condition number of vectors, times the square root of the precision."""

NEAR = 1e-6
"""Largest relative distance of values from those of a second search for vectors."""

TOO_LARGE = f"is given an operator of more than {LARGEST} rows: give it the matrix"
NOT_HERMITIAN = "is given a matrix that is not Hermitian"
NOT_NORMAL = "gives vectors of another length than usual"
DEPENDENT = "has found vectors that are linearly dependent, or nearly so"
OTHERS = "finds other values when it is asked for vectors: ask it for them"


# ---- matrices ------------------------------------------------------------------------------------


def _is_operator(a: Any) -> bool:
    return isinstance(a, sl.LinearOperator) or (callable(a) and not hasattr(a, "shape"))


def _product(a, x):
    if not _is_operator(a):
        return a @ x if sparse.issparse(a) else np.asarray(a) @ x
    return a @ x if isinstance(a, sl.LinearOperator) else a(x)


def _adjoint_product(a, x):
    if isinstance(a, sl.LinearOperator):
        return a.H @ x
    if not sparse.issparse(a):
        return dagger(np.asarray(a)) @ x
    return (a.T.conj() if a.dtype.kind == "c" else a.T) @ x


def _hermitian_product(a, x):
    """Return the product with the Hermitian part of `a`, so that its cotangent is Hermitian."""
    if _is_operator(a):
        return _product(a, x)
    return 0.5 * (_product(a, x) + _adjoint_product(a, x))


def _matrix_of(a: Any, product: Callable[[Any], Any], n: int) -> Any:
    """Return a dense or sparse matrix in double precision."""
    if sparse.issparse(a):
        found = sparse.csc_array(a)
    elif _is_operator(a):
        found = np.asarray(product(np.eye(n)))
    else:
        found = np.asarray(a)
    return found.astype(np.result_type(found.dtype, float))


def _is_hermitian(a: Any, eps: float) -> bool:
    return bool(abs(a - np.conj(a.T)).max() <= np.sqrt(eps) * abs(a).max())


# ---- the equations of a search -------------------------------------------------------------------


def _with_vectors(find: Any, given: dict[str, Any], found: Any) -> tuple[Any, Any]:
    """Return the values that were found and their vectors; stack the vectors of singular values."""
    if find is sl.svds:
        if isinstance(found, tuple) and all(part is not None for part in found):
            return found[1], _stacked(found)
        rows, columns = given["A"].shape
        n = rows if given.get("solver") == "propack" else min(rows, columns)
        u, s, vh = _again(find, given, "return_singular_vectors", n)
        w, x = _aligned(_values_of(found), s, _stacked((u, s, vh)))
        return w, _in_phase(x, found, len(u)) if isinstance(found, tuple) else x
    if isinstance(found, tuple):
        return found[0], found[1]
    w, x = _again(find, given, "return_eigenvectors", given["A"].shape[0])
    if find is sl.eigs and not _is_complex(given):  # may find the conjugate instead
        w, x = np.append(w, np.conj(w)), np.concatenate([x, np.conj(x)], 1)
    return _aligned(found, w, x)


def _is_complex(given: dict[str, Any]) -> bool:
    kinds = [np.dtype(getattr(given.get(name), "dtype", None)).kind for name in ("A", "M")]
    return "c" in kinds


def _aligned(found: Any, w: Any, x: Any) -> tuple[Any, Any]:
    """Return the values and vectors that match the values `found`."""
    order = _order(found, w)
    return w[order], x[:, order]


def _in_phase(x: Any, found: Any, rows: int) -> Any:
    """Return singular vectors with the phases of those of one side that were found before."""
    u, _, vh = found
    there, known = (x[rows:], dagger(vh)) if u is None else (x[:rows], u)
    phase = np.sum(np.conj(there) * known, 0) * np.sqrt(2) if known is not None else 1.0
    return x * phase  # a vector that does not match gets a length that is detected later


def _stacked(found: Any) -> Any:
    u, _, vh = found
    return np.concatenate([u, dagger(vh)]) / np.sqrt(2)


def _again(find: Any, given: dict[str, Any], asking: str, n: int) -> Any:
    """Run a search again and ask for vectors, without the caller's random generator."""
    named = {name: value for name, value in given.items() if name not in ("rng", "random_state")}
    named[asking] = True
    if named.get("v0") is None:
        named["v0"] = np.random.default_rng(0).uniform(0.1, 1.0, n)
        if find is sl.svds and given.get("solver") == "lobpcg":
            del named["v0"]
            named["rng" if "rng" in _names(find) else "random_state"] = 0
    return find(**named)


def _looked_at(
    find: Any, given: dict[str, Any], found: Any, product: Any, weigh: Any
) -> tuple[Any, str]:
    """Return the equations of the space that was found, or why there are none."""
    a, m = given["A"], given.get(_WEIGHTS[find])
    w, x = _with_vectors(find, given, found)
    values = _values_of(found)
    if np.any(np.abs(values - w) > NEAR * np.max(np.abs(values), initial=0)):
        return None, OTHERS
    if _is_operator(a) and len(x) > LARGEST:
        return None, TOO_LARGE
    eps = float(np.finfo(x.dtype).eps)
    x = x.astype(np.result_type(x.dtype, float))
    weights = None if m is None else _matrix_of(m, weigh, len(x))
    if find is sl.svds:
        half = _matrix_of(a, lambda z: _product(a, z), given["A"].shape[1])
        half = sparse.csc_array(half)
        matrix = sparse.block_array([[None, half], [np.conj(half.T), None]], format="csc")
    else:
        matrix = _matrix_of(a, product, len(x))
    if find is not sl.eigs:
        if not (_is_hermitian(matrix, eps) and (m is None or _is_hermitian(weights, eps))):
            return None, NOT_HERMITIAN
        matrix = 0.5 * (matrix + np.conj(matrix.T))
        order = np.argsort(w, kind="stable")
        w, x = w[order], x[:, order]
    mx = x if m is None else weights @ x
    if np.any(np.abs(np.sum(np.conj(x) * mx, 0) - 1) > np.sqrt(eps)):
        return None, NOT_NORMAL
    if np.linalg.cond(x) > INDEPENDENT / np.sqrt(eps):
        return None, DEPENDENT
    return Equations(find, matrix, weights, x, w.astype(np.result_type(w, float)), eps), ""


def _values_of(found: Any) -> Any:
    if not isinstance(found, tuple):
        return found
    return found[0] if len(found) == 2 or np.ndim(found[0]) == 1 else found[1]


@non_differentiable
def _order(found: Any, w: Any) -> Any:
    """Return for each value that was found its index among those of the equations."""
    distance, order = np.abs(np.subtract.outer(found, w)), []
    for row in distance:
        order.append(int(np.argmin(row)))
        distance[:, order[-1]] = np.inf
    return np.array(order, int)


# ---- derivatives ---------------------------------------------------------------------------------


def _step(x, equations, product, weigh):
    """Return the vectors with one more order of derivatives exact."""
    ax, mx, left = product(x), weigh(x), dagger(equations.y)
    return moved(x, ax - mx @ np.linalg.solve(left @ mx, left @ ax), equations)


def _of_hermitian(equations, product, weigh):
    """Return values, and vectors that stay orthonormal."""
    x = equations.x
    for _ in range(len(corrections()) - 1):
        x = _step(x, equations, product, weigh)
    factor = np.linalg.cholesky(_hermitian(dagger(x) @ weigh(x)))
    inner = np.linalg.solve(factor, _hermitian(dagger(x) @ product(x)))
    inner = np.linalg.solve(factor, dagger(inner))
    w, turns = np.linalg.eigh(with_value(np.diag(equations.w).astype(inner.dtype), inner))
    main = np.diagonal(turns)
    x = _step(x, equations, product, weigh)
    return w, x @ np.linalg.solve(dagger(factor), turns * (np.conj(main) / np.abs(main)))


def _hermitian(a):
    return 0.5 * (a + dagger(a))


def _of_any(equations, product, weigh):
    """Return values, and vectors that keep their length."""
    x, left = equations.x, dagger(equations.y)
    for _ in corrections():
        x = _step(x, equations, product, weigh)
    inner = np.linalg.solve(left @ weigh(x), left @ product(x))
    w, turns = np.linalg.eig(with_value(np.diag(equations.w).astype(inner.dtype), inner))
    places = _places(turns)
    w, turns = w[places], turns[:, places]
    v = x @ (turns / np.diagonal(turns))
    along = np.sum(np.conj(equations.x) * v, 0)
    v = v * (_constant(along) / along)
    length = np.sum(np.conj(v) * weigh(v), 0)
    return w, v / np.sqrt(length / np.abs(_constant(length)))


@non_differentiable
def _places(turns: Any) -> Any:
    """Return the index of the vector nearest to each axis."""
    return np.argmax(np.abs(turns), 1)


@non_differentiable
def _constant(x: Any) -> Any:
    return np.array(x)


def _moving(find, given, found, search):
    """Return values, vectors and equations, or why there are none."""
    a, m = given["A"], given.get(_WEIGHTS[find])
    product = _PRODUCTS[find]
    of_a = repeated(search, lambda x: product(a, x))
    of_m = repeated(search, lambda x: x if m is None else _product(m, x))
    if find is sl.eigs and m is not None:
        of_m = repeated(search, lambda x: _hermitian_product(m, x))
    probe = np.ones((_rows(find, given), 1))
    equations, why = evaluate_at_end(
        search,
        lambda f, _: _looked_at(find, given, found, lambda x: _joined(f(x)), of_m),
        lambda x: _parts(product(a, x)),
        probe,
    )
    if why:
        return None, why
    w, v = (_of_any if find is sl.eigs else _of_hermitian)(equations, of_a, of_m)
    v = of_any_phase(v, find)
    return (separated(w, equations), v, equations), ""


def _parts(x: Any) -> Any:
    """Stack real and imaginary parts, because values are compared as real numbers."""
    return np.stack([np.real(x), np.imag(x)])


def _joined(parts: Any) -> Any:
    return parts[0] + 1j * parts[1] if np.any(parts[1]) else parts[0]


@non_differentiable
def _rows(find: Any, given: dict[str, Any]) -> int:
    if find is sl.lobpcg:
        return len(given["X"])
    shape = given["A"].shape
    return sum(shape) if find is sl.svds else shape[0]


def _augmented_product(a, x):
    """Return the product with [[0, A], [Aᴴ, 0]]."""
    rows = a.shape[0]
    return np.concatenate([_product(a, x[rows:]), _adjoint_product(a, x[:rows])])


def _as_found(found, y):
    return with_value(found, y.astype(found.dtype))


def _eigen(find, names):
    """Return the substitute for `eigs`, `eigsh` and `lobpcg`."""

    def eigen(*args, **kwargs):
        given = {**dict(zip(names, args)), **kwargs}  # noqa: B905 (it is lowered)
        found, search = run_search(find, args, kwargs)
        known, why = _moving(find, given, found, search)
        if why:
            found = refused_result(found, find, why, *given.values())
        elif not isinstance(found, tuple):
            found = _as_found(found, known[0][_order(found, known[2].w)])
        else:
            order = _order(found[0], known[2].w)
            w, v = _as_found(found[0], known[0][order]), _as_found(found[1], known[1][:, order])
            found = (w, v, *[_history(find, part, given) for part in found[2:]])
        restore_after(search)
        return found

    return eigen


def _history(find, part, given):
    return refused_result(part, find, "says how it has searched", *given.values())


def _singular(find, names):
    def singular(*args, **kwargs):
        given = {**dict(zip(names, args)), **kwargs}  # noqa: B905 (it is lowered)
        if isinstance(given["A"], sl.LinearOperator):
            given["A"].H  # noqa: B018 (it is cached, and the search would cache a constant)
        found, search = run_search(find, args, kwargs)
        known, why = _moving(find, given, found, search)
        if why:
            found = refused_result(found, find, why, *given.values())
        elif not isinstance(found, tuple):
            found = _as_found(found, known[0][_order(found, known[2].w)])
        else:
            u, s, vh = found
            order, rows = _order(s, known[2].w), given["A"].shape[0]
            v = known[1][:, order] * np.sqrt(2.0)
            s = _as_found(s, known[0][order])
            u = None if u is None else _as_found(u, v[:rows])
            vh = None if vh is None else _as_found(vh, dagger(v[rows:]))
            found = u, s, vh
        restore_after(search)
        return found

    return singular


# ---- registration --------------------------------------------------------------------------------


def _names(find: Any) -> list[str]:
    return list(inspect.signature(find).parameters)


_WEIGHTS = {sl.eigs: "M", sl.eigsh: "M", sl.lobpcg: "B", sl.svds: ""}
_PRODUCTS = {
    sl.eigs: _product,
    sl.eigsh: _hermitian_product,
    sl.lobpcg: _hermitian_product,
    sl.svds: _augmented_product,
}


def _why_not(find: Any, given: dict[str, Any]) -> str:
    """Return the reason why a call has no derivative for its arguments alone, or ``""``."""
    if given.get("mode") == "buckling":
        return "has no rule for mode='buckling': exchange the matrices, and take reciprocals"
    if given.get("Y") is not None:
        return "has no rule for constraints: add a multiple of Y @ Y.T to A instead"
    for name in ("A", _WEIGHTS[find]):
        a = given.get(name)
        known = a is None or _is_operator(a) or sparse.issparse(a) or isinstance(a, np.ndarray)
        if not known:
            return "has no rule: use scipy.linalg with A.toarray()"
    return ""


def _register(find: Any, substitute_of: Callable[..., Any]) -> None:
    signature = inspect.signature(find)
    twin = substitute_of(find, list(signature.parameters))

    @primitive(find)
    def run(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        why = _why_not(find, given)
        if why:
            return run_unknown(record[0], record, slot, find, args, kwargs, why, trusted=True)
        return call_function(record, slot, twin, args, kwargs)


_register(sl.svds, _singular)
for _find in (sl.eigs, sl.eigsh, sl.lobpcg):
    _register(_find, _eigen)
