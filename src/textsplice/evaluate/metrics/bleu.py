"""BLEU as mteval-v13a computes it, by sacreBLEU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textsplice.evaluate.metrics.metric import Metric, References, Statistics
from textsplice.evaluate.metrics.mteval import ascii_lower

ORDER = 4


class Bleu(Metric):
    """BLEU from 0 to 1; rows are (matches and n-grams by order, words, words of the closest reference)."""

    name = "BLEU"
    package = "sacrebleu"
    tokenization = "13a"
    case = "lower-ascii"

    def statistics(self, outputs: Sequence[str], references: References) -> Statistics:
        from sacrebleu.metrics.bleu import BLEU

        metric = BLEU(tokenize="13a", lowercase=False)
        rows: list[list[float]] = []
        for output, texts in zip(outputs, references, strict=True):
            # Items differ in their number of references, so each is scored on its own. Padding with empty
            # strings instead would add references of length 0.
            streams = [[ascii_lower(text)] for text in texts]
            found = metric.corpus_score([ascii_lower(output)], streams)
            rows.append([*found.counts, *found.totals, found.sys_len, found.ref_len])
        return np.array(rows, dtype=np.float64)

    def of_sums(self, sums: Statistics) -> float:
        from sacrebleu.metrics.bleu import BLEU

        counts = [int(value) for value in sums]
        score = BLEU.compute_bleu(
            correct=counts[:ORDER],
            total=counts[ORDER : 2 * ORDER],
            sys_len=counts[-2],
            ref_len=counts[-1],
            smooth_method="exp",
        )
        return score.score / 100
