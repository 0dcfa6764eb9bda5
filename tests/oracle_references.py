"""What the oracle must agree with, written to be obviously right rather than fast."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

Text = tuple[str, ...]

IMPOSSIBLE = 10**6


def texts_of(letters: str, longest: int, shortest: int = 0) -> list[Text]:
    """All texts of these letters up to a length."""
    return [text for n in range(shortest, longest + 1) for text in product(letters, repeat=n)]


def parse_cost(target: Text, neighbors: tuple[Text, ...]) -> int:
    """The cheapest parse under the paper's grammar, rule by rule, with half-open spans.

    `sentence` is the paper's S, `gap_first` its C(n,s), `resumed` its R(n,s).
    """

    @cache
    def sentence(a: int, b: int) -> int:
        best = min((sentence(a, m) + sentence(m, b) for m in range(a + 1, b)), default=IMPOSSIBLE)
        for n, neighbor in enumerate(neighbors):
            for k in range(len(neighbor)):
                for piece in range(1, min(b - a, len(neighbor) - k) + 1):
                    if neighbor[k : k + piece] != target[a : a + piece]:
                        break
                    if piece == b - a:
                        best = min(best, 1)
                    for s in range(k + piece, len(neighbor)):
                        best = min(best, 1 + gap_first(n, s, a + piece, b))
        return best

    @cache
    def gap_first(n: int, s: int, a: int, b: int) -> int:
        return min((sentence(a, m) + resumed(n, s, m, b) for m in range(a + 1, b)), default=IMPOSSIBLE)

    @cache
    def resumed(n: int, s: int, a: int, b: int) -> int:
        neighbor, best = neighbors[n], IMPOSSIBLE
        for piece in range(1, min(b - a, len(neighbor) - s) + 1):
            if neighbor[s : s + piece] != target[a : a + piece]:
                break
            if piece == b - a:
                best = 0
            for u in range(s + piece, len(neighbor)):
                best = min(best, gap_first(n, u, a + piece, b))
        return best

    return sentence(0, len(target)) if target else 0


def most_kept(target: Text, neighbors: tuple[Text, ...]) -> int:
    """The most tokens that a first splice can leave in the text if it spans all of it, at least cost."""
    total = parse_cost(target, neighbors)

    def kept(neighbor: Text, q: int, t: int, cost: int) -> int:
        if target[q] != neighbor[t] or cost > total:
            return -IMPOSSIBLE
        if q == len(target) - 1:
            return 1 if cost == total else -IMPOSSIBLE
        goes_on = kept(neighbor, q + 1, t + 1, cost) if t + 1 < len(neighbor) else -IMPOSSIBLE
        resumes = (
            kept(neighbor, resumed, later, cost + parse_cost(target[q + 1 : resumed], neighbors))
            for resumed in range(q + 2, len(target))
            for later in range(t + 1, len(neighbor))
            if target[resumed] == neighbor[later]
        )
        return 1 + max(goes_on, *resumes, -IMPOSSIBLE)

    return max(kept(neighbor, 0, t, 1) for neighbor in neighbors for t in range(len(neighbor)))


def least_splices(neighbors: tuple[Text, ...], longest: int) -> dict[Text, int]:
    """Breadth-first search over splices: the least number that makes each text up to a length.

    It knows nothing of the grammar, and canvases on the way may be of any length.
    """
    spans = {text[k:m] for text in neighbors for k in range(len(text)) for m in range(k + 1, len(text) + 1)}
    letters = "".join({letter for text in neighbors for letter in text})
    costs: dict[Text, int] = {(): 0}
    seen: set[Text] = {()}
    frontier: set[Text] = {()}
    wanted = len(texts_of(letters, longest))
    for step in range(1, longest + 1):
        for canvas in frontier:
            for text in _spliced(canvas, spans, keep=longest):
                if len(text) <= longest:
                    costs.setdefault(text, step)
        if len(costs) == wanted:
            break
        frontier = {text for canvas in frontier for text in _spliced(canvas, spans)} - seen
        seen |= frontier
    return costs


def _spliced(canvas: Text, spans: set[Text], keep: int | None = None) -> Iterator[Text]:
    """All canvases one splice away; with `keep`, only those that keep fewer tokens than that."""
    most = len(canvas) if keep is None else min(len(canvas), keep - 1)
    for left in range(most + 1):
        for right in range(most - left + 1):
            for span in spans:
                yield canvas[:left] + span + canvas[len(canvas) - right :]
