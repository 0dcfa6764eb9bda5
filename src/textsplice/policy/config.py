"""The sizes and switches of a policy, saved beside its weights."""

from __future__ import annotations

from typing import Literal, Protocol

from transformers import PretrainedConfig

from textsplice.errors import ConfigError

Kind = Literal["full", "token", "copy"]
KINDS: tuple[Kind, ...] = ("full", "token", "copy")
FORMAT_VERSION = 1


class PolicyVocabulary(Protocol):
    """What a policy needs to know of a vocabulary."""

    @property
    def embedded(self) -> int: ...
    @property
    def generate(self) -> tuple[int, ...]: ...
    @property
    def frequent(self) -> tuple[int, ...]: ...


class PolicyConfig(PretrainedConfig):
    """Everything that shapes a policy; the defaults are small enough for two CPU cores.

    `kind` is "full" (FULL), "token" (LRT) or "copy" (S2S+copy). `words` are the ids that may be
    generated rather than copied. The paper's size is d_model 420, 6 layers, 7 heads, ffn 650, with
    dropout 0.1, `pre_norm` and `conditioned_second` off.
    """

    model_type = "textsplice"

    format_version: int = FORMAT_VERSION
    kind: str = "full"
    embedded: int = 5
    words: list[int] | None = None
    d_model: int = 192
    encoder_layers: int = 3
    decoder_layers: int = 3
    heads: int = 6
    ffn: int = 384
    dropout: float = 0.0
    pre_norm: bool = True
    max_positions: int = 256
    max_age: int = 32
    conditioned_second: bool = True
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
