"""BLEU and NIST as mteval-v13a computes them, which is what the E2E challenge's script runs.

The script lowercases ASCII letters only: `CAFÉ` becomes `cafÉ`, which is not `café`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from math import exp, log, log2
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING

import numpy as np

from textsplice.evaluate.score import References, Statistics

if TYPE_CHECKING:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
BLEU_ORDER = 4
NIST_ORDER = 5
# A text two thirds as long as its references keeps half of its NIST score.
NIST_BETA = -log(2) / log(1.5) ** 2

Gram = tuple[str, ...]


def ascii_lower(text: str) -> str:
    """Lowercase as the script does it; é and É stay apart."""
    return text.translate(ASCII_LOWER)


def bleu_statistics(outputs: Sequence[str], references: References) -> Statistics:
    """Rows of (matches by order, n-grams by order, output words, words of the closest reference)."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(tokenize="13a", lowercase=False)
    rows: list[list[float]] = []
    for output, texts in zip(outputs, references, strict=True):
        # One stream a reference. Items have different numbers of them, so each is scored on its own:
        # what is not there is not there, where an empty string would be a reference of length 0.
        streams = [[ascii_lower(text)] for text in texts]
        found = metric.corpus_score([ascii_lower(output)], streams)
        rows.append([*found.counts, *found.totals, found.sys_len, found.ref_len])
    return np.array(rows, dtype=np.float64)


def bleu_of_sums(sums: Statistics) -> float:
    """BLEU from 0 to 1."""
    from sacrebleu.metrics.bleu import BLEU

    counts = [int(value) for value in sums]
    score = BLEU.compute_bleu(
        correct=counts[:BLEU_ORDER],
        total=counts[BLEU_ORDER : 2 * BLEU_ORDER],
        sys_len=counts[-2],
        ref_len=counts[-1],
        smooth_method="exp",
    )
    return score.score / 100


def nist_statistics(outputs: Sequence[str], references: References) -> Statistics:
    """Rows of (information by order, n-grams by order, output words, reference words, references, 1)."""
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
        gained = [0.0] * NIST_ORDER
        for order, grams in _ngrams(words):
            for gram, count in Counter(grams).items():
                gained[order - 1] += min(count, allowed[gram]) * information(gram) if gram in allowed else 0.0
        possible = [max(0, len(words) - order + 1) for order in range(1, NIST_ORDER + 1)]
        reference_words = sum(map(len, texts))
        rows.append([*gained, *possible, len(words), reference_words, len(texts), 1])
    return np.array(rows, dtype=np.float64)


def nist_of_sums(sums: Statistics) -> float:
    """NIST; the length it is held to is the mean reference's, not the closest one's."""
    gained, possible = sums[:NIST_ORDER], sums[NIST_ORDER : 2 * NIST_ORDER]
    words, reference_words, reference_count, items = (float(value) for value in sums[-4:])
    if not words:
        return 0.0
    ratio = words / (items * reference_words / reference_count)
    penalty = exp(NIST_BETA * log(min(ratio, 1.0)) ** 2)
    return penalty * sum(g / p for g, p in zip(gained.tolist(), possible.tolist(), strict=True) if p)


def words_13a(text: str) -> list[str]:
    """mteval-v13a's words of a text."""
    return _tokenizer()(ascii_lower(text)).split()


@cache
def _tokenizer() -> Tokenizer13a:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return Tokenizer13a()


def _ngrams(words: Sequence[str]) -> Iterator[tuple[int, list[Gram]]]:
    for order in range(1, NIST_ORDER + 1):
        yield order, [tuple(words[i : i + order]) for i in range(len(words) - order + 1)]
