"""Memory, FLOPs and time of training steps at the paper's size.

    python benchmarks/paper_size.py PREPARED [--config configs/paper-e2e-full-size.toml] [--references 2 4 8]

Each measurement is a process of its own, since only the peak of a whole process is known. Memory is what one
forward and backward pass adds to the peak; FLOPs are those of all products, counted by torch.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import torch
from torch.utils.flop_counter import FlopCounterMode

from textsplice.config import load_config
from textsplice.files import atomic_write_text
from textsplice.policy.checkpoint import new_policy
from textsplice.policy.shape import PolicyShape
from textsplice.runs.prepared import Prepared
from training import batches

ROOT = Path(__file__).resolve().parent


def peak() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(
    prepared: Path, config: Path, references: int, recompute: bool, mixed: bool, count: bool
) -> dict[str, object]:
    """One pass over so many references; with `count`, its FLOPs too."""
    data = Prepared.open(prepared)
    split = data.split("train")
    policy = new_policy(PolicyShape.of(load_config(config).policy, data.vocabulary), seed=0).train()
    policy.recompute_layers(recompute)
    policy.mixed_precision = mixed
    weights = sum(weight.numel() for weight in policy.parameters())
    batch = policy.collate(split, data.store.tokens, batches(split, references, 1)[0])
    before, began = peak(), time.process_time()
    flops = None
    if count:
        with FlopCounterMode(display=False) as counter:
            output = policy(batch)
            output.loss.backward()
        flops = counter.get_total_flops()
    else:
        output = policy(batch)
        output.loss.backward()
    seconds = time.process_time() - began
    return {
        "references": references,
        "recompute": recompute,
        "bfloat16": mixed,
        "weights": weights,
        "actions": output.actions,
        "encoded places": len(batch.encoded.ids),
        "canvas places": len(batch.canvases.ids),
        "GFLOP": None if flops is None else round(flops / 1e9, 1),
        "CPU seconds": round(seconds, 2),
        "MB added to the peak": round(peak() - before),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("prepared", type=Path)
    parser.add_argument("--config", type=Path, default=ROOT.parent / "configs" / "paper-e2e-full-size.toml")
    parser.add_argument("--references", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--bfloat16", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "paper_size.json")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.one:
        references, recompute, count = map(int, arguments.one.split())
        found = measure(
            arguments.prepared,
            arguments.config,
            references,
            bool(recompute),
            arguments.bfloat16,
            bool(count),
        )
        print(json.dumps(found))
        return
    rows: list[dict[str, object]] = []
    ways = [(n, again, 0) for n in arguments.references for again in (0, 1)]
    for way in [*ways, (arguments.references[0], 0, 1), (arguments.references[0], 1, 1)]:
        told = subprocess.run(
            [sys.executable, *sys.argv, "--one", " ".join(map(str, way))],
            capture_output=True,
            text=True,
            check=True,
        )
        rows.append(json.loads(told.stdout.splitlines()[-1]))
        print(rows[-1], flush=True)
        atomic_write_text(arguments.out, json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
