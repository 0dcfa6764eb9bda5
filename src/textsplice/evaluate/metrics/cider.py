"""CIDEr, by pycocoevalcap."""

from __future__ import annotations

from textsplice.evaluate.metrics.captions import CaptionMetric, Scorer


class Cider(CaptionMetric):
    """The mean over items of CIDEr, which weighs n-grams by how rare they are among the references."""

    name = "CIDEr"
    is_share = False

    def scorer(self) -> Scorer:
        from pycocoevalcap.cider import cider

        return cider.Cider()
