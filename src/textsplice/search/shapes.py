"""Whether a derivation has the shape that its policy's derivations have, within the limits of the search."""

from __future__ import annotations

from textsplice.config import SearchConfig
from textsplice.oracle.canvas import is_left_to_right
from textsplice.oracle.numbering import TABLE
from textsplice.policy.kind import Kind
from textsplice.search.approved import APPROVED
from textsplice.search.generation import Generation
from textsplice.search.swap import SWAP
from textsplice.text.linearize import Linearized
from textsplice.text.tokens import BEGIN, END, MASK
from textsplice.text.vocabulary import BEGIN_ID

MOST_TOKENS = 1_000_000  # of all canvases of a row


def misshapen(
    generation: Generation, kind: Kind | None, settings: SearchConfig | None, room: int | None
) -> str | None:
    """How a text that replays can't have been made by its kind of policy, as a clause; None if it can.

    `room` is how many tokens the policy can read; None if that or the settings are not known.
    """
    if kind is None:
        return None
    if kind.name == SWAP.name:
        return _swap(generation)
    if kind.name == APPROVED.name:
        return _approved(generation)
    if kind.writes == "tokens":
        return _too_long(generation, settings, room) or _tokens(generation)
    if kind.writes == "splices":
        return _too_many(generation, settings) or _splices(generation, room)
    return None


def _too_many(generation: Generation, settings: SearchConfig | None) -> str | None:
    count = len(generation.splices)
    if settings and count > settings.max_splices:
        return f"it has {count} splices where max_splices is {settings.max_splices}"
    return None


def _too_long(generation: Generation, settings: SearchConfig | None, room: int | None) -> str | None:
    count = len(generation.tokens)
    if settings and count > settings.max_tokens:
        return f"it has {count} tokens where max_tokens is {settings.max_tokens}"
    if room is not None and count > room:
        return f"it has {count} tokens, more than the {room} that its policy can read"
    return None


def _tokens(generation: Generation) -> str | None:
    """Every splice appends one token, and the first is begin."""
    first = generation.splices[0].neighbor
    if first != generation.sources.numbering.word(BEGIN_ID) or not is_left_to_right(generation.splices):
        return f"its splices do not append one token each, as {generation.policy!r} writes"
    return None


def _approved(generation: Generation) -> str | None:
    """One splice places the only neighbor whole."""
    neighbors = generation.sources.neighbors
    lengths = [len(neighbor.tokens) for neighbor in neighbors]
    whole = [(0, 0, generation.sources.numbering.neighbor(0), 0, length) for length in lengths]
    if len(whole) != 1 or [*map(tuple, generation.splices)] != whole:
        return "its splices do not place one whole text, as an approved one is given"
    return None


def _swap(generation: Generation) -> str | None:
    """One splice places a neighbor whole, the others replace its words by values, left to right.

    A part of a value may do: where `square metres` are the neighbor's, `169` is enough of `169 m²`.
    """
    sources = generation.sources
    first, *others = generation.splices
    whole = sources.numbering.is_neighbor(first.neighbor) and first.begin == 0
    if not whole or first.end != len(sources[first.neighbor]):
        return "its first splice does not place a whole neighbor, as swap does"
    right = 1
    for step, splice in enumerate(others, start=1):
        start, stop, source, begin, end = splice
        if source != TABLE or not _in_value(begin, end, sources.table) or not right <= start < stop:
            return f"splice {step} {tuple(splice)} does not replace words by a value, as swap does"
        right = start + (end - begin)
    return None


def _in_value(begin: int, end: int, table: Linearized) -> bool:
    """Whether a range is a whole value, or a part of one that holds a number: the number, or its unit."""
    for each in table.segments:
        if each.start <= begin and end <= each.stop:
            words = table.tokens[each.start : each.stop]
            return len(words) == end - begin or any(word[:1].isdigit() for word in words)
    return False


def _splices(generation: Generation, room: int | None) -> str | None:
    """The first splice begins with begin, none goes before it; end is placed last on the right, and stays."""
    length, ended = 0, False
    for step, splice in enumerate(generation.splices):
        start, stop, neighbor, begin, end = splice
        source = generation.sources[neighbor]
        first, last = source[begin], source[end - 1]
        where = f"splice {step} {tuple(splice)}"
        if (first == BEGIN) != (step == 0) or (step and not start):
            return f"{where} places begin, or goes before it" if step else f"{where} does not place begin"
        if MASK in (first, last):
            return f"{where} begins or ends with a mask"
        if (ended and stop == length) or (last == END and (ended or stop < length)):
            return f"{where} goes past the end, replaces it, or places it inside the text"
        length += end - begin - (stop - start)
        ended = ended or last == END
        if room is not None and length > room:
            return f"{where} makes a canvas of {length} tokens, more than the {room} that its policy can read"
    return _repeated(generation)


def _repeated(generation: Generation) -> str | None:
    """The search drops a canvas that it has seen before, so no derivation comes back to one."""
    canvas: list[str] = []
    seen: set[tuple[str, ...]] = set()
    work = 0
    for step, (start, stop, neighbor, begin, end) in enumerate(generation.splices):
        laid = list(generation.sources[neighbor][begin:end])
        work += len(canvas) + len(laid)
        if work > MOST_TOKENS:
            return f"its canvases have more than {MOST_TOKENS} tokens in all, so they are not compared"
        canvas[start:stop] = laid
        known = len(seen)
        seen.add(tuple(canvas))
        if len(seen) == known:
            return f"splice {step} {(start, stop, neighbor, begin, end)} makes a canvas that was there before"
    return None
