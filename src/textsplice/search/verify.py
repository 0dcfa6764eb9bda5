"""Whether a generation is true: its splices are replayed, and the result is compared.

What the row itself shows is always checked; with the run it names, also all that the run fixes (`proof.py`).
What only a new search could tell is not: `unchecked` says it for people, docs/formats.md in full.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, zip_longest
from math import isfinite

from textsplice.config import SearchConfig
from textsplice.corpus.table import Table
from textsplice.errors import TextspliceError, VerificationError
from textsplice.oracle.canvas import TOKEN_MARKS, obstacle
from textsplice.oracle.numbering import TABLE
from textsplice.oracle.splice import Origin, origins_of, replay_pieces
from textsplice.oracle.writing import unmasked
from textsplice.policy.problem import Draft, broken_rule
from textsplice.search.approved import APPROVED
from textsplice.search.claims import beyond, otherwise, settings_of
from textsplice.search.doubts import misjudged, not_doubts, not_unchecked
from textsplice.search.generation import FORMAT, Generation, inner, utf16_spans
from textsplice.search.pipeline import UNFINISHED
from textsplice.search.proof import Proof, contradiction, known_kind, misplaced
from textsplice.search.rules.neighbors import NeighborsWhere
from textsplice.search.rules.registered import rules_from_dicts
from textsplice.search.rules.rule import Rule
from textsplice.search.seams import not_where_they_are
from textsplice.search.shapes import MOST_TOKENS, misshapen
from textsplice.search.swap import SWAP
from textsplice.search.traced import POLICY as TRACE
from textsplice.text.linearize import linearize, unsaid_in
from textsplice.text.tokens import BEGIN, END, MASK, Tokenizer, tokenize

# What makes texts without a policy names the very places it copied from.
EXACT = (SWAP.name, "oracle")
MOST_SPLICES = 100_000


def verify(
    generation: Generation,
    proof: Proof | None = None,
    *,
    asked: Sequence[Rule] | None = None,
    search: SearchConfig | None = None,
    where: str = "generation",
) -> None:
    """`VerificationError` that names the row and the first false statement in it."""
    lie = find_lie(generation, proof, asked=asked, search=search)
    if lie is not None:
        raise VerificationError(f"{lie}.", where=f"{where}, row {generation.id!r}")


@dataclass(frozen=True)
class Unchecked:
    """What a verification leaves open: whether it was given these, and rows that it can say less about."""

    run: bool
    rules: bool
    tables: bool
    search: bool = False
    old: int = 0  # rows of format 1
    predicates: int = 0  # rows under a rule whose predicate no file holds
    traces: int = 0  # rows of texts that were traced
    elsewhere: int = 0  # rows that another store made
    unvouched: int = 0  # of these, rows whose store is not known

    def __str__(self) -> str:
        """All of it in one line."""
        left = ["scores", "alternatives"]
        left += [] if self.search else ["whether these search settings were asked for"]
        left += [self._choice()]
        left += [] if self.rules else ["whether these rules were asked for (give them as to `generate`)"]
        left += [] if self.tables else ["whether rows are missing (--tables)"]
        if self.old and not self.run:
            left += [f"whether a version that wrote format 1 made {_rows(self.old)} of that format (--run)"]
        if self.predicates:
            left += [
                f"whether neighbors-where admits the neighbors of {_rows(self.predicates)}, and only these"
            ]
        if self.traces:
            left += [
                f"whether fewer splices would do, or a gap has a source, in {_rows(self.traces)} of traces"
            ]
        if self.elsewhere:
            left += [f"what only the store of {_rows(self.elsewhere)} could tell (--before)"]
        if self.unvouched:
            left += [f"whether that store ever had the texts that {_rows(self.unvouched)} quote from it"]
        return f"Not checked: {'; '.join(left)}."

    def _choice(self) -> str:
        if not self.run:
            return "what only --run can tell"
        return "whether the policy would choose this text (except for swap)"


def _rows(count: int) -> str:
    return f"{count:,} row{'s' if count > 1 else ''}"


def has_no_predicate(rule: Mapping[str, object]) -> bool:
    """Whether a row's rule chose neighbors by a predicate, which only Python can give."""
    return rule.get("rule") == NeighborsWhere.name


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


def find_lie(
    generation: Generation,
    proof: Proof | None = None,
    *,
    asked: Sequence[Rule] | None = None,
    search: SearchConfig | None = None,
) -> str | None:
    """The first false statement of a generation, as a clause; None if there is none.

    `asked` are the rules that the text was to obey, `search` the settings it was to be found with; None if
    that is not known.
    """
    if len(generation.splices) > MOST_SPLICES:
        return f"it has {len(generation.splices)} splices, more than the {MOST_SPLICES} that are replayed"
    try:
        rules = rules_from_dicts(generation.rules, "its rules")
        settings = settings_of(generation, proof)
        lie = (
            _is_traced(generation)
            or _table(generation, proof)
            or _neighbors(generation, proof)
            or _words(generation)
            or _attribution(generation)
            or _as_asked(generation, rules, asked)
            or (search and otherwise(settings if generation.search else None, search))
        )
        rules = rules if asked is None else tuple(asked)  # which may have predicates, and a file has none
        lie = (
            lie
            or _admitted(generation, rules)
            or _status(generation, settings)
            or (proof and _unsaid(generation))
            or (proof and settings and not search and beyond(settings, proof.config))
            or (proof and contradiction(generation, rules, proof, settings))
        )
        if lie or generation.status == "abstained":
            return lie
        canvas = replay_pieces(generation.splices, generation.sources)
    except TextspliceError as error:
        return error.sentence().removesuffix(".")
    if lie := _values(generation):
        return lie
    # A canvas can be far longer than its row, so it is spelled only if it has the right length.
    if canvas.length > len(generation.tokens) + 2:
        return f"it has {len(generation.tokens)} tokens, its splices make {canvas.length - 2}"
    origins = origins_of(canvas)
    room = proof.config.policy.max_positions - 2 if proof else None
    return (
        _text(generation, origins)
        or _cut(generation)
        or misshapen(generation, known_kind(generation.policy), settings, room)
        or (proof and settings and misplaced(generation, rules, proof, settings))
        or _rules(generation, rules, origins)
        or _seams(generation, proof)
        or (proof and _undoubted(generation, proof))
    )


def _as_asked(generation: Generation, rules: Sequence[Rule], asked: Sequence[Rule] | None) -> str | None:
    """The rules are written as this program writes them and, if it is known, were asked for."""
    for said, rule in zip(generation.rules, rules, strict=True):
        if not _same_json(said, rule.to_dict()):
            return f"the rule {rule.name} is not written as {json.dumps(rule.to_dict(), ensure_ascii=False)}"
    if asked is None:
        return None
    wanted = [rule.to_dict() for rule in asked]
    for rule in wanted:
        if not any(_same_json(rule, said) for said in generation.rules):
            return f"it was not made under the rule {json.dumps(rule, ensure_ascii=False)}"
    if not _same_json(wanted, list(generation.rules)):
        return "its rules are not those that were asked for"
    return None


def _same_json(one: object, other: object) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _unsaid(generation: Generation) -> str | None:
    """Rows of today always say how they were searched for."""
    if generation.format == FORMAT and generation.search is None and generation.traced is None:
        return "it does not say its search settings"
    return None


def _status(generation: Generation, settings: SearchConfig | None) -> str | None:
    """What goes with a status: a reason, a score, alternatives."""
    status, reason = generation.status, generation.reason
    if status == "abstained" and (
        generation.text or generation.tokens or generation.splices or generation.provenance
    ):
        return "it abstained, yet has a text"
    if status == "abstained" and generation.seams is not None:
        return "it abstained, yet has seams"
    if status == "ok" and reason is not None:
        return "it is ok, yet has a reason not to be"
    if status != "ok" and not reason:
        return (
            "it abstained without a reason" if status == "abstained" else f"it is {status} without a reason"
        )
    if status == "unfinished" and reason != UNFINISHED:
        return f"it is unfinished for a reason that is not {UNFINISHED!r}"
    if lie := not_doubts(generation.doubts, status, reason, len(generation.text)):
        return lie
    if lie := not_unchecked(generation.unchecked, status, generation.table):
        return lie
    if (status == "abstained") != (generation.score == float("-inf")):
        return "it abstained, yet has a score" if status == "abstained" else "it has no score"
    if status != "abstained" and not isfinite(generation.score):
        return "its score is not a number"
    most = 0 if not generation.finished else settings.given - 1 if settings else len(generation.alternatives)
    if len(generation.alternatives) > most:
        return f"it has {len(generation.alternatives)} alternatives where at most {most} can be"
    if not all(isfinite(other.score) for other in generation.alternatives):
        return "the score of an alternative is not a number"
    return None


def _attribution(generation: Generation) -> str | None:
    """Only what the kind of the policy gives; a plugin that is not loaded can't be asked."""
    if generation.policy in EXACT:
        possible = {"exact"}
    elif generation.policy == TRACE:
        possible = {"least"}
    elif (kind := known_kind(generation.policy)) is not None:
        said = generation.search and generation.search.get("marginalize")
        settings = [said] if isinstance(said, bool) else [True, False]
        possible = {kind.attribution(marginalize=marginalize) for marginalize in settings}
    else:
        return None
    if generation.attribution not in possible:
        return f"its attribution is not {generation.attribution!r}, as {generation.policy!r} chose its words"
    return None


def _is_traced(generation: Generation) -> str | None:
    """Traces, and only they, say what stands in no source; nothing was searched for."""
    if (generation.policy == TRACE) != (generation.traced is not None):
        return "only a trace says what stands in no source"
    if generation.traced is None:
        return None
    if generation.seams is not None:
        return "it is a trace, yet says its seams"
    if generation.search or generation.weights or generation.alternatives:
        return "it is a trace, yet says how it was searched for"
    if generation.status != "ok" or generation.rules or generation.score:
        return "it is a trace, yet has a status, rules or a score that no trace has"
    return None


def _cut(generation: Generation) -> str | None:
    """A trace has the tokens of its text."""
    if generation.traced and list(tokenize(generation.text, generation.cut)) != list(generation.tokens):
        return "its tokens are not those of its text"
    return None


def _table(generation: Generation, proof: Proof | None) -> str | None:
    """Source 0 is the table; what may not be copied has no segments, which only the run knows."""
    found, cut = generation.sources.table, generation.cut
    known = proof.store.unsaid if proof and generation.traced is None else None
    unsaid = known or unsaid_in(found, generation.table, cut)
    if linearize(generation.table, cut, unsaid) != found:
        return "source 0 is not its table"
    return None


def _neighbors(generation: Generation, proof: Proof | None) -> str | None:
    """The tokens of a neighbor are those of its text, or masks."""
    if proof and generation.traced is None:  # the run knows both
        return None
    for neighbor in generation.sources.neighbors:
        if unmasked(neighbor, generation.cut) is not None:
            continue
        words = (BEGIN, *tokenize(neighbor.text, generation.cut), END)
        tokens = neighbor.tokens
        if len(words) != len(tokens):
            return f"neighbor {neighbor.id!r} has {len(tokens)} tokens, its text {len(words)}"
        for word, token in zip(words, tokens, strict=True):
            if token != word and (token != MASK or word in (BEGIN, END)):
                return f"neighbor {neighbor.id!r} has {token!r} where its text has {word!r}"
    return None


def _words(generation: Generation) -> str | None:
    """Each vocabulary word is one token, and is used."""
    sources = generation.sources
    numbering = sources.numbering
    used = {numbering.word_id(s.neighbor) for s in generation.splices if numbering.is_word(s.neighbor)}
    for number, word in sources.words.items():
        if number not in used:
            return f"no splice uses word {number}, {word!r}"
        # What is one word in a text need not be one alone, and a trace's tokens are those of its text.
        is_one = generation.traced is not None or _is_one_word(word, generation.cut)
        if word not in (BEGIN, END) and not is_one:
            return f"word {number}, {word!r}, is not one word"
    return None


def _is_one_word(word: str, tokenizer: Tokenizer) -> bool:
    bare = word.strip(" ")  # a dash that stands apart keeps its spaces
    return bare != "" and tokenize(bare, tokenizer) == [bare]


def _values(generation: Generation) -> str | None:
    """What is copied from the table is inside one value."""
    segment = generation.sources.table.segment_numbers()
    for step, splice in enumerate(generation.splices):
        if splice.neighbor == TABLE and not -1 < segment[splice.begin] == segment[splice.end - 1]:
            return f"splice {step} {tuple(splice)} copies more than one value of the table"
    return None


def _text(generation: Generation, origins: Sequence[Origin]) -> str | None:
    sources = generation.sources
    reason = obstacle(list(map(sources.token, origins)), TOKEN_MARKS)
    if reason:
        return reason
    words = inner(origins, sources)
    tokens = tuple(map(sources.token, words))
    if tokens != generation.tokens:
        place = next(
            (i for i, (a, b) in enumerate(zip(tokens, generation.tokens, strict=False)) if a != b),
            min(len(tokens), len(generation.tokens)),
        )
        return f"token {place} is {_at(generation.tokens, place)}, its splices make {_at(tokens, place)}"
    if generation.traced is not None:  # a text of someone else's, with the spaces it has
        return _given_text(generation, words)
    text, spans = generation.writing.write(words)
    if text != generation.text:
        return f"its text is not what its splices make: {text!r}"
    return _places(generation, words, text, spans)


def _places(
    generation: Generation, words: Sequence[Origin], text: str, spans: Sequence[tuple[int, int]]
) -> str | None:
    expected = [(*origin, *span) for origin, span in zip(words, spans, strict=True)]
    if expected != [tuple(place) for place in generation.provenance]:
        return "its provenance is not what its splices make"
    if generation.format == FORMAT and tuple(utf16_spans(text, spans)) != generation.utf16:
        return "its UTF-16 offsets are not those of its text"
    return None


def _given_text(generation: Generation, words: Sequence[Origin]) -> str | None:
    """The text of a trace has the tokens that its splices make; gaps are those that have no source."""
    cut = tokenize(generation.text, generation.cut)
    if cut.text != generation.text or tuple(cut) != generation.tokens:
        return "its text is not made of its tokens"
    return _places(generation, words, cut.text, cut.spans) or _gaps(generation, cut.spans)


def _gaps(generation: Generation, spans: Sequence[tuple[int, int]]) -> str | None:
    traced, numbering = generation.traced, generation.sources.numbering
    if traced is None:
        return None
    foreign = [numbering.is_word(place.source) for place in generation.provenance]
    ranges: list[tuple[int, int]] = []
    for place, (start, stop) in enumerate(spans):
        if foreign[place]:
            joined = place > 0 and foreign[place - 1]
            ranges.append((ranges.pop()[0] if joined else start, stop))
    units = utf16_spans(generation.text, ranges)
    if [(*gap[:2], gap.utf16) for gap in traced.gaps] != [
        (*r, u) for r, u in zip(ranges, units, strict=True)
    ]:
        return "its gaps are not the words that stand in no source"
    if traced.covered != 1 - sum(foreign) / len(foreign):
        return "the share that it says is covered is not that of its words"
    rows, looked_at, proved = traced.certificate
    possible = len(generation.sources.neighbors) <= looked_at <= rows and proved == (looked_at == rows)
    return None if possible else "its certificate can't be"


def _undoubted(generation: Generation, proof: Proof) -> str | None:
    """The run's own records and texts say what is doubtful; its approved texts never are.

    A row that says nothing of doubts, as early ones don't, must have none: so they can't be struck out.
    """
    if generation.format != FORMAT or generation.traced is not None or not generation.finished:
        return None
    if generation.policy == APPROVED.name:
        return "it is approved, yet doubtful" if generation.doubts else None
    seams = generation.seams or generation.with_seams(proof.store.trigrams).seams
    return misjudged(generation.doubts or (), generation.table, seams, proof.offers.known)


def _seams(generation: Generation, proof: Proof | None) -> str | None:
    """Seams follow from the splices; which of them are attested, only the store knows."""
    said = generation.seams
    if said is None:
        return None
    if generation.format != FORMAT:
        return "it says its seams, which no row of format 1 does"
    origins = [place.origin for place in generation.provenance]
    spans = [(place.start, place.stop) for place in generation.provenance]
    if lie := not_where_they_are(said, origins, spans, generation.sources):
        return lie
    right = generation.with_seams(proof.store.trigrams).seams if proof else said
    if right == said:
        return None
    return f"it says {said}, by the texts of the run it has {right}, or others of them are unattested"


def _at(tokens: Sequence[str], place: int) -> str:
    return repr(tokens[place]) if place < len(tokens) else "missing"


def _admitted(generation: Generation, rules: Sequence[Rule]) -> str | None:
    for neighbor in generation.sources.neighbors:
        for rule in rules:
            if not rule.admits(neighbor):
                return f"the rule {rule.name} does not admit neighbor {neighbor.id!r}"
    return None


def _rules(generation: Generation, rules: Sequence[Rule], origins: Sequence[Origin]) -> str | None:
    size = list(accumulate(s.end - s.begin - (s.stop - s.start) for s in generation.splices))
    if rules and sum(size) > MOST_TOKENS:  # a rule may look at every canvas
        return f"its canvases have {sum(size)} tokens in all; rules are checked on at most {MOST_TOKENS}"
    words = inner(origins, generation.sources)
    draft = Draft(generation.tokens, words, generation.sources, generation.splices)
    broken = broken_rule(rules, draft)
    return f"a rule is broken: {broken}" if broken else None
