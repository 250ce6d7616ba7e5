"""Correlations of engineering, in floats, filters, line shapes and money: fluids, ht, lmfit, …"""

import fluids
import ht
import numpy as np
import psychrolib
from filterpy import gh
from filterpy.kalman import KalmanFilter
from lmfit import models

from tests.library.registry import case, reals

X = reals(5, low=0.5, high=2.0)

# ---- fluids, heat transfer -----------------------------------------------------------------------

case("fluids.friction_factor", 1e5, 1e-4)
case("fluids.friction.Colebrook", 1e5, 1e-4)
case("fluids.friction.Clamond", 1e5, 1e-4)
case("fluids.packed_bed.Ergun", 8e-4, 0.4, 1e3, 1e-3, 0.01, 0.5)
case("fluids.drag.drag_sphere", 200.0)
case("fluids.atmosphere.ATMOSPHERE_1976", 5000.0, call=lambda z: fluids.ATMOSPHERE_1976(z).P)
case(
    "fluids.geometry.TANK",
    0.5,
    call=lambda h: fluids.TANK(D=1.2, L=4.0, horizontal=False).V_from_h(h),
)
case("ht.conv_internal.turbulent_Gnielinski", 1e5, 1.2, 0.0185)
case("ht.core.LMTD", 100.0, 60.0, 30.0, 40.2)
case(
    "ht.hx.effectiveness_from_NTU",
    5.0,
    0.7,
    call=lambda n, c: ht.effectiveness_from_NTU(n, c, subtype="counterflow"),
)

# ---- air -----------------------------------------------------------------------------------------

psychrolib.SetUnitSystem(psychrolib.SI)
case("psychrolib.GetSatVapPres", 25.0)
case("psychrolib.GetTDewPointFromRelHum", 25.0, 0.8)
case("psychrolib.GetMoistAirEnthalpy", 25.0, 0.01)

# ---- filters that overwrite their state ----------------------------------------------------------


def _filtered(q, r, measured):
    kalman = KalmanFilter(2, 1)
    kalman.F = np.array([[1.0, 0.1], [0.0, 1.0]])
    kalman.H = np.array([[1.0, 0.0]])
    kalman.Q, kalman.R, kalman.P = np.eye(2) * q, np.eye(1) * r, kalman.P * 10.0
    total = 0.0
    for z in measured:
        kalman.predict()
        kalman.update(z)
        total = total + kalman.log_likelihood
    return total, kalman.x, kalman.P


case("filterpy.kalman.KalmanFilter", 0.1, 0.5, X, call=_filtered)
case(
    "filterpy.gh.GHFilter",
    0.8,
    0.2,
    call=lambda g, h: gh.GHFilter(0.0, 0.0, 1.0, g, h).batch_filter([1.0, 2.0, 2.5]),
)

# ---- line shapes ---------------------------------------------------------------------------------

for name, *parameters in (
    ("gaussian", 1.3, 0.4, 0.9), ("lorentzian", 1.3, 0.4, 0.9), ("voigt", 1.3, 0.4, 0.9, 0.5),
    ("moffat", 1.3, 0.4, 0.9, 1.2), ("pearson7", 1.3, 0.4, 0.9, 1.7),
    ("breit_wigner", 1.3, 0.4, 0.9, 0.7), ("expgaussian", 1.3, 0.4, 0.9, 0.6),
    ("students_t", 1.3, 0.4, 0.9), ("skewed_voigt", 1.3, 0.4, 0.9, 0.5, 0.6),
):  # fmt: skip
    case(f"lmfit.lineshapes.{name}", X, *parameters)
case(
    "lmfit.models.GaussianModel",
    1.3,
    0.4,
    0.9,
    call=lambda a, c, s: models.GaussianModel().eval(x=X, amplitude=a, center=c, sigma=s),
)

# ---- money ---------------------------------------------------------------------------------------

case("numpy_financial.fv", 0.05, 10.0, -100.0, -100.0)
case("numpy_financial.pmt", 0.05, 10.0, 1000.0, 0.0)
case("numpy_financial.irr", np.array([-100.0, 39.0, 59.0, 55.0, 20.0]))
