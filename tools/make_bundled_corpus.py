"""Writes the bundled corpus, or checks that the committed files are what it would write.

python tools/make_bundled_corpus.py            write train.jsonl, dev.jsonl and test.jsonl
python tools/make_bundled_corpus.py --check    compare them byte for byte; exit code 1 if they differ
python tools/make_bundled_corpus.py --sample 20 [--seed 7]    print texts picked at random
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

from bundled.compose import Composer
from bundled.shapes import Record, read_shapes
from bundled.world import World

SEED = 20200
TABLES = {"train": 420, "dev": 54, "test": 54}
TEXTS_A_TABLE = (4, 6)
TRIES = 60

FOLDER = Path(__file__).resolve().parent.parent / "src/textsplice/corpus/bundled"


def delexicalize(record: Record, text: str) -> str:
    """The text with every value replaced by its field's name, longest values first."""
    pairs = [
        (value, name)
        for name, values in record.items()
        for value in (values if isinstance(values, list) else [values])
    ]
    for value, name in sorted(pairs, key=lambda pair: -len(pair[0])):
        text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", name, text, flags=re.IGNORECASE)
    return " ".join(text.split())


def texts_of(record: Record, composer: Composer, forbidden: frozenset[str]) -> list[str]:
    """Different texts of one table, none of whose delexicalized forms is forbidden."""
    count = composer.rng.randint(*TEXTS_A_TABLE)
    texts: list[str] = []
    for _ in range(TRIES):
        text = composer.compose(record)
        if text and text not in texts and delexicalize(record, text) not in forbidden:
            texts.append(text)
        if len(texts) == count:
            break
    return texts


def make_corpus() -> dict[str, str]:
    """The content of each split's file."""
    rng = Random(SEED)
    walks = iter(World.read().walks(sum(TABLES.values()), rng))
    composer = Composer(read_shapes(), rng)
    files: dict[str, str] = {}
    seen_in_train: set[str] = set()
    for split, tables in TABLES.items():
        # What stands delexicalized in train would test nothing but memory.
        forbidden = frozenset(seen_in_train)
        rows: list[tuple[Record, str]] = []
        for _ in range(tables):
            record = next(walks)
            rows += [(record, text) for text in texts_of(record, composer, forbidden)]
        if split == "train":
            seen_in_train = {delexicalize(record, text) for record, text in rows}
        files[f"{split}.jsonl"] = "".join(lines(split, rows))
    return files


def lines(split: str, rows: list[tuple[Record, str]]) -> Iterator[str]:
    """The lines of a split's file."""
    for number, (record, text) in enumerate(rows, start=1):
        row = {"id": f"{split}-{number:04}", "table": record, "text": text}
        yield json.dumps(row, ensure_ascii=False) + "\n"


def stale_files(files: dict[str, str]) -> list[str]:
    """Names of the committed files that are missing or different."""
    return [
        name
        for name, content in files.items()
        if not (FOLDER / name).is_file() or (FOLDER / name).read_bytes() != content.encode("utf-8")
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--sample", type=int, metavar="N", help="print N texts instead of writing")
    parser.add_argument("--seed", type=int, default=0, help="which texts --sample picks")
    arguments = parser.parse_args()

    files = make_corpus()
    if arguments.sample:
        rows = [json.loads(line) for content in files.values() for line in content.splitlines()]
        for row in Random(arguments.seed).sample(rows, arguments.sample):
            print(f"{row['id']}  {json.dumps(row['table'], ensure_ascii=False)}\n    {row['text']}")
        return 0
    if arguments.check:
        stale = stale_files(files)
        print(f"differ: {', '.join(stale)}" if stale else "the bundled corpus is up to date")
        return 1 if stale else 0
    for name, content in files.items():
        (FOLDER / name).write_bytes(content.encode("utf-8"))
        print(f"{name}: {content.count(chr(10))} texts, {len(content.encode('utf-8')):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
