"""pandas: what is missing and filled, masked arrays, tables of rows and records, pairs of windows,
parts of times."""

import numpy as np
import pandas as pd

from tests.library.registry import case, reals

U = reals(8, low=0.5, high=2.0, seed=5)
DAYS = pd.date_range("2020-01-01", periods=8, freq="D")
PAIRS = pd.MultiIndex.from_product([list("ab"), list("wxyz")])


def _with_gaps(x):
    x = x * 1.0
    x[[2, 3, 6]] = np.nan
    return pd.Series(x)


def _masked(x):
    return pd.Series(pd.array(_with_gaps(x), dtype="Float64"))


def _table(x):
    return pd.DataFrame({"a": _with_gaps(x), "b": _with_gaps(x * x)[::-1].to_numpy()})


def _numbers(found):
    """What is still missing counts as zero."""
    return found.astype(float).fillna(0.0).to_numpy(float)


def _in_place(s, *args, **kwargs):
    before = (s * s).fillna(1.5)
    s.fillna(*args, inplace=True, **kwargs)
    return s * before


for name, filled in {
    "ffill": lambda x: _with_gaps(x).ffill() + _with_gaps(x).ffill(limit=1).fillna(0.0),
    "bfill": lambda x: _with_gaps(x).bfill(limit_area="inside") * _masked(x).bfill(),
    "fillna": lambda x: (
        _with_gaps(x).fillna(x[0] ** 2, limit=2) + _masked(x).fillna(x[1], limit=1).fillna(0.0)
    ),
    "interpolate": lambda x: _with_gaps(x).interpolate(),
    "shift": lambda x: _masked(x).shift(1) * _masked(x),
    "rank": lambda x: _masked(x).groupby([1, 2] * 4).rank() * _masked(x),
    "map": lambda x: _masked(x).map(lambda v: v * v, na_action="ignore"),
    "apply": lambda x: _masked(x).dropna().apply(lambda v: v**3),
    "explode": lambda x: (
        pd.Series([[x[0], x[1]], [], [x[2]], x[3]]).explode().astype(float).reset_index(drop=True)
    ),
}.items():
    case(f"pandas.Series.{name}", U, call=lambda x, f=filled: _numbers(f(x)))
case("pandas.Series.fillna", U, call=lambda x: _numbers(_in_place(_with_gaps(x), x[3] ** 2)))
case(
    "pandas.Series.fillna",
    U,
    call=lambda x: _numbers(_with_gaps(x).astype(object).fillna(x[0], limit=1)),
)

for name, filled in {
    "ffill": lambda x: _table(x).ffill() * _table(x).ffill(axis=1),
    "bfill": lambda x: _table(x).bfill(limit=1),
    "fillna": lambda x: _table(x).fillna(x[4] ** 2, limit=1) + _table(x).fillna({"a": x[0]}),
    "from_records": lambda x: pd.DataFrame.from_records(
        ((v, v * v) for v in x), columns=["p", "q"]
    ),
    "from_dict": lambda x: pd.DataFrame.from_dict({"r": list(x[:2]), "s": [x[2], 1]}, "index"),
    "explode": lambda x: pd.DataFrame({"a": [[x[0], x[1]], [x[2]]], "b": x[3:5]}).explode("a"),
    "pivot_table": lambda x: pd.DataFrame(
        {"k": list("rsrsrsrs"), "i": [0, 0, 0, 0, 1, 1, 1, 1], "v": x}
    ).pivot_table(index="i", columns="k", values="v", aggfunc="sum", margins=True),
}.items():
    case(f"pandas.DataFrame.{name}", U, call=lambda x, f=filled: _numbers(f(x)))
for of_rows in (
    lambda x: pd.DataFrame([(x[0], x[1], "t"), (x[2], x[3], "u")]).drop(columns=2),
    lambda x: pd.DataFrame([(x[0], x[1]), (x[2],)]),
    lambda x: pd.DataFrame([[x[0], 2], [x[1], x[2] * x[3]]]),
    lambda x: pd.DataFrame([{"a": x[0], "b": x[1]}, {"a": x[2], "c": 1}]),
    lambda x: pd.DataFrame([{"a": x[0], "b": 2}, {"b": x[1]}], columns=["b", "z", "a"]),
    lambda x: pd.DataFrame({"p": {"a": x[0], "b": x[1]}, "q": {"a": x[2] ** 2}}),
):
    case("pandas.DataFrame", U, call=lambda x, f=of_rows: _numbers(f(x)))
case(
    "pandas.Series.unstack",
    U,
    call=lambda x: _numbers(
        pd.Series(x, index=PAIRS).iloc[[0, 2, 3, 5, 6]].unstack(fill_value=0.5)
        * pd.Series(x, index=PAIRS).iloc[[6, 1, 2, 3, 0]].unstack()
    ),
)
case(
    "pandas.DataFrame.unstack",
    U,
    call=lambda x: _numbers(
        pd.DataFrame({"a": x, "b": x * x, "n": 1}, index=PAIRS).iloc[[0, 2, 3, 5]].unstack(0)
    ),
)
case(
    "pandas.to_numeric",
    U,
    call=lambda x: _numbers(
        pd.to_numeric(pd.Series([x[0], "1.5", None, "?", x[1]], dtype=object), errors="coerce")
    ),
)
case(
    "pandas.DataFrame.corr",
    U,
    call=lambda x: _numbers(pd.DataFrame({"a": x, "b": x[::-1]}).corr("spearman") * x[0]),
)

for name, of_pairs in {
    "cov": lambda x, y: x.rolling(4).cov(y, ddof=0) + (x + 1e4).rolling(3, 2).cov(y - 1e4),
    "corr": lambda x, y: x.rolling(4, min_periods=3).corr(y),
    "first": lambda x, y: x.rolling(3, min_periods=1).first() * y,
    "last": lambda x, y: x.shift(1).rolling(3, min_periods=1).last() * y,
    "nunique": lambda x, y: x.rolling(3).nunique() * y,
}.items():
    case(
        f"pandas.api.typing.Rolling.{name}",
        U,
        call=lambda x, f=of_pairs: (
            _numbers(f(pd.Series(x), pd.Series(x[::-1] ** 2)))
            + _numbers(f(_with_gaps(x), pd.Series(x[::-1] ** 2)))
        ),
    )
case(
    "pandas.core.groupby.DataFrameGroupBy.agg",
    U,
    call=lambda x: _numbers(
        pd.DataFrame({"x": x, "w": 1.0, "n": np.arange(8)}).groupby([1, 2] * 4).agg(["sum", "mean"])
        * pd.DataFrame({"x": x, "w": 1.0, "n": 2}).groupby([1, 2] * 4).agg("sum").iloc[0, 0]
    ),
)
case(
    "pandas.Series.loc",
    U,
    call=lambda x: (
        _numbers(pd.Series(x, index=DAYS).loc["2020-01-02":"2020-01-04"])
        * pd.Series(x, index=PAIRS).loc[("b", "x")]
        * pd.Series(x, index=DAYS.to_period()).resample("W").mean().iloc[0]
    ),
)
for name in ("sum", "first"):
    case(
        f"pandas.core.groupby.SeriesGroupBy.{name}",
        U,
        call=lambda x, n=name: _numbers(
            pd.Series([*x[:3], None, 2, x[5], np.nan, x[7]], dtype=object)
            .groupby([1, 2] * 4)
            .agg(n)
        ),
    )
case(
    "pandas.factorize",
    U,
    call=lambda x: (
        pd.factorize(_with_gaps(np.append(x, x)))[1].to_numpy() * pd.Series([*x, *x]).unique()
    ),
)
case(  # by numbers that have derivatives themselves
    "pandas.core.groupby.DataFrameGroupBy.sum",
    U,
    call=lambda x: _numbers(
        pd.DataFrame({"k": x[[0, 1, 1, 2]], "v": x[:4] ** 2}).groupby("k").sum().reset_index()
    ),
)
case(
    "pandas.core.groupby.SeriesGroupBy.first",
    U,
    call=lambda x: (
        pd.Series([x[0] ** 2, "t", True, x[3]], dtype=object).groupby([1, 2] * 2).first()[1] * x
        + pd.Series([x[1], "t", x[2]], dtype=object).groupby([1, 2, 3]).last()[3]
    ),
)
