"""What can go wrong, as sentences: what, where, and what to do about it.

Every error a user can cause is a `TextspliceError`. The command line prints it without a traceback and
exits with 2; a program catches it by class or by `code`, which never changes once it is released.
"""

from __future__ import annotations

from textsplice.visible import visible

LONGEST_SENTENCE = 1500


class TextspliceError(Exception):
    """Base of all errors of this package that are the input's fault rather than the program's."""

    code: str = "error"

    def __init__(self, what: str, *, where: str | None = None, remedy: str | None = None) -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        super().__init__(self.sentence())

    def sentence(self) -> str:
        """`where: what. remedy` as one line, whatever the input that it quotes."""
        place = f"{self.where}: " if self.where else ""
        remedy = f" {self.remedy}" if self.remedy else ""
        return visible(f"{_cut(place)}{_cut(self.what)}{_cut(remedy)}")


def _cut(text: str) -> str:
    if len(text) <= LONGEST_SENTENCE:
        return text
    half = LONGEST_SENTENCE // 2
    return f"{text[:half]} … {text[-half:]}"


class InputError(TextspliceError):
    """A value that was passed in can't be used: a token no neighbor has, a splice that does not fit."""

    code = "input"


class CorpusError(TextspliceError):
    """A corpus file is missing, empty, malformed or not what its name says."""

    code = "corpus"


class ConfigError(TextspliceError):
    """A configuration file or option is unknown or has a value that can't be used."""

    code = "config"


class StorageError(TextspliceError):
    """A file could not be written or read back: no space, no permission, truncated, another version."""

    code = "storage"


class MissingExtraError(TextspliceError):
    """An optional dependency, or a program such as Java, is not installed or does not run."""

    code = "extra"


class TrainingError(TextspliceError):
    """Training can't go on: nothing to train on, a run of another configuration."""

    code = "training"


class DivergedError(TrainingError):
    """The loss is not a number any more: other settings may do better, the same ones will not."""


class VerificationError(TextspliceError):
    """A generation does not replay to its text, or names sources that do not exist."""

    code = "verification"
