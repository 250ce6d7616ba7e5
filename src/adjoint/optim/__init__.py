"""Optimizers and learning rates in the form of optax, for any model.

``opt.init(params)`` makes a state, ``opt.update(bars, state, params)`` turns a gradient into
updates, `apply_updates` adds them. Parameters are the floats, complex numbers and arrays of them in
lists, tuples, dicts and objects; integers, text and functions are constants. Nothing is changed in
place. States are tuples of numbers and of arrays by name (``layers.0.W``): they can be pickled,
compared and printed.
"""

from adjoint.optim.chains import chain
from adjoint.optim.optimizer_steps import clip, clip_by_global_norm
from adjoint.optim.optimizers import adam, adamw, rmsprop, sgd
from adjoint.optim.schedules import (
    Schedule,
    constant_schedule,
    cosine_decay_schedule,
    exponential_decay,
    piecewise_constant_schedule,
    warmup_cosine_decay_schedule,
)
from adjoint.optim.transformation import GradientTransformation, apply_updates

__all__ = [
    "GradientTransformation",
    "Schedule",
    "adam",
    "adamw",
    "apply_updates",
    "chain",
    "clip",
    "clip_by_global_norm",
    "constant_schedule",
    "cosine_decay_schedule",
    "exponential_decay",
    "piecewise_constant_schedule",
    "rmsprop",
    "sgd",
    "warmup_cosine_decay_schedule",
]
