"""What is computed from weights alone, kept while they are the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor


class Kept:
    """One tensor, and the weights that it was made from; each change of a weight has a number."""

    def __init__(self) -> None:
        self._made_from: list[tuple[Tensor, int, str]] = []
        self._value: Tensor | None = None

    def of(self, weights: Sequence[Tensor], make: Callable[[], Tensor]) -> Tensor:
        """The tensor, made again if a weight is another one, has changed, or was moved."""
        now = [(weight, weight._version, str(weight.device)) for weight in weights]
        same = len(now) == len(self._made_from) and all(
            one is other and number == before and device == there
            for (one, number, device), (other, before, there) in zip(now, self._made_from, strict=True)
        )
        if self._value is None or not same:
            self._value, self._made_from = make(), now
        return self._value
