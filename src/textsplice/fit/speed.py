"""How long an update takes on this machine."""

from __future__ import annotations

from itertools import islice
from statistics import median
from time import perf_counter

from textsplice.config import Config
from textsplice.policy.device import to_device
from textsplice.runs.prepared import Prepared
from textsplice.training.examples import Examples
from textsplice.training.order import FIRST
from textsplice.training.precision import multiplies_in_bfloat16
from textsplice.training.processes import Processes
from textsplice.training.start import policy_of

TRIED = 4  # updates, the first of which warms up
SHARED = 1.2  # waiting for each other, validating, writing checkpoints


def seconds_per_update(config: Config, prepared: Prepared) -> float:
    """The median of a few updates, made by one process and shared by those that train."""
    policy = policy_of(config, prepared.vocabulary)
    policy.mixed_precision = multiplies_in_bfloat16(config.training)
    policy.train()
    examples = Examples.of(prepared, "train", policy, Processes())
    order = examples.order(config.training)
    times: list[float] = []
    for _, rows in islice(order.updates(FIRST), TRIED):
        begun = perf_counter()
        for batch in examples.batches(rows, config.training.micro_sequences):
            policy(to_device(batch, policy.device)).loss.backward()
        times.append(perf_counter() - begun)
    return SHARED * median(times[1:] or times) / config.training.processes
