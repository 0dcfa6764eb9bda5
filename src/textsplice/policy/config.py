"""The sizes and switches of a policy, saved beside its weights."""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from transformers import PretrainedConfig

from textsplice import config
from textsplice.errors import ConfigError
from textsplice.text.vocabulary import UNKNOWN_ID

Kind = Literal["full", "token", "copy"]
KINDS: tuple[Kind, ...] = ("full", "token", "copy")
FORMAT_VERSION = 1
_DEFAULT = config.PolicyConfig()


class PolicyVocabulary(Protocol):
    """What a policy needs to know of a vocabulary."""

    @property
    def embedded(self) -> int: ...
    @property
    def generate(self) -> tuple[int, ...]: ...
    @property
    def frequent(self) -> tuple[int, ...]: ...


class PolicyConfig(PretrainedConfig):
    """Everything that shapes a policy; the defaults are those of `[policy]` in a configuration.

    `kind` is "full" (FULL), "token" (LRT) or "copy" (S2S+copy). `words` are the ids that may be
    generated rather than copied. The paper's size is d_model 420, 6 layers, 7 heads, ffn 650, with
    dropout 0.1, `pre_norm` and `conditioned_second` off.
    """

    model_type = "textsplice"

    format_version: int = FORMAT_VERSION
    kind: str = "full"
    embedded: int = 5
    words: list[int] | None = None
    d_model: int = _DEFAULT.d_model
    encoder_layers: int = _DEFAULT.encoder_layers
    decoder_layers: int = _DEFAULT.decoder_layers
    heads: int = _DEFAULT.heads
    ffn: int = _DEFAULT.ffn
    dropout: float = _DEFAULT.dropout
    pre_norm: bool = _DEFAULT.pre_norm
    max_positions: int = _DEFAULT.max_positions
    max_age: int = _DEFAULT.max_age
    conditioned_second: bool = _DEFAULT.conditioned_second
    init_std: float = 0.02

    @classmethod
    def for_vocabulary(
        cls, kind: Kind, vocabulary: PolicyVocabulary, **sizes: int | float | bool
    ) -> PolicyConfig:
        """The configuration of a new policy over a prepared vocabulary; `sizes` are fields of this class."""
        if kind not in KINDS:
            raise ConfigError(f"{kind!r} is no policy.", remedy=f"Choose one of {', '.join(KINDS)}.")
        unknown = sorted(sizes.keys() - cls.__dataclass_fields__.keys())
        if unknown:
            raise ConfigError(f"a policy has no {unknown[0]!r}.")
        words = vocabulary.frequent if kind == "copy" else vocabulary.generate
        shape = {"kind": kind, "embedded": vocabulary.embedded, "words": [int(w) for w in words]}
        config = cls.from_dict(shape | sizes)
        config.check()
        return config

    def embed(self, ids: NDArray[np.integer]) -> NDArray[np.int64]:
        """The rows of the embedding table that ids use: their own, or UNKNOWN's if they have none."""
        return np.where(ids < self.embedded, ids, UNKNOWN_ID).astype(np.int64)

    def check(self) -> None:
        """`ConfigError` if no transformer has this shape."""
        sizes = ("d_model", "encoder_layers", "decoder_layers", "heads", "ffn", "max_positions")
        for name in sizes:
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, not {getattr(self, name)}.")
        if self.d_model % self.heads:
            raise ConfigError(
                f"d_model {self.d_model} can't be shared by {self.heads} heads.",
                remedy="Make d_model a multiple of heads.",
            )
        if not 0.0 <= self.dropout < 1.0:
            raise ConfigError(f"dropout must be at least 0 and less than 1, not {self.dropout}.")
