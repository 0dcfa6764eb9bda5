"""A derivation for a terminal without colors: one canvas a splice, what came in marked with brackets."""

from __future__ import annotations

from collections.abc import Sequence

from textsplice.search.generation import Generation, Step
from textsplice.text.tokens import BEGIN, END, MASK

# Special tokens are control characters; a terminal must not see them.
SHOWN = {BEGIN: "⟨", END: "⟩", MASK: "▢"}


def plain_view(generation: Generation) -> str:
    """The table, the canvases and the text, as lines."""
    lines = [f"{name}: {' | '.join(values)}" for name, values in generation.table]
    for number, step in enumerate(generation.steps(), start=1):
        lines += ["", f"{number}. {_what(step, generation)}", f"   {_canvas(step)}"]
    lines += ["", _outcome(generation)]
    return "\n".join(lines)


def shown(tokens: Sequence[str]) -> str:
    """Tokens apart by spaces, special ones as marks."""
    return " ".join(SHOWN.get(token, token) for token in tokens)


def _what(step: Step, generation: Generation) -> str:
    source, begin = step.splice.neighbor, step.splice.begin
    kind = generation.sources.kind(source)
    label = generation.sources.label(source, begin)
    place = {"table": f"field {label}", "neighbor": f"neighbour {label}", "vocabulary": label}[kind]
    change = f"replace “{shown(step.removed)}”" if step.removed else "insert"
    return f"{change} from {place}"


def _canvas(step: Step) -> str:
    start = step.splice.start
    stop = start + len(step.inserted)
    parts = (
        shown(step.canvas[:start]),
        f"[{shown(step.canvas[start:stop])}]",
        shown(step.canvas[stop:]),
    )
    return " ".join(part for part in parts if part)


def _outcome(generation: Generation) -> str:
    if generation.status == "abstained":
        return f"no text: {generation.reason}"
    note = f" (unfinished: {generation.reason})" if generation.status == "unfinished" else ""
    return f"{generation.text}{note}"
