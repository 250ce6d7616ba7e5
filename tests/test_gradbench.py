"""The evaluations of GradBench in benchmarks/gradbench: its protocol, and their derivatives."""

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.gradbench import __main__ as command
from benchmarks.gradbench import descent, inputs, particle, saddle
from benchmarks.gradbench.evaluation import EVALUATIONS, STYLES, Function, load
from benchmarks.gradbench.protocol import answer, serve

import adjoint as ad

ROOT = Path(__file__).parents[1]

# ---- the protocol --------------------------------------------------------------------------------

SQUARE = {"kind": "evaluate", "module": "hello", "function": "square", "input": 3}
MESSAGES = [
    {"id": 0, "kind": "start", "eval": "hello"},
    {"id": 1, "kind": "define", "module": "hello"},
    {"id": 2, **SQUARE},
    {"id": 3, "kind": "analysis", "of": 2, "valid": True},
    {"id": 4, **SQUARE, "function": "double", "description": "3"},
    {"id": 5, "kind": "end"},
]


def lines(messages):
    return "".join(json.dumps(message) + "\n" for message in messages)


def check(answers, style):
    assert [reply["id"] for reply in answers] == [message["id"] for message in MESSAGES]
    start, define, square, analysis, double, end = answers
    assert start == {"id": 0, "tool": "adjoint", "config": {"style": style}}
    assert define == {"id": 1, "success": True}
    assert (square["success"], square["output"], double["output"]) == (True, 9.0, 6.0)
    for reply in (square, double):
        (timing,) = reply["timings"]
        assert set(timing) == {"name", "nanoseconds"} and timing["name"] == "evaluate"
        assert isinstance(timing["nanoseconds"], int) and timing["nanoseconds"] > 0
    assert (analysis, end) == ({"id": 3}, {"id": 5})


@pytest.mark.parametrize("style", STYLES)
def test_each_message_is_answered(style):
    replies = serve(io.StringIO(lines(MESSAGES)), style)
    check([json.loads(reply) for reply in replies], style)


def test_answers_come_one_by_one():
    """An evaluation waits for an answer before it sends the next message."""
    given = []

    def messages():
        for message in MESSAGES:
            given.append(message["id"])
            yield json.dumps(message)

    for reply in serve(messages(), "arrays"):
        assert json.loads(reply)["id"] == given[-1]
    assert given == [0, 1, 2, 3, 4, 5]


def test_the_command():
    """What is printed on the way does not come between the answers."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gradbench"],
        input=lines(MESSAGES),
        capture_output=True,
        check=True,
        text=True,
        cwd=ROOT,
        env=dict(command.os.environ, GRADBENCH_STYLE="loops", PYTHONPATH=str(ROOT / "src")),
    )
    check([json.loads(line) for line in done.stdout.splitlines()], "loops")
    assert done.stderr == ""


def test_prints_of_a_program_are_no_answers(monkeypatch, capsys):
    def said(x):
        print("said")
        return x

    functions = {"said": Function(lambda input: (input,), said, float)}
    monkeypatch.setattr("benchmarks.gradbench.protocol.load", lambda name, style: functions)
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines([{"id": 7, **SQUARE, "function": "said"}])))
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # put back afterwards
    command.main([])
    out, err = capsys.readouterr()
    assert (json.loads(out)["output"], err) == (3.0, "said\n")


def test_the_style_is_that_of_the_option_else_of_the_variable(monkeypatch, capsys):
    monkeypatch.delenv(command.VARIABLE, raising=False)
    assert command.style_of([]) == "arrays"
    monkeypatch.setenv(command.VARIABLE, "loops")
    assert command.style_of([]) == "loops"
    assert command.style_of(["--style", "arrays"]) == "arrays"
    monkeypatch.setenv(command.VARIABLE, "rows")
    with pytest.raises(SystemExit):
        command.style_of([])
    assert "the style is arrays or loops, not 'rows'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "message, says",
    [
        ({"kind": "define", "module": "fft"}, "no evaluation 'fft'"),
        ({"kind": "define", "module": "protocol"}, "no evaluation 'protocol'"),
        (SQUARE | {"module": "os"}, "no evaluation 'os'"),
        (SQUARE | {"function": "cube"}, "no function 'cube'; there are square, double"),
        (SQUARE | {"input": "three"}, "could not convert string to float"),
    ],
)
def test_what_fails_is_answered(message, says):
    reply = answer({"id": 9, **message}, "arrays")
    assert (reply["id"], reply["success"]) == (9, False)
    assert says in reply["error"] and "output" not in reply


def test_as_many_runs_as_are_asked_for():
    f = Function(lambda input: (input["x"],), lambda x: x * x, float)
    assert len(f.run({"x": 2.0})[1]) == 1
    assert len(f.run({"x": 2.0, "min_runs": 0, "min_seconds": 0})[1]) == 1
    output, times = f.run({"x": 2.0, "min_runs": 4, "min_seconds": 0})
    assert (output, len(times)) == (4.0, 4)
    _, times = f.run({"x": 2.0, "min_runs": 1, "min_seconds": 0.002})
    assert sum(times) >= 2_000_000 > sum(times[:-1])


# ---- the derivatives -----------------------------------------------------------------------------

GRADIENTS = {
    "det": ("primal", "gradient", inputs.det(4), ["A"]),
    "gmm": ("objective", "jacobian", inputs.gmm(3, 2, 5), ["alpha", "mu", "q", "l"]),
    "llsq": ("primal", "gradient", inputs.llsq(8, 3), ["x"]),
    "lse": ("primal", "gradient", inputs.lse(6), ["x"]),
    "lstm": ("objective", "jacobian", inputs.lstm(2, 4, 3), ["main_params", "extra_params"]),
    "ode": ("primal", "gradient", inputs.ode(3, 4), ["x"]),
}
"""An objective, its gradient, an input, and what of it the gradient is taken in."""


def flat(x):
    """All numbers of what JSON holds."""
    if isinstance(x, dict):
        return [number for part in x.values() for number in flat(part)]
    if isinstance(x, list):
        return [number for part in x for number in flat(part)]
    return [x]


def moved(x, direction):
    """A structure, by as much in each number as an iterator says."""
    if isinstance(x, list):
        return [moved(part, direction) for part in x]
    return x + next(direction)


def along(f, input, names, direction, step=1e-6):
    """How the numbers of an output change along a direction in the inputs of these names."""
    outputs = []
    for sign in (step, -step):
        steps = iter(sign * direction)
        outputs.append(f.run(input | {name: moved(input[name], steps) for name in names})[0])
    after, before = (np.array(flat(output)) for output in outputs)
    return (after - before) / (2 * step)


def direction_in(input, names):
    size = len(flat([input[name] for name in names]))
    return np.random.default_rng(3).normal(size=size)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_against_differences(name, style):
    objective, gradient, input, names = GRADIENTS[name]
    functions = load(name, style)
    direction = direction_in(input, names)
    expected = along(functions[objective], input, names, direction)[-1]
    found = np.array(flat(functions[gradient].run(input)[0])) @ direction
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("style", STYLES)
def test_newtons_direction_of_kmeans(style):
    """Its gradient by differences, and twice the number of points as the second derivative."""
    input = inputs.kmeans(2, 20, 2)
    functions = load("kmeans", style)
    points, centroids = np.array(input["points"]), np.array(input["centroids"])
    gradient = [along(functions["cost"], input, ["centroids"], e)[0] for e in np.eye(4)]
    distances = np.sum((points[:, None] - centroids) ** 2, axis=2)
    counts = np.bincount(np.argmin(distances, axis=1), minlength=2)
    expected = np.reshape(gradient, (2, 2)) / (2 * counts[:, None])
    np.testing.assert_allclose(functions["dir"].run(input)[0], expected, rtol=1e-6)


@pytest.mark.parametrize("style", STYLES)
def test_the_jacobian_of_ba(style):
    """All of it, from the parts of the sparse one, against differences along a direction in the
    camera, the point and the weight."""
    input, names = inputs.ba(1, 1, 1), ["cam", "x", "w"]
    functions = load("ba", style)
    starts, columns, values = functions["jacobian"].call(*functions["jacobian"].prepare(input))
    assert starts.tolist() == [0, 15, 30, 31] and columns[-1] == 14
    jacobian = np.zeros((3, 15))
    jacobian[np.repeat(np.arange(3), np.diff(starts)), columns] = values
    direction = direction_in(input, names)
    # the numbers of observations stand behind the errors of each kind
    expected = along(functions["objective"], input, names, direction)[[0, 1, 3]]
    np.testing.assert_allclose(jacobian @ direction, expected, rtol=1e-6)


def test_what_is_told_of_a_sparse_jacobian():
    told = load("ba", "arrays")["jacobian"].run(inputs.ba(2, 3, 4))[0]
    assert {name: len(part) for name, part in told.items()} == {"rows": 14, "cols": 31, "vals": 31}
    starts, columns = told["rows"], told["cols"]
    assert starts[:3] + starts[-2:] == [0, 15, 30, 124, 124]
    # the last weight behind two cameras and three points
    assert columns[-1] == 2 * 11 + 3 * 3 + 3


@pytest.mark.parametrize("within_triangles", [False, True])
@pytest.mark.parametrize("style", STYLES)
def test_the_jacobian_of_ht(style, within_triangles):
    input = inputs.ht(5, 2, within_triangles)
    functions = load("ht", style)
    jacobian = np.array(functions["jacobian"].run(input)[0])
    direction = direction_in(input, ["theta"])
    expected = along(functions["objective"], input, ["theta"], direction)
    np.testing.assert_allclose(jacobian[:, -26:] @ direction, expected, rtol=1e-5, atol=1e-8)
    if within_triangles:
        # the first two columns hold, for each point, the derivatives in its own pair
        expected = along(functions["objective"], input, ["us"], np.tile([0.3, -0.2], 2))
        np.testing.assert_allclose(jacobian[:, :2] @ [0.3, -0.2], expected, rtol=1e-5, atol=1e-8)
    else:
        assert jacobian.shape == (6, 26)


@pytest.mark.parametrize("name", [name for name in EVALUATIONS if name in vars(inputs)])
def test_both_styles_give_the_same(name):
    input = {
        "ba": inputs.ba(2, 3, 4),
        "ht": inputs.ht(5, 3, True),
        "kmeans": inputs.kmeans(3, 20, 2),
    }.get(name)
    input = GRADIENTS[name][2] if input is None else input
    objective = next(iter(load(name, "arrays")))
    arrays, loops = (flat(load(name, style)[objective].run(input)[0]) for style in STYLES)
    np.testing.assert_allclose(loops, arrays, rtol=1e-10)


LANDINGS = {
    "arrays": (particle.landing_arrays, descent.MODES_ARRAYS),
    "loops": (particle.landing_loops, descent.MODES_LOOPS),
}
HIGHEST = {
    "arrays": (saddle.highest_arrays, descent.MODES_ARRAYS, np.array),
    "loops": (saddle.highest_loops, descent.MODES_LOOPS, list),
}


@pytest.mark.parametrize("inner", "fr")
@pytest.mark.parametrize("style", STYLES)
def test_where_a_particle_lands(style, inner, monkeypatch):
    """The derivative of a program that differentiates a potential."""
    monkeypatch.setattr(particle, "TIME_STEP", 1.0)  # few steps
    landing, modes = LANDINGS[style]
    step, found = 1e-6, ad.derivative(lambda w: landing(w, modes[inner]))(0.1)
    after, before = (landing(0.1 + s, modes[inner]) for s in (step, -step))
    assert found == pytest.approx((after - before) / (2 * step), rel=1e-6)


@pytest.mark.parametrize("inner", "fr")
@pytest.mark.parametrize("style", STYLES)
def test_the_highest_point_beside_a_saddle(style, inner):
    """The derivative of a program that searches. Where it ends does not depend on p: the slope is
    that of |p|²."""
    highest, modes, point = HIGHEST[style]
    start, p = point([0.6, 0.3]), point([1.0, 2.0])
    assert highest(p, start, modes[inner]) == pytest.approx(5.0, abs=1e-8)
    (p_bar,) = ad.gradient(lambda p: highest(p, start, modes[inner]), p)
    np.testing.assert_allclose(p_bar, [2.0, 4.0], rtol=1e-12)


@pytest.mark.parametrize("modes", ["ff", "fr", "rf", "rr"])
def test_the_search_of_particle(modes):
    """The output that GradBench expects (``run.py`` of its eval ``particle``), from an integer. In
    the other style, and of ``saddle``, it is `benchmarks.second_order` that asks for it."""
    found, _ = load("particle", "arrays")[modes].run({"w": 0})
    assert found == pytest.approx(0.2071918746486116, rel=1e-9)
