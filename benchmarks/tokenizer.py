"""Texts per second of tokenize and detokenize, against another checkout of the package, interleaved.

    python benchmarks/tokenizer.py --baseline FOLDER

Each round runs the same texts in a new process with one checkout, then with the other; the best round counts.
The texts are the bundled corpus and, where it is found (`$TEXTSPLICE_DATA` or `../shared/data`), E2E.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
RESULTS = HERE / "benchmarks" / "results"
CLOCK = """
import json, sys, time
from textsplice.text import detokenize, tokenize
found = {}
for path in sys.argv[1:]:
    texts = json.load(open(path, encoding="utf-8"))
    tokenize(texts[0])
    began = time.process_time()
    tokens = [tokenize(text) for text in texts]
    between = time.process_time()
    for each in tokens:
        detokenize(each)
    kept = time.process_time()
    plain = [list(each) for each in tokens]
    copied = time.process_time()
    for each in plain:
        detokenize(each)
    ended = time.process_time()
    found[path] = {
        "tokenize": len(texts) / (between - began),
        "detokenize what was tokenized": len(texts) / (kept - between),
        "detokenize any tokens": len(texts) / (ended - copied),
    }
print(json.dumps(found))
"""


def corpora() -> dict[str, list[str]]:
    """The texts of each corpus that is here."""
    from textsplice.corpus import read_corpus

    texts = {"bundled": [example.text for example in read_corpus("bundled", "train")] * 4}
    data = Path(os.environ.get("TEXTSPLICE_DATA") or HERE.parent / "shared" / "data") / "e2e"
    if data.is_dir():
        texts["e2e"] = [example.text for example in read_corpus(f"e2e:{data}", "train")]
    return {name: [text for text in each if text] for name, each in texts.items()}


def measured(checkout: Path, files: list[str]) -> dict[str, dict[str, float]]:
    """What one checkout does in a second."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(
        [sys.executable, "-c", CLOCK, *files], env=environment, check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--baseline", type=Path, required=True, help="another checkout")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS / "tokenizer.json")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, str] = {}
        for name, texts in corpora().items():
            path = Path(folder, f"{name}.json")
            path.write_text(json.dumps(texts), encoding="utf-8")
            files[str(path)] = name
        best: dict[str, dict[str, dict[str, float]]] = {}
        for _ in range(args.rounds):
            for label, checkout in (("now", HERE), ("baseline", args.baseline)):
                for path, rates in measured(checkout, list(files)).items():
                    for what, rate in rates.items():
                        row = best.setdefault(files[path], {}).setdefault(what, {})
                        row[label] = max(rate, row.get(label, 0.0))
    for name, rows in best.items():
        for what, row in rows.items():
            row["ratio"] = row["now"] / row["baseline"]
            print(f"{name:8} {what:30} {row['now']:9,.0f} texts/s, {row['ratio']:.2f} of the baseline's")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(best, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
