"""METEOR 1.5, a Java program."""

from __future__ import annotations

import subprocess
import threading
from typing import Protocol, cast

from textsplice.evaluate.metrics.captions import CaptionMetric, Captions, Scorer, java_failed

LAST_WORDS_SECONDS = 5


class Meteor(CaptionMetric):
    """METEOR. Its corpus score is not the mean of its items' scores; resampling uses that mean."""

    name = "METEOR"
    tokenization = "ptb,meteor-norm"

    def scorer(self) -> Scorer:
        from pycocoevalcap.meteor import meteor

        return meteor.Meteor()

    def scores(self, captions: Captions) -> tuple[float, list[float]]:
        scorer = self.scorer()
        try:
            score, items = scorer.compute_score(captions.references, captions.outputs)
        except (OSError, ValueError) as error:
            raise java_failed(self.name, _last_words(cast("_Process", scorer)) or repr(error)) from error
        return float(score), [float(item) for item in items]


class _Process(Protocol):
    """What pycocoevalcap's scorer keeps: a process, and a lock that it holds while talking to it."""

    lock: threading.Lock
    meteor_p: subprocess.Popen[bytes]


def _last_words(scorer: _Process) -> str:
    """Ends the process and returns what it wrote to standard error."""
    # A failed `compute_score` keeps the lock, and the scorer's finalizer would wait for it forever.
    if scorer.lock.locked():
        scorer.lock.release()
    scorer.meteor_p.kill()
    try:
        _, said = scorer.meteor_p.communicate(timeout=LAST_WORDS_SECONDS)
    except subprocess.TimeoutExpired:
        return ""
    return " ".join(said.decode("utf-8", "replace").split()).rstrip(".")
