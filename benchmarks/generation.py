"""Tables per second: the batched beam, the same beam unbatched, and BART of the same size, in one run.

    python benchmarks/generation.py prepared/e2e [--run runs/e2e] [--tables 547] [--slow-tables 8]

All three use beam 5 on E2E's dev tables. The batched beam runs with batches of 32. The unbatched one is the
plain evaluation of the same equations in `textsplice.policy.reference`, one canvas at a time. BART is
`transformers`' own with the same width and layers, `generate(num_beams=5)`, batches of 32, and as many
tokens as the references have; its weights are random, which changes nothing about the time of a token.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from transformers import BartConfig, BartForConditionalGeneration

from textsplice.config import SearchConfig
from textsplice.corpus import Table
from textsplice.files import atomic_write_text
from textsplice.oracle.numbering import TABLE, Numbering
from textsplice.oracle.splice import Splice
from textsplice.policy.cases import Case
from textsplice.policy.checkpoint import new_policy
from textsplice.policy.full.hypothesis import BeamSettings
from textsplice.policy.full.policy import FullPolicy
from textsplice.policy.reference import Reference
from textsplice.policy.shape import PolicyShape
from textsplice.policy.transformer import NEIGHBOR
from textsplice.runs.prepared import Prepared
from textsplice.splicer import Splicer
from textsplice.text import linearize
from textsplice.text.vocabulary import BEGIN_ID, END_ID, MASK_ID, PAD_ID

BEAM, BATCH, MAX_SPLICES = 5, 32, 16
# One beam for a table, as the other two have: the default keeps eight start neighbors alive.
PAPER = SearchConfig(
    beam=BEAM,
    max_splices=MAX_SPLICES,
    choose="likelihood",
    start_neighbors=1,
    slots_first=False,
    batch_size=BATCH,
)


class Token(NamedTuple):
    """A token of a canvas: its word, its source, its place there, the step that laid it."""

    word: int
    source: int
    position: int
    step: int


class Live(NamedTuple):
    """A hypothesis."""

    total: float
    canvas: list[Token]


class Read(NamedTuple):
    """A canvas with the policy's states, its best first decisions, and the total if it stopped here."""

    hypothesis: Live
    states: Tensor
    table: Tensor
    firsts: list[tuple[float, int, int, int]]  # total, source, start, begin
    stopped: float


def unbatched_search(slow: Reference, case: Case) -> int:
    """The same beam for one table, one canvas at a time; how many canvases it looked at."""
    neighbors = [slow.encode(text.tolist(), [NEIGHBOR] * len(text)) for text in case.neighbors]
    live = [Live(0.0, [])]
    best_score = -math.inf
    looked_at = 0
    for step in range(MAX_SPLICES + 1):
        reads = [read(slow, case, neighbors, hypothesis, step) for hypothesis in live]
        looked_at += len(reads)
        firsts = sorted(((*first, r) for r in reads for first in r.firsts), key=lambda f: -f[0])[:BEAM]
        for r in reads:
            beaten = sum(first[0] > r.stopped for first in firsts)
            if is_text(r.hypothesis.canvas) and beaten < BEAM:
                best_score = max(best_score, r.stopped / (2 * step + 1))
        if step == MAX_SPLICES:
            break
        grown = [g for first in firsts for g in extensions(slow, case, neighbors, *first, step)]
        distinct: dict[tuple[int, ...], Live] = {}
        for hypothesis in sorted(grown, key=lambda g: -g.total):
            distinct.setdefault(tuple(token.word for token in hypothesis.canvas), hypothesis)
        decisions = 2 * min(step + 1 + BeamSettings().horizon, MAX_SPLICES) + 1
        live = [h for h in list(distinct.values())[:BEAM] if h.total / decisions > best_score]
        if not live:
            break
    return looked_at


def is_text(canvas: list[Token]) -> bool:
    """Whether a canvas runs from begin to end without a mask."""
    words = [token.word for token in canvas]
    return len(words) > 2 and words[0] == BEGIN_ID and words[-1] == END_ID and MASK_ID not in words


def read(slow: Reference, case: Case, neighbors: list[Tensor], hypothesis: Live, step: int) -> Read:
    """Reads one canvas and scores the first decision."""
    total, canvas = hypothesis
    copied = {token.position for token in canvas if token.source == TABLE}
    table = slow.encode(case.table.tolist(), [int(i in copied) for i in range(len(case.table))])
    ages = [min(step - token.step, slow.config.max_age) for token in canvas]
    states = slow.decode([token.word for token in canvas], ages, table)
    scores, stop = slow.first_scores(states, case, table, neighbors)
    normal = float(torch.cat([*(s.flatten() for s in scores), stop[None]]).logsumexp(0))
    firsts = [
        (total + value - normal, source, place // s.shape[1], place % s.shape[1])
        for source, s in enumerate(scores)
        for value, place in best(s)
    ]
    return Read(hypothesis, states, table, firsts, total + float(stop) - normal)


def extensions(
    slow: Reference,
    case: Case,
    neighbors: list[Tensor],
    total: float,
    source: int,
    start: int,
    begin: int,
    from_read: Read,
    step: int,
) -> list[Live]:
    """The canvases after the best second decisions that follow a first one."""
    canvas = from_read.hypothesis.canvas
    numbering = Numbering(len(neighbors))
    number, begin, words = (
        (numbering.word(slow.words[begin]), 0, [slow.words[begin]])
        if numbering.is_word(source)
        else (source, begin, [case.table, *case.neighbors][source])
    )
    splice = Splice(start, start, number, begin, begin + 1)
    pairs = slow.second_scores(from_read.states, case, from_read.table, neighbors, splice)
    grown: list[Live] = []
    for value, place in best(pairs.flatten().log_softmax(0)):
        stop, size = place // pairs.shape[1], place % pairs.shape[1] + 1
        laid = [Token(int(words[p]), number, p, step) for p in range(begin, begin + size)]
        grown.append(Live(total + value, [*canvas[:start], *laid, *canvas[stop:]]))
    return grown


def best(scores: Tensor) -> list[tuple[float, int]]:
    """The top of all scores, and their places in the flattened tensor."""
    values, places = torch.topk(scores.flatten(), min(BEAM, scores.numel()))
    return [(v, p) for v, p in zip(values.tolist(), places.tolist(), strict=True) if v > -np.inf]


def bart_of(policy: PolicyShape) -> BartForConditionalGeneration:
    """BART with the policy's width, layers and vocabulary."""
    torch.manual_seed(0)
    config = policy.config
    shape = BartConfig(
        vocab_size=policy.embedded,
        max_position_embeddings=512,
        d_model=config.d_model,
        encoder_layers=config.encoder_layers,
        decoder_layers=config.decoder_layers,
        encoder_attention_heads=config.heads,
        decoder_attention_heads=config.heads,
        encoder_ffn_dim=config.ffn,
        decoder_ffn_dim=config.ffn,
        pad_token_id=PAD_ID,
        bos_token_id=BEGIN_ID,
        eos_token_id=END_ID,
        decoder_start_token_id=BEGIN_ID,
    )
    return BartForConditionalGeneration(shape).eval()


def bart_generate(bart: BartForConditionalGeneration, rows: Sequence[Sequence[int]], length: int) -> None:
    """Texts of `length` tokens for all tables, by batches; random weights would end anywhere."""
    for first in range(0, len(rows), BATCH):
        batch = rows[first : first + BATCH]
        width = max(map(len, batch))
        ids = torch.tensor([[*row, *[PAD_ID] * (width - len(row))] for row in batch])
        bart.generate(
            input_ids=ids,
            attention_mask=(ids != PAD_ID).long(),
            num_beams=BEAM,
            min_new_tokens=length,
            max_new_tokens=length,
        )


class Seconds(NamedTuple):
    """On the wall, and of the processor: the second says something on a busy machine too."""

    wall: float
    cpu: float


def timed(work: Callable[[], object]) -> Seconds:
    """How long some work takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Seconds(time.perf_counter() - wall, time.process_time() - cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("prepared", type=Path)
    parser.add_argument("--run", type=Path, help="A trained run; else random weights of the default size.")
    parser.add_argument("--tables", type=int, default=547)
    parser.add_argument("--slow-tables", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "generation.json")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)

    data = Prepared.open(arguments.prepared)
    dev = data.split("dev")
    tables: list[Table] = dev.tables[: arguments.tables]
    splicer = _splicer(data, arguments.run)
    policy = splicer.policy
    assert isinstance(policy, FullPolicy)

    statuses: list[str] = []
    batched = timed(
        lambda: statuses.extend(g.status for g in splicer.generate_many(tables, search=PAPER, progress=False))
    )
    slow = Reference(policy)
    cases = [_case(splicer, table) for table in tables[: arguments.slow_tables]]
    canvases: list[int] = []
    with torch.no_grad():
        unbatched = timed(lambda: canvases.extend(unbatched_search(slow, case) for case in cases))
    tokens = [policy.shape.embed(dev.table_tokens[i]).tolist() for i in range(len(tables))]
    length = round(float(dev.targets.lengths.mean()))
    other = bart_of(policy.shape)
    bart = timed(lambda: bart_generate(other, tokens, length))

    result = {
        "tables": len(tables),
        "beam": BEAM,
        "batch": BATCH,
        "threads": arguments.threads,
        "machine": platform.machine(),
        "policy": "trained" if arguments.run else "random weights",
        "d_model": policy.shape.config.d_model,
        "layers": [policy.shape.config.encoder_layers, policy.shape.config.decoder_layers],
        "statuses": {status: statuses.count(status) for status in sorted(set(statuses))},
        "tables_per_second": {
            "textsplice": round(len(tables) / batched.wall, 2),
            "unbatched": round(len(cases) / unbatched.wall, 3),
            "bart": round(len(tables) / bart.wall, 2),
        },
        "cpu_seconds_a_table": {
            "textsplice": round(batched.cpu / len(tables), 4),
            "unbatched": round(unbatched.cpu / len(cases), 3),
            "bart": round(bart.cpu / len(tables), 4),
        },
        "unbatched_tables": len(cases),
        "unbatched_canvases_a_table": round(sum(canvases) / len(cases), 1),
        "bart_tokens_a_text": length,
        "cpu_times_unbatched": round(unbatched.cpu / len(cases) / (batched.cpu / len(tables)), 1),
        "cpu_times_bart": round(bart.cpu / batched.cpu, 2),
    }
    atomic_write_text(arguments.out, json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


def _splicer(data: Prepared, run: Path | None) -> Splicer:
    if run is not None:
        return Splicer.load(run)
    shape = PolicyShape.of(replace(data.config.policy, kind="full"), data.vocabulary)
    return Splicer(
        store=data.store,
        vocabulary=data.vocabulary,
        config=data.config,
        policy=new_policy(shape, seed=0).eval(),
        run="benchmark",
    )


def _case(splicer: Splicer, table: Table) -> Case:
    linearized = linearize(table, splicer.store.tokenizer)
    rows = splicer.store.search(table, splicer.config.neighbors.k).rows
    return Case(
        np.array(splicer.vocabulary.encode(linearized.tokens), dtype=np.int32),
        np.array(linearized.segment_numbers(), dtype=np.int32),
        [splicer.store.tokens[row] for row in rows],
    )


if __name__ == "__main__":
    main()
