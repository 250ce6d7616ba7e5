"""What stands between scalar operations: calls, attributes, elements; eight in a round."""

ROUNDS = 250
PER_ROUND = 8


class Point:
    def __init__(self, x):
        self.x = x

    def times(self, y):
        return y * self.x


def identity(y):
    return y


def calls(x):
    y = x
    for _ in range(ROUNDS):
        y = identity(y)
        y = identity(y)
        y = identity(y)
        y = identity(y)
        y = identity(y)
        y = identity(y)
        y = identity(y)
        y = identity(y)
    return y


def method_calls(x):
    y, point = 1.0, Point(x)
    for _ in range(ROUNDS):
        y = point.times(y)
        y = point.times(y)
        y = point.times(y)
        y = point.times(y)
        y = point.times(y)
        y = point.times(y)
        y = point.times(y)
        y = point.times(y)
    return y


def reads_of_attributes(x):
    point = Point(x)
    for _ in range(ROUNDS):
        y = point.x
        y = point.x
        y = point.x
        y = point.x
        y = point.x
        y = point.x
        y = point.x
        y = point.x
    return y


def writes_of_attributes(x):
    point = Point(x)
    for _ in range(ROUNDS):
        point.x = x
        point.x = x
        point.x = x
        point.x = x
        point.x = x
        point.x = x
        point.x = x
        point.x = x
    return point.x


def reads_of_lists(x):
    xs = [x, x]
    for _ in range(ROUNDS):
        y = xs[0]
        y = xs[1]
        y = xs[0]
        y = xs[1]
        y = xs[0]
        y = xs[1]
        y = xs[0]
        y = xs[1]
    return y


def writes_of_lists(x):
    xs = [x, x]
    for _ in range(ROUNDS):
        xs[0] = x
        xs[1] = x
        xs[0] = x
        xs[1] = x
        xs[0] = x
        xs[1] = x
        xs[0] = x
        xs[1] = x
    return xs[0]


def branches(x):
    y = x
    for _ in range(ROUNDS):
        if y > 0.0:
            y = x
        if y > 0.0:
            y = x
        if y > 0.0:
            y = x
        if y > 0.0:
            y = x
        if y > 0.0:
            y = x
        if y > 0.0:
            y = x
        if y > 0.0:
            y = x
        if y > 0.0:
            y = x
    return y


def swaps_by_tuple(x):
    y, z = x, x
    for _ in range(ROUNDS):
        y, z = z, y
        y, z = z, y
        y, z = z, y
        y, z = z, y
        y, z = z, y
        y, z = z, y
        y, z = z, y
        y, z = z, y
    return y


def empty_rounds(x):
    y = x
    for _ in range(8 * ROUNDS):
        y = y
    return y
