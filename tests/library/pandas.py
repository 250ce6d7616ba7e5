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
