"""Damaged inputs: a sound one, changed a few times at random; the number of a case makes it again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import cast

TOKENS = (
    *(
        b"\0",
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\r",
        b"\n",
        b"\t",
        b" " * 400,
        b"\x1b[2J\x07",
    ),
    *(b"\xc2\x9b31m", "\u202e".encode(), "\u00ad".encode(), "漢字".encode(), "👩‍👩‍👧".encode()),
    *(b'"', b"'", b"\\", b",", b";", b":", b"=", b"#", b"?", b"...", b"|", b"_1", b"[", b"]", b"{", b"}"),
    *(b"[" * 1500, b'{"a":' * 1500, b"a." * 1500, b"9" * 4400, b"-1", b"0", b"1e999", b"-0.0", b"1_000"),
    *(b"NaN", b"Infinity", b"null", b"true", b"inf", b"99999999999999999999", b"\\ud800", b"\\u0000"),
    *(
        b"PAR1",
        b"\x1f\x8b",
        b"=cmd|' /C calc'!A0",
        b"[bold]x[/]",
        b"1979-05-27",
        b"../../x",
        b"\xf0\x9f\x92\xa9",
    ),
)
VALUES: tuple[object, ...] = (
    *(None, True, -1, 0, 3, 10**30, 10**4000 // 7, 1.5, 1e308, float("inf"), float("nan")),
    *(
        "",
        "x",
        "\x1b[31m",
        "\x00",
        "\ud800",
        "9" * 100,
        "a" * 3000,
        [],
        {},
        [[]],
        [None],
        {"a": {}},
        [1, 2, 3, 4, 5],
    ),
)


def damaged(seeds: Sequence[bytes], case: int) -> bytes:
    """Case number `case` of the inputs that begin from these seeds."""
    random = Random(case)
    content = random.choice(seeds)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        changed = _changed_json(content, random) if random.random() < 0.5 else None
        content = _changed_bytes(content, seeds, random) if changed is None else changed
    return content[: 1 << 18]


def _changed_bytes(content: bytes, seeds: Sequence[bytes], random: Random) -> bytes:
    start = random.randint(0, len(content))
    stop = min(len(content), start + random.choice((0, 1, 1, 2, 8, 64, 1024)))
    head, piece, tail = content[:start], content[start:stop], content[stop:]
    match random.randrange(7):
        case 0:  # a flipped bit
            flipped = bytes([piece[0] ^ (1 << random.randrange(8)), *piece[1:]]) if piece else b""
            return head + flipped + tail
        case 1:
            return head + tail
        case 2:
            return head
        case 3:
            return head + piece * random.choice((2, 3, 50)) + tail
        case 4:
            other = random.choice(seeds)
            return head + other[random.randint(0, len(other)) :]
        case 5:
            return head + bytes(random.randrange(256) for _ in range(random.randint(1, 6))) + tail
        case _:
            return head + random.choice(TOKENS) + tail


def _changed_json(content: bytes, random: Random) -> bytes | None:
    """One value, key or item of one line changed, if that line is JSON."""
    lines = content.split(b"\n")
    at = random.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):
        return None
    lines[at] = json.dumps(_changed(value, random, 0)).encode()
    return b"\n".join(lines)


def _changed(value: object, random: Random, depth: int) -> object:
    if random.random() < 0.15 or not isinstance(value, (dict, list)) or not value or depth > 40:
        return random.choice(VALUES)
    if isinstance(value, list):
        items = list(cast("list[object]", value))
        at = random.randrange(len(items))
        match random.randrange(5):
            case 0:
                del items[at]
            case 1:
                items.insert(at, items[at])
            case _:
                items[at] = _changed(items[at], random, depth + 1)
        return items
    record = dict(cast("dict[str, object]", value))
    key = random.choice(list(record))
    match random.randrange(6):
        case 0:
            del record[key]
        case 1:
            record[random.choice(("", "x", "\x1b[0m", key + " ", "0", "9" * 5000))] = record.pop(key)
        case _:
            record[key] = _changed(record[key], random, depth + 1)
    return record
