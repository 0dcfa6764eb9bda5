"""What a store's records look like: the fields, their kinds, and values that are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from textsplice.neighbors.store import Store
from textsplice.slots.numbers import quantity
from textsplice.text.yes_no import is_yes_or_no

MOST_VALUES = 50
MOST_TABLES = 50_000  # that are looked at
MOSTLY = 0.9


def describe_fields(store: Store) -> list[dict[str, object]]:
    """The fields, in the order in which records first name them."""
    tables = store.tables[:MOST_TABLES]
    counts: dict[str, Counter[str]] = {}
    having: Counter[str] = Counter()
    several: Counter[str] = Counter()
    for table in tables:
        for name, values in table:
            counts.setdefault(name, Counter()).update(values)
            having[name] += bool(values)
            several[name] += len(values) > 1
    return [
        {
            "name": name,
            "kind": store.kinds.get(name, "").replace("/", "-") or _kind(list(known), several[name]),
            "share": round(having[name] / max(1, len(tables)), 4),
            "list": bool(several[name]) or store.kinds.get(name) == "list",
            "values": [value for value, _ in known.most_common(MOST_VALUES)],
            "distinct": len(known),
        }
        for name, known in counts.items()
    ]


def example_record(store: Store) -> dict[str, str | list[str]]:
    """A record of the store with the median number of fields."""
    tables = sorted(store.tables[:1000], key=lambda table: sum(bool(values) for _, values in table))
    return tables[len(tables) // 2].to_record() if tables else {}


def _kind(values: Sequence[str], several: int) -> str:
    """A guess where kinds of fields were not looked for."""
    if values and all(map(is_yes_or_no, values)):
        return "yes-no"
    if several:
        return "list"
    numbers = sum(quantity(value) is not None for value in values)
    return "number" if values and numbers >= MOSTLY * len(values) else "said"
