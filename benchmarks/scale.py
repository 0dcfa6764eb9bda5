"""Made corpora up to a million records with texts: what all steps take at each size, and how that grows.

    python benchmarks/scale.py FOLDER --rows 10000 100000 582659 1000000 [--derive 2000] [--workers 1]

For each size, a corpus is made by templates with a seed, read in each format, and prepared by the command
itself; then texts are traced, written by swap and added, and one process asks for neighbors and traces.
Memory is the largest sum over a command and its workers of what is resident, looked at once a second (mapped
files count where they are in memory). With `--derive N`, of sizes beyond it only the first N records get
neighbors and derivations: to search a million records among a million takes hours of one core.

What each step gave is kept in FOLDER until its size is done: the same command goes on where it was stopped.
Sizes that `--out` has already are not measured again; growth exponents are slopes between all that it has,
log to log. What is made in FOLDER is removed after, unless `--keep` is given.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import random
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
FORMATS = ("jsonl", "csv", "parquet")
KINDS = ("mill", "inn", "museum", "garden", "tower", "harbour", "market", "library", "theatre", "chapel")
FOODS = ("French", "Italian", "Thai", "English", "Indian", "Greek", "Spanish", "Turkish")
RATINGS = ("low", "average", "high", "1 out of 5", "3 out of 5", "5 out of 5")
SYLLABLES = (
    "bar",
    "ell",
    "or",
    "win",
    "tam",
    "ash",
    "ley",
    "don",
    "mere",
    "wick",
    "holm",
    "ford",
    "by",
    "ton",
)
OPENINGS = (
    "{name} is a {kind} in {town}",
    "In {town} there is a {kind} called {name}",
    "The {kind} {name} stands in {town}",
    "{name}, a {kind}, can be found in {town}",
    "Visitors of {town} like the {kind} {name}",
)
CLAUSES = {
    "food": (" that serves {food} food", " with a {food} kitchen", ", known for its {food} dishes"),
    "year": (". It was built in {year}", ". It dates from {year}", ". Work on it began in {year}"),
    "rating": (". Its rating is {rating}", ". Customers rate it {rating}", ". It has a {rating} rating"),
    "owner": (". It belongs to {owner}", ". The owner is {owner}", ", and {owner} looks after it"),
    "height": (". It is {height} metres high", ". At {height} metres it can be seen from afar"),
}


def word(rng: random.Random) -> str:
    """A made name; short ones are frequent."""
    return "".join(rng.choice(SYLLABLES) for _ in range(rng.choice((2, 2, 3)))).capitalize()


def records(rows: int, seed: int = 1, first: int = 0) -> Iterator[dict[str, str]]:
    """Records of three to eight fields, with a text each; their ids count from `first`."""
    rng = random.Random(seed)
    towns = [word(rng) for _ in range(2000)]
    owners = [f"{word(rng)} {word(rng)}" for _ in range(5000)]
    for number in range(first, first + rows):
        record = {
            "name": f"{word(rng)} {word(rng)}",
            "kind": rng.choice(KINDS),
            "town": towns[min(int(rng.expovariate(0.01)), len(towns) - 1)],
        }
        options = {
            "food": rng.choice(FOODS),
            "year": str(rng.randint(1200, 2020)),
            "rating": rng.choice(RATINGS),
            "owner": rng.choice(owners),
            "height": str(rng.randint(3, 120)),
        }
        record |= {key: options[key] for key in options if rng.random() < 0.6}
        text = rng.choice(OPENINGS) + "".join(rng.choice(CLAUSES[key]) for key in CLAUSES if key in record)
        yield {"id": f"r{number}", **record, "text": text.format(**record) + "."}


def write_corpus(path: Path, rows: int, seed: int = 1, first: int = 0) -> None:
    """The records as JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        for record in records(rows, seed, first):
            file.write(json.dumps(record) + "\n")


class Watch(threading.Thread):
    """The most bytes that a process and its descendants have in memory."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.process, self.most, self.ended = process, 0, threading.Event()

    def run(self) -> None:
        wait = 0.1  # the first looks come soon: some commands are short
        while not self.ended.wait(wait):
            self.most = max(self.most, sum(resident(each) for each in family(self.process)))
            wait = min(1.0, 2 * wait)


def family(process: int) -> list[int]:
    """A process and its descendants."""
    found = [process]
    for each in found:
        try:
            for task in Path(f"/proc/{each}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue
    return found


def resident(process: int) -> int:
    """Bytes in memory; a page that several processes share counts by its share of it."""
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


def command(*arguments: str) -> dict[str, float]:
    """Runs Python with arguments: seconds, processor seconds, peak bytes."""
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    watch = Watch(process.pid)
    watch.start()
    code = process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    watch.ended.set()
    if code:
        raise SystemExit(f"{' '.join(arguments)} ended with {code}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": time.monotonic() - began, "cpu seconds": used, "peak bytes": watch.most}


def textsplice(*arguments: str | Path) -> dict[str, float]:
    """Runs a command of ours."""
    return command("-m", "textsplice", *map(str, arguments))


def this(*arguments: str | Path) -> dict[str, float]:
    """Runs this file, for what is measured in a process of its own."""
    return command(__file__, *map(str, arguments))


def bytes_of(folder: Path) -> int:
    """The size of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def derive_only(count: int) -> None:
    """From here on, `prepare` and `add` give neighbors and derivations only to the first records."""
    from textsplice.arrow import column_ints, column_ragged, read_columns
    from textsplice.prepare import build
    from textsplice.prepare.inputs import SplitInputs

    def find(self: Any, split: str) -> None:
        encoded = read_columns(self.files.encoded_texts(split))
        table_of, targets = column_ints(encoded["table"]), column_ragged(encoded["tokens"])
        inputs, rows = SplitInputs(self.files, split), range(min(count, len(targets)))
        bulk, key = self._neighbors(split, 0, rows, table_of, inputs)
        self._derivations(split, 0, key, rows, (targets, table_of), inputs, bulk)

    build.Build._neighbors_and_derivations = find


def make(config: str) -> None:
    """`prepare`, with the seconds of each stage."""
    from textsplice.prepare import prepare

    def report(line: str) -> None:
        print(f"{time.process_time():.0f} s: {line}", file=sys.stderr, flush=True)

    prepare(config, threads=1, report=report, quiet=True)


def grow(prepared: str, texts: str, out: str) -> None:
    """`add`."""
    from textsplice.trace.add import add

    add(prepared, texts, out)


def read(path: Path) -> None:
    """Reads a corpus from its beginning to its end."""
    from textsplice.corpus import read_corpus

    sum(1 for _ in read_corpus(path, None))


class Steps:
    """What each step of a size gave, kept in a file: what is there is not done again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def do(self, name: str, work: Callable[[], Any]) -> None:
        if name in self.found:
            return
        self.found[name] = work()
        self.path.write_text(json.dumps(self.found))
        print(f"{name}: {json.dumps(self.found[name])}", flush=True)


def measure(place: Path, rows: int, given: argparse.Namespace) -> dict[str, Any]:
    """One size, in a folder of its own."""
    place.mkdir(parents=True, exist_ok=True)
    os.environ["XDG_CACHE_HOME"] = str(place / "cache")  # so that the first start of `trace` is one
    steps = Steps(place / "steps.json")
    source, prepared = place / "made" / "train.jsonl", place / "prepared"
    drafts, tables, more = place / "drafts.jsonl", place / "tables.jsonl", place / "more.jsonl"

    def make_corpus() -> int:
        source.parent.mkdir(exist_ok=True)
        write_corpus(source, rows)
        write_other_formats(source)
        write_questions(given.traces, drafts, tables)
        write_corpus(more, given.add, seed=3, first=rows)
        return source.stat().st_size

    def do_prepare() -> dict[str, float]:
        shutil.rmtree(prepared, ignore_errors=True)
        config = place / "config.toml"
        config.write_text(
            f'[corpus]\nsource = "{source.parent}"\nsplits = ["train"]\n[output]\nprepared = "{prepared}"\n'
        )
        if given.derive:
            return this("--make", config, "--derive", str(given.derive))
        options = ("--workers", str(given.workers)) if given.workers > 1 else ("--threads", "1")
        return textsplice("prepare", config, *options)

    def do_add() -> dict[str, float]:
        grown = place / "grown"
        shutil.rmtree(grown, ignore_errors=True)
        found = this("--grow", prepared, more, grown, "--derive", str(given.derive or rows + given.add))
        found["shards before"], found["shards after"] = shards_of(prepared), shards_of(grown)
        return found

    def do_ask() -> dict[str, float]:
        asked = [
            sys.executable,
            __file__,
            "--ask",
            str(prepared),
            str(drafts),
            "--queries",
            str(given.queries),
        ]
        return json.loads(subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True).stdout)

    steps.do("records", lambda: rows)
    steps.do("corpus bytes", make_corpus)
    for name in FORMATS:
        path = place / f"read.{name}" if name != "jsonl" else source
        steps.do(f"read {name}", lambda path=path: this("--read", path))
    steps.do("records with derivations", lambda: min(rows, given.derive or rows))
    steps.do("prepare", do_prepare)
    steps.do("prepared bytes", lambda: bytes_of(prepared))
    steps.do("store bytes", lambda: bytes_of(prepared / "store"))
    for start in ("first", "second"):
        out = place / f"{start}.jsonl"
        steps.do(f"trace, {start} start", lambda out=out: textsplice("trace", prepared, drafts, "--out", out))
    written = place / "written.jsonl"
    steps.do("generate by swap", lambda: textsplice("generate", prepared, tables, "--out", written))
    steps.do("asked", do_ask)
    steps.do("add", do_add)
    if not given.keep:
        shutil.rmtree(place)
    return steps.found


def without_text(record: dict[str, str]) -> dict[str, str]:
    """The fields of a record alone."""
    return {name: value for name, value in record.items() if name not in ("id", "text")}


def write_questions(count: int, drafts: Path, tables: Path) -> None:
    """Records that the corpus does not have: with texts to trace, and without."""
    with drafts.open("w", encoding="utf-8") as texts, tables.open("w", encoding="utf-8") as alone:
        for record in records(count, seed=2):
            row = {"id": record["id"], "table": without_text(record)}
            texts.write(json.dumps({**row, "text": record["text"]}) + "\n")
            alone.write(json.dumps(row) + "\n")


def write_other_formats(source: Path) -> None:
    """The records of a file of JSON lines as CSV and Parquet, too."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = ["id", "name", "kind", "town", *CLAUSES, "text"]
    schema = pa.schema([(name, pa.string()) for name in names])
    base = source.parent.parent / "read"
    with (
        source.open(encoding="utf-8") as file,
        base.with_suffix(".csv").open("w", encoding="utf-8", newline="") as table,
        pq.ParquetWriter(base.with_suffix(".parquet"), schema) as parquet,
    ):
        writer = csv.DictWriter(table, names)
        writer.writeheader()
        while batch := [json.loads(line) for line in islice(file, 10_000)]:
            writer.writerows(batch)
            parquet.write_table(pa.Table.from_pylist(batch, schema))


def shards_of(prepared: Path) -> int:
    """In how many shards the index by table is cut; 1 if it is not."""
    return len({path.name.split(".")[0] for path in (prepared / "store" / "index").glob("shard-*")}) or 1


def ask(prepared: Path, drafts: Path, queries: int) -> dict[str, float]:
    """Queries and traces a second of one opened store, in processor time of one thread."""
    from textsplice.corpus import Table
    from textsplice.runs import Prepared
    from textsplice.trace.opening import open_texts
    from textsplice.trace.tracing import Tracer

    opened = Prepared.open(prepared)
    store = opened.store
    features = [store.features(Table.of(without_text(each))) for each in records(queries, seed=4)]
    store.index.search_many(features[:1], 20, allow=store.offered)  # compiles
    began = time.process_time()
    store.index.search_many(features, 20, allow=store.offered)
    found = {"queries per cpu second": len(features) / (time.process_time() - began)}
    del store, features
    rows = [json.loads(line) for line in drafts.read_text().splitlines()]
    tables = [Table.of(each["table"]) for each in rows]
    tracer = Tracer(open_texts(opened, quiet=True))
    tracer.trace(rows[0]["text"], tables[0])
    began = time.process_time()
    for row, table in zip(rows, tables, strict=True):
        tracer.trace(row["text"], table)
    return found | {"traces per cpu second": len(rows) / (time.process_time() - began)}


def exponents(reports: list[dict[str, Any]]) -> dict[str, float]:
    """Slopes from the first size to the last, log to log."""
    first, last = reports[0], reports[-1]

    def slope(value: Callable[[dict[str, Any]], float]) -> float:
        return round(math.log(value(last) / value(first)) / math.log(last["records"] / first["records"]), 2)

    return {
        "cpu of prepare": slope(lambda r: r["prepare"]["cpu seconds"]),
        "peak memory of prepare": slope(lambda r: r["prepare"]["peak bytes"]),
        "bytes on disk": slope(lambda r: r["prepared bytes"]),
        "cpu of a query": slope(lambda r: 1 / r["asked"]["queries per cpu second"]),
        "cpu of a trace": slope(lambda r: 1 / r["asked"]["traces per cpu second"]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("drafts", type=Path, nargs="?")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 582_659, 1_000_000])
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--traces", type=int, default=100)
    parser.add_argument("--derive", type=int, default=0)
    parser.add_argument("--add", type=int, default=1000, help="texts that are added")
    parser.add_argument("--keep", action="store_true", help="keep what is made in FOLDER")
    parser.add_argument("--make", help=argparse.SUPPRESS)
    parser.add_argument("--grow", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--ask", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=RESULTS / "scale.json")
    given = parser.parse_args()
    if given.derive:
        derive_only(given.derive)
    if given.make:
        make(given.make)
    elif given.grow:
        grow(*given.grow)
    elif given.read:
        read(given.read)
    elif given.ask:
        print(json.dumps(ask(given.folder, given.drafts, given.queries)))
    else:
        measure_all(given)


def measure_all(given: argparse.Namespace) -> None:
    """The sizes that `--out` does not have yet."""
    known = json.loads(given.out.read_text())["sizes"] if given.out.exists() else []
    reports: dict[int, dict[str, Any]] = {each["records"]: each for each in known}
    for rows in given.rows:
        if rows in reports:
            continue
        reports[rows] = measure(given.folder / str(rows), rows, given)
        sizes = [reports[each] for each in sorted(reports)]
        found = {"sizes": sizes, "exponents": exponents(sizes) if len(sizes) > 1 else {}}
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(json.dumps(found["exponents"]), flush=True)


if __name__ == "__main__":
    main()
