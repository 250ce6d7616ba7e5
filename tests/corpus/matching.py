"""``match``."""

from dataclasses import dataclass

import numpy as np

from tests.corpus.registry import case


@dataclass
class Circle:
    radius: float


@dataclass
class Box:
    width: float
    height: float = 2.0


def area(shape):
    match shape:
        case Circle(radius=r):
            return 3.0 * r * r
        case Box(w, h) if w > 1:
            return w * h + w
        case Box(width=w):
            return w * shape.height
        case _:
            return 0.0


@case(1.4)
def class_patterns(x):
    return area(Circle(x)) * area(Box(x)) + area(Box(x - 1.0, x)) + area("none")


@case([1.4, 0.5, 0.25, 0.125])
@case([1.4, 0.5])
@case([1.4])
@case([])
def sequence_patterns(xs):
    match xs:
        case []:
            return 1.0
        case [x]:
            return x * x
        case [x, y]:
            return x * y
        case [x, *middle, y]:
            return x * y + sum(middle) * x


@case({"kind": "line", "a": 1.5, "b": 0.5})
@case({"kind": "point", "a": 1.5})
def mapping_patterns(d):
    match d:
        case {"kind": "line", "a": a, **rest}:
            return a * rest["b"]
        case {"kind": "point" | "dot", "a": a}:
            return a * a


@case(1.5, 3, fixed=1)
@case(1.5, "two", fixed=1)
@case(1.5, None, fixed=1)
@case(1.5, -1, fixed=1)
def literal_patterns(x, code):
    match code:
        case 1 | 2 | 3:
            return x * code
        case "two":
            return x * x
        case None:
            return x + 1
        case -1:
            return 1 / x


@case(1.5)
def capture_and_guard(x):
    total = 0.0
    for item in (x, x * 2, (x, "y"), [x, [x, 3.0]]):
        match item:
            case float(v) if v > 2:
                total += v * v
            case float() as v:
                total += v
            case (v, str()):
                total += 3 * v
            case [v, [w, k]] as whole:
                total += v * w * k * len(whole)
    return total


class Point:
    __match_args__ = ("x", "y")
    ORIGIN = 0.0

    def __init__(self, x, y):
        self.x, self.y = x, y


@case(1.5, 0.5)
def match_args_and_value_pattern(x, y):
    total = 0.0
    for point in (Point(x, y), Point(Point.ORIGIN, y), Point(x, Point(y, x))):
        match point:
            case Point(Point.ORIGIN, b):
                total += b * b
            case Point(a, Point(b, c)):
                total += a * b * c
            case Point(a, b):
                total += a - b
    return total


@case(np.array([1.0, 2.0, 3.0]))
def match_on_length(x):
    match x.shape:
        case (1,):
            return x[0]
        case (n,) if n > 2:
            return (x**2).sum()
        case _:
            return 0.0


@case(0.5)
def no_case_matches(x):
    y = x
    match y:
        case str():
            y = 0.0
        case [_, _]:
            y = 1.0
    return y * 2
