"""The shape of a policy: its settings and the words it knows, saved as `config.json` beside its weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from textsplice.config import PolicyConfig, config_from_dict
from textsplice.errors import ConfigError, StorageError
from textsplice.policy.kind import WordLists, policy_kind
from textsplice.text.vocabulary import UNKNOWN_ID

MODEL_TYPE = "textsplice"
FORMAT_VERSION = 2
# Format 1 calls the policy "lrt" by another name.
_NAMES_IN_FORMAT_1 = {"token": "lrt"}


class PolicyVocabulary(WordLists, Protocol):
    """The part of a vocabulary that shapes a policy."""

    @property
    def embedded(self) -> int: ...


@dataclass(frozen=True)
class PolicyShape:
    """Everything that the weights' names and sizes depend on.

    Ids below `embedded` have an embedding of their own. `words` are the ids that may be generated rather
    than copied. `init_std` is the spread of new weights.
    """

    config: PolicyConfig
    embedded: int
    words: tuple[int, ...]
    init_std: float = 0.02

    @classmethod
    def of(cls, config: PolicyConfig, vocabulary: PolicyVocabulary) -> PolicyShape:
        """The shape of a new policy over a prepared vocabulary."""
        return cls(config, vocabulary.embedded, policy_kind(config.kind).words(vocabulary))

    def word_ids(self) -> NDArray[np.int64]:
        """The ids of the generable words."""
        return np.asarray(self.words, dtype=np.int64)

    def embed(self, ids: NDArray[np.integer]) -> NDArray[np.int64]:
        """The rows of the embedding table for these ids: their own, or UNKNOWN's if they have none."""
        return np.where(ids < self.embedded, ids, UNKNOWN_ID).astype(np.int64)

    def check(self) -> None:
        """`ConfigError` if no transformer has this shape."""
        config = self.config
        sizes = ("d_model", "encoder_layers", "decoder_layers", "heads", "ffn", "max_positions")
        for name in sizes:
            if getattr(config, name) < 1:
                raise ConfigError(f"{name} must be at least 1, not {getattr(config, name)}.")
        if config.d_model % config.heads:
            raise ConfigError(
                f"d_model {config.d_model} can't be shared by {config.heads} heads.",
                remedy="Make d_model a multiple of heads.",
            )
        if not 0.0 <= config.dropout < 1.0:
            raise ConfigError(f"dropout must be at least 0 and less than 1, not {config.dropout}.")

    def to_json(self) -> str:
        """The content of `config.json`."""
        content = {
            "model_type": MODEL_TYPE,
            "format_version": FORMAT_VERSION,
            **asdict(self.config),
            "embedded": self.embedded,
            "init_std": self.init_std,
            "words": list(self.words),
        }
        return json.dumps(content, indent=2, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str, where: str) -> PolicyShape:
        """Reads what `to_json` wrote, also in format 1; `StorageError` if it describes no policy."""
        content = _content(text, where)
        names = {setting.name for setting in fields(PolicyConfig)}
        settings = {name: value for name, value in content.items() if name in names}
        try:
            config = config_from_dict({"policy": settings}, where).policy
            policy_kind(config.kind)
        except ConfigError as error:
            raise StorageError(error.what, where=where, remedy=error.remedy) from error
        match content:
            case {"embedded": int(embedded), "words": list(words), "init_std": float(init_std)}:
                ids = cast("list[object]", words)
            case _:
                raise StorageError("does not say which words the policy knows.", where=where)
        if not all(isinstance(word, int) for word in ids):
            raise StorageError("has words that are not ids.", where=where)
        return cls(config, embedded, tuple(cast("list[int]", ids)), init_std)


def _content(text: str, where: str) -> Mapping[str, object]:
    """The settings of `config.json` under the names of the newest format."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise StorageError(f"can't be read as a policy's shape: {error}.", where=where) from error
    if not isinstance(data, dict):
        raise StorageError("does not describe a policy.", where=where)
    content = cast("dict[str, object]", data)
    if content.get("model_type") != MODEL_TYPE:
        raise StorageError(
            f"describes a model of type {content.get('model_type')!r}, not a textsplice policy.", where=where
        )
    version = content.get("format_version")
    if version not in (1, FORMAT_VERSION):
        raise StorageError(
            f"is a policy of format {version!r}; this version reads 1 and {FORMAT_VERSION}.",
            where=where,
            remedy="Use the version of textsplice that trained it, or train again.",
        )
    kind = content.get("kind")
    if version == 1 and isinstance(kind, str):
        content["kind"] = _NAMES_IN_FORMAT_1.get(kind, kind)
    return content
