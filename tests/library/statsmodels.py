"""statsmodels: models that hold their data, results that stand around results, families, links."""

import numpy as np
import statsmodels.api as sm
from statsmodels.discrete import discrete_model
from statsmodels.genmod import families
from statsmodels.genmod.families import links
from statsmodels.robust import norms

from tests.library.registry import case, reals

X = np.column_stack([np.ones(12), reals(12, 2)])
Y = X @ [1.0, 2.0, -1.0] + reals(12, seed=1)
P = reals(12, low=0.5, high=2.0, seed=2)
BINARY = (reals(12, seed=3) > 0).astype(float)
COUNTS = np.floor(reals(12, low=0.0, high=5.0, seed=4))
BETA = np.array([0.3, -0.2, 0.1])
V, W = reals(12, seed=5), reals(12, seed=6)

# ---- likelihoods, with their scores --------------------------------------------------------------

for kind, data in (("Logit", BINARY), ("Probit", BINARY), ("Poisson", COUNTS)):
    model = getattr(discrete_model, kind)(data, X)
    where = f"statsmodels.discrete.discrete_model.{kind}"
    case(f"{where}.loglike", BETA, call=lambda b, m=model: m.loglike(b), derived=model.score)
    case(f"{where}.score", BETA, call=lambda b, m=model: m.score(b))
_negative = discrete_model.NegativeBinomial(COUNTS, X)
case(
    "statsmodels.discrete.discrete_model.NegativeBinomial.loglike",
    np.array([*BETA, 0.4]),
    call=lambda b: _negative.loglike(b),
    derived=_negative.score,
)
_ols = sm.OLS(Y, X)
case("statsmodels.api.OLS.loglike", BETA, call=lambda b: _ols.loglike(b))
for family, data in (
    (families.Gaussian(), Y), (families.Poisson(), COUNTS), (families.Binomial(), BINARY),
    (families.Gamma(link=links.Log()), P), (families.InverseGaussian(link=links.Log()), P),
):  # fmt: skip
    model = sm.GLM(data, X, family=family)
    where = f"statsmodels.genmod.families.{type(family).__name__}"
    case("statsmodels.api.GLM.score", BETA, call=lambda b, m=model: m.score(b))
    case(f"{where}.deviance", P / 3, call=lambda mu, f=family, y=data: f.deviance(y, mu))

# ---- fits ----------------------------------------------------------------------------------------


def _coefficients(y, x):
    fit = sm.OLS(y, x).fit()
    return fit.params, fit.bse, fit.resid


case("statsmodels.api.OLS.fit", Y, X, call=_coefficients)
_factor = reals(12, 12, seed=7)
case(
    "statsmodels.api.GLS.fit",
    Y, X, np.eye(12) + 0.1 * _factor @ _factor.T,
    call=lambda y, x, sigma: sm.GLS(y, x, (sigma + sigma.T) / 2).fit().params,
)  # fmt: skip
case("statsmodels.api.Logit.fit", X, call=lambda x: sm.Logit(BINARY, x).fit(disp=0).params)

# ---- links, norms, measures ----------------------------------------------------------------------

for name in ("Logit", "Probit", "Log", "CLogLog", "InversePower", "Sqrt"):
    where = f"statsmodels.genmod.families.links.{name}"
    link = getattr(links, name)()
    case(f"{where}.__call__", P / 3, call=lambda p, link=link: link(p))
    case(f"{where}.inverse", P / 3, call=lambda p, link=link: link.inverse(p))
for name in ("HuberT", "TukeyBiweight", "AndrewWave"):
    norm = getattr(norms, name)()
    case(f"statsmodels.robust.norms.{name}.rho", V, call=lambda v, norm=norm: norm.rho(v))
for name in ("mse", "rmse", "meanabs", "bias", "stde"):
    case(f"statsmodels.tools.eval_measures.{name}", V, W)
case("statsmodels.stats.stattools.durbin_watson", V)
case("statsmodels.robust.scale.mad", V)
case("statsmodels.tsa.stattools.acovf", V, fft=False)
