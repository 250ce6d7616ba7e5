"""What `inspect` hands on: defaults, arguments, attributes; the state of partial functions."""

import functools
import inspect

from tests.corpus.registry import case


def _made(a):
    def f(p, q=a * a, *rest, k=3.0 * a, **named):
        return p * q * k + sum(rest) + sum(named.values())

    return f


@case(0.7)
def defaults_that_are_applied(x):
    f = _made(x)
    bound = inspect.signature(f).bind(x)
    bound.apply_defaults()
    return f(*bound.args, **bound.kwargs) * bound.arguments["k"]


@case(0.7)
def defaults_of_a_partial(x):
    p = functools.partial(_made(x), x, k=x**2)
    bound = inspect.signature(p).bind_partial()
    bound.apply_defaults()
    return bound.arguments["q"] * bound.arguments["k"] * p(*bound.args, **bound.kwargs)


@case(0.7)
def defaults_of_methods_and_classes(x):
    class Scaled:
        def __init__(self, u, w=x * x):
            self.u, self.w = u, w

        def times(self, v=2.0 * x):
            return self.u * self.w * v

    made = inspect.signature(Scaled).bind(x)
    made.apply_defaults()
    scaled = Scaled(*made.args)
    call = inspect.signature(scaled.times).bind()
    call.apply_defaults()
    return scaled.times(*call.args) * made.arguments["w"]


@case(0.7)
def a_default_that_is_replaced(x):
    signature = inspect.signature(_made(x))
    parameters = [
        p.replace(default=2.0 * x) if p.name == "q" else p for p in signature.parameters.values()
    ]
    found = signature.replace(parameters=parameters).parameters
    return found["q"].default * found["k"].default


@case(0.7)
def a_parameter_that_is_made(x):
    parameter = inspect.Parameter("z", inspect.Parameter.KEYWORD_ONLY, default=x * x)
    return inspect.Signature([parameter]).parameters["z"].default * x


@case(0.7)
def a_full_specification(x):
    spec = inspect.getfullargspec(_made(x))
    return spec.defaults[0] * spec.kwonlydefaults["k"] + len(spec.args) * x


@case(0.7)
def arguments_of_a_call(x):
    found = inspect.getcallargs(_made(x), x * x)
    return found["p"] * found["q"] * found["k"]


@case(0.7)
def static_attributes(x):
    class Held:
        w = x * x

        def __init__(self):
            self.v = 3.0 * x

    held = Held()
    found = inspect.getattr_static(held, "v") * inspect.getattr_static(Held, "w")
    return found * inspect.getattr_static(held, "w") * inspect.getattr_static(held, "u", x)


@case(0.7)
def members(x):
    class Base:
        w = x * x

    class Derived(Base):
        def __init__(self):
            self.v = x

    return sum(value for _, value in inspect.getmembers(Derived()) if isinstance(value, float))


@case(0.7)
def the_dict_of_a_class_by_its_descriptor(x):
    class Held:
        w = x * x

    return type.__dict__["__dict__"].__get__(Held)["w"] * x


@case(0.7)
def the_state_of_a_partial(x):
    p, q = functools.partial(_made(x), x, k=x), functools.partial(_made(1.0), x)
    q.scale = x
    before = q() * q.scale
    q.__setstate__(p.__reduce__()[2])
    among = q() * len(vars(q))
    q.__setstate__((_made(x), (x * x,), {"k": x}, {"scale": x**3}))
    return before + among + q() * q.scale * q.args[0] * q.keywords["k"]
