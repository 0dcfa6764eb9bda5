"""The command that gives the same text in a terminal."""

from __future__ import annotations

import itertools
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence

from textsplice.search.rules.rule import Rule
from textsplice.visible import escaped_json

END = "RECORD"
# The options in the order in which the command line makes rules of them.
ORDER = (
    *("require-fields", "forbid-words", "copy-only", "keep-sentences"),
    *("min-sentences", "max-sentences", "never-neighbors", "start-from"),
)


def command_line(served: Sequence[str], rules: Sequence[Rule], record: Mapping[str, object]) -> str:
    """`textsplice generate …`, with the record as its standard input."""
    words = ["textsplice", "generate", *served, *_options(rules)]
    row = escaped_json(json.dumps({"table": record}, ensure_ascii=False))
    return f"{shlex.join(words)} <<'{END}'\n{row}\n{END}\n"


def _options(rules: Sequence[Rule]) -> Iterator[str]:
    """Options that people know, where they give the same rules in the same order; else `--rule`."""
    said = [rule.to_dict() for rule in rules]
    places = [ORDER.index(rule.name) if rule.name in ORDER else len(ORDER) for rule in rules]
    plain = all(one < other for one, other in itertools.pairwise(places))
    for rule in said:
        options = _known(rule) if plain else None
        yield from options or ("--rule", json.dumps(rule, ensure_ascii=False))


def _known(rule: Mapping[str, object]) -> list[str] | None:
    match rule:
        case {"rule": "require-fields", "fields": list(names)}:
            return [word for name in names for word in ("--require", str(name))]
        case {"rule": "forbid-words", "words": list(words), **others}:
            more = ["--forbid-lookalikes"] if others.get("lookalikes") else []
            return [*(part for word in words for part in ("--forbid", str(word))), *more]
        case {"rule": "never-neighbors", "ids": list(ids)}:
            return [word for name in ids for word in ("--never", str(name))]
        case {"rule": "start-from", "id": str(name)}:
            return ["--start", name]
        case {"rule": "min-sentences" | "max-sentences" as name, "count": int(count)}:
            return [f"--{name}", str(count)]
        case {"rule": "copy-only" | "keep-sentences" as name}:
            return [f"--{name}"]
        case _:
            return None
