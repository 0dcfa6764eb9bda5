"""Examples per CPU second of each corpus reader, against another version of the package, interleaved.

    python benchmarks/readers.py --against OTHER/src

Each round reads the same files in a new process with one version, then with the other; the best round counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"
ROWS = 40_000
READ = """
import sys, time
from textsplice.corpus import read_corpus
best = {}
for source in sys.argv[1:]:
    split = "train" if source.startswith(("wikibio:", "webnlg:")) else None
    began = time.process_time()
    count = sum(1 for _ in read_corpus(source, split))
    best[source] = count / (time.process_time() - began)
import json; print(json.dumps(best))
"""


def write_corpora(folder: Path) -> list[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    records = [
        {
            "name": f"The Mill {n}",
            "eatType": "coffee shop",
            "area": "riverside",
            "rating": f"{n % 5} out of 5",
        }
        for n in range(ROWS)
    ]
    text = "The Mill is a coffee shop in the riverside area, with a good rating."
    with (folder / "a.jsonl").open("w") as file:
        file.writelines(json.dumps({"table": r, "text": text}) + "\n" for r in records)
    with (folder / "a.csv").open("w") as file:
        file.write("name,eatType,area,rating,text\n")
        file.writelines(",".join(r.values()) + f',"{text}"\n' for r in records)
    with (folder / "e2e.csv").open("w") as file:
        file.write("mr,ref\n")
        file.writelines(f'"{", ".join(f"{k}[{v}]" for k, v in r.items())}","{text}"\n' for r in records)
    pq.write_table(pa.table({k: [r[k] for r in records] for k in records[0]}), folder / "a.parquet")
    (folder / "wb").mkdir()
    box = "\t".join(f"{k}_{n}:{w}" for k, v in records[0].items() for n, w in enumerate(v.split(), 1))
    (folder / "wb/train.box").write_text(f"{box}\n" * ROWS)
    (folder / "wb/train.nb").write_text("1\n" * ROWS)
    (folder / "wb/train.sent").write_text(f"{text}\n" * ROWS)
    files = [str(folder / name) for name in ("a.jsonl", "a.csv", "a.parquet")]
    return [*files, f"e2e:{folder / 'e2e.csv'}", f"wikibio:{folder / 'wb'}"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--against", type=Path, required=True, help="The src folder of another version.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS / "readers.json")
    given = parser.parse_args()
    here = Path(__file__).resolve().parent.parent / "src"
    best: dict[str, dict[str, float]] = {"this": {}, "other": {}}
    with tempfile.TemporaryDirectory() as folder:
        sources = write_corpora(Path(folder))
        for _ in range(given.rounds):
            for version, path in (("other", given.against), ("this", here)):
                command = [sys.executable, "-c", READ, *sources]
                environment = {**os.environ, "PYTHONPATH": str(path)}
                speeds = json.loads(subprocess.check_output(command, env=environment))
                for source, speed in speeds.items():
                    best[version][source] = max(speed, best[version].get(source, 0.0))
    found: dict[str, dict[str, float]] = {}
    for source, speed in best["this"].items():
        name = source.replace(folder, "").replace(":/", ":").lstrip("/")
        other = best["other"][source]
        print(f"{name:>14}: {speed:,.0f} examples/s, other version {other:,.0f}, ratio {speed / other:.2f}")
        found[name] = {"examples_per_cpu_second": speed, "other": other, "ratio": speed / other}
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
