"""Functions that make objects of libraries, use them, and take numbers out of them."""

import numpy as np
import pandas as pd
from astropy import units
from sklearn import preprocessing

SCALE = pd.Series([0.3, 1.2, 0.7, 1.9, 0.4, 1.1])
STEP = 0.5 * units.m


def of_a_series(x):
    s = pd.Series(np.exp(x))
    return s.mean() * np.sum(x) + s.std()


def of_columns(x):
    d = pd.DataFrame({"a": x, "b": x * x})
    d["c"] = d["a"] * d["b"]
    return (d["c"] - d.mean(axis=1)).to_numpy() @ np.sin(x)


def with_one_from_outside(x):
    return ((SCALE * x).cumsum() / (1.0 + x[0])).sum()


def in_place(x):
    s = pd.Series(x * 1.0)
    before = s * s
    s.iloc[1:3] = x[0]
    s *= 2.0
    s += SCALE
    return (s * before).to_numpy().sum() * before.max()


def item_by_item(x):
    total = 0.0
    for i, value in pd.Series(x).items():
        total = total + (i + 1) * value**2
    return total


def row_by_row(x):
    d = pd.DataFrame({"a": x, "b": np.cos(x)})
    return sum(row.a * row.b for row in d.itertuples())


def in_a_branch(x):
    s = pd.Series(x)
    if (s > 0.2).all():
        return (s**3).sum()
    return s.sum()


def chosen_by_length(x):
    s = pd.Series(x)
    if len(s) > 3 and not s.empty and s.name is None:
        return np.exp(s).prod()
    return s.sum()


def in_a_loop(x):
    total = 0.0
    for i in range(len(x)):
        total = total * 0.5 + pd.Series(x * x[i]).max() * np.sum(np.sin(x) ** i)
    return total


def out_and_in_again(x):
    s = pd.Series(x)
    y = np.sin(s.to_numpy() * s.mean())
    return (s * y + y[0]).diff().dropna().abs().sum()


def of_two_tables(x):
    a, b = pd.DataFrame({"x": x}), pd.DataFrame({"y": x[::-1] ** 2})
    joined = pd.concat([a, b], axis=1)
    return (joined["x"] * joined["y"]).sum() + (a["x"] ** 2).sum()


def of_groups(x):
    d = pd.DataFrame({"x": x, "g": [0, 1, 0, 1, 1, 0]})
    return d.groupby("g")["x"].mean().prod() * d["x"].max()


def with_a_function(x):
    return pd.Series(x).apply(np.sin).sum() + pd.Series(x).map(squared).mean()


def squared(v):
    return v * v


def of_lengths(x):
    q = x * units.m
    return (np.sum(q**2) / STEP).to_value("cm") * np.sort(q)[1].to(units.km).value


def of_scaled_rows(x):
    return np.sum(np.sin(preprocessing.StandardScaler().fit_transform(x.reshape(3, 2))) ** 3)


metric = None


def of_a_metric(x):
    return metric(x, x[::-1])


def with_a_dict(x):
    d = pd.DataFrame({"a": x}).to_dict()
    return d["a"][1] * np.sum(np.array(pd.Series(x).tolist()) ** 2)


def of_a_mask(x):
    s = pd.Series(x)
    return (s[s > 0.5] ** 2).sum() + (x[s > 0.7] ** 3).sum()


def of_keywords(x, scale):
    return pd.Series(x).rolling(window=2, min_periods=1).sum().fillna(value=scale).sum() * scale


def written_in_a_branch(x):
    s = pd.Series(x * 1.0)
    if x[0] > 0.4:
        s[1] = x[0] * x[2]
    return (s**2).sum()


def changed_in_a_loop(x):
    s = pd.Series(x * 1.0)
    for i in range(1, len(x)):
        s[i] = s[i - 1] * x[i]
    return s.sum()


# ---- what programs do not do ---------------------------------------------------------------------


def written_while_held(x):
    y = x * 1.0
    s = pd.Series(y, copy=False)
    y[0] = y[1] * 3.0
    return (s * SCALE).sum()


def written_through_an_object(x):
    y = x * 1.0
    s = pd.Series(y, copy=False)
    s[0] = x[1] ** 2
    return np.sum(y * y)


def shown_and_written(x):
    s = pd.Series(x * 1.0)
    y = s.values
    s[0] = x[1] ** 2
    return np.sum(y * y)


def list_written_while_held(x):
    parts = [x[0], x[1]]
    s = pd.Series(parts, dtype=float)
    parts[0] = x[2]
    return s.sum() * parts[0]


def drawn(x):
    return pd.Series(x).sample(3).sum()


def joined_and_written(x):
    s = pd.Series(x * 1.0)
    y = s.to_numpy()
    t = pd.Series(x) + s
    s[0] = x[1] ** 2
    return np.sum(y * y) + t.sum()


def of_no_time(x):
    times = pd.Series(pd.to_datetime([None]))
    return pd.Series(x).sum() * (2.0 if times[0] is pd.NaT else 3.0)


CALLED = []


def noting(v):
    CALLED.append(0)
    return v * v


def with_a_function_that_stores(x):
    return pd.Series(x).apply(noting).sum()


KEPT = []


def kept_outside(x):
    s = pd.Series(x) * 2.0
    KEPT.append(s)
    return s.sum()


TABLE = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})


def written_outside(x):
    TABLE["b"] = x[::-1] ** 2
    return (TABLE["a"] * TABLE["b"]).sum()
