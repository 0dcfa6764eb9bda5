"""ROUGE-L, by pycocoevalcap."""

from __future__ import annotations

from textsplice.evaluate.metrics.captions import CaptionMetric, Scorer


class RougeL(CaptionMetric):
    """The mean over items of ROUGE-L."""

    name = "ROUGE_L"

    def scorer(self) -> Scorer:
        from pycocoevalcap.rouge.rouge import Rouge

        return Rouge()
