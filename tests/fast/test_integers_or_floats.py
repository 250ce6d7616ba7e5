"""Arrays that are of integers or of floats, by a branch or an iteration."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.programs import store as tier
from tests.fast.test_integer_arrays import outcome, outcome_in_the_generic_tier
from tests.structures import difference

C = np.array([0.5, 1.5, -2.0])
COVERED = """
np.sum(q)
np.sum(q**2)
np.sum(q*q)*c
np.sum(q**3)
np.sum(q*C)
np.sum(q/C)
np.sum(C/q)
np.sum(q-c)
np.sum(np.sin(q))
np.sum(np.sqrt(q+7))
np.sum(q**C)
np.sum(C**q)
np.sum(2.0**q)
np.sum(q/2)
np.sum(-q)
""".split("\n")[1:-1]
OTHERS = """
np.dot(q,q)
np.sum(np.concatenate([q,C]))
sum(q**2)
np.sum(q//2)*c
np.sum(2**q)
np.sum(q**-1)
np.sum(q%2)
np.mean(q)*c
np.max(q)
np.sum(np.maximum(q,2))
c if q.dtype == np.int64 else c*c
c if q.dtype.kind == "i" else c*c
q[0]*c
q[0]//2*c
q[1:]@C[1:]
np.sum(np.array(q, float)**2)
np.sum(np.array(q, int)**2)*c
np.sum(np.asarray(q, float)**2)
np.sum(np.zeros_like(q) + 2.5*c)
np.sum(np.full_like(q, 2.5))*c
np.sum(np.ones_like(q)/2)*c
np.sum(q.astype(int))*c
sum(v*v for v in q)
sum(q.tolist())*c
c if isinstance(q.tolist()[0], int) else c*c
c if type(q[0]) is np.int64 else c*c
written(q, c)
np.sum(np.cumsum(q)/3)
np.linalg.norm(q)
np.sum(np.where(q>1, q, c))
q.nbytes*c
np.sum(q.view(float))*c
np.sum(q<<1)*c if q.dtype.kind == "i" else c
""".split("\n")[1:-1]
POINTS = [np.array([1, 2, 3]), np.array([4, -2, 1]), np.array([2**62, 3, 5])]


def written(q, c):
    q = q + 0
    q[0] = 2.5
    q += 1
    return np.sum(q) * c


def functions(text):
    g = eval(f"lambda q, c: {text}", {"np": np, "C": C, "written": written})

    def in_a_loop(c, start):
        q, total = start, 0.0
        for i in range(3):
            total += g(q, c) * (i + 1)
            q = q * c if c > 1.0 else q
        return total + g(q, c)

    def until(c, start):
        q = start
        while np.sum(q) < 40.0:
            if c < 0.0:
                break
            q = q * (1.0 + c)
        return g(q, c) * 1.0

    def by_branch(c, start):
        q = start if c > 1.0 else start * c
        return g(q, c) * 1.0

    return in_a_loop, until, by_branch


@pytest.mark.parametrize("text", COVERED + OTHERS)
def test_both_tiers_agree(text):
    for f in functions(text):
        for start in POINTS:
            for c in (1.5, 0.5, -0.5):
                for way in (
                    lambda c, f=f, start=start: tuple(ad.withgradient(lambda c: f(c, start), c)),
                    lambda c, f=f, start=start: tuple(ad.withgradient(f, c, start)),
                    lambda c, f=f, start=start: ad.pushforward(f, (c, start), (1.0, C)),
                ):
                    found, expected = outcome(way, c), outcome_in_the_generic_tier(way, c)
                    if isinstance(expected, type):
                        assert found is expected
                    else:
                        assert not difference(found, expected, rtol=1e-12), (f, start, c)


@pytest.mark.parametrize("text", COVERED)
def test_arithmetic_is_covered(text):
    for f in functions(text):
        assert outcome(lambda c, f=f: ad.gradient(f, c, POINTS[0]), 1.5) is not None
        assert tier.known(f, GRADIENT).entries, f
