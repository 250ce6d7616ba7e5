"""What a scientist writes with classes, containers and the standard library: functions of one array
of four floats, which run as programs."""

from __future__ import annotations

import abc
import copy
import dataclasses
import enum
import functools
import itertools
import math
import operator
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

TABLE: dict[str, Callable[[np.ndarray], Any]] = {}


def program(f: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], Any]:
    TABLE[f.__name__] = f
    return f


# ---- data classes and named tuples ---------------------------------------------------------------


@dataclasses.dataclass
class Layer:
    w: Any
    b: Any
    act: Callable[[Any], Any] = np.tanh

    def __call__(self, x: Any) -> Any:
        return self.act(self.w * x + self.b)


@dataclasses.dataclass(frozen=True)
class Parameters:
    mass: float
    stiffness: float = 2.0
    damping: float = dataclasses.field(default=0.1, repr=False)

    @property
    def frequency(self) -> Any:
        return (self.stiffness / self.mass) ** 0.5

    def scaled(self, k: Any) -> Parameters:
        return dataclasses.replace(self, mass=self.mass * k)


class State(NamedTuple):
    position: Any
    velocity: Any = 0.5

    def moved(self, dt: Any) -> State:
        return self._replace(position=self.position + dt * self.velocity)


@program
def layers_in_a_list(v):
    layers = [Layer(v[0], v[1]), Layer(v[2], v[3], act=np.sin)]
    layers.append(Layer(v[0] * v[3], 0.1))
    x = 0.7
    for layer in layers:
        x = layer(x)
    return x


@program
def frozen_parameters(v):
    p = Parameters(1 + v[0] ** 2, damping=v[1])
    q = p.scaled(2.0 + v[2] ** 2)
    return p.frequency + q.frequency * q.damping + (p.stiffness if p != q else v[3])


@program
def oscillator_of_named_tuples(v):
    s = State(v[0])
    for _ in range(20):
        s = s.moved(0.1)
        s = State(s.position, s.velocity - 0.1 * v[1] * s.position)
    position, velocity = s
    return position * v[2] + velocity * v[3]


@program
def history_in_a_data_class(v):
    @dataclasses.dataclass
    class Record:
        name: str
        values: list = dataclasses.field(default_factory=list)
        total: float = 0.0

        def add(self, x):
            self.values.append(x)
            self.total += x

        def __post_init__(self):
            self.weight = len(self.name)

    record = Record("loss")
    for i in range(4):
        record.add(v[i] ** 2)
    fields = dataclasses.asdict(record)
    return record.total * record.weight + fields["values"][1] + max(record.values[:2])


@program
def named_tuple_made_inside(v):
    point = namedtuple("point", "x y scale", defaults=(2.0,))
    points = [point(v[0], v[1]), point(v[2], v[3], scale=v[0])]
    return sum(p.x * p.y * p.scale for p in points) + points[0]._asdict()["x"]


# ---- classes -------------------------------------------------------------------------------------


class Potential(abc.ABC):
    @abc.abstractmethod
    def energy(self, r: Any) -> Any: ...

    def force(self, r: Any) -> Any:
        h = 1e-2
        return -(self.energy(r + h) - self.energy(r - h)) / (2 * h)


class LennardJones(Potential):
    def __init__(self, epsilon: Any, sigma: Any) -> None:
        self.epsilon, self.sigma = epsilon, sigma

    def energy(self, r: Any) -> Any:
        q = (self.sigma / r) ** 6
        return 4 * self.epsilon * (q * q - q)


class Shifted(LennardJones):
    def __init__(self, *args: Any, shift: Any = 0.0, **named: Any) -> None:
        super().__init__(*args, **named)
        self.shift = shift

    def energy(self, r: Any) -> Any:
        return super().energy(r) + self.shift


@program
def potentials_with_inheritance(v):
    first = LennardJones(v[0], 1.0 + 0.1 * v[1])
    second = Shifted(v[2], sigma=1.1, shift=v[3])
    pairs = [(first, 1.3), (second, 1.5)]
    total = 0.0
    for potential, r in pairs:
        total += potential.energy(r) + potential.force(r)
        if isinstance(potential, Shifted):
            total += potential.shift**2
    return total


class Vector:
    __slots__ = ("items",)

    def __init__(self, items: Any) -> None:
        self.items = list(items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, i: Any) -> Any:
        return self.items[i]

    def __setitem__(self, i: Any, x: Any) -> None:
        self.items[i] = x

    def __iter__(self) -> Any:
        return iter(self.items)

    def __add__(self, other: Any) -> Vector:
        return Vector(a + b for a, b in zip(self, other, strict=True))

    def __rmul__(self, k: Any) -> Vector:
        return Vector([k * a for a in self])

    def __iadd__(self, other: Any) -> Vector:
        for i, x in enumerate(other):
            self.items[i] += x
        return self

    def __matmul__(self, other: Any) -> Any:
        return sum(a * b for a, b in zip(self, other, strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vector) and len(self) == len(other)

    def __bool__(self) -> bool:
        return len(self) > 0

    def __contains__(self, x: Any) -> bool:
        return any(x is y for y in self.items)


@program
def operators_of_a_vector(v):
    a, b = Vector([v[0], v[1]]), Vector([v[2], v[3]])
    c = a + 2.0 * b
    c += a
    c[0] = c[0] * v[3]
    del c.items[1:]
    return a @ b + sum(c) + (len(c) if c else 5.0) + (1.0 if a == b else v[0])


class Celsius:
    def __set_name__(self, owner: type, name: str) -> None:
        self.name = "_" + name

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        return getattr(obj, self.name) - 273.15

    def __set__(self, obj: Any, value: Any) -> None:
        setattr(obj, self.name, value + 273.15)


class Gas:
    temperature = Celsius()
    R = 8.314

    def __init__(self, n: Any, temperature: Any) -> None:
        self.n = n
        self.temperature = temperature

    @property
    def energy(self) -> Any:
        return 1.5 * self.n * self.R * self._temperature * 1e-3

    @energy.setter
    def energy(self, e: Any) -> None:
        self._temperature = e / (1.5 * self.n * self.R * 1e-3)

    @functools.cached_property
    def volume(self) -> Any:
        return self.n * self.R * self._temperature / 1e5

    @classmethod
    def standard(cls, n: Any) -> Gas:
        return cls(n, 0.0)

    @staticmethod
    def scale(x: Any) -> Any:
        return x * Gas.R


@program
def descriptors_and_properties(v):
    gas = Gas(v[0], 20 * v[1])
    gas.energy = gas.energy + v[2]
    other = Gas.standard(v[3])
    before = gas.volume + gas.volume
    gas.temperature = 10.0
    return before + gas.temperature * v[0] + other.energy + Gas.scale(v[2])


@program
def class_made_inside(v):
    class Model:
        rate = v[0]
        names = ("slope", "offset")

        def __init__(self, slope):
            self.slope, self.offset = slope, v[1]

        def __call__(self, x):
            return self.slope * x + self.offset * self.rate

    class Damped(Model):
        def __call__(self, x):
            return super().__call__(x) * math.exp(-self.rate)

    models = {cls.__name__: cls(v[2]) for cls in (Model, Damped)}
    total = sum(m(0.5) for m in models.values())
    return total + sum(getattr(models["Model"], name) for name in Model.names) * v[3]


@program
def objects_with_fields_by_name(v):
    class Box:
        pass

    box = Box()
    for i, name in enumerate(["a", "b", "c", "d"]):
        setattr(box, name, v[i])
    del box.d
    total = getattr(box, "d", 3.0) * box.a
    if hasattr(box, "c"):
        total += box.c**2
    return total * box.b


class Kind(enum.Enum):
    LINEAR = 1.0
    SQUARE = 2.0

    @property
    def half(self) -> float:
        return self.value / 2

    def apply(self, x: Any) -> Any:
        return x if self is Kind.LINEAR else x**self.value


@program
def enumerations(v):
    weights = {Kind.LINEAR: v[0], Kind.SQUARE: v[1]}
    total = 0.0
    for kind in Kind:
        total += weights[kind] * kind.apply(v[2]) * kind.half
    if Kind.SQUARE in weights and Kind["LINEAR"].name == "LINEAR":
        total *= v[3]
    return total


@program
def total_order_of_objects(v):
    @functools.total_ordering
    class Job:
        def __init__(self, rank, cost):
            self.rank, self.cost = rank, cost

        def __eq__(self, other):
            return self.rank == other.rank

        def __lt__(self, other):
            return self.rank < other.rank

    jobs = sorted([Job(3, v[0]), Job(1, v[1]), Job(2, v[2])])
    best = max(jobs)
    return sum((i + 1) * job.cost for i, job in enumerate(jobs)) * best.cost + v[3]


@program
def linked_list(v):
    class Node:
        def __init__(self, value, rest=None):
            self.value, self.rest = value, rest

        def __iter__(self):
            node = self
            while node is not None:
                yield node.value
                node = node.rest

    head = None
    for x in (v[0], v[1], v[2]):
        head = Node(x * v[3], head)
    total, node, k = 0.0, head, 1
    while node is not None:
        total += k * node.value**2
        node, k = node.rest, k + 1
    return total


# ---- trees and recursion -------------------------------------------------------------------------


@program
def tree_of_tuples(v):
    def evaluate(tree):
        if not isinstance(tree, tuple):
            return tree
        op, left, right = tree
        a, b = evaluate(left), evaluate(right)
        return {"+": operator.add, "*": operator.mul, "-": operator.sub}[op](a, b)

    return evaluate(("+", ("*", v[0], v[1]), ("-", v[2], ("*", 2.0, v[3]))))


@program
def pytree_map(v):
    def tree_map(f, tree):
        if isinstance(tree, dict):
            return {k: tree_map(f, x) for k, x in tree.items()}
        if isinstance(tree, (list, tuple)):
            return type(tree)([tree_map(f, x) for x in tree])
        return f(tree)

    def leaves(tree):
        if isinstance(tree, dict):
            return [x for k in sorted(tree) for x in leaves(tree[k])]
        if isinstance(tree, (list, tuple)):
            return [x for one in tree for x in leaves(one)]
        return [tree]

    params = {"w": [v[0], v[1]], "b": {"in": v[2], "out": (v[3], 1.0)}}
    return sum(x**2 for x in leaves(tree_map(lambda x: 3 * x + 1, params)))


@program
def visitor(v):
    class Constant:
        def __init__(self, value):
            self.value = value

    class Product:
        def __init__(self, *parts):
            self.parts = parts

    class Visitor:
        def visit(self, node):
            return getattr(self, "visit_" + type(node).__name__.lower())(node)

        def visit_constant(self, node):
            return node.value

        def visit_product(self, node):
            return functools.reduce(operator.mul, map(self.visit, node.parts), 1.0)

    tree = Product(Constant(v[0]), Product(Constant(v[1]), Constant(v[2])), Constant(v[3]))
    return Visitor().visit(tree)


@program
def matched_patterns(v):
    @dataclasses.dataclass
    class Circle:
        r: Any

    @dataclasses.dataclass
    class Box:
        a: Any
        b: Any

    def area(shape):
        match shape:
            case Circle(r):
                return math.pi * r**2
            case Box(a, b=b):
                return a * b
            case ("scaled", k, inner):
                return k * area(inner)
            case {"shape": inner, **rest}:
                return area(inner) + len(rest)
            case [first, *others]:
                return area(first) + sum(map(area, others))
            case _:
                return 0.0

    boxes = [Box(v[0], v[1]), ("scaled", v[2], Circle(v[3])), {"shape": Box(v[3], 2.0), "n": 1}]
    return area(boxes) + area("nothing")


# ---- containers ----------------------------------------------------------------------------------


@program
def grid_of_tuples(v):
    grid = {(i, j): v[i] * v[j] for i in range(3) for j in range(3) if i != j}
    grid[0, 0] = v[3]
    total = 0.0
    for (i, j), x in grid.items():
        total += x * (i + 2 * j + 1) * grid.get((j, i), 0.5)
    return total + grid.pop((1, 2)) * len(grid)


@program
def moving_average(v):
    window, smooth = deque(maxlen=3), []
    for x in v:
        window.append(x)
        smooth.append(sum(window) / len(window))
    return sum(s**2 for s in smooth)


@program
def buffer_of_a_multistep_method(v):
    slopes = deque([v[0] * 0.1] * 3, maxlen=3)
    y = v[1]
    for _ in range(50):
        y = y + 0.01 * (23 * slopes[-1] - 16 * slopes[-2] + 5 * slopes[0]) / 12
        slopes.append(-v[2] * y + v[3])
    return y


@program
def groups_by_default(v):
    groups = defaultdict(list)
    for name, x in zip("abab", v):
        groups[name].append(x)
    sums = {k: sum(xs) for k, xs in groups.items()}
    counts = Counter("abab")
    return sums["a"] * counts["a"] + sums["b"] ** counts["b"] + len(groups["none"])


@program
def weighted_graph(v):
    edges = [("a", "b", v[0]), ("b", "c", v[1]), ("a", "c", v[2]), ("c", "d", v[3])]
    graph = defaultdict(dict)
    for s, t, w in edges:
        graph[s][t] = w
        graph[t][s] = w
    seen, queue, total = {"a"}, deque(["a"]), 0.0
    while queue:
        node = queue.popleft()
        for other, w in graph[node].items():
            if other not in seen:
                seen.add(other)
                queue.append(other)
                total += w * len(seen)
    return total


@program
def ordered_options(v):
    options = OrderedDict(rate=v[0], decay=v[1])
    options.update({"momentum": v[2]})
    options.move_to_end("rate")
    merged = {"scale": v[3]} | dict(options)
    first = next(iter(options.values()))
    return first * sum(i * x for i, x in enumerate(merged.values(), 1))


@program
def sets_of_names(v):
    values = dict(zip(["a", "b", "c", "d"], v))
    free, fixed = {"a", "c"}, frozenset(["b"])
    used = (free | fixed) - {"c"}
    assert used.issuperset({"a"})
    return sum(values[k] ** 2 for k in sorted(used)) * values["d"] if "c" not in used else v[0]


@program
def lists_that_change(v):
    xs = [v[0], v[1], v[2]]
    xs.insert(1, v[3])
    xs.extend([1.0, v[0] * 2])
    xs.reverse()
    del xs[0]
    xs[1:3] = [v[1]]
    last = xs.pop()
    xs += (v[2],)
    first, *middle, end = xs
    return first * last + sum(middle) - end + len(xs[::2])


@program
def sorted_by_known_key(v):
    rows = [("b", 2, v[0]), ("a", 3, v[1]), ("c", 1, v[2])]
    by_name = sorted(rows, key=operator.itemgetter(0))
    rows.sort(key=lambda row: -row[1])
    cheapest = min(rows, key=lambda row: (row[1], row[0]))
    return sum((i + 1) * x for i, (_, _, x) in enumerate(by_name)) * cheapest[2] + rows[0][2] * v[3]


@program
def sorted_by_data(v):
    xs = sorted([v[0], v[1], v[2], v[3]])
    pairs = sorted([(v[0], 1.0), (v[2], v[1]), (v[3], 2.0)], key=lambda p: p[0], reverse=True)
    far = max([(v[0], v[1]), (v[2], v[3])], key=lambda p: p[0] ** 2)
    return sum((i + 1) * x for i, x in enumerate(xs)) + pairs[0][1] * pairs[1][0] + far[1]


@program
def chosen_by_slices(v):
    first, rest = slice(0, 2), slice(2, None)
    parts = {"first": v[first], "rest": v[rest]}
    xs = [v[0], v[1], v[2]]
    return np.sum(parts["first"] ** 2) * np.sum(parts["rest"]) + sum(xs[first]) + first.stop


# ---- functions -----------------------------------------------------------------------------------


@program
def partial_functions(v):
    line = functools.partial(lambda a, b, x: a * x + b, v[0], b=v[1])
    steps = [line, functools.partial(pow, v[2]), math.sin]
    return sum(f(x=0.5) if f is line else f(2) for f in steps) * v[3]


@program
def reductions_and_tools(v):
    pairs = list(itertools.combinations([v[0], v[1], v[2]], 2))
    total = functools.reduce(lambda a, p: a + p[0] * p[1], pairs, 0.0)
    for i, j in itertools.product(range(2), repeat=2):
        total += v[i] * v[j + 2]
    return total + sum(itertools.chain([v[0]], [v[1], v[3]]))


@program
def getters(v):
    state = State(v[0], v[1])
    speed = operator.attrgetter("velocity")
    return (
        speed(state) * operator.itemgetter(2, 3)(v)[1]
        + operator.methodcaller("moved", 2.0)(state).position
    )


@program
def pipeline_of_closures(v):
    def compose(*fs):
        return functools.reduce(lambda f, g: lambda x: g(f(x)), fs)

    steps = {"shift": lambda x: x + v[0], "scale": lambda x: x * v[1], "root": np.sqrt}
    return compose(*(steps[name] for name in ("shift", "scale", "root")))(2.0 + v[2] ** 2) * v[3]


class Kernel:
    bounds = (1e-5, 1e5)

    def __init__(self, scale: Any, level: Any) -> None:
        self.scale, self.level = scale, level

    @property
    def parameter_scale(self) -> Any:
        return self.scale**2

    @property
    def parameter_level(self) -> Any:
        return np.exp(self.level)


@program
def properties_by_their_names(v):
    kernel = Kernel(v[0], v[1])
    names = [name for name in dir(kernel) if name.startswith("parameter_")]
    return sum((i + 1) * getattr(kernel, name) for i, name in enumerate(names)) * v[2]


@program
def memoised_recursion(v):
    @functools.lru_cache(maxsize=None)
    def bell(n, k):
        if n == 0 or k < 0:
            return v[0]
        return v[1] * bell(n - 1, k) + v[2] * bell(n - 1, k - 1)

    return bell(6, 3) * v[3]


@program
def fields_of_parameters(v):
    bernstein = sum(math.comb(3, i) * v[i] * 0.3**i * 0.7 ** (3 - i) for i in range(4))
    p = Parameters(v[0], v[1])
    return bernstein * sum(getattr(p, one.name) for one in dataclasses.fields(p))


@program
def generators_and_state(v):
    def decays(rate, n):
        x = 1.0
        for _ in range(n):
            x *= 1 - rate
            yield x

    squares = (x**2 for x in decays(v[0] * 0.1, 6))
    weights = {i: x for i, x in enumerate(decays(v[1] * 0.1, 3))}
    return sum(squares) * weights[2] + max(decays(v[2] * 0.1, 2)) * v[3]


@program
def text_beside_numbers(v):
    names = [f"x{i:02d}" for i in range(3)]
    values = {name: v[i] for i, name in enumerate(names)}
    label = f"value {v[0]:.3f} of {names[0].upper()}"
    message = "%s: %d" % ("n", 3)
    return values["x01"] * values["x02"] + (v[3] if message.endswith("3") else 0.0) + (label == 1)


@program
def copies(v):
    params = {"w": [v[0], v[1]], "p": Layer(v[2], v[3])}
    other, shallow = copy.deepcopy(params), copy.copy(params)
    other["w"][0] *= 2.0
    other["p"].w += 1.0
    shallow["w"].append(v[3])
    return sum(params["w"]) * params["p"](0.5) + other["w"][0] * other["p"](0.3)


# ---- whole programs ------------------------------------------------------------------------------


@program
def optimizer_with_state(v):
    class Adam:
        def __init__(self, rate=0.1, betas=(0.9, 0.99)):
            self.rate, self.betas, self.state = rate, betas, {}

        def step(self, params, grads):
            b1, b2 = self.betas
            for key, g in grads.items():
                m, s, t = self.state.get(key, (0.0, 0.0, 0))
                m, s, t = b1 * m + (1 - b1) * g, b2 * s + (1 - b2) * g * g, t + 1
                self.state[key] = m, s, t
                params[key] -= self.rate * (m / (1 - b1**t)) / (np.sqrt(s / (1 - b2**t)) + 1e-3)

    params = {"a": v[0], "b": v[1]}
    adam = Adam(rate=0.1 * v[2] ** 2)
    for _ in range(5):
        adam.step(params, {"a": params["a"] * 2 + v[3], "b": params["b"] ** 3 + 0.2})
    return params["a"] ** 2 + params["b"]


@program
def bodies_with_objects(v):
    class Body:
        def __init__(self, mass, x, u):
            self.mass, self.x, self.u = mass, x, u

        def kick(self, a, dt):
            self.u += a * dt

        def drift(self, dt):
            self.x += self.u * dt

    bodies = [Body(v[0] ** 2, 0.0, v[1]), Body(1.0, 1.5, 0.0), Body(v[2] ** 2, 3.0, -v[3])]
    for _ in range(4):
        for one in bodies:
            a = sum(o.mass * (o.x - one.x) for o in bodies if o is not one)
            one.kick(a, 0.05)
        for one in bodies:
            one.drift(0.05)
    return sum(0.5 * b.mass * b.u**2 for b in bodies)


@program
def registry_of_models(v):
    registry = {}

    def register(name):
        def wrap(f):
            registry[name] = f
            return f

        return wrap

    @register("linear")
    def linear(x, a=v[0]):
        return a * x

    @register("saturating")
    def saturating(x, a=v[1], *, k=2.0):
        return a * x / (k + x**2)

    return sum(registry[name](v[2]) for name in sorted(registry)) * linear(v[3])


@program
def stack_machine(v):
    stack, memory = [], {"x": v[0], "y": v[1], "z": v[2]}
    code = "x y * z + 2 *".split()
    for token in code:
        if token in memory:
            stack.append(memory[token])
        elif token.isdigit():
            stack.append(float(token))
        else:
            b, a = stack.pop(), stack.pop()
            stack.append(a * b if token == "*" else a + b)
    (result,) = stack
    return result * v[3]


@program
def markov_chain(v):
    class Chain:
        def __init__(self, states):
            self.states = tuple(states)
            self.rates = {(a, b): 0.1 for a in states for b in states if a != b}

        def step(self, p):
            q = dict(p)
            for (a, b), rate in self.rates.items():
                flow = rate * p[a]
                q[a] = q[a] - flow
                q[b] = q[b] + flow
            return q

    chain = Chain("ABC")
    chain.rates["A", "B"] = v[0] * 0.1
    chain.rates["C", "A"] = v[1] * 0.1
    p = {"A": 1.0, "B": v[2] * 0.1, "C": 0.0}
    for _ in range(6):
        p = chain.step(p)
    return p["A"] * v[3] + p["C"]


@program
def parameters_by_star(v):
    def model(x, a, b, *rest):
        return a * np.exp(-b * x) + sum(rest)

    times = np.linspace(0.0, 1.0, 5)
    once = model(times, *v)
    again = model(0.5, *tuple(v[:2]), *[v[2], v[3]])
    return np.sum(once**2) * again + max(0.0, *v)


@program
def payoffs(v):
    ends = np.array([max(v[0] * 1.1**j - 0.8, 0) for j in range(6)])
    for i in range(5, 0, -1):
        ends = 0.5 * v[1] * (ends[1:] + ends[:-1])
    return ends[0] + np.array([max(x - 0.1, 0) for x in v]).sum() ** 2
