"""Names of the variables that lowering adds."""

from __future__ import annotations

from collections.abc import Iterable

from adjoint.ir.nodes import Var


class Names:
    """Make variables whose names the function does not use."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._temporaries = 0

    def temporary(self) -> Var:
        """Return ``_1``, ``_2``, …."""
        while True:
            self._temporaries += 1
            name = f"_{self._temporaries}"
            if name not in self._taken:
                return Var(name)

    def variable(self, stem: str) -> Var:
        """Return a hidden variable, named `stem` if this name is free."""
        name, number = stem, 1
        while name in self._taken:
            number += 1
            name = f"{stem}_{number}"
        self._taken.add(name)
        return Var(name)
