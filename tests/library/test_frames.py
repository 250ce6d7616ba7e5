"""Frames of pandas with columns of text and of objects, and frames of constants that get a column,
in each mode; what is no number comes out as it does without differentiation."""

import numpy as np
import pandas as pd
import pytest

import adjoint as ad
from adjoint.testing import check_gradient
from tests.library.registry import reals

pytestmark = pytest.mark.usefixtures("little_to_look_at")

V = np.array([0.6, 0.9, 1.7, 0.35])
TEXT = pd.DataFrame({"n": list("dbca"), "y": [1.0, 2.0, 3.0, 4.0]})
NUMBERS = pd.DataFrame({"y": [1.0, 2.0, 3.0, 4.0], "z": [1.0, 2.0, 1.0, 2.0], "k": [4, 3, 2, 1]})
OTHER = pd.DataFrame({"n": list("abce"), "w": [1.5, 2.5, 3.5, 4.5]})


def _check(call, *args):
    """Reverse and forward mode, and forward in reverse mode, against differences."""
    check_gradient(call, *args, modes=("reverse", "forward"))
    x_dot = reals(*V.shape, seed=3)
    found = ad.hvp(call, *args, x_dot)
    step = 1e-5 * x_dot
    (after,), (before,) = ad.gradient(call, args[0] + step), ad.gradient(call, args[0] - step)
    np.testing.assert_allclose(found, (after - before) / 2e-5, rtol=1e-6, atol=1e-7)


def _number(frame):
    """One number of a frame that knows where each entry is."""
    total = 0.0
    for name in frame.columns:
        if name not in ("n", "o"):
            column = frame[name].to_numpy()
            total = total + (np.arange(1.0, column.size + 1.0) * column**2).sum()
    return total


ROWS = {
    "mask": lambda d: d[d["n"] != "b"],
    "isin": lambda d: d[d["n"].isin(["a", "c"])],
    "sort_values": lambda d: d.sort_values("n"),
    "sort_by_numbers": lambda d: d.sort_values("y", ascending=False),
    "drop_duplicates": lambda d: d.drop_duplicates("n"),
    "iloc": lambda d: d.iloc[[2, 1]],
    "slice": lambda d: d[1:3],
    "tail": lambda d: d.tail(2),
    "loc": lambda d: d.loc[d["n"] > "a"],
    "dropna": lambda d: d.dropna(),
    "set_index": lambda d: d.set_index("n").loc[["c", "a"]],
    "reset_index": lambda d: d[d["n"] > "b"].reset_index(drop=True),
    "merge": lambda d: d.merge(OTHER, on="n"),
    "merge_left": lambda d: d.merge(OTHER, on="n", how="left").fillna({"w": 0.5}),
    "reindex": lambda d: d.reindex([3, 0]),
    "sample": lambda d: d.sample(3, random_state=1),
    "nlargest": lambda d: d.nlargest(2, "y"),
}  # fmt: skip


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_rows_of_a_frame_with_text(rows):
    seen = []

    def of_constants(v):
        found = rows(TEXT)
        seen.append(found)
        return _number(found) * (v @ v)

    def of_a_column(v):
        return _number(rows(TEXT.assign(x=v * v)))

    constant = _number(rows(TEXT))
    np.testing.assert_allclose(ad.gradient(of_constants, V)[0], 2.0 * constant * V)
    np.testing.assert_allclose(ad.pushforward(of_constants, (V,), (V,))[1], 2.0 * constant * V @ V)
    for found in seen:
        pd.testing.assert_frame_equal(found, rows(TEXT))
    _check(of_a_column, V)


ALL_BLOCKS = {
    "copy": lambda d: d.copy(),
    "mul": lambda d: d * 2.0,
    "add": lambda d: d + d,
    "mul_along": lambda d: d.mul(np.array([1.0, 2.0, 3.0, 4.0]), axis=0),
    "drop": lambda d: d.drop(columns="z"),
    "columns": lambda d: d[["x", "y"]],
    "sum": lambda d: pd.DataFrame({"s": d.sum()}),
    "mean_of_rows": lambda d: pd.DataFrame({"m": d.mean(axis=1)}),
    "records": lambda d: pd.DataFrame({"r": [row["x"] for row in d.to_dict("records")]}),
    "insert": lambda d: (d.insert(1, "q", d["x"] * d["y"]), d.copy())[1],
    "setitem": lambda d: (d.__setitem__("y", d["x"] ** 2), d.copy())[1],
    "iloc_set": lambda d: (d.iloc.__setitem__((slice(None), 1), d["x"] ** 2), d.copy())[1],
    "delete": lambda d: (d.__delitem__("z"), d.copy())[1],
    "where": lambda d: d.where(d > 0.8, 0.3),
    "head": lambda d: d.head(3) * 3.0,
    "both_axes": lambda d: d[["x", "y"]].copy().reindex([2, 0], columns=["y", "x"]),
    "filled": lambda d: d[["x", "y"]].reindex([2, 9], columns=["w", "x"], fill_value=0.4),
    "apply": lambda d: pd.DataFrame({"a": d.apply(lambda row: row["x"] ** 2 * row["y"], axis=1)}),
    "exp": lambda d: np.exp(d / 4.0),
}  # fmt: skip


@pytest.mark.parametrize("blocks", ALL_BLOCKS.values(), ids=ALL_BLOCKS)
def test_a_column_in_a_frame_of_constants(blocks):
    _check(lambda v: _number(blocks(NUMBERS.assign(x=v * v))), V)


def _objects(v):
    return pd.Series([v[0], "a", None, v[1]], dtype=object)


OBJECTS = {
    "iloc": lambda v: np.prod(_objects(v).iloc[[3, 0, 3]].tolist()),
    "take": lambda v: (lambda s: s[0] * s[3] ** 2)(_objects(v).take([3, 1, 0])),
    "reindex": lambda v: (lambda s: s[0] * s[3] ** 2 * s[9])(
        _objects(v).reindex([3, 9, 0], fill_value=v[2])
    ),
    "frame": lambda v: (lambda d: d["o"].iloc[1] ** 2 * d["y"].iloc[0])(
        pd.DataFrame({"o": _objects(v), "y": v}).iloc[[3, 0]]
    ),
    "frame_of_objects": lambda v: (lambda d: d["o"].iloc[1] ** 2 * d["p"].iloc[0])(
        pd.DataFrame({"o": _objects(v), "p": _objects(v * v)}).iloc[[3, 0]]
    ),
    "apply": lambda v: (
        pd.DataFrame({"a": v, "n": list("abab")}).apply(lambda row: row["a"] ** 2, axis=1).sum()
    ),
}


@pytest.mark.parametrize("call", OBJECTS.values(), ids=OBJECTS)
def test_columns_of_objects(call):
    _check(call, V)


def test_the_least_object_of_a_group_is_refused_in_reverse_mode():
    def f(v):
        return pd.Series([v[0], None, v[1]], dtype=object).groupby([1, 1, 2]).agg("min")[1] * v[2]

    with pytest.raises(ad.NoDerivativeError, match="array of objects") as info:
        ad.gradient(f, V)
    assert info.value.place.filename == __file__
    assert ad.pushforward(f, (V,), (V,))[1] == pytest.approx(2.0 * V[0] * V[2])


FILLED = {
    "integers": lambda v: pd.Series([1, 2, 3]).reindex([0, 7], fill_value=v[0] ** 2),
    "truths": lambda v: pd.Series([True, False]).reindex([0, 7], fill_value=v[0] ** 2),
    "objects": lambda v: pd.Series([1.5, "a"], dtype=object).reindex([0, 7], fill_value=v[0] ** 2),
    "nothing": lambda v: pd.Series([], dtype=float).reindex([0, 7], fill_value=v[0] ** 2),
    "frame": lambda v: (
        pd.DataFrame({"i": [1, 2, 3]}).reindex([0, 7], fill_value=v[0] ** 2)["i"]
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:reindexing with a fill_value")
@pytest.mark.parametrize("call", FILLED.values(), ids=FILLED)
def test_where_nothing_is_taken(call):
    _check(lambda v: call(v).tolist()[1] * v[1] * 1.0, V)
    y, _ = ad.pullback(lambda v: call(v).tolist(), V)
    assert y == call(V).tolist() and list(map(type, y)) == list(map(type, call(V).tolist()))


MAPPED = {
    "apply": lambda v: pd.Series(v).apply(lambda x: x**2 if x > 0.8 else np.sin(x)),
    "map": lambda v: pd.Series(v).map(np.exp) * v,
    "map, but for what is missing": lambda v: pd.Series(v).map(
        lambda x: x * 3.0, na_action="ignore"
    ),
    "map of a frame": lambda v: pd.DataFrame({"a": v, "b": v * 2.0}).map(lambda x: x**3)["b"],
    "apply to columns": lambda v: pd.DataFrame({"a": v, "b": v * 2.0}).apply(lambda c: c * c.sum())[
        "a"
    ],
    "with a constant hole": lambda v: (
        pd.Series([v[0], np.nan, v[1]]).map(lambda x: x * x).fillna(v[2])
    ),
}


@pytest.mark.parametrize("call", MAPPED.values(), ids=MAPPED)
def test_functions_of_each_element(call):
    def f(v):
        y = call(v).to_numpy()
        return np.sum(y * np.arange(1.0, y.size + 1.0))

    _check(f, V)


REDUCED = {
    "variances of groups": lambda s: s.groupby(["a", "b", "a", "b"]).var(),
    "greatest of groups": lambda s: s.groupby(["a", "b", "a", "b"]).max(),
    "products of groups": lambda s: s.groupby(["a", "b", None, "b"]).prod(),
    "means of windows": lambda s: s.rolling(2, min_periods=1).mean(),
    "variances of windows": lambda s: s.rolling(3).std().fillna(1.0),
    "differences": lambda s: s.diff(-1).fillna(1.0),
    "arrays": lambda s: pd.Series(s.array * s.array),
}


@pytest.mark.parametrize("of_series", REDUCED.values(), ids=REDUCED)
def test_what_pandas_reduces_in_c(of_series):
    _check(lambda v: _number(of_series(pd.Series(v)).to_frame()), V)


@pytest.mark.parametrize("name", ["max", "min"])
def test_equal_entries_of_a_group_share(name):
    def best(v):
        return getattr(pd.Series(v).groupby([0, 0, 0, 1]), name)()[0]

    assert ad.grad(best)(np.full(4, 2.0)).tolist() == [1 / 3, 1 / 3, 1 / 3, 0.0]


def test_groups_of_integers_and_dates():
    """Constants have the types that pandas gives them."""

    def sums(v):
        frame = pd.DataFrame({"k": [1, 2, 3, 4], "d": pd.to_datetime(["2020-01-01"] * 4), "v": v})
        groups = frame.groupby(["a", "b", "a", "b"])
        assert groups["k"].sum().tolist() == [4, 6] and groups["d"].min().dtype.kind == "M"
        assert frame["k"].diff().dtype == float and frame["d"].diff().dtype.kind == "m"
        return (groups["v"].sum() * groups["k"].sum()).to_numpy().sum()

    assert ad.grad(sums)(V).tolist() == [4.0, 6.0, 4.0, 6.0]


def test_quantiles_of_groups_of_integers_and_with_equal_entries():
    slopes = lambda x: ad.gradient(  # noqa: E731
        lambda x: pd.Series(x).groupby(list("aab")).quantile(0.25).sum(), np.array(x)
    )[0].tolist()
    assert slopes([1, 2, 3]) == [0.75, 0.25, 1.0]
    assert sum(slopes([2.0, 2.0, 3.0])[:2]) == 1.0


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_running_extremes_that_are_equal_are_the_first_of_them(name):
    x, weights = np.array([2.0, 1.0, 2.0, 1.0, 3.0, 0.5, 3.0, 0.5]), np.arange(1.0, 9.0)
    labels = np.array([0, 1] * 4)

    def of_groups(x):
        return (getattr(pd.Series(x).groupby(labels), name)().to_numpy() * weights).sum()

    def one_by_one(x):
        total = 0.0
        for label in (0, 1):
            chosen = labels == label
            found = getattr(pd.Series(x[chosen]), name)().to_numpy()
            total = total + (found * weights[chosen]).sum()
        return total

    expected = ad.gradient(one_by_one, x)[0]
    np.testing.assert_array_equal(ad.gradient(of_groups, x)[0], expected)
    x_dot = reals(8, seed=3)
    assert ad.pushforward(of_groups, (x,), (x_dot,))[1] == pytest.approx(expected @ x_dot)
