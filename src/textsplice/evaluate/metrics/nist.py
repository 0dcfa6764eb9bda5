"""NIST as mteval-v13a computes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import exp, log, log2

import numpy as np

from textsplice.evaluate.metrics.metric import Metric, References, Statistics
from textsplice.evaluate.metrics.mteval import words_13a

ORDER = 5
# An output two thirds as long as its references keeps half of its score.
BETA = -log(2) / log(1.5) ** 2

Gram = tuple[str, ...]


class Nist(Metric):
    """NIST; rows are (information and n-grams by order, words, reference words, references, 1).

    The brevity penalty compares with the mean length of the references, not with the closest one.
    """

    name = "NIST"
    package = "sacrebleu"
    tokenization = "13a"
    case = "lower-ascii"
    is_share = False

    def statistics(self, outputs: Sequence[str], references: References) -> Statistics:
        tokenized = [[words_13a(text) for text in texts] for texts in references]
        counts = Counter(
            gram for texts in tokenized for words in texts for _, grams in _ngrams(words) for gram in grams
        )
        total_words = sum(len(words) for texts in tokenized for words in texts)

        def information(gram: Gram) -> float:
            context = counts[gram[:-1]] if len(gram) > 1 else total_words
            return log2(context / counts[gram])

        rows: list[list[float]] = []
        for output, texts in zip(outputs, tokenized, strict=True):
            words = words_13a(output)
            allowed: Counter[Gram] = Counter()
            for text in texts:
                allowed |= Counter(gram for _, grams in _ngrams(text) for gram in grams)
            gained = [0.0] * ORDER
            for order, grams in _ngrams(words):
                for gram, count in Counter(grams).items():
                    if gram in allowed:
                        gained[order - 1] += min(count, allowed[gram]) * information(gram)
            possible = [max(0, len(words) - order + 1) for order in range(1, ORDER + 1)]
            reference_words = sum(map(len, texts))
            rows.append([*gained, *possible, len(words), reference_words, len(texts), 1])
        return np.array(rows, dtype=np.float64)

    def of_sums(self, sums: Statistics) -> float:
        gained, possible = sums[:ORDER], sums[ORDER : 2 * ORDER]
        words, reference_words, reference_count, items = (float(value) for value in sums[-4:])
        if not words:
            return 0.0
        ratio = words / (items * reference_words / reference_count)
        penalty = exp(BETA * log(min(ratio, 1.0)) ** 2)
        return penalty * sum(g / p for g, p in zip(gained.tolist(), possible.tolist(), strict=True) if p)


def _ngrams(words: Sequence[str]) -> Iterator[tuple[int, list[Gram]]]:
    for order in range(1, ORDER + 1):
        yield order, [tuple(words[i : i + order]) for i in range(len(words) - order + 1)]
