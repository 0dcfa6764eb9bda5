"""How fast FULL trains: `python benchmarks/training.py [PREPARED] [--threads 2] [--rounds 8]`.

Forward and backward passes over the same references, in turns within one run:

    ours     `FullPolicy` on a batch: actions and canvas tokens a second
    bfloat16 the same in mixed precision, as `training.precision` sets it where the processor has it
    apart    bfloat16 too, but each reference is of another table, so that no neighbors are shared
    slow     the same equations and weights, one canvas at a time (`textsplice.policy.reference`)
    bart     `transformers`' BartForConditionalGeneration of the same size: target tokens a second

BART reads a target once, FULL reads every canvas of its derivation: the two are not the same work. The slow
one gets a few references of each batch and is reported a second too; its loss is compared with ours.
Without a prepared folder the bundled corpus is prepared into a temporary one.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import BartConfig, BartForConditionalGeneration

from textsplice.config import Config, PolicyConfig
from textsplice.oracle.splice import Splice
from textsplice.policy.cases import Case
from textsplice.policy.checkpoint import new_policy
from textsplice.policy.full.policy import FullPolicy
from textsplice.policy.reference import Reference
from textsplice.policy.shape import PolicyShape
from textsplice.prepare.build import prepare
from textsplice.runs.prepared import Prepared, PreparedSplit
from textsplice.text.vocabulary import PAD_ID, UNKNOWN_ID
from textsplice.training.order import references

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "benchmarks" / "results" / "training.json"


@dataclass(frozen=True)
class Pass:
    """One forward and backward pass."""

    seconds: float
    cpu: float
    actions: int
    tokens: int
    loss: float


def timed(model: torch.nn.Module, work: Callable[[], tuple[torch.Tensor, int, int]]) -> Pass:
    """Times a loss and its gradients."""
    model.zero_grad(set_to_none=True)
    began, cpu = perf_counter(), process_time()
    loss, actions, tokens = work()
    loss.backward()
    return Pass(perf_counter() - began, process_time() - cpu, actions, tokens, loss.item())


def case_of(prepared: Prepared, split: PreparedSplit, row: int) -> Case:
    """The case of one example."""
    table = int(split.table_of[row])
    rows = [int(n) for n in split.neighbors[row] if n >= 0]
    texts = [prepared.store.tokens[n] for n in rows]
    return Case(split.table_tokens[table], split.table_segments[table], texts)


def ours(
    policy: FullPolicy, prepared: Prepared, split: PreparedSplit, rows: NDArray[np.int64]
) -> tuple[torch.Tensor, int, int]:
    """The loss over a batch, building the batch included."""
    output = policy(policy.collate(split, prepared.store.tokens, rows))
    return output.first_loss + output.second_loss, output.actions, output.canvas_tokens


def slow(
    policy: FullPolicy, prepared: Prepared, split: PreparedSplit, rows: NDArray[np.int64]
) -> tuple[torch.Tensor, int, int]:
    """The same loss, one canvas at a time."""
    reference = Reference(policy)
    total, actions = torch.zeros(()), 0
    for row in rows.tolist():
        first, last = split.splice_offsets[row : row + 2]
        splices = [Splice(*splice) for splice in split.splices[first:last].tolist()]
        loss = reference.loss(case_of(prepared, split, row), splices)
        total = total + loss.first + loss.second
        actions += loss.actions
    return total, actions, 0


def bart(
    model: BartForConditionalGeneration, split: PreparedSplit, rows: NDArray[np.int64], embedded: int
) -> tuple[torch.Tensor, int, int]:
    """A sequence-to-sequence loss from table to target."""
    tables = padded([split.table_tokens[int(split.table_of[row])] for row in rows], embedded)
    targets = padded([split.targets[int(row)] for row in rows], embedded)
    labels = targets[:, 1:].masked_fill(targets[:, 1:] == PAD_ID, -100)
    loss = model(
        input_ids=tables,
        attention_mask=tables != PAD_ID,
        decoder_input_ids=targets[:, :-1],
        labels=labels,
    ).loss
    return loss, 0, int((labels >= 0).sum())


def padded(texts: list[NDArray[np.int32]], embedded: int) -> torch.Tensor:
    """Texts as one tensor."""
    ids = torch.full((len(texts), max(map(len, texts))), PAD_ID)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = torch.from_numpy(np.where(text < embedded, text, UNKNOWN_ID))
    return ids


def bart_like(shape: PolicyShape) -> BartForConditionalGeneration:
    """BART with the layers, widths and embeddings of a policy."""
    config = shape.config
    return BartForConditionalGeneration(
        BartConfig(
            vocab_size=shape.embedded,
            d_model=config.d_model,
            encoder_layers=config.encoder_layers,
            decoder_layers=config.decoder_layers,
            encoder_attention_heads=config.heads,
            decoder_attention_heads=config.heads,
            encoder_ffn_dim=config.ffn,
            decoder_ffn_dim=config.ffn,
            max_position_embeddings=config.max_positions,
            dropout=config.dropout,
            attention_dropout=0.0,
            pad_token_id=PAD_ID,
        )
    )


def batches(split: PreparedSplit, size: int, count: int) -> list[NDArray[np.int64]]:
    """Whole tables in random order, about `size` references a batch."""
    rows = references(split)
    table = np.asarray(split.table_of)[rows]
    random = np.random.default_rng(0)
    order = np.argsort(random.permutation(int(table.max()) + 1)[table], kind="stable")
    shuffled = rows[order]
    return [shuffled[i * size : (i + 1) * size] for i in range(count)]


def rate(passes: list[Pass], unit: str, clock: str = "seconds") -> float:
    """The median of units a second."""
    return statistics.median(getattr(one, unit) / getattr(one, clock) for one in passes)


def measure(prepared: Prepared, rounds: int, size: int, slow_references: int) -> dict[str, object]:
    """All in turns; the first round only warms up."""
    split = prepared.split("train")
    # Without dropout, so that the two losses can be compared.
    shape = PolicyShape.of(PolicyConfig(dropout=0.0, max_positions=256), prepared.vocabulary)
    policy = new_policy(shape, seed=0)
    assert isinstance(policy, FullPolicy)
    other = bart_like(shape)
    found: dict[str, list[Pass]] = {"ours": [], "bfloat16": [], "apart": [], "slow": [], "bart": []}
    apart = np.random.default_rng(0).permutation(references(split))
    for number, rows in enumerate(batches(split, size, rounds + 1)):
        few = rows[:slow_references]
        found["ours"].append(timed(policy, partial(ours, policy, prepared, split, rows)))
        policy.mixed_precision = True
        found["bfloat16"].append(timed(policy, partial(ours, policy, prepared, split, rows)))
        alone = apart[number * size : (number + 1) * size]
        found["apart"].append(timed(policy, partial(ours, policy, prepared, split, alone)))
        policy.mixed_precision = False
        found["slow"].append(timed(policy, partial(slow, policy, prepared, split, few)))
        found["bart"].append(timed(other, partial(bart, other, split, rows, shape.embedded)))
        check = ours(policy, prepared, split, few)[0].item()
        assert abs(check - found["slow"][-1].loss) < 1e-3 * check, "the two losses differ"
    warm = {name: passes[1:] for name, passes in found.items()}
    fast, plain = rate(warm["ours"], "actions"), rate(warm["slow"], "actions")
    mixed = rate(warm["bfloat16"], "actions")
    return {
        "references_a_batch": size,
        "rounds": rounds,
        "weights": sum(weight.numel() for weight in policy.parameters()),
        "ours_actions_per_second": fast,
        "ours_canvas_tokens_per_second": rate(warm["ours"], "tokens"),
        "slow_actions_per_second": plain,
        "ours_over_slow": fast / plain,
        "bfloat16_actions_per_second": mixed,
        "ours_actions_per_cpu_second": rate(warm["ours"], "actions", "cpu"),
        "bfloat16_actions_per_cpu_second": rate(warm["bfloat16"], "actions", "cpu"),
        "apart_actions_per_cpu_second": rate(warm["apart"], "actions", "cpu"),
        "bfloat16_over_ours": mixed / fast,
        "bfloat16_over_slow": mixed / plain,
        "bart_weights": sum(weight.numel() for weight in other.parameters()),
        "bart_target_tokens_per_second": rate(warm["bart"], "tokens"),
        "passes": {name: [asdict(one) for one in passes] for name, passes in warm.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("prepared", nargs="?", type=Path, help="a prepared folder")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--references", type=int, default=21, help="references a batch")
    parser.add_argument("--slow-references", type=int, default=2, help="of them for the slow one")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as folder:
        prepared = (
            Prepared.open(options.prepared)
            if options.prepared
            else prepare(Config(), folder=Path(folder), quiet=True)
        )
        figures = measure(prepared, options.rounds, options.references, options.slow_references)
    result = {
        "corpus": prepared.config.corpus.source,
        "threads": options.threads,
        "machine": f"{platform.system()} {platform.machine()}",
        "torch": torch.__version__,
        **figures,
    }
    for name, figure in result.items():
        if name != "passes":
            shown = f"{figure:,.1f}" if isinstance(figure, float) else figure
            print(f"{name.replace('_', ' '):32} {shown}")
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"written: {RESULT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
