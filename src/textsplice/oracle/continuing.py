"""The fewest splices from any canvas to a text, and the splices that one should make next."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import InputError
from textsplice.oracle.derive import require_sources
from textsplice.oracle.numbering import Numbering
from textsplice.oracle.splice import Splice
from textsplice.oracle.stretches import Stretches, Target
from textsplice.ragged import Ragged

Token = TypeVar("Token", bound=Hashable)
LIMIT = 256  # best next splices of a canvas


class CostToGo:
    """The costs of canvases of ids. `stretches` is solved once; then a canvas costs microseconds.

    `oracle.canvas_kernel` says why the costs are least.
    """

    def __init__(self, stretches: Stretches, numbering: Numbering) -> None:
        self.stretches = stretches
        self.numbering = numbering
        self._ending = np.ascontiguousarray(stretches.S.T)

    def costs(self, canvases: Ragged) -> NDArray[np.int32]:
        """The fewest splices that turn each canvas into the target."""
        from textsplice.oracle.canvas_kernel import costs_to_go

        target = self.stretches.target
        if not len(target.ids) and len(canvases.values):
            raise InputError("no splice can empty a canvas.", remedy="Give a target that has a token.")
        kinds = self._kinds(canvases.values)
        return costs_to_go(self._ending, target.kinds, (kinds, canvases.offsets))

    def cost(self, canvas: NDArray[np.int32]) -> int:
        """The fewest splices that turn one canvas into the target."""
        return int(self.costs(Ragged(canvas, np.array([0, len(canvas)])))[0])

    def best_next(self, canvas: NDArray[np.int32], limit: int = LIMIT) -> list[Splice]:
        """The splices after which the cost is one less, at most `limit`; none if the canvas is the target.

        Each begins and ends with a token that stays, and replaces all that is between tokens that stay. Any
        other best splice has one of these inside: it copies more at its ends, or leaves tokens for others to
        replace. They are ordered by where they begin in the target, then by source and by where they begin
        in it; those that reach farther in the target come first.
        """
        from textsplice.oracle.canvas_kernel import next_splices, open_gaps

        total = self.cost(canvas)
        if not total:
            return []
        if limit < 1:
            raise InputError(f"{limit} splices were asked for.", remedy="Ask for at least one.")
        S, target = self.stretches.S, self.stretches.target
        gaps = open_gaps(S, target.kinds, self._kinds(canvas), total)
        splices = np.empty((limit, 5), dtype=np.int32)
        count = next_splices(
            S,
            gaps,
            target.ids,
            self.stretches.texts,
            self.stretches.matches,
            self.numbering.first_word,
            splices,
        )
        return [Splice(*row) for row in splices[:count].tolist()]

    def _kinds(self, tokens: NDArray[np.int32]) -> NDArray[np.int32]:
        """The kinds of a canvas's tokens; one that has an id of its own is not in the target."""
        kind_of = self.stretches.target.kind_of
        known = (tokens >= 0) & (tokens < len(kind_of))
        if known.all():
            return kind_of[tokens]
        kinds = np.full(len(tokens), -1, dtype=np.int32)
        kinds[known] = kind_of[tokens[known]]
        return kinds


class Continuing(Generic[Token]):
    """What `CostToGo` answers, for any hashable tokens, as `derive` takes them."""

    def __init__(self, target: Sequence[Token], neighbors: Sequence[Sequence[Token]]) -> None:
        require_sources(target, neighbors)
        self._ids = {token: number for number, token in enumerate(dict.fromkeys(target))}
        self._numbering = Numbering(len(neighbors))
        stretches = Stretches.solve(
            Target.of(self._encode(target), len(self._ids) + 1),
            store=Ragged.from_rows(map(self._encode, neighbors)),
            rows=np.arange(len(neighbors), dtype=np.int32),
            mask_id=-1,
        )
        self._costs = CostToGo(stretches, self._numbering)

    def cost(self, canvas: Sequence[Token]) -> int:
        """The fewest splices that turn a canvas into the target."""
        return self._costs.cost(self._encode(canvas))

    def costs(self, canvases: Iterable[Sequence[Token]]) -> list[int]:
        """The cost of each canvas."""
        return self._costs.costs(Ragged.from_rows(map(self._encode, canvases))).tolist()

    def best_next(self, canvas: Sequence[Token], limit: int = LIMIT) -> list[Splice]:
        """See `CostToGo.best_next`."""
        found = self._costs.best_next(self._encode(canvas), limit)
        return [splice._replace(neighbor=self._numbering.rank(splice.neighbor)) for splice in found]

    def _encode(self, tokens: Sequence[Token]) -> NDArray[np.int32]:
        unknown = len(self._ids)  # tokens that the target does not have
        return np.array([self._ids.get(token, unknown) for token in tokens], dtype=np.int32)
