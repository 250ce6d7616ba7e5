"""Code without derivative that must not get in the way: printing, logging, random numbers."""

import collections
import io
import json
import logging
import random
import string
import time
import warnings

import numpy as np

from tests.corpus.registry import case, refused

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


class Template(str):
    pass


@case(np.array([1.3, 0.7]))
def numbers_of_numpy_in_text(x):
    """The text says what ``%`` does, whatever stands to its right."""
    said = "%.1f" % x[0] + " %.2f" % x.sum() + " %10.1s" % x + " %.1f %.1f" % (x[0], x[1])
    said += Template(" %.1f") % x[0] + (b" %d" % x[0]).decode()
    said %= ()
    raw = bytearray(b"%d") % x[0]
    return x[0] * x[1] * len(said) * len(raw)


LABELS = np.array(["b", "a", "b"])
SPANS = np.array([3, 1, 2], "m8[s]")


@case(np.array([1.3, 0.7, 0.4]))
def labels_in_order(x):
    names = LABELS.copy()
    names.sort()
    spans = SPANS.copy()
    spans.partition(1)
    total = sum((k + 1) * x[LABELS == name].prod() for k, name in enumerate(np.unique(LABELS)))
    total += len(np.union1d(names, LABELS[:1])) * len(np.setdiff1d(LABELS, ["a"])) * x[0] ** 2
    return total * (np.median(SPANS) / np.timedelta64(1, "s")) * np.sort(SPANS)[0].astype(float)


@case(np.array([1.3, 0.7, 0.4]))
def masked_array_printed(x):
    held = np.ma.array(x, mask=[0, 1, 0])
    said = f"{held}" + str(np.ma.array([1.0], mask=[1])) + repr(held)
    kept = np.asarray({"a": x[1]})  # an array of one object
    return x[0] ** 2 * said.count("--") + x[2] * kept.size


# ---- what is looked up in objects, to make text of it
@refused(1.3)
def missing_entry_made_for_a_text(x):
    made = collections.defaultdict(lambda: x * x)
    "%(percent)s" % made
    "{0[field]} {named[field_by_name]}".format(made, named=made)
    "{mapped}".format_map(made)
    string.Template("$template").substitute(made)
    return sum(made.values()) * len(made)


@refused(1.3)
def missing_entry_made_for_a_text_far_inside(x):
    class Holder:
        def __init__(self):
            self.made = collections.defaultdict(lambda: [x])

    holder = Holder()
    many = [(i,) for i in range(500)]
    "{many} {0.made[key][0]:{1[width]}}".format(holder, {"width": 5}, many=many)
    holder.made["key"].append(x * x)
    return sum(holder.made["key"])


@refused(1.3)
def state_of_what_makes_missing_entries(x):
    state = [x]

    def make():
        state[0] *= x
        return state[0]

    made = collections.defaultdict(make)
    "%(a)s %(b)s" % made
    rest = [x, x * x]
    "{a}".format_map(collections.defaultdict(rest.pop))
    return state[0] * made["a"] * len(rest)


@refused(1.3)
def missing_entry_made_by_a_method(x):
    class Counted(collections.Counter):
        def __missing__(self, key):
            self[key] = x * x
            return 1

    class Ordered(collections.OrderedDict):
        def __missing__(self, key):
            self[key] = x
            return 1

    counted, ordered = Counted(), Ordered()
    "%(a)s" % counted
    "{b}".format_map(ordered)
    "{0[c]} {1[c]}".format(counted, ordered)
    return counted["a"] * ordered["b"] * counted["c"] * ordered["c"]


@case(1.3)
def attribute_computed_for_a_text(x):
    class Seen:
        @property
        def rate(self):
            self.asked = x * x
            return 2.0

        def __getitem__(self, key):
            self.found = x * len(key)
            return self

    seen = Seen()
    "{0.rate:.1f} {0[key].rate}".format(seen)
    return seen.asked * seen.found


@case(1.3)
def text_of_parts(x):
    class Shown:
        def __init__(self, value):
            self.value = value

        def __repr__(self):
            return "Shown"

    text = "{0.__class__.__name__} {0!r:>7} {1[0]} {1[1][k]:.1f} {named[0]:{0.value}}".format(
        Shown(4), [1, {"k": 3.0}], named=np.array([1.5])
    )
    text += "%(a)s %(b)5.2f" % collections.OrderedDict(a=[1], b=2)
    for wrong in ("{0[a]}", "{0[7]}", "{0.missing}", "{0[}"):
        try:
            text += wrong.format([1])
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            text += f"{type(error).__name__}: {error}"
    return x * sum(map(ord, text))
