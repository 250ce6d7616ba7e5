"""pandas: series and data frames, which are Python around arrays."""

import numpy as np
import pandas as pd

from tests.library.registry import case, reals

X, Y = reals(5, low=0.5, high=2.0), reals(5, low=0.6, high=2.1, seed=1)
CONSTANT = pd.Series(reals(5, low=0.7, high=1.9, seed=2))
LETTERS = list("abcde")

for name, operator in (
    ("add", lambda a, b: a + b), ("sub", lambda a, b: a - b), ("mul", lambda a, b: a * b),
    ("truediv", lambda a, b: a / b), ("pow", lambda a, b: a**b), ("mod", lambda a, b: a % b),
):  # fmt: skip

    def _beside(x, y, operator=operator):
        s, total = pd.Series(x), 0.0
        for other in (y, pd.Series(y), y[0], 1.3, CONSTANT):
            total = total + operator(s, other) * operator(other, s)
        return (total + operator(CONSTANT, x) + operator(y[1], CONSTANT)).to_numpy()

    case(f"pandas.Series.__{name}__", X, Y, call=_beside)
case(
    "pandas.Series.__matmul__",
    X,
    Y,
    call=lambda x, y: (pd.Series(x) @ y) * (CONSTANT @ x) * pd.Series(x).dot(pd.Series(y)),
)
case("pandas.Series.__neg__", X, call=lambda x: (-pd.Series(x)).values)
case("pandas.Series.__abs__", X, call=lambda x: abs(pd.Series(x) - 1.0).values)
for name in "sum mean std var prod median max cumsum copy dropna sort_values".split():
    case(f"pandas.Series.{name}", X, call=lambda x, n=name: np.asarray(getattr(pd.Series(x), n)()))
case("pandas.Series.clip", X, call=lambda x: pd.Series(x).clip(0.8, 1.7).values)
case("pandas.Series.fillna", X, call=lambda x: pd.Series(x).fillna(0.0).values)
case("pandas.Series.corr", X, call=lambda x: pd.Series(x).corr(CONSTANT))
case("pandas.Series.items", X, call=lambda x: sum(v * v * (i + 1) for i, v in pd.Series(x).items()))
case("pandas.Series.tolist", X, call=lambda x: np.array(pd.Series(x).tolist()) ** 2)
case("pandas.Series.__getitem__", X, call=lambda x: pd.Series(x, index=LETTERS)["b"] * x)
case("pandas.Series.where", X, call=lambda x: pd.Series(x).where(CONSTANT > 1.0, x[0]).values)
case(
    "pandas.Series.__array_ufunc__",
    X,
    call=lambda x: (np.exp(pd.Series(x)) * np.sin(CONSTANT * x)).values,
)


def _written(x):
    s = pd.Series(x * 1.0)
    before = s * s
    s[1] = x[0] ** 2
    s.iloc[2:4] = x[1]
    s += CONSTANT
    s *= 2.0
    return (s * before).values


def _shared(x):
    y = x * 1.0
    s = pd.Series(y, copy=False)
    y[0] = y[1] * 3.0
    return (s * CONSTANT).values


case("pandas.Series.__setitem__", X, call=_written)
case("pandas.Series", X, call=_shared)
case(
    "pandas.DataFrame",
    X,
    Y,
    call=lambda x, y: (
        (pd.DataFrame({"a": x, "b": y * x})["b"] * pd.DataFrame({"a": x})["a"]).values
    ),
)


def _beside_constants(x):
    table = pd.DataFrame({"a": Y, "b": np.arange(5)})
    table["c"] = x
    return (table["c"] * table["a"] + table["b"]).values


def _inserted(x):
    table = pd.DataFrame({"a": Y})
    table.insert(0, "c", x * x)
    return (table["c"] * table["a"]).values


case("pandas.DataFrame.__setitem__", X, call=_beside_constants)
case("pandas.DataFrame.insert", X, call=_inserted)
case("pandas.DataFrame.__matmul__", X, call=lambda x: (pd.DataFrame(np.outer(x, x)) @ Y).values)
case("pandas.DataFrame.mean", X, call=lambda x: pd.DataFrame({"a": x, "b": x * x}).mean().values)
case("pandas.DataFrame.cov", X, call=lambda x: pd.DataFrame({"a": x, "b": x * x}).cov().values)
case("pandas.concat", X, call=lambda x: pd.concat([pd.Series(x), CONSTANT * x]).values)
case("pandas.DataFrame.iloc", X, call=lambda x: pd.DataFrame(np.outer(x, x)).iloc[1].values * x)
case(
    "pandas.DataFrame.sum", X, call=lambda x: pd.DataFrame({"a": x, "b": x * x}).sum(axis=1).values
)


def _chosen(x):
    """An array indexed by what pandas holds, which is changed later."""
    table = pd.DataFrame({"kind": [0, 1, 0, 1, 1]})
    mask, total = table["kind"] == 1, (x[table["kind"] == 0] ** 2).sum()
    picked = x[mask] * 2.0
    mask[0] = True
    y = x * 1.0
    y[mask] = x[mask] ** 2
    mask[1] = False
    return total * x[pd.Index([0, 2])].sum() + (picked**2).sum() + y * x[pd.Series([4, 1, 1, 0, 2])]


case("numpy.ndarray.__getitem__", X, call=_chosen)

for name, of_frame in {
    "__getitem__": lambda d: d[["b", "a"]].to_numpy()[:, 0] * d[d["a"] > 1.0]["b"].sum(),
    "__setitem__": lambda d: (d.__setitem__("c", d["a"] * 2.0), d["c"] * d["b"])[1].values,
    "assign": lambda d: (d.assign(c=d["a"] ** 2)["c"] * d["b"]).values,
    "rename": lambda d: (d.rename(columns={"a": "z"})["z"] * d["b"]).values,
    "drop": lambda d: (d.drop(columns=["b"])["a"] ** 2).values,
    "insert": lambda d: (d.insert(0, "z", d["a"] * 2.0), d.pop("a"), d["z"] * d["b"])[2].values,
    "iloc": lambda d: d.iloc[1:3, 1].values * d.iloc[0, 0],
    "reindex": lambda d: (d.reindex([2, 0, 7], fill_value=1.5)["a"] ** 2).values,
    "itertuples": lambda d: np.array([row.a * row.b for row in d.itertuples()]),
    "to_dict": lambda d: d.to_dict()["a"][1] * d["b"].values,
}.items():
    case(
        f"pandas.DataFrame.{name}",
        X,
        Y,
        call=lambda x, y, f=of_frame: f(pd.DataFrame({"a": x, "b": y})),
    )
case(
    "pandas.concat",
    X,
    Y,
    call=lambda x, y: (pd.concat([pd.Series(x), pd.Series(x * y)]) ** 2).values,
)
case(
    "pandas.Series.astype",
    X,
    call=lambda x: (pd.Series([x[0], x[1], 2.0]).astype("float64") ** 2).values,
)

GROUPS = ["a", "b", "a", None, "b", "a", "b"]
U, V = reals(7, low=0.5, high=2.0, seed=3), reals(7, low=0.6, high=2.1, seed=4)


def _with_gap(x):
    x = x * 1.0
    x[2] = np.nan
    return pd.Series(x)


for name in "sum mean var std sem prod min max first last median".split():
    case(
        f"pandas.core.groupby.DataFrameGroupBy.{name}",
        U,
        V,
        call=lambda x, y, n=name: getattr(
            pd.DataFrame({"x": x, "y": x * y}).groupby(GROUPS), n
        )().to_numpy(),
    )
for name, of_groups in {
    "sum": lambda groups: groups.sum(min_count=3),
    "mean": lambda groups: groups.mean(skipna=False),
    "std": lambda groups: groups.std(ddof=0),
    "agg": lambda groups: groups.agg(["min", "mean"]).sum(axis=1),
    "transform": lambda groups: groups.transform("mean"),
    "apply": lambda groups: groups.apply(lambda s: (s**2).sum()),
    "shift": lambda groups: groups.shift(1),
    "cumsum": lambda groups: groups.cumsum() * groups.cumsum(skipna=False),
}.items():
    case(
        f"pandas.core.groupby.SeriesGroupBy.{name}",
        U,
        call=lambda x, f=of_groups: f(_with_gap(x).groupby(GROUPS)).fillna(0.0).to_numpy(),
    )


def _masked(x):
    return pd.Series(pd.array(_with_gap(x), dtype="Float64"))


for name in "cumsum cumprod cummax cummin".split():
    for of_rows in (_with_gap, _masked):
        case(
            f"pandas.core.groupby.SeriesGroupBy.{name}",
            U,
            call=lambda x, n=name, rows=of_rows: sum(
                getattr(rows(x * x).groupby(GROUPS), n)(skipna=skipna).fillna(0.0).to_numpy(float)
                for skipna in (True, False)
            ),
        )
    case(
        f"pandas.core.groupby.DataFrameGroupBy.{name}",
        U,
        V,
        call=lambda x, y, n=name: (
            getattr(
                pd.DataFrame({"x": _with_gap(x), "y": x - y}).groupby(np.array(GROUPS, object)), n
            )()
            .fillna(0.0)
            .to_numpy()
        ),
    )
case(  # nothing is divided by what is zero
    "pandas.core.groupby.SeriesGroupBy.cumprod",
    np.array([0.0, 0.7, 1.3, 0.6, 0.0, 0.0, 1.1]),
    call=lambda x: pd.Series(x).groupby([1, 1, 1, 2, 2, 2, 2]).cumprod().to_numpy(),
)
for of_rows in (pd.Series, _with_gap, _masked):
    case(
        "pandas.core.groupby.SeriesGroupBy.ohlc",
        U,
        call=lambda x, rows=of_rows: rows(x * x).groupby(GROUPS).ohlc().to_numpy(float),
    )
    case(
        "pandas.core.groupby.SeriesGroupBy.rank",
        U,
        call=lambda x, rows=of_rows: (
            (rows(x).groupby(GROUPS).rank(pct=True) * rows(x)).fillna(0.0).to_numpy(float)
        ),
    )
for how in ("linear", "lower", "higher", "midpoint", "nearest"):
    case(
        "pandas.core.groupby.SeriesGroupBy.quantile",
        U,
        call=lambda x, how=how: (
            _with_gap(x).groupby(GROUPS).quantile([0.0, 0.3, 0.77, 1.0], how).to_numpy()
        ),
    )
case(
    "pandas.core.groupby.DataFrameGroupBy.quantile",
    U,
    call=lambda x: (
        pd.DataFrame({"a": x, "b": x[::-1] ** 2}).groupby(list("abaabab")).quantile(0.4).to_numpy()
    ),
)
for name, of_windows in {
    "sum": lambda x: x.rolling(3).sum(),
    "mean": lambda x: x.rolling(3, center=True, min_periods=1).mean(),
    "var": lambda x: (x + 1e5).rolling(3).var(),
    "std": lambda x: x.rolling(3, min_periods=2).std(ddof=0),
    "sem": lambda x: x.rolling(4).sem(),
    "median": lambda x: x.rolling(4).median() + x.rolling(3, min_periods=1).median(),
    "quantile": lambda x: sum(
        x.rolling(4, min_periods=2).quantile(0.4, interpolation=how)
        for how in ("linear", "lower", "higher", "midpoint", "nearest")
    ),
    "skew": lambda x: (x + 1e2).rolling(4).skew() + x.rolling(3).skew(),
    "kurt": lambda x: (x * x).rolling(5).kurt() + x.rolling(4).kurt(),
    "rank": lambda x: x.rolling(3).rank() * x,
    "max": lambda x: x.rolling(3).max() * x.rolling(2, min_periods=1).min(),
    "apply": lambda x: (
        x.rolling(3, min_periods=2).apply(lambda w: (w**2).sum())
        + x.rolling(3).apply(lambda w, a: a * w[0] * w[-1], True, args=(2.0,))
    ),
}.items():
    case(
        f"pandas.api.typing.Rolling.{name}",
        U,
        call=lambda x, f=of_windows: (
            f(pd.Series(x)).fillna(0.0) + f(_with_gap(x)).fillna(0.0)
        ).to_numpy(),
    )
for name, of_weighted in {
    "sum": lambda x: x.rolling(3, win_type="triang").sum(),
    "mean": lambda x: x.rolling(4, win_type="hamming", center=True, min_periods=2).mean(),
    "var": lambda x: x.rolling(4, win_type="hamming", min_periods=2).var(),
    "std": lambda x: x.rolling(3, win_type="boxcar").std(ddof=0),
}.items():
    case(
        f"pandas.api.typing.Window.{name}",
        U,
        call=lambda x, f=of_weighted: (
            f(pd.Series(x)).fillna(0.0) + f(_with_gap(x)).fillna(0.0)
        ).to_numpy(),
    )
for name in ("sum", "mean", "var"):
    case(
        f"pandas.api.typing.Window.{name}",
        U,
        1.3,
        call=lambda x, std, n=name: (
            getattr(pd.Series(x).rolling(4, win_type="gaussian"), n)(std=std).fillna(0.0).to_numpy()
        ),
    )
DAYS = pd.to_datetime(["2020-01-01", "2020-01-03", "2020-01-10", "2020-01-15", "2020-01-17"])
for name, of_fading in (
    ("mean", lambda x: x.ewm(com=0.7).mean()),
    ("mean", lambda x: x.ewm(span=3, adjust=False, min_periods=2).mean()),
    ("mean", lambda x: x.ewm(alpha=0.4, ignore_na=True).mean()),
    ("mean", lambda x: x[:5].ewm(halflife="2D", times=DAYS).mean()),
    ("mean", lambda x: x[:5].ewm(halflife="2D", times=DAYS, adjust=False).mean()),
    ("sum", lambda x: x.ewm(com=0.7).sum()),
    ("var", lambda x: x.ewm(com=0.7).var() + x.ewm(com=1.5, adjust=False).var(bias=True)),
    ("std", lambda x: x.ewm(alpha=0.4, ignore_na=True).std()),
    ("cov", lambda x: x.ewm(com=0.7).cov(pd.Series(U * x**2))),
    ("corr", lambda x: x.ewm(com=0.7, min_periods=3).corr(pd.Series(U + x**2))),
):
    case(
        f"pandas.api.typing.ExponentialMovingWindow.{name}",
        U,
        call=lambda x, f=of_fading: (
            f(pd.Series(x)).fillna(0.0) + f(_with_gap(x)).fillna(0.0)
        ).to_numpy(),
    )
case(
    "pandas.api.typing.ExponentialMovingWindow.mean",
    0.4,
    call=lambda alpha: pd.Series(U).ewm(alpha=alpha).mean().to_numpy(),
)
for name in ("skew", "kurt"):
    case(
        f"pandas.DataFrame.{name}",
        U,
        V,
        call=lambda x, y, n=name: np.concatenate(
            [
                getattr(pd.DataFrame({"x": _with_gap(x), "y": y, "xy": x * y}), n)().to_numpy(),
                getattr(pd.DataFrame({i: U * x + i * y for i in range(5)}), n)(axis=1).to_numpy(),
                [getattr(pd.Series(x), n)()],
            ]
        ),
    )
    case(
        f"pandas.core.groupby.SeriesGroupBy.{name}",
        U,
        V,
        call=lambda x, y, n=name: getattr(
            pd.Series(np.concatenate([x, y * x])).groupby(GROUPS * 2), n
        )().to_numpy(),
    )
case("pandas.Series.rank", U, call=lambda x: (pd.Series(x).rank() * x).to_numpy())
case(
    "pandas.api.typing.Expanding.mean",
    U,
    call=lambda x: pd.Series(x).expanding(2).mean().fillna(0.0).to_numpy(),
)
for periods in (1, -2, 9):
    case(
        "pandas.Series.diff",
        U,
        call=lambda x, n=periods: pd.Series(x).diff(n).fillna(0.0).to_numpy(),
    )
case(
    "pandas.DataFrame.diff",
    U,
    call=lambda x: pd.DataFrame({"x": x, "y": x * x}).diff(axis=1)["y"].to_numpy(),
)


for name, options in (("corr", {}), ("corr", {"min_periods": 6}), ("cov", {})):
    case(
        f"pandas.DataFrame.{name}",
        U,
        V,
        call=lambda x, y, n=name, o=options: getattr(
            pd.DataFrame({"x": _with_gap(x), "y": y + 1e3, "xy": x * y}), n
        )(**o).to_numpy(),
    )


def _written_array(x):
    array = pd.Series(x * 1.0).array
    before = array * array
    array[1] = x[0] ** 2
    return np.asarray(array * before)


for name, of_array in {
    "__add__": lambda a: a * a + 2.0 * a,
    "take": lambda a: a.take([1, 0, 3]),
    "copy": lambda a: a.copy()[1:3] * a[0],
    "reshape": lambda a: a[:6].reshape(2, 3).T.ravel().repeat(2).delete(0),
    "std": lambda a: a.std() + a.mean() * a.max(),
    "_concat_same_type": lambda a: type(a)._concat_same_type([a, a * 2.0]),
    "_simple_new": lambda a: type(a)._simple_new(np.asarray(a) * 2.0, a.dtype),
    "__array_ufunc__": np.exp,
}.items():
    case(
        f"pandas.arrays.NumpyExtensionArray.{name}",
        U,
        call=lambda x, f=of_array: np.asarray(f(pd.Series(x).array)) ** 2,
    )
case("pandas.arrays.NumpyExtensionArray.__setitem__", U, call=_written_array)
