"""Keywords that users choose may have any name, also one of the library's own parameters."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from functools import partial
from types import SimpleNamespace

import pytest

import adjoint as ad

NAMES = "f ev self args name record slot memory level dots y obj argnums with_value".split()


def product(**factors):
    result = 1.0
    for factor in factors.values():
        result = result * factor
    return result


class Fields:
    def __init__(this, **fields):
        this.__dict__.update(fields)

    def scaled(this, **factors):
        return product(**factors) * product(**vars(this))

    def __call__(this, **factors):
        return this.scaled(**factors)


USES = {
    "call": lambda x, name: product(**{name: x, "other": x}),
    "partial": lambda x, name: partial(product, **{name: x})(other=x),
    "called partial": lambda x, name: partial(product, other=x)(**{name: x}),
    "dict": lambda x, name: dict(**{name: x * x})[name],
    "update": lambda x, name: _updated(x, name),
    "OrderedDict": lambda x, name: OrderedDict(**{name: x * x})[name],
    "defaultdict": lambda x, name: defaultdict(float, **{name: x * x})[name],
    "Counter": lambda x, name: Counter(**{name: x * x})[name],
    "namespace": lambda x, name: getattr(SimpleNamespace(**{name: x * x}), name),
    "object": lambda x, name: getattr(Fields(**{name: x * x}), name),
    "method": lambda x, name: Fields(a=x).scaled(**{name: x}),
    "called object": lambda x, name: Fields(a=x)(**{name: x}),
    "text": lambda x, name: x * x if ("{" + name + "}").format(**{name: 1}) else x,
    "checkpoint": lambda x, name: ad.checkpoint(product)(**{name: x, "other": x}),
    "grad": lambda x, name: ad.grad(_of_keywords)(x, **{name: 1.0}) * x / 2.0,
    "gradient": lambda x, name: ad.gradient(_of_keywords, x, **{name: 1.0})[0] * x / 2.0,
}


def _updated(x, name):
    fields = {}
    fields.update(**{name: x * x})
    return fields[name]


def _of_keywords(x, /, **factors):
    return x * x * product(**factors)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("use", USES)
def test_names(use, name):
    if use == "grad" and name == "argnums":
        pytest.skip("an option of the operator")
    f = lambda x: USES[use](x, name)
    for tier in (None, "generic"):
        assert ad.value_and_grad(f, tier=tier)(3.0) == (9.0, 6.0)
    assert ad.pushforward(f, (3.0,), (1.0,)) == (9.0, 6.0)
    assert ad.hvp(f, 3.0, 1.0) == pytest.approx(2.0)
