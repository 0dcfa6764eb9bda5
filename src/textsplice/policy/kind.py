"""What a policy says of itself before its model is loaded: this module does not import torch."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, Protocol

from textsplice.errors import ConfigError
from textsplice.extensions import POLICIES

# "most-probable": a word was chosen by all its occurrences together, and the likeliest of them is named.
Attribution = Literal["exact", "most-probable", "least"]


class WordLists(Protocol):
    """The part of a vocabulary from which a policy takes the words it may generate."""

    @property
    def generate(self) -> tuple[int, ...]: ...
    @property
    def frequent(self) -> tuple[int, ...]: ...


@dataclass(frozen=True)
class Kind:
    """A way of making texts: its name, whether it splices from neighbors, and what its provenance means.

    `sums_occurrences`: it can choose a word by the sum over all places the word could be copied from.
    `derives_after`: it writes texts, which are then derived from others with the fewest splices.
    `writes`: one token after another, splices that replace one another, or derivations of another shape.
    """

    name: str
    uses_neighbors: bool = True
    sums_occurrences: bool = False
    writes: Literal["tokens", "splices", "other"] = "other"
    derives_after: bool = False

    def attribution(self, *, marginalize: bool) -> Attribution:
        """What the provenance of its texts is, given the setting `search.marginalize`."""
        if self.derives_after:
            return "least"
        return "most-probable" if self.sums_occurrences and marginalize else "exact"


@dataclass(frozen=True)
class PolicyKind(Kind):
    """A trained way: `model` is its class as `module:Class`, imported by `load`.

    `generates` names the word list of the vocabulary from which it may generate words.
    """

    model: str = ""
    generates: Literal["generate", "frequent"] = "generate"

    def words(self, vocabulary: WordLists) -> tuple[int, ...]:
        """The ids of the words that may be generated rather than copied."""
        words = vocabulary.frequent if self.generates == "frequent" else vocabulary.generate
        return tuple(int(word) for word in words)

    def load(self) -> type[Any]:
        """The class of the model, a `policy.policy.Policy`; imports torch."""
        module, _, name = self.model.partition(":")
        return getattr(import_module(module), name)


def policy_kind(name: str) -> PolicyKind:
    """The registered policy of this name; `ConfigError` that suggests the nearest name if there is none."""
    kind = POLICIES[name]
    if not isinstance(kind, PolicyKind):
        raise ConfigError(
            f"the policy {name!r} is registered as {kind!r}.", remedy="Register a `PolicyKind`."
        )
    return kind
