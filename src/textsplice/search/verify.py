"""Whether a generation is true: its splices are replayed, and the result is compared.

What the row itself shows is always checked. With the run it names, its neighbors must also be in the run's
store, word for word, its generated words in the vocabulary; policy, weights and tokenizer must be the run's.
What only a new search could tell is not checked: scores, alternatives, settings of the search, and whether a
better text could have been given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from textsplice.corpus.table import Table
from textsplice.errors import InputError, VerificationError
from textsplice.extensions import POLICIES
from textsplice.neighbors.store import Store
from textsplice.oracle.canvas import TOKEN_MARKS, obstacle
from textsplice.oracle.numbering import TABLE
from textsplice.oracle.sources import OfferedNeighbor
from textsplice.oracle.splice import Origin, Splice, trace
from textsplice.oracle.writing import unmasked
from textsplice.policy.kind import policy_kind
from textsplice.policy.problem import Draft, broken_rule
from textsplice.search.generation import FORMAT, Generation, inner, utf16_spans
from textsplice.search.rules.registered import rules_from_dicts
from textsplice.search.rules.rule import Rule
from textsplice.search.swap import SWAP
from textsplice.text.linearize import linearize
from textsplice.text.tokens import BEGIN, END, MASK, tokenize
from textsplice.text.vocabulary import Vocabulary

# What makes texts without a policy names the very places it copied from.
EXACT = (SWAP.name, "oracle")


@dataclass(frozen=True)
class Proof:
    """What a run can confirm: its id, policies, texts and words, and its weights if it has any."""

    run: str
    policies: frozenset[str]
    store: Store
    vocabulary: Vocabulary
    weights: str | None


def verify(generation: Generation, proof: Proof | None = None, *, where: str = "generation") -> None:
    """`VerificationError` that names the row and the first false statement in it."""
    lie = find_lie(generation, proof)
    if lie is not None:
        raise VerificationError(f"{lie}.", where=f"{where}, row {generation.id!r}")


def check_complete(
    rows: Iterable[tuple[str, Table]], expected: Iterable[tuple[str, Table]], *, where: str
) -> None:
    """`VerificationError` unless the rows, by id and table, are those of all the tables, in their order."""
    for number, (found, wanted) in enumerate(zip_longest(rows, expected)):
        if found == wanted:
            continue
        if wanted is None:
            lie = f"row {found[0]!r} is of no table"
        elif found is None or found[0] != wanted[0]:
            lie = f"row {wanted[0]!r} is missing"
        else:
            lie = f"row {found[0]!r} has another table"
        raise VerificationError(f"{lie}.", where=f"{where}, row {number}")


def find_lie(generation: Generation, proof: Proof | None = None) -> str | None:
    """The first false statement of a generation, as a clause; None if there is none."""
    lie = (
        _table(generation)
        or _neighbors(generation)
        or _attribution(generation)
        or (proof and _testimony(generation, proof))
    )
    if lie:
        return lie
    try:
        rules = rules_from_dicts(generation.rules, generation.id)
        canvases = trace(generation.splices, generation.sources)
    except InputError as error:
        return error.sentence().removesuffix(".")
    if generation.status == "abstained":
        return _admitted(generation, rules) or _abstention(generation)
    return (
        _values(generation)
        or _text(generation, canvases[-1] if canvases else [])
        or _admitted(generation, rules)
        or _rules(generation, rules, canvases[-1])
        or _reason(generation)
    )


def _abstention(generation: Generation) -> str | None:
    if generation.text or generation.tokens or generation.splices or generation.provenance:
        return "it abstained, yet has a text"
    return None if generation.reason else "it abstained without a reason"


def _reason(generation: Generation) -> str | None:
    if generation.status == "ok":
        return "it is ok, yet has a reason not to be" if generation.reason else None
    return None if generation.reason else f"it is {generation.status} without a reason"


def _attribution(generation: Generation) -> str | None:
    """Only what the kind of the policy gives; a plugin that is not loaded can't be asked."""
    if generation.policy in EXACT:
        possible = {"exact"}
    elif generation.policy in POLICIES:
        kind = policy_kind(generation.policy)
        said = generation.search and generation.search.get("marginalize")
        settings = [said] if isinstance(said, bool) else [True, False]
        possible = {kind.attribution(marginalize=marginalize) for marginalize in settings}
    else:
        return None
    if generation.attribution not in possible:
        return f"its attribution is not {generation.attribution!r}, as {generation.policy!r} chose its words"
    return None


def _table(generation: Generation) -> str | None:
    if linearize(generation.table, generation.cut) != generation.sources.table:
        return "source 0 is not its table"
    return None


def _neighbors(generation: Generation) -> str | None:
    """The tokens of a neighbor are those of its text, or masks."""
    for neighbor in generation.sources.neighbors:
        if unmasked(neighbor, generation.cut) is not None:
            continue
        words = (BEGIN, *tokenize(neighbor.text, generation.cut), END)
        tokens = neighbor.tokens
        if len(words) != len(tokens):
            return f"neighbor {neighbor.id!r} has {len(tokens)} tokens, its text {len(words)}"
        for word, token in zip(words, tokens, strict=True):
            if token not in (word, MASK):
                return f"neighbor {neighbor.id!r} has {token!r} where its text has {word!r}"
    return None


def _testimony(generation: Generation, proof: Proof) -> str | None:
    if generation.run != proof.run:
        return f"it is of run {generation.run!r}, not of {proof.run!r}"
    if generation.policy not in proof.policies:
        return f"its policy is {generation.policy!r}, the run's {' or '.join(sorted(proof.policies))}"
    if generation.weights is not None and generation.weights != proof.weights:
        return f"it was made with the weights {generation.weights}, the run has {proof.weights or 'none'}"
    if generation.tokenizer != proof.store.tokenizer:
        return f"its tokenizer is {generation.tokenizer!r}, the run's {proof.store.tokenizer!r}"
    for neighbor in generation.sources.neighbors:
        lie = _stored(neighbor, proof)
        if lie:
            return lie
    for number, word in generation.sources.words.items():
        if number >= len(proof.vocabulary) or proof.vocabulary.words[number] != word:
            return f"word {number} of the vocabulary is not {word!r}"
    return None


def _stored(neighbor: OfferedNeighbor, proof: Proof) -> str | None:
    row = proof.store.row_of.get(neighbor.id)
    if row is None:
        return f"neighbor {neighbor.id!r} is not in the run's store"
    if proof.store.texts[row] != neighbor.text:
        return f"neighbor {neighbor.id!r} has another text in the run's store"
    if tuple(proof.vocabulary.decode(proof.store.tokens[row].tolist())) != neighbor.tokens:
        return f"neighbor {neighbor.id!r} is masked otherwise in the run's store"
    return None


def _values(generation: Generation) -> str | None:
    """What is copied from the table is inside one value."""
    for step, splice in enumerate(generation.splices):
        if splice.neighbor == TABLE and not _inside_a_value(splice, generation):
            return f"splice {step} {tuple(splice)} copies more than one value of the table"
    return None


def _inside_a_value(splice: Splice, generation: Generation) -> bool:
    segments = generation.sources.table.segments
    return any(s.start <= splice.begin and splice.end <= s.stop for s in segments)


def _text(generation: Generation, origins: Sequence[Origin]) -> str | None:
    sources = generation.sources
    reason = obstacle(list(map(sources.token, origins)), TOKEN_MARKS)
    if reason:
        return reason
    if any(map(sources.is_field_name, origins)):
        return "a field's name appears in the text"
    words = inner(origins, sources)
    tokens = tuple(map(sources.token, words))
    if tokens != generation.tokens:
        place = next(
            (i for i, (a, b) in enumerate(zip(tokens, generation.tokens, strict=False)) if a != b),
            min(len(tokens), len(generation.tokens)),
        )
        return f"token {place} is {_at(generation.tokens, place)}, its splices make {_at(tokens, place)}"
    text, spans = generation.writing.write(words)
    if text != generation.text:
        return f"its text is not what its splices make: {text!r}"
    expected = [(*origin, *span) for origin, span in zip(words, spans, strict=True)]
    if expected != [tuple(place) for place in generation.provenance]:
        return "its provenance is not what its splices make"
    if generation.format == FORMAT and tuple(utf16_spans(text, spans)) != generation.utf16:
        return "its UTF-16 offsets are not those of its text"
    return None


def _at(tokens: Sequence[str], place: int) -> str:
    return repr(tokens[place]) if place < len(tokens) else "missing"


def _admitted(generation: Generation, rules: Sequence[Rule]) -> str | None:
    for neighbor in generation.sources.neighbors:
        for rule in rules:
            if not rule.admits(neighbor):
                return f"the rule {rule.name} does not admit neighbor {neighbor.id!r}"
    return None


def _rules(generation: Generation, rules: Sequence[Rule], origins: Sequence[Origin]) -> str | None:
    words = inner(origins, generation.sources)
    draft = Draft(generation.tokens, words, generation.sources, generation.splices)
    broken = broken_rule(rules, draft)
    return f"a rule is broken: {broken}" if broken else None
