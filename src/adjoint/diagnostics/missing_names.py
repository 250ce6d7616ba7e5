"""What to write in place of names that other libraries have."""

from __future__ import annotations

import sys

_NO_WRAPPER = "functions are plain Python and NumPy: write import numpy as np, and use np"
_NO_TAPE = "there is no tape: ad.gradient(f, x) and ad.grad(f)(x) take a plain function"
_NO_ZERO_TYPE = (
    "in what back(y_bar) returns, None is a zero; ad.gradient gives numbers and arrays of zeros,"
    " and None for what has no derivative"
)
_INACTIVE = "ad.non_differentiable(f) declares that a function has derivative zero"
_PARAMETERS = (
    "an object is an argument like any other: ad.gradient(loss, model) has a field for each of its"
    " attributes; ad.nn.parameters(model) lists its arrays"
)
_BY_DEFAULT = "functions are read and specialised when they are first differentiated: leave it out"
_OPTIMIZERS = (
    "ad.optim has adam, sgd and others in the form of optax; ad.nn.gradient_descent trains a model;"
    " scipy.optimize.minimize(f, x, jac=ad.grad(f)) takes the gradient"
)

HINTS = {
    # JAX and autograd
    **dict.fromkeys(("jit", "compile", "make_jaxpr"), _BY_DEFAULT + "; ad.code shows the result"),
    **dict.fromkeys(("jnp", "numpy", "np", "scipy", "lax"), _NO_WRAPPER),
    **dict.fromkeys(("optimizers", "optax", "Adam", "SGD"), _OPTIMIZERS),
    "pmap": "ad.vmap maps a function over rows; processes of concurrent.futures share work",
    "custom_vjp": "write @ad.custom above the function, and @f.reverse above its rule",
    "custom_jvp": "write @ad.custom above the function, and @f.forward above its rule",
    "custom_gradient": "write @ad.custom above the function, and @f.reverse above its rule",
    "primitive": "write @ad.custom above a function, or @ad.rrule.register(f) above a rule",
    "defvjp": "write @ad.rrule.register(f) above a rule, or ad.scalar_rule(f, slope)",
    "defjvp": "write @ad.frule.register(f) above a rule, or ad.scalar_rule(f, slope)",
    "elementwise_grad": "ad.derivative(f)(x) of an array is taken element by element",
    "egrad": "ad.derivative(f)(x) of an array is taken element by element",
    "make_vjp": "ad.vjp(f, x) returns the value and the function of cotangents",
    "make_jvp": "ad.jvp(f, (x,), (x_dot,)), or ad.linearize(f, x)",
    "value_and_gradient": "it is called ad.withgradient(f, x), or ad.value_and_grad(f)(x)",
    "hessian_vector_product": "it is called ad.hvp(f, x, v)",
    "remat": "it is called ad.checkpoint",
    "check_grads": "it is called ad.testing.check_gradient",
    # PyTorch and TensorFlow
    **dict.fromkeys(
        ("Tensor", "tensor", "Variable", "Function", "GradientTape", "Node"),
        "arrays are those of NumPy, without a wrapper, and " + _NO_TAPE,
    ),
    **dict.fromkeys(("backward", "tape", "record"), _NO_TAPE),
    **dict.fromkeys(
        ("no_grad", "enable_grad", "inference_mode"),
        "code outside ad.gradient and its kin is never differentiated; inside, ad.stop_gradient(x)"
        " makes a value a constant",
    ),
    "detach": "ad.stop_gradient(x) makes a value a constant",
    "requires_grad": "every positional argument is differentiated; argnums chooses some",
    "func": "ad.grad, ad.vjp, ad.jvp, ad.vmap are names of the package itself",
    # Zygote, ChainRules, Flux
    **dict.fromkeys(("NoTangent", "ZeroTangent", "NotImplemented", "Zero"), _NO_ZERO_TYPE),
    **dict.fromkeys(("ignore_derivatives", "ignore", "dropgrad"), "use ad.stop_gradient(x)"),
    **dict.fromkeys(("checkpointed", "forwarddiff"), "use ad.checkpoint(f)"),
    **dict.fromkeys(("Params", "params", "trainable"), _PARAMETERS),
    **dict.fromkeys(("nograd", "non_differentiable_rule", "inactive"), _INACTIVE),
    "adjoint": "write @ad.rrule.register(f) above a rule",
    "pullback_for_default": "it is called ad.pullback(f, x)",
    "withjacobian": "it is called ad.value_and_jacobian(f, x)",
    "diaghessian": "it is called ad.hessian_diagonal(f, x)",
    "Thunk": "a rule registered by ad.scalar_rule computes only the cotangents that are needed",
    "unthunk": "cotangents are plain numbers, arrays and structures",
    "ProjectTo": "cotangents that a rule returns are projected to the shape and type of the"
    " argument",
    "NotImplementedCotangent": 'it is called ad.not_implemented("why")',
}
"""A sentence for each name."""


def missing_name(name: str) -> AttributeError:
    """Return the error for a name that the package does not have; Python adds the nearest one."""
    hint = HINTS.get(name)
    text = f"module 'adjoint' has no attribute {name!r}"
    if hint is not None:
        return AttributeError(f"{text}\nhint: {hint}", name=name)
    return AttributeError(text, name=name, obj=sys.modules["adjoint"])
