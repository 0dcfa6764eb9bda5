"""Withdrawn sources: are all uses found, and are remade texts free of them?

    python benchmarks/withdraw.py PREPARED [--generations 10000] [--sources 100] [--seed 0]

Texts are made by swap for every table of the prepared splits; the rest are dev references, traced. Random
sources are withdrawn. Their uses are compared, character by character, with a literal replay of the JSON,
which shares no code with the package. Then the folder is made without them, the texts concerned are made (or
traced) anew, verified against it, and searched for the withdrawn ids.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import textsplice
from textsplice import Table
from textsplice.runs import Prepared
from textsplice.search.rows import read_generations, row_text
from textsplice.splicer import Splicer
from textsplice.trace.withdraw import concerned, prepared_without

RESULTS = Path(__file__).parent / "results"
Use = tuple[str, str, int]  # file:line, source, character


def made(splicer: Splicer, prepared: Prepared, count: int) -> Iterator[str]:
    """Rows of JSON: swap for each distinct table, then traces of dev references."""
    splits = {name: prepared.split(name) for name in prepared.splits}
    tables = dict.fromkeys(table for split in splits.values() for table in split.tables)
    dev = splits["dev"]
    swapped = splicer.generate_many(list(tables)[:count], progress=False)
    yield from map(row_text, swapped)
    for row in range(len(dev)):
        table: Table = dev.tables[dev.table_of[row]]
        yield row_text(splicer.tracer.trace(dev.texts[row], table, id=dev.ids[row], exact=False))


def literal_uses(line: str) -> tuple[dict[str, set[int]], str]:
    """For each source that a row splices from, the places of its characters; from the JSON alone."""
    row: dict[str, Any] = json.loads(line)
    neighbors = row["sources"]["neighbors"]
    canvas: list[tuple[int, str]] = []
    touched: dict[str, set[int]] = {}
    for start, stop, number, begin, end in row["splices"]:
        if number == 0:
            tokens = row["sources"]["table"]["tokens"]
        elif number <= len(neighbors):
            tokens = neighbors[number - 1]["tokens"]
            touched.setdefault(neighbors[number - 1]["id"], set())
        else:
            tokens = [row["sources"]["words"][str(number - 1 - len(neighbors))]]
        canvas[start:stop] = [(number, token) for token in tokens[begin:end]]
    place = 0
    for number, token in canvas:
        for character in token:
            if character in "\x02\x03 ":
                continue
            while row["text"][place] == " ":
                place += 1
            assert row["text"][place] == character, (line, place)
            if 1 <= number <= len(neighbors):
                touched[neighbors[number - 1]["id"]].add(place)
            place += 1
    assert place == len(row["text"])
    return touched, row["text"]


def brute_force(file: Path, wanted: set[str]) -> tuple[set[Use], set[tuple[str, str]]]:
    """Every character of these sources, and sources of which no character is left."""
    characters: set[Use] = set()
    replaced: set[tuple[str, str]] = set()
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            for source, places in literal_uses(line)[0].items():
                if source in wanted:
                    characters |= {(f"{file}:{number}", source, place) for place in places}
                    replaced |= set() if places else {(f"{file}:{number}", source)}
    return characters, replaced


def found(file: Path, wanted: set[str]) -> tuple[set[Use], set[tuple[str, str]]]:
    """The same by `textsplice.trace`; the spaces between two words of a piece are left out."""
    characters: set[Use] = set()
    replaced: set[tuple[str, str]] = set()
    for each in concerned([file], wanted):
        for use in each.uses:
            if use.start is None or use.stop is None:
                replaced.add((each.where, use.source))
                continue
            assert use.quote == use.quote.strip()
            places = (at for at in range(use.start, use.stop) if use.text[at] != " ")
            characters |= {(each.where, use.source, at) for at in places}
    return characters, replaced


def sources_named(lines: Iterable[str]) -> set[str]:
    """All ids of texts that rows were offered."""
    return {each["id"] for line in lines for each in json.loads(line)["sources"]["neighbors"]}


def remade(old: Splicer, prepared: Prepared, file: Path, wanted: set[str], folder: Path) -> dict[str, object]:
    """Makes the texts concerned anew from a folder without the sources, and looks for these in them."""
    rows = [each.generation for each in concerned([file], wanted)]
    began = time.perf_counter()
    prepared_without(prepared, wanted, folder)
    seconds = time.perf_counter() - began
    new = Splicer.untrained(folder)
    again = list(new.generate_again((row for row in rows if not row.traced), progress=False))
    verified = textsplice.verify(again, new)
    traces = [new.tracer.trace(r.text, r.table, id=r.id, exact=False) for r in rows if r.traced]
    lines = [row_text(row) for row in (*again, *traces)]
    return {
        "concerned": len(rows),
        "made_again": len(again),
        "traced_again": len(traces),
        "verified": verified + sum(textsplice.verify(trace) for trace in traces),
        "rows_with_a_withdrawn_source": sum(bool(wanted & sources_named([line])) for line in lines),
        "store_rows_before": len(old.store),
        "store_rows_after": len(new.store),
        "seconds_to_make_the_folder": round(seconds, 1),
    }


def main() -> None:
    """Measures and prints."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("prepared", type=Path)
    options.add_argument("--generations", type=int, default=10_000)
    options.add_argument("--sources", type=int, default=100)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    prepared = Prepared.open(given.prepared)
    splicer = Splicer.untrained(prepared)
    with TemporaryDirectory() as temporary:
        file = Path(temporary) / "texts.jsonl"
        with file.open("w", encoding="utf-8") as out:
            out.writelines(islice(made(splicer, prepared, given.generations), given.generations))
        used = {source for line in file.open(encoding="utf-8") for source in literal_uses(line)[0]}
        chosen = set(random.Random(given.seed).sample(sorted(used), given.sources))
        began = time.perf_counter()
        ours = found(file, chosen)
        seconds = time.perf_counter() - began
        literal = brute_force(file, chosen)
        report = {
            "generations": sum(1 for _ in read_generations(file)),
            "sources_withdrawn": len(chosen),
            "sources_used_by_some_text": len(used),
            "characters_found": len(ours[0]),
            "characters_by_brute_force": len(literal[0]),
            "replaced_found": len(ours[1]),
            "replaced_by_brute_force": len(literal[1]),
            "equal": ours == literal,
            "rows_per_second": round(given.generations / seconds),
            "remade": remade(splicer, prepared, file, chosen, Path(temporary) / "without"),
        }
    print(json.dumps(report, indent=1))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "withdraw.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
