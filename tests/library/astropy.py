"""astropy: models whose `__call__` is written at run time, robust statistics, cosmology, units."""

import numpy as np
from astropy import cosmology, units
from astropy.coordinates import Angle
from astropy.modeling import fitting, models
from astropy.table import Column, Table

from tests.library.registry import case, reals, weighted, weights

X = reals(5, low=0.5, high=2.0)
V = reals(8, seed=1)

for name, *parameters in (
    ("Gaussian1D", 1.3, 0.4, 0.9), ("Lorentz1D", 1.3, 0.4, 0.9), ("Moffat1D", 1.3, 0.4, 0.9, 1.7),
    ("Sine1D", 1.3, 0.4, 0.3), ("PowerLaw1D", 1.3, 0.4, 1.9), ("Exponential1D", 1.2, 0.8),
    ("ExponentialCutoffPowerLaw1D", 1.3, 0.4, 0.9, 1.2), ("LogParabola1D", 1.3, 0.4, 0.9, 0.2),
    ("SmoothlyBrokenPowerLaw1D", 1.3, 0.8, 1.1, 2.1, 0.4), ("Plummer1D", 1.2, 0.8),
):  # fmt: skip
    kind = getattr(models, name)

    def _evaluated(*parameters, kind=kind):
        return weighted(kind.evaluate(X, *parameters))

    def _derived(*parameters, kind=kind):
        return [np.sum(part * weights(X)) for part in kind.fit_deriv(X, *parameters)]

    case(f"astropy.modeling.models.{name}.evaluate", *parameters, call=_evaluated, derived=_derived)
    case(f"astropy.modeling.models.{name}", *parameters, call=lambda *p, kind=kind: kind(*p)(X))
case("astropy.modeling.models.Voigt1D", 0.4, 1.3, 0.9, 0.7, call=lambda *p: models.Voigt1D(*p)(X))
case(
    "astropy.modeling.models.Gaussian2D",
    1.3,
    0.4,
    0.9,
    1.1,
    1.2,
    0.3,
    call=lambda *p: models.Gaussian2D(*p)(X, X[::-1]),
)
case(
    "astropy.modeling.models.Shift",
    1.3,
    0.4,
    call=lambda a, b: (models.Shift(a) | models.Gaussian1D(b, 0.4, 0.9) + models.Linear1D(a))(X),
)

for name in ("biweight_location", "biweight_scale", "mad_std", "circmean", "circvar"):
    case(f"astropy.stats.{name}", X)
case("astropy.stats.sigma_clipped_stats", V)
case("astropy.coordinates.angular_separation", 0.1, 0.2, 0.4, 0.5)
case("astropy.coordinates.Angle.to", 31.0, call=lambda a: Angle(a, units.deg).rad ** 2)
case("astropy.coordinates.Angle", X, call=lambda a: np.sin(Angle(a, "hourangle")).value)

_flat = cosmology.FlatLambdaCDM(70.0, 0.3, Tcmb0=2.7)
_curved = cosmology.LambdaCDM(70.0, 0.3, 0.65)
case("astropy.cosmology.FlatLambdaCDM.efunc", X, call=lambda z: _flat.efunc(z))
case("astropy.cosmology.LambdaCDM.Om", X, call=lambda z: _curved.Om(z))
case("astropy.units.Quantity.to", 1.5, call=lambda a: (a * units.m).to(units.km).value)
case(
    "astropy.units.Quantity.to_value",
    1.5,
    call=lambda a: np.sqrt((a * units.m) ** 2 + (30 * units.cm - a * units.mm) ** 2).to_value("m"),
)

for name, of_lengths in {
    "sum": lambda q: np.sum(q),
    "mean": lambda q: np.mean(q**2),
    "std": lambda q: np.std(q),
    "dot": lambda q: np.dot(q, q * units.s),
    "concatenate": lambda q: (np.concatenate([q, q.to(units.km)]) ** 2).sum(),
    "stack": lambda q: (np.stack([q, 2 * q]) ** 2).sum(),
    "hstack": lambda q: np.hstack([q, q])[2] * q[1].to(units.km) + q[0] ** 2,
    "where": lambda q: (np.where(q > 1 * units.m, q, q * q / units.m) ** 2).sum(),
    "trapezoid": lambda q: np.trapezoid(q**2, X * units.s),
    "sort": lambda q: (np.sort(q) * weights(X)).sum(),
    "cumsum": lambda q: (np.cumsum(q) ** 2).sum(),
    "median": lambda q: np.median(q),
    "clip": lambda q: np.clip(q, 60 * units.cm, 1.9 * units.m).sum(),
    "linalg.norm": lambda q: np.linalg.norm(q),
    "interp": lambda q: np.interp(1.5 * units.s, np.arange(5) * units.s, q),
    "einsum": lambda q: np.einsum("i,i->", q, q),
    "asarray": lambda q: np.asarray(q[1] * q[2], dtype=float).sum() * q[0],
    "divmod": lambda q: (np.divmod(q, 0.7 * units.m)[1] + divmod(q, 50 * units.cm)[1]).sum(),
}.items():
    case(f"numpy.{name}", X, call=lambda x, f=of_lengths: f(x * units.m).value)
case(
    "astropy.modeling.models.BlackBody.evaluate",
    5.0,
    call=lambda t: models.BlackBody(temperature=t * 1000 * units.K)(X * units.um).value * 1e6,
)
case(
    "astropy.modeling.models.Tabular1D",
    X,
    1.3,
    call=lambda table, x: models.Tabular1D(np.arange(5.0), lookup_table=table)(x) ** 2,
)


def of_a_table(x):
    table = Table({"a": x, "b": np.arange(5.0)})
    table["c"] = table["a"] * table["b"]
    return (table["c"] * table["a"]).sum() + table["a"].mean()


case("astropy.table.Table", X, call=of_a_table)
case("astropy.table.Column", X, call=lambda x: (Column(x) * 2).sum() * x[0])


T = np.linspace(-3.0, 3.0, 30)


def fitted(y, fitter):
    """The line of a noisy spectrum; its width is kept positive by a bound."""
    start = models.Gaussian1D(amplitude=1.5, mean=0.1, stddev=1.0)
    found = fitter(start, T, y)
    return found.mean.value * found.stddev.value


for fitter in ("LevMarLSQFitter", "TRFLSQFitter"):
    case(
        f"astropy.modeling.fitting.{fitter}",
        2.0 * np.exp(-0.5 * (T - 0.3) ** 2 / 0.8**2) + 0.01 * np.sin(5 * T),
        call=lambda y, name=fitter: fitted(y, getattr(fitting, name)()),
    )
