"""What a run can confirm of a generation: everything that the run itself fixes.

The neighbors that were offered are found again, and so is what swap makes of them: neither needs a policy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from textsplice.config import Config, SearchConfig
from textsplice.corpus.table import Example
from textsplice.errors import InputError
from textsplice.extensions import PLUGINS, POLICIES
from textsplice.neighbors.store import Store
from textsplice.oracle.numbering import TABLE
from textsplice.oracle.sources import OfferedNeighbor
from textsplice.policy.kind import Kind, PolicyKind, policy_kind
from textsplice.policy.places import places_of_others
from textsplice.search.approved import APPROVED, ApprovedProposer
from textsplice.search.drafts import DRAFTS, Derivation, Derivations
from textsplice.search.generation import FORMAT, Generation
from textsplice.search.judge import Judge
from textsplice.search.offers import Offers
from textsplice.search.pipeline import Pipeline, too_long
from textsplice.search.rules.neighbors import NeighborsWhere
from textsplice.search.rules.rule import Rule
from textsplice.search.swap import SWAP, SwapProposer
from textsplice.text.linearize import field_token
from textsplice.text.vocabulary import BEGIN_ID, Vocabulary


@dataclass(frozen=True)
class Proof:
    """A run: its id, the policies it can have used, the texts it offers, its settings and weights."""

    run: str
    policies: frozenset[str]
    offers: Offers
    config: Config
    weights: str | None
    old: bool = False  # made by version 0.1, which wrote rows of format 1

    @cached_property
    def derivations(self) -> Derivations:
        """Derives drafts from the texts it offers."""
        return Derivations(self.offers)

    @property
    def store(self) -> Store:
        """The texts it splices from."""
        return self.offers.store

    @property
    def vocabulary(self) -> Vocabulary:
        """Its words and their numbers."""
        return self.offers.vocabulary

    @cached_property
    def generable(self) -> dict[str, frozenset[int]]:
        """The words that each of its policies may place without copying them."""
        return {name: self._words(known_kind(name)) for name in self.policies}

    def _words(self, kind: Kind | None) -> frozenset[int]:
        if not isinstance(kind, PolicyKind):
            return frozenset()
        return frozenset((*kind.words(self.vocabulary), *((BEGIN_ID,) if kind.writes == "tokens" else ())))


def known_kind(policy: str) -> Kind | None:
    """What a policy says of itself; None for one of a plugin that is not loaded."""
    for kind in (SWAP, DRAFTS, APPROVED):
        if policy == kind.name:
            return kind
    return policy_kind(policy) if policy in POLICIES else None


def contradiction(
    generation: Generation, rules: tuple[Rule, ...], proof: Proof, settings: SearchConfig | None = None
) -> str | None:
    """The first thing that the run says otherwise, as a clause; None if there is none."""
    if generation.traced is not None:
        return _of_run(generation, proof) or _in_store(generation, proof)
    settings = settings or proof.config.search
    limit = table_limit(settings, proof.config)
    return (
        _of_run(generation, proof)
        or made_with(generation, proof)
        or (
            _too_long(generation, limit)
            if len(generation.sources.table.tokens) > limit
            else _approved(generation, rules, proof, settings)
            or _neighbors(generation, rules, proof, settings)
        )
    )


def table_limit(search: SearchConfig, config: Config) -> int:
    """The most tokens that a table may have."""
    return search.max_table_tokens or config.corpus.max_table_tokens


def _too_long(generation: Generation, limit: int) -> str | None:
    """A table that is too long is not searched."""
    reason = too_long(len(generation.sources.table.tokens), limit)
    if generation.status != "abstained" or generation.reason != reason:
        return f"it does not abstain although {reason}"
    return "it names neighbors although its table is too long" if generation.sources.neighbors else None


def _of_run(generation: Generation, proof: Proof) -> str | None:
    if generation.run != proof.run:
        return f"it is of run {generation.run!r}, not of {proof.run!r}"
    return None


def _in_store(generation: Generation, proof: Proof) -> str | None:
    """The texts that a trace names are in the store; whether fewer splices would do, only tracing tells."""
    for neighbor in generation.sources.neighbors:
        if not any(
            proof.store.texts[row] == neighbor.text for row in proof.store.rows_of.get(neighbor.id, [])
        ):
            return f"neighbor {neighbor.id!r} is not in the run's store, or has another text there"
    return None


def made_with(generation: Generation, proof: Proof) -> str | None:
    """What speaks against the run's policy, weights or words, which a run without some texts has too."""
    if generation.policy not in proof.policies:
        return f"its policy is {generation.policy!r}, the run's {' or '.join(sorted(proof.policies))}"
    if known_kind(generation.policy) is None:
        return (
            f"its policy {generation.policy!r} is not known here, so nothing can be checked: "
            f"name the module that adds it in {PLUGINS}"
        )
    if generation.tokenizer != proof.store.tokenizer:
        return f"its tokenizer is {generation.tokenizer!r}, the run's {proof.store.tokenizer!r}"
    if generation.format != FORMAT and not proof.old:
        return f"it is of {generation.format!r}, which only version 0.1 wrote: its run is of a later one"
    return _weights(generation, proof) or _words(generation, proof)


def _weights(generation: Generation, proof: Proof) -> str | None:
    if generation.policy == SWAP.name:
        return "it is of swap, which has no weights, yet names some" if generation.weights else None
    if generation.weights is None:
        # Rows of the first versions say neither their weights nor their settings.
        needed = generation.search and proof.weights and generation.policy != APPROVED.name
        return "it does not say its weights" if needed else None
    if generation.weights != proof.weights:
        return f"it was made with the weights {generation.weights}, the run has {proof.weights or 'none'}"
    return None


def _words(generation: Generation, proof: Proof) -> str | None:
    if generation.policy == DRAFTS.name:
        return None  # its writer may know other words; which of them stand nowhere is derived again
    allowed = proof.generable[generation.policy]
    for number, word in generation.sources.words.items():
        if number >= len(proof.vocabulary) or proof.vocabulary.words[number] != word:
            return f"word {number} of the vocabulary is not {word!r}"
        if number not in allowed:
            return f"{generation.policy!r} may not generate word {number} of the vocabulary, {word!r}"
    return None


def _approved(
    generation: Generation, rules: tuple[Rule, ...], proof: Proof, settings: SearchConfig
) -> str | None:
    """An approved text of the very same record, and only that, is given before all else."""
    given = generation.sources.neighbors
    right = None
    if settings.approved_first:
        right = ApprovedProposer(proof.offers).find(generation.table, _as_if_known(rules, given))
    if generation.policy != APPROVED.name:
        return right and f"for its record the run gives the approved text {right.id!r}"
    if right is None:
        return "it is said to be approved, but the run has no such text for its record"
    return None if given == (right,) else f"the run gives the approved text {right.id!r} for its record"


def _neighbors(
    generation: Generation, rules: tuple[Rule, ...], proof: Proof, settings: SearchConfig
) -> str | None:
    """The neighbors are those that the run finds for this table under these rules."""
    given = generation.sources.neighbors
    if generation.policy == APPROVED.name:
        return None  # found again already
    kind = known_kind(generation.policy)
    if kind is None or not kind.uses_neighbors:
        return f"{generation.policy!r} uses no neighbors, yet some are named" if given else None
    for neighbor in given:
        if lie := _stored(neighbor, proof):
            return lie
    if len({neighbor.tokens for neighbor in given}) < len(given):
        return "two of its neighbors are the same text"
    rules = _as_if_known(rules, given)
    if generation.policy == SWAP.name:
        return _swapped_again(generation, rules, proof, settings)
    if generation.policy == DRAFTS.name:
        return _derived_again(generation, rules, proof)
    expected = tuple(map(proof.offers.neighbor, proof.offers.find(generation.table, rules)))
    for rank, (mine, right) in enumerate(zip(given, expected, strict=False)):
        if mine != right:
            return f"neighbor {rank + 1} is {mine.id!r}, but the run offers {right.id!r} there"
    if len(given) != len(expected):
        return f"it names {len(given)} neighbors, but the run offers {len(expected)}"
    return None


def misplaced(
    generation: Generation, rules: tuple[Rule, ...], proof: Proof, settings: SearchConfig
) -> str | None:
    """The first value in another field's place where that is forbidden, as a clause.

    The neighbors and the shape of the derivation must have been checked.
    """
    kind = known_kind(generation.policy)
    if settings.misplaced_values != "forbidden" or kind is None or kind.writes != "splices":
        return None
    sources, offers = generation.sources, proof.offers
    rows = offers.find(generation.table, _as_if_known(rules, sources.neighbors))
    canvas: list[int] = []  # the field of each token
    for step, (start, stop, source, begin, end) in enumerate(generation.splices):
        segment = sources.segment_at(begin) if source == TABLE else None
        if segment is not None:
            own = proof.vocabulary.id(field_token(segment.field))
            if start < stop <= start + places_of_others(canvas[start:], own):
                return f"splice {step} lays a value of {segment.field!r} in another field's place"
        is_neighbor = sources.numbering.is_neighbor(source)
        fields = offers.mask_fields(rows[sources.numbering.rank(source)]) if is_neighbor else None
        canvas[start:stop] = [-1] * (end - begin) if fields is None else fields[begin:end].tolist()
    return None


def _as_if_known(rules: tuple[Rule, ...], given: tuple[OfferedNeighbor, ...]) -> tuple[Rule, ...]:
    """The rules, with a predicate that accepts just these neighbors where a file does not hold it."""
    return tuple(
        NeighborsWhere(rule.label, given.__contains__)
        if isinstance(rule, NeighborsWhere) and rule.predicate is None
        else rule
        for rule in rules
    )


def _stored(neighbor: OfferedNeighbor, proof: Proof) -> str | None:
    store = proof.store
    rows = store.rows_of.get(neighbor.id, [])
    if not rows:
        return f"neighbor {neighbor.id!r} is not in the run's store"
    rows = [row for row in rows if store.texts[row] == neighbor.text]
    if not rows:
        return f"neighbor {neighbor.id!r} has another text in the run's store"
    rows = [row for row in rows if proof.offers.neighbor(row).tokens == neighbor.tokens]
    if not rows:
        return f"neighbor {neighbor.id!r} is masked otherwise in the run's store"
    if not any(store.offered[row] for row in rows):
        return f"neighbor {neighbor.id!r} is in the run's store, but may not be spliced from"
    return None


def _derived_again(generation: Generation, rules: tuple[Rule, ...], proof: Proof) -> str | None:
    """Whoever wrote a draft, its derivation is found without any weights."""
    if generation.status == "abstained":
        return None
    again = proof.derivations.again(generation.tokens, generation.sources.table, rules)
    if generation.sources.neighbors != again.sources.neighbors:
        return "its neighbors are not those that deriving the text again uses"
    if Derivation(generation.sources, generation.splices).spelled() != again.spelled():
        return "its splices are not those that deriving the text again makes"
    return None


def _swapped_again(
    generation: Generation, rules: tuple[Rule, ...], proof: Proof, settings: SearchConfig
) -> str | None:
    """Swap needs no weights, so it is simply done again."""
    search = replace(settings, judge="", lexicon="", writers=())
    again = next(_pipeline(proof).generations([_example(generation)], search, rules, quiet=True))
    if generation.finished != again.finished:
        return f"its status is {generation.status!r}, but swapping again gives {again.status!r}"
    if generation.sources.neighbors != again.sources.neighbors:
        return "its neighbors are not those that swapping again uses"
    if generation.splices != again.splices:
        return "its splices are not those that swapping again makes"
    return None


def _pipeline(proof: Proof) -> Pipeline:
    limit = proof.config.corpus.max_table_tokens
    return Pipeline(
        (SwapProposer(proof.offers),),
        proof.run,
        None,
        proof.store.tokenizer,
        None,
        _no_judge,
        limit,
        proof.offers,
    )


def _no_judge(folder: str) -> Judge:
    raise InputError(f"swap has no judge, not {folder!r} either.")


def _example(generation: Generation) -> Example:
    return Example(generation.id, generation.table, None)
