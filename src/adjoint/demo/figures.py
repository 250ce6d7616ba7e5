"""The figures of the demo, in one style."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import adjoint as ad
from adjoint.demo.cubic import CubicResult, Polynomial
from adjoint.demo.moons import MoonsResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, MUTED, GRID = "#1f2937", "#6b7280", "#e5e7eb"
BLUE, ORANGE, GREEN = "#2563eb", "#ea580c", "#059669"
PALE_BLUE, PALE_ORANGE = "#a5c0fb", "#fbbf9d"

STYLE: Any = {
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "font.size": 10,
    "axes.titlesize": 11.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 2.0,
    "lines.solid_capstyle": "round",
}


def write(folder: Path, cubic: CubicResult, moons: MoonsResult) -> list[Path]:
    """Draw all figures into `folder`, creating it if needed; return their paths."""
    import matplotlib  # an extra
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    drawings: dict[str, tuple[tuple[float, float], list[Any]]] = {
        "cubic.png": ((6.4, 4.4), [lambda ax: draw_cubic(ax, cubic)]),
        "loss.png": (
            (9.6, 3.9),
            [lambda ax: draw_cubic_loss(ax, cubic), lambda ax: draw_moons_loss(ax, moons)],
        ),
        "moons.png": ((6.4, 4.4), [lambda ax: draw_moons(ax, moons)]),
        "overview.png": (
            (14.4, 4.3),
            [
                lambda ax: draw_cubic(ax, cubic),
                lambda ax: draw_losses(ax, cubic, moons),
                lambda ax: draw_moons(ax, moons),
            ],
        ),
    }
    paths = []
    with matplotlib.rc_context(STYLE):
        for name, (size, panels) in drawings.items():
            figure = Figure(figsize=size, layout="constrained")
            for ax, draw in zip(np.ravel(figure.subplots(1, len(panels))), panels, strict=True):
                draw(ax)
            paths.append(_save(figure, folder / name))
    return paths


def _save(figure: Figure, path: Path) -> Path:
    engine: Any = figure.get_layout_engine()
    engine.set(w_pad=0.12, h_pad=0.08)  # inches
    figure.savefig(path)
    return path


def draw_cubic(ax: Axes, result: CubicResult) -> None:
    """Draw the data and the fitted curves."""
    x = np.linspace(-5.2, 5.2, 300)
    ax.scatter(result.xs, result.ys, s=16, color=MUTED, alpha=0.55, linewidths=0, label="data")
    looks: dict[str, dict[str, Any]] = {
        "target": {"color": INK, "linewidth": 1.2, "linestyle": (0, (1, 2))},
        "least squares": {"color": BLUE, "linewidth": 3.5, "alpha": 0.55},
        "gradient descent": {"color": ORANGE, "linewidth": 1.8},
    }
    for fit in result.fits:
        ax.plot(x, Polynomial(fit.weights)(x), label=fit.method, **looks[fit.method])
    ax.set(title="A noisy cubic, fitted through map(evalpoly)", xlabel="x", ylabel="y")
    ax.legend(loc="upper left")


def draw_cubic_loss(ax: Axes, result: CubicResult) -> None:
    """Draw the loss of each step, and the best possible one."""
    best = next(fit.loss for fit in result.fits if fit.method == "least squares")
    steps = np.arange(1, len(result.history) + 1)
    ax.plot(steps, result.history, color=ORANGE, label="gradient descent")
    ax.axhline(best, color=BLUE, linewidth=1.2, linestyle="--", label="least squares")
    ax.set(
        xscale="log", yscale="log", title="Cubic: mean squared error", xlabel="step", ylabel="loss"
    )
    ax.legend(loc="upper right")


def draw_moons_loss(ax: Axes, result: MoonsResult) -> None:
    """Draw the loss of each step."""
    ax.plot(np.arange(1, len(result.history) + 1), result.history, color=GREEN)
    ax.set(yscale="log", title="Moons: cross-entropy", xlabel="step", ylabel="loss")


def draw_losses(ax: Axes, cubic: CubicResult, moons: MoonsResult) -> None:
    """Draw both losses relative to their start, on one pair of axes."""
    for name, history, color in (
        ("cubic", cubic.history, ORANGE),
        ("moons", moons.history, GREEN),
    ):
        values = np.array(history) / history[0]
        ax.plot(np.arange(1, len(values) + 1), values, color=color, label=name)
    ax.set(
        xscale="log",
        yscale="log",
        title="Gradient descent",
        xlabel="step",
        ylabel="loss / loss at the start",
    )
    ax.legend(loc="lower left")


def draw_moons(ax: Axes, result: MoonsResult) -> None:
    """Draw the data on the predicted probability, with the boundary where it is one half."""
    from matplotlib.colors import LinearSegmentedColormap

    low, high = result.X.min(axis=0) - 0.35, result.X.max(axis=0) + 0.35
    x, y = np.meshgrid(np.linspace(low[0], high[0], 300), np.linspace(low[1], high[1], 240))
    scores = result.model(np.stack([x.ravel(), y.ravel()], axis=1))
    p = ad.nn.softmax(scores)[:, 1].reshape(x.shape)
    shades = LinearSegmentedColormap.from_list("moons", [PALE_BLUE, "#ffffff", PALE_ORANGE])
    image = ax.imshow(
        p,
        cmap=shades,
        vmin=0,
        vmax=1,
        extent=(low[0], high[0], low[1], high[1]),
        origin="lower",
        interpolation="bilinear",
        aspect="auto",
    )
    ax.contour(x, y, p, levels=[0.1, 0.9], colors=MUTED, linewidths=0.8, linestyles="--")
    ax.contour(x, y, p, levels=[0.5], colors=INK, linewidths=1.8)
    for label, color, name in ((0, BLUE, "upper moon"), (1, ORANGE, "lower moon")):
        points = result.X[result.labels == label]
        ax.scatter(
            points[:, 0],
            points[:, 1],
            s=26,
            color=color,
            edgecolors="white",
            linewidths=0.7,
            label=name,
            zorder=3,
        )
    colorbar: Any = ax.figure.colorbar(image, ax=ax, ticks=[0, 0.5, 1], pad=0.02, aspect=30)
    colorbar.outline.set_visible(False)
    colorbar.set_label("probability of the lower moon")
    ax.grid(False)
    ax.set(
        title=f"Two moons: {result.accuracy:.1%} right",
        xlabel="$x_1$",
        ylabel="$x_2$",
        xlim=(low[0], high[0]),
        ylim=(low[1], high[1]),
    )
