"""Made corpora up to a million records with texts: minutes, memory and bytes of `prepare`, queries, traces.

    python benchmarks/scale.py FOLDER --rows 10000 100000 582659 1000000 [--derive 20000] [--workers 1]

For each size, a corpus is made by templates with a seed, and prepared by the command itself. Memory is the
largest sum over the command and its workers of what is resident, looked at once a second (mapped files
count where they are in memory). Then one process asks for neighbors and traces made texts. With `--derive N`,
of sizes beyond it only the first N records get neighbors and derivations: to search a million records among a
million takes hours of one core. docs/scale.md says what was measured of which size. Growth exponents are
slopes between sizes, log to log.
Everything is made in FOLDER and removed after.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
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


def records(rows: int, seed: int = 1) -> Iterator[dict[str, str]]:
    """Records of three to eight fields, with a text each."""
    rng = random.Random(seed)
    towns = [word(rng) for _ in range(2000)]
    owners = [f"{word(rng)} {word(rng)}" for _ in range(5000)]
    for number in range(rows):
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


def write_corpus(path: Path, rows: int, seed: int = 1) -> None:
    """The records as JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        for record in records(rows, seed):
            file.write(json.dumps(record) + "\n")


class Watch(threading.Thread):
    """The most bytes that a process and its descendants have in memory."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.process, self.most, self.ended = process, 0, threading.Event()

    def run(self) -> None:
        while not self.ended.wait(1.0):
            self.most = max(self.most, sum(resident(each) for each in family(self.process)))


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


def command(*arguments: str, of: list[str] | None = None) -> dict[str, float]:
    """Runs a command of ours: seconds, processor seconds, peak bytes."""
    began = time.monotonic()
    asked = [sys.executable, *of] if of else [sys.executable, "-m", "textsplice", *arguments]
    process = subprocess.Popen(asked, stdout=subprocess.DEVNULL)
    watch = Watch(process.pid)
    watch.start()
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    watch.ended.set()
    if code:
        raise SystemExit(f"{arguments[0]} ended with {code}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": time.monotonic() - began, "cpu seconds": used, "peak bytes": watch.most}


def bytes_of(folder: Path) -> int:
    """The size of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def make(config: str, derive: int) -> None:
    """`prepare`, which gives neighbors and derivations only to the first records."""
    from textsplice.arrow import column_ints, column_ragged, read_columns
    from textsplice.prepare import build
    from textsplice.prepare.inputs import SplitInputs

    class Part(build.Build):
        def _neighbors_and_derivations(self, split: str) -> None:
            encoded = read_columns(self.files.encoded_texts(split))
            table_of, targets = column_ints(encoded["table"]), column_ragged(encoded["tokens"])
            inputs, rows = SplitInputs(self.files, split), range(min(derive, len(targets)))
            began = time.process_time()
            bulk, key = self._neighbors(split, 0, rows, table_of, inputs)
            print(f"neighbors: {time.process_time() - began:.1f} s", file=sys.stderr)
            self._derivations(split, 0, key, rows, (targets, table_of), inputs, bulk)
            print(f"and derivations: {time.process_time() - began:.1f} s", file=sys.stderr)

    build.Build = Part

    def report(line: str) -> None:
        print(f"{time.process_time():.0f} s: {line}", file=sys.stderr, flush=True)

    build.prepare(config, threads=1, report=report, quiet=True)


def measure(folder: Path, rows: int, workers: int, derive: int, queries: int, traces: int) -> dict[str, Any]:
    """One size."""
    place = folder / str(rows)
    place.mkdir(parents=True)
    source, prepared = place / "made" / "train.jsonl", place / "prepared"
    source.parent.mkdir()
    write_corpus(source, rows)
    config = place / "config.toml"
    config.write_text(
        f'[corpus]\nsource = "{source.parent}"\nsplits = ["train"]\n[output]\nprepared = "{prepared}"\n'
    )
    options = ("--workers", str(workers)) if workers > 1 else ("--threads", "1")
    report: dict[str, Any] = {"records": rows, "corpus bytes": source.stat().st_size}
    if derive and rows > derive:
        report["records with derivations"] = derive
        report["prepare"] = command(of=[__file__, "--make", str(config), "--derive", str(derive)])
    else:
        report["prepare"] = command("prepare", str(config), *options)
    report["prepared bytes"] = bytes_of(prepared)
    report["store bytes"] = bytes_of(prepared / "store")
    report["texts in the store"] = len_of(prepared)
    drafts = place / "drafts.jsonl"
    write_corpus(drafts, traces, seed=2)
    lines = [json.loads(line) for line in drafts.read_text().splitlines()]
    told = [{"id": each.pop("id"), "text": each.pop("text"), "table": each} for each in lines]
    drafts.write_text("".join(json.dumps(each) + "\n" for each in told))
    opened = command("trace", str(prepared), str(drafts), "--out", str(place / "first.jsonl"))
    again = command("trace", str(prepared), str(drafts), "--out", str(place / "second.jsonl"))
    report["trace, first start"], report["trace, second start"] = opened, again
    asked = subprocess.run(
        [sys.executable, __file__, "--ask", str(prepared), str(drafts), "--queries", str(queries)],
        check=True,
        capture_output=True,
        text=True,
    )
    report |= json.loads(asked.stdout)
    shutil.rmtree(place)
    return report


def len_of(prepared: Path) -> int:
    """How many texts a store has."""
    import pyarrow.parquet as pq

    return pq.read_metadata(prepared / "store" / "texts.parquet").num_rows


def ask(prepared: Path, drafts: Path, queries: int) -> dict[str, float]:
    """Queries and traces a second of one opened store, in processor time of one thread."""
    from textsplice.corpus import Table
    from textsplice.runs import Prepared
    from textsplice.trace.opening import open_texts
    from textsplice.trace.tracing import Tracer

    opened = Prepared.open(prepared)
    store = opened.store
    rows = [json.loads(line) for line in drafts.read_text().splitlines()]
    tables = [Table.of(each["table"]) for each in rows]
    store.search(tables[0], 20)  # compiles
    features = [store.features(table) for table in tables][:queries]
    began = time.process_time()
    store.index.search_many(features, 20, allow=store.offered)
    found = {"queries per cpu second": len(features) / (time.process_time() - began)}
    del store, features
    tracer = Tracer(open_texts(opened, quiet=True))
    tracer.trace(rows[0]["text"], tables[0])
    began = time.process_time()
    for row, table in zip(rows, tables, strict=True):
        tracer.trace(row["text"], table)
    return found | {"traces per cpu second": len(rows) / (time.process_time() - began)}


def exponents(reports: list[dict[str, Any]]) -> dict[str, float]:
    """Slopes from the first size to the last, log to log."""
    first, last = reports[0], reports[-1]

    def slope(value: Any) -> float:
        return round(math.log(value(last) / value(first)) / math.log(last["records"] / first["records"]), 2)

    return {
        "cpu of prepare": slope(lambda r: r["prepare"]["cpu seconds"]),
        "peak memory of prepare": slope(lambda r: r["prepare"]["peak bytes"]),
        "bytes on disk": slope(lambda r: r["prepared bytes"]),
        "cpu of a query": slope(lambda r: 1 / r["queries per cpu second"]),
        "cpu of a trace": slope(lambda r: 1 / r["traces per cpu second"]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("drafts", type=Path, nargs="?")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 582_659, 1_000_000])
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--traces", type=int, default=100)
    parser.add_argument("--derive", type=int, default=0)
    parser.add_argument("--make", help=argparse.SUPPRESS)
    parser.add_argument("--ask", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=RESULTS / "scale.json")
    given = parser.parse_args()
    if given.make:
        make(given.make, given.derive)
        return
    if given.ask:
        print(json.dumps(ask(given.folder, given.drafts, given.queries)))
        return
    reports: list[dict[str, Any]] = []
    for rows in given.rows:
        reports.append(measure(given.folder, rows, given.workers, given.derive, given.queries, given.traces))
        print(json.dumps(reports[-1]), flush=True)
        found = {"sizes": reports, "exponents": exponents(reports) if len(reports) > 1 else {}}
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
