"""The self-test of a standalone file."""

SELF_TEST = '''
def _moved(x, bar, step):
    """Return numbers moved by `step` along the signs of a wave, and the slope along it."""
    if isinstance(x, (list, tuple)):
        pairs = [_moved(part, None if bar is None else b, step) for part, b in zip(x, bar or x)]
        return type(x)([one for one, _ in pairs]), sum(slope for _, slope in pairs)
    if isinstance(x, dict):
        pairs = {key: _moved(x[key], bar and bar[key], step) for key in x}
        moved = {key: one for key, (one, _) in pairs.items()}
        return moved, sum(slope for _, slope in pairs.values())
    if bar is None or not isinstance(x, (float, complex, np.inexact, np.ndarray)):
        return x, 0.0
    if isinstance(x, np.ndarray) and x.dtype.kind not in "fc":
        return x, 0.0
    along = np.cos(1.0 + 2.0 * np.arange(np.size(x))).reshape(np.shape(x))
    moved = x + step * along
    moved = moved.astype(x.dtype) if isinstance(x, np.ndarray) else type(x)(moved)
    return moved, float(np.sum(np.real(np.conj(bar) * along)))


def _rounding(x):
    """Return the relative rounding error of the coarsest numbers in a structure."""
    if isinstance(x, (list, tuple, dict)):
        parts = x.values() if isinstance(x, dict) else x
        return max(map(_rounding, parts), default=0.0)
    dtype = getattr(x, "dtype", np.dtype(float))
    return float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0


def _self_test():
    """Compare the gradient with a central difference along one direction."""
    if EXAMPLE is None:
        print("no example is kept: it was too large")
        return
    args, named = EXAMPLE[:COUNT], dict(zip(NAMES, EXAMPLE[COUNT:]))
    step = max(_rounding(EXAMPLE), 2.2e-16) ** (1 / 3)
    value, bars = value_and_gradient(*args, **named)
    (up, slope), (down, _) = _moved(args, bars, step), _moved(args, bars, -step)
    above, below = value_and_gradient(*up, **named)[0], value_and_gradient(*down, **named)[0]
    difference = (above - below) / (2 * step)
    print(f"value {value}, slope {slope}, by differences {difference}")
    tolerance = 20 * step * max(abs(slope), abs(difference), 1e-3 * abs(value), 1e-6)
    assert abs(slope - difference) <= tolerance, "the gradient is not the slope"


if __name__ == "__main__":
    _self_test()
'''
