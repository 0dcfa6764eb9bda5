"""ROUGE-4, the second metric of WikiBio."""

from __future__ import annotations

from collections.abc import Sequence

from textsplice.errors import MissingExtraError
from textsplice.evaluate.metrics.metric import Metric, References, Statistics, means, missing_package


class Rouge4(Metric):
    """The mean over items of the F1 of 4-grams with the best reference."""

    name = "ROUGE_4"
    package = "rouge-score"
    tokenization = "a-z0-9"
    case = "lower"

    def statistics(self, outputs: Sequence[str], references: References) -> Statistics:
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer(["rouge4"])
        return means(
            [
                max(float(scorer.score(text, output)["rouge4"].fmeasure) for text in texts)
                for output, texts in zip(outputs, references, strict=True)
            ]
        )

    def obstacle(self) -> MissingExtraError | None:
        return missing_package(self.name, self.package, "rouge_score")
