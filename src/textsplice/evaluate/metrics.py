"""The metrics: outputs and their references in, scores with signatures out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.util import find_spec

from textsplice.errors import MissingExtraError
from textsplice.evaluate import caption_metrics, ngram_metrics
from textsplice.evaluate.score import (
    Data,
    Measurement,
    Metric,
    References,
    Score,
    Signature,
    Statistics,
    check_parallel,
    mean_of_sums,
    means,
    reference_counts,
)

Measure = tuple[float, Statistics, Callable[[Statistics], float]]

_HOW: dict[Metric, tuple[str, str, str]] = {
    # metric: package whose version counts, tokenisation, case
    "BLEU": ("sacrebleu", "13a", "lower-ascii"),
    "NIST": ("sacrebleu", "13a", "lower-ascii"),
    "METEOR": ("pycocoevalcap", "ptb,meteor-norm", "lower"),
    "ROUGE_L": ("pycocoevalcap", "ptb-no-punctuation", "lower"),
    "CIDEr": ("pycocoevalcap", "ptb-no-punctuation", "lower"),
    "ROUGE_4": ("rouge-score", "a-z0-9", "lower"),
}


def measure(
    outputs: Sequence[str], references: References, metrics: Sequence[Metric], *, data: str = "unnamed"
) -> list[Measurement]:
    """Scores one output an item against the item's references, whose numbers may differ.

    What a metric needs and is not installed is a `MissingExtraError` before anything is computed.
    """
    check_parallel(outputs, references)
    for metric in metrics:
        missing = missing_for(metric)
        if missing is not None:
            raise missing
    hashed = Data.of(data, references)
    captions: list[caption_metrics.Captions] = []
    measured: list[Measurement] = []
    for metric in metrics:
        value, statistics, of_sums = _measure(metric, outputs, references, captions)
        score = Score(value, _signature(metric, references, hashed))
        measured.append(Measurement(score, statistics, of_sums))
    return measured


def score(
    outputs: Sequence[str], references: References, metrics: Sequence[Metric], *, data: str = "unnamed"
) -> list[Score]:
    """The scores alone."""
    return [each.score for each in measure(outputs, references, metrics, data=data)]


def missing_for(metric: Metric) -> MissingExtraError | None:
    """What has to be installed before a metric can be computed; None if nothing."""
    if metric in ("METEOR", "ROUGE_L", "CIDEr"):
        return caption_metrics.obstacle(metric)
    if metric == "ROUGE_4" and find_spec("rouge_score") is None:
        return MissingExtraError(
            "ROUGE_4 needs rouge-score, which is not installed.", remedy=caption_metrics.EXTRA
        )
    return None


def _measure(
    metric: Metric, outputs: Sequence[str], references: References, captions: list[caption_metrics.Captions]
) -> Measure:
    if metric == "BLEU":
        statistics = ngram_metrics.bleu_statistics(outputs, references)
        return ngram_metrics.bleu_of_sums(statistics.sum(axis=0)), statistics, ngram_metrics.bleu_of_sums
    if metric == "NIST":
        statistics = ngram_metrics.nist_statistics(outputs, references)
        return ngram_metrics.nist_of_sums(statistics.sum(axis=0)), statistics, ngram_metrics.nist_of_sums
    if metric == "ROUGE_4":
        statistics = means(rouge_4(outputs, references))
        return mean_of_sums(statistics.sum(axis=0)), statistics, mean_of_sums
    if not captions:
        captions.append(caption_metrics.tokenize_captions(outputs, references))
    # METEOR's corpus score is not the mean of its items; resampling uses the mean all the same.
    value, items = caption_metrics.caption_scores(metric, captions[0])
    return value, means(items), mean_of_sums


def rouge_4(outputs: Sequence[str], references: References) -> list[float]:
    """Each item's F1 of 4-grams with the reference that suits it best."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rouge4"])
    return [
        max(float(scorer.score(text, output)["rouge4"].fmeasure) for text in texts)
        for output, texts in zip(outputs, references, strict=True)
    ]


def _signature(metric: Metric, references: References, data: Data) -> Signature:
    from textsplice import __version__

    package, tokenization, case = _HOW[metric]
    return Signature(
        metric=metric,
        version=f"{package}-{version(package)}+textsplice-{__version__}",
        tokenization=tokenization,
        case=case,
        references=reference_counts(references),
        data=data.name,
        hash=data.hash,
    )
