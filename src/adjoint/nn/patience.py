"""When to stop a training that no longer gets better."""

from __future__ import annotations

import math


class Patience:
    """Counts rounds without a new lowest loss.

    Parameters
    ----------
    rounds : int or None
        How many there may be; ``None`` never stops.
    min_delta : float
        By how much a loss must be lower than the lowest one so far to count as such.
    """

    def __init__(self, rounds: int | None, min_delta: float) -> None:
        self.rounds: int | None = rounds
        self.min_delta: float = min_delta
        self._lowest, self._waited = math.inf, 0
        self._sum, self._samples = 0.0, 0

    def add(self, loss: float, samples: int) -> None:
        """Add the loss of a batch to the round."""
        self._sum += loss * samples
        self._samples += samples

    def is_over(self, loss: float | None = None) -> bool:
        """End the round; return whether to stop. By default its loss is the mean of the samples."""
        if loss is None:
            loss = self._sum / self._samples
        self._sum, self._samples = 0.0, 0
        if loss < self._lowest - self.min_delta:
            self._lowest, self._waited = loss, 0
        else:
            self._waited += 1
        return self.rounds is not None and self._waited >= self.rounds
