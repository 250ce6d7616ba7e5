"""The public function `explain`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adjoint.diagnostics.function_argument import demand_function
from adjoint.diagnostics.public_function import public

if TYPE_CHECKING:
    from adjoint.explanation.explanation import Explanation


@public
def explain(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Explanation:
    """Run the gradient of a function and show what happens in it, line by line.

    The values and the derivative are those of `withgradient`, by an interpreting tier that takes
    some hundred times as long; `f` runs once, the pullbacks of its operations several times.

    Parameters
    ----------
    f : callable
        Returns one real number.
    *args
        The point: as for `gradient`.
    **kwargs
        Passed through, held constant.

    Returns
    -------
    Explanation
        Printed: each line with the values, the local derivatives and the cotangents that arrive.
        In a notebook, or as a file by its ``save("page.html")``: a page with sliders for loops and
        calls, the generated code, the graph, and the contributions to each input, of which
        ``to("x[3]")`` gives one. Values of the first 2,000 operations are kept.

    Raises
    ------
    NotScalarError
        `f` returned something else.

    Examples
    --------
    >>> found = explain(lambda x, y: x * y, 3.0, 4.0)
    >>> found.value, found.gradient
    (12.0, (4.0, 3.0))
    """
    # on first use, with what draws graphs and pages
    from adjoint.explanation.explanation import Explanation
    from adjoint.explanation.run import observed

    demand_function(f, "explain(f, x)")
    return Explanation(observed(f, args, kwargs))
