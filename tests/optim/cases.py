"""Optimizers and schedules as functions of the library that they come from, optax or `ad.optim`."""

import numpy as np


def by_int(schedule):
    """The schedule in double precision: optax divides its counter in single precision."""
    return lambda count: schedule(int(count))


OPTIMIZERS = {
    "sgd": lambda o: o.sgd(0.1),
    "momentum": lambda o: o.sgd(0.1, momentum=0.9),
    "nesterov": lambda o: o.sgd(0.1, momentum=0.8, nesterov=True),
    "adam": lambda o: o.adam(0.05),
    "adam with options": lambda o: o.adam(0.05, b1=0.7, b2=0.9, eps=1e-3, eps_root=1e-2),
    "nadam": lambda o: o.adam(0.05, nesterov=True),
    "adamw": lambda o: o.adamw(0.05, weight_decay=0.1),
    "nadamw": lambda o: o.adamw(0.05, 0.8, 0.95, 1e-6, weight_decay=0.01, nesterov=True),
    "rmsprop": lambda o: o.rmsprop(0.05),
    "rmsprop with options": lambda o: o.rmsprop(
        0.05, decay=0.7, eps=1e-2, initial_scale=1.0, eps_in_sqrt=False
    ),
    "centered": lambda o: o.rmsprop(0.05, centered=True, eps=1e-2),
    "centered, corrected": lambda o: o.rmsprop(0.05, centered=True, eps=1e-2, bias_correction=True),
    "rmsprop, corrected": lambda o: o.rmsprop(0.05, bias_correction=True),
    "rmsprop with momentum": lambda o: o.rmsprop(0.05, momentum=0.9),
    "rmsprop, nesterov": lambda o: o.rmsprop(0.05, momentum=0.5, nesterov=True),
    "clip": lambda o: o.chain(o.clip(0.3), o.sgd(0.1)),
    "clip by norm": lambda o: o.chain(o.clip_by_global_norm(0.9), o.sgd(0.1, momentum=0.5)),
    "chain of three": lambda o: o.chain(o.clip_by_global_norm(2.0), o.clip(0.4), o.adam(0.05)),
    "scheduled adam": lambda o: o.adam(by_int(o.exponential_decay(0.1, 2, 0.5))),
    "scheduled sgd": lambda o: o.sgd(
        by_int(o.warmup_cosine_decay_schedule(0.0, 0.2, 2, 5)), momentum=0.5
    ),
}

SCHEDULES = {
    "constant": lambda o: o.constant_schedule(0.3),
    "exponential": lambda o: o.exponential_decay(0.5, 3, 0.6),
    "exponential stairs": lambda o: o.exponential_decay(0.5, 3, 0.6, 2, True),
    "exponential, lower end": lambda o: o.exponential_decay(0.5, 3, 0.6, end_value=0.2),
    "exponential, upper end": lambda o: o.exponential_decay(0.5, 3, 1.6, end_value=0.9),
    "cosine": lambda o: o.cosine_decay_schedule(0.5, 7),
    "cosine with options": lambda o: o.cosine_decay_schedule(0.5, 7, alpha=0.1, exponent=1.5),
    "warm-up": lambda o: o.warmup_cosine_decay_schedule(0.1, 0.7, 3, 9),
    "warm-up with options": lambda o: o.warmup_cosine_decay_schedule(0.1, 0.7, 3, 9, 0.05, 2.0),
    "no warm-up": lambda o: o.warmup_cosine_decay_schedule(0.1, 0.7, 0, 9),
    "piecewise": lambda o: o.piecewise_constant_schedule(0.5, {6: 0.1, 3: 0.5}),
    "one piece": lambda o: o.piecewise_constant_schedule(0.5),
}

COUNTS = range(12)
STEPS = 6


def start(dtype=np.float64):
    return {"w": np.array([0.5, -1.0, 2.0], dtype), "b": np.array(1.5, dtype)}


def bars_at(step, dtype=np.float64):
    """A gradient that does not depend on the parameters, with an element that is always zero."""
    w = np.cos(np.array([1.0, 2.0, 0.0]) * step + 0.3) * np.array([1.0, 5.0, 0.0])
    return {"w": w.astype(dtype), "b": np.array(np.sin(step + 1.0), dtype)}


def trajectory(opt, apply_updates, dtype=np.float64, convert=lambda tree: tree):
    """The parameters after each step, as rows (w, b)."""
    params = convert(start(dtype))
    state = opt.init(params)
    rows = []
    for step in range(STEPS):
        updates, state = opt.update(convert(bars_at(step, dtype)), state, params)
        params = apply_updates(params, updates)
        rows.append([*np.asarray(params["w"]), params["b"]])
    return np.array(rows)
