"""Special methods that store an active number, and what asks for them: text of functions.

Each line is a special method as it is defined, what it returns, and statements that make Python, or
code in C, ask for it of ``c``, an object of a class ``C`` with that method.
"""

from __future__ import annotations

__all__ = ["PRELUDE", "TABLE", "text_of"]

PRELUDE = """
import array, bisect, collections, copy, csv, ctypes, dataclasses, decimal, fractions, functools
import heapq, io, itertools, json, logging, math, operator, os, pickle, pprint, queue, random, re
import reprlib, statistics, string, struct, sys, textwrap, types, weakref
import numpy as np

class Base:
    def __init__(self, x, t): self.x, self.t = x, t
    def hit(self, value=None):
        self.t.append(self.x * 2)
        return value

def matched(c):
    match c:
        case 1: return 1
    return 0

def raised(c):
    try: raise ValueError(c)
    except ValueError as error: return str(error)

def opened(c):
    try: open(c)
    except OSError: pass

def derived(c):
    class D(c): pass

def asserted(c):
    assert c
"""

TABLE: list[tuple[str, str, str]] = [
    (
        "__lt__(s, o)",
        "s.hit(s.x < o.x)",
        "sorted([C(x*3, t), C(x, t), C(x*2, t)]) | l = [C(x*3, t), C(x, t)]; l.sort()"
        " | h = [C(x*3, t)]; heapq.heappush(h, C(x, t)) | min([C(x*3, t), C(x, t)])"
        " | bisect.insort([C(x, t)], C(x*2, t)) | sorted([(C(x, t), 1), (C(x*2, t), 2)])"
        " | (C(x, t), 1) < (C(x*2, t), 2) | [c] < [C(2*x, t)] | max([(1, C(x, t)), (1, C(2*x, t))])"
        " | heapq.nsmallest(1, [C(x*3, t), C(x, t)]) | list(heapq.merge([C(x, t)], [C(2*x, t)]))"
        " | sorted({'a': C(x, t), 'b': C(2*x, t)}.values())"
        " | sorted([1, 2], key=lambda v: C(v*x, t))"
        " | collections.deque([c]) < collections.deque([C(2*x, t)])",
    ),
    (
        "__eq__(s, o)",
        "s.hit(False)",
        "[1, c].count(2) | 1 in [c] | 1 in (c,) | [c] == [3] | (c, 1) == (2, 1) | c != 2 | 2 != c"
        " | 2 == c | {'a': c} == {'a': 2} | [c, 3].index(3) | [c, 3].remove(3) | matched(c)"
        " | collections.deque([c]).count(1) | 1 in collections.deque([c]) | 1 in {'a': c}.values()"
        " | ('a', 1) in {'a': c}.items() | [[c]] == [[3]] | operator.contains([c], 1)"
        " | operator.countOf([c], 1) | operator.indexOf([c, 1], 1) | [1] == [c]"
        " | collections.deque([c, 1]).remove(1) | collections.deque([c, 1]).index(1)"
        " | (1,).__eq__((c,)) | [c].__contains__(1) | (x,) in [(c,)] | any(v == 1 for v in [c])"
        " | collections.OrderedDict(a=c) == collections.OrderedDict(a=1) | [x, c] == [x, 1]"
        " | types.SimpleNamespace(a=c) == types.SimpleNamespace(a=1) | 1 in iter([c])"
        " | np.array([c, 1], dtype=object) == 1 | range(3).count(c) | c in range(3)"
        " | 1 in map(lambda v: v, [c]) | list(itertools.groupby([c, 1]))",
    ),
    (
        "__hash__(s)",
        "s.hit(3)",
        "{c: 1} | {c} | hash(c) | hash((c,)) | d = {}; d[c] = 1 | {}.get(c) | c in {} | c in {1}"
        " | set([c]) | s = set(); s.add(c) | dict([(c, 1)]) | {c: 1}[c] | frozenset([c])"
        " | dict.fromkeys([c]) | collections.Counter([c]) | {(c, 1): 2} | {1}.discard(c)"
        " | collections.defaultdict(list)[c] | {1: 2}.pop(c, None) | {}.setdefault(c, 1)"
        " | {v: 1 for v in [c]} | {1}.union({c}) | {1}.union([c]) | {v for v in [c]}"
        " | weakref.WeakKeyDictionary().get(c) | weakref.WeakSet([c])"
        " | functools.lru_cache(lambda v: 1)(c)",
    ),
    (
        "__index__(s)",
        "s.hit(1)",
        "range(c) | np.arange(3.)[c] | [1, 2][c] | [1, 2][c:] | [1] * c | operator.index(c)"
        " | hex(c) | bin(c) | chr(c) | 'ab'[c] | (1, 2)[c] | np.zeros((c, 2)) | np.arange(3.)[c:]"
        " | int(c)"
        " | np.arange(4.).reshape(2, 2)[c, c] | 'a' * c | l = [1, 2]; l[c] = 5"
        " | l = [1]*3; del l[c]"
        " | [1, 2].pop(c) | [1, 2].insert(c, 3) | bytes(c) | round(2.5, c) | math.comb(3, c)"
        " | a = np.zeros(3); a[c] = x | slice(c).indices(5) | a = np.zeros(3); a[c] += x | '%d' % c"
        " | np.zeros(3).reshape(c, 3) | 'abc'.center(c) | np.sum(np.ones((2, 2)), axis=c)"
        " | itertools.repeat(1, c) | list(itertools.islice([1, 2, 3], c)) | range(5)[c]"
        " | collections.deque([1, 2])[c] | collections.deque([1, 2]).rotate(c) | enumerate([1], c)"
        " | np.take(np.arange(3.), c) | struct.pack('i', c) | l = [1, 2]; l[c:] = [1]"
        " | (5).to_bytes(c, 'big')",
    ),
    (
        "__str__(s)",
        "s.hit('c')",
        "str(c) | '%s' % c | '%s' % (c,) | f'{c}' | '{}'.format(c) | '{0!s:>5}'.format(c)"
        " | format(c)"
        " | '%(a)s' % {'a': c} | print(c, file=io.StringIO()) | f'{c!s:>5}' | '{a}'.format(a=c)"
        " | str.format('{}', c) | '{0.y}'.format(types.SimpleNamespace(y=c)) | '{0[0]}'.format([c])"
        " | raised(c) | '{a}'.format_map({'a': c}) | string.Formatter().format('{}', c)"
        " | string.Template('$a').substitute(a=c) | textwrap.dedent(str(c))",
    ),
    (
        "__repr__(s)",
        "s.hit('c')",
        "repr(c) | repr([c]) | str([c]) | f'{[c]}' | '%r' % c | f'{c!r}' | '%s' % [c]"
        " | str({'a': c}) | ascii(c) | str((c,)) | repr({1: [c]}) | '{!r}'.format(c)"
        " | print([c], file=io.StringIO())"
        " | '{}'.format([c]) | str(collections.OrderedDict(a=c)) | repr(collections.deque([c]))"
        " | str(ValueError(c)) | repr(types.SimpleNamespace(a=c))"
        " | str(functools.partial(print, c))"
        " | reprlib.repr([c]) | pprint.pformat([c])",
    ),
    ("__format__(s, f)", "s.hit('c')", "f'{c}' | f'{c:>3}' | '{:>3}'.format(c) | format(c, 'x')"),
    (
        "__float__(s)",
        "s.hit(2.0)",
        "float(c) | math.sin(c) | np.float64(c) | np.array([c, c], dtype=float) | complex(c)"
        " | math.sqrt(c) | math.hypot(c, 1.0) | '%f' % c | math.fsum([c])"
        " | a = np.zeros(2); a[0] = c"
        " | np.full(2, c, dtype=float) | math.isnan(c) | math.floor(c) | array.array('d', [c])"
        " | np.asarray(c, dtype=float) | statistics.fmean([c, c]) | math.pow(c, 2)"
        " | struct.pack('d', c) | math.atan2(c, 1.0) | math.copysign(1.0, c) | np.ones(2).fill(c)"
        " | math.dist([c], [0.0]) | math.exp(c)",
    ),
    ("__int__(s)", "s.hit(2)", "int(c) | '%d' % c | np.int64(c)"),
    ("__complex__(s)", "s.hit(2j)", "complex(c)"),
    ("__floor__(s)", "s.hit(2)", "math.floor(c)"),
    ("__ceil__(s)", "s.hit(2)", "math.ceil(c)"),
    ("__trunc__(s)", "s.hit(2)", "math.trunc(c)"),
    ("__round__(s, n=None)", "s.hit(2)", "round(c) | round(c, 1)"),
    (
        "__bool__(s)",
        "s.hit(True)",
        "bool(c) | not c | any([c]) | all([c]) | list(filter(None, [c])) | [v for v in [c] if v]"
        " | operator.truth(c) | c and 1 | asserted(c) | list(itertools.compress([1], [c]))",
    ),
    ("__len__(s)", "s.hit(2)", "len(c) | bool(c) | operator.length_hint(c) | not c"),
    ("__length_hint__(s)", "s.hit(2)", "operator.length_hint(c)"),
    ("__abs__(s)", "s.hit(2)", "abs(c) | operator.abs(c) | np.abs(np.array([c], dtype=object))"),
    ("__neg__(s)", "s.hit(2)", "-c | operator.neg(c)"),
    ("__divmod__(s, o)", "s.hit((1, 2))", "divmod(c, 2)"),
    ("__pow__(s, o, m=None)", "s.hit(2)", "c**2 | pow(c, 2) | pow(c, 2, 3)"),
    (
        "__iter__(s)",
        "s.hit(iter([1.0, 2.0]))",
        "list(c) | tuple(c) | set(c) | ','.join(map(str, c)) | sum(c) | a, b = c | [*c] | max(c)"
        " | np.fromiter(c, float) | dict(zip(c, c)) | math.fsum(c) | list(zip(c)) | 1.0 in c"
        " | array.array('d', c) | np.array(list(c)) | collections.deque(c) | sorted(c)"
        " | list(enumerate(c)) | list(itertools.chain(c, c)) | print(*c, file=io.StringIO())"
        " | [].extend(c) | l = []; l += c | l = [0]; l[:] = c | set().update(c) | {1}.union(c)"
        " | math.prod(c) | operator.countOf(c, 1) | operator.contains(c, 1.0) | frozenset(c)"
        " | io.StringIO().writelines(str(v) for v in c) | dict.fromkeys(c) | list(map(str, c))"
        " | statistics.mean(c) | list(itertools.product(c)) | functools.reduce(operator.add, c)"
        " | heapq.nlargest(1, c) | any(c) | collections.Counter(c) | bytes(int(v) for v in c)"
        " | min(c, default=1) | {1}.issubset(c) | {1}.isdisjoint(c) | {1}.intersection(c)",
    ),
    ("__getitem__(s, i)", "s.hit([1.0, 2.0][i])", "list(c) | c[0] | 1.0 in c | sum(c) | a, b = c"),
    ("__contains__(s, o)", "s.hit(True)", "1 in c | operator.contains(c, 1) | 1 not in c"),
    (
        "__call__(s, *a)",
        "s.hit(1)",
        "c() | list(map(c, [1])) | re.sub('a', lambda m: str(c()), 'a')",
    ),
    (
        "__array__(s, dtype=None, copy=None)",
        "s.hit(np.ones(2))",
        "np.asarray(c) | np.sum(c) | np.array(c) | np.sin(c) | np.ones(2) + c | np.ones(2) @ c"
        " | np.concatenate([c, c]) | np.stack([c]) | np.mean(c) | a = np.zeros(2); a[:] = c"
        " | np.where(np.array([True, False]), c, 0.0) | np.linalg.norm(c) | np.shape(c)"
        " | a = np.zeros(2); a += c | np.max(c) | np.exp(c) | np.array([c, c]) | np.allclose(c, 1)"
        " | np.isfinite(c) | np.add(c, 1.0)",
    ),
    ("__dir__(s)", "s.hit(['a'])", "dir(c)"),
    (
        "__fspath__(s)",
        "s.hit('/')",
        "os.fspath(c) | os.path.exists(c) | os.path.join(c, 'a') | opened(c)",
    ),
    ("__bytes__(s)", "s.hit(b'a')", "bytes(c)"),
    ("__reversed__(s)", "s.hit(iter([1]))", "list(reversed(c))"),
    (
        "__reduce_ex__(s, p)",
        "s.hit((int, (3,)))",
        "copy.copy(c) | pickle.dumps(c) | copy.deepcopy(c)",
    ),
    ("__copy__(s)", "s.hit(3)", "copy.copy(c)"),
    ("__sizeof__(s)", "s.hit(3)", "sys.getsizeof(c)"),
    ("__instancecheck__(s, o)", "s.hit(True)", "isinstance(1, c)"),
    ("__subclasscheck__(s, o)", "s.hit(True)", "issubclass(int, c)"),
    ("__set_name__(s, o, n)", "s.hit()", "type('D', (), {'a': c})"),
    ("__mro_entries__(s, b)", "s.hit((object,))", "derived(c)"),
    ("__radd__(s, o)", "s.hit(1.0)", "1 + c | sum([c]) | np.float64(1) + c"),
    ("__iadd__(s, o)", "s.hit(s)", "c += 1 | operator.iadd(c, 1)"),
    ("__next__(s)", "s.hit(1.0)", "next(c) | next(c, None)"),
    ("__delattr__(s, n)", "s.hit()", "del c.foo | delattr(c, 'foo')"),
]
OTHERS = {
    "__eq__": "__hash__ = object.__hash__",
    "__hash__": "def __eq__(s, o): return s is o",
}
"""What such a class needs besides."""


def text_of() -> dict[str, str]:
    """The functions of one number, by name: their result is what was stored."""
    texts = {}
    for signature, answer, statements in TABLE:
        name = signature.partition("(")[0]
        for i, statement in enumerate(statements.split(" | ")):
            function = f"{name.strip('_')}_{i}"
            texts[function] = "\n".join(
                [
                    f"def {function}(x):",
                    "    t = []",
                    "    class C(Base):",
                    f"        def {signature}: return {answer}",
                    f"        {OTHERS.get(name, 'pass')}",
                    "    c = C(x, t)",
                    f"    {statement}",
                    "    return sum(t)",
                    "",
                ]
            )
    return texts
