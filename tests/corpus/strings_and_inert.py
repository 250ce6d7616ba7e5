"""Code without derivative that must not get in the way: printing, logging, random numbers."""

import io
import json
import logging
import random
import time
import warnings

import numpy as np

from tests.corpus.registry import case

log = logging.getLogger(__name__)
log.addHandler(logging.NullHandler())


@case(1.3)
def printed(x):
    out = io.StringIO()
    print("x =", x, file=out)
    print(x * 2, [x, {"a": x}], sep=";", end="", file=out)
    return x * x + (1.0 if "x = 1.3" in out.getvalue() else 1.0)


@case(1.3)
def formatted(x):
    name = f"{x:.3f} {x!r:>10} {'a' if x > 1 else 'b'} {x * 2 = }"
    other = "%.2f" % x + "{:.1f}".format(x) + str(x) + repr([x])
    return x * x if name and other else 0.0


@case(1.3)
def logged(x):
    log.info("value %s", x)
    log.debug("value %s", {"x": x})
    return x * 3


@case(np.array([1.3, 0.2]))
def array_in_messages(x):
    text = f"{x}" + str(x.shape) + repr(x)
    log.warning("%s", x.mean())
    return x.sum() * (len(text) > 0)


@case(1.3)
def hashed_and_compared(x):
    table = {x: "found"}
    return x * 2 if table.get(x) == "found" and hash(x) == hash(1.0 * x) and id(x) else 0.0


@case(1.3)
def seeded_random_numbers(x):
    rng = np.random.default_rng(3)
    pick = random.Random(4)
    noise = rng.normal(size=3)
    return np.sum(noise * x) * pick.random() + x * pick.choice([1.0, 2.0])


@case(1.3)
def clock(x):
    started = time.perf_counter()
    y = x * x
    elapsed = time.perf_counter() - started
    return y if elapsed >= 0 else -y


@case(1.3)
def warned(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn(f"x is {x}", stacklevel=1)
    return x * 4


@case(1.3)
def string_building(x):
    words = []
    for k in range(3):
        words.append("ab"[k % 2] * k)
    text = "-".join(words).upper().replace("B", "bb")
    return x * text.count("b") + x * x * len(text.split("-"))


@case(1.3)
def type_checks(x):
    if isinstance(x, (int, float)) and type(x) is float and callable(abs) and hasattr(x, "real"):
        return x * len(type(x).__name__)
    return 0.0


@case(1.3)
def parsed_constants(x):
    settings = json.loads('{"rate": 0.5, "names": ["a", "b"]}')
    return x * settings["rate"] + x * x * len(settings["names"])


@case({"name": "model", "rate": 0.5, "size": 3, "flags": [True, None]})
def mixed_content(d):
    return d["rate"] * d["size"] if d["name"].startswith("mod") and d["flags"][0] else 0.0
